// The point of a study that is chosen: every result of it beside those of the best, and the command that plays it.
import { command } from "./command.js";
import { panel, paragraph } from "./draw.js";
import { Sheet } from "./sheet.js";
import { told } from "./units.js";

export class Point {
  constructor(study) {
    this.study = study;
    this.section = panel(
      "The point that is chosen",
      "Every result of it, in the mean of the seeds, beside those of the best point.",
    );
    this.body = document.createElement("div");
    this.section.append(this.body);
    study.listen(() => this.changed());
    this.changed();
  }
  changed() {
    const { study } = this,
      p = study.pinned,
      best = study.points.find((one) => one.point === study.optimum?.point);
    if (p === this.told) return;
    this.told = p;
    const name = document.createElement("h3");
    name.textContent = `${p?.name ?? "no point"}${p && p === best ? ", the best" : ""}`;
    this.body.replaceChildren(
      ...(p ? [name, ...this.about(p, p === best ? null : best)] : [paragraph("Choose a point in the picture.")]),
    );
  }
  about(p, best) {
    const mean = (one, m) => one?.[m.name]?.mean ?? null,
      text = (one, m) => (mean(one, m) === null ? "–" : told(m.unit, mean(one, m)));
    const columns = [
      { name: "result", value: (m) => m.name, text: (m) => m.name },
      { name: "this point", value: (m) => mean(p, m), text: (m) => text(p, m) },
      ...(best ? [{ name: "the best point", value: (m) => mean(best, m), text: (m) => text(best, m) }] : []),
      { name: "what it is", long: true, value: (m) => m.text, text: (m) => m.text },
    ];
    const sheet = new Sheet(
      "Results of the chosen point",
      columns,
      (m) => this.study.choose({ metric: m }),
      (m) => m === this.study.metric,
    );
    sheet.fill(this.study.metrics);
    this.study.listen(() => sheet.mark());
    return [sheet.box, ...command("To play it", p.line)];
  }
  draw() {}
}

// What study printed, to the letter.
export class Printed {
  constructor(study) {
    this.section = panel("What study printed");
    const box = document.createElement("pre");
    box.className = "told scroll";
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "What study printed");
    box.textContent = study.report;
    this.section.append(box);
  }
  draw() {}
}
