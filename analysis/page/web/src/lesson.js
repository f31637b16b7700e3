// A lesson: what the run shows, what to look for, its runs side by side, and questions whose answers the runs gave.
import { panel, paragraph, table } from "./draw.js";
import { bytes, digits, exact, percent, time } from "./format.js";

// Of a run of a lesson: what a column is called, where it stands, how it is said.
const figures = [["goodput", "goodput_ratio", percent], ["fits", "fits", (v) => (v ? "yes" : "no")], ["step", "step_s", (v) => time(v * 1e9)], ["tokens/s for each GPU", "tokens_per_s_per_gpu", digits],
  ["MFU", "mfu_ratio", percent], ["bubble", "bubble_ratio", percent], ["fullest rank", "peak_reserved_bytes", bytes]];

export class Lesson {
  constructor(run, beside) {
    const lesson = run.lesson[0];
    this.section = panel(`Lesson ${lesson.place}: ${run.meta.scenario}`, "");
    this.section.append(paragraph(lesson.shows, "prose"), this.heading("What to look for"), paragraph(lesson.look_for, "prose"));
    if (run.lessonRuns.length > 0) this.section.append(this.heading("The runs of this lesson"), this.runs(run), ...(beside ? [this.beside(run, beside)] : []));
    this.section.append(this.heading("Questions"));
    const list = document.createElement("ol");
    list.className = "questions";
    for (const q of run.questions) list.append(this.question(q));
    this.section.append(list);
    if (lesson.next) this.section.append(this.heading("Afterwards"), this.next(lesson.next));
  }
  heading(text) {
    const h = document.createElement("h3");
    h.textContent = text;
    return h;
  }
  // Columns are what the runs differ in; what they share is said once.
  runs(run) {
    const known = (value, word) => (value === null || value === undefined ? null : word(value)), all = run.lessonRuns;
    const columns = figures.map(([name, key, word]) => [name, all.map((r) => known(r[key], word))]).filter(([, cells]) => cells.some((c) => c !== null));
    const alike = all.length > 1 ? columns.filter(([, cells]) => cells.every((c) => c === cells[0])) : [], differ = columns.filter((c) => !alike.includes(c));
    const grid = table("The runs", ["run", "what it is", "what differs", ...differ.map(([name]) => name)], all.map((r, i) => [r.name || "this one", r.shows, r.set, ...differ.map(([, cells]) => cells[i])]));
    grid.open = true;
    if (alike.length > 0) grid.append(paragraph(`The same in all: ${alike.map(([name, cells]) => `${name} ${cells[0]}`).join(", ")}.`, "alike"));
    return grid;
  }
  // Where a server can simulate: another run of the lesson, beside this one.
  beside(run, play) {
    const line = document.createElement("p"), said = document.createElement("span");
    line.className = "pair";
    said.setAttribute("role", "status");
    line.append("Play beside this one: ");
    for (const other of run.lessonRuns.filter((r) => r.name)) {
      const button = document.createElement("button");
      button.textContent = other.name;
      button.addEventListener("click", async () => {
        said.textContent = "Simulating…";
        said.textContent = await play(other.set.split(/\s+(?=[\w.[\]]+=)/));
      });
      line.append(button);
    }
    line.append(said);
    return line;
  }
  // What stands between semicolons is a line of its own; a command among them is set as one.
  next(text) {
    const list = document.createElement("ul");
    list.className = "next";
    for (const line of text.split(/; /)) list.append(paragraph(line.replace(/(orrery [^(]*[^( ])/, "`$1`"), "prose", "li"));
    return list;
  }
  question(q) {
    const item = document.createElement("li"), details = document.createElement("details"), summary = document.createElement("summary");
    summary.textContent = "Show the answer";
    details.append(summary, paragraph(q.text ?? "This file holds one run; `orrery lesson` plays all runs of the lesson and writes a file with every answer.", "answer"));
    if (q.value !== null) {
      const unit = q.unit && q.unit !== "1" ? ` ${q.unit}` : "", formula = paragraph(`${q.answer} = ${Number.isInteger(q.value) ? q.value.toLocaleString("en-GB") : digits(q.value, 5)}${unit}`, "formula");
      formula.title = `${exact(q.value)}${unit}`; // to the digit
      details.append(formula);
    }
    if (q.why) details.append(paragraph(q.why, "prose"));
    item.append(paragraph(q.ask, "ask"), details);
    return item;
  }
  draw() {}
}
