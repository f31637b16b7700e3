// What the page shows of a database that holds no run: a row a view, in the order of the page.
import { Funnel } from "./funnel.js";
import { Leaders, Rejected } from "./layouts.js";
import { Pinned } from "./pinned.js";
import { Plan } from "./plan.js";
import { Asked } from "./asked.js";
import { Point, Printed } from "./point.js";
import { Scatter } from "./scatter.js";
import { Study } from "./study.js";
import { UCurve } from "./ucurve.js";

export const kinds = { plan: Plan, study: Study };
export const views = [
  { kind: "plan", tab: "layouts", title: "Layouts", make: (plan) => new Funnel(plan) },
  { kind: "plan", tab: "layouts", title: "Layouts", make: (plan) => new Rejected(plan) },
  { kind: "plan", tab: "layouts", title: "Layouts", make: (plan, tell) => new Scatter(plan, tell) },
  { kind: "plan", tab: "layouts", title: "Layouts", make: (plan) => new Leaders(plan) },
  { kind: "plan", tab: "layouts", title: "Layouts", make: (plan) => new Pinned(plan) },
  { kind: "plan", tab: "asked", title: "What was asked", make: (plan) => new Asked(plan) },
  { kind: "study", tab: "curve", title: "Results", make: (study, tell) => new UCurve(study, tell) },
  { kind: "study", tab: "curve", title: "Results", make: (study) => new Point(study) },
  { kind: "study", tab: "printed", title: "As printed", make: (study) => new Printed(study) },
];
