// The memory wall with sliders: the rule of thumb for any size, precision, optimizer, batch and sequence, from the table of bytes
// that orrery wrote; beside it the ledger of the run.
import { bar, ceiling, scale, tenantColour, tenants } from "./bars.js";
import { canvas, context, ink, panel, table } from "./draw.js";
import { bytes, digits, exact } from "./format.js";

const state = ["weights", "gradients", "master", "moments"];

// The rule: bytes by tenant. A model of another size has the shape of the run's, larger or smaller in depth and width alike.
export function rule(recipe, shape, { parameters, batch, sequence }) {
  const grown = Math.cbrt(parameters / shape.parameters), layers = shape.layers * grown, hidden = shape.hidden * grown;
  const out = Object.fromEntries(state.map((t) => [t, recipe[`${t}_bytes`] * parameters]));
  return { ...out, activations: recipe.activations_bytes * layers * batch * sequence * hidden };
}

export class Wall {
  constructor(run) {
    this.run = run;
    const constant = (name) => run.constants.find((c) => new RegExp(`^model\\.(.*\\.)?${name}$`).test(c.name))?.value;
    const nominal = constant("nominal_parameters");
    this.shape = { parameters: nominal > 0 ? nominal : run.run.parameters, layers: constant("layers"), hidden: constant("hidden") };
    this.at = { parameters: this.shape.parameters, batch: run.run.microbatch, sequence: run.run.sequence, precision: run.run.precision, optimizer: run.run.optimizer };
    this.section = panel("The memory wall", "Move the sliders: what one card would have to hold, by the rule of thumb. Dashed: what it offers; red: what lies beyond. The bar on the right is the ledger of this run, tensor by tensor.");
    this.section.append(this.controls());
    this.canvas = canvas(360, "What one card would have to hold, by the rule of thumb and by the ledger");
    this.reading = document.createElement("p");
    this.reading.className = "reading";
    this.reading.setAttribute("role", "status");
    this.section.append(this.reading, this.canvas, table("The bytes for each parameter, as the database holds them", ["precision", "optimizer", ...state, "activations for each token, layer and hidden unit"],
      run.recipes.map((r) => [r.precision, r.optimizer, ...[...state, "activations"].map((t) => exact(r[`${t}_bytes`]))])));
  }
  controls() {
    const box = document.createElement("div");
    box.className = "form";
    this.slider(box, "parameters", "Parameters", 1e8, 2e12, (v) => `${digits(v / 1e9)} billion`);
    this.slider(box, "batch", "Sequences in a microbatch", 1, 64, (v) => String(v), true);
    this.slider(box, "sequence", "Tokens in a sequence", 512, 131072, (v) => v.toLocaleString("en-GB"), true);
    this.choice(box, "precision", "Precision");
    this.choice(box, "optimizer", "Optimizer");
    return box;
  }
  // On a logarithmic scale; the run's own value stays what it is until the slider is moved.
  slider(box, key, text, low, high, words, whole) {
    const label = document.createElement("label"), input = document.createElement("input"), value = document.createElement("output"), pair = document.createElement("span");
    const place = (v) => String(Math.round((1000 * Math.log(v / low)) / Math.log(high / low)));
    Object.assign(input, { type: "range", min: "0", max: "1000", value: place(this.at[key]), id: `wall-${key}` });
    label.htmlFor = input.id;
    label.textContent = text;
    const say = () => { value.textContent = words(this.at[key]); input.setAttribute("aria-valuetext", value.textContent); };
    input.addEventListener("input", () => {
      const v = low * (high / low) ** (Number(input.value) / 1000);
      this.at[key] = whole ? Math.round(v) : v;
      say();
      this.draw();
    });
    say();
    pair.className = "pair slider";
    pair.append(input, value);
    box.append(label, pair);
  }
  choice(box, key, text) {
    const label = document.createElement("label"), select = document.createElement("select");
    select.id = `wall-${key}`;
    label.htmlFor = select.id;
    label.textContent = text;
    for (const word of new Set(this.run.recipes.map((r) => r[key]))) select.append(Object.assign(document.createElement("option"), { value: word, textContent: word, selected: word === this.at[key] }));
    select.addEventListener("change", () => { this.at[key] = select.value; this.draw(); });
    box.append(label, select);
  }
  parts() {
    const recipe = this.run.recipes.find((r) => r.precision === this.at.precision && r.optimizer === this.at.optimizer);
    const held = rule(recipe, this.shape, this.at);
    return tenants.filter((t) => t in held).map((t) => [t, held[t]]); // in the order of the bar beside it
  }
  draw() {
    const { g, width, height } = context(this.canvas), { run } = this, limit = run.run.usable_hbm_bytes, shade = ([t, v]) => [v, tenantColour(run, t), t];
    const parts = this.parts(), ledger = tenants.map((t) => [t, run.stages[0][`${t}_bytes`]]), sum = (list) => list.reduce((a, [, v]) => a + v, 0), total = sum(parts);
    const s = scale(limit, 1.1 * Math.max(limit, total, sum(ledger)), height - 28, 12), narrow = width < 640, wide = narrow ? width * 0.16 : Math.min(150, width / 6);
    for (const [list, share, words] of [[parts, narrow ? 0.04 : 0.22, narrow ? "by the rule" : "by the rule, at the sliders"], [ledger, narrow ? 0.54 : 0.66, narrow ? "this run" : "ledger of this run"]]) {
      const x = width * share;
      bar(g, s, list.map(shade), x, wide, width * 0.46 - wide - 8);
      g.fillStyle = ink;
      g.textAlign = narrow ? "left" : "center";
      g.fillText(words, narrow ? x : x + wide / 2, height - 12);
    }
    ceiling(g, s, 0, width, narrow ? bytes(limit) : `one card: ${bytes(limit)}`, narrow ? width * 0.76 : 4);
    this.total = total;
    const times = total / limit;
    const words = `${bytes(total)} by the rule: ${times <= 1 ? `it fits, ${bytes(limit - total)} are left` : `it takes ${times.toFixed(times < 10 ? 1 : 0)} cards' worth of memory`}.`;
    if (this.reading.textContent !== words) this.reading.textContent = words;
  }
}
