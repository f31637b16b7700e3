// A result over the varied key: its mean with the interval across seeds, the optimum, and the closed forms beside it.
import { alarm, canvas, context, ink, legend, panel, paragraph, quiet, rule, table, tint } from "./draw.js";
import { exact } from "./format.js";
import { axis, told } from "./units.js";

const left = 84,
  right = 20,
  top = 34,
  foot = 44;
const forms = [
  ["young_s", "Young"],
  ["daly_s", "Daly"],
  ["exact_s", "exact"],
];

export class UCurve {
  constructor(study, tell) {
    Object.assign(this, { study, tell, place: -1 });
    this.log = study.keys.length > 0 && study.key().log;
    this.section = panel(
      "Results over what was varied",
      "The line is the mean of the seeds; the dark band its 95 % interval, the pale one holds eight of ten seeds. " +
        "Arrow keys go " +
        "from point to point, up and down from curve to curve; a click or Enter chooses a point.",
    );
    if (study.keys.length === 0 || study.points.length === 0) {
      this.section.append(
        paragraph(study.points.length > 0 ? "Nothing was varied: there is no curve." : "No point was played."),
      );
      return;
    }
    const choices = document.createElement("div");
    choices.className = "pair";
    choices.append(this.metrics(), ...(study.keys.length > 1 ? [this.keys()] : []), this.logarithmic());
    this.legend = document.createElement("div");
    this.canvas = canvas(420, "");
    this.reading = document.createElement("p");
    this.reading.className = "reading";
    this.reading.setAttribute("aria-live", "polite");
    this.said = document.createElement("p");
    this.said.className = "help";
    this.table = document.createElement("div");
    this.section.append(choices, this.legend, this.canvas, this.reading, this.said, this.table);
    this.listen();
    study.listen(() => this.changed());
    this.changed();
  }
  select(words, list, at, chosen) {
    const label = document.createElement("label"),
      select = document.createElement("select");
    for (const [i, text] of list.entries()) {
      const option = document.createElement("option");
      option.textContent = text;
      option.selected = i === at;
      select.append(option);
    }
    select.addEventListener("change", () => chosen(select.selectedIndex));
    label.className = "choice";
    label.append(`${words} `, select);
    return label;
  }
  metrics() {
    const { study } = this;
    const names = study.metrics.map((m) => (m.name === study.told.objective ? `${m.name} (objective)` : m.name));
    return this.select("result", names, study.metrics.indexOf(study.metric), (i) =>
      study.choose({ metric: study.metrics[i] }),
    );
  }
  keys() {
    const { study } = this;
    return this.select(
      "over",
      study.keys.map((k) => k.key),
      study.across,
      (i) => {
        this.log = study.keys[i].log;
        this.box.checked = this.log;
        study.choose({ across: i });
      },
    );
  }
  logarithmic() {
    const label = document.createElement("label");
    this.box = document.createElement("input");
    this.box.type = "checkbox";
    this.box.checked = this.log;
    this.box.addEventListener("change", () => {
      this.log = this.box.checked;
      this.changed();
    });
    label.className = "choice";
    label.append(this.box, "logarithmic key");
    return label;
  }
  changed() {
    const { study } = this,
      key = study.key(),
      summary = (p) => p[study.metric.name];
    const [result, over] = this.section.querySelectorAll("select");
    result.selectedIndex = study.metrics.indexOf(study.metric);
    if (over) over.selectedIndex = study.across;
    this.box.disabled = !key.numeric || key.values.some((v) => !(v.number > 0));
    const all = study.curves();
    this.curves = all.slice(0, study.colours.length);
    this.list = this.curves.flatMap((c, k) => c.points.map((p, n) => ({ p, k, n })));
    const numbers = (of) => this.list.map(({ p }) => of(p)).filter((v) => v !== null && v !== undefined);
    this.ax = key.numeric
      ? axis(
          numbers((p) => this.number(p)),
          key.unit,
          { log: this.log && !this.box.disabled },
        )
      : this.words(key);
    const spread = [
      (p) => summary(p)?.mean,
      (p) => summary(p)?.p10,
      (p) => summary(p)?.p90,
      (p) => summary(p)?.ci95[0],
      (p) => summary(p)?.ci95[1],
    ];
    this.ay = axis(
      spread.flatMap((of) => numbers(of)),
      study.metric.unit,
    );
    this.place = this.list.findIndex(({ p }) => p === study.pinned);
    this.tellAll(all);
    this.draw();
  }
  // Words stand at even distances.
  words(key) {
    const n = key.values.length;
    return {
      low: 0,
      high: n,
      unit: "",
      share: (v) => (v + 0.5) / n,
      marks: () => key.values.map((v, i) => [i, v.text]),
    };
  }
  number(p) {
    const key = this.study.key(),
      at = p.place[this.study.across];
    return key.numeric ? key.values[at].number : at;
  }
  tellAll(all) {
    const { study, curves } = this,
      { metric } = study,
      n = (v) => v.toLocaleString("en-GB");
    const marks = [
      ...(curves.length > 1
        ? curves.map((c, k) => [study.colours[k], c.name])
        : [[study.colours[0], `mean ${metric.name}`]]),
      ...(study.single
        ? []
        : [
            [tint(study.colours[0], 0.5), "95 % interval of the mean"],
            [tint(study.colours[0], 0.8), "P10 to P90 of the seeds"],
          ]),
      ...(this.closed().length > 0 ? [[quiet, "dashed: closed forms of the optimal interval"]] : []),
      ...(this.best() !== null ? [[ink, "black: the optimum between points, with its 95 % interval"]] : []),
      ...(study.points.some((p) => !p.fits) ? [[alarm, "cross: does not fit in memory"]] : []),
    ];
    this.legend.replaceChildren(legend(marks));
    this.canvas.setAttribute(
      "aria-label",
      `${metric.name} over ${study.key().key}: ${this.list.length} points in ${curves.length} ` +
        `curve${curves.length > 1 ? "s" : ""}. Arrow keys go from point to point`,
    );
    const refused = study.told.rejected_points?.length ?? 0;
    this.said.textContent =
      `${metric.name}: ${metric.text}. ${metric.more ? "More is better." : "Less is better."} ` +
      `${n(this.list.length)} of ${n(study.all)} points are drawn` +
      (all.length > curves.length ? `: the first ${curves.length} of ${n(all.length)} curves` : "") +
      (study.points.length < study.all ? `; this page holds ${n(study.points.length)}, taken at even distances` : "") +
      (refused > 0 ? `; ${n(refused)} more break a rule` : "") +
      ".";
    const of = (p) => p[metric.name] ?? {};
    this.table.replaceChildren(
      table(
        "The same as a table",
        ["point", "mean", "95 % from", "to", "P10", "P90", "seeds", "fits"],
        study.points.map((p) => [
          p.name,
          exact(of(p).mean),
          exact(of(p).ci95?.[0]),
          exact(of(p).ci95?.[1]),
          exact(of(p).p10),
          exact(of(p).p90),
          p.replications,
          p.fits ? "yes" : "no",
        ]),
      ),
    );
  }
  // Of the best point: where the key is the interval between checkpoints.
  closed() {
    const { study } = this,
      one = study.points.find((p) => p.point === study.optimum?.point) ?? study.points[0];
    if (study.key().key !== "checkpoint.interval" || !one?.closed_forms) return [];
    return forms.map(([name, words]) => [words, one.closed_forms[name]]).filter(([, s]) => Number.isFinite(s));
  }
  // Where the objective is best, as study prints it; null: no one number says it.
  best() {
    const { study } = this,
      { optimum } = study;
    const fit = study.metric.name === study.told.objective && study.keys.length === 1 && study.key().numeric;
    return fit && Number.isFinite(optimum?.value) ? optimum : null;
  }
  px(v) {
    return left + this.ax.share(v) * (this.width - left - right);
  }
  py(v) {
    return this.height - foot - this.ay.share(v) * (this.height - foot - top);
  }
  draw() {
    if (!this.canvas?.clientWidth) return;
    const { g, width, height } = context(this.canvas);
    Object.assign(this, { width, height });
    this.frame(g);
    this.marks(g);
    for (const band of ["p", "ci"]) for (const [k, c] of this.curves.entries()) this.band(g, c, k, band);
    for (const [k, c] of this.curves.entries()) this.line(g, c, k);
    const at = this.list[this.place];
    if (!at) return;
    g.strokeStyle = ink;
    g.lineWidth = 2;
    g.beginPath();
    g.arc(this.px(this.number(at.p)), this.py(this.study.value(at.p) ?? this.ay.low), 9, 0, 7);
    g.stroke();
    g.lineWidth = 1;
  }
  frame(g) {
    const { width, height, study } = this,
      base = height - foot;
    g.textAlign = "center";
    for (const [v, text] of this.ax.marks(Math.max(3, width / 110))) {
      g.fillStyle = rule;
      g.fillRect(this.px(v), top, 1, base - top);
      g.fillStyle = quiet;
      g.fillText(text, Math.min(width - 26, this.px(v)), base + 14);
    }
    g.textAlign = "right";
    for (const [v, text] of this.ay.marks(6)) {
      g.fillStyle = rule;
      g.fillRect(left, this.py(v), width - left - right, 1);
      g.fillStyle = quiet;
      g.fillText(text, left - 8, this.py(v));
    }
    g.fillStyle = ink;
    g.fillText(study.key().key, width - right, base + 34);
    g.textAlign = "left";
    g.fillText(`${study.metric.name} ${study.metric.more ? "(high is better)" : "(low is better)"}`, 4, 9);
  }
  upright(g, v, colour, dash, words, y) {
    if (v < this.ax.low || v > this.ax.high) return;
    g.strokeStyle = g.fillStyle = colour;
    g.lineWidth = 1.5;
    g.setLineDash(dash);
    g.beginPath();
    g.moveTo(this.px(v), y + 8);
    g.lineTo(this.px(v), this.height - foot);
    g.stroke();
    g.setLineDash([]);
    g.lineWidth = 1;
    const right = this.px(v) > this.width * 0.7;
    g.textAlign = right ? "right" : "left";
    g.fillText(words, this.px(v) + (right ? -4 : 4), y + 12);
  }
  marks(g) {
    const best = this.best(),
      base = this.height - foot,
      unit = this.study.key().unit;
    if (best && best.ci95.every(Number.isFinite)) {
      const [a, b] = best.ci95.map((v) => this.px(Math.max(this.ax.low, Math.min(this.ax.high, v))));
      g.fillStyle = "rgba(28, 28, 30, 0.1)";
      g.fillRect(a, top, b - a, base - top);
    }
    for (const [i, [words, s]] of this.closed().entries())
      this.upright(g, s, quiet, [5, 4], `${words} ${told("s", s)}`, base - 22 - 15 * i);
    if (best) this.upright(g, best.value, ink, [], `optimum ${told(unit, best.value)}`, top - 16);
  }
  band(g, curve, k, kind) {
    const { study } = this,
      ends = (p) =>
        kind === "p" ? [p[study.metric.name]?.p10, p[study.metric.name]?.p90] : (p[study.metric.name]?.ci95 ?? []);
    const known = curve.points.filter((p) => ends(p).length === 2 && ends(p).every((v) => Number.isFinite(v)));
    g.fillStyle = study.colours[k];
    g.strokeStyle = study.colours[k];
    g.globalAlpha = kind === "p" ? 0.14 : 0.32;
    if (!study.key().numeric)
      for (const p of known) {
        const wide = kind === "p" ? 3 : 7;
        g.fillRect(
          this.px(this.number(p)) - wide / 2,
          this.py(ends(p)[1]),
          wide,
          Math.max(1, this.py(ends(p)[0]) - this.py(ends(p)[1])),
        );
      }
    else {
      g.beginPath();
      for (const p of known) g.lineTo(this.px(this.number(p)), this.py(ends(p)[1]));
      for (const p of [...known].reverse()) g.lineTo(this.px(this.number(p)), this.py(ends(p)[0]));
      g.fill();
    }
    g.globalAlpha = 1;
  }
  line(g, curve, k) {
    const { study } = this,
      known = curve.points.filter((p) => study.value(p) !== null);
    g.strokeStyle = g.fillStyle = study.colours[k];
    g.lineWidth = 2;
    g.beginPath();
    if (study.key().numeric) for (const p of known) g.lineTo(this.px(this.number(p)), this.py(study.value(p)));
    g.stroke();
    for (const p of known) {
      g.beginPath();
      g.arc(this.px(this.number(p)), this.py(study.value(p)), 4, 0, 7);
      g.fill();
    }
    g.strokeStyle = alarm;
    for (const p of curve.points.filter((one) => !one.fits)) {
      const x = this.px(this.number(p)),
        y = study.value(p) === null ? this.height - foot - 8 : this.py(study.value(p));
      g.beginPath();
      for (const d of [-5, 5]) {
        g.moveTo(x - 5, y - d);
        g.lineTo(x + 5, y + d);
      }
      g.stroke();
    }
    g.lineWidth = 1;
  }
  listen() {
    const c = this.canvas;
    c.addEventListener("mousemove", (e) => {
      const i = this.nearest(e);
      c.style.cursor = i >= 0 ? "pointer" : "default";
      if (i >= 0) this.tell.show(e, this.lines(this.list[i].p));
      else this.tell.hide();
    });
    c.addEventListener("mouseleave", () => this.tell.hide());
    c.addEventListener("click", (e) => {
      const i = this.nearest(e);
      if (i >= 0) this.study.choose({ pinned: this.list[i].p });
    });
    c.addEventListener("keydown", (e) => this.typed(e));
  }
  nearest(e) {
    let best = -1,
      near = 22;
    for (const [i, { p }] of this.list.entries()) {
      const far = Math.hypot(
        this.px(this.number(p)) - e.offsetX,
        this.py(this.study.value(p) ?? this.ay.low) - e.offsetY,
      );
      if (far < near) [best, near] = [i, far];
    }
    return best;
  }
  lines(p) {
    const { study } = this,
      s = p[study.metric.name] ?? {},
      known = (v) => v !== null && v !== undefined;
    return [
      ["", p.name],
      [study.metric.name, study.text(s.mean)],
      ...(known(s.ci95?.[0])
        ? [
            ["95 % interval", `${study.text(s.ci95[0])} to ${study.text(s.ci95[1])}`],
            ["P10 to P90", `${study.text(s.p10)} to ${study.text(s.p90)}`],
          ]
        : []),
      ["seeds", String(p.replications)],
      ...(p.fits
        ? []
        : [
            [
              "does not fit",
              p.first_failure
                ? `${p.first_failure.tensor}, ${told("B", p.first_failure.short_bytes)} short`
                : "in memory",
            ],
          ]),
    ];
  }
  typed(e) {
    const at = this.list[this.place],
      last = this.list.length - 1,
      beside = (by) => {
        const k = (at?.k ?? 0) + by,
          same = this.list.findIndex((one) => one.k === k && one.n === (at?.n ?? 0));
        return same >= 0 ? same : this.place;
      };
    const next = {
      ArrowRight: () => Math.min(last, this.place + 1),
      ArrowLeft: () => Math.max(0, this.place - 1),
      Home: () => 0,
      End: () => last,
      ArrowDown: () => beside(1),
      ArrowUp: () => beside(-1),
    }[e.key];
    if (e.key === "Enter" && at) this.study.choose({ pinned: at.p });
    else if (next) this.go(next());
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
  go(i) {
    this.place = i;
    const at = this.list[i];
    this.reading.textContent = at
      ? this.lines(at.p)
          .map(([name, text]) => (name ? `${name} ${text}` : text))
          .join("; ")
      : "";
    this.draw();
  }
}
