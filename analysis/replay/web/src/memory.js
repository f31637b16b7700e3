// The card of each stage at the moment of the clock: what stays by tenant, what moves on top, the
// line of what a card has, and the peak with all its tenants beside it.
import { alarm, canvas, context, hatch, ink, legend, panel, quiet, table, tint } from "./draw.js";
import { bytes, exact } from "./format.js";

const stays = ["context", "weights", "master", "moments"];
const tenants = ["context", "weights", "master", "moments", "gradients", "activations", "temporary", "communication", "fragmentation"];

export function tenantColour(run, tenant) {
  return run.shades.tenant[tenant] ?? "#c9c9c4"; // what is only reserved
}

export class Memory {
  constructor(run, clock) {
    Object.assign(this, { run, clock });
    this.section = panel("Memory of each stage", "Left bar: now (outline: taken from the card). Right bar: at the peak, by what holds it. The dashed line is what a card offers; red lies beyond it.");
    this.canvas = canvas(300, this.summary());
    this.section.append(legend([...tenants.slice(0, 8).map((t) => [tenantColour(run, t), t]), [null, "what moves now"]]), this.canvas,
      table("Peaks as a table, as the database holds them", ["stage", "like rank", "ranks", "fits", "peak reserved B", "peak allocated B", ...tenants.map((t) => `${t} B`)],
        run.classes.map((c) => [c.stage, c.first_rank, c.rank_count, c.fits ? "yes" : "no", exact(c.peak_reserved_bytes), exact(c.peak_allocated_bytes),
          ...tenants.map((t) => exact(c[`${t}_bytes`]))])));
  }
  summary() {
    const { run } = this, worst = Math.max(0, ...run.classes.map((c) => c.peak_reserved_bytes));
    return `Memory: the fullest stage takes ${bytes(worst)} of ${bytes(run.run.usable_hbm_bytes)} usable; ${run.run.fits ? "it fits" : "it does not fit"}.`;
  }
  now(c, name) {
    const track = this.run.tracks.find((t) => t.rank_class === c.id && t.kind === "ledger" && t.name === name);
    const points = track ? this.run.memory.get(track.id) ?? [] : [];
    let from = 0, to = points.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (points[middle].ts <= this.clock.t) from = middle + 1;
      else to = middle;
    }
    const p = points[Math.max(0, from - 1)];
    return p ? (this.clock.t < p.ts + this.run.memoryResolution ? p.high : p.last) : null;
  }
  draw() {
    const { g, width, height } = context(this.canvas), { run } = this, limit = run.run.usable_hbm_bytes;
    const most = 1.12 * Math.max(limit, ...run.stages.map((c) => c.peak_reserved_bytes)), base = height - 26, high = base - 16;
    const y = (value) => base - (value / most) * high, pitch = (width - 76) / run.stages.length, wide = Math.max(2, Math.min(64, pitch * 0.36));
    for (let share = 0; share <= 4; share++) {
      g.fillStyle = quiet;
      g.textAlign = "right";
      g.fillText(bytes((most / 1.12) * share / 4), 66, y((most / 1.12) * share / 4));
    }
    for (const [i, c] of run.stages.entries()) {
      const x = 76 + pitch * (i + 0.5), live = this.now(c, "allocated");
      if (live !== null) this.live(g, c, x - wide - 2, wide, y, live, limit);
      this.peak(g, c, live === null ? x - wide / 2 : x + 2, wide, y, limit);
      g.fillStyle = ink;
      g.textAlign = "center";
      if (pitch > 30 || i % Math.ceil(30 / pitch) === 0) g.fillText(pitch > 70 ? `stage ${c.stage}` : String(c.stage), x, height - 10);
    }
    g.strokeStyle = alarm;
    g.lineWidth = 2;
    g.setLineDash([7, 4]);
    g.beginPath();
    g.moveTo(72, y(limit));
    g.lineTo(width, y(limit));
    g.stroke();
    g.setLineDash([]);
    g.lineWidth = 1;
    g.fillStyle = alarm;
    g.textAlign = "right";
    g.fillText(`usable HBM ${bytes(limit)}`, width - 4, y(limit) - 10);
  }
  stack(g, parts, x, wide, y, limit) {
    let done = 0;
    for (const [value, fill] of parts) {
      g.fillStyle = fill;
      g.fillRect(x, y(done + value), wide, Math.max(0, y(done) - y(done + value) - (value > 0 ? 0.6 : 0)));
      done += value;
    }
    if (done > limit) {
      g.fillStyle = hatch(g, alarm, null);
      g.fillRect(x, y(done), wide, y(limit) - y(done));
      g.strokeStyle = alarm;
      g.lineWidth = 3;
      g.strokeRect(x - 1, y(done), wide + 2, y(limit) - y(done));
      g.lineWidth = 1;
    }
    return done;
  }
  live(g, c, x, wide, y, value, limit) {
    const held = stays.map((t) => [c[`${t}_bytes`], tenantColour(this.run, t)]), sum = held.reduce((a, [v]) => a + v, 0);
    this.stack(g, [...held, [Math.max(0, value - sum), hatch(g, this.run.palette.communication, tint(tenantColour(this.run, "activations"), 0.7))]], x, wide, y, limit);
    const reserved = this.now(c, "reserved");
    g.strokeStyle = ink;
    g.strokeRect(x - 0.5, y(reserved), wide + 1, y(0) - y(reserved));
  }
  peak(g, c, x, wide, y, limit) {
    this.stack(g, tenants.map((t) => [c[`${t}_bytes`], tenantColour(this.run, t)]), x, wide, y, limit);
  }
}
