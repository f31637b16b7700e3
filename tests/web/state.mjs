// What the page says of weeks, and where it stands: steps kept by law, checkpoints counted, links, Back, old browsers, a server that
// ends, pointers, print.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { folder, html, launch, orrery, run, serve, sql, tamper, visit } from "./browser.mjs";

let browser;
const pages = {};
const often = "silent-corruption, saved every 5 min", jobs = ["silent-corruption", often, "llama3-405b-54-days", "blast-radius-nvl72", "elastic-vs-restart"];
before(async () => {
  for (const name of jobs) {
    const [scenario, more] = name.split(",");
    run(name, `weeks/${scenario}.yaml`, ...(more ? ["checkpoint.interval=5min"] : [])); // about eight in a group
    pages[name] = html(name, `${name}.db`);
  }
  run("step", "llama3-70b-64xh100.yaml", "layout.pp=4", "training.global_batch=32");
  run("other", "llama3-70b-64xh100.yaml", "layout.pp=4", "training.global_batch=32", "layout.schedule=gpipe");
  pages.step = html("step", "step.db");
  browser = await launch();
});
after(() => browser?.close());

const story = (v, index = 0) => v.page.evaluate((i) => {
  const part = orrery.state.tabs.find((t) => t.name === "weeks").parts.filter((p) => p.kept)[i], ettr = orrery.state.tabs.find((t) => t.name === "weeks").parts.find((p) => p.ys);
  return { kept: part.kept, done: part.done, groups: part.run.weeks.checkpoints, said: part.said.textContent, ettr: ettr.xs.map((x, k) => [x, ettr.ys[k]]) };
}, index);

// What a restart at each moment would begin with, from the rows of the database alone: proof(t), or with checkpoints that are `late` ns old.
function proofs(db) {
  const saves = sql(db, "select ts, step from checkpoint order by ts"), stops = sql(db, "select ts, loaded_step from interruption where not others_went_on order by ts");
  return (t, late = 0) => {
    const stop = stops.findLast((s) => s.ts <= t) ?? { ts: -1, loaded_step: 0 };
    let low = 0, high = saves.length; // those at or before t - late
    while (low < high) { const m = (low + high) >> 1; if (saves[m].ts <= t - late) low = m + 1; else high = m; }
    let most = stop.loaded_step;
    for (let i = low - 1; i >= 0 && saves[i].ts > stop.ts; i--) { most = Math.max(most, saves[i].step); if (low - i > 4) break; } // levels of one save are durable one after the other
    return most;
  };
}
// The height of a drawn line between its points.
function height(points, t) {
  const i = points.findLastIndex(([ts]) => ts <= t), [[x, a], [z, b]] = [points[i], points[Math.min(i + 1, points.length - 1)]];
  return z > x ? a + ((b - a) * (t - x)) / (z - x) : b;
}

test("law: steps kept never exceed what a restart would prove, nor lag behind it by more than a group", async () => {
  for (const name of jobs) {
    const v = await visit(browser, pages[name]), { kept, done, groups, ettr } = await story(v), proof = proofs(`${name}.db`);
    const { wall_s: wall, step_s: step, ettr_ratio: last, steps_completed: all } = sql(`${name}.db`, "select wall_s, step_s, ettr_ratio, steps_completed from run")[0];
    const events = sql(`${name}.db`, "select ts from checkpoint union select ts from interruption"), widest = Math.max(...groups.map((c) => c.last_ts - c.ts)) + 1;
    const times = events.flatMap(({ ts }, i) => [ts - 1, ts + 1, Math.round((ts + (events[i + 1]?.ts ?? wall * 1e9)) / 2)]).filter((t) => t >= 0 && t < wall * 1e9);
    let met = 0, i = 0;
    for (const t of times.sort((a, b) => a - b)) {
      while (i + 1 < kept.length && kept[i + 1][0] <= t) i++;
      const drawn = height(kept.slice(i, i + 2), t), known = proof(t);
      assert.ok(drawn <= known + 1e-6, `${name} at ${t}: ${drawn} kept, a restart proves ${known}`);
      assert.ok(drawn >= proof(t, widest) - 1e-6, `${name} at ${t}: ${drawn} kept, a restart proves ${proof(t, widest)}`);
      met += drawn > 0 ? 1 : 0;
    }
    assert.ok(met > times.length / 20, `${met} of ${times.length}`);
    assert.ok(done.every(([, steps], k) => k === 0 || done[k][0] >= done[k - 1][0]) && done.at(-1)[0] === Math.round(wall * 1e9) && done.at(-1)[1] >= all);
    for (const [x, ratio] of ettr.slice(0, -1)) {
      const ts = Math.round(x * 86400e9);
      assert.ok((ratio * ts) / (step * 1e9) <= Math.max(proof(ts), proof(ts - 1)) * (1 + 1e-9), `${name}: ETTR ${ratio} at ${x} d`);
    }
    assert.equal(ettr.at(-1)[1], last);
    await v.close();
  }
});

test("both lines by hand: ties, levels, groups, others that go on, a run that ends while it stands", async () => {
  const { progress, search } = await import(`file://${process.env.PAGE_SOURCE}/progress.js`);
  const save = (ts, step) => ({ ts, last_ts: ts, count: 1, step, last_step: step }), stop = (ts, step, loaded_step, dur, others_went_on = 0) => ({ ts, step, loaded_step, dur, others_went_on });
  const job = (stops, steps_completed) => ({ wall_ns: 100, run: { steps_completed }, weeks: { interruptions: stops } });
  // A checkpoint that is durable when the failure strikes is what the job comes back to.
  assert.deepEqual(progress(job([stop(20, 25, 20, 5)], 90), [save(10, 10), save(20, 20)]),
    { kept: [[0, 0], [10, 0], [10, 10], [20, 10], [20, 20], [20, 20], [20, 20], [100, 20]], done: [[0, 0], [10, 10], [20, 20], [20, 25], [20, 20], [25, 20], [100, 90]] });
  // The slower level of a save comes later, and takes nothing back; told twice is told once.
  assert.deepEqual(progress(job([], 30), [save(12, 10), save(10, 10), save(22, 20), save(20, 20), save(20, 20)]).kept, [[0, 0], [10, 0], [10, 10], [20, 10], [20, 20], [100, 20]]);
  // A group rises at both of its ends.
  assert.deepEqual(progress(job([], 30), [{ ts: 10, last_ts: 20, count: 3, step: 10, last_step: 30 }]).kept, [[0, 0], [10, 0], [10, 10], [20, 10], [20, 30], [100, 30]]);
  // Where only the struck replica stops nothing is loaded.
  assert.deepEqual(progress(job([stop(50, 55, null, 9, 1)], 80), [save(40, 40)]), { kept: [[0, 0], [40, 0], [40, 40], [100, 40]], done: [[0, 0], [40, 40], [100, 80]] });
  // It never ran again.
  assert.deepEqual(progress(job([stop(60, 61, 0, null)], 0), []), { kept: [[0, 0], [60, 0], [60, 0], [100, 0]], done: [[0, 0], [60, 61], [60, 0], [100, 0], [100, 0]] });
  assert.deepEqual([-1, 0, 9, 10, 11, 99].map((t) => search([[0, 0], [10, 1], [10, 2], [20, 3]], t)), [0, 0, 0, 2, 2, 3]);
});

test("every checkpoint is in one mark, no mark reaches across an interruption, and their number is said", async () => {
  for (const name of jobs) {
    const v = await visit(browser, pages[name]), { groups, said } = await story(v), held = sql(`${name}.db`, "select count(*) as n from checkpoint")[0].n;
    assert.equal(groups.reduce((a, c) => a + c.count, 0), held);
    for (const { ts } of sql(`${name}.db`, "select ts from interruption")) assert.ok(!groups.some((c) => c.ts <= ts && c.last_ts > ts), `${name} at ${ts}`);
    for (const c of groups) assert.ok(c.last_step >= c.step && (c.count > 1 || c.ts === c.last_ts), JSON.stringify(c));
    assert.match(said, new RegExp(`^${held.toLocaleString("en-GB")} checkpoints in view, drawn as ${groups.length.toLocaleString("en-GB")} marks: ${groups.filter((c) => c.count > 1).length.toLocaleString("en-GB")} of them`));
    await v.close();
  }
  const window_ = [20 * 86400e9, 20.6 * 86400e9], held = sql("llama3-405b-54-days.db", `select count(*) as n from checkpoint where ts between ${window_[0]} and ${window_[1]}`)[0].n;
  const look = (v) => v.page.evaluate(([from, to]) => { Object.assign(orrery.state.current.view, { from, to }); orrery.state.current.view.changed(); }, window_);
  const v = await visit(browser, pages["llama3-405b-54-days"]);
  await look(v);
  await v.page.waitForFunction(() => /bands/.test(document.querySelector(".marks").textContent));
  const [, count, marks] = (await v.page.locator(".marks").textContent()).match(/^(\d+) checkpoints in view, drawn as (\d+) marks/).map(Number);
  assert.ok(count >= held && count < held + 20 && marks < count / 4, `${count} of ${held} as ${marks}`);
  await v.close();
  const server = await serve("llama3-405b-54-days.db");
  try {
    const w = await visit(browser, server.url, { offline: false });
    await look(w);
    await w.page.waitForFunction((n) => document.querySelector(".marks").textContent === `${n} checkpoints in view, each drawn.`, held, { timeout: 10000 });
    const { kept } = await story(w), proof = proofs("llama3-405b-54-days.db");
    for (let t = window_[0]; t < window_[1]; t += 97e9) assert.equal(height(kept, t), proof(t), `at ${t}`);
    await w.close();
  } finally {
    server.stop();
  }
  orrery("run", `${process.env.SCENARIOS}/weeks/silent-corruption.yaml`, "--detail", "summary", "--db", "few.db");
  const few = await visit(browser, html("few", "few.db"));
  const [{ saves }] = sql("few.db", "select sum(saves) as saves from checkpoint_level");
  assert.ok(saves > 1000);
  assert.match(await few.page.locator(".marks").textContent(), new RegExp(`^0 checkpoints in view, each drawn\\. The file holds none of the run's ${saves.toLocaleString("en-GB")} checkpoints`));
  assert.equal(await few.page.locator("#view-weeks summary").first().textContent(), "Every interruption, as the database holds it");
  await few.close();
  tamper("few.db", `create temp table t as select * from interruption, (with recursive n(i) as (select 1 union all select i + 1 from n where i < 200) select i from n);
    alter table t drop column i; update t set id = null; insert into interruption select * from t`);
  const many = await visit(browser, html("few", "few.db"));
  assert.equal(await many.page.locator("#view-weeks summary").first().textContent(), "The first 2,000 of 2,412 interruptions, as the database holds it");
  assert.equal(await many.page.locator("#view-weeks table").first().locator("tbody tr").count(), 2000);
  await many.close();
});

test("a node that is struck: its label, what it cost, and one scale for both; a reload shows what was asked for", async () => {
  const server = await serve("llama3-405b-54-days.db");
  try {
    const v = await visit(browser, server.url, { offline: false }), { page } = v, t = 20 * 86400e9;
    const runs = () => page.evaluate(() => orrery.state.runs.map((r) => r.index));
    const strike = async (node) => {
      await page.getByRole("tab", { name: "Weeks" }).click();
      await page.evaluate((at) => orrery.state.current.clock.seek(at), t);
      await page.getByRole("tab", { name: "What if" }).click();
      await page.fill("#strike-node", String(node));
      await page.click("#strike");
    };
    await strike(0);
    await page.waitForFunction(() => orrery.state.runs.length === 2, null, { timeout: 60000 });
    assert.deepEqual(await page.locator("#view-weeks section .differs").allTextContents().then((all) => [...new Set(all)]), ["struck node 0 at day 20, 00:00:00", "not struck"]);
    const b = await page.evaluate(() => orrery.state.runs[1].weeks.interruptions.find((i) => i.cause === "struck on the page"));
    assert.ok(b.lost_steps > 0 && b.down_s > 0);
    const panel = (await page.locator("section:visible").filter({ has: page.locator("h2", { hasText: /^Struck node 0 at day 20, 00:00:00/ }) }).innerText()).replace(/\s+/g, " ");
    assert.match(panel, new RegExp(`lost at the strike ${b.lost_steps} steps?, `));
    const [ended, free] = await page.evaluate(() => [orrery.state.runs[1], orrery.state.runs[0]].map((r) => Math.round(r.run.steps_completed)));
    assert.ok(panel.includes(`at the end ${ended.toLocaleString("en-GB")} steps, without it ${free.toLocaleString("en-GB")}: ${Math.abs(ended - free)} ${ended < free ? "fewer" : "more"}`), panel);
    assert.match(panel, /down for it [\d.]+ (min|h) .*What differs later is chance/);
    const tops = await page.evaluate(() => { const [a, c] = orrery.state.current.parts.filter((p) => p.kept); return [a.stories === c.stories, a.stories.length, a.stories.map((s) => s.reach())]; });
    assert.deepEqual(tops.slice(0, 2), [true, 2]);
    assert.notEqual(tops[2][0][1], tops[2][1][1]);
    await strike(1);
    await page.waitForFunction(() => orrery.state.runs[1].index === 2, null, { timeout: 60000 });
    await page.waitForTimeout(400);
    assert.deepEqual(await runs(), [0, 2]);
    const link = page.url();
    assert.match(link, /&runs=0,2$/);
    await page.goBack(); // from the tab "Weeks" of the second comparison to "What if" of the first
    await page.waitForFunction(() => orrery.state.runs[1]?.index === 1 && orrery.state.current.name === "what-if", null, { timeout: 10000 });
    const again = await visit(browser, link, { offline: false }); // a link shows the same two
    assert.deepEqual(await again.page.evaluate(() => orrery.state.runs.map((r) => [r.index, r.letter])), [[0, "A"], [2, "B"]]);
    await again.close();
    const fresh = await visit(browser, server.url, { offline: false }); // another tab: what the command line asked for
    assert.deepEqual(await fresh.page.evaluate(() => orrery.state.runs.map((r) => r.index)), [0]);
    assert.equal(await fresh.page.locator("#facts span").count(), 1);
    await fresh.close();
    const gone = await visit(browser, `${server.url}#tab=weeks&runs=0,9`, { offline: false });
    assert.match(await gone.page.locator("#trouble").textContent(), /does not hold the runs of this link/);
    assert.equal(await gone.page.evaluate(() => orrery.state.runs.length), 1);
    await gone.close();
    assert.deepEqual(v.complaints, []);
    await v.close();
  } finally {
    server.stop();
  }
});

test("a lesson opens on the lesson", async () => {
  for (const name of ["zero", "failures", "bubble"]) {
    orrery("lesson", name, "--html", `${name}.html`, "--db", `${name}.db`);
    const v = await visit(browser, `file://${folder}/${name}.html`);
    assert.equal(await v.page.locator("#tabs [aria-selected=true]").textContent(), "Lesson", name);
    assert.ok(await v.page.locator(".questions").isVisible(), name);
    // The columns are what its runs differ in.
    const held = sql(`${name}.db`, "select goodput_ratio, step_s, mfu_ratio from lesson_run"), heads = await v.page.locator(".panel table").first().locator("th").allTextContents(), alike = await v.page.locator(".alike").allTextContents();
    for (const [column, key] of [["goodput", "goodput_ratio"], ["step", "step_s"], ["MFU", "mfu_ratio"]]) {
      const values = new Set(held.map((r) => r[key]));
      assert.equal(heads.includes(column), values.size > 1, `${name}: ${column}`);
      assert.equal(alike.join().includes(`${column} `), values.size === 1 && held.length > 1 && held[0][key] !== null, `${name}: ${column}`);
    }
    await v.close();
  }
});

test("a link that is pasted is followed, Back goes to the tab before, and rows stay open", async () => {
  const v = await visit(browser, pages["llama3-405b-54-days"]), { page } = v, tab = () => page.locator("#tabs [aria-selected=true]").textContent();
  assert.equal(await tab(), "Weeks");
  const { id, end } = await page.evaluate(() => { const t = orrery.state.tabs.find((x) => x.name === "step"); return { id: t.parts.find((p) => p.opened).run.stages[1].id, end: t.clock.end }; });
  const [t, from, to] = [end / 2, end / 4, end / 2].map(Math.round);
  await page.evaluate(() => history.replaceState(null, "", location.pathname)); // as before the page wrote its own
  await page.evaluate((hash) => { location.hash = hash; }, `#tab=step&t=${t}&from=${from}&to=${to}&speed=2&open=${id}&all=1`);
  await page.waitForFunction(() => orrery.state.current.name === "step");
  await page.waitForTimeout(400);
  assert.deepEqual(await page.evaluate(() => { const p = orrery.state.current.parts.find((x) => x.opened); return { ...orrery.window(), t: orrery.clock().t, opened: [...p.opened], all: p.all, box: p.box.checked, factor: orrery.state.current.clock.factor }; }), { from, to, t, opened: [id], all: true, box: true, factor: 2 });
  assert.match(page.url(), new RegExp(`open=${id}&all=1$`));
  await page.goBack();
  await page.waitForFunction(() => orrery.state.current.name === "weeks");
  await page.getByRole("tab", { name: "Numbers" }).click();
  await page.getByRole("tab", { name: "Step" }).click();
  await page.locator("canvas.picture:visible").first().focus();
  await page.keyboard.press("Enter"); // opens or closes the first row
  await page.waitForTimeout(400);
  const shown = await page.evaluate(() => [...orrery.state.current.parts.find((x) => x.opened).opened]), link = page.url();
  assert.equal(shown.length, 2);
  await page.goBack();
  await page.waitForFunction(() => orrery.state.current.name === "numbers");
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter"); // a place on this page is no other view
  await page.waitForTimeout(400);
  assert.equal(await tab(), "Numbers");
  assert.match(page.url(), /#tab=numbers/);
  await page.goBack();
  await page.waitForFunction(() => orrery.state.current.name === "numbers");
  await page.getByRole("tab", { name: "Step" }).click();
  await page.goBack();
  await page.waitForFunction(() => orrery.state.current.name === "numbers");
  await page.goForward();
  await page.waitForFunction(() => orrery.state.current.name === "step");
  const again = await visit(browser, link);
  assert.deepEqual(await again.page.evaluate(() => [...orrery.state.current.parts.find((x) => x.opened).opened].sort()), shown.sort());
  await again.close();
  for (const hash of [`#tab=step&open=99999.x.${id},7&all=2,1`, "#tab=step&open=%00&runs=-1,1e9", "#runs=5"]) {
    const odd = await visit(browser, pages["llama3-405b-54-days"] + hash);
    assert.equal(await odd.page.evaluate(() => orrery.state.tabs.find((x) => x.name === "step").parts.find((x) => x.opened).opened.has(99999)), false);
    assert.deepEqual(odd.complaints, []);
    await odd.close();
  }
  assert.deepEqual(v.complaints, []);
  await v.close();
});

test("a browser of 2023 shows the page; one that cannot says so", async () => {
  for (const url of [pages.step, pages["llama3-405b-54-days"]]) {
    const v = await visit(browser, url, { prepare: () => { delete Map.groupBy; delete Object.groupBy; delete CanvasRenderingContext2D.prototype.roundRect; for (const name of ["toSorted", "toReversed", "with"]) delete Array.prototype[name]; } });
    assert.equal(await v.page.locator("#trouble").isVisible(), false);
    for (const tab of await v.page.locator("#tabs button").all()) await tab.click();
    assert.deepEqual(v.complaints, []);
    await v.close();
  }
  for (const prepare of [() => { delete Element.prototype.replaceChildren; }, () => { delete CanvasRenderingContext2D.prototype.roundRect; CanvasRenderingContext2D.prototype.fillText = undefined; }]) {
    const v = await visit(browser, pages.step, { prepare });
    await v.page.waitForFunction(() => !document.getElementById("trouble").hidden, null, { timeout: 5000 });
    assert.match(await v.page.locator("#trouble").textContent(), /cannot be (shown|drawn): .+/);
    assert.equal(await v.page.locator("#loading").isVisible(), false);
    await v.close();
  }
  // What no picture and no tab catches, too.
  const event = await visit(browser, pages.step, { prepare: () => { delete HTMLDialogElement.prototype.showModal; } });
  await event.page.keyboard.press("?");
  await event.page.waitForFunction(() => /went wrong: .*showModal/.test(document.querySelector("#trouble:not([hidden])")?.textContent), null, { timeout: 5000 });
  await event.close();
  // A browser in which the script does not even begin is left with the words that stand there before.
  for (const prepare of [() => { delete window.matchMedia; }, () => { window.EventTarget = undefined; }]) {
    const context = await browser.newContext(), page = await context.newPage();
    await page.addInitScript(prepare);
    await page.goto(pages.step);
    await page.waitForTimeout(300);
    assert.match(await page.locator("body").innerText(), /browser is too old for it: it needs Chrome \d+/);
    await context.close();
  }
});

test("a server that ends: what to do is said, and when it is back the window is asked for again", async () => {
  const first = await serve("step.db"), port = new URL(first.url).port;
  const v = await visit(browser, first.url, { offline: false }), { page } = v;
  first.stop();
  await first.ended;
  await page.locator("canvas.picture:visible").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.getElementById("trouble").hidden, null, { timeout: 10000 });
  assert.match(await page.locator("#trouble").textContent(), new RegExp(`has ended.*orrery replay FILE --port ${port}\\): this page asks again`));
  await page.getByRole("tab", { name: "What if" }).click();
  await page.click("#simulate");
  await page.waitForFunction(() => /has ended/.test(document.querySelector("#view-what-if [role=status]").textContent), null, { timeout: 10000 });
  await page.getByRole("tab", { name: "Step" }).click();
  const second = await serve("step.db", "--port", port);
  try {
    const answer = await page.waitForResponse((r) => r.url().includes("/api/slices") && r.url().includes("level=op"), { timeout: 20000 });
    assert.ok((await answer.json()).rows.length > 0);
    await page.waitForFunction(() => document.getElementById("trouble").hidden, null, { timeout: 10000 });
    assert.ok(await page.evaluate(() => { const p = orrery.state.current.parts.find((x) => x.opened); p.drawn = ""; p.draw(); return p.hits.some((h) => !h.row.head); }), "the streams are drawn");
  } finally {
    second.stop();
  }
  await v.close();
});

test("boxes that scroll can be reached and scrolled by keys", async () => {
  const v = await visit(browser, pages.step), { page } = v;
  await page.getByRole("tab", { name: "Numbers" }).click();
  const box = page.locator(".scroll:visible").first();
  assert.deepEqual([await box.getAttribute("aria-label"), await box.getAttribute("tabindex")], ["Results", "0"]); // not every browser gives focus to what scrolls
  await page.locator("summary:visible").first().focus();
  await page.keyboard.press("Tab");
  assert.ok(await box.evaluate((e) => document.activeElement === e && e.scrollHeight > e.clientHeight));
  await page.keyboard.press("PageDown");
  await page.waitForFunction(() => document.activeElement.scrollTop > 50);
  await v.close();
});

test("a map of 16,384 GPUs is one bitmap: each GPU and each bar has the colour of its moment", async () => {
  run("large", "llama3-405b-16384xh100.yaml");
  const v = await visit(browser, html("large", "large.db"));
  for (const [share, width] of [[0.1, 1280], [0.4, 1280], [0.4, 1000]]) {
    await v.page.setViewportSize({ width, height: 800 });
    await v.page.waitForTimeout(100);
    const { rectangles, wrong, met, gaps } = await v.page.evaluate((at) => {
      const part = orrery.state.current.parts.find((p) => p.strips), c = part.canvas, rgb = (colour) => { const p = document.createElement("canvas").getContext("2d"); p.fillStyle = colour; p.fillRect(0, 0, 1, 1); return p.getImageData(0, 0, 1, 1).data.join(); };
      const rect = CanvasRenderingContext2D.prototype.fillRect;
      let rectangles = 0;
      orrery.state.current.clock.t = at * orrery.state.current.clock.end;
      CanvasRenderingContext2D.prototype.fillRect = function (...r) { rectangles++; return rect.apply(this, r); };
      part.draw();
      CanvasRenderingContext2D.prototype.fillRect = rect;
      const { data, width } = c.getContext("2d").getImageData(0, 0, c.width, c.height), ratio = c.width / c.clientWidth, { m } = part;
      const there = (x, y) => [...data.slice((Math.floor(y * ratio) * width + Math.floor(x * ratio)) * 4, (Math.floor(y * ratio) * width + Math.floor(x * ratio)) * 4 + 4)].join(), shades = new Map([...part.colours()].map(([k, colour]) => [k, rgb(colour)]));
      const met = new Set();
      let wrong = 0, gaps = 0;
      for (let gpu = 0; gpu < part.seats.length; gpu += 7) {
        const [x, y] = part.place(gpu), px = (Math.floor((x + m.cell / 2) * ratio) + 0.5) / ratio, py = (Math.floor((y + m.cell / 2) * ratio) + 0.5) / ratio; // of the pixel that is hit, its middle
        if (px < x || px >= x + m.cell || py < y || py >= y + m.cell) continue;
        met.add(shades.get(part.seats[gpu]));
        wrong += there(px, py) === shades.get(part.seats[gpu]) ? 0 : 1;
        wrong += part.under(x + m.cell / 2, y + m.cell / 2).gpu === gpu ? 0 : 1;
        if (gpu % 8 > 0) continue;
        gaps += 1;
        wrong += [m.wide + 0.15, m.wide + 0.4, -0.15].every((beside) => part.under(x + beside * m.cell, y + m.cell / 2) === null) ? 0 : 1;
      }
      const now = orrery.clock().t, steps = ["fifth", "two_fifths", "three_fifths", "four_fifths", "full"];
      for (let node = 0; node < m.nodes; node += 13) {
        for (const [slot, wires] of part.wires.entries()) {
          const [x, top] = part.place(node * m.per), y = top + (m.high + (slot + 0.5) * m.strip) * m.cell, py = (Math.floor(y * ratio) + 0.5) / ratio, share = (wires[node].points.findLast((p) => p.ts <= now)?.value ?? 0) / wires[node].link.bytes_per_s;
          wrong += part.under(x + m.cell, y).slot === slot ? 0 : 1;
          if (Math.abs(py - y) < (m.strip / 2) * m.cell) wrong += there(x + m.cell, py) === rgb(share < 1e-6 ? "#e3e3df" : part.run.shades.load[steps[Math.min(4, Math.floor(5 * share))]]) ? 0 : 1;
        }
      }
      return { rectangles, wrong, met: met.size, gaps };
    }, share);
    assert.ok(rectangles < 100, `${rectangles} rectangles`);
    assert.equal(wrong, 0);
    assert.ok(met >= 2 && gaps > 50, `${met} colours, ${gaps} gaps`);
  }
  assert.deepEqual(v.complaints.filter((c) => !c.includes("willReadFrequently")), []);
  await v.close();
});

test("axes stand at round numbers, and speed is no equation", async () => {
  for (const [name, most] of [["step", 5], ["silent-corruption", 8]]) {
    const v = await visit(browser, pages[name]);
    const texts = await v.page.evaluate(() => {
      const part = orrery.state.current.parts.find((p) => p.kept || p.ledgers), g = CanvasRenderingContext2D.prototype, fill = g.fillText, met = [];
      g.fillText = function (text, ...at) { met.push(text); return fill.call(this, text, ...at); };
      part.draw();
      g.fillText = fill;
      return met;
    });
    const marks = texts.map((t) => t.match(/^([\d,]+)( GiB)?$/)?.[1]?.replaceAll(",", "")).filter(Boolean).map(Number);
    assert.ok(marks.length >= 3 && marks.length <= most && marks.every((m) => m === 0 || /^[1-9]\d?0*$/.test(String(m))), `${name}: ${texts}`);
    assert.match(await v.page.locator("#speed").textContent(), /^[\d.]+ (µs|ms|s|min|h|d) per second$/);
    await v.close();
  }
});

test("a mouse drags across what it wants to see, a wheel scrolls the page, Ctrl zooms, fingers pinch, buttons do the same", async () => {
  for (const name of ["step", "silent-corruption"]) {
    const v = await visit(browser, pages[name]), { page } = v, c = page.locator("canvas.picture:visible").first(), window_ = () => page.evaluate(() => orrery.window());
    const box = await c.boundingBox(), y = box.y + 60, at = (x) => page.evaluate((px) => orrery.state.current.parts.find((p) => p.zoom).ns(px), x);
    const whole = await window_(), [from, to] = [await at(300), await at(500)];
    await page.mouse.move(box.x + 300, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 420, y);
    assert.equal(await page.locator(".pick").evaluate((e) => !e.hidden && e.getBoundingClientRect().width), 120);
    await page.mouse.move(box.x + 500, y);
    await page.mouse.up();
    assert.equal(await page.locator(".pick").isVisible(), false);
    const near = await window_(), hair = (whole.to - whole.from) / 300;
    assert.ok(Math.abs(near.from - from) < hair && Math.abs(near.to - to) < hair, `${name}: ${JSON.stringify([near, from, to])}`);
    await page.mouse.click(box.x + 400, y); // a click moves the clock, and the wheel scrolls the page as before
    assert.ok(Math.abs((await page.evaluate(() => orrery.clock().t)) - (await at(400))) < hair);
    await page.mouse.wheel(0, 200);
    await page.waitForFunction(() => scrollY > 0);
    assert.deepEqual(await window_(), near);
    await page.evaluate(() => scrollTo(0, 0));
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await page.waitForFunction((span) => orrery.window().to - orrery.window().from < span * 0.9, near.to - near.from);
    await page.locator("#whole").click();
    assert.deepEqual(await window_(), whole);
    await page.locator("#closer").click();
    assert.equal((await window_()).to - (await window_()).from, (whole.to - whole.from) / 2);
    await page.locator("#further").click();
    assert.deepEqual(await window_(), whole);
    const cdp = await page.context().newCDPSession(page), touch = (type, ...xs) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((x, id) => ({ x: box.x + x, y, id })) });
    await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
    await touch("touchStart", 400);
    await touch("touchStart", 400, 500);
    await touch("touchMove", 350, 550);
    await touch("touchEnd");
    const pinched = await window_();
    assert.ok(Math.abs((pinched.to - pinched.from) / (whole.to - whole.from) - 0.5) < 0.05, JSON.stringify(pinched));
    await touch("touchStart", 500);
    await touch("touchMove", 450);
    await touch("touchEnd");
    const moved = await window_();
    assert.ok(Math.abs(moved.to - moved.from - (pinched.to - pinched.from)) < 2 && moved.from > pinched.from);
    await page.getByRole("tab", { name: "Numbers" }).click();
    assert.equal(await page.locator("#closer").isVisible(), false);
    assert.deepEqual(v.complaints, []);
    await v.close();
  }
});

test("print keeps the colours of legends, lets a lesson begin on its first page, and fades nothing", async () => {
  orrery("lesson", "bubble", "--html", "bubble.html", "--db", "bubble.db");
  const lesson = await visit(browser, `file://${folder}/bubble.html`);
  await lesson.page.emulateMedia({ media: "print" });
  assert.equal(await lesson.page.locator(".panel:visible").first().evaluate((e) => getComputedStyle(e).breakInside), "auto");
  await lesson.close();
  const v = await visit(browser, pages.step), { page } = v;
  await page.emulateMedia({ media: "print" });
  assert.deepEqual([...new Set(await page.locator(".swatch:visible").evaluateAll((all) => all.map((e) => getComputedStyle(e).printColorAdjust)))], ["exact"]);
  const printed = await page.evaluate(() => {
    const { current } = orrery.state, part = current.parts.find((p) => p.zoom), now = current.clock.t;
    dispatchEvent(new Event("beforeprint"));
    const paper = part.canvas.toDataURL(), kept = current.clock.t === now && now < current.clock.end;
    part.draw();
    const screen = part.canvas.toDataURL();
    current.clock.t = current.clock.end;
    part.draw();
    return { kept, whole: paper === part.canvas.toDataURL(), faded: screen !== paper };
  });
  assert.deepEqual(printed, { kept: true, whole: true, faded: true });
  await v.close();
});
