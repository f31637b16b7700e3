// The page in a real browser: play, pause, step, scrub, keys alone, two runs, a failure that strikes, a narrow window, a strict
// policy, no network; every sum as the database has it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { folder, html, launch, orrery, run, serve, sql, tamper, visit } from "./browser.mjs";

let browser, step, weeks, both, wall, wallLesson;
const pp4 = ["layout.pp=4", "training.global_batch=32"];
before(async () => {
  run("step", "llama3-70b-64xh100.yaml", ...pp4);
  run("other", "llama3-70b-64xh100.yaml", ...pp4, "layout.schedule=gpipe", "layout.microbatch=1");
  run("weeks", "weeks/llama3-405b-54-days.yaml");
  run("wall", "memory/memory-wall-70b-1gpu.yaml");
  step = html("step", "step.db");
  both = html("both", "step.db", "other.db");
  weeks = html("weeks", "weeks.db");
  wall = html("wall", "wall.db");
  run("wallLesson", "lessons/memory-wall.yaml");
  wallLesson = html("wallLesson", "wallLesson.db");
  browser = await launch();
});
after(() => browser?.close());

test("a file below 2 MB opens with the network off and asks for nothing", async () => {
  for (const [name, url] of Object.entries({ step, weeks, both, wall })) {
    assert.ok(statSync(join(folder, `${name}.html`)).size < 2e6, name);
    const v = await visit(browser, url);
    assert.equal(await v.page.locator("#trouble").isVisible(), false, name);
    for (const tab of await v.page.locator("#tabs button").all()) await tab.click();
    await v.page.waitForTimeout(100);
    assert.deepEqual(v.complaints, [], name);
    await v.close();
  }
});

test("the policy lets nothing run that the page did not bring", async () => {
  const v = await visit(browser, step);
  const violated = await v.page.evaluate(() => new Promise((resolve) => {
    const met = [];
    document.addEventListener("securitypolicyviolation", (e) => met.push(e.violatedDirective));
    const script = document.createElement("script"), image = document.createElement("img"), style = document.createElement("style");
    script.textContent = "globalThis.intruder = 1";
    image.src = "http://127.0.0.1:9/x.png";
    style.textContent = "body { display: none }";
    document.body.append(script, image, style);
    fetch("http://127.0.0.1:9/").catch(() => {});
    setTimeout(() => resolve({ met, intruder: globalThis.intruder ?? null }), 200);
  }));
  assert.equal(violated.intruder, null);
  for (const rule of ["script-src", "img-src", "style-src", "connect-src"]) assert.ok(violated.met.some((m) => m.startsWith(rule)), rule);
  await v.close();
});

test("plays, pauses, steps from event to event, is scrubbed", async () => {
  const v = await visit(browser, step), { page, clock } = v;
  await page.keyboard.press("Home");
  assert.equal((await clock()).t, 0);
  await page.click("#play");
  await page.waitForTimeout(400);
  const playing = await clock();
  assert.ok(playing.playing && playing.t > 0 && playing.t < playing.end);
  await page.click("#play");
  const paused = await clock();
  await page.waitForTimeout(150);
  assert.equal((await clock()).t, paused.t);
  assert.equal(paused.playing, false);
  await page.keyboard.press("Home");
  const first = sql("step.db", "select min(s.ts) as t from slice_raw s join track t on t.id = s.track_id where t.name = 'compute' and s.ts > 0")[0].t;
  await page.click("#on");
  assert.equal((await clock()).t, first);
  await page.click("#back");
  assert.equal((await clock()).t, 0);
  await page.locator("#scrub").fill("50000");
  assert.equal((await clock()).t, (await clock()).end / 2);
  await page.keyboard.press("End");
  assert.equal((await clock()).end, sql("step.db", "select cast(round(max(finish_s) * 1e9) as integer) as t from rank_class")[0].t);
  const rate = (await clock()).rate;
  await page.click("#faster");
  assert.equal((await clock()).rate, 2 * rate);
  assert.deepEqual(v.complaints, []);
  await v.close();
});

test("everything can be done by keyboard alone", async () => {
  const v = await visit(browser, weeks), { page, clock } = v, met = [];
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    const here = await page.evaluate(() => ({ id: document.activeElement.id || document.activeElement.tagName, tab: document.activeElement.getAttribute("role"),
      seen: document.activeElement.matches(":focus-visible") && (getComputedStyle(document.activeElement).outlineStyle !== "none" || document.activeElement.tagName === "INPUT") }));
    met.push(here);
    if (here.id === "BODY") break;
  }
  for (const id of ["back", "play", "on", "slower", "faster", "scrub", "help", "CANVAS", "SUMMARY"]) assert.ok(met.some((m) => m.id === id), `${id} is not reached`);
  assert.ok(met.some((m) => m.tab === "tab"));
  assert.ok(met.filter((m) => m.id !== "BODY").every((m) => m.seen), "focus is seen");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("2");
  assert.equal(await page.locator("#tabs [aria-selected=true]").textContent(), "Step");
  const whole = await page.evaluate(() => orrery.window());
  await page.keyboard.press("z");
  const near = await page.evaluate(() => orrery.window());
  assert.equal(near.to - near.from, (whole.to - whole.from) / 2);
  await page.keyboard.press("]");
  assert.notEqual((await page.evaluate(() => orrery.window())).from, near.from);
  await page.keyboard.press("0");
  assert.deepEqual(await page.evaluate(() => orrery.window()), whole);
  await page.keyboard.press(" ");
  await page.waitForTimeout(150);
  assert.equal((await clock()).playing, true);
  await page.keyboard.press(" ");
  const t = (await clock()).t;
  await page.keyboard.press("ArrowRight");
  assert.ok((await clock()).t > t);
  const before = await page.locator("canvas.picture:visible").first().evaluate((c) => c.clientHeight);
  await page.locator("canvas.picture:visible").first().focus();
  await page.keyboard.press("Enter");
  assert.ok((await page.locator("canvas.picture:visible").first().evaluate((c) => c.clientHeight)) > before, "a stage opens its streams");
  await page.keyboard.press("?");
  assert.ok(await page.locator("#keys").isVisible());
  await page.keyboard.press("Escape");
  assert.deepEqual(v.complaints, []);
  await v.close();
});

test("two runs play on one clock", async () => {
  const v = await visit(browser, both), { page, clock } = v;
  const ends = ["step.db", "other.db"].map((db) => sql(db, "select cast(round(max(finish_s) * 1e9) as integer) as t from rank_class")[0].t);
  assert.equal((await clock()).end, Math.max(...ends));
  const headings = await page.locator("h2:visible").allTextContents();
  assert.equal(headings.filter((h) => h.startsWith("Pipeline of")).length, 2);
  assert.notEqual(ends[0], ends[1]);
  // Of one name, they are told apart by what differs, and stand beside each other picture by picture.
  assert.match(await page.locator("#title").textContent(), /^A: .*, 1f1b {2}\| {2}B: .*, gpipe$/);
  for (const title of ["Pipeline of", "Microbatches", "Memory", "Cluster", "Where the step", "Load"]) {
    const pair = page.locator("section:visible").filter({ has: page.locator("h2", { hasText: new RegExp(`^${title}`) }) });
    assert.deepEqual((await pair.locator(".letter").allTextContents()), ["A", "B"], title);
    assert.deepEqual((await pair.locator(".differs").allTextContents()), ["1f1b", "gpipe"], title);
    const [a, b] = await pair.evaluateAll((all) => all.map((e) => { const r = e.getBoundingClientRect(); return { x: r.x, y: r.y }; }));
    if (title !== "Pipeline of") assert.ok(a.y === b.y && a.x < b.x, `${title}: ${JSON.stringify([a, b])}`);
  }
  assert.equal(await page.locator("#facts span").count(), 2);
  assert.match(await page.locator("#facts").textContent(), /B: .*gpipe.*does not fit in memory/);
  assert.match(await page.locator(".alarm:visible").textContent(), /were the card large enough/);
  const said = sql("step.db", "select text from note order by ts limit 1")[0].text;
  assert.equal(await page.locator("#caption").textContent(), `1  ${said}`); // both say it
  await v.close();
});

test("sums are those of the database, to the digit", async () => {
  for (const [name, url] of [["step", step], ["weeks", weeks]]) {
    const v = await visit(browser, url);
    const shown = await v.page.evaluate(() => Object.fromEntries([...orrery.state.runs[0].ops.tracks].map(([id, spans]) =>
      [id, spans.reduce((a, s) => [a[0] + s.busy, a[1] + s.wait, a[2] + s.count], [0, 0, 0])])));
    const held = sql(`${name}.db`, "select s.track_id as id, sum(s.dur) as busy, sum(s.wait) as wait, count(*) as count from slice_raw s where s.depth = 0 group by 1");
    let met = 0;
    for (const { id, busy, wait, count } of held) if (shown[id]) { assert.deepEqual(shown[id], [busy, wait, count], `track ${id}`); met++; }
    assert.equal(met, Object.keys(shown).length);
    const table = await v.page.locator("#view-step table").evaluateAll((all) => all.map((t) => [...t.rows].map((r) => [...r.cells].map((c) => c.textContent))));
    const parts = table.find((t) => t[0][0] === "part");
    for (const { part, seconds } of sql(`${name}.db`, "select part, seconds from breakdown")) assert.equal(Number(parts.find((r) => r[0] === part)[1]), seconds, part);
    const peaks = table.find((t) => t[0].includes("peak reserved B"));
    for (const c of sql(`${name}.db`, "select first_rank, peak_reserved_bytes as peak from rank_class")) assert.equal(Number(peaks.find((r) => r[1] === String(c.first_rank))[4]), c.peak);
    await v.close();
  }
  const v = await visit(browser, weeks), wanted = sql("weeks.db", "select class, link, seconds from badput");
  const shown = await v.page.locator("#view-weeks table").evaluateAll((all) => [...all.at(-1).rows].slice(1, -1).map((r) => Number(r.cells[2].textContent)));
  assert.deepEqual(shown, wanted.map((b) => b.seconds));
  assert.match(await v.page.locator("#view-weeks .reading:not(.marks)").textContent(), new RegExp(`^At the end: ${(100 * sql("weeks.db", "select ettr_ratio as r from run")[0].r).toFixed(1)} %$`));
  await v.close();
});

test("law: waits by cause sum to the database and with what is paced to the breakdown, and no stand-still is blank", async () => {
  for (const scenario of ["step/straggler", "lessons/straggler", "step/fsdp-7b", "step/mixtral-8x7b-64xh100", "hello-8-gpus"]) {
    const db = run("waits", `${scenario}.yaml`), v = await visit(browser, html("waits", db)), { page } = v;
    const { tracks, unit, said, step } = await page.evaluate(() => ({ tracks: [...orrery.state.runs[0].waits.tracks], unit: orrery.state.runs[0].waits.resolution, said: document.querySelector(".waits").textContent, step: orrery.state.runs[0].run.step_s }));
    const { ep } = sql(db, "select ep from run")[0], facts = await page.locator("#facts").textContent();
    assert.equal(facts.match(/ EP (\d+)/)?.[1], ep > 1 ? String(ep) : undefined, `${scenario}: ${facts}`);
    const sums = {}, sum = (key, s) => { sums[key] ??= [0, 0]; sums[key][0] += s.busy; sums[key][1] += s.count; };
    for (const [track, spans] of tracks) for (const s of spans) sum(`${track} ${s.name}`, s);
    const held = sql(db, "select i.track_id as track, n.text as name, sum(i.dur) as busy, count(*) as count from idle_raw i join string n on n.id = i.cause where i.dur > 0 group by 1, 2");
    assert.deepEqual(Object.fromEntries(held.map((h) => [`${h.track} ${h.name}`, [h.busy, h.count]]).sort()), Object.fromEntries(Object.entries(sums).sort()), scenario);
    // Every stand-still of a unit is covered by pieces, cause by cause.
    const stills = sql(db, "select track_id as track, min(ts) as begin, max(ts + dur) as end from (select *, sum(gap) over (partition by track_id order by ts) as still from (select *, lag(ts + dur) over (partition by track_id order by ts) is not ts as gap from idle_raw)) group by track_id, still");
    const by = new Map(tracks);
    let met = 0;
    for (const { track, begin, end } of stills) {
      if (end - begin < unit) continue;
      const inside = by.get(track).filter((s) => s.begin >= begin && s.end <= end && s.end > s.begin), covered = new Map(inside.map((s) => [s.begin, s.end - s.begin]));
      assert.equal([...covered.values()].reduce((x, y) => x + y, 0), end - begin, `${scenario}: ${track} at ${begin}`);
      assert.ok(Math.abs(inside.reduce((x, s) => x + s.share * (s.end - s.begin), 0) - (end - begin)) < 1);
      met++;
    }
    assert.ok(met > 0, scenario);
    // The three sentences below the picture add up to the breakdown.
    const told = {};
    for (const [, cause, value] of said.matchAll(/((?:exposed )?[a-z]+) ([\d.]+) %/g)) told[cause] = (told[cause] ?? 0) + Number(value);
    for (const { part, seconds } of sql(db, "select part, seconds from breakdown where part in (select cause from idle)")) assert.ok(Math.abs((told[part.replace("_", " ")] ?? 0) - (100 * seconds) / step) < 0.1 + 0.01 * ((100 * seconds) / step), `${scenario}, ${part}: ${said}`);
    assert.deepEqual(v.complaints, []);
    await v.close();
  }
});

test("waits have the colour of their cause, and the slow GPU is seen", async () => {
  run("slow", "step/straggler.yaml", "training.global_batch=32");
  const v = await visit(browser, html("slow", "slow.db")), { page } = v;
  const section = page.locator("section:visible").filter({ has: page.locator("h2", { hasText: /^Pipeline/ }) }), legend = await section.locator(".legend").first().innerText();
  for (const { part, percent } of sql("slow.db", "select part, percent from breakdown where part in (select cause from idle)")) assert.ok(legend.includes(`${part.replace("_", " ")} ${percent.toPrecision(3)}`.slice(0, part.length + 4)), `${part} of ${legend}`);
  // The row of the slow card stands by itself, its label is whole, and what others wait for is told when pointed at.
  const rows = await page.evaluate(() => {
    const part = orrery.state.current.parts.find((p) => p.layout && p.close);
    part.draw();
    const g = part.canvas.getContext("2d");
    return part.layout.rows.map((r) => ({ label: r.label, width: g.measureText(`▸ ${r.label}`).width, left: part.left, y: r.y + r.height / 2, track: r.track.id }));
  });
  assert.deepEqual(rows.filter((r) => r.label.includes("slowest")).map((r) => r.label).slice(0, 1), ["stage 0, slowest: rank 19 at 80.0 %"]);
  for (const row of rows) assert.ok(row.width <= row.left - 12, row.label);
  const [x, y] = await page.evaluate((track) => {
    const part = orrery.state.current.parts.find((p) => p.layout && p.close), row = part.layout.rows[0];
    const s = orrery.state.runs[0].waits.tracks.get(track).filter((w) => w.name === "straggler" && w.end > w.begin).reduce((a, b) => (b.busy > a.busy ? b : a));
    return [part.x((s.begin + s.end) / 2), row.y + (s.above + s.share / 2) * row.height];
  }, rows[0].track);
  await section.locator("canvas").hover({ position: { x, y } });
  assert.match(await page.locator("#tip").innerText(), /^straggler: waiting for a peer whose card is slower at the same work/);
  // On the map its GPU has a frame.
  const cell = await page.evaluate(() => {
    const part = orrery.state.current.parts.find((p) => p.slow);
    part.draw();
    const [px, y] = part.place(19), ratio = part.canvas.width / part.canvas.clientWidth;
    const near = (dx) => [...part.canvas.getContext("2d").getImageData(Math.round((px + dx) * ratio), Math.round((y + part.m.cell / 2) * ratio), 1, 1).data].slice(0, 3);
    const [ox] = part.place(18);
    return { framed: near(0), other: near(ox - px) };
  });
  const red = ([r, g, b]) => r > 150 && g < 90 && b < 90; // the alarm, blended at its edge
  assert.ok(red(cell.framed) && !red(cell.other), JSON.stringify(cell));
  assert.match(await page.locator("#facts").textContent(), /straggler|exposed tp/);
  assert.equal(await page.locator("#title").textContent(), `${sql("slow.db", "select scenario from run")[0].scenario}, changed: training.global_batch=32`);
  assert.deepEqual(v.complaints.filter((c) => !c.includes("willReadFrequently")), []);
  await v.close();
});

test("the peaks of thinned memory curves are those of the database", async () => {
  const v = await visit(browser, step);
  const shown = await v.page.evaluate(() => [...orrery.state.runs[0].memory].map(([id, points]) => [id, Math.max(...points.map((p) => p.high))]));
  for (const { id, peak } of sql("step.db", "select track_id as id, max(value) as peak from counter_raw v join track t on t.id = v.track_id where t.kind = 'ledger' and t.rank_class in (select min(id) from rank_class group by stage) group by 1")) assert.equal(new Map(shown).get(id), peak);
  await v.close();
});

test("the bars of memory move by tenant, and add up to what is allocated", async () => {
  const v = await visit(browser, step), stages = sql("step.db", "select stage, min(id) as id from rank_class group by stage"), held = new Set();
  for (const share of [0, 0.17, 0.4, 0.73, 1]) {
    const shown = await v.page.evaluate((at) => {
      const { current } = orrery.state, part = current.parts.find((p) => p.ledgers);
      current.clock.seek(at * current.clock.end);
      return { t: current.clock.t, exact: part.run.memoryResolution, stages: part.run.stages.map((c) => ({ id: c.id, allocated: part.now(c, "allocated"), parts: part.held(null, c).map(([bytes, , name]) => [name, bytes]) })) };
    }, share);
    assert.equal(shown.stages.length, stages.length);
    for (const c of shown.stages) {
      assert.equal(c.parts.length, 8);
      const sum = c.parts.reduce((a, [, bytes]) => a + bytes, 0);
      assert.ok(Math.abs(sum - c.allocated) <= 0.05 * c.allocated, `${sum} is not ${c.allocated}`); // curves are thinned one by one
      held.add(new Map(c.parts).get("activations"));
    }
  }
  assert.ok(held.size > stages.length, "activations move");
  // In the file itself, not thinned: at every moment, to the byte.
  const odd = sql("step.db", `with d as (select t.rank_class as c, t.name as n, v.ts, v.value - coalesce(lag(v.value) over (partition by v.track_id order by v.rowid), 0) as by
    from counter_raw v join track t on t.id = v.track_id where t.kind = 'ledger' and t.name <> 'reserved'), each as (select c, ts, sum(case when n = 'allocated' then by else 0 end) as whole, sum(case when n <> 'allocated' then by else 0 end) as parts
    from d where c in (select distinct c from d where n = 'activations') group by c, ts) select count(*) as n, sum(whole <> parts) as odd from each`)[0];
  assert.ok(odd.n > 1000);
  assert.equal(odd.odd, 0);
  await v.close();
});

test("wires tell their load at every moment, and in all what the database says", async () => {
  const v = await visit(browser, step), kinds = sql("step.db", "select kind, max(moved_bytes / bytes_per_s) as s from link where moved_bytes > 0 group by kind order by kind"), step_s = sql("step.db", "select step_s from run")[0].step_s;
  const shown = await v.page.evaluate(() => {
    const part = orrery.state.current.parts.find((p) => p.loadAt), end = part.run.step_ns;
    return part.kinds.map((k) => ({ kind: k.kind, load: k.link.moved_bytes / (k.link.bytes_per_s * part.run.run.step_s), moments: [...Array(4096).keys()].map((i) => part.loadAt(k, ((i + 0.5) * end) / 4096)) }));
  });
  assert.deepEqual(shown.map((k) => k.kind).sort(), kinds.map((k) => k.kind));
  for (const { kind, load, moments } of shown) {
    const mean = moments.reduce((a, b) => a + b, 0) / moments.length;
    assert.ok(Math.abs(load / (kinds.find((k) => k.kind === kind).s / step_s) - 1) < 1e-12, kind);
    assert.ok(Math.abs(mean / load - 1) < 0.01, `${kind}: ${mean} is not ${load}`); // moments cut bins
    assert.ok(Math.max(...moments) > 1.5 * load && Math.max(...moments) <= 1 + 1e-9, `${kind}: ${Math.max(...moments)}`);
  }
  await v.close();
});

test("the map colours the wires of each node by what they carry at the moment of the clock", async () => {
  const v = await visit(browser, step), { page } = v, like = 'l.kind || \', \' || l."from" || \' to \' || l."to"';
  const end = (await v.clock()).end, held = sql("step.db", `select n.node, n.kind, n.track_id as track, l."from" as wire, l.bytes_per_s as cap, l.moved_bytes as moved, l.busy_s as busy from node_wire n join track t on t.id = n.track_id join link l on ${like} = t.name order by n.node`);
  assert.ok(new Set(held.map((h) => h.kind)).size === 2 && new Set(held.map((h) => h.track)).size > 4);
  const met = new Set();
  for (const t of [0, 0.13, 0.4, 0.71, 0.97].map((share) => Math.floor(share * end))) {
    const shown = await page.evaluate(async (at) => {
      const part = orrery.state.current.parts.find((p) => p.strips), { canvas: c } = part;
      orrery.state.current.clock.seek(at);
      part.draw();
      const g = c.getContext("2d"), ratio = c.width / c.clientWidth, { m } = part;
      return part.wires.flatMap((wires, slot) => wires.map((wire, node) => {
        const [x, y] = part.place(node * m.per), middle = [x + (m.wide * m.cell) / 2, y + (m.high + (slot + 0.5) * m.strip) * m.cell + 0.5];
        return { node, kind: part.strips[slot], now: wire.points.findLast((p) => p.ts <= at)?.value ?? 0, pixel: [...g.getImageData(Math.round(middle[0] * ratio), Math.round(middle[1] * ratio), 1, 1).data].slice(0, 3) };
      }));
    }, t);
    assert.equal(shown.length, held.length);
    for (const { node, kind, now, pixel } of shown) {
      const h = held.find((x) => x.node === node && x.kind === kind);
      assert.equal(now, sql("step.db", `select value from counter_raw where track_id = ${h.track} and ts <= ${t} order by ts desc limit 1`)[0].value, `${kind} of node ${node} at ${t}`);
      const shade = now / h.cap < 1e-6 ? "#e3e3df" : await page.evaluate((i) => orrery.state.runs[0].shades.load[["fifth", "two_fifths", "three_fifths", "four_fifths", "full"][i]], Math.min(4, Math.floor((5 * now) / h.cap)));
      assert.deepEqual(pixel, [1, 3, 5].map((i) => parseInt(shade.slice(i, i + 2), 16)), `${kind} of node ${node} at ${t}: ${now / h.cap}`);
      met.add(shade);
    }
  }
  assert.ok(met.size >= 3, `${[...met]}`);
  const section = page.locator("section:visible").filter({ has: page.locator("h2", { hasText: /^Cluster/ }) });
  const table = await section.locator("table").evaluate((t) => [...t.rows].slice(1).map((r) => [...r.cells].map((c) => c.textContent)));
  for (const h of held) {
    const row = table.find(([nodes, kind]) => kind === h.kind && h.node >= Number(nodes.split(" ")[0]) && h.node <= Number(nodes.split(" ").at(-1)));
    assert.deepEqual([row[2], Number(row[4]), Number(row[5]), Number(row[6])], [h.wire, h.cap, h.moved, h.busy], `${h.kind} of node ${h.node}`);
  }
  await section.locator("canvas").focus(); // and by keys alone
  for (let i = 0; i < 2; i++) await page.keyboard.press("ArrowDown");
  assert.match(await page.locator("#tip").innerText(), /node 1\n[^]*nvlink [\d.]+ % of what it can carry now, [\d.]+ % in the mean of the step/);
  await page.keyboard.press("ArrowUp");
  assert.match(await page.locator("#tip").innerText(), /node 0\n/);
  assert.deepEqual(v.complaints.filter((c) => !c.includes("willReadFrequently")), []); // of this test alone
  await v.close();
});

test("what is out of sight is printed, too", async () => {
  const v = await visit(browser, step);
  const inked = () => v.page.locator("canvas.picture:visible").evaluateAll((all) => all.map((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((x) => x > 0)));
  assert.ok((await inked()).includes(false), "some are out of sight");
  await v.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.ok((await inked()).every(Boolean));
  await v.close();
});

test("a failure strikes its node, and the story tells it", async () => {
  const v = await visit(browser, weeks), { page } = v;
  const failure = sql("weeks.db", "select ts, cause, node from failure where node is not null order by ts limit 1")[0];
  const colour = (ts) => page.evaluate(async ([t, node]) => {
    const part = orrery.state.current.parts.find((p) => p.strike), c = part.canvas;
    orrery.state.current.clock.seek(t);
    await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
    const n = part.run.run.nodes, w = c.clientWidth, h = c.clientHeight, columns = Math.max(1, Math.ceil(Math.sqrt((n * w) / h)));
    const cell = Math.min(w / columns, h / Math.ceil(n / columns), 30), ratio = c.width / w;
    return [...c.getContext("2d").getImageData(((node % columns) + 0.5) * cell * ratio, (Math.floor(node / columns) + 0.5) * cell * ratio, 1, 1).data];
  }, [ts, failure.node]);
  const quiet = await colour(failure.ts - 1e9), struck = await colour(failure.ts + 1e9);
  assert.ok(Math.max(...quiet.slice(0, 3)) - Math.min(...quiet.slice(0, 3)) < 12, `grey before: ${quiet}`);
  assert.ok(struck[0] > struck[1] + 80 && struck[0] > struck[2] + 80, `red: ${struck}`);
  assert.match(await page.locator(".facts:visible").first().textContent(), new RegExp(failure.cause));
  await v.close();
});

test("captions come at their moments", async () => {
  const v = await visit(browser, step), notes = sql("step.db", "select ts, text from note order by ts");
  assert.ok(notes.length > 0);
  for (const note of notes) {
    await v.page.evaluate((t) => orrery.state.current.clock.seek(t), note.ts);
    await v.page.waitForFunction((text) => document.getElementById("caption").textContent.includes(text), note.text, { timeout: 10000 });
  }
  await v.close();
});

test("what does not fit says where memory ends, in words and in red", async () => {
  const v = await visit(browser, wall), o = sql("wall.db", "select tensor, call_site, short_bytes from out_of_memory")[0];
  const text = await v.page.locator("#view-step").textContent();
  for (const word of [o.tensor, o.call_site, String(o.short_bytes)]) assert.ok(text.includes(word), word);
  assert.match(await v.page.locator(".alarm .facts").textContent(), new RegExp(`short by${Number((o.short_bytes / 2 ** 30).toPrecision(3))} GiB`)); // digits stand in the table
  await v.close();
});

test("a narrow window, reduced motion, contrast, and words for every picture", async () => {
  const v = await visit(browser, weeks, { width: 360, height: 740, motion: "reduce" }), { page } = v;
  for (const tab of await page.locator("#tabs button").all()) {
    await tab.click();
    await page.waitForTimeout(60);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360, await tab.textContent());
  }
  const narrow = await visit(browser, wallLesson, { width: 360, height: 740 });
  await narrow.page.getByRole("tab", { name: "Lesson" }).click();
  for (const slider of await narrow.page.locator(".slider input").all()) assert.ok((await slider.boundingBox()).width > 120, "a slider can be moved");
  await narrow.close();
  const without = await page.locator("canvas.picture").evaluateAll((all) => all.filter((c) => !(c.getAttribute("role") === "img" && c.getAttribute("aria-label")?.length > 10)).length);
  assert.equal(without, 0);
  const pale = await page.evaluate(() => {
    const parse = (c) => c.match(/[\d.]+/g).map(Number), light = (c) => { const [r, g, b] = c.map((x) => { const s = x / 255; return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ground = (e) => { for (let n = e; n; n = n.parentElement) { const c = parse(getComputedStyle(n).backgroundColor); if ((c[3] ?? 1) > 0.9) return c; } return [255, 255, 255]; };
    return [...document.querySelectorAll("body *")].filter((e) => e.offsetParent && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())).map((e) => {
      const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
      return [e.textContent.slice(0, 30), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
    }).filter(([, ratio]) => ratio < 4.5);
  });
  assert.deepEqual(pale, []);
  assert.deepEqual(v.complaints, []);
  await v.close();
});

test("what a database says is text, never markup", async () => {
  run("evil", "hello-8-gpus.yaml");
  const bad = "<img src=x onerror=alert(1)></script><script>alert(2)</script>";
  tamper("evil.db", `update string set text = '${bad}'; update run set scenario = '${bad}', title = '${bad}', model = '${bad}', gpu = '${bad}'; update meta set value = '${bad}' where key = 'scenario'; ` +
    `update message set text = '${bad}'; update constant set source = '${bad}', name = '${bad}' || name; update track set name = '${bad}' where kind = 'stream' and name <> 'compute'`);
  const v = await visit(browser, html("evil", "evil.db"));
  for (const tab of await v.page.locator("#tabs button").all()) await tab.click();
  assert.equal(await v.page.locator("img").count(), 0);
  assert.equal(await v.page.locator("h1").textContent(), bad);
  assert.deepEqual(v.complaints, []);
  await v.close();
});

test("pointing at an op tells its cost and the figure that it rests on", async () => {
  const v = await visit(browser, step), { page } = v;
  const op = await page.evaluate(async () => {
    const { current } = orrery.state, part = current.parts[0], c = part.run.stages[1], track = part.run.tracks.find((t) => t.rank_class === c.id && t.name === "compute");
    const s = part.run.ops.tracks.get(track.id).find((x) => x.count === 1 && x.name === "attention" && x.phase === "forward");
    Object.assign(current.view, { from: s.begin - 1e6, to: s.end + 1e6 });
    current.view.changed();
    await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
    const row = part.layout.rows.find((r) => r.class === c), box = part.canvas.getBoundingClientRect();
    return { x: box.left + part.x((s.begin + s.end) / 2), y: box.top + row.y + row.height / 2, track: track.id };
  });
  await page.mouse.move(op.x, op.y);
  const text = (await page.locator("#tip").innerText()).replace(/\s+/g, " ");
  const kind = sql("step.db", `select k.flops / k.ops / 1e12 as flops, k.how from op_kind k join string n on n.id = k.name join string p on p.id = k.phase where k.track_id = ${op.track} and n.text = 'attention' and p.text = 'forward'`)[0];
  assert.match(text, /attention, forward/);
  assert.ok(text.includes(kind.how), text);
  assert.equal(Number(text.match(/computes ([\d.]+) TFLOP/)[1]).toPrecision(3), kind.flops.toPrecision(3));
  assert.match(text, /HBM traffic/);
  assert.match(text, /attention_flash3_causal_forward_rate .*TFLOP/);
  await v.close();
});

test("a lesson shows its questions, and answers that the runs gave", async () => {
  orrery("lesson", "memory-wall", "--db", "lesson.db");
  const v = await visit(browser, html("lesson", "lesson.db")), { page } = v;
  await page.getByRole("tab", { name: "Lesson" }).click();
  for (const q of sql("lesson.db", "select ask, text, value from question")) {
    const item = page.locator(".questions li").filter({ hasText: q.ask });
    assert.equal(await item.locator(".answer").isVisible(), false, "answers wait");
    await item.locator("summary").click();
    assert.equal(await item.locator(".answer").textContent(), q.text);
    const formula = item.locator(".formula"), shown = Number((await formula.textContent()).match(/ = ([-\d.,]+)/)[1].replaceAll(",", ""));
    assert.ok(Math.abs(shown - q.value) <= 1e-4 * Math.abs(q.value), `${shown} is not ${q.value}`);
    assert.ok((await formula.getAttribute("title")).startsWith(String(q.value)));
  }
  assert.deepEqual(v.complaints, []);
  await v.close();
});

test("every lesson of the course is played from its start to its end, and every answer opened", async () => {
  const course = JSON.parse(orrery("lesson", "--json")).rows;
  assert.ok(course.length >= 10, JSON.stringify(course));
  for (const { name } of course) {
    orrery("lesson", name, "--html", `${name}.html`, "--db", `${name}.db`);
    assert.ok(statSync(join(folder, `${name}.html`)).size < 2e6, name);
    const v = await visit(browser, `file://${join(folder, `${name}.html`)}`), { page, clock } = v;
    for (const tab of await page.locator("#tabs button").all()) {
      await tab.click();
      const { end } = await clock();
      if (end <= 0) continue;
      await page.keyboard.press("Home");
      for (let i = 0; i < 5; i++) await page.click("#faster");
      await page.click("#play");
      await page.waitForFunction(() => !orrery.clock().playing, null, { timeout: 15000 });
      assert.equal((await clock()).t, end, name);
    }
    await page.getByRole("tab", { name: "Lesson" }).click();
    const questions = sql(`${name}.db`, "select ask, text from question");
    assert.ok(questions.length > 0);
    for (const summary of await page.locator(".questions summary").all()) await summary.click();
    assert.deepEqual(await page.locator(".answer").allTextContents(), questions.map((q) => q.text), name);
    assert.deepEqual(v.complaints, [], name);
    await v.close();
  }
});

test("another run of a lesson plays beside its own: in a file, and from the server", async () => {
  orrery("lesson", "bubble", "--beside", "gpipe", "--html", "beside.html", "--db", "beside.db");
  const v = await visit(browser, `file://${join(folder, "beside.html")}`);
  assert.deepEqual(await v.page.evaluate(() => orrery.state.runs.map((r) => r.run.schedule)), ["1f1b", "gpipe"]);
  await v.page.getByRole("tab", { name: "Lesson" }).click();
  assert.equal(await v.page.locator(".questions").count(), 1);
  await v.close();
  const server = await serve("beside.db");
  try {
    const w = await visit(browser, server.url, { offline: false });
    await w.page.getByRole("tab", { name: "Lesson" }).click();
    await w.page.getByRole("button", { name: "interleaved" }).click();
    await w.page.waitForFunction(() => orrery.state.runs.length === 2, null, { timeout: 20000 });
    assert.deepEqual(await w.page.evaluate(() => orrery.state.runs.map((r) => r.run.schedule)), ["1f1b", "interleaved"]);
    const held = sql("beside.db", "select name, step_s from lesson_run where name = 'interleaved'")[0];
    assert.equal(await w.page.evaluate(() => orrery.state.runs[1].run.step_s), held.step_s);
    await w.close();
  } finally {
    server.stop();
  }
});

test("the sliders of the memory wall move the bars, by the table that orrery wrote", async () => {
  run("wall1", "lessons/memory-wall.yaml");
  const v = await visit(browser, html("wall1", "wall1.db")), { page } = v;
  await page.getByRole("tab", { name: "Lesson" }).click();
  await page.waitForTimeout(100);
  const total = () => page.evaluate(() => { const w = orrery.state.current.parts.find((p) => p.shape); w.draw(); return w.total; });
  const asked = JSON.parse(spawnSync(process.env.ORRERY, ["memory", join(process.env.SCENARIOS, "lessons/memory-wall.yaml"), "--json"], { encoding: "utf8" }).stdout); // it does not fit: exit code 4
  assert.ok(Math.abs((await total()) / asked.rule_of_thumb_bytes - 1) < 1e-12, `${await total()} is not ${asked.rule_of_thumb_bytes}`);
  const mixed = await total();
  await page.selectOption("#wall-optimizer", "sgd");
  const sgd = sql("wall1.db", "select a.moments_bytes - b.moments_bytes as d, a.master_bytes - b.master_bytes as m from memory_recipe a, memory_recipe b where a.precision = 'bf16' and b.precision = 'bf16' and a.optimizer = 'adamw' and b.optimizer = 'sgd'")[0];
  assert.ok(Math.abs(mixed - (await total()) - (sgd.d + sgd.m) * 70e9) < 1, "moments are gone");
  await page.locator("#wall-batch").fill("1000");
  const crowded = await total();
  await page.locator("#wall-batch").fill("0");
  assert.ok(crowded > (await total()));
  await page.locator("#wall-parameters").fill("0");
  assert.match(await page.locator(".reading:visible").textContent(), /it fits/);
  assert.deepEqual(v.complaints, []);
  await v.close();
});

test("a link keeps the view", async () => {
  const v = await visit(browser, step), whole = v.page.url();
  await v.page.keyboard.press("z");
  await v.page.waitForFunction((url) => location.href !== url, whole); // written some time after the key
  await v.page.waitForTimeout(400);
  const url = v.page.url(), window_ = await v.page.evaluate(() => orrery.window()), { t } = await v.clock();
  const again = await visit(browser, url);
  assert.deepEqual(await again.page.evaluate(() => orrery.window()), await v.page.evaluate(() => ({ from: Math.round(orrery.window().from), to: Math.round(orrery.window().to) })));
  assert.equal(Math.round((await again.clock()).t), Math.round(t));
  assert.ok(window_.to > window_.from);
  for (const hash of ["#tab=step&from=-1&to=1e99&t=NaN", "#tab=%3Cimg%3E&t=zzz", `#${"x".repeat(5000)}`]) {
    const odd = await visit(browser, step + hash);
    assert.deepEqual(odd.complaints, []);
    await odd.close();
  }
  await v.close();
  await again.close();
});

test("the server's page shows the same, and fetches ops as one looks closer", async () => {
  const server = await serve("weeks.db", "step.db");
  try {
    const v = await visit(browser, server.url, { offline: false });
    assert.equal(await v.page.locator("h1").textContent(), sql("weeks.db", "select scenario from run")[0].scenario + "  |  " + sql("step.db", "select scenario from run")[0].scenario + `, changed: ${pp4.join(", ")}`);
    await v.page.keyboard.press("2");
    const answer = v.page.waitForResponse((r) => r.url().includes("/api/slices") && r.url().includes("level=op"), { timeout: 20000 });
    await v.page.locator("canvas.picture:visible").first().focus();
    await v.page.keyboard.press("Enter");
    for (let i = 0; i < 4; i++) await v.page.keyboard.press("z");
    const document = await (await answer).json();
    assert.ok(document.rows.length > 0 && document.rows.length <= 20000);
    await v.page.waitForTimeout(300);
    assert.deepEqual(v.complaints, []);
    assert.ok(server.alive());
    await v.close();
  } finally {
    server.stop();
  }
});

test("what if: problems in place, another schedule beside the run, a node struck at the moment of the clock", async () => {
  const server = await serve("step.db");
  try {
    const v = await visit(browser, server.url, { offline: false }), { page } = v;
    await page.getByRole("tab", { name: "What if" }).click();
    await page.waitForFunction(() => document.querySelector("datalist option[value=gpipe]"), null, { timeout: 20000 });
    await page.fill("#set-layout-tp", "3");
    await page.click("#simulate");
    await page.locator(".problems li").first().waitFor();
    assert.match(await page.locator(".problems").innerText(), /not divisible by tp x pp x cp = 3 x 4 x 1/);
    assert.equal(await page.evaluate(() => orrery.state.runs.length), 1);
    await page.fill("#set-layout-tp", "");
    await page.locator("summary").filter({ hasText: "The scenario itself" }).click();
    const text = await page.locator("textarea").inputValue();
    await page.locator("textarea").fill(text.replace("schedule:", "shedule:"));
    await page.locator(".problems li").filter({ hasText: "schedule" }).first().waitFor({ timeout: 20000 });
    assert.match(await page.locator(".problems").innerText(), /line \d+, error: .*shedule[^]*\^/);
    await page.locator("textarea").fill(text);
    await page.waitForFunction(() => !document.querySelector(".problems li:not(.warning)"), null, { timeout: 20000 });
    await page.fill("#set-layout-schedule", "gpipe");
    await page.click("#simulate");
    await page.waitForFunction(() => orrery.state.runs.length === 2, null, { timeout: 20000 });
    const [a, b] = await page.evaluate(() => orrery.state.runs.map((r) => [r.run.schedule, r.run.step_s]));
    assert.deepEqual(a, ["1f1b", sql("step.db", "select step_s from run")[0].step_s]);
    run("gpipe", "llama3-70b-64xh100.yaml", ...pp4, "layout.schedule=gpipe");
    assert.deepEqual(b, ["gpipe", sql("gpipe.db", "select step_s from run")[0].step_s]);
    assert.deepEqual(v.complaints, []);
    await v.close();
  } finally {
    server.stop();
  }
  const weekly = await serve("weeks.db");
  try {
    const v = await visit(browser, weekly.url, { offline: false }), { page } = v, t = 10 * 86400e9;
    await page.evaluate((at) => orrery.state.current.clock.seek(at), t);
    await page.getByRole("tab", { name: "What if" }).click();
    await page.fill("#strike-node", "7");
    await page.click("#strike");
    await page.waitForFunction(() => orrery.state.runs.length === 2, null, { timeout: 60000 });
    const struck = await page.evaluate(() => orrery.state.runs[1].weeks.failures.filter((f) => f.cause === "struck on the page"));
    assert.equal(struck.length, 1);
    assert.equal(struck[0].node, 7);
    assert.ok(Math.abs(struck[0].ts - t) < 3600e9, `struck at ${struck[0].ts}`);
    assert.equal(await page.evaluate(() => orrery.state.runs[0].weeks.failures.length), sql("weeks.db", "select count(*) as n from failure")[0].n);
    assert.deepEqual(v.complaints, []);
    await v.close();
  } finally {
    weekly.stop();
  }
});
