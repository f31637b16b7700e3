// A study as the page holds it: its keys, its points with their results, the curves that they make.
import { count } from "./format.js";
import { told } from "./units.js";

export class Study {
  constructor(document, index, live) {
    const { told: said } = document;
    Object.assign(this, { kind: "study", index, live, file: document.file, complete: document.complete });
    Object.assign(this, { palette: document.palette, shades: document.shades, colours: document.colours });
    Object.assign(this, {
      keys: document.keys,
      metrics: document.metrics,
      weeks: document.weeks,
      single: document.single,
    });
    Object.assign(this, { all: document.points, report: document.report, told: said, optimum: said.optimum });
    Object.assign(this, { meta: {}, run: {}, lesson: [], title: document.title });
    this.points = said.points.map((p, i) => ({ ...p, place: document.places[i], line: document.lines[i], i }));
    for (const p of this.points) p.name = this.keys.map((k, n) => `${k.key} ${k.values[p.place[n]].text}`).join(", ");
    // The first key of numbers makes the axis, so that words make curves.
    this.across = Math.max(
      0,
      this.keys.findIndex((k) => k.numeric),
    );
    this.metric = this.metrics.find((m) => m.name === said.objective) ?? this.metrics[0];
    this.pinned = this.points.find((p) => p.point === this.optimum?.point) ?? null;
    this.listeners = [];
  }
  listen(heard) {
    this.listeners.push(heard);
  }
  choose(change) {
    Object.assign(this, change);
    for (const heard of this.listeners) heard();
  }
  key() {
    return this.keys[this.across];
  }
  // Points by the values of the other keys: [{name, points}].
  curves() {
    const out = new Map();
    for (const p of this.points) {
      const others = this.keys.map((k, n) => (n === this.across ? null : k.values[p.place[n]].text));
      const name = others.filter((word) => word !== null).join(", ");
      if (!out.has(name)) out.set(name, { name, points: [] });
      out.get(name).points.push(p);
    }
    return [...out.values()];
  }
  value(p) {
    return p[this.metric.name]?.mean ?? null;
  }
  text(value) {
    return value === null || value === undefined ? "–" : told(this.metric.unit, value);
  }
  // What a link keeps.
  state() {
    return { pin: this.pinned?.point, result: this.metric.name, over: this.keys[this.across]?.key };
  }
  recall(said) {
    const pinned = this.points.find((p) => String(p.point) === said.get("pin")) ?? this.pinned;
    const metric = this.metrics.find((m) => m.name === said.get("result")) ?? this.metric;
    const at = this.keys.findIndex((k) => k.key === said.get("over"));
    this.choose({ pinned, metric, across: at >= 0 ? at : this.across });
  }
  facts() {
    const { keys, optimum, metric } = this,
      one = this.points.find((p) => p.point === optimum?.point);
    const seeds = Math.max(0, ...this.points.map((p) => p.replications));
    return [
      `${count(this.all)} points: ${keys.map((k) => k.key).join(" × ")}`,
      ...(seeds > 1 ? [`${seeds} seeds each`] : []),
      one ? `best ${metric.name} ${this.text(one[metric.name]?.mean)} at ${one.name}` : "no point fits",
    ].join("  ·  ");
  }
}
