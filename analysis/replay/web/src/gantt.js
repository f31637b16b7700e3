// The pipeline: a row for each stage (or class), a box for each pass, ops inside it when there is
// room, streams below when a row is opened. Hatched: nothing to compute.
import { alarm, canvas, context, fit, hatch, idle, ink, inkOn, legend, panel, quiet, rule, table, tint } from "./draw.js";
import { exact, size, ticks, time } from "./format.js";
import { ops } from "./source.js";

const left = 118, top = 36, tall = 30, low = 19, gap = 5;

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
    Object.assign(this, { run, view, clock, tell, opened: new Set(), all: false, chosen: 0 });
    this.section = panel(view.many ? `Pipeline of ${run.meta.scenario ?? run.file}` : "Pipeline",
      "Each row is a pipeline stage; each box a microbatch. Hatched: the stage has nothing to compute. Click a row to open its streams; drag or scroll to look closer.");
    this.canvas = canvas(100, `Timeline of ${run.stages.length} pipeline stages. Arrow keys move, plus and minus change the speed, z and x zoom.`);
    this.section.append(legend([[run.palette.forward, "forward"], [run.palette.backward, "backward"], [run.palette.gradients, "gradients"],
      [run.palette.optimizer, "optimizer"], [run.palette.communication, "communication"], [null, "bubble: no compute"]]), this.canvas);
    if (run.classes.length > run.stages.length) this.section.append(this.toggle());
    this.section.append(this.words());
    this.listen();
  }
  toggle() {
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    label.className = "toggle";
    label.append(box, ` all ${this.run.classes.length} classes of ranks (ranks of a class do the same at the same time)`);
    box.addEventListener("change", () => { this.all = box.checked; this.resize(); });
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
    for (const c of this.all ? this.run.classes : this.run.stages) {
      const tracks = this.run.tracks.filter((t) => t.rank_class === c.id && t.kind === "stream");
      const compute = tracks.find((t) => t.name === "compute");
      out.push({ y, height: tall, class: c, track: compute, head: true,
        label: this.all ? `stage ${c.stage} · ${c.rank_count} like ${c.first_rank}` : `stage ${c.stage}` });
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
  resize() {
    this.layout = this.rows();
    this.canvas.style.height = `${Math.min(2400, this.layout.height)}px`;
    this.draw();
  }
  x(ns) { return left + ((ns - this.view.from) / (this.view.to - this.view.from)) * (this.width - left - 10); }
  ns(x) { return this.view.from + ((x - left) / (this.width - left - 10)) * (this.view.to - this.view.from); }
  finish(c) { return Math.round((c.finish_s ?? 0) * 1e9); }
  draw() {
    if (!this.layout) this.layout = this.rows();
    const { g, width, height } = context(this.canvas), ratio = this.canvas.width / Math.max(1, width);
    this.width = width;
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
    g.rect(left, 0, width - left - 9, height);
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
    g.rect(left, 0, width - left - 9, height);
    g.clip();
    this.hits = [];
    for (const row of this.layout.rows) this.row(g, row);
    g.restore();
    for (const [i, row] of this.layout.rows.entries()) this.name(g, row, i);
  }
  axis(g, height) {
    for (const [ns, text] of ticks(this.view.from, this.view.to, Math.max(3, (this.width - left) / 110))) {
      const x = this.x(ns);
      g.strokeStyle = rule;
      g.beginPath();
      g.moveTo(x, top - 6);
      g.lineTo(x, height);
      g.stroke();
      g.fillStyle = quiet;
      g.textAlign = "center";
      const half = g.measureText(text).width / 2;
      g.fillText(text, Math.max(left - 4 + half, Math.min(this.width - half, x)), 8);
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
    g.fillText(fit(g, sign + row.label, left - 12), 8, row.y + row.height / 2);
  }
  row(g, row) {
    const passes = row.head ? this.run.passes.tracks.get(row.track?.id) ?? [] : [];
    if (row.head) {
      g.fillStyle = hatch(g, ...idle);
      g.fillRect(this.x(0), row.y, this.x(this.finish(row.class)) - this.x(0), row.height);
    } else {
      g.fillStyle = "#f7f7f5";
      g.fillRect(this.x(0), row.y, this.x(this.finish(row.class)) - this.x(0), row.height);
    }
    const close = this.close(row, passes);
    const detail = close || !row.head ? ops(this.run, row.class.id, this.view.from, this.view.to, (e) => this.arrived(e)) : null;
    const inside = detail?.tracks.get(row.track?.id);
    const covered = close && inside;
    if (row.head) this.boxes(g, { ...row, covered }, passes, covered && detail.resolution < (this.view.to - this.view.from) / 40);
    if (inside && (!row.head || close)) this.boxes(g, { ...row, inner: row.head }, inside, false);
    if (inside && close) this.numbers(g, row, passes);
  }
  // Are passes wide enough that their ops can be seen?
  close(row, passes) {
    const first = Math.max(0, at(passes, this.view.from)), last = at(passes, this.view.to);
    return row.head && last >= first && (this.width - left) / (last - first + 1) > 90;
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
      const s = passes[i], x = Math.max(left, this.x(s.begin)), text = String(s.microbatch);
      if (s.microbatch < 0 || this.x(s.end) - x < 40) continue;
      g.fillStyle = "#fff";
      g.strokeStyle = colourOf(this.run, "compute", s.phase);
      g.beginPath();
      g.roundRect(x + 3, row.y + 5, g.measureText(text).width + 12, row.height - 10, 6);
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
    g.fillText(shown, Math.max(x, left) + Math.min(w, this.x(s.end) - Math.max(x, left)) / 2, row.y + row.height / 2 + 0.5);
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
      if (x < left || x > this.width) continue;
      g.fillStyle = ink;
      g.beginPath();
      g.arc(x, top - 8, 8, 0, 7);
      g.fill();
      g.fillStyle = "#fff";
      g.textAlign = "center";
      g.fillText(String(i + 1), x, top - 7.5);
    }
  }
  zoom(factor, middle) {
    const { view } = this, whole = this.clock.end;
    const span = Math.max(50, Math.min(whole, (view.to - view.from) * factor));
    const share = (middle - view.from) / (view.to - view.from);
    view.from = Math.max(0, Math.min(whole - span, middle - share * span));
    view.to = view.from + span;
    view.changed();
  }
  pan(ns) {
    const { view } = this, span = view.to - view.from;
    view.from = Math.max(0, Math.min(this.clock.end - span, view.from + ns));
    view.to = view.from + span;
    view.changed();
  }
  find(event) {
    const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    for (let i = this.hits.length - 1; i >= 0; i--) {
      const h = this.hits[i];
      if (y >= h.y && y <= h.y + h.h && x >= h.x && x <= h.x + Math.max(h.w, 2)) return h;
    }
    const row = this.layout.rows.find((r) => y >= r.y && y <= r.y + r.height);
    return row ? { row, x, idle: x > left } : null;
  }
  listen() {
    let drag = null;
    const c = this.canvas;
    c.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY) && document.activeElement !== c) return;
      e.preventDefault();
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan(((e.deltaX + e.deltaY) / this.width) * (this.view.to - this.view.from));
      else this.zoom(e.deltaY > 0 ? 1.25 : 0.8, this.ns(e.offsetX));
    }, { passive: false });
    c.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, moved: false }; c.setPointerCapture(e.pointerId); });
    c.addEventListener("pointermove", (e) => {
      if (drag && Math.abs(e.clientX - drag.x) > 3) {
        this.pan(((drag.x - e.clientX) / (this.width - left)) * (this.view.to - this.view.from));
        drag = { x: e.clientX, moved: true };
      } else if (!drag) this.hover(e);
    });
    c.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved) this.click(e);
      drag = null;
    });
    c.addEventListener("pointerleave", () => this.tell.hide());
    c.addEventListener("dblclick", () => { this.view.from = 0; this.view.to = this.clock.end; this.view.changed(); });
    c.addEventListener("keydown", (e) => this.key(e));
    c.addEventListener("focus", () => this.draw());
    c.addEventListener("blur", () => this.draw());
  }
  click(e) {
    const hit = this.find(e);
    const box = this.canvas.getBoundingClientRect();
    if (hit?.row.head && e.clientX - box.left < left) this.open(hit.row.class.id);
    else if (e.clientX - box.left >= left) this.clock.seek(this.ns(e.clientX - box.left));
  }
  open(id) {
    if (this.opened.has(id)) this.opened.delete(id);
    else this.opened.add(id);
    this.resize();
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
    const t = this.ns(hit.x);
    if (hit.row.head && hit.idle && t <= this.finish(hit.row.class)) return this.tell.show(e, [["", "bubble: the stage has nothing to compute"]]);
    return this.tell.hide();
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
