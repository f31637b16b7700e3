// Of layouts those that no other beats in both numbers of a pair: the Pareto front, by the first number.

// `x`, `y`: what is the less the better of a layout; those without either are left out. Of equals the first one stays.
export function front(list, x, y) {
  const known = list.filter((one) => Number.isFinite(x(one)) && Number.isFinite(y(one)));
  const sorted = known.map((one, i) => [one, i]).sort(([a, i], [b, k]) => x(a) - x(b) || y(a) - y(b) || i - k),
    out = [];
  let least = Infinity;
  for (const [one] of sorted) {
    if (y(one) >= least) continue;
    least = y(one);
    out.push(one);
  }
  return out;
}
