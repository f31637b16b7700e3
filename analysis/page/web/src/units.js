// Values with their units, as people read them, and the marks of axes: linear or logarithmic.
import { bytes, count, digits, gib, percent, round, ticks, time } from "./format.js";

const small = (value) => (Math.abs(value) >= 1e3 ? Math.round(value).toLocaleString("en-GB") : count(value));
const plain = (value) => (!Number.isFinite(value) ? "–" : Math.abs(value) < 1e6 ? small(value) : count(value));
const with_ = (word) => (value) => (Number.isFinite(value) ? `${plain(value)} ${word}` : "–");

// By the unit that the engine names (SI; "1" a share, "" a count).
const texts = {
  s: (value) => time(value * 1e9),
  B: (value) => (Number.isFinite(value) ? bytes(value) : "–"),
  USD: with_("USD"),
  1: (value) => (Number.isFinite(value) ? percent(value) : "–"),
  J: with_("J"),
  W: (value) => watts(value),
  "": plain,
};
function watts(value) {
  const [size, word] = [
    [1e6, "MW"],
    [1e3, "kW"],
  ].find(([least]) => Math.abs(value) >= least) ?? [1, "W"];
  return Number.isFinite(value) ? `${digits(value / size)} ${word}` : "–";
}
export const told = (unit, value) => (texts[unit] ?? with_(unit))(value);

// Round places on a linear axis, in the unit that suits it.
function marks(unit, low, high, most) {
  if (unit === "s") return ticks(low * 1e9, high * 1e9, most).map(([ns, text]) => [ns / 1e9, text]);
  const scale = unit === "B" ? gib : unit === "1" ? 0.01 : 1;
  const places = round(low / scale, high / scale, most);
  const fine = places.length > 1 ? Math.max(0, -Math.floor(Math.log10(places[1] - places[0]) + 1e-9)) : 0;
  const words =
    { B: (v) => `${v.toFixed(fine)} GiB`, 1: (v) => `${v.toFixed(fine)} %` }[unit] ??
    ((v) =>
      Math.abs(v) >= 1e6 ? count(v) : Number(v.toFixed(fine)).toLocaleString("en-GB", { minimumFractionDigits: fine }));
  return places.map((v) => [v * scale, words(v)]);
}

const round_s = [
  1e-3, 1e-2, 0.1, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800,
  432000, 864000, 2592000, 8640000,
];
function logMarks(unit, low, high, most) {
  const scale = unit === "B" ? gib : unit === "1" ? 0.01 : 1,
    out = [];
  if (unit === "s" && low >= 1e-3) out.push(...round_s.filter((v) => v >= low && v <= high));
  else
    for (let k = Math.floor(Math.log10(low / scale)); k <= Math.ceil(Math.log10(high / scale)); k++)
      for (const n of [1, 2, 5]) out.push(n * 10 ** k * scale);
  const seen = out.filter((v) => v >= low * 0.999 && v <= high * 1.001),
    step = Math.max(1, Math.ceil(seen.length / most));
  return seen.filter((_, i) => i % step === 0).map((v) => [v, told(unit, v)]);
}

// An axis over some values: {low, high, share(value) from 0 to 1, value(share), marks(most)}.
// `zero`: it begins at zero; `exact`: it ends with the values, without room.
export function axis(values, unit, { log = false, zero = false, exact = false } = {}) {
  const known = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
  let low = Math.min(...minmax(known)),
    high = Math.max(...minmax(known));
  if (log) {
    const room = low < high ? (exact ? 1 : (high / low) ** 0.04) : 1.2;
    [low, high] = [low / room, high * room];
    const span = Math.log(high / low);
    return {
      low,
      high,
      unit,
      share: (v) => Math.log(v / low) / span,
      value: (s) => low * Math.exp(s * span),
      marks: (most) => logMarks(unit, low, high, most),
    };
  }
  const room = low < high ? (exact ? 0 : (high - low) * 0.05) : Math.abs(high) * 0.1 || 1;
  [low, high] = [zero && low >= 0 ? 0 : low - room, high + room];
  return {
    low,
    high,
    unit,
    share: (v) => (v - low) / (high - low),
    value: (s) => low + s * (high - low),
    marks: (most) => marks(unit, low, high, most),
  };
}

// [least, most]; of many values, too, for which no call has arguments enough.
function minmax(values) {
  return values.length === 0
    ? [0, 1]
    : values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
}
