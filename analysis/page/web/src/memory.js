// The card of each stage at the moment of the clock, by tenant, under the line of what a card has; beside it the peak.
import { bar, ceiling, scale, tenantColour, tenants } from "./bars.js";
import { canvas, context, hatch, ink, legend, panel, quiet, table, tint } from "./draw.js";
import { bytes, exact, gib, round, size } from "./format.js";

const first = 76; // the axis stands left of it

export class Memory {
  constructor(run, clock, tell) {
    Object.assign(this, { run, clock, tell, timed: run.memory.size > 0 });
    this.ledgers = new Map(run.stages.map((c) => [c.id, new Map(run.tracks.filter((t) => t.rank_class === c.id && t.kind === "ledger").map((t) => [t.name, run.memory.get(t.id) ?? []]))]));
    this.split = run.stages.every((c) => this.ledgers.get(c.id).has("activations") || this.ledgers.get(c.id).has("weights"));
    this.section = panel("Memory of each stage", `${this.timed ? "Left bar: now (outline: taken from the card). Right bar: at the peak." : "What each stage would hold at its peak."} The dashed line is what a card offers; red lies beyond it.`);
    this.canvas = canvas(300, this.summary());
    this.section.append(legend([...tenants.map((t) => [tenantColour(run, t), t === "fragmentation" ? "taken, not used" : t]), ...(this.timed && !this.split ? [[null, "what moves now"]] : [])]), this.canvas,
      table("Peaks as a table, as the database holds them", ["stage", "like rank", "ranks", "fits", "peak reserved B", "peak allocated B", ...tenants.map((t) => `${t} B`)],
        run.classes.map((c) => [c.stage, c.first_rank, c.rank_count, c.fits ? "yes" : "no", exact(c.peak_reserved_bytes), exact(c.peak_allocated_bytes),
          ...tenants.map((t) => exact(c[`${t}_bytes`]))])));
    this.canvas.addEventListener("pointermove", (e) => this.hover(e));
    this.canvas.addEventListener("pointerleave", () => tell.hide());
  }
  summary() {
    const { run } = this, worst = Math.max(0, ...run.classes.map((c) => c.peak_reserved_bytes));
    return `Memory: the fullest stage takes ${bytes(worst)} of ${bytes(run.run.usable_hbm_bytes)} usable; ${run.run.fits ? "it fits" : "it does not fit"}.`;
  }
  // What stands on a curve of a stage at the moment of the clock; null: the file has no such curve.
  now(c, name) {
    const points = this.ledgers.get(c.id).get(name) ?? [];
    let from = 0, to = points.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (points[middle].ts <= this.clock.t) from = middle + 1;
      else to = middle;
    }
    return points[Math.max(0, from - 1)]?.last ?? null;
  }
  // [bytes, colour, tenant] now. A file of an older orrery has the sum alone: what stays by tenant, the rest hatched.
  held(g, c) {
    if (this.split) return tenants.filter((t) => t !== "fragmentation").map((t) => [this.now(c, t) ?? 0, tenantColour(this.run, t), t]);
    const stays = ["context", "weights", "master", "moments"].map((t) => [c[`${t}_bytes`], tenantColour(this.run, t), t]), sum = stays.reduce((a, [v]) => a + v, 0);
    return [...stays, [Math.max(0, this.now(c, "allocated") - sum), g && hatch(g, this.run.palette.communication, tint(tenantColour(this.run, "activations"), 0.7)), "what moves now"]];
  }
  draw() {
    const { g, width, height } = context(this.canvas), { run } = this, limit = run.run.usable_hbm_bytes;
    const most = Math.max(limit, ...run.stages.map((c) => c.peak_reserved_bytes)), s = scale(limit, 1.12 * most, height - 26, 16);
    const pitch = (this.pitch = (width - first) / run.stages.length), wide = Math.max(2, Math.min(64, pitch * 0.36));
    g.fillStyle = quiet;
    g.textAlign = "right";
    for (const mark of round(0, most / gib, 4)) g.fillText(`${mark.toLocaleString("en-GB")} GiB`, first - 10, s.y(mark * gib));
    for (const [i, c] of run.stages.entries()) {
      const x = first + pitch * (i + 0.5), live = this.now(c, "allocated") !== null;
      if (live) this.live(g, s, c, x - wide - 2, wide);
      bar(g, s, tenants.map((t) => [c[`${t}_bytes`], tenantColour(run, t), t]), live ? x + 2 : x - wide / 2, wide);
      g.fillStyle = ink;
      g.textAlign = "center";
      if (pitch > 30 || i % Math.ceil(30 / pitch) === 0) g.fillText(pitch > 70 ? `stage ${c.stage}` : String(c.stage), x, height - 10);
    }
    ceiling(g, s, first - 4, width, `a card offers ${bytes(limit)}`, first);
  }
  live(g, s, c, x, wide) {
    bar(g, s, this.held(g, c), x, wide);
    const reserved = this.now(c, "reserved");
    g.strokeStyle = ink;
    g.strokeRect(x - 0.5, s.y(reserved), wide + 1, s.y(0) - s.y(reserved));
  }
  hover(e) {
    const c = this.run.stages[Math.floor((e.offsetX - first) / this.pitch)];
    if (!c) return this.tell.hide();
    const now = this.now(c, "allocated") === null ? null : new Map(this.held(null, c).map(([v, , t]) => [t, v]));
    const line = (t) => [t, `${now?.has(t) ? `${size(now.get(t))} now, ` : ""}${size(c[`${t}_bytes`])} at the peak`];
    return this.tell.show(e, [["", `stage ${c.stage}`], ...(now ? [["now", size(this.now(c, "allocated"))]] : []), ["peak", `${size(c.peak_reserved_bytes)}, a card offers ${size(this.run.run.usable_hbm_bytes)}`],
      ...tenants.filter((t) => c[`${t}_bytes`] > 0 || now?.get(t) > 0).map(line)]);
  }
}
