// Microbatches on their way: a box for each stage, a token for each microbatch that is under way.
import { canvas, context, ink, inkOn, panel, quiet, rounded, tint, waitFill } from "./draw.js";
import { at } from "./gantt.js";

export class Pipeline {
  constructor(run, clock) {
    Object.assign(this, { run, clock });
    this.section = panel("Microbatches under way", "Each numbered token is a microbatch: forward to the right, backward to the left. A token between two stages waits, or is on the wire.");
    this.canvas = canvas(190, "Where each microbatch is in the pipeline now");
    this.section.append(this.canvas);
    this.paths = paths(run);
  }
  draw() {
    const { g, width, height } = context(this.canvas), stages = this.run.stages, n = stages.length;
    const pitch = (width - 20) / n, box = Math.min(96, pitch * 0.62), y = height / 2 - 6, high = 62;
    const centre = (stage) => 10 + pitch * (stage + 0.5);
    for (const [i, c] of stages.entries()) {
      const x = centre(i) - box / 2, spans = this.spans(c), k = at(spans, this.clock.t), s = spans[k];
      const working = s && s.end > this.clock.t;
      g.fillStyle = working ? tint(this.colour(s.phase), 0.78) : waitFill(g, this.run, this.cause(c));
      g.strokeStyle = working ? this.colour(s.phase) : "#8f9399";
      g.lineWidth = 2;
      g.beginPath();
      rounded(g, x, y - high / 2, box, high, 8);
      g.fill();
      g.stroke();
      g.fillStyle = quiet;
      g.textAlign = "center";
      if (n <= 32 || i % Math.ceil(n / 16) === 0) g.fillText(pitch > 64 ? `stage ${c.stage}` : String(c.stage), centre(i), height - 12);
    }
    this.tokens(g, centre, y, box, high);
    g.lineWidth = 1;
  }
  // Why its GPUs compute nothing now.
  cause(c) {
    const waits = this.run.waits.tracks.get(this.run.tracks.find((t) => t.rank_class === c.id && t.name === "compute")?.id) ?? [];
    const s = waits[at(waits, this.clock.t)];
    return s && s.end > this.clock.t ? s.name : undefined;
  }
  spans(c) { return this.run.passes.tracks.get(this.run.tracks.find((t) => t.rank_class === c.id && t.name === "compute")?.id) ?? []; }
  colour(phase) { return this.run.palette[phase] ?? this.run.palette.parameters; }
  tokens(g, centre, y, box, high) {
    const { t } = this.clock, size = Math.max(7, Math.min(15, box / 4));
    for (const [number, path] of this.paths) {
      const k = at(path, t), s = path[k], next = path[k + 1];
      if (!s || (s.end <= t && !next)) continue;
      const inside = s.end > t;
      let x = centre(s.place), drop = 0;
      if (!inside) {
        const share = Math.min(1, (t - s.end) / Math.max(1, next.begin - s.end));
        x += (centre(next.place) - centre(s.place)) * share;
        drop = next.place === s.place ? -high / 2 - size : (next.phase === "forward" ? -1 : 1) * (high / 2 + size + 2);
      }
      const phase = inside ? s.phase : next.phase;
      g.fillStyle = this.colour(phase);
      g.globalAlpha = inside ? 1 : 0.72;
      g.beginPath();
      g.arc(x, y + drop, inside ? size : size * 0.72, 0, 7);
      g.fill();
      g.globalAlpha = 1;
      g.fillStyle = inkOn(this.colour(phase));
      g.textAlign = "center";
      g.font = `${inside ? 13 : 11}px system-ui, sans-serif`;
      if (size > 8) g.fillText(String(number), x, y + drop + 0.5);
    }
    g.fillStyle = ink;
  }
}

// Of each microbatch of the first replica: its passes in order of time.
function paths(run) {
  const out = new Map();
  for (const [place, c] of run.stages.entries()) {
    const track = run.tracks.find((t) => t.rank_class === c.id && t.name === "compute");
    for (const s of run.passes.tracks.get(track?.id) ?? []) {
      if (s.microbatch < 0) continue;
      if (!out.has(s.microbatch)) out.set(s.microbatch, []);
      out.get(s.microbatch).push({ ...s, place });
    }
  }
  for (const path of out.values()) path.sort((a, b) => a.begin - b.begin);
  return out;
}
