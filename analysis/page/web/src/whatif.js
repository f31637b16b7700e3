// What if: change keys of the scenario, or its text, and let the server simulate it again; the answer plays beside the run.
import { panel } from "./draw.js";
import { exact } from "./format.js";
import { post, schema, settings } from "./source.js";

const steps = ["layout.tp", "layout.pp", "layout.vpp", "layout.microbatch", "layout.schedule", "layout.sharding", "layout.recompute", "training.global_batch", "training.sequence"];
const weekly = ["checkpoint.policy", "checkpoint.interval", "recovery.policy"];

export class WhatIf {
  constructor(run, { moment, done }) {
    Object.assign(this, { run, moment, done, fields: new Map() });
    this.base = settings(run);
    this.section = panel("What if", "Change what you like and simulate again: the new run is shown beside this one, on the same clock.");
    this.section.append(this.form(), this.editor());
    this.problems = document.createElement("ul");
    this.problems.className = "problems";
    this.problems.setAttribute("aria-live", "polite");
    this.status = document.createElement("p");
    this.status.setAttribute("role", "status");
    this.section.append(this.status, this.problems);
    schema().then((s) => this.describe(s), () => {});
  }
  form() {
    const form = document.createElement("form"), button = document.createElement("button");
    form.className = "form";
    for (const key of [...steps, ...(this.run.wall_ns > 0 ? weekly : [])]) this.field(form, key);
    button.textContent = "Simulate";
    button.id = "simulate";
    if (this.run.wall_ns > 0) this.striker(form);
    form.append(document.createElement("span"), button);
    form.addEventListener("submit", (e) => { e.preventDefault(); this.simulate(); });
    return form;
  }
  now(key) {
    const name = key.split(".")[1], r = this.run.run, here = { "checkpoint.policy": r.checkpoint_policy, "checkpoint.interval": `${exact(r.checkpoint_interval_s)}s`, "recovery.policy": r.recovery };
    return here[key] ?? exact(r[name]);
  }
  field(form, key) {
    const label = document.createElement("label"), input = document.createElement("input");
    input.id = `set-${key.replace(".", "-")}`;
    input.autocomplete = "off";
    input.spellcheck = false;
    label.htmlFor = input.id;
    label.textContent = `${key}, now ${this.now(key)}`;
    form.append(label, input);
    this.fields.set(key, input);
  }
  // Words to choose from, and what each key means, from the table of keys.
  describe(s) {
    for (const [key, input] of this.fields) {
      const [section, name] = key.split("."), known = s.properties[section]?.properties?.[name];
      if (!known) continue;
      input.title = known.description ?? "";
      if (!known.enum) continue;
      const list = document.createElement("datalist");
      list.id = `${input.id}-words`;
      for (const word of known.enum) list.append(Object.assign(document.createElement("option"), { value: word }));
      input.after(list);
      input.setAttribute("list", list.id);
    }
  }
  striker(form) {
    const label = document.createElement("label"), node = document.createElement("input"), button = document.createElement("button"), box = document.createElement("span");
    node.type = "number";
    node.min = "0";
    node.max = String(this.run.run.nodes - 1);
    node.value = "0";
    node.id = "strike-node";
    label.htmlFor = node.id;
    label.textContent = "strike node";
    button.type = "button";
    button.id = "strike";
    button.textContent = "Strike it at the moment of the clock";
    button.addEventListener("click", () => this.simulate({ at_s: this.exposed(this.moment()), node: Number(node.value) }));
    box.className = "pair";
    box.append(node, button);
    form.append(label, box);
  }
  // A trace of failures counts the time in which they can strike: from the last failure before the moment on it runs as the clock does.
  exposed(t) {
    const before = this.run.weeks.failures.filter((f) => f.ts <= t).at(-1);
    return before ? before.exposed_s + (t - before.ts) / 1e9 : t / 1e9;
  }
  editor() {
    const details = document.createElement("details"), summary = document.createElement("summary");
    summary.textContent = "The scenario itself; problems are told as you write";
    this.text = document.createElement("textarea");
    this.text.rows = 22;
    this.text.spellcheck = false;
    this.text.setAttribute("aria-label", "Scenario");
    this.text.value = this.run.meta.text ?? "";
    let waiting = 0;
    this.text.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => this.check(), 500); });
    details.append(summary, this.text);
    return details;
  }
  asked(strike) {
    const sets = [...this.base, ...[...this.fields].filter(([, input]) => input.value.trim()).map(([key, input]) => `${key}=${input.value.trim()}`)];
    return JSON.stringify({ text: this.text.value, sets, ...(strike ? { strike } : {}) });
  }
  async check() {
    const answer = await post(`/api/check?db=${this.run.index}`, this.asked());
    if (!answer.ok) {
      this.tell(answer.text);
      return false;
    }
    const found = JSON.parse(answer.text);
    this.problems.replaceChildren(...found.problems.map((p) => this.problem(p)), ...(found.refusal ? [this.problem({ text: found.refusal })] : []));
    this.tell(found.valid ? "" : "This scenario has errors:");
    return found.valid && !found.refusal;
  }
  // A problem with the line that it is in; a click goes there.
  problem({ severity = "error", line, column, text, file }) {
    const item = document.createElement("li"), own = Number.isInteger(line) && !String(file ?? "").startsWith("--set"), written = own ? this.text.value.split("\n")[line - 1] ?? "" : "";
    item.textContent = `${own ? `line ${line}, ` : ""}${severity}: ${text}${written ? `\n${written}\n${" ".repeat(Math.max(0, column - 1))}^` : ""}`;
    if (severity === "warning") item.className = "warning";
    if (own) item.addEventListener("click", () => {
      const begin = this.text.value.split("\n").slice(0, line - 1).reduce((a, l) => a + l.length + 1, 0);
      this.text.closest("details").open = true;
      this.text.focus();
      this.text.setSelectionRange(begin, begin + written.length);
    });
    return item;
  }
  tell(text) {
    this.status.textContent = text;
    this.status.className = text.includes("\n") ? "told" : "";
  }
  async simulate(strike) {
    if (this.busy) return;
    this.busy = true;
    this.tell("Looking at it…");
    try {
      if (!(await this.check())) return;
      this.tell("Simulating…");
      const answer = await post(`/api/what-if?db=${this.run.index}`, this.asked(strike));
      this.tell(answer.ok ? "" : answer.text);
      if (answer.ok) await this.done(JSON.parse(answer.text).db);
    } catch (e) {
      this.tell(e.message);
    } finally {
      this.busy = false;
    }
  }
  draw() {}
}
