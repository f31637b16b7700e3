// Weeks: progress and lost work over the wall clock, failures on the map, badput, ETTR.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { alarm, canvas, context, hatch, idle, ink, legend, panel, quiet, rule, table, tint } from "./draw.js";
import { clock as clockText, count, exact, grouped, percent, round, ticks, time } from "./format.js";
import { ofBatches, progress, search } from "./progress.js";
import { saves } from "./source.js";
import { help, steer } from "./window.js";

const day = 86400e9, listed = 2000; // interruptions in a table: a browser is slow beyond

const unitColour = (run, unit) => run.colours[{ gpu: 1, nic: 5, node: 6, domain: 3, job: 7 }[unit] ?? 7];

export class Story {
  // `stories`: of all runs beside each other, which share one scale of steps.
  constructor(run, view, clock, tell, stories = []) {
    Object.assign(this, { run, view, clock, tell, stories, ...progress(run, run.weeks.checkpoints), saves: run.weeks.checkpoints });
    stories.push(this);
    this.section = panel("Progress and lost work", `Over the wall clock: strong, the steps kept, which a durable checkpoint holds; pale, the steps done. At a failure the job goes back to a checkpoint: the work since then is lost (red), then the job restarts (hatched). ${help}`);
    this.canvas = canvas(330, `${run.run.failures} failures stopped the job ${run.run.interruptions} times; ${count(run.run.steps_completed)} steps${ofBatches(run)} were kept; goodput ${percent(run.run.goodput_ratio)}`);
    const units = [...new Set(run.weeks.failures.map((f) => f.unit))], all = run.weeks.interruptions;
    this.said = document.createElement("p");
    this.said.className = "reading marks";
    this.section.append(legend([[run.palette.forward, "steps kept"], [tint(run.palette.forward, 0.6), "steps done"], [run.shades.badput.lost_work, "work lost"], [null, "detect and restart"], [run.palette.checkpoint, "checkpoints"], ...units.map((u) => [unitColour(run, u), `failure of a ${u}`])]), this.canvas, this.said,
      table(`${all.length > listed ? `The first ${listed.toLocaleString("en-GB")} of ${all.length.toLocaleString("en-GB")} interruptions` : "Every interruption"}, as the database holds it`, ["ts ns", "cause", "unit", "number", "node", "step", "loaded step", "lost s", "down s", "detect s", "tier"],
        all.slice(0, listed).map((i) => [exact(i.ts), i.cause, i.unit, i.unit_id, i.node, i.step, i.loaded_step, exact(i.lost_s), exact(i.down_s), exact(i.detect_s), i.tier])));
    steer(this, 60e9);
  }
  x(ns) { return 70 + ((ns - this.view.from) / (this.view.to - this.view.from)) * (this.width - 84); }
  ns(x) { return this.view.from + ((x - 70) / (this.width - 84)) * (this.view.to - this.view.from); }
  draw() {
    this.closer();
    const { g, width, height } = context(this.canvas), base = height - 58;
    this.width = width;
    const all = this.stories.map((s) => s.reach()), low = Math.min(...all.map(([least]) => least)), high = Math.max(low + 1, ...all.map(([, most]) => most));
    const y = (steps) => base - ((steps - low) / (high - low)) * (base - 14);
    this.axes(g, width, base, low, high, y);
    g.save();
    g.beginPath();
    g.rect(70, 0, width - 84, height);
    g.clip();
    this.stops(g, base, y);
    this.line(g, this.done, y, tint(this.run.palette.forward, 0.6), 1.4);
    this.line(g, this.kept, y, this.run.palette.forward, 2.2);
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
  // The fewest and the most steps in the window.
  reach() {
    let least = Infinity, most = 0;
    for (const points of [this.kept, this.done]) {
      for (let i = search(points, this.view.from), last = Math.min(points.length - 1, search(points, this.view.to) + 1); i <= last; i++) {
        least = Math.min(least, points[i][1]);
        most = Math.max(most, points[i][1]);
      }
    }
    return [least, most];
  }
  line(g, points, y, colour, width) {
    const first = search(points, this.view.from), last = Math.min(points.length - 1, search(points, this.view.to) + 1);
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.beginPath();
    for (let i = first; i <= last; i++) g[i === first ? "moveTo" : "lineTo"](this.x(points[i][0]), y(points[i][1]));
    g.stroke();
    g.lineWidth = 1;
  }
  // Where a group stands for several checkpoints and a server is there, those of the window are fetched.
  closer() {
    const { from, to } = this.view, whole = this.run.weeks.checkpoints, near = whole.some((c) => c.count > 1 && c.last_ts >= from && c.ts <= to) && to - from < this.clock.end / 2 ? saves(this.run, from, to, (e) => this.arrived(e)) : null;
    if (near === this.near) return;
    this.near = near;
    this.saves = near ? [...whole.filter((c) => c.last_ts < near.from || c.ts >= near.to), ...near.groups] : whole;
    Object.assign(this, progress(this.run, near ? [...whole, ...near.groups] : whole));
  }
  arrived(error) {
    if (error) this.tell.trouble(error.message);
    this.view.changed();
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
    for (const steps of round(low, high, 5).filter(Number.isInteger)) g.fillText(count(steps), 64, y(steps));
    g.fillText("steps", 64, base + 14);
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
    this.marks(g, base + 6);
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
  // A checkpoint is a line; a group of several a band, with their number where there is room.
  marks(g, y) {
    const { run } = this, { from, to } = this.view, colour = run.palette.checkpoint, shown = this.saves.filter((c) => c.last_ts >= from && c.ts <= to);
    for (const c of shown) {
      const x = this.x(c.ts), w = this.x(c.last_ts) - x;
      g.fillStyle = c.count > 1 && w > 3 ? tint(colour, 0.6) : colour;
      g.fillRect(x, y, Math.max(0.9, w), 10);
      if (c.count === 1 || w <= 3) continue;
      g.strokeStyle = colour;
      g.strokeRect(x + 0.5, y + 0.5, w - 1, 9);
      const words = [`${c.count} checkpoints`, String(c.count)].find((text) => g.measureText(text).width < w - 4);
      if (!words) continue;
      g.fillStyle = ink;
      g.textAlign = "center";
      g.fillText(words, x + w / 2, y + 5.5);
    }
    this.say(shown);
  }
  say(shown) {
    const { run } = this, total = (list) => list.reduce((a, c) => a + c.count, 0), here = total(shown), recorded = total(run.weeks.checkpoints), all = run.run.checkpoints ?? recorded;
    const bands = shown.filter((c) => c.count > 1).length;
    const words = [bands === 0 ? `${here.toLocaleString("en-GB")} checkpoints in view, each drawn.` : `${here.toLocaleString("en-GB")} checkpoints in view, drawn as ${shown.length.toLocaleString("en-GB")} marks: ${bands.toLocaleString("en-GB")} of them are bands that stand for several.`,
      recorded < all ? ` The file holds ${recorded === 0 ? "none" : `the first ${recorded.toLocaleString("en-GB")}`} of the run's ${all.toLocaleString("en-GB")} checkpoints: later steps kept are known at interruptions alone.` : ""].join("");
    if (this.said.textContent !== words) this.said.textContent = words;
  }
  click(e) { this.clock.seek(this.ns(e.offsetX)); }
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
    const by = [...grouped(run.weeks.badput, (b) => b.class)];
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
    const step = run.run.step_s * 1e9, kept = progress(run, run.weeks.checkpoints).kept.filter(([ts]) => ts > 0);
    Object.assign(this, { run, clock });
    this.section = panel("ETTR: productive time over wall time", "Effective training time ratio until each moment, of the steps that a checkpoint holds by then; the last point is the figure of the run, with the work since the last checkpoint.");
    this.box = document.createElement("div");
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", `ETTR over the run; at the end ${percent(run.run.ettr_ratio)}`);
    this.line = document.createElement("p");
    this.line.className = "reading";
    this.section.append(this.box, this.line);
    this.xs = [...kept.map(([ts]) => ts / day), run.wall_ns / day];
    this.ys = [...kept.map(([ts, steps]) => (steps * step) / ts), run.run.ettr_ratio];
  }
  draw() {
    const width = Math.max(200, this.box.clientWidth);
    if (!this.plot) this.make(width);
    if (this.plot.width !== width) this.plot.setSize({ width, height: 260 });
    const t = this.clock.t / day;
    let k = this.xs.findIndex((x) => x > t);
    if (k < 0) k = this.xs.length;
    const value = k === 0 ? null : this.ys[k - 1];
    this.line.textContent = this.clock.t >= this.clock.end ? `At the end: ${percent(this.run.run.ettr_ratio)}` : value === null ? "Nothing is kept yet." : `Until now: ${percent(value)}`;
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
