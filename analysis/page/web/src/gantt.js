// The pipeline: a row for each stage (or class), a box for each pass, ops inside it when there is
// room, streams below when a row is opened. Hatched: nothing is computed, in the colour of the cause.
import { alarm, canvas, context, fit, ink, inkOn, legend, panel, quiet, rounded, rule, table, tint, waitFill, waitLegend, waitWords } from "./draw.js";
import { exact, percent, size, ticks, time } from "./format.js";
import { ops, waits } from "./source.js";
import { help, steer } from "./window.js";

const top = 36, tall = 30, low = 19, gap = 5;

export function colourOf(run, stream, phase) {
  if (stream !== "compute" && stream !== "copy") return run.palette.communication;
  return { forward: run.palette.forward, backward: run.palette.backward, recompute: run.shades.phase.recompute,
    gradients: run.palette.gradients, optimizer: run.palette.optimizer, parameters: run.palette.parameters }[phase] ?? run.palette.parameters;
}

// The span at a moment in a list sorted by begin, or the last one before it.
export function at(spans, t) {
  let from = 0, to = spans.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (spans[middle].begin <= t) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

export class Gantt {
  constructor(run, view, clock, tell) {
    Object.assign(this, { run, view, clock, tell, opened: new Set(), all: false, chosen: 0, left: 70 });
    this.section = panel(view.many ? `Pipeline of ${run.meta.scenario ?? run.file}` : "Pipeline",
      "Each row is a pipeline stage; each box a microbatch. Hatched: its GPUs compute nothing, by cause. Where the compute of a stage takes longer on other GPUs, the slowest have a row of their own. Click a row to open its streams. " + help);
    this.canvas = canvas(100, `Timeline of ${run.stages.length} pipeline stages. Arrow keys move, plus and minus change the speed, z and x zoom.`);
    this.section.append(legend([[run.palette.forward, "forward"], [run.palette.backward, "backward"], ...(run.breakdown.some((b) => b.part === "recompute" && b.seconds > 0) ? [[run.shades.phase.recompute, "recompute"]] : []), [run.palette.gradients, "gradients"],
      [run.palette.optimizer, "optimizer"], [run.palette.communication, "communication"], ...waitLegend(run, run.causes)]), this.canvas);
    this.section.append(this.reading());
    if (run.classes.length > run.shown.length) this.section.append(this.toggle());
    this.section.append(this.words());
    steer(this, 50);
    this.listen();
  }
  // What of each cause the rows show, and where the rest is: together the part of the breakdown.
  reading() {
    const { run } = this, line = document.createElement("p"), told = waitParts(run), unit = time(run.waits.resolution);
    const list = (key) => told.filter((t) => t[key] > 5e-7 * run.run.step_s).map((t) => `${t.cause.replace("_", " ")} ${percent(t[key] / run.run.step_s)}`).join(", ");
    const parts = [["Hatched, in the mean of all ranks: ", list("drawn")], [`In waits shorter than ${unit}, most of them inside boxes: `, list("short")], ["Inside ops that a slower card paces: ", list("paced")]];
    line.className = "reading waits";
    line.textContent = parts.filter(([, words]) => words).map((part) => part.join("")).join(". ");
    return line;
  }
  toggle() {
    const label = document.createElement("label"), box = (this.box = document.createElement("input"));
    box.type = "checkbox";
    label.className = "toggle";
    label.append(box, ` all ${this.run.classes.length} classes of ranks (ranks of a class do the same at the same time)`);
    box.addEventListener("change", () => { this.all = box.checked; this.resize(); this.view.changed(); });
    return label;
  }
  words() {
    return table("The streams as a table, as the database holds them", ["stage", "like rank", "ranks", "stream", "ops", "busy s", "hidden s", "waited s"],
      this.run.tracks.filter((t) => t.kind === "stream").map((t) => {
        const c = this.run.classes.find((x) => x.id === t.rank_class);
        return [c?.stage, c?.first_rank, c?.rank_count, t.name, t.slices, exact(t.busy_s), exact(t.hidden_s), exact(t.waited_s)];
      }));
  }
  rows() {
    const out = [];
    let y = top;
    for (const c of this.all ? this.run.classes : this.run.shown) {
      const tracks = this.run.tracks.filter((t) => t.rank_class === c.id && t.kind === "stream");
      const compute = tracks.find((t) => t.name === "compute");
      out.push({ y, height: tall, class: c, track: compute, head: true,
        label: this.label_of(c) });
      y += tall + gap;
      if (!this.opened.has(c.id)) continue;
      for (const track of tracks.filter((t) => t !== compute)) {
        out.push({ y, height: low, class: c, track, label: track.name });
        y += low + 3;
      }
      y += gap;
    }
    return { rows: out, height: y + 8 };
  }
  // What tells classes of a stage apart stands in front; how slow a slow card is stands with it.
  label_of(c) {
    const slow = c.speed_ratio < 1 ? ` at ${percent(c.speed_ratio)}` : "";
    if (this.all) return `stage ${c.stage}: rank ${c.first_rank}${c.rank_count > 1 ? ` and ${c.rank_count - 1} alike` : ""}${slow}`;
    return c.role === "slowest" ? `stage ${c.stage}, slowest: rank ${c.first_rank}${slow}` : `stage ${c.stage}${slow}`;
  }
  // Labels are not cut where there is room for a timeline beside them.
  measure(g, width) {
    const widest = Math.max(40, ...this.layout.rows.map((row) => g.measureText(`▸ ${row.label}`).width));
    this.left = Math.ceil(Math.min(widest + 22, 0.45 * width));
  }
  resize() {
    this.layout = this.rows();
    this.canvas.style.height = `${Math.min(2400, this.layout.height)}px`;
    this.draw();
  }
  x(ns) { return this.left + ((ns - this.view.from) / (this.view.to - this.view.from)) * (this.width - this.left - 10); }
  ns(x) { return this.view.from + ((x - this.left) / (this.width - this.left - 10)) * (this.view.to - this.view.from); }
  finish(c) { return Math.round((c.finish_s ?? 0) * 1e9); }
  draw() {
    if (!this.layout) this.layout = this.rows();
    const { g, width, height } = context(this.canvas), ratio = this.canvas.width / Math.max(1, width);
    if (width === 0) return; // on a tab that is not shown
    this.width = width;
    this.measure(g, width);
    const key = [width, height, ratio, this.view.from, this.view.to, [...this.opened], this.all, this.chosen, document.activeElement === this.canvas, this.news].join();
    if (key !== this.drawn) { // all that does not move with the clock is drawn once
      this.still ??= document.createElement("canvas");
      this.still.width = this.canvas.width;
      this.still.height = this.canvas.height;
      const s = this.still.getContext("2d");
      s.setTransform(ratio, 0, 0, ratio, 0, 0);
      s.font = g.font;
      s.textBaseline = "middle";
      this.drawn = key;
      this.rest(s, height);
    }
    g.drawImage(this.still, 0, 0, width, height);
    g.save();
    g.beginPath();
    g.rect(this.left, 0, width - this.left - 9, height);
    g.clip();
    this.cursor(g, height);
    g.restore();
    this.marks(g);
  }
  rest(g, height) {
    const { width } = this;
    this.axis(g, height);
    g.save();
    g.beginPath();
    g.rect(this.left, 0, width - this.left - 9, height);
    g.clip();
    this.hits = [];
    for (const row of this.layout.rows) this.row(g, row);
    g.restore();
    for (const [i, row] of this.layout.rows.entries()) this.name(g, row, i);
  }
  axis(g, height) {
    for (const [ns, text] of ticks(this.view.from, this.view.to, Math.max(3, (this.width - this.left) / 110))) {
      const x = this.x(ns);
      g.strokeStyle = rule;
      g.beginPath();
      g.moveTo(x, top - 6);
      g.lineTo(x, height);
      g.stroke();
      g.fillStyle = quiet;
      g.textAlign = "center";
      const half = g.measureText(text).width / 2;
      g.fillText(text, Math.max(this.left - 4 + half, Math.min(this.width - half, x)), 8);
    }
  }
  name(g, row, i) {
    g.textAlign = "left";
    g.fillStyle = row.head ? ink : quiet;
    if (row.head && i === this.chosen && document.activeElement === this.canvas) {
      g.fillStyle = this.run.palette.forward;
      g.fillRect(0, row.y, 3, row.height);
    }
    const sign = row.head ? (this.opened.has(row.class.id) ? "▾ " : "▸ ") : "      ";
    g.fillText(fit(g, sign + row.label, this.left - 12), 8, row.y + row.height / 2);
  }
  row(g, row) {
    const passes = row.head ? this.run.passes.tracks.get(row.track?.id) ?? [] : [];
    if (row.head) {
      this.waits(g, row, true);
    } else {
      g.fillStyle = "#f7f7f5";
      g.fillRect(this.x(0), row.y, this.x(this.finish(row.class)) - this.x(0), row.height);
    }
    const close = this.close(row, passes);
    const detail = close || !row.head ? ops(this.run, row.class.id, this.view.from, this.view.to, (e) => this.arrived(e)) : null;
    const inside = detail?.tracks.get(row.track?.id);
    const covered = close && inside;
    if (row.head) this.boxes(g, { ...row, covered }, passes, covered && detail.resolution < (this.view.to - this.view.from) / 40);
    if (covered) this.waits(g, row, false);
    if (inside && (!row.head || close)) this.boxes(g, { ...row, inner: row.head }, inside, false);
    if (inside && close) this.numbers(g, row, passes);
  }
  // Below the passes; of those that are wide enough to be told, what is pointed at.
  waits(g, row, hits) {
    const { from, to } = this.view, spans = waits(this.run, row.class.id, from, to, (e) => this.arrived(e)).tracks.get(row.track?.id) ?? [];
    let i = Math.max(0, at(spans, from));
    while (i > 0 && spans[i - 1].begin === spans[i].begin) i--; // shares of one place
    for (; i < spans.length && spans[i].begin < to; i++) {
      const s = spans[i], x = this.x(s.begin), w = this.x(s.end) - x, y = row.y + s.above * row.height, h = s.share * row.height;
      if (s.end < from || s.end === s.begin) continue;
      g.fillStyle = waitFill(g, this.run, s.name);
      g.fillRect(x, y, w, h);
      if (hits && w >= 0.3) this.hits.push({ x, w, y, h, wait: s, row });
    }
  }
  // Are passes wide enough that their ops can be seen?
  close(row, passes) {
    const first = Math.max(0, at(passes, this.view.from)), last = at(passes, this.view.to);
    return row.head && last >= first && (this.width - this.left) / (last - first + 1) > 90;
  }
  arrived(error) {
    this.news = (this.news ?? 0) + 1;
    if (error) this.tell.trouble(error.message);
    this.draw();
  }
  boxes(g, row, spans, pale) {
    const { from, to } = this.view, inset = row.inner ? 4 : 0;
    for (let i = Math.max(0, at(spans, from)); i < spans.length && spans[i].begin < to; i++) {
      const s = spans[i], x = this.x(s.begin), w = Math.max(this.x(s.end) - x, 0.6);
      if (s.end < from) continue;
      const colour = colourOf(this.run, row.track.name, s.phase);
      g.fillStyle = pale ? tint(colour, 0.72) : s.chunk % 2 === 1 && row.head ? tint(colour, 0.22) : colour;
      g.fillRect(x, row.y + inset, w > 2.4 ? w - 0.8 : w, row.height - 2 * inset);
      if (w > 13 && !pale && !row.covered && (s.count === 1 || row.head && !row.inner)) this.label(g, row, s, x, w, inkOn(colour));
      this.hits.push({ x, w, y: row.y, h: row.height, span: s, row });
    }
  }
  // The microbatch of a pass whose ops are shown, at its left end.
  numbers(g, row, passes) {
    const { from, to } = this.view;
    for (let i = Math.max(0, at(passes, from)); i < passes.length && passes[i].begin < to; i++) {
      const s = passes[i], x = Math.max(this.left, this.x(s.begin)), text = String(s.microbatch);
      if (s.microbatch < 0 || this.x(s.end) - x < 40) continue;
      g.fillStyle = "#fff";
      g.strokeStyle = colourOf(this.run, "compute", s.phase);
      g.beginPath();
      rounded(g, x + 3, row.y + 5, g.measureText(text).width + 12, row.height - 10, 6);
      g.fill();
      g.stroke();
      g.fillStyle = ink;
      g.textAlign = "left";
      g.fillText(text, x + 9, row.y + row.height / 2 + 0.5);
    }
  }
  label(g, row, s, x, w, colour) {
    const text = row.head && !row.inner ? (s.microbatch >= 0 ? String(s.microbatch) : s.name) : s.layer >= 0 ? `${s.name} ${s.layer}` : s.name;
    const shown = fit(g, text, w - 3);
    if (shown === "" || (row.head && !row.inner && shown !== text)) return;
    g.fillStyle = colour;
    g.textAlign = "center";
    g.fillText(shown, Math.max(x, this.left) + Math.min(w, this.x(s.end) - Math.max(x, this.left)) / 2, row.y + row.height / 2 + 0.5);
  }
  // What has not happened yet is pale.
  cursor(g, height) {
    const x = this.x(this.clock.t);
    if (this.clock.t < this.clock.end) {
      g.fillStyle = "rgba(255,255,255,0.66)";
      g.fillRect(x, top - 6, this.width, height);
    }
    g.strokeStyle = alarm;
    g.lineWidth = 2;
    g.beginPath();
    g.moveTo(x, top - 8);
    g.lineTo(x, height);
    g.stroke();
    g.lineWidth = 1;
  }
  marks(g) {
    for (const [i, note] of this.run.notes.entries()) {
      const x = this.x(note.ts);
      if (x < this.left || x > this.width) continue;
      g.fillStyle = ink;
      g.beginPath();
      g.arc(x, top - 8, 8, 0, 7);
      g.fill();
      g.fillStyle = "#fff";
      g.textAlign = "center";
      g.fillText(String(i + 1), x, top - 7.5);
    }
  }
  find(event) {
    const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    for (let i = this.hits.length - 1; i >= 0; i--) {
      const h = this.hits[i];
      if (y >= h.y && y <= h.y + h.h && x >= h.x && x <= h.x + Math.max(h.w, 2)) return h;
    }
    const row = this.layout.rows.find((r) => y >= r.y && y <= r.y + r.height);
    return row ? { row } : null;
  }
  listen() {
    const c = this.canvas;
    c.addEventListener("keydown", (e) => this.key(e));
    c.addEventListener("focus", () => this.draw());
    c.addEventListener("blur", () => this.draw());
  }
  click(e) {
    const hit = this.find(e);
    const box = this.canvas.getBoundingClientRect();
    if (hit?.row.head && e.clientX - box.left < this.left) this.open(hit.row.class.id);
    else if (e.clientX - box.left >= this.left) this.clock.seek(this.ns(e.clientX - box.left));
  }
  open(id) {
    if (this.opened.has(id)) this.opened.delete(id);
    else this.opened.add(id);
    this.resize();
    this.view.changed();
  }
  // As a link says, before it is drawn.
  restore(opened, all) {
    this.opened = opened;
    if (this.box) this.all = this.box.checked = all;
    this.layout = this.rows();
    this.canvas.style.height = `${Math.min(2400, this.layout.height)}px`;
  }
  key(e) {
    const heads = this.layout.rows.map((r, i) => (r.head ? i : -1)).filter((i) => i >= 0), place = heads.indexOf(this.chosen);
    if (e.key === "ArrowDown" && place + 1 < heads.length) this.chosen = heads[place + 1];
    else if (e.key === "ArrowUp" && place > 0) this.chosen = heads[place - 1];
    else if (e.key === "Enter") this.open(this.layout.rows[this.chosen].class.id);
    else return;
    e.preventDefault();
    this.draw();
  }
  hover(e) {
    const hit = this.find(e);
    if (!hit) return this.tell.hide();
    if (hit.span) return this.tell.show(e, this.about(hit));
    if (hit.wait) return this.tell.show(e, this.aboutWait(hit));
    return this.tell.hide();
  }
  aboutWait({ wait: s, row }) {
    const whole = row.class[`${s.name}_s`];
    return [["", waitWords(this.run, s.name)], ["from", time(s.begin, 6)], ["for", `${time(s.busy, 5)}${s.share < 1 ? ` of the ${time(s.end - s.begin, 5)} in which nothing is computed` : ""}${s.count > 1 ? `, in ${s.count} waits` : ""}`],
      ["in the step", `${time(whole * 1e9, 5)} of ${row.class.rank_count === 1 ? `rank ${row.class.first_rank}` : `each of ${row.class.rank_count} ranks like rank ${row.class.first_rank}`}`]];
  }
  about({ span: s, row }) {
    const out = [["", s.count > 1 ? (s.microbatch >= 0 ? `${s.phase} of microbatch ${s.microbatch}` : `${s.name}, ${s.phase}`) : `${s.name}, ${s.phase}`]];
    out.push(["from", time(s.begin, 6)], ["for", `${time(s.end - s.begin, 5)}${s.busy < s.end - s.begin ? `, busy ${time(s.busy, 5)}` : ""}`]);
    if (s.count > 1) out.push(["ops", String(s.count)]);
    if (s.wait > 0) out.push(["waited for peers", time(s.wait, 4)]);
    if (s.microbatch >= 0 && s.count === 1) out.push(["microbatch", String(s.microbatch)]);
    if (s.layer >= 0) out.push(["layer", String(s.layer)]);
    if (this.run.run.vpp > 1) out.push(["chunk", String(s.chunk)]);
    out.push(["stream", row.track.name], ["ranks", `${row.class.rank_count} like rank ${row.class.first_rank}`]);
    const kind = s.count === 1 || s.microbatch < 0 ? this.run.kinds.find((k) => k.track === row.track.id && k.name === s.name && k.phase === s.phase) : null;
    if (kind) out.push(...costs(this.run, kind));
    return out;
  }
}

// Seconds of the mean rank by cause: in pieces that are drawn, in waits too short for it, and (of the slowest card) inside ops.
export function waitParts(run) {
  const ranks = new Map(run.tracks.filter((t) => t.kind === "stream" && t.name === "compute").map((t) => [t.id, run.classes.find((c) => c.id === t.rank_class)?.rank_count ?? 0]));
  const all = [...ranks.values()].reduce((a, b) => a + b, 0), out = new Map(run.breakdown.filter((b) => run.causes.has(b.part)).map((b) => [b.part, { cause: b.part, drawn: 0, short: 0, paced: b.seconds }]));
  for (const [track, spans] of run.waits.tracks) {
    for (const s of spans) {
      const part = out.get(s.name), seconds = (s.busy * (ranks.get(track) ?? 0)) / all / 1e9;
      if (!part) continue;
      part[s.end > s.begin ? "drawn" : "short"] += seconds;
      part.paced -= seconds;
    }
  }
  return [...out.values()];
}

// What a mean op of this kind does and costs, and the figure that it rests on most.
function costs(run, kind) {
  const out = [], each = (sum) => sum / kind.ops, mean = kind.ops > 1 ? `, mean of ${kind.ops}` : "";
  if (kind.how) out.push([kind.flops + kind.hbm_bytes > 0 ? "kernels" : "by", kind.how]);
  if (kind.flops > 0) out.push(["computes", `${(each(kind.flops) / 1e12).toPrecision(4)} TFLOP${mean}`]);
  if (kind.hbm_bytes > 0) out.push(["HBM traffic", `${size(each(kind.hbm_bytes))}${mean}`]);
  if (kind.message_bytes > 0) out.push(["buffer", `${size(each(kind.message_bytes))}${mean}`]);
  const c = source(run, kind);
  if (c) out.push([c.name.replace(/^\w+\./, ""), `${c.text} (${c.origin}: ${c.source})`]);
  return out;
}

// The constant behind a cost: the attention curve, the efficiency of matrix products, the memory, or the wire.
function source(run, kind) {
  const r = run.run, find = (pattern) => run.constants.find((c) => pattern.test(c.name));
  const way = kind.phase === "forward" ? "forward" : "backward";
  if (kind.how.includes("attention")) return find(new RegExp(`^gpu\\..*\\.attention_${r.attention}_${r.causal ? "causal" : "full"}_${way}_rate$`)) ?? find(/^gpu\..*\.peak_bf16$/);
  if (kind.flops > 100 * kind.hbm_bytes) return find(/^gpu\..*\.gemm_efficiency$/);
  if (kind.hbm_bytes > 0) return find(/^gpu\..*\.hbm_efficiency$/);
  const wide = kind.track !== undefined && run.tracks.find((t) => t.id === kind.track)?.name === "tp" && r.tp <= run.gpusOfNode;
  return wide ? find(/^node\..*\.nvlink_bandwidth$/) : find(/^fabric\..*\.(nic|efficiency)$/) ?? find(/^node\..*\.nvlink_bandwidth$/);
}
