// A search as the page holds it: machines, layouts, what is chosen among them. Its numbers are those of the document:
// nothing is modelled here.
import { bytes, count, percent, time } from "./format.js";

export const parts = [
  "compute",
  "recompute",
  "exposed_tp",
  "exposed_cp",
  "exposed_ep",
  "bubble",
  "exposed_pp",
  "exposed_dp",
  "offload",
  "optimizer",
  "host",
  "straggler",
];

// A layout: its keys beside its numbers.
function layout(document, row, id) {
  const out = { id, ...Object.fromEntries(document.columns.map((name, i) => [name, row[i]])) };
  out.of = document.machines[out.machine];
  out.kind = out.of.groups[out.group];
  out.keys = Object.fromEntries(out.sets.split(" ").map((set) => set.split("=")));
  out.held = out.peak_bytes ?? out.least_bytes; // a lower bound where it was not played
  return out;
}

export class Plan {
  constructor(document, index, live) {
    const machines = document.machines,
      told = document.told,
      leaders = told?.layouts ?? [];
    Object.assign(this, {
      kind: "plan",
      index,
      live,
      file: document.file,
      complete: document.complete,
      machines,
      told,
      palette: document.palette,
      shades: document.shades,
      colours: document.colours,
      line: document.plan_line,
      meta: {},
      run: {},
      lesson: [],
      title: "",
    });
    // What is varied has its name beside its value.
    const varied = [...document.plan_line.matchAll(/ --vary '?(?:\w+\.)*(\w+)=/g)].map(([, key]) => key);
    for (const m of machines) {
      const values = m.label.split(", ");
      if (values.length === varied.length) m.label = values.map((value, i) => `${varied[i]} ${value}`).join(", ");
    }
    this.rows = document.rows.map((row, i) => layout(document, row, i));
    this.timed = this.rows.filter((l) => l.step_s !== null);
    this.leaders = machines.flatMap((m) => m.leaders.map((i) => this.rows[i]));
    if (machines.length === 1) for (const [i, l] of this.leaders.entries()) l.told = leaders[i];
    for (const [i, m] of (told?.machines ?? []).entries())
      if (machines[i]?.leaders.length > 0) this.rows[machines[i].leaders[0]].told = m.layout ?? undefined;
    this.several = machines.length > 1;
    this.title = this.several ? `A plan of ${machines.length} machines` : (machines[0]?.title ?? "A search of layouts");
    this.searched = machines.reduce((a, m) => a + m.searched, 0);
    this.first = this.several ? this.best() : (this.leaders[0] ?? null);
    this.pinned = null;
    this.near = null; // under the pointer, or where the keys are
    this.filter = null; // the key of a row of the funnel; null: all
    this.listeners = [];
  }
  // Of several machines the leader of that which `plan` puts first.
  best() {
    const i = (this.told?.machines ?? []).findIndex((m) => m.first);
    return this.rows[this.machines[i]?.leaders[0]] ?? this.leaders[0] ?? null;
  }
  listen(heard) {
    this.listeners.push(heard);
  }
  choose(change) {
    Object.assign(this, change);
    for (const heard of this.listeners) heard();
  }
  // The rows of the funnel: by fate, of rules by rule; over all machines.
  reasons() {
    const out = new Map();
    for (const g of this.machines.flatMap((m) => m.groups)) {
      const key = g.rule ? `${g.fate} ${g.rule}` : g.fate,
        known = out.get(key) ?? { key, fate: g.fate, rule: g.rule, words: g.words, count: 0, drawn: 0 };
      known.count += g.count;
      known.drawn += g.drawn;
      out.set(key, known);
    }
    return [...out.values()].sort((a, b) => order.indexOf(a.fate) - order.indexOf(b.fate));
  }
  tried() {
    return this.machines.reduce((a, m) => a + m.tried_again, 0);
  }
  reasonOf(l) {
    return l.kind.rule ? `${l.kind.fate} ${l.kind.rule}` : l.kind.fate;
  }
  shown(l) {
    return this.filter === null || this.reasonOf(l) === this.filter;
  }
  name(l) {
    return this.several ? `${l.of.label}: ${l.name}` : l.name;
  }
  // What a link keeps.
  state() {
    return { pin: this.pinned?.id, only: this.filter };
  }
  recall(said) {
    const key = said.get("only"),
      known = this.reasons().some((r) => r.key === key);
    const pinned = /^\d+$/.test(said.get("pin") ?? "") ? (this.rows[Number(said.get("pin"))] ?? null) : null;
    this.choose({ pinned, filter: known ? key : null });
  }
  facts() {
    const out = [
      `${count(this.searched)} layouts`,
      ...(this.several ? [`${this.machines.length} machines`] : []),
      `${this.leaders.length} lead`,
    ];
    const f = this.first;
    if (!f) return [...out, "none fits and keeps the terms"].join("  ·  ");
    return [
      ...out,
      `first: ${this.name(f)}`,
      `step ${time(f.step_s * 1e9)}`,
      `MFU ${percent(f.mfu)}`,
      ...(f.peak_bytes ? [bytes(f.peak_bytes)] : []),
    ].join("  ·  ");
  }
}
const order = [
  "rule",
  "memory",
  "headroom",
  "open",
  "deadline",
  "budget",
  "power",
  "bound",
  "slower",
  "ledger",
  "leader",
];

// Why it is not the first, from what the search found out.
export function whyNot(plan, l) {
  const last = l.of.leaders.length > 0 ? plan.rows[l.of.leaders[l.of.leaders.length - 1]] : null;
  const than = last ? `; the last of the leaders takes ${time(last.step_s * 1e9)}` : "",
    took = l.step_s === null ? "" : time(l.step_s * 1e9);
  const detail = l.detail === "op" ? "op by op" : "at pass detail",
    least = l.least_s === null ? "" : `at least ${time(l.least_s * 1e9)} a step`;
  const holds =
    l.least_bytes === null ? "it holds too much" : `its state and kept activations alone are ${bytes(l.least_bytes)}`;
  return (
    {
      rule: () => `It breaks a rule. ${l.why}`,
      memory: () => `It does not fit: ${holds}, the card offers ${bytes(l.of.usable_bytes)}.`,
      headroom: () =>
        `It leaves too little free: ${holds}; of ${bytes(l.of.usable_bytes)} ` +
        `${percent(l.of.headroom_ratio)} are to stay free.`,
      open: () => "It was not looked at: the search was stopped.",
      deadline: () => `It misses the deadline: ${took || least}.`,
      budget: () => `It exceeds the budget: ${took || least}.`,
      power: () => "It draws more at the wall than the limit.",
      bound: () => `It cannot be as fast: its passes alone take ${least || "longer"}${than}.`,
      slower: () => `It takes longer: ${took} ${detail}${than}.`,
      ledger: () => "It would be as fast, and does not fit: played allocation by allocation, it exceeds the card.",
      leader: () => (l.rank === 1 ? "It leads." : `It is leader ${l.rank}.`),
    }[l.kind.fate]?.() ?? l.kind.words
  );
}

// The command that plays it, and the one that asks the search why it does not lead.
export const runLine = (l) =>
  `${l.of.line_head} ${l.sets
    .split(" ")
    .map((set) => `--set layout.${set}`)
    .join(" ")} --db layout.db${l.of.line_tail}`;
export const whyLine = (plan, l) => `${plan.line} --why ${l.sets.split(" ").join(",")}`;
