// Numbers as people read them; `exact` as the database holds them.
const units = [[86400e9, "d"], [3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

export const exact = (value) => (value === null || value === undefined ? "–" : String(value));

export function digits(value, count = 3) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const text = value.toFixed(Math.min(20, Math.max(0, count - 1 - size)));
  return size >= 4 ? Number(text).toLocaleString("en-GB") : text;
}

export function time(ns, count = 3) {
  if (!Number.isFinite(ns)) return "–";
  const [unit, word] = units.find(([u]) => Math.abs(ns) >= u) ?? units[units.length - 1];
  return `${digits(ns / unit, count)} ${word}`;
}

// A moment with as many digits as the step between two events needs.
export function moment(ns, whole) {
  const [unit, word] = units.find(([u]) => whole >= u) ?? units[units.length - 1];
  return `${(ns / unit).toFixed(unit >= 60e9 ? 3 : 4)} ${word}`;
}

export function clock(ns) {
  const s = Math.floor(ns / 1e9), two = (n) => String(n).padStart(2, "0");
  return `day ${Math.floor(s / 86400)}, ${two(Math.floor(s / 3600) % 24)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

export const gib = 2 ** 30;
export const bytes = (value) => `${digits(value / gib)} GiB`;
export const size = (value) => (value >= 2 ** 30 ? bytes(value) : value >= 2 ** 20 ? `${digits(value / 2 ** 20)} MiB` : `${digits(value / 2 ** 10)} KiB`);
export const percent = (ratio) => `${digits(100 * ratio)} %`;

export function count(value) {
  for (const [size, word] of [[1e15, " P"], [1e12, " T"], [1e9, " G"], [1e6, " M"]])
    if (Math.abs(value) >= size) return digits(value / size) + word;
  if (Number.isInteger(value)) return value.toLocaleString("en-GB");
  return Math.abs(value) >= 1e4 ? Math.round(value).toLocaleString("en-GB") : digits(value);
}

// Ticks at round numbers of the unit that suits the whole: [[place, text], ...].
export function ticks(from, to, most) {
  const span = to - from, unit = units.find(([u]) => span >= 2 * u || (u <= 1e9 && to >= 10 * u)) ?? units[units.length - 1];
  const rough = span / unit[0] / most, ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough) * unit[0];
  const places = Math.max(0, -Math.floor(Math.log10(step / unit[0]) + 1e-9));
  const out = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) out.push([i * step, `${(i * step / unit[0]).toFixed(places)} ${unit[1]}`]);
  return out;
}

// Round numbers from low to high, for the marks of an axis: about `most` of them.
export function round(low, high, most) {
  const rough = (high - low) / most, ten = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough);
  const out = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

// Lists by key, in the order in which keys come: as Map.groupBy, which browsers of 2023 lack.
export function grouped(list, key) {
  const out = new Map();
  for (const one of list) {
    if (!out.has(key(one))) out.set(key(one), []);
    out.get(key(one)).push(one);
  }
  return out;
}
