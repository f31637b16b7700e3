// What became of every layout: a step for each reason, from all that were considered down to those that lead. A click
// filters by the reason.
import { panel } from "./draw.js";

const plainly = {
  rule: "break a rule",
  bound: "cannot be as fast: their passes alone take longer than a leader's step",
};

export class Funnel {
  constructor(plan) {
    this.plan = plan;
    this.section = panel(
      "What became of every layout",
      "From all that were considered down to those that lead: each line takes away the layouts of one " +
        "reason. Choose a line to see its layouts alone, below.",
    );
    this.list = document.createElement("ol");
    this.list.className = "funnel";
    this.said = document.createElement("p");
    this.said.className = "reading";
    this.said.setAttribute("aria-live", "polite");
    let left = plan.searched;
    this.add(null, "were considered", plan.searched, plan.searched, null);
    const reasons = plan.reasons(),
      before = reasons.filter((r) => ["rule", "memory", "headroom"].includes(r.fate));
    for (const r of before) left = this.take(r, left);
    if (plan.tried() > 0)
      left = this.take({ words: "held more, and were tried again with more recomputation", count: plan.tried() }, left);
    for (const r of reasons.filter((one) => !before.includes(one))) left = this.take(r, left);
    this.rest = left;
    this.section.append(this.list, this.said);
    plan.listen(() => this.mark());
    this.mark();
  }
  take(reason, left) {
    const leads = reason.fate === "leader",
      after = left - reason.count;
    const words = reason.rule ? `${plainly.rule}: ${reason.rule}` : (plainly[reason.fate] ?? reason.words);
    this.add(reason.key ?? undefined, words, reason.count, leads ? reason.count : left, leads ? null : after);
    return after;
  }
  // `key` null: all; undefined: its layouts are told by others, and it is no button.
  add(key, words, count, wide, after) {
    const item = document.createElement("li"),
      line = document.createElement(key === undefined ? "div" : "button");
    const number = document.createElement("span"),
      text = document.createElement("span"),
      bar = document.createElement("span");
    number.className = "count";
    number.textContent = count.toLocaleString("en-GB");
    text.className = "words";
    text.textContent = words;
    bar.className = "bar";
    bar.setAttribute("aria-hidden", "true");
    const whole = Math.max(1, this.plan.searched);
    for (const [kind, from, to] of after === null
      ? [["left", 0, wide]]
      : [
          ["left", 0, after],
          ["gone", after, wide],
        ]) {
      const piece = document.createElement("i");
      piece.className = kind;
      piece.style.left = `${(100 * from) / whole}%`;
      piece.style.width = `${(100 * (to - from)) / whole}%`;
      bar.append(piece);
    }
    line.append(number, text, bar);
    line.className = "line";
    if (key !== undefined) {
      line.type = "button";
      line.dataset.key = key ?? "";
      line.addEventListener("click", () => this.plan.choose({ filter: this.plan.filter === key ? null : key }));
    }
    item.append(line);
    this.list.append(item);
  }
  mark() {
    for (const line of this.list.querySelectorAll("button"))
      line.setAttribute("aria-pressed", String(line.dataset.key === (this.plan.filter ?? "")));
    const chosen = this.plan.reasons().find((r) => r.key === this.plan.filter),
      n = (v) => v.toLocaleString("en-GB");
    this.said.textContent = !chosen
      ? "Shown below: every layout."
      : `Shown below: the ${n(chosen.count)} that ${this.words(chosen)}` +
        (chosen.drawn < chosen.count ? `; this page holds ${n(chosen.drawn)} of them, taken at even distances.` : ".");
  }
  words(r) {
    return r.rule ? `${plainly.rule} (${r.rule})` : r.words;
  }
  draw() {}
}
