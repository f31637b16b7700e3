// Every layout with a step time, on two axes of one's choice: those played op by op, those at pass detail, the leaders,
// the Pareto front, the card.
import { alarm, canvas, context, ink, legend, panel, quiet, rule, table, tint } from "./draw.js";
import { bytes, exact, percent, time } from "./format.js";
import { front } from "./front.js";
import { whyNot } from "./plan.js";
import { axis, told } from "./units.js";

// `sign` -1: the more the better.
const axes = [
  { name: "step time", unit: "s", of: (l) => l.step_s, sign: 1 },
  { name: "tokens per second", unit: "", of: (l) => l.tokens_per_s, sign: -1 },
  { name: "peak memory of the fullest card", unit: "B", of: (l) => l.held, sign: 1, memory: true },
  { name: "USD per 10⁹ tokens", unit: "USD", of: (l) => l.usd, sign: 1 },
  { name: "joules per token at the wall", unit: "J", of: (l) => l.joules, sign: 1 },
  { name: "power at the wall", unit: "W", of: (l) => l.wall_w, sign: 1 },
];
const left = 84,
  right = 18,
  top = 22,
  foot = 44;

export class Scatter {
  constructor(plan, tell) {
    Object.assign(this, { plan, tell, place: -1 });
    this.axes = axes.filter((a) => plan.timed.some((l) => Number.isFinite(a.of(l)) && l.step_s !== null));
    [this.x, this.y] = [axes[0], axes[2]];
    this.section = panel(
      "Every layout that was timed",
      "Point at a layout, or go from one to the next with the arrow keys (up and down: leaders), " +
        "to see it; a click or Enter pins it beside the first; a rectangle drawn with the mouse is looked at closer. " +
        "Those at pass detail were not played: what is drawn as their memory is state and kept activations alone.",
    );
    const choices = document.createElement("div");
    choices.className = "pair";
    choices.append(
      this.choice("across", "x"),
      this.choice("up", "y"),
      this.button("Around the leaders", () => this.close()),
      this.button("Zoom in", () => this.zoom(0.5)),
      this.button("Zoom out", () => this.zoom(2)),
      this.button("Whole", () => this.look(null)),
    );
    this.canvas = canvas(440, this.label());
    this.reading = document.createElement("p");
    this.reading.className = "reading";
    this.reading.setAttribute("aria-live", "polite");
    this.said = document.createElement("p");
    this.said.className = "help";
    this.section.append(choices, this.key(), this.canvas, this.reading, this.said, this.numbers());
    this.listen();
    plan.listen(() => this.changed());
    this.changed();
    if (this.far()) this.close();
  }
  button(words, act) {
    const out = document.createElement("button");
    out.type = "button";
    out.textContent = words;
    out.addEventListener("click", act);
    return out;
  }
  label() {
    const ops = this.plan.timed.filter((l) => l.detail === "op").length;
    return (
      `Scatter plot of ${this.plan.timed.length} layouts: ${this.x.name} against ${this.y.name}; ` +
      `${ops} were played op by op, ` +
      `${this.plan.leaders.length} lead. Arrow keys go from layout to layout`
    );
  }
  choice(words, which) {
    const label = document.createElement("label"),
      select = document.createElement("select");
    for (const a of this.axes) {
      const option = document.createElement("option");
      option.textContent = a.name;
      option.selected = a === this[which];
      select.append(option);
    }
    select.addEventListener("change", () => {
      this[which] = this.axes[select.selectedIndex];
      this.window = null;
      this.canvas.setAttribute("aria-label", this.label());
      this.changed();
    });
    label.className = "choice";
    label.append(`${words} `, select);
    return label;
  }
  colour(l) {
    return this.plan.several ? this.plan.colours[l.machine % this.plan.colours.length] : this.plan.palette.forward;
  }
  key() {
    const { plan } = this,
      one = plan.palette.forward;
    const entries = plan.several ? plan.machines.map((m, i) => [plan.colours[i % plan.colours.length], m.label]) : [];
    return legend([
      ...entries,
      [plan.several ? ink : one, "filled: played op by op; numbers: leaders"],
      [
        `radial-gradient(circle, #fff 0 3px, ${plan.several ? quiet : one} 3.5px 5px, #fff 5.5px)`,
        "ring: at pass detail, its memory is a lower bound",
      ],
      [alarm, "cross: does not fit after all"],
      [ink, "black line: the Pareto front of those played"],
    ]);
  }
  // The same to the last digit.
  numbers() {
    const list = this.plan.timed.slice(0, 2000),
      all = this.plan.timed.length;
    return table(
      all > list.length ? `The first ${list.length} of ${all} layouts as a table` : "The same as a table",
      ["layout", "detail", "step s", "tokens/s", "peak B", "state and activations B", "USD/1e9 tokens"],
      list.map((l) => [
        this.plan.name(l),
        l.detail,
        exact(l.step_s),
        exact(l.tokens_per_s),
        exact(l.peak_bytes),
        exact(l.least_bytes),
        exact(l.usd),
      ]),
    );
  }
  // What there is to see, from left to right.
  changed() {
    const { plan, x, y } = this,
      has = (l) => Number.isFinite(x.of(l)) && Number.isFinite(y.of(l));
    const all = plan.timed.filter(has);
    this.list = all.filter((l) => plan.shown(l)).sort((a, b) => x.of(a) - x.of(b) || y.of(a) - y.of(b));
    const fits = all.filter((l) => l.detail === "op" && l.kind.fate !== "ledger");
    this.front = front(
      fits,
      (l) => x.sign * x.of(l),
      (l) => y.sign * y.of(l),
    );
    const lines = this.y.memory || this.x.memory ? plan.machines.map((m) => m.usable_bytes) : [];
    this.whole = [
      axis([...all.map(x.of), ...(x.memory ? lines : [])], x.unit),
      axis([...all.map(y.of), ...(y.memory ? lines : [])], y.unit),
    ];
    [this.ax, this.ay] = this.window
      ? [axis(this.window.x, x.unit, { exact: true }), axis(this.window.y, y.unit, { exact: true })]
      : this.whole;
    this.list = this.list.filter((l) => this.inside(l));
    if (this.place >= this.list.length) this.place = -1;
    this.say(all);
    this.draw();
  }
  say(all) {
    const { plan } = this,
      n = (v) => v.toLocaleString("en-GB");
    const known = plan.machines.reduce(
      (a, m) =>
        a +
        m.groups
          .filter((g) => ["slower", "ledger", "leader", "power"].includes(g.fate))
          .reduce((b, g) => b + g.count, 0),
      0,
    );
    const missing = plan.timed.length - all.length,
      outside = all.filter((l) => plan.shown(l) && !this.inside(l)).length;
    this.said.textContent =
      `${n(this.list.length)} drawn of ${n(plan.timed.length)} with a step time in this page` +
      `${outside > 0 ? `; ${n(outside)} lie outside of this window (Whole shows them)` : ""}` +
      `${missing > 0 ? `; ${n(missing)} have no such number` : ""}${
        known > plan.timed.length
          ? ` (the search timed ${n(known)}: ` + "beyond 16,000 those not played are taken at even distances)"
          : ""
      }. ${n(plan.searched - plan.timed.length)} others have no time: a rule, memory or a bound kept them out.`;
  }
  inside(l) {
    const at = [this.ax.share(this.x.of(l)), this.ay.share(this.y.of(l))];
    return at.every((share) => share >= -1e-9 && share <= 1 + 1e-9);
  }
  look(window) {
    this.window = window;
    this.changed();
  }
  // Do a few that are far away squeeze the rest into a corner?
  far() {
    const { leaders } = this.plan,
      all = this.plan.timed,
      x = (l) => this.x.of(l);
    return leaders.length > 0 && Math.max(...all.map(x).slice(0, 1e5)) > 1.5 * Math.max(...leaders.map(x));
  }
  // The window of the leaders and what is about as good as they are.
  close() {
    const { leaders } = this.plan,
      span = (a, more) => {
        const at = leaders.map(a.of).filter(Number.isFinite),
          low = Math.min(...at),
          high = Math.max(...at),
          room = Math.max(0.25 * (high - low), 0.01 * Math.abs(high));
        return [
          Math.max(low - room, this.whole[more].low),
          Math.min(high + (a.sign > 0 ? 4 : 1) * room, this.whole[more].high),
        ];
      };
    if (leaders.length === 0) return null;
    if (this.x.memory) return this.look({ x: [this.whole[0].low, this.whole[0].high], y: span(this.y, 1) });
    const x = span(this.x, 0);
    if (!this.y.memory) return this.look({ x, y: span(this.y, 1) });
    const near = this.plan.timed.filter((l) => this.x.of(l) >= x[0] && this.x.of(l) <= x[1]).map(this.y.of);
    const low = near.reduce((a, v) => (Number.isFinite(v) ? Math.min(a, v) : a), this.whole[1].high);
    return this.look({ x, y: [low - 0.06 * (this.whole[1].high - low), this.whole[1].high] });
  }
  // Around the layout that is looked at, or the middle.
  zoom(factor) {
    const l = this.list[this.place] ?? this.list.find((one) => one === this.plan.pinned);
    const span = (ax, a) => {
      const middle = l ? a.of(l) : (ax.low + ax.high) / 2,
        share = l ? ax.share(middle) : 0.5,
        wide = (ax.high - ax.low) * factor;
      return [middle - share * wide, middle + (1 - share) * wide];
    };
    this.look({ x: span(this.ax, this.x), y: span(this.ay, this.y) });
  }
  px(l) {
    return left + this.ax.share(this.x.of(l)) * (this.width - left - right);
  }
  py(l) {
    return this.height - foot - this.ay.share(this.y.of(l)) * (this.height - foot - top);
  }
  draw() {
    if (!this.canvas.clientWidth) return;
    const { g, width, height } = context(this.canvas);
    Object.assign(this, { width, height });
    this.frame(g);
    this.cards(g);
    this.others(g);
    for (const l of this.list) if (l.detail !== "op") this.dot(g, l);
    this.line(g);
    for (const l of this.list) if (l.detail === "op") this.dot(g, l);
    this.ranks(g);
    this.around(g, this.plan.pinned, ink, 8);
    this.around(g, this.list[this.place], this.plan.palette.forward, 10);
    if (!this.from) return;
    g.fillStyle = tint(this.plan.palette.forward, 0.7);
    g.globalAlpha = 0.35;
    g.fillRect(...this.from, this.to[0] - this.from[0], this.to[1] - this.from[1]);
    g.globalAlpha = 1;
  }
  frame(g) {
    const { width, height } = this,
      base = height - foot;
    g.textAlign = "center";
    for (const [v, text] of this.ax.marks(Math.max(3, width / 130))) {
      const x = left + this.ax.share(v) * (width - left - right);
      g.fillStyle = rule;
      g.fillRect(x, top, 1, base - top);
      g.fillStyle = quiet;
      g.fillText(text, Math.min(width - 30, x), base + 14);
    }
    g.textAlign = "right";
    for (const [v, text] of this.ay.marks(6)) {
      const y = base - this.ay.share(v) * (base - top);
      g.fillStyle = rule;
      g.fillRect(left, y, width - left - right, 1);
      g.fillStyle = quiet;
      g.fillText(text, left - 8, y);
    }
    g.fillStyle = ink;
    g.fillText(
      `${this.x.name} ${this.x.sign > 0 ? "(left is better)" : "(right is better)"}`,
      width - right,
      base + 34,
    );
    g.textAlign = "left";
    g.fillText(`${this.y.name} ${this.y.sign > 0 ? "(low is better)" : "(high is better)"}`, 4, 9);
  }
  // What the cards offer, and what the search wanted left free.
  cards(g) {
    const { width, height } = this,
      base = height - foot,
      seen = new Set();
    if (!this.y.memory) return;
    for (const m of this.plan.machines) {
      for (const [value, words, dash] of [
        [m.usable_bytes, `${m.gpu}: ${bytes(m.usable_bytes)} usable`, [7, 4]],
        [
          m.usable_bytes * (1 - m.headroom_ratio),
          `${Number((100 * m.headroom_ratio).toPrecision(3))} % of it are to stay free`,
          [2, 4],
        ],
      ]) {
        const y = base - this.ay.share(value) * (base - top);
        if (seen.has(Math.round(y)) || y < top - 1 || y > base) continue;
        seen.add(Math.round(y));
        g.strokeStyle = alarm;
        g.lineWidth = 1.5;
        g.setLineDash(dash);
        g.beginPath();
        g.moveTo(left, y);
        g.lineTo(width - right, y);
        g.stroke();
        g.setLineDash([]);
        g.lineWidth = 1;
        g.fillStyle = alarm;
        g.textAlign = "right";
        g.fillText(words, width - right - 4, y - 9);
      }
    }
  }
  dot(g, l) {
    const x = this.px(l),
      y = this.py(l),
      colour = this.colour(l);
    g.beginPath();
    if (l.kind.fate === "ledger") {
      g.strokeStyle = alarm;
      g.lineWidth = 2;
      for (const d of [-4, 4]) {
        g.moveTo(x - 4, y - d);
        g.lineTo(x + 4, y + d);
      }
      g.stroke();
    } else if (l.detail === "op") {
      g.fillStyle = l.rank ? colour : tint(colour, 0.35);
      g.arc(x, y, l.rank ? 6 : 5, 0, 7);
      g.fill();
      g.strokeStyle = "#fff";
      g.lineWidth = 1;
      g.stroke();
    } else {
      g.strokeStyle = tint(colour, 0.3);
      g.lineWidth = 1.4;
      g.arc(x, y, 3.5, 0, 7);
      g.stroke();
    }
    g.lineWidth = 1;
  }
  // Whoever wants less of one number pays with the other: a staircase.
  line(g) {
    if (this.plan.filter !== null && this.plan.filter !== "leader") return;
    g.save();
    g.beginPath();
    g.rect(left, top - 4, this.width - left - right, this.height - foot - top + 8);
    g.clip();
    g.strokeStyle = ink;
    g.lineWidth = 1.6;
    g.beginPath();
    for (const [i, l] of this.front.entries()) {
      if (i > 0) g.lineTo(this.px(l), this.py(this.front[i - 1]));
      g[i === 0 ? "moveTo" : "lineTo"](this.px(l), this.py(l));
    }
    g.stroke();
    g.restore();
  }
  // Those of other reasons stay in sight, pale.
  others(g) {
    const { plan } = this;
    if (plan.filter === null) return;
    g.strokeStyle = "#c4c6ca";
    const has = (l) => Number.isFinite(this.x.of(l)) && Number.isFinite(this.y.of(l)) && this.inside(l);
    for (const l of plan.timed.filter((one) => !plan.shown(one) && has(one))) {
      g.beginPath();
      g.arc(this.px(l), this.py(l), 3, 0, 7);
      g.stroke();
    }
    if (this.list.length > 0) return;
    g.fillStyle = ink;
    g.textAlign = "center";
    const words = "None of these was timed: the table above says why. Grey: those that were.";
    g.fillText(words, left + (this.width - left - right) / 2, top + 26);
  }
  // Ranks beside their dots, where they do not hide each other.
  ranks(g) {
    const taken = [];
    g.textAlign = "left";
    g.fillStyle = ink;
    for (const l of this.plan.several ? [] : this.list.filter((one) => one.rank).sort((a, b) => a.rank - b.rank)) {
      const x = this.px(l) + 8,
        y = this.py(l) - 8;
      if (taken.some(([a, b]) => Math.abs(a - x) < 16 && Math.abs(b - y) < 13)) continue;
      taken.push([x, y]);
      g.fillText(String(l.rank), x, y);
    }
  }
  around(g, l, colour, radius) {
    if (!l || !this.list.includes(l)) return;
    g.strokeStyle = colour;
    g.lineWidth = 2;
    g.beginPath();
    g.arc(this.px(l), this.py(l), radius, 0, 7);
    g.stroke();
    g.lineWidth = 1;
  }
  listen() {
    const { canvas: c } = this;
    c.addEventListener("mousemove", (e) => (this.from ? this.pull(e) : this.hover(e)));
    c.addEventListener("mouseleave", () => {
      this.tell.hide();
      this.from = null;
      this.go(-1);
    });
    c.addEventListener("mousedown", (e) => {
      if (e.button === 0) this.from = this.to = [e.offsetX, e.offsetY];
    });
    c.addEventListener("mouseup", (e) => this.dropped(e));
    c.addEventListener("keydown", (e) => this.typed(e));
    c.addEventListener("blur", () => this.go(-1));
  }
  // A rectangle that is drawn with the mouse is looked at closer; a click pins.
  pull(e) {
    this.to = [e.offsetX, e.offsetY];
    this.tell.hide();
    this.draw();
  }
  dropped(e) {
    const { from } = this,
      share = (px, py) => [
        (px - left) / (this.width - left - right),
        (this.height - foot - py) / (this.height - foot - top),
      ];
    this.from = null;
    if (!from) return;
    if (Math.hypot(e.offsetX - from[0], e.offsetY - from[1]) < 6) {
      const i = this.nearest(e);
      if (i >= 0) this.plan.choose({ pinned: this.list[i] });
      return;
    }
    const [a, b] = [share(...from), share(e.offsetX, e.offsetY)],
      ends = (k, ax) => [Math.min(a[k], b[k]), Math.max(a[k], b[k])].map((s) => ax.value(Math.max(0, Math.min(1, s))));
    const window = { x: ends(0, this.ax), y: ends(1, this.ay) };
    if (window.x[1] > window.x[0] && window.y[1] > window.y[0]) this.look(window);
  }
  nearest(e) {
    let best = -1,
      near = 18;
    for (const [i, l] of this.list.entries()) {
      const above = l.detail === "op" ? 2 : 0; // those that were played
      const far = Math.hypot(this.px(l) - e.offsetX, this.py(l) - e.offsetY) - above;
      if (far < near) [best, near] = [i, far];
    }
    return best;
  }
  hover(e) {
    const i = this.nearest(e);
    this.go(i);
    this.canvas.style.cursor = i >= 0 ? "pointer" : "default";
    if (i < 0) return this.tell.hide();
    return this.tell.show(e, this.lines(this.list[i]));
  }
  lines(l) {
    const other = [this.x, this.y]
      .filter((a) => !["s", "B"].includes(a.unit))
      .map((a) => [a.name, told(a.unit, a.of(l))]);
    return [
      ["", this.plan.name(l)],
      ...(l.rank ? [["leader", String(l.rank)]] : []),
      ["step", `${time(l.step_s * 1e9)}, ${l.detail === "op" ? "op by op" : "at pass detail"}`],
      ["MFU", percent(l.mfu)],
      ["memory", `${l.peak_bytes === null ? "at least " : ""}${bytes(l.held)}`],
      ["recompute", l.keys.recompute ?? "–"],
      ...other,
      ...(l.rank
        ? []
        : [
            ["", ""],
            ["", whyNot(this.plan, l)],
          ]),
    ];
  }
  typed(e) {
    const last = this.list.length - 1,
      leaders = this.list.map((l, i) => (l.rank ? i : -1)).filter((i) => i >= 0);
    const next = {
      ArrowRight: () => Math.min(last, this.place + 1),
      ArrowLeft: () => Math.max(0, this.place - 1),
      Home: () => 0,
      End: () => last,
      ArrowDown: () => leaders.find((i) => i > this.place) ?? this.place,
      ArrowUp: () => leaders.filter((i) => i < this.place).pop() ?? this.place,
    }[e.key];
    if (e.key === "Enter" && this.list[this.place]) this.plan.choose({ pinned: this.list[this.place] });
    else if (next && last >= 0) this.go(next());
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
  go(i) {
    if (i === this.place) return;
    this.place = i;
    const l = this.list[i];
    this.reading.textContent = l
      ? this.lines(l)
          .filter(([, text]) => text)
          .map(([name, text]) => (name ? `${name} ${text}` : text))
          .join("; ")
      : "";
    this.draw();
  }
}
