// The pages of a search and of a study: what is drawn are the numbers of the document, everything is reached by keys, axe finds
// nothing, hostile words stay words, and both are as fast as the page of a run.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { folder, html, launch, orrery, serve, sql, tamper, visit } from "./browser.mjs";

const axe = createRequire(import.meta.url)("axe-core").source;
let browser;
const pages = {};
const command = (...words) => {
  try {
    return orrery(...words);
  } catch (e) {
    if (e.status !== 4) throw e; // nothing fits: that is an answer, too
    return e.stdout.toString();
  }
};
const dense = ["--model", "llama3-70b", "--gpu", "h100-80gb-sxm", "--gpus", "64", "--global-batch", "256"];
before(async () => {
  command("plan", ...dense, "--db", "plan.db");
  command("plan", "--model", "llama3-8b", "--gpu", "h100-80gb-sxm", "--gpus", "8", "--global-batch", "64", "--vary", "cluster.gpus=8,16", "--db", "vary.db");
  command("plan", "--model", "llama3-70b", "--gpu", "h100-80gb-sxm", "--gpus", "8", "--global-batch", "64", "--db", "none.db");
  const weeks = join(process.env.SCENARIOS, "studies/checkpoint-interval-study.yaml"), hello = join(process.env.SCENARIOS, "hello-8-gpus.yaml");
  command("study", weeks, "--vary", "checkpoint.interval=2min..3h:log:9", "--seeds", "40", "--db", "study.db");
  command("study", hello, "--vary", "layout.microbatch=1,2,4", "--vary", "layout.tp=1,2,4", "--db", "grid.db");
  command("study", weeks, "--vary", "checkpoint.interval=2min..3h:log:5", "--vary", "recovery.spares=2,32", "--seeds", "8", "--db", "two.db");
  for (const name of ["plan", "vary", "none", "study", "grid", "two"]) pages[name] = html(name, `${name}.db`);
  browser = await launch();
});
after(() => browser?.close());

// Every violation of a page, as words.
async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 90)).join(" | ")}`);
}
const many = (v, read) => v.page.evaluate(`(${read})(orrery.state.runs[0])`);

test("both kinds of file open with the network off, ask for nothing, and axe finds nothing in any view", async () => {
  for (const [name, url] of Object.entries(pages)) {
    assert.ok(statSync(join(folder, `${name}.html`)).size < 2e6, name);
    const v = await visit(browser, url);
    assert.equal(await v.page.locator("#trouble").isVisible(), false, name);
    assert.equal(await v.page.locator("#transport").isVisible(), false, name);
    for (const tab of await v.page.locator("#tabs button").all()) {
      await tab.click();
      await v.page.evaluate(() => { for (const closed of document.querySelectorAll("details")) closed.open = true; });
      await v.page.waitForTimeout(60);
      assert.deepEqual(await violations(v.page), [], `${name}, ${await tab.textContent()}`);
      assert.ok((await v.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, name);
    }
    assert.deepEqual(v.complaints, [], name);
    await v.close();
  }
});

test("the funnel adds up, and a line of it filters picture and table", async () => {
  const v = await visit(browser, pages.plan), { page } = v;
  const counts = (await page.locator(".funnel .count").allTextContents()).map((t) => Number(t.replace(/,/g, "")));
  assert.equal(counts.slice(1).reduce((a, b) => a + b, 0), counts[0]);
  assert.equal(counts[0], JSON.parse(command("report", "--json", "plan.db")).searched);
  for (const line of await page.locator(".funnel button").all()) {
    const key = await line.getAttribute("data-key");
    if (!key) continue;
    await line.click();
    assert.equal(await line.getAttribute("aria-pressed"), "true");
    const [held, drawn] = await page.evaluate((k) => {
      const plan = orrery.state.runs[0], part = orrery.state.current.parts.find((p) => p.front);
      return [plan.rows.filter((l) => plan.reasonOf(l) === k).length, part.list.filter((l) => plan.reasonOf(l) !== k).length];
    }, key);
    assert.equal(drawn, 0, key);
    assert.equal(await page.locator(".sheet").first().locator("tbody tr").count(), Math.min(200, held), key);
  }
  await page.locator(".funnel button").first().click();
  assert.equal(await page.locator(".sheet").first().isVisible(), false);
  assert.equal(await page.evaluate(() => orrery.state.runs[0].filter), null);
  await v.close();
});

test("law: the front is that of plan, the axes hold every dot, and a dot lies where its numbers say", async () => {
  const v = await visit(browser, pages.plan), told = JSON.parse(command("report", "--json", "plan.db"));
  const got = await v.page.evaluate(() => {
    const plan = orrery.state.runs[0], part = orrery.state.current.parts.find((p) => p.front);
    part.look(null);
    const at = (l) => [part.px(l), part.py(l)];
    return { front: part.front.map((l) => [l.rank, l.step_s, l.peak_bytes]), drawn: part.list.length, timed: plan.timed.length,
      dots: part.list.map((l) => [l.step_s, l.held, ...at(l)]), box: [part.width, part.height],
      ends: [part.ax, part.ay].map((a) => [a.low, a.high]), usable: plan.machines[0].usable_bytes };
  });
  assert.deepEqual(got.front.map(([rank]) => rank).filter((rank) => rank && told.pareto.includes(rank)).sort((a, b) => a - b), told.pareto);
  const played = sql("plan.db", "select step_s, peak_reserved_bytes as bytes from plan_play where fits = 1");
  for (const [, step, bytes] of got.front) assert.ok(!played.some((p) => p.step_s <= step && p.bytes <= bytes && (p.step_s < step || p.bytes < bytes)));
  for (const p of played) assert.ok(got.front.some(([, step, bytes]) => step <= p.step_s && bytes <= p.bytes));
  assert.equal(got.drawn, got.timed);
  const near = (a, b) => Math.abs(a - b) < 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));
  // left 84, right 18, top 22, foot 44: to the right by the step, up by the memory
  const [[xl, xh], [yl, yh]] = got.ends, [w, h] = got.box;
  for (const [step, held, x, y] of got.dots) {
    assert.ok(near(x, 84 + ((step - xl) / (xh - xl)) * (w - 102)), `${step} at ${x}`);
    assert.ok(near(y, h - 44 - ((held - yl) / (yh - yl)) * (h - 66)), `${held} at ${y}`);
  }
  for (const [, , x, y] of got.dots) assert.ok(x >= 84 && x <= got.box[0] && y >= 0 && y <= got.box[1]);
  await v.close();
});

test("by keys alone: a layout of the picture, of the leaders, a sorted column, the command", async () => {
  const v = await visit(browser, pages.plan), { page } = v;
  const seen = new Set(["start"]);
  for (let i = 0; i < 400; i++) {
    await page.keyboard.press("Tab");
    const where = await page.evaluate(() => {
      const e = document.activeElement;
      return e === document.body ? null : `${e.tagName} ${e.getAttribute("aria-label") ?? ""} ${e.textContent.slice(0, 40)}`;
    });
    if (where === null) break;
    seen.add(where);
  }
  const words = [...seen].join("\n");
  for (const part of ["Scatter plot", "Around the leaders", "Copy: To play it", "Leaders", "were considered", "Layouts"]) assert.match(words, new RegExp(part));
  await page.locator("#tabs button").first().focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#tabs [aria-selected=true]").textContent(), "What was asked");
  await page.keyboard.press("ArrowLeft");
  const picture = page.locator("canvas[aria-label^='Scatter plot']");
  await picture.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const pinned = await many(v, (plan) => ({ rank: plan.pinned.rank, name: plan.pinned.name }));
  assert.ok(pinned.rank >= 1);
  assert.match(await page.locator("canvas[aria-label^='Scatter plot'] + .reading").textContent(), /leader \d+; step/);
  assert.ok((await page.locator("h3").first().textContent()).startsWith(pinned.name));
  const heads = page.locator(".sheet:visible").first().locator("thead button");
  await heads.filter({ hasText: "memory" }).focus();
  await page.keyboard.press("Enter");
  const memories = await page.evaluate(() => [...document.querySelector("[aria-label=Leaders] tbody").children].map((r) => r.row.peak_bytes));
  assert.deepEqual(memories, [...memories].sort((a, b) => a - b));
  await v.close();
});

test("what is pinned beside the first: parts that sum to the difference, and a command that is the layout's", async () => {
  const v = await visit(browser, pages.plan), { page } = v;
  await many(v, (plan) => plan.choose({ pinned: plan.leaders[2] }));
  const [l, first] = await many(v, (plan) => [plan.leaders[2], plan.leaders[0]].map(({ step_s, sets }) => ({ step_s, sets })));
  const lost = await page.locator("details", { hasText: "The parts as a table" }).locator("tbody tr").evaluateAll((rows) => rows.map((r) => Number(r.lastChild.textContent)));
  assert.ok(Math.abs(lost.reduce((a, b) => a + b, 0) - (l.step_s - first.step_s)) < 1e-9);
  const text = await page.locator(".command").first().textContent();
  for (const set of l.sets.split(" ")) assert.ok(text.includes(`--set layout.${set}`));
  assert.ok((await page.locator(".command").nth(1).textContent()).startsWith("orrery plan --model llama3-70b"));
  await page.getByRole("button", { name: "Copy: To play it" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("button")].some((b) => b.textContent === "Copied"));
  await v.close();
});

test("law: the curve of a study is that of study --json: means, intervals, the optimum and the closed forms at their places", async () => {
  for (const name of ["study", "two"]) {
    const v = await visit(browser, pages[name]), told = JSON.parse(command("report", "--json", `${name}.db`));
    const got = await v.page.evaluate(() => {
      const study = orrery.state.runs[0], part = orrery.state.current.parts.find((p) => p.curves);
      return { curves: part.curves.map((c) => [c.name, c.points.map((p) => [p.point, part.px(part.number(p)), part.py(study.value(p))])]), best: part.best(), closed: part.closed(),
        ax: [part.ax.low, part.ax.high], width: part.width, log: part.log };
    });
    const points = new Map(told.points.map((p) => [p.point, p]));
    assert.equal(got.curves.length, name === "two" ? 2 : 1);
    assert.equal(got.curves.flatMap(([, list]) => list).length, told.points.length);
    assert.equal(got.log, true);
    for (const [curve, list] of got.curves) {
      for (const [point, x] of list) {
        const p = points.get(point), at = Math.log(p.vary["checkpoint.interval"] / got.ax[0]) / Math.log(got.ax[1] / got.ax[0]);
        assert.ok(Math.abs(x - (84 + at * (got.width - 104))) < 1e-6);
        if (name === "two") assert.equal(curve, String(p.vary["recovery.spares"]));
      }
      // higher is less: the picture keeps the order of the means
      const rising = [...list].sort((a, b) => a[2] - b[2]).map(([point]) => points.get(point).goodput.mean);
      assert.deepEqual(rising, [...rising].sort((a, b) => b - a));
    }
    const best = points.get(told.optimum.point);
    assert.deepEqual(got.closed, [["Young", best.closed_forms.young_s], ["Daly", best.closed_forms.daly_s], ["exact", best.closed_forms.exact_s]]);
    assert.equal(got.best?.value ?? null, name === "study" ? told.optimum.value : null);
    if (name === "study") assert.deepEqual(got.best.ci95, told.optimum.ci95);
    const [young, stall] = [best.closed_forms.young_s, best.closed_forms.stall_s]; // sqrt(2 stall MTBF): Young 1974
    assert.ok(Math.abs(young - Math.sqrt(2 * stall * best.closed_forms.job_mtbf_s)) < 1e-6 * young);
    await v.close();
  }
});

test("a link shows the same: the line of the funnel, the layout, the result", async () => {
  const v = await visit(browser, pages.plan);
  await many(v, (plan) => plan.choose({ pinned: plan.leaders[1], filter: "memory" }));
  await v.page.waitForFunction(() => location.hash.includes("only=memory"));
  const again = await visit(browser, v.page.url());
  assert.deepEqual(await many(again, (plan) => [plan.pinned.rank, plan.filter]), [2, "memory"]);
  assert.ok(await again.page.locator("[aria-label='Layouts of the chosen reason']").isVisible());
  for (const wrong of ["#tab=layouts&pin=99999999&only=nonsense", "#tab=layouts&pin=__proto__&only=constructor", "#tab=x"]) {
    const w = await visit(browser, pages.plan + wrong);
    assert.deepEqual(await many(w, (plan) => [plan.pinned, plan.filter]), [null, null]);
    assert.deepEqual(w.complaints, []);
    await w.close();
  }
  const two = await visit(browser, `${pages.two}#tab=curve&pin=3&result=mfu&over=recovery.spares`);
  assert.deepEqual(await many(two, (study) => [study.pinned.point, study.metric.name, study.key().key]), [3, "mfu", "recovery.spares"]);
  assert.equal(await two.page.locator("select").first().inputValue(), "mfu");
  for (const one of [v, again, two]) await one.close();
});

test("another result, another key, a point by keys, and the line that plays it", async () => {
  const v = await visit(browser, pages.two), { page } = v;
  const results = page.locator("select").first();
  await results.selectOption({ label: "tokens_per_day" });
  assert.equal(await many(v, (study) => study.metric.name), "tokens_per_day");
  await page.locator("select").nth(1).selectOption({ label: "recovery.spares" });
  assert.equal(await page.evaluate(() => orrery.state.current.parts[0].curves.length), 5);
  const picture = page.locator("canvas").first();
  await picture.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const [name, line] = await many(v, (study) => [study.pinned.name, study.pinned.line]);
  assert.ok((await page.locator("h3").first().textContent()).startsWith(name));
  assert.equal(await page.locator(".command").textContent(), line);
  assert.ok(line.includes("--set recovery.spares="));
  assert.deepEqual(v.complaints, []);
  await v.close();
});

test("served: the same page, one document; nothing else of a run is answered", async () => {
  const server = await serve("plan.db");
  try {
    const v = await visit(browser, server.url, { offline: false });
    assert.equal(await many(v, (plan) => plan.rows.length > 100), true);
    assert.deepEqual(v.complaints, []);
    assert.equal(await v.page.evaluate(async () => (await fetch("/api/slices?db=0")).status), 500);
    await v.close();
  } finally {
    server.stop();
  }
});

test("hostile words of a database stay words", async () => {
  tamper("plan.db", "update plan set label = '<img src=x onerror=alert(1)>', model = '<script>alert(1)</script>'; update meta set value = '</script><b>' where key = 'scenario'");
  const v = await visit(browser, html("hostile", "plan.db"));
  assert.equal(await v.page.locator("#views img, #views script, #head b").count(), 0);
  assert.deepEqual(v.complaints, []);
  await v.close();
});
