// The layout that is pinned, beside the first: its keys and numbers, the difference of their steps part by part, and
// the command that plays it.
import { command } from "./command.js";
import { canvas, context, panel, paragraph, quiet, rule, table } from "./draw.js";
import { bytes, count, exact, percent, time } from "./format.js";
import { parts, runLine, whyLine, whyNot } from "./plan.js";

export class Pinned {
  constructor(plan) {
    this.plan = plan;
    this.section = panel(
      "The layout beside the first",
      "Click a layout in the picture or choose one in a table. The parts of a step are those of the mean " +
        "rank, and sum to it; only layouts that were played op by op have them.",
    );
    this.body = document.createElement("div");
    this.section.append(this.body);
    plan.listen(() => this.changed());
    this.changed();
  }
  changed() {
    const { plan } = this,
      l = plan.pinned ?? plan.first;
    if (l === this.told) return;
    this.told = l;
    this.bars = null;
    this.body.replaceChildren(
      ...(l
        ? this.about(l)
        : [paragraph("Nothing fits and keeps the terms: choose a layout to see what kept it out.")]),
    );
    this.draw();
  }
  about(l) {
    const { plan } = this,
      first = plan.first,
      alone = !first || l === first,
      name = document.createElement("h3");
    name.textContent = `${plan.name(l)}${l.rank ? `, leader ${l.rank}` : ""}`;
    const why = paragraph(whyNot(plan, l), "prose"),
      out = [name, why, this.numbers(l, alone ? null : first)];
    if (parts.some((p) => l[p] !== null))
      out.push(...this.split(l, alone || !parts.some((p) => first[p] !== null) ? null : first));
    out.push(...command("To play it", runLine(l)));
    if (!plan.several && l !== first)
      out.push(
        ...command(
          "To ask the search why it does not lead: the rule in full, or the tensor that finds no room",
          whyLine(plan, l),
        ),
      );
    return out;
  }
  numbers(l, first) {
    const list = document.createElement("table"),
      body = document.createElement("tbody");
    const row = (kind, cells) => {
      const line = document.createElement("tr");
      for (const [i, text] of cells.entries()) {
        const cell = document.createElement(kind === "th" || i === 0 ? "th" : "td");
        if (cell.tagName === "TH") cell.scope = kind === "th" ? "col" : "row";
        cell.textContent = text;
        line.append(cell);
      }
      return line;
    };
    const top = document.createElement("thead");
    top.append(row("th", ["number", "this one", ...(first ? ["the first"] : [])]));
    const both = (name, of) => body.append(row("td", [name, of(l), ...(first ? [of(first)] : [])]));
    both("layout", (one) => this.plan.name(one));
    both("step", (one) =>
      one.step_s === null
        ? `at least ${time((one.least_s ?? NaN) * 1e9)}`
        : `${time(one.step_s * 1e9)}${one.detail === "pass" ? " at pass detail" : ""}`,
    );
    both("MFU", (one) => (one.mfu === null ? "–" : percent(one.mfu)));
    both("tokens a second", (one) => (one.tokens_per_s === null ? "–" : count(one.tokens_per_s)));
    both("memory", (one) =>
      one.held === null
        ? "–"
        : `${one.peak_bytes === null ? "at least " : ""}${bytes(one.held)} of ${bytes(one.of.usable_bytes)}`,
    );
    both(
      "recompute",
      (one) =>
        `${one.keys.recompute ?? "–"}${one.keys.recompute_layers ? `, ${one.keys.recompute_layers} layers` : ""}`,
    );
    if (l.usd !== null || first?.usd) both("USD per 10⁹ tokens", (one) => (one.usd === null ? "–" : count(one.usd)));
    if (l.joules !== null) both("joules per token", (one) => (one.joules === null ? "–" : one.joules.toFixed(3)));
    list.append(top, body);
    list.className = "beside";
    return list;
  }
  // Bars of the parts, longest first; beside another one the difference.
  split(l, first) {
    const shown = parts.filter(
      (p) => Math.abs(l[p]) > 1e-4 * l.step_s || (first && Math.abs(first[p]) > 1e-4 * first.step_s),
    );
    const lost = (p) => l[p] - (first?.[p] ?? 0),
      title = document.createElement("h3");
    this.bars = {
      l,
      first,
      shown: first ? shown.sort((a, b) => Math.abs(lost(b)) - Math.abs(lost(a))) : shown.sort((a, b) => l[b] - l[a]),
    };
    const more = first ? l.step_s - first.step_s : 0;
    title.textContent = first
      ? `Where the difference of ${more >= 0 ? "+" : "−"}${time(Math.abs(more) * 1e9)} a step is`
      : "Where the step goes";
    this.canvas = canvas(
      26 + 24 * shown.length,
      this.bars.shown
        .map((p) => (first ? `${word(p)} ${signed(lost(p))}` : `${word(p)} ${time(l[p] * 1e9)}`))
        .join(", "),
    );
    const head = first ? ["part", "this one s", "the first s", "difference s"] : ["part", "s"];
    return [
      title,
      this.canvas,
      table(
        "The parts as a table",
        head,
        parts.map((p) => (first ? [p, exact(l[p]), exact(first[p]), exact(lost(p))] : [p, exact(l[p])])),
      ),
    ];
  }
  draw() {
    if (!this.bars || !this.canvas.clientWidth) return;
    const { g, width } = context(this.canvas),
      { l, first, shown } = this.bars,
      { shades } = this.plan;
    const room = width - 120 - 150,
      middle = first ? 120 + room / 2 + 60 : 120;
    const most = Math.max(...shown.map((p) => Math.abs(first ? l[p] - first[p] : l[p])), 1e-12),
      scale = (first ? room / 2 : room) / most;
    g.fillStyle = quiet;
    g.textAlign = "left";
    if (first) {
      g.fillText("longer →", middle + 6, 10);
      g.textAlign = "right";
      g.fillText("← shorter", middle - 6, 10);
    }
    for (const [i, p] of shown.entries()) {
      const y = 22 + 24 * i,
        value = first ? l[p] - first[p] : l[p],
        wide = Math.abs(value) * scale;
      g.fillStyle = quiet;
      g.textAlign = "left";
      g.fillText(word(p), 0, y + 9);
      g.fillStyle = shades.part?.[p] ?? "#8f9399";
      g.fillRect(value >= 0 ? middle : middle - wide, y, Math.max(1, wide), 18);
      g.fillStyle = quiet;
      g.textAlign = value >= 0 ? "left" : "right";
      g.fillText(
        first ? signed(value) : `${time(value * 1e9)}, ${percent(value / l.step_s)}`,
        value >= 0 ? middle + wide + 6 : middle - wide - 6,
        y + 9,
      );
    }
    g.fillStyle = rule;
    g.fillRect(middle, 18, 1, 24 * shown.length);
  }
}
const word = (part) => part.replace("_", " ");
const signed = (s) => `${s >= 0 ? "+" : "−"}${time(Math.abs(s) * 1e9)}`;
