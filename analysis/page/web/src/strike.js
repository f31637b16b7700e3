// A node that was struck on the page, in the run beside: what the strike cost, and what of the later differences it did not.
import { panel } from "./draw.js";
import { clock as clockText, count, time } from "./format.js";
import { ofBatches } from "./progress.js";

const cause = "struck on the page"; // as analysis/page/what_if.c writes it

export const strikeOf = (run) => run.weeks.failures.find((f) => f.cause === cause);
export const strikeWords = (f) => `struck node ${f.node} at ${clockText(f.ts)}`;

const steps = (n) => `${count(n)} ${n === 1 ? "step" : "steps"}`;

export class Strike {
  constructor(run, other) {
    const f = strikeOf(run), i = run.weeks.interruptions.find((x) => x.ts === f.ts && x.cause === cause), all = [run, other].map((r) => Math.round(r.run.steps_completed)), more = all[0] - all[1];
    this.section = panel(strikeWords(f).replace("struck", "Struck"), "What the strike itself cost, and what the two runs differ in at their end.");
    const list = document.createElement("dl");
    list.className = "facts";
    const lines = i ? [["lost at the strike", `${steps(i.lost_steps)}, ${time(i.lost_s * 1e9)} of work`], ["down for it", i.others_went_on ? "nothing: the other replicas went on" : time(i.down_s * 1e9)]] :
      [["lost at the strike", "nothing: the job did not stop (a spare node, or the job was down already)"]];
    for (const [name, text] of [...lines, ["at the end", `${count(all[0])} steps${ofBatches(run)}, without it ${count(all[1])}: ${Math.abs(more)} ${more < 0 ? "fewer" : "more"}`]]) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = text;
      list.append(dt, dd);
    }
    const why = document.createElement("p");
    why.className = "prose";
    why.textContent = "What differs later is chance: after the strike checkpoints fall at other moments, so each later failure takes back another amount of work, more or less. One pair of runs does not tell what a failure costs in the mean.";
    this.section.append(list, why);
  }
  draw() {}
}
