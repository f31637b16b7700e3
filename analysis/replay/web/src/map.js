// The cluster: every GPU a cell, coloured by what it does now; and how much its wires carry.
import { alarm, canvas, context, hatch, heat, idle, legend, panel, quiet, table } from "./draw.js";
import { exact, percent } from "./format.js";
import { at } from "./gantt.js";

export class Cluster {
  constructor(run, clock, tell) {
    Object.assign(this, { run, clock, tell });
    const nodes = run.run.nodes ?? 1;
    this.section = panel("Cluster", `${nodes.toLocaleString("en-GB")} ${nodes === 1 ? "node" : "nodes"} of ${run.gpusOfNode} GPUs; every cell is a GPU. Colours as in the pipeline; pale: waiting.`);
    this.canvas = canvas(260, `Map of ${nodes} nodes: what each GPU does now`);
    this.section.append(legend([[run.palette.forward, "forward"], [run.palette.backward, "backward"], [run.palette.communication, "communication alone"], ["#e3e3df", "waits"], ["#ffffff", "spare"]]), this.canvas);
    this.seats = [];
    for (const [count, value] of run.seats) for (let i = 0; i < count; i++) this.seats.push(value);
    this.streams = new Map(run.classes.map((c) => [c.id, run.tracks.filter((t) => t.rank_class === c.id && t.kind === "stream")]));
    this.canvas.addEventListener("pointermove", (e) => this.hover(e));
    this.canvas.addEventListener("pointerleave", () => tell.hide());
  }
  // The colour of each class now: looked up once, not for each of its GPUs.
  colours() {
    const out = new Map([[0, "#ffffff"]]), { t } = this.clock;
    for (const c of this.run.classes) {
      const compute = this.run.passes.tracks.get(this.streams.get(c.id).find((s) => s.name === "compute")?.id) ?? [];
      const s = compute[at(compute, t)];
      if (s && s.end > t) out.set(c.id, this.run.palette[s.phase] ?? this.run.palette.parameters);
      else out.set(c.id, this.talks(c, t) ? this.run.palette.communication : "#e3e3df");
    }
    return out;
  }
  talks(c, t) {
    return this.streams.get(c.id).some((track) => {
      const spans = track.name === "compute" ? null : this.run.ops?.tracks.get(track.id);
      const s = spans?.[at(spans, t)];
      return s && s.end > t;
    });
  }
  // No higher than its cells need.
  fitHeight() {
    const width = this.canvas.clientWidth;
    if (width === this.fitted || width === 0) return;
    this.fitted = width;
    const m = this.grid(width, 260);
    this.canvas.style.height = `${Math.min(260, Math.ceil(Math.ceil(m.nodes / m.columns) * (m.high + 0.6) * m.cell) + 4)}px`;
  }
  grid(width, height) {
    const per = this.run.gpusOfNode, nodes = Math.ceil(this.seats.length / per), wide = per > 1 ? Math.min(per, 8) : 1, high = Math.ceil(per / wide);
    let best = { cell: 0 };
    for (let columns = 1; columns <= Math.min(nodes, 400); columns++) {
      const lines = Math.ceil(nodes / columns), cell = Math.min(width / (columns * (wide + 0.6)), height / (lines * (high + 0.6)), 26);
      if (cell > best.cell) best = { cell, columns };
    }
    return { ...best, per, nodes, wide, high };
  }
  draw() {
    this.fitHeight();
    const { g, width, height } = context(this.canvas), m = (this.m = this.grid(width, height)), colours = this.colours();
    const byColour = new Map();
    for (const [gpu, seat] of this.seats.entries()) {
      const colour = colours.get(seat) ?? "#fff";
      if (!byColour.has(colour)) byColour.set(colour, []);
      byColour.get(colour).push(gpu);
    }
    const edge = m.cell > 5 ? 1 : m.cell > 2.5 ? 0.4 : 0;
    if (m.cell > 7) this.frames(g, m);
    for (const [colour, gpus] of byColour) {
      g.fillStyle = colour;
      for (const gpu of gpus) {
        const [x, y] = this.place(gpu);
        g.fillRect(x, y, m.cell - edge, m.cell - edge);
      }
      if (colour !== "#ffffff" || m.cell < 5) continue;
      g.strokeStyle = "#b9b9b4";
      for (const gpu of gpus) { const [x, y] = this.place(gpu); g.strokeRect(x + 0.5, y + 0.5, m.cell - edge - 1, m.cell - edge - 1); }
    }
  }
  frames(g, m) {
    g.strokeStyle = "#c9c9c4";
    for (let node = 0; node < m.nodes; node++) {
      const [x, y] = this.place(node * m.per);
      g.strokeRect(x - 2.5, y - 2.5, m.wide * m.cell + 4, m.high * m.cell + 4);
    }
  }
  place(gpu) {
    const m = this.m, node = Math.floor(gpu / m.per), seat = gpu % m.per;
    return [((node % m.columns) * (m.wide + 0.6) + (seat % m.wide) + 0.3) * m.cell, (Math.floor(node / m.columns) * (m.high + 0.6) + Math.floor(seat / m.wide) + 0.3) * m.cell];
  }
  hover(e) {
    const m = this.m, x = e.offsetX / m.cell, y = e.offsetY / m.cell, column = Math.floor(x / (m.wide + 0.6)), line = Math.floor(y / (m.high + 0.6));
    const inner = Math.floor(x - column * (m.wide + 0.6) - 0.3), down = Math.floor(y - line * (m.high + 0.6) - 0.3);
    const gpu = (line * m.columns + column) * m.per + down * m.wide + inner;
    if (column >= m.columns || inner < 0 || inner >= m.wide || down < 0 || down >= m.high || gpu >= this.seats.length) return this.tell.hide();
    const c = this.run.classes.find((k) => k.id === this.seats[gpu]);
    return this.tell.show(e, [["", `node ${Math.floor(gpu / m.per)}, GPU ${gpu % m.per}`], ["stage", c ? String(c.stage) : "none: a spare"], ...(c ? [["class", `${c.rank_count} ranks like rank ${c.first_rank}`]] : [])]);
  }
}

// Wires by kind: how much of what it can carry the busiest of each carries, from moment to moment.
export class Wires {
  constructor(run, view, clock) {
    Object.assign(this, { run, view, clock });
    this.kinds = [...Map.groupBy(run.links.filter((l) => l.moved_bytes > 0), (l) => l.kind)].map(([kind, links]) => {
      const worst = links.reduce((a, b) => (this.load(b) > this.load(a) ? b : a));
      return { kind, worst, points: run.wireLoads.get(`${kind}, ${worst.from} to ${worst.to}`) ?? [] };
    });
    this.section = panel("Load of the wires", "The busiest wire of each kind over the time of the timeline: the darker, the nearer to what it can carry. Mean and busy are of the whole step.");
    this.canvas = canvas(Math.max(60, 18 + 50 * this.kinds.length), this.kinds.map(({ kind, worst }) => `${kind}: mean load ${percent(this.load(worst))}`).join(", ") || "No wire carries anything");
    this.section.append(legend([0.05, 0.25, 0.5, 0.75, 1].map((share) => [this.colour(share), share < 0.1 ? "little" : percent(share)])), this.canvas, table("Every class of wires, as the database holds it", ["kind", "from", "to", "wires", "B/s", "moved B", "busy s"],
      run.links.map((l) => [l.kind, l.from, l.to, l.link_count, exact(l.bytes_per_s), exact(l.moved_bytes), exact(l.busy_s)])));
  }
  colour(share) { return share < 1e-6 ? "#f4f4f2" : mix(this.run.palette.communication, share); }
  load(l) { return l.moved_bytes / (l.bytes_per_s * this.run.run.step_s); }
  // The load of a kind's busiest wire at a moment: a mean over a bin of the step.
  loadAt({ worst, points }, t) {
    let from = 0, to = points.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (points[middle].ts <= t) from = middle + 1;
      else to = middle;
    }
    return from === 0 || t >= this.run.step_ns ? 0 : points[from - 1].value / worst.bytes_per_s;
  }
  draw() {
    const { g, width } = context(this.canvas), left = 66, room = width - left - 4, { from, to } = this.view, { t } = this.clock;
    for (const [i, k] of this.kinds.entries()) {
      const y = 24 + 50 * i, busy = k.worst.busy_s / this.run.run.step_s;
      if (k.points.length > 0) {
        for (let x = 0; x < room; x++) {
          g.fillStyle = this.colour(this.loadAt(k, from + ((x + 0.5) / room) * (to - from)));
          g.fillRect(left + x, y, 1.2, 22);
        }
      } else { // a file of an older orrery: the mean alone
        g.fillStyle = this.colour(this.load(k.worst));
        g.fillRect(left, y, room, 22);
      }
      g.strokeStyle = "#8f9399";
      g.strokeRect(left + 0.5, y + 0.5, room - 1, 21);
      g.fillStyle = quiet;
      g.textAlign = "right";
      g.fillText(k.kind, left - 8, y + 11);
      g.textAlign = "left";
      g.fillText(`${k.points.length > 0 ? `now ${percent(this.loadAt(k, t))}, ` : ""}mean ${percent(this.load(k.worst))}, busy ${percent(busy)}`, left, y - 10);
      if (t < from || t > to) continue;
      g.fillStyle = alarm;
      g.fillRect(left + ((t - from) / (to - from)) * room - 1, y - 3, 2, 28);
    }
  }
}

// From pale over the colour to nearly black.
function mix(colour, share) {
  if (share <= 0.5) return heat(colour, 0.15 + 1.7 * share);
  const dark = Math.max(0, 1 - 1.5 * (share - 0.5));
  return `rgb(${[1, 3, 5].map((i) => Math.round(parseInt(colour.slice(i, i + 2), 16) * dark)).join(",")})`;
}

// Where the step of the mean rank went: one bar, and the same numbers to the digit.
export class Breakdown {
  constructor(run) {
    this.run = run;
    this.section = panel("Where the step of the mean rank goes", "The parts add up to the step.");
    this.canvas = canvas(42, run.breakdown.map((b) => `${b.part} ${percent(b.percent / 100)}`).join(", "));
    this.section.append(legend(run.breakdown.filter((b) => b.seconds > 0).map((b) => [b.part === "bubble" ? null : this.colour(b.part), `${b.part.replace("_", " ")} ${percent(b.percent / 100)}`])), this.canvas, table("The parts as a table, as the database holds them", ["part", "seconds", "percent", "meaning"],
      [...run.breakdown.map((b) => [b.part, exact(b.seconds), exact(b.percent), b.meaning]), ["step_s", exact(run.run.step_s), "100", "the step"]]));
  }
  colour(part) {
    return this.run.shades.part[part] ?? quiet;
  }
  draw() {
    const { g, width } = context(this.canvas), whole = this.run.run.step_s;
    let x = 0;
    for (const b of this.run.breakdown.filter((p) => p.seconds > 0)) {
      const w = (b.seconds / whole) * width;
      g.fillStyle = b.part === "bubble" ? hatch(g, ...idle) : this.colour(b.part);
      g.fillRect(x, 4, Math.max(0.5, w - 1), 32);
      x += w;
    }
  }
}
