// Tables of layouts: the leaders as `plan` lists them, and those of the reason that is chosen in the funnel.
import { panel, paragraph } from "./draw.js";
import { bytes, count, percent, time } from "./format.js";
import { whyNot } from "./plan.js";
import { Sheet } from "./sheet.js";
import { told } from "./units.js";

const known = (value) => value !== null && value !== undefined;
const key = (name, head, help) => ({
  name: head ?? name,
  help,
  value: (l) => number(l.keys[name]),
  text: (l) => l.keys[name] ?? "–",
});
const number = (word) => (/^\d+$/.test(word ?? "") ? Number(word) : (word ?? null));
const sp = (l) => ({ true: "yes", false: "no" })[l.keys.sequence_parallel] ?? null;
const recomputed = (l) =>
  `${l.keys.recompute ?? "–"}${Number(l.keys.recompute_layers) > 0 ? ` ${l.keys.recompute_layers}` : ""}`;
const recompute = {
  name: "recompute",
  help: "what of the forward pass runs again; of how many layers of a stage",
  value: recomputed,
  text: recomputed,
};
const from = (name, help, value, text) => ({
  name,
  help,
  value,
  text: (l) => (known(value(l)) ? text(value(l)) : "–"),
});

const machine = {
  name: "machine",
  help: "the values that were varied",
  value: (l) => l.of.label,
  text: (l) => l.of.label,
};
const numbers = [
  {
    name: "step",
    help: "time of a step; ~: at pass detail, else op by op",
    value: (l) => l.step_s,
    text: (l) => (known(l.step_s) ? `${time(l.step_s * 1e9)}${l.detail === "pass" ? " ~" : ""}` : "–"),
  },
  from("MFU", "model FLOPs utilisation", (l) => l.mfu, percent),
  from("tokens/s", "tokens a second", (l) => l.tokens_per_s, count),
  {
    name: "memory",
    help: "peak of the fullest card; at least (>=): state and kept activations alone, of a layout that was not played",
    value: (l) => l.held,
    text: (l) => (known(l.held) ? `${l.peak_bytes === null ? "≥ " : ""}${bytes(l.held)}` : "–"),
  },
  {
    name: "free",
    help: "of the card",
    value: (l) => (l.peak_bytes === null ? null : 1 - l.peak_bytes / l.of.usable_bytes),
    text: (l) => (l.peak_bytes === null ? "–" : percent(1 - l.peak_bytes / l.of.usable_bytes)),
  },
];
const price = from(
  "USD/10⁹ tok.",
  "price of 1e9 tokens; of weeks those that are kept",
  (l) => l.usd,
  (v) => told("", v),
);
const keys = [
  key("tp"),
  key("pp"),
  key("cp"),
  key("ep"),
  key("dp"),
  key("vpp", "vpp", "chunks of a stage"),
  key("microbatch", "mb", "microbatch"),
  key("schedule"),
  key("sharding", "shards"),
  recompute,
  { name: "sp", help: "sequence parallel", value: (l) => sp(l), text: (l) => sp(l) ?? "–" },
];
const sure = [
  from("fits", "share of the draws of the figures of memory in which it fits", (l) => l.told?.fits_ratio, percent),
  from("goodput", "with failures", (l) => l.told?.weeks?.goodput, percent),
  from(
    "J/token",
    "energy of a token at the wall, without failures",
    (l) => l.joules,
    (v) => v.toFixed(3),
  ),
  from(
    "P(1)",
    "probability that it is no slower than the first, by the model's own error",
    (l) => l.told?.as_fast_probability,
    percent,
  ),
  {
    name: "P10 to P90",
    help: "80 % of steps are between these",
    value: (l) => l.told?.p10,
    text: (l) => (known(l.told?.p10) ? `${time(l.told.p10 * 1e9)} to ${time(l.told.p90 * 1e9)}` : "–"),
  },
];

// Columns in which nothing is known, or that are the same everywhere, say nothing; `alike` tells of those.
function useful(columns, rows) {
  return columns.filter((c) => rows.some((l) => known(c.value(l)) && c.value(l) !== ""));
}

export class Leaders {
  constructor(plan) {
    this.plan = plan;
    this.section = panel(
      plan.several ? "Leaders of each machine" : "Leaders",
      plan.several
        ? "The best layouts of each machine, as plan ranks them."
        : "As plan lists them: the first is the one to take. Choose one to see its parts beside the first's, and " +
            "the command that plays it.",
    );
    const rank = { name: "rank", value: (l) => l.rank, text: (l) => String(l.rank) };
    if (plan.leaders.length === 0) {
      this.section.append(paragraph("No layout fits and keeps the terms."));
      return;
    }
    const columns = [
      rank,
      ...(plan.several ? [machine] : []),
      ...useful([...keys, ...numbers, price, ...(plan.several ? sure.slice(0, 3) : sure)], plan.leaders),
    ];
    this.sheet = new Sheet(
      "Leaders",
      columns,
      (l) => plan.choose({ pinned: l }),
      (l) => plan.pinned === l,
    );
    this.section.append(this.sheet.box, this.sheet.said, ...this.words().map((text) => paragraph(text, "help")));
    this.sheet.fill(plan.leaders);
    plan.listen(() => this.sheet.mark());
  }
  words() {
    const { told: said, several } = this.plan,
      out = [];
    if (several || !said) return out;
    if (said.fastest_rank > 1)
      out.push(
        `The shortest step is that of ${said.fastest_rank}: those before it are no worse within the model's error, ` +
          "and fit more surely or were seen.",
      );
    if (said.unplayed > 0)
      out.push(`${count(said.unplayed)} more may be as fast as the last of these: at pass detail they are slower.`);
    if (said.model_error) out.push(`How sure: ${said.model_error}.`);
    return out;
  }
  draw() {}
}

// Those of a reason, each with why it does not lead.
export class Rejected {
  constructor(plan) {
    this.plan = plan;
    this.section = panel(
      "Layouts",
      "Those of the line that is chosen above, each with what kept it from leading. Choose one to see more below.",
    );
    const name = { name: "layout", value: (l) => plan.name(l), text: (l) => plan.name(l) };
    const why = { name: "why not", long: true, value: (l) => whyNot(plan, l), text: (l) => whyNot(plan, l) };
    this.sheet = new Sheet(
      "Layouts of the chosen reason",
      [name, recompute, ...numbers.slice(0, 1), ...numbers.slice(3, 4), why],
      (l) => plan.choose({ pinned: l }),
      (l) => plan.pinned === l,
    );
    this.section.append(this.sheet.box, this.sheet.said);
    this.fill();
    plan.listen(() => this.changed());
  }
  changed() {
    if (this.plan.filter !== this.filled) this.fill();
    else this.sheet.mark();
  }
  fill() {
    const { plan } = this;
    this.section.hidden = plan.filter === null; // the leaders and the picture tell of all
    const last = (l) => l.step_s ?? l.least_s ?? Infinity;
    this.filled = plan.filter;
    this.sheet.fill(plan.rows.filter((l) => plan.shown(l)).sort((a, b) => last(a) - last(b) || a.id - b.id));
  }
  draw() {}
}
