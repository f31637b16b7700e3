// The cluster: every GPU a cell, coloured by what it does now; and how much its wires carry.
import { canvas, context, hatch, heat, idle, legend, panel, quiet, table } from "./draw.js";
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

// Wires by kind: how much of what they can carry they carried in the step.
export class Wires {
  constructor(run, tell) {
    Object.assign(this, { run, tell });
    this.kinds = [...Map.groupBy(run.links, (l) => l.kind)].map(([kind, links]) => ({ kind, links,
      worst: links.reduce((a, b) => (this.load(b) > this.load(a) ? b : a)) }));
    this.section = panel("Load of the wires", "The busiest wire of each kind: bytes of the step over what it could carry meanwhile (full colour), and the time in which something moved (outline).");
    this.canvas = canvas(Math.max(60, 14 + 40 * this.kinds.length), "Load of the busiest wire of each kind");
    this.section.append(this.canvas, table("Every class of wires, as the database holds it", ["kind", "from", "to", "wires", "B/s", "moved B", "busy s"],
      run.links.map((l) => [l.kind, l.from, l.to, l.link_count, exact(l.bytes_per_s), exact(l.moved_bytes), exact(l.busy_s)])));
  }
  load(l) { return l.moved_bytes / (l.bytes_per_s * this.run.run.step_s); }
  draw() {
    const { g, width } = context(this.canvas), room = width - 250;
    for (const [i, { kind, worst }] of this.kinds.entries()) {
      const y = 10 + 40 * i, busy = worst.busy_s / this.run.run.step_s;
      g.fillStyle = "#eeeeea";
      g.fillRect(70, y, room, 24);
      g.fillStyle = heat(this.run.palette.communication, 0.25 + 0.75 * this.load(worst));
      g.fillRect(70, y, room * Math.min(1, this.load(worst)), 24);
      g.strokeStyle = this.run.palette.communication;
      g.lineWidth = 2;
      g.strokeRect(70, y, room * Math.min(1, busy), 24);
      g.lineWidth = 1;
      g.fillStyle = quiet;
      g.textAlign = "right";
      g.fillText(kind, 62, y + 12);
      g.textAlign = "left";
      g.fillText(`${percent(this.load(worst))}, busy ${percent(busy)}`, 78 + room, y + 12);
    }
  }
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
