// Weeks: progress and lost work over the wall clock, failures on the map, badput, ETTR.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { alarm, canvas, context, hatch, idle, ink, legend, panel, quiet, rule, table, tint } from "./draw.js";
import { clock as clockText, count, exact, percent, ticks, time } from "./format.js";

const day = 86400e9;

// Steps kept at each moment: up to a failure, back to the checkpoint that was loaded, up again.
function progress(run) {
  const step = run.run.step_s * 1e9, out = [[0, 0]];
  const events = [...run.weeks.checkpoints.map((c) => [c.last_ts, c.last_step, null]), ...run.weeks.interruptions.map((i) => [i.ts, i.step, i])].sort((a, b) => a[0] - b[0]);
  for (const [ts, steps, stop] of events) {
    if (stop === null) {
      if (steps > out[out.length - 1][1]) out.push([ts, steps]);
      continue;
    }
    out.push([ts, Math.max(steps, out[out.length - 1][1])], [ts, Math.max(0, steps - stop.lost_steps)]);
    const again = ts + (stop.dur ?? run.wall_ns - ts);
    out.push([again, Math.max(0, steps - stop.lost_steps)]);
  }
  const [ts] = out[out.length - 1];
  if (ts < run.wall_ns) out.push([run.wall_ns, Math.max(out[out.length - 1][1], run.run.steps_completed ?? 0)]);
  return { points: out, step };
}

function search(points, t) {
  let from = 0, to = points.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (points[middle][0] <= t) from = middle + 1;
    else to = middle;
  }
  return Math.max(0, from - 1);
}

const unitColour = (run, unit) => run.colours[{ gpu: 1, nic: 5, node: 6, domain: 3, job: 7 }[unit] ?? 7];

export class Story {
  constructor(run, view, clock, tell) {
    Object.assign(this, { run, view, clock, tell, ...progress(run) });
    this.section = panel("Progress and lost work", "Steps kept over the wall clock. At a failure the work since the last checkpoint is lost (red), then the job restarts (hatched). Drag or scroll to look closer.");
    this.canvas = canvas(330, `${run.run.failures} failures stopped the job ${run.run.interruptions} times; ${count(run.run.steps_completed)} steps were kept; goodput ${percent(run.run.goodput_ratio)}`);
    const units = [...new Set(run.weeks.failures.map((f) => f.unit))];
    this.section.append(legend([[run.palette.forward, "steps kept"], [run.shades.badput.lost_work, "work lost"], [null, "detect and restart"], [run.palette.checkpoint, "checkpoints"], ...units.map((u) => [unitColour(run, u), `failure of a ${u}`])]), this.canvas,
      table("Every interruption, as the database holds it", ["ts ns", "cause", "unit", "number", "node", "step", "lost s", "down s", "detect s", "tier"],
        run.weeks.interruptions.slice(0, 2000).map((i) => [exact(i.ts), i.cause, i.unit, i.unit_id, i.node, i.step, exact(i.lost_s), exact(i.down_s), exact(i.detect_s), i.tier])));
    this.listen();
  }
  x(ns) { return 70 + ((ns - this.view.from) / (this.view.to - this.view.from)) * (this.width - 84); }
  ns(x) { return this.view.from + ((x - 70) / (this.width - 84)) * (this.view.to - this.view.from); }
  draw() {
    const { g, width, height } = context(this.canvas), base = height - 58;
    this.width = width;
    const first = search(this.points, this.view.from), last = Math.min(this.points.length - 1, search(this.points, this.view.to) + 1);
    let low = Infinity, high = 0;
    for (let i = first; i <= last; i++) { low = Math.min(low, this.points[i][1]); high = Math.max(high, this.points[i][1]); }
    if (high <= low) high = low + 1;
    const y = (steps) => base - ((steps - low) / (high - low)) * (base - 14);
    this.axes(g, width, base, low, high, y);
    g.save();
    g.beginPath();
    g.rect(70, 0, width - 84, height);
    g.clip();
    this.stops(g, base, y);
    g.strokeStyle = this.run.palette.forward;
    g.lineWidth = 2.2;
    g.beginPath();
    for (let i = first; i <= last; i++) g[i === first ? "moveTo" : "lineTo"](this.x(this.points[i][0]), y(this.points[i][1]));
    g.stroke();
    g.lineWidth = 1;
    this.lanes(g, base, height);
    const x = this.x(this.clock.t);
    if (this.clock.t < this.clock.end) {
      g.fillStyle = "rgba(255,255,255,0.66)";
      g.fillRect(x, 0, width, height);
    }
    g.fillStyle = alarm;
    g.fillRect(x - 1, 0, 2, height);
    g.restore();
  }
  axes(g, width, base, low, high, y) {
    g.textAlign = "center";
    for (const [ns, text] of ticks(this.view.from, this.view.to, Math.max(3, width / 120))) {
      g.fillStyle = rule;
      g.fillRect(this.x(ns), 8, 1, base - 8);
      g.fillStyle = quiet;
      g.fillText(text, Math.min(width - 22, this.x(ns)), base + 49);
    }
    g.textAlign = "right";
    for (let i = 0; i <= 4; i++) {
      const steps = low + ((high - low) * i) / 4;
      g.fillText(count(Math.round(steps)), 64, y(steps));
    }
    g.save();
    g.fillStyle = quiet;
    g.fillText("steps", 64, base + 14);
    g.restore();
  }
  stops(g, base, y) {
    for (const i of this.run.weeks.interruptions) {
      const x = this.x(i.ts), again = this.x(i.ts + (i.dur ?? this.run.wall_ns - i.ts)), lost = this.x(i.ts - i.lost_s * 1e9);
      if (again < 70 || lost > this.width) continue;
      if (again - lost < 4) { // too narrow to tell apart: a mark at the foot
        g.fillStyle = this.run.shades.badput.lost_work;
        g.fillRect(x, base - 16, 1, 16);
        continue;
      }
      g.fillStyle = tint(this.run.shades.badput.lost_work, 0.25);
      g.fillRect(lost, 10, Math.max(0.6, x - lost), base - 10);
      g.fillStyle = hatch(g, ...idle);
      g.fillRect(x, 10, Math.max(0.6, again - x), base - 10);
    }
  }
  lanes(g, base) {
    g.fillStyle = this.run.palette.checkpoint;
    for (const c of this.run.weeks.checkpoints) {
      const x = this.x(c.ts);
      if (x >= 69 && x <= this.width) g.fillRect(x, base + 6, Math.max(0.7, Math.min(3, (this.x(c.last_ts) - x) * 0.6)), 8);
    }
    for (const f of this.run.weeks.failures) {
      const x = this.x(f.ts);
      if (x < 69 || x > this.width) continue;
      g.fillStyle = unitColour(this.run, f.unit);
      g.beginPath();
      g.moveTo(x, base + 18);
      g.lineTo(x + 5, base + 32);
      g.lineTo(x - 5, base + 32);
      g.fill();
    }
  }
  listen() {
    let drag = null;
    const c = this.canvas;
    c.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && document.activeElement !== c) return;
      e.preventDefault();
      this.zoom(e.deltaY > 0 ? 1.25 : 0.8, this.ns(e.offsetX));
    }, { passive: false });
    c.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, moved: false }; c.setPointerCapture(e.pointerId); });
    c.addEventListener("pointermove", (e) => {
      if (drag && Math.abs(e.clientX - drag.x) > 3) {
        this.pan(((drag.x - e.clientX) / (this.width - 84)) * (this.view.to - this.view.from));
        drag = { x: e.clientX, moved: true };
      } else if (!drag) this.hover(e);
    });
    c.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved) this.clock.seek(this.ns(e.offsetX));
      drag = null;
    });
    c.addEventListener("pointerleave", () => this.tell.hide());
    c.addEventListener("dblclick", () => { this.view.from = 0; this.view.to = this.clock.end; this.view.changed(); });
  }
  zoom(factor, middle) {
    const { view } = this, span = Math.max(60e9, Math.min(this.clock.end, (view.to - view.from) * factor)), share = (middle - view.from) / (view.to - view.from);
    view.from = Math.max(0, Math.min(this.clock.end - span, middle - share * span));
    view.to = view.from + span;
    view.changed();
  }
  pan(ns) {
    const { view } = this, span = view.to - view.from;
    view.from = Math.max(0, Math.min(this.clock.end - span, view.from + ns));
    view.to = view.from + span;
    view.changed();
  }
  hover(e) {
    const near = (list) => list.reduce((a, b) => (a && Math.abs(this.x(a.ts) - e.offsetX) <= Math.abs(this.x(b.ts) - e.offsetX) ? a : b), null);
    const f = near(this.run.weeks.failures), i = near(this.run.weeks.interruptions);
    if (!f || Math.abs(this.x(f.ts) - e.offsetX) > 6) return this.tell.hide();
    const lines = [["", f.cause], ["when", clockText(f.ts)], ["unit", `${f.unit} ${f.unit_id}${f.node === null ? "" : `, node ${f.node}`}`]];
    if (i && i.ts === f.ts) lines.push(...chain(i));
    return this.tell.show(e, lines);
  }
}

const links = ["detect", "diagnose", "cordon", "allocate", "schedule", "provision", "start", "communicators", "warmup", "wait", "load"];
function chain(i) {
  return [["work lost", `${time(i.lost_s * 1e9)}, ${count(i.lost_steps)} steps`], ...links.filter((l) => i[`${l}_s`] > 0).map((l) => [l, time(i[`${l}_s`] * 1e9)]), ["down in all", time(i.down_s * 1e9)]];
}

// The nodes: struck ones flash, and stay darker the more often they were struck.
export class Strikes {
  constructor(run, clock, tell) {
    Object.assign(this, { run, clock, tell });
    this.section = panel("Failures on the map", "Every cell is a node. A failure strikes it red; under repair it is hatched; the darker, the more often it was struck.");
    this.canvas = canvas(230, `Map of ${run.run.nodes} nodes: which were struck by failures until now`);
    this.story = document.createElement("dl");
    this.story.className = "facts";
    this.section.append(this.canvas, this.story);
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }
  draw() {
    const { g, width, height } = context(this.canvas), n = Math.max(1, this.run.run.nodes), { t } = this.clock;
    const columns = Math.max(1, Math.ceil(Math.sqrt((n * width) / height))), cell = Math.min(width / columns, height / Math.ceil(n / columns), 30);
    const struck = new Map();
    for (const f of this.run.weeks.failures) {
      if (f.ts > t) break;
      if (f.node !== null) struck.set(f.node, { times: (struck.get(f.node)?.times ?? 0) + 1, f });
    }
    const edge = cell > 5 ? 1 : 0.5, flash = this.clock.rate * 0.5;
    g.fillStyle = "#e9e9e5";
    for (let i = 0; i < n; i++) g.fillRect((i % columns) * cell, Math.floor(i / columns) * cell, cell - edge, cell - edge);
    for (const [node, { times, f }] of struck) {
      const x = (node % columns) * cell, y = Math.floor(node / columns) * cell, age = t - f.ts;
      g.fillStyle = tint(this.run.colours[6], Math.max(0, 0.7 - 0.18 * times));
      g.fillRect(x, y, cell - edge, cell - edge);
      if (age < f.repair_s * 1e9) {
        g.fillStyle = hatch(g, ink, "#ffd9d6");
        g.fillRect(x, y, cell - edge, cell - edge);
      }
      if (age < flash) this.strike(g, x + cell / 2, y + cell / 2, cell, age / flash);
    }
    this.tell_last(t);
  }
  strike(g, x, y, cell, share) {
    g.fillStyle = alarm;
    g.globalAlpha = 1 - share;
    g.beginPath();
    g.arc(x, y, this.still.matches ? cell : Math.min(18, cell * (1 + 3 * share)), 0, 7);
    g.fill();
    g.globalAlpha = 1;
  }
  tell_last(t) {
    const past = this.run.weeks.interruptions, points = past.map((i) => [i.ts]), k = past.length > 0 && past[0].ts <= t ? search(points, t) : -1;
    if (k === this.told) return;
    this.told = k;
    const lines = k < 0 ? [["", "No failure yet."]] : [["", `Interruption ${k + 1} of ${past.length}: ${past[k].cause}`], ["when", clockText(past[k].ts)], ...chain(past[k]), ["loaded from", past[k].tier ?? "the start"]];
    this.story.replaceChildren(...lines.flatMap(([name, text]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = text;
      if (name === "") dd.className = "whole";
      return name === "" ? [dd] : [dt, dd];
    }));
  }
}

export class Badput {
  constructor(run) {
    this.run = run;
    const by = [...Map.groupBy(run.weeks.badput, (b) => b.class)];
    this.parts = by.map(([name, list]) => [name, list.reduce((a, b) => a + b.seconds, 0)]);
    this.whole = run.run.wall_s;
    this.section = panel("Where the wall clock went", "Left: useful work. The rest is what failures and their remedies cost; the lower bar shows that part alone.");
    this.canvas = canvas(128, this.parts.map(([name, s]) => `${name} ${percent(s / this.whole)}`).join(", "));
    this.section.append(legend(this.parts.filter(([, s]) => s > 1e-3).map(([name, s]) => [this.colour(name), `${name.replace("_", " ")} ${percent(s / this.whole)}`])), this.canvas,
      table("The classes as a table, as the database holds them", ["class", "link", "seconds"], [...run.weeks.badput.map((b) => [b.class, b.link, exact(b.seconds)]), ["wall_s", "", exact(run.run.wall_s)]]));
  }
  colour(name) {
    return this.run.shades.badput[name] ?? "#c9c9c4";
  }
  draw() {
    const { g, width } = context(this.canvas), bar = (parts, y, whole) => {
      let x = 0;
      for (const [name, s] of parts) {
        const w = (s / whole) * width;
        g.fillStyle = this.colour(name);
        g.fillRect(x, y, Math.max(0, w - 1), 34);
        x += w;
      }
    };
    bar(this.parts, 6, this.whole);
    const rest = this.parts.filter(([name]) => name !== "useful"), sum = rest.reduce((a, [, s]) => a + s, 0), useful = this.whole - sum;
    if (sum <= 0) return;
    g.fillStyle = "#ecece8";
    g.beginPath();
    g.moveTo((useful / this.whole) * width, 40);
    g.lineTo(width, 40);
    g.lineTo(width, 78);
    g.lineTo(0, 78);
    g.fill();
    bar(rest, 78, sum);
  }
}

// Productive time over wall time, until now.
export class Ettr {
  constructor(run, clock) {
    Object.assign(this, { run, clock, ...progress(run) });
    this.section = panel("ETTR: productive time over wall time", "Effective training time ratio until each moment; its end is the figure of the run.");
    this.box = document.createElement("div");
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", `ETTR over the run; at the end ${percent(run.run.ettr_ratio)}`);
    this.line = document.createElement("p");
    this.line.className = "reading";
    this.section.append(this.box, this.line);
    const kept = this.points.filter(([ts]) => ts > 0);
    this.xs = kept.map(([ts]) => ts / day);
    this.ys = kept.map(([ts, steps]) => (steps * this.step) / ts);
    this.ys[this.ys.length - 1] = run.run.ettr_ratio;
  }
  draw() {
    const width = Math.max(200, this.box.clientWidth);
    if (!this.plot) this.make(width);
    if (this.plot.width !== width) this.plot.setSize({ width, height: 260 });
    const t = this.clock.t / day;
    let k = this.xs.findIndex((x) => x > t);
    if (k < 0) k = this.xs.length;
    const value = k === 0 ? null : this.ys[k - 1];
    this.line.textContent = this.clock.t >= this.clock.end ? `At the end: ${exact(this.run.run.ettr_ratio)}` : value === null ? "Nothing is kept yet." : `Until now: ${percent(value)}`;
    this.plot.setCursor({ left: this.plot.valToPos(t, "x"), top: -10 }, false);
  }
  make(width) {
    const axis = { size: 62, stroke: quiet, grid: { stroke: rule, width: 1 }, font: "13px system-ui, sans-serif" };
    this.plot = new uPlot({ width, height: 260, legend: { show: false }, cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
      scales: { x: { time: false }, y: { range: [0, 1] } },
      axes: [{ ...axis, values: (_, v) => v.map((d) => `${d} d`) }, { ...axis, values: (_, v) => v.map((r) => `${Math.round(100 * r)} %`) }],
      series: [{}, { stroke: this.run.palette.forward, width: 2 }] }, [this.xs, this.ys], this.box);
  }
}
