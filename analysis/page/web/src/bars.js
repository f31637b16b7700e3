// Bars of a card: what each tenant holds, one upon the other, under the line of what the card offers; red beyond it.
import { alarm, hatch, quiet } from "./draw.js";
import { bytes } from "./format.js";

export const tenants = ["context", "weights", "master", "moments", "gradients", "activations", "temporary", "communication", "fragmentation"];

export function tenantColour(run, tenant) {
  return run.shades.tenant[tenant] ?? "#c9c9c4"; // what is only reserved
}

// A scale from bytes to the height on a picture; `limit` is what the card offers.
export function scale(limit, most, base, top) {
  return { limit, base, y: (value) => base - (value / most) * (base - top) };
}

// `parts`: [bytes, fill, name]. With `room` names stand at the right, where there is height for them. Returns the sum.
export function bar(g, { y, limit }, parts, x, wide, room = 0) {
  let done = 0, last = Infinity;
  for (const [value, fill, name] of parts) {
    g.fillStyle = fill;
    g.fillRect(x, y(done + value), wide, Math.max(0, y(done) - y(done + value) - (value > 0 ? 0.6 : 0)));
    const middle = Math.abs(y(done + value / 2) - y(limit)) < 9 ? y(limit) + 10 : y(done + value / 2); // beside the line, not on it
    if (room > 0 && y(done) - y(done + value) > 8 && last - middle > 14) {
      const words = `${name} ${bytes(value)}`;
      g.fillStyle = quiet;
      g.textAlign = "left";
      g.fillText(g.measureText(words).width < room ? words : name, x + wide + 6, middle);
      last = middle;
    }
    done += value;
  }
  if (done <= limit) return done;
  g.fillStyle = hatch(g, alarm, null);
  g.fillRect(x, y(done), wide, y(limit) - y(done));
  g.strokeStyle = alarm;
  g.lineWidth = 3;
  g.strokeRect(x - 1, y(done), wide + 2, y(limit) - y(done));
  g.lineWidth = 1;
  return done;
}

// The line of what a card offers, and its words where no bar stands.
export function ceiling(g, { y, limit }, from, to, words, x) {
  g.strokeStyle = alarm;
  g.lineWidth = 2;
  g.setLineDash([7, 4]);
  g.beginPath();
  g.moveTo(from, y(limit));
  g.lineTo(to, y(limit));
  g.stroke();
  g.setLineDash([]);
  g.lineWidth = 1;
  g.textAlign = "left";
  g.fillStyle = "rgba(255,255,255,0.85)";
  g.fillRect(x - 3, y(limit) - 19, g.measureText(words).width + 6, 17);
  g.fillStyle = alarm;
  g.fillText(words, x, y(limit) - 10);
}
