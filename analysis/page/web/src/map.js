// The cluster: every GPU a cell, coloured by what it does now; below the GPUs of a node its wires, coloured by what they carry now.
import { alarm, canvas, context, hatch, idle, ink, legend, panel, quiet, table } from "./draw.js";
import { exact, percent } from "./format.js";
import { Bitmap } from "./bitmap.js";
import { at } from "./gantt.js";
import { loadAt, loadColour, loadLegend, meanLoad, nodesTable } from "./wires.js";

export class Cluster {
  constructor(run, clock, tell) {
    Object.assign(this, { run, clock, tell, strips: [...new Set(run.nodeWires.map((w) => w.kind))] });
    this.slow = new Map(run.classes.filter((c) => c.speed_ratio < 1).map((c) => [c.id, c.speed_ratio]));
    const nodes = run.run.nodes ?? 1, wired = this.strips.length > 0;
    this.section = panel("Cluster", `${nodes.toLocaleString("en-GB")} ${nodes === 1 ? "node" : "nodes"} of ${run.gpusOfNode} GPUs; every cell is a GPU. Colours as in the pipeline; pale: waiting.` +
      (wired ? ` The bars below a node are its busiest wires now, from above: ${this.strips.join(", ")}.` : ""));
    this.canvas = canvas(260, `Map of ${nodes} nodes: what each GPU does now${wired ? `, and what the busiest ${this.strips.join(", ")} of each node carry; up and down choose a node and tell it` : ""}`);
    this.section.append(legend([[run.palette.forward, "forward"], [run.palette.backward, "backward"], [run.palette.communication, "communication alone"], ["#e3e3df", "waits"], ["#ffffff", "spare"], ...(this.slow.size > 0 ? [[alarm, "frame: a slow GPU"]] : [])]));
    if (wired) this.section.append(loadLegend(run));
    this.section.append(this.canvas);
    if (wired) this.section.append(nodesTable(run));
    this.seats = [];
    for (const [count, value] of run.seats) for (let i = 0; i < count; i++) this.seats.push(value);
    this.slowGpus = [...this.seats.keys()].filter((gpu) => this.slow.has(this.seats[gpu]));
    this.wires = this.strips.map((kind) => { // of each node: the wire of its bar
      const out = [];
      for (const w of run.nodeWires) if (w.kind === kind) for (let node = w.first; node <= Math.min(w.last, nodes - 1); node++) out[node] = run.wires.get(w.track);
      return out;
    });
    this.streams = new Map(run.classes.map((c) => [c.id, run.tracks.filter((t) => t.rank_class === c.id && t.kind === "stream")]));
    this.canvas.addEventListener("pointermove", (e) => this.hover(e));
    this.canvas.addEventListener("pointerleave", () => tell.hide());
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    this.canvas.addEventListener("blur", () => { this.chosen = undefined; tell.hide(); this.draw(); });
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
    this.canvas.style.height = `${Math.min(260, Math.ceil(Math.ceil(m.nodes / m.columns) * m.pitch * m.cell) + 4)}px`;
  }
  grid(width, height) {
    const per = this.run.gpusOfNode, nodes = Math.ceil(this.seats.length / per), wide = per > 1 ? Math.min(per, 8) : 1, high = Math.ceil(per / wide);
    const strip = this.strips.length === 0 ? 0 : 0.75, pitch = high + strip * this.strips.length + 0.6;
    let best = { cell: 0 };
    for (let columns = 1; columns <= Math.min(nodes, 400); columns++) {
      const lines = Math.ceil(nodes / columns), cell = Math.min(width / (columns * (wide + 0.6)), height / (lines * pitch), 26);
      if (cell > best.cell) best = { cell, columns };
    }
    return { ...best, per, nodes, wide, high, strip, pitch };
  }
  draw() {
    this.fitHeight();
    const { g, width, height } = context(this.canvas), m = (this.m = this.grid(width, height)), colours = this.colours();
    if (m.cell <= 5) this.small(g, m, colours);
    else this.large(g, m, colours);
    this.frameSlow(g, m);
    if (this.chosen === undefined) return;
    const [x, y] = this.place(this.chosen * m.per);
    g.strokeStyle = ink;
    g.lineWidth = 2;
    g.strokeRect(x - 2, y - 2, m.wide * m.cell + 3, (m.pitch - 0.6) * m.cell + 3);
    g.lineWidth = 1;
  }
  // Pixels: of a class of ranks its row, behind them the wires.
  small(g, m, colours) {
    const wires = [...new Set(this.wires.flat().filter(Boolean))], number = new Map(wires.map((wire, i) => [wire, i])), first = 1 + Math.max(...colours.keys());
    this.bitmap ??= new Bitmap();
    this.bitmap.find(this.canvas, [m.cell, m.columns, first].join(), (x, y) => {
      const { gpu, node, slot } = this.under(x, y) ?? {}, wire = slot === undefined ? undefined : number.get(this.wires[slot][node]);
      return gpu !== undefined ? this.seats[gpu] : wire !== undefined ? first + wire : -1;
    });
    this.bitmap.draw(g, [...Array.from({ length: first }, (_, c) => colours.get(c) ?? "#fff"), ...wires.map((wire) => loadColour(this.run, loadAt(wire, this.clock.t, this.run.step_ns)))]);
  }
  large(g, m, colours) {
    const byColour = new Map();
    for (const [gpu, seat] of this.seats.entries()) {
      const colour = colours.get(seat) ?? "#fff";
      if (!byColour.has(colour)) byColour.set(colour, []);
      byColour.get(colour).push(gpu);
    }
    const edge = 1;
    if (m.cell > 7) this.frames(g, m);
    this.bars(g, m);
    for (const [colour, gpus] of byColour) {
      g.fillStyle = colour;
      for (const gpu of gpus) {
        const [x, y] = this.place(gpu);
        g.fillRect(x, y, m.cell - edge, m.cell - edge);
      }
      if (colour !== "#ffffff") continue;
      g.strokeStyle = "#b9b9b4";
      for (const gpu of gpus) { const [x, y] = this.place(gpu); g.strokeRect(x + 0.5, y + 0.5, m.cell - edge - 1, m.cell - edge - 1); }
    }
  }
  // Slow GPUs are framed, however small their cells.
  frameSlow(g, m) {
    const size = Math.max(5, m.cell);
    g.strokeStyle = alarm;
    g.lineWidth = 2;
    for (const gpu of this.slowGpus) {
      const [x, y] = this.place(gpu);
      g.strokeRect(x + (m.cell - size) / 2, y + (m.cell - size) / 2, size - 1, size - 1);
    }
    g.lineWidth = 1;
  }
  // A bar for each kind below the GPUs of each node; the colour of each wire looked up once.
  bars(g, m) {
    const { t } = this.clock, colours = new Map(), thin = 1;
    for (const [slot, wires] of this.wires.entries()) {
      for (const [node, wire] of wires.entries()) {
        if (!wire) continue;
        if (!colours.has(wire)) colours.set(wire, loadColour(this.run, loadAt(wire, t, this.run.step_ns)));
        const [x, y] = this.place(node * m.per);
        g.fillStyle = colours.get(wire);
        g.fillRect(x, y + (m.high + slot * m.strip) * m.cell + thin, m.wide * m.cell - thin, m.strip * m.cell - thin);
      }
    }
  }
  frames(g, m) {
    g.strokeStyle = "#c9c9c4";
    for (let node = 0; node < m.nodes; node++) {
      const [x, y] = this.place(node * m.per);
      g.strokeRect(x - 2.5, y - 2.5, m.wide * m.cell + 4, (m.pitch - 0.6) * m.cell + 4);
    }
  }
  place(gpu) {
    const m = this.m, node = Math.floor(gpu / m.per), seat = gpu % m.per;
    return [((node % m.columns) * (m.wide + 0.6) + (seat % m.wide) + 0.3) * m.cell, (Math.floor(node / m.columns) * m.pitch + Math.floor(seat / m.wide) + 0.3) * m.cell];
  }
  // What the bars of a node tell: now, and in the mean of the step.
  carries(node) {
    return this.strips.flatMap((kind, slot) => {
      const wire = this.wires[slot][node];
      return wire ? [[kind, `${percent(loadAt(wire, this.clock.t, this.run.step_ns))} of what it can carry now, ${percent(meanLoad(this.run, wire.link))} in the mean of the step`]] : [];
    });
  }
  about(gpu) {
    const m = this.m, c = this.run.classes.find((k) => k.id === this.seats[gpu]);
    return [["", `node ${Math.floor(gpu / m.per)}, GPU ${gpu % m.per}`], ["stage", c ? String(c.stage) : "none: a spare"], ...(c ? [["class", `${c.rank_count} ranks like rank ${c.first_rank}`]] : []), ...(this.slow.has(c?.id) ? [["speed", `${percent(this.slow.get(c.id))} of its kind`]] : []), ...this.carries(Math.floor(gpu / m.per))];
  }
  // What is seen at a place: a GPU, a bar of a node's wires, or nothing.
  under(px, py) {
    const m = this.m, x = px / m.cell, y = py / m.cell, column = Math.floor(x / (m.wide + 0.6)), line = Math.floor(y / m.pitch), node = line * m.columns + column;
    const inner = Math.floor(x - column * (m.wide + 0.6) - 0.3), below = y - line * m.pitch - 0.3, down = Math.floor(below), gpu = node * m.per + down * m.wide + inner;
    if (column >= m.columns || inner < 0 || inner >= m.wide || below < 0 || node >= m.nodes || below > m.pitch - 0.6) return null;
    if (down >= m.high) return below - m.high < m.strip * this.strips.length ? { node, slot: Math.floor((below - m.high) / m.strip) } : null;
    return gpu < this.seats.length && down * m.wide + inner < m.per ? { node, gpu } : null;
  }
  hover(e) {
    const found = this.under(e.offsetX, e.offsetY);
    if (!found) return this.tell.hide();
    return this.tell.show(e, found.gpu === undefined ? [["", `node ${found.node}: its busiest wires`], ...this.carries(found.node)] : this.about(found.gpu));
  }
  // Up and down go from node to node, as pointing does.
  key(e) {
    if ((e.key !== "ArrowDown" && e.key !== "ArrowUp") || !this.m) return;
    e.preventDefault();
    const node = (this.chosen = Math.max(0, Math.min(this.m.nodes - 1, (this.chosen ?? -1) + (e.key === "ArrowDown" ? 1 : -1))));
    this.draw();
    const [x, y] = this.place(node * this.m.per), box = this.canvas.getBoundingClientRect(), [, ...rest] = this.about(node * this.m.per);
    this.tell.show({ clientX: box.left + x, clientY: box.top + y + this.m.pitch * this.m.cell }, [["", `node ${node}`], ...rest]);
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
