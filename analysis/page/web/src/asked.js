// What was asked of a search: the machines, the line, the terms, what was chosen for it.
import { panel, paragraph, table } from "./draw.js";
import { bytes, exact, percent } from "./format.js";

export class Asked {
  constructor(plan) {
    const { told, machines } = plan,
      terms = told?.terms ?? {};
    this.section = panel("What was asked", "The command, the machine, and what the answer had to keep to.");
    const open = (part) => Object.assign(part, { open: true });
    this.section.append(paragraph(`\`${plan.line}\``, "prose"));
    this.section.append(
      open(
        table(
          machines.length > 1 ? "Machines" : "The machine",
          [
            "values",
            "GPUs",
            "GPU",
            "usable memory",
            "node",
            "fabric",
            "software",
            "global batch",
            "sequence",
            "layouts",
            "leaders",
          ],
          machines.map((m) => [
            m.label || "–",
            m.gpus,
            m.gpu,
            bytes(m.usable_bytes),
            m.node,
            m.fabric,
            m.software,
            m.global_batch,
            m.sequence,
            m.searched,
            m.leaders.length,
          ]),
        ),
      ),
    );
    this.section.append(
      open(
        table(
          "Terms",
          ["term", "value"],
          [
            ["order of the list", told?.best ?? "–"],
            ["to stay free of the card", percent(terms.headroom ?? NaN)],
            ["deadline, days", exact(terms.deadline_days)],
            ["budget, USD", exact(terms.budget_usd)],
            ["power at the wall, W", exact(terms.power_w)],
          ],
        ),
      ),
    );
    if (told?.choices?.length > 0)
      this.section.append(
        open(
          table(
            "What was chosen, and why",
            ["key", "value", "why"],
            told.choices.map((c) => [c.key, c.value, c.why]),
          ),
        ),
      );
  }
  draw() {}
}
