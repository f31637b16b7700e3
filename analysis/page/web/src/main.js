// The page: tabs, one clock for each scale, and what is drawn when the clock or the window changes.
import "./style.css";
import { About, Verdict } from "./about.js";
import { Clock } from "./clock.js";
import { context, paragraph } from "./draw.js";
import { clock as clockText, count, moment, percent, time } from "./format.js";
import { Gantt } from "./gantt.js";
import { Lesson } from "./lesson.js";
import { Breakdown, Cluster } from "./map.js";
import { Memory } from "./memory.js";
import { Pipeline } from "./pipeline.js";
import { address, recall, runsOf } from "./link.js";
import { load, open, post, server, settings } from "./source.js";
import { Strike, strikeOf, strikeWords } from "./strike.js";
import { views } from "./views.js";
import { Wall } from "./wall.js";
import { Badput, Ettr, Story, Strikes } from "./weeks.js";
import { WhatIf } from "./whatif.js";
import { Wires } from "./wires.js";

const $ = (id) => document.getElementById(id);

export const tell = {
  show(event, lines) {
    const tip = $("tip");
    tip.replaceChildren(...lines.map(([name, text]) => {
      const p = document.createElement("p"), b = document.createElement("b");
      b.textContent = name;
      p.append(...(name ? [b, " ", text] : [text]));
      if (!name) p.className = "first";
      return p;
    }));
    tip.hidden = false;
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), y = event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 12 : event.clientY + 16;
    tip.style.left = `${Math.max(4, x)}px`;
    tip.style.top = `${Math.max(4, y)}px`;
  },
  hide() { $("tip").hidden = true; },
  trouble(text) {
    $("trouble").textContent = text;
    $("trouble").hidden = !text;
  },
};

// A window of time that a clock's pictures share.
function view(clock, many) {
  return { from: 0, to: clock.end, many, changed() { clock.changed(); } };
}

// Which of two runs a picture is of: its letter, and its column where two stand beside each other.
function mark(section, run, wide) {
  const sign = document.createElement("span"), words = document.createElement("span");
  sign.className = `letter ${run.letter}`;
  sign.textContent = run.letter;
  words.className = "differs";
  words.textContent = run.differs;
  section.querySelector("h2")?.append(" ", sign, " ", words);
  if (!wide) section.classList.add(run.letter === "A" ? "left" : "right");
}

// Captions of all runs by their moments: what two runs both say is said once. [ts, text, number, letter].
function captions(told) {
  const out = [];
  for (const [run, notes] of told) {
    for (const [i, [ts, text]] of notes.entries()) {
      const same = out.find((n) => n[0] === ts && n[1] === text);
      if (same) same[3] = "";
      else out.push([ts, text, i + 1, run.letter ?? ""]);
    }
  }
  return out;
}

// Two runs are told apart by what differs between them.
const traits = [["model"], ["gpu"], ["rank_count", "GPUs"], ["tp", "TP"], ["pp", "PP"], ["dp", "DP"], ["cp", "CP"], ["ep", "EP"], ["vpp", "chunks"], ["schedule"], ["sharding"], ["microbatch", "microbatch"], ["recompute", "recompute"],
  ["global_batch", "batch"], ["sequence", "sequence"], ["precision"], ["optimizer"], ["software"], ["seed", "seed"]];
function tellApart(runs) {
  for (const [i, run] of runs.entries()) {
    run.letter = runs.length > 1 ? "AB"[i] : undefined;
    const known = traits.filter(([key]) => run.run[key] !== undefined && run.run[key] !== null && runs.some((other) => other.run[key] !== run.run[key]));
    const own = settings(run).filter((set) => runs.some((other) => other !== run && !Object.values(other.meta).includes(set)));
    const struck = strikeOf(run);
    run.struck = struck && runs.some((other) => !strikeOf(other)) ? struck : null;
    run.differs = runs.length < 2 ? "" : run.struck ? strikeWords(struck) : runs.some(strikeOf) ? "not struck" : known.length > 0 ? known.map(([key, word]) => (word ? `${word} ${run.run[key]}` : String(run.run[key]))).join(", ") : own.join(", ") || run.file;
  }
}

// A tab: its clock, its pictures, and their places on the page.
function tab(name, title, end, events, marks, many) {
  const clock = new Clock(end);
  clock.reset(end, events);
  clock.t = end * (name === "step" ? 0.4 : 1); // a step in its middle, where everything moves; weeks as a whole
  const page = document.createElement("div");
  page.className = "view";
  page.id = `view-${name}`;
  page.setAttribute("role", "tabpanel");
  return { name, title, clock, view: view(clock, many), page, parts: [], marks, notes: [],
    add(part, run, wide) {
      this.parts.push(part);
      part.section.classList.toggle("wide", Boolean(wide));
      if (run?.letter) mark(part.section, run, wide);
      page.append(part.section);
      return part;
    } };
}

function stepTab(runs) {
  const timed = runs.filter((r) => r.step_ns > 0), end = Math.max(0, ...timed.map((r) => r.step_ns)), events = new Set();
  for (const run of timed) for (const spans of run.passes.tracks.values()) for (const s of spans) events.add(s.begin).add(s.end);
  const out = tab("step", "Step", end, [...events].sort((a, b) => a - b), runs.flatMap((r) => r.notes.map((n) => ({ t: n.ts, kind: "note" }))), runs.length > 1);
  out.notes = captions(runs.map((run) => [run, run.notes.map((n) => [n.ts, n.text])]));
  out.clockText = (t) => `${moment(t, end)} of ${moment(end, end)}`;
  const one = runs.length === 1, timelines = timed.map((run) => [run, new Gantt(run, out.view, out.clock, tell)]);
  for (const run of runs) if (run.outOfMemory) out.add(new Verdict(run), run, true);
  for (const [run, part] of timelines) out.add(part, run, true);
  for (const run of timed) if (run.stages.length > 1) out.add(new Pipeline(run, out.clock), run, one);
  for (const run of runs) out.add(new Memory(run, out.clock, tell), run, one && run.stages.length > 6);
  for (const part of [(run) => new Cluster(run, out.clock, tell), (run) => new Breakdown(run)]) for (const run of timed) out.add(part(run), run);
  for (const run of timed) if (run.links.length > 0) out.add(new Wires(run, out.view, out.clock), run);
  return out;
}

function weeksTab(runs) {
  const jobs = runs.filter((r) => r.wall_ns > 0), end = Math.max(...jobs.map((r) => r.wall_ns));
  const events = new Set(jobs.flatMap((r) => r.weeks.failures.map((f) => f.ts)));
  const marks = jobs.flatMap((r) => [...r.weeks.checkpoints.map((c) => ({ t: c.ts, kind: "checkpoint" })), ...r.weeks.failures.map((f) => ({ t: f.ts, kind: "failure" }))]);
  const out = tab("weeks", "Weeks", end, [...events].sort((a, b) => a - b), marks, jobs.length > 1);
  out.clockText = (t) => `${clockText(t)} of ${time(end)}`;
  out.notes = captions(jobs.map((run) => [run, run.weeks.notes.map((n) => [Number(n.key) * 1e9, n.text])]));
  const stories = [], unstruck = jobs.find((run) => !run.struck);
  for (const run of jobs) if (run.struck) out.add(new Strike(run, unstruck), run, true);
  for (const run of jobs) out.add(new Story(run, out.view, out.clock, tell, stories), run, true);
  for (const part of [(run) => new Strikes(run, out.clock, tell), (run) => new Ettr(run, out.clock)]) for (const run of jobs) out.add(part(run), run);
  for (const run of jobs) out.add(new Badput(run), run, true);
  return out;
}

function aboutTab(runs) {
  const out = tab("numbers", "Numbers", 0, [], [], false);
  for (const run of runs) out.add(new About(run), run, true);
  return out;
}

function lessonTab(runs) {
  const out = tab("lesson", "Lesson", 0, [], [], false);
  const own = runs.filter((run, i) => !runs.slice(0, i).some((r) => r.meta.scenario === run.meta.scenario)); // not another run of the same lesson
  for (const run of own) {
    if (run.recipes.length > 0 && run.run.rank_count === 1) out.add(new Wall(run), run, true);
    if (run.lesson.length > 0) out.add(new Lesson(run, run.live && run.meta.text ? (sets) => beside(run, sets) : null), run, true);
  }
  return out;
}

// The tabs of a search or a study: its rows of the list of views.
function manyTabs(many) {
  const out = [];
  for (const row of views.filter((one) => one.kind === many.kind)) {
    const known = out.find((t) => t.name === row.tab) ?? out[out.push(tab(row.tab, row.title, 0, [], [], false)) - 1];
    known.add(row.make(many, tell), null, true);
  }
  return out;
}

// Another run of a lesson, simulated by the server; what went wrong, or nothing.
async function beside(run, sets) {
  try {
    const answer = await post(`/api/what-if?db=${run.index}`, JSON.stringify({ text: run.meta.text, sets: [...settings(run), ...sets] }));
    if (!answer.ok) return answer.text;
    await compare(run, JSON.parse(answer.text).db);
    return "";
  } catch (e) {
    return e.message;
  }
}

// What was simulated, beside what it was simulated from: a view of its own, from which Back comes back.
async function compare(run, index) {
  const runs = [run, await load(index)];
  keep(true);
  build(runs);
  show(run.wall_ns > 0 ? "weeks" : "step");
  history.pushState(null, "", address(state));
}

// Only where a server can simulate, and the text of the scenario is at hand.
function whatIfTab(run) {
  const out = tab("what-if", "What if", 0, [], [], false);
  out.add(new WhatIf(run, {
    moment: () => state.tabs.find((t) => t.name === "weeks")?.clock.t ?? 0,
    done: (index) => compare(run, index),
  }), null, true);
  return out;
}

// `asked`: the runs that the page opens with.
const state = { tabs: [], current: null, runs: [], asked: [] };

// Of two runs of one scenario the names say what differs.
function named(run, i, runs) {
  if (runs.length < 2 || !run.differs || new Set(runs.map((r) => r.meta.scenario)).size > 1) return run.title || run.file;
  return `${run.letter}: ${run.meta.scenario ?? run.file}, ${run.differs}`;
}

// What GPUs wait for most, where that is no bubble.
function mostWaited(run) {
  const most = run.breakdown.filter((b) => run.causes.has(b.part)).reduce((a, b) => (b.seconds > (a?.seconds ?? 0) ? b : a), null);
  return most && most.part !== "bubble" ? [`${most.part.replace("_", " ")} ${percent(most.percent / 100)}`] : [];
}

function facts(run) {
  if (run.kind) return run.facts();
  const r = run.run, out = [];
  if (r.model) out.push(`${r.model} on ${count(r.rank_count)} ${r.gpu}`, `TP ${r.tp} · PP ${r.pp} · DP ${r.dp}${r.cp > 1 ? ` · CP ${r.cp}` : ""}${r.ep > 1 ? ` · EP ${r.ep}` : ""}`, `${r.schedule}, ${r.sharding}`);
  if (r.step_s) out.push(`step ${time(r.step_s * 1e9)}`, `MFU ${percent(r.mfu_ratio)}`, `bubble ${percent(r.bubble_ratio)}`, ...mostWaited(run));
  if (r.kind === "job") out.push(`goodput ${percent(r.goodput_ratio)}`);
  if (run.run.fits === 0) out.push("does not fit in memory");
  if (!run.complete) out.push("incomplete: its writer did not finish");
  return out.join("  ·  ");
}

function show(name) {
  const next = state.tabs.find((t) => t.name === name) ?? state.tabs[0];
  if (state.current) state.current.clock.playing = false;
  state.current = next;
  for (const t of state.tabs) {
    t.page.hidden = t !== next;
    t.button.setAttribute("aria-selected", String(t === next));
    t.button.tabIndex = t === next ? 0 : -1;
  }
  $("transport").hidden = next.clock.end <= 0;
  $("zoom").hidden = !next.parts.some((part) => part.zoom);
  draw();
}

// A tab that someone chooses: Back comes back to the one before.
function select(name) {
  if (name === state.current.name) return;
  keep(true);
  show(name);
  history.pushState(null, "", address(state));
}

// Pictures out of sight wait until one scrolls to them.
function seen(part) {
  const box = part.section.getBoundingClientRect();
  return box.bottom >= -50 && box.top <= innerHeight + 50;
}

// One picture that fails leaves the others.
function paint(part) {
  try {
    part.draw();
  } catch (e) {
    tell.trouble(`A picture cannot be drawn: ${e.message}`);
  }
}

let wanted = false;
function draw() {
  if (wanted) return;
  wanted = true;
  requestAnimationFrame((real) => {
    wanted = false;
    const { current } = state;
    current.clock.tick(real);
    const started = performance.now();
    for (const part of current.parts) if (seen(part)) paint(part);
    transport(current);
    state.frames = [...(state.frames ?? []).slice(-119), { at: real, cost: performance.now() - started }];
    if (current.clock.playing) draw();
  });
}

function transport({ clock, clockText: words, notes, marks }) {
  $("play").textContent = clock.playing ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", clock.playing ? "Pause" : "Play");
  $("scrub").value = String(Math.round((clock.t / Math.max(1, clock.end)) * 1e5));
  const said = words ? words(clock.t) : "";
  $("scrub").setAttribute("aria-valuetext", said);
  $("now").textContent = said;
  $("speed").textContent = `${time(clock.rate, 2)} per second`;
  const k = notes.reduce((best, [ts], i) => (ts <= clock.t && (best < 0 || ts >= notes[best][0]) ? i : best), -1);
  const text = k >= 0 ? `${notes[k][3]}${notes[k][2]}  ${notes[k][1]}` : "";
  if ($("caption").textContent !== text) $("caption").textContent = text;
  $("caption").hidden = notes.length === 0;
  drawMarks(clock, marks);
  keep();
}

function drawMarks(clock, marks) {
  const { g, width, height } = context($("marks")), palette = state.runs[0].palette, inset = 8;
  for (const { t, kind } of marks) {
    const x = inset + (t / clock.end) * (width - 2 * inset);
    g.fillStyle = { note: "#1c1c1e", failure: "#c1121f", checkpoint: palette.checkpoint }[kind];
    if (kind === "checkpoint") g.fillRect(x, height - 5, 0.8, 5);
    else g.fillRect(x - 0.75, 0, 1.5, height - 6);
  }
}

// The view in the address, so that a link shows what one sees.
let kept = 0;
function keep(now) {
  clearTimeout(kept);
  const write = () => history.replaceState(null, "", address(state));
  if (now) write();
  else kept = setTimeout(write, 250);
}

const lost = "The server of this page does not hold the runs of this link: what it simulates is gone when it ends. Shown are the runs that it was started with.";

// The address was changed: by Back, or by a link that was pasted.
async function follow() {
  clearTimeout(kept);
  if (location.hash && !/[#&](tab|runs)=/.test(location.hash)) return keep(); // to a place on this page
  const wanted = runsOf(location.hash) ?? state.asked;
  tell.trouble("");
  try {
    if (state.runs[0].live && wanted.join() !== state.runs.map((run) => run.index).join()) build(await Promise.all(wanted.map(load)));
  } catch (e) {
    return tell.trouble(e.status === 404 ? lost : e.message);
  }
  return show(recall(location.hash, state));
}

const keys = [["space", "play or pause"], ["← →", "to the event before, or the next"], ["Home End", "to the beginning, or the end"], ["+ −", "faster, slower"], ["z x", "look closer, or from further away"], ["drag", "across a stretch of a timeline: look at it closer"], ["Ctrl + wheel, pinch", "look closer, or from further away"], ["Shift + wheel", "move the window"],
  ["[ ]", "move the window"], ["0", "the whole"], ["1 2 3", "tabs"], ["↑ ↓ Enter", "in the timeline: choose a stage, open its streams; on the map: from node to node"], ["?", "this list"]];

// Around the moment of the clock.
function closer(factor) {
  const { clock, view: v, parts } = state.current;
  parts.find((p) => p.zoom)?.zoom(factor, Math.max(v.from, Math.min(v.to, clock.t)));
}

function key(e) {
  if (!state.current || e.target.closest?.("input:not(#scrub), textarea, select") || e.ctrlKey || e.metaKey || e.altKey) return;
  const { clock, view: v, parts } = state.current, wide = parts.find((p) => p.zoom), span = v.to - v.from;
  if (clock.end <= 0 && !/^[1-9]$/.test(e.key)) return; // nothing to play: keys scroll the page
  const act = {
    " ": () => clock.play(!clock.playing), ArrowRight: () => clock.step(1), ArrowLeft: () => clock.step(-1), Home: () => clock.seek(0), End: () => clock.seek(clock.end),
    "+": () => clock.faster(2), "=": () => clock.faster(2), "-": () => clock.faster(0.5), "?": () => ($("keys").open ? $("keys").close() : $("keys").showModal()),
    z: () => closer(0.5), x: () => closer(2),
    "[": () => wide?.pan(-span / 4), "]": () => wide?.pan(span / 4), 0: () => wide?.whole(),
  }[e.key] ?? (state.tabs[Number(e.key) - 1] ? () => select(state.tabs[Number(e.key) - 1].name) : null);
  if (!act || (e.key === " " && e.target.closest?.("button, summary, a"))) return;
  if (e.target.getAttribute?.("role") === "tab" && e.key.startsWith("Arrow")) return;
  e.preventDefault();
  act();
}

// Those out of sight, too; nothing of a timeline is pale as if it were still to come.
function print() {
  const { clock, parts } = state.current, now = clock.t;
  for (const part of parts) {
    if (part.zoom) clock.t = clock.end;
    part.draw();
    clock.t = now;
  }
}

function controls() {
  const now = () => state.current.clock;
  $("play").addEventListener("click", () => now().play(!now().playing));
  $("back").addEventListener("click", () => now().step(-1));
  $("on").addEventListener("click", () => now().step(1));
  $("slower").addEventListener("click", () => now().faster(0.5));
  $("faster").addEventListener("click", () => now().faster(2));
  $("scrub").addEventListener("input", () => { now().playing = false; now().seek((Number($("scrub").value) / 1e5) * now().end); });
  $("closer").addEventListener("click", () => closer(0.5));
  $("further").addEventListener("click", () => closer(2));
  $("whole").addEventListener("click", () => state.current.parts.find((p) => p.zoom)?.whole());
  $("help").addEventListener("click", () => $("keys").showModal());
  addEventListener("popstate", follow);
  document.addEventListener("keydown", key);
  addEventListener("resize", draw);
  addEventListener("scroll", draw, { passive: true });
  addEventListener("beforeprint", print);
  document.addEventListener("toggle", draw, true);
  const list = document.createElement("dl"), close = document.createElement("button");
  list.className = "facts";
  for (const [name, text] of keys) {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = text;
    list.append(dt, dd);
  }
  close.textContent = "Close";
  close.addEventListener("click", () => $("keys").close());
  $("keys").append(list, close);
}

function tabs() {
  for (const [i, t] of state.tabs.entries()) {
    const b = (t.button = document.createElement("button"));
    b.setAttribute("role", "tab");
    b.setAttribute("aria-controls", t.page.id);
    b.textContent = t.title;
    b.addEventListener("click", () => select(t.name));
    b.addEventListener("keydown", (e) => {
      const next = state.tabs[i + (e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : NaN)];
      if (next) { select(next.name); next.button.focus(); }
    });
    $("tabs").append(b);
    $("views").append(t.page);
    t.clock.addEventListener("change", draw);
  }
}

async function start() {
  const told = (e) => tell.trouble(`Something went wrong: ${(e.error ?? e.reason)?.message ?? e.message}`);
  addEventListener("error", told); // of events, which nothing else catches
  addEventListener("unhandledrejection", told);
  server.tell = (text) => { if (text || $("trouble").textContent === state.down) tell.trouble(text); state.down = text; };
  try {
    const { runs, asked, gone } = await open(runsOf(location.hash));
    state.asked = asked;
    controls();
    build(runs);
    show(recall(location.hash, state));
    if (gone) tell.trouble(lost);
  } catch (e) {
    tell.trouble(`It cannot be shown: ${e.message}`);
    return;
  } finally {
    $("loading").hidden = true;
  }
  requestAnimationFrame(() => { document.body.dataset.ready = String(Math.round(performance.now())); });
}

// The page of some runs, from nothing; no tab is shown yet.
function build(runs) {
  state.runs = runs;
  document.title = `${runs.map(named).join(" and ")} \u2013 Orrery`;
  if (!runs[0].kind) tellApart(runs);
  $("title").textContent = [...new Set(runs.map(named))].join("  |  ");
  $("facts").replaceChildren(...runs.map((r) => paragraph(`${r.letter ? `${r.letter}: ` : ""}${facts(r)}`, "", "span")));
  document.documentElement.style.setProperty("--accent", runs[0].palette.forward);
  $("tabs").replaceChildren();
  $("views").replaceChildren();
  state.current = null;
  state.tabs = runs[0].kind ? manyTabs(runs[0]) : runTabs(runs);
  runs[0].listen?.(() => keep());
  tabs();
  for (const t of state.tabs) for (const part of t.parts) if (part.resize) part.layout = part.rows();
  for (const t of state.tabs) for (const part of t.parts) if (part.layout) part.canvas.style.height = `${Math.min(2400, part.layout.height)}px`;
}

function runTabs(runs) {
  return [...(runs.some((r) => r.lesson.length > 0) ? [lessonTab(runs)] : []), ...(runs.some((r) => r.wall_ns > 0) ? [weeksTab(runs)] : []),
    ...(runs.some((r) => r.classes.length > 0) ? [stepTab(runs)] : []), ...(runs[0].live && runs[0].meta.text ? [(state.whatIf ??= whatIfTab(runs[0]))] : []), aboutTab(runs)];
}

// For the tests: what is shown, as numbers.
globalThis.orrery = { state, clock: () => ({ t: state.current.clock.t, end: state.current.clock.end, playing: state.current.clock.playing, rate: state.current.clock.rate }),
  window: () => ({ from: state.current.view.from, to: state.current.view.to }), frames: () => state.frames ?? [] };
start();
