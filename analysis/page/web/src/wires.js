// What wires carry: the busiest of each kind over the time of the timeline, and colours, sums and words that the map shares.
import { alarm, canvas, context, legend, panel, quiet, table } from "./draw.js";
import { exact, grouped, percent } from "./format.js";

// Of its capacity, in the mean of the step.
export const meanLoad = (run, link) => link.moved_bytes / (link.bytes_per_s * run.run.step_s);

// Of its capacity at a moment: a mean over a bin of the step.
export function loadAt({ link, points }, t, end) {
  let from = 0, to = points.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (points[middle].ts <= t) from = middle + 1;
    else to = middle;
  }
  return from === 0 || t >= end ? 0 : points[from - 1].value / link.bytes_per_s;
}

// The steps of `export --svg map`; what carries nothing now is grey.
const steps = [["fifth", "up to 20 %"], ["two_fifths", "40 %"], ["three_fifths", "60 %"], ["four_fifths", "80 %"], ["full", "more"]], silent = "#e3e3df";
export const loadColour = (run, share) => (share < 1e-6 ? silent : run.shades.load[steps[Math.min(4, Math.floor(share * 5))][0]]);
export function loadLegend(run) {
  return legend([[silent, "wires: nothing"], ...steps.map(([word, text], i) => [run.shades.load[word], i === 0 ? `${text} of what they can carry` : text])]);
}

// Which nodes have which busiest wires, the busiest first: numbers of the database.
export function nodesTable(run) {
  const rows = run.nodeWires.map((w) => ({ ...w, link: run.wires.get(w.track)?.link })).filter((w) => w.link).sort((a, b) => meanLoad(run, b.link) - meanLoad(run, a.link));
  return table("The busiest wires of each node, as the database holds them", ["nodes", "kind", "like the wire", "to", "B/s", "moved B", "busy s", "load"],
    rows.map(({ first, last, kind, link: l }) => [first === last ? String(first) : `${first} to ${last}`, kind, l.from, l.to, exact(l.bytes_per_s), exact(l.moved_bytes), exact(l.busy_s), percent(meanLoad(run, l))]));
}

export class Wires {
  constructor(run, view, clock) {
    Object.assign(this, { run, view, clock });
    this.kinds = [...grouped(run.links.filter((l) => l.moved_bytes > 0), (l) => l.kind)].map(([kind, links]) => {
      const link = links.reduce((a, b) => (meanLoad(run, b) > meanLoad(run, a) ? b : a));
      return { kind, link, points: [...run.wires.values()].find((w) => w.link === link)?.points ?? [] };
    });
    this.section = panel("Load of the wires", "The busiest wire of each kind over the time of the timeline: the darker, the nearer to what it can carry. Mean and busy are of the whole step.");
    this.canvas = canvas(Math.max(60, 18 + 50 * this.kinds.length), this.kinds.map(({ kind, link }) => `${kind}: mean load ${percent(meanLoad(run, link))}`).join(", ") || "No wire carries anything");
    this.section.append(loadLegend(run), this.canvas, table("Every class of wires, as the database holds it", ["kind", "from", "to", "wires", "B/s", "moved B", "busy s"],
      run.links.map((l) => [l.kind, l.from, l.to, l.link_count, exact(l.bytes_per_s), exact(l.moved_bytes), exact(l.busy_s)])));
  }
  loadAt(kind, t) { return loadAt(kind, t, this.run.step_ns); }
  draw() {
    const { g, width } = context(this.canvas), left = 66, room = width - left - 4, { from, to } = this.view, { t } = this.clock;
    for (const [i, k] of this.kinds.entries()) {
      const y = 24 + 50 * i, busy = k.link.busy_s / this.run.run.step_s, mean = meanLoad(this.run, k.link);
      if (k.points.length > 0) {
        for (let x = 0; x < room; x++) {
          g.fillStyle = loadColour(this.run, this.loadAt(k, from + ((x + 0.5) / room) * (to - from)));
          g.fillRect(left + x, y, 1.2, 22);
        }
      } else { // a file of less detail: the mean alone
        g.fillStyle = loadColour(this.run, mean);
        g.fillRect(left, y, room, 22);
      }
      g.strokeStyle = "#8f9399";
      g.strokeRect(left + 0.5, y + 0.5, room - 1, 21);
      g.fillStyle = quiet;
      g.textAlign = "right";
      g.fillText(k.kind, left - 8, y + 11);
      g.textAlign = "left";
      g.fillText(`${k.points.length > 0 ? `now ${percent(this.loadAt(k, t))}, ` : ""}mean ${percent(mean)}, busy ${percent(busy)}`, left, y - 10);
      if (t < from || t > to) continue;
      g.fillStyle = alarm;
      g.fillRect(left + ((t - from) / (to - from)) * room - 1, y - 3, 2, 28);
    }
  }
}
