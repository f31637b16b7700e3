// The numbers of a run, what was chosen for it, and every constant with its source.
import { panel, table } from "./draw.js";
import { exact, size } from "./format.js";

export class About {
  constructor(run) {
    this.section = panel(`Numbers of ${run.meta.scenario ?? run.file}`, "Every number as the database holds it, with its unit and meaning.");
    const known = Object.entries(run.run).filter(([name, value]) => value !== null && name !== "id");
    const parts = [table("Results", ["name", "value", "unit", "meaning"], known.map(([name, value]) => [name, exact(value), run.units.get(name)?.unit, run.units.get(name)?.text])),
      table("What was chosen, and why; warnings", ["kind", "key", "text", "why"], run.messages.map((m) => [m.severity, m.key, m.text, m.doc])),
      table("Constants and their sources", ["name", "value", "error", "origin", "source"], run.constants.map((c) => [c.name, c.text, c.error_ratio, c.origin, c.source]))];
    for (const [i, part] of parts.entries()) {
      part.open = i === 0;
      this.section.append(part);
    }
  }
  draw() {}
}

// Where memory ends before a step could be timed.
export class Verdict {
  constructor(run) {
    const o = run.outOfMemory;
    this.section = panel("Out of memory", run.step_ns > 0 ? "This layout does not fit. What is played below is the step as it would be, were the card large enough; bars of memory stop where memory ended." : "No step was timed: memory ends first.");
    const list = document.createElement("dl");
    list.className = "facts";
    const lines = [["what found no room", `${o.tensor} (${o.tenant})`], ["when", o.at], ["where", o.call_site], ["rank", `${o.rank}, stage ${o.stage}`], ["asked for", size(o.bytes)],
      ["short by", size(o.short_bytes)], ...(o.would_help ? [["what would help", o.would_help]] : []), ...run.neighbours.slice(0, 5).map((n) => ["a layout that fits", n.set])];
    for (const [name, text] of lines) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = text;
      list.append(dt, dd);
    }
    this.section.append(list, table("The same to the byte, as the database holds it", ["what", "B"], [["asked for", exact(o.bytes)], ["short by", exact(o.short_bytes)]]));
    this.section.classList.add("alarm");
  }
  draw() {}
}
