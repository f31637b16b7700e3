// What the database says: embedded in the file, or asked of the server that sent it.
import { grouped } from "./format.js";
import { kinds } from "./views.js";

// Rows as objects.
export function rows(grid) {
  return grid.rows.map((row) => Object.fromEntries(grid.columns.map((name, i) => [name, row[i]])));
}

// The server has ended, or cannot be reached.
class Down extends Error {
  constructor() {
    super(`The server of this page has ended, or cannot be reached. Start it again (orrery replay FILE --port ${location.port}): this page asks again by itself.`);
  }
}

// Told whenever an answer comes ("") or none does (what to do).
export const server = { tell() {} };

async function send(path, options) {
  try {
    const answer = await fetch(path, options), text = await answer.text();
    server.tell("");
    return { ok: answer.ok, status: answer.status, text };
  } catch {
    const down = new Down();
    server.tell(down.message);
    throw down;
  }
}

async function ask(path) {
  const answer = await send(path, { cache: "no-store" });
  if (!answer.ok) throw Object.assign(new Error(answer.text || `the server answered ${answer.status}`), { status: answer.status });
  return JSON.parse(answer.text);
}

// Spans by track: columns as typed arrays would need copies; plain objects are fast enough for 20,000.
function spans(document, strings) {
  const tracks = new Map();
  for (const [track, begin, dur, busy, wait, count, name, phase, microbatch, layer, chunk] of document.rows) {
    if (!tracks.has(track)) tracks.set(track, []);
    tracks.get(track).push({ track, begin, end: begin + dur, busy, wait, count, name: strings.get(name) ?? "",
      phase: strings.get(phase) ?? "", microbatch, layer, chunk });
  }
  return { tracks, resolution: document.resolution, from: document.from, to: document.to };
}

// Waits: rows of one place are shares of it, by cause; the largest comes last. Rows without a length are the rests of their tracks.
function causes(document, strings) {
  const out = spans(document, strings);
  for (const [track, list] of out.tracks) {
    const places = [...grouped(list, (s) => s.begin + "/" + s.end).values()].map((place) => place.sort((a, b) => a.busy - b.busy));
    for (const place of places) {
      let above = 0;
      const whole = place.reduce((a, s) => a + s.busy, 0);
      for (const s of place) {
        Object.assign(s, { above, share: s.busy / whole });
        above += s.share;
      }
    }
    out.tracks.set(track, places.flat());
  }
  return out;
}

// Curves of wires by track: the class of wires of its name, and what one of them carries from each moment on.
function wires(tracks, links, loads) {
  const classes = new Map(links.map((l) => [`${l.kind}, ${l.from} to ${l.to}`, l]));
  const out = new Map(tracks.filter((t) => t.kind === "wire" && classes.has(t.name)).map((t) => [t.id, { link: classes.get(t.name), points: [] }]));
  for (const { track, ts, value } of loads) out.get(track)?.points.push({ ts, value });
  return out;
}

function digest(documents, index, live) {
  const head = documents.run;
  if (head.kind) return new kinds[head.kind](head, index, live);
  const strings = new Map(head.strings.rows);
  const run = rows(head.run)[0] ?? {};
  const classes = rows(head.classes), tracks = rows(head.tracks), links = rows(head.links);
  const stages = new Map();
  for (const c of classes) if (!stages.has(c.stage)) stages.set(c.stage, c);
  const memory = new Map();
  for (const [track, ts, high, last] of documents.memory.rows) {
    if (!memory.has(track)) memory.set(track, []);
    memory.get(track).push({ ts, high, last });
  }
  const shown = rows(head.stage_classes).map(({ rank_class, role }) => Object.assign(classes.find((c) => c.id === rank_class) ?? {}, { role }));
  const waits = causes(documents.idle, strings);
  const weeks = Object.fromEntries(Object.entries(documents.weeks).filter(([, v]) => v.rows).map(([k, v]) => [k, rows(v)]));
  return {
    index, live, file: head.file, complete: head.complete, palette: head.palette, shades: head.shades, colours: head.colours, run, classes, tracks, weeks, memory,
    meta: Object.fromEntries(head.meta.rows), units: new Map(head.units.rows.map(([name, unit, text]) => [name, { unit, text }])),
    breakdown: rows(head.breakdown), links, wires: wires(tracks, links, rows(head.wire_loads)), nodeWires: rows(head.node_wires), notes: rows(head.notes), messages: rows(head.messages),
    outOfMemory: rows(head.out_of_memory)[0], neighbours: rows(head.neighbours), stageMemory: rows(head.stage_memory),
    constants: rows(head.constants), kinds: rows(head.kinds ?? { columns: [], rows: [] }),
    lessonRuns: rows(head.lesson_runs ?? { columns: [], rows: [] }), lesson: rows(head.lesson ?? { columns: [], rows: [] }), recipes: rows(head.recipes ?? { columns: [], rows: [] }), questions: rows(head.questions ?? { columns: [], rows: [] }),
    gpusOfNode: head.gpus_of_node.rows[0]?.[0] ?? 1, nodeName: head.nodes.rows[0]?.[0] ?? "", seats: head.seats.rows,
    title: head.title.rows[0]?.[0] ?? "", shown, waits, causes: new Set(head.causes.rows.map(([cause]) => cause)),
    stages: [...stages.values()].sort((a, b) => a.stage - b.stage), strings,
    memoryResolution: documents.memory.resolution, passes: spans(documents.passes, strings), ops: documents.ops ? spans(documents.ops, strings) : null,
    step_ns: Math.max(0, ...classes.map((c) => Math.round((c.finish_s ?? 0) * 1e9))),
    wall_ns: run.kind === "job" ? Math.round((run.wall_s ?? 0) * 1e9) : 0,
  };
}

// The documents of a file stand packed: zlib in base64 (analysis/page/packed.h).
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text());
}

// {runs, asked}: the runs to show, and the numbers of those that the page is asked for: all that a file holds; of a server those of its
// command line. `wanted` are shown instead, where the server still holds them.
export async function open(wanted) {
  const data = JSON.parse(document.getElementById("orrery-data").textContent), embedded = data.packed ? await unpack(data.packed) : data;
  const asked = [...(embedded.runs ?? Array(embedded.count)).keys()];
  if (embedded.runs) return { asked, runs: embedded.runs.map((documents, i) => digest(documents, i, false)) };
  try {
    return { asked, runs: await Promise.all((wanted ?? asked).map(load)) };
  } catch (e) {
    if (!wanted || e.status !== 404) throw e;
    return { asked, runs: await Promise.all(asked.map(load)), gone: true };
  }
}

const loaded = new Map();
export async function load(index) {
  if (loaded.has(index)) return loaded.get(index);
  const run = await ask(`/api/run?db=${index}`), rest = run.kind ? [] : ["slices", "slices", "memory", "weeks"];
  const levels = ["&level=pass", "&level=idle", "", ""];
  const [passes, idle, memory, weeks] = await Promise.all(rest.map((name, i) => ask(`/api/${name}?db=${index}${levels[i]}`)));
  loaded.set(index, digest({ run, passes, idle, memory, weeks }, index, true));
  return loaded.get(index);
}

// What was said with --set, in order.
export const settings = (run) => Object.entries(run.meta).filter(([key]) => /^set\.\d+$/.test(key)).sort().map(([, value]) => value);

// The keys of scenarios, as JSON Schema.
export const schema = () => ask("/api/schema");

// One simulation at a time: while the server is at another it is asked again, for some seconds.
export async function post(path, text) {
  for (let tries = 0; ; tries++) {
    const answer = await send(path, { method: "POST", body: text, headers: { "content-type": "application/json" } });
    if (answer.status !== 503 || tries === 20) return answer;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

// Documents of windows, by their address; null while one is on its way. Without a server it is asked again, until there is one.
const asked = new Map();
function fetched(path, make, arrived) {
  const attempt = () => ask(path).then((d) => { asked.set(path, make(d)); arrived(); }, (e) => {
    arrived(e);
    if (e instanceof Down || e.status === 503) setTimeout(attempt, 2000);
  });
  if (!asked.has(path)) {
    asked.set(path, null);
    if (asked.size > 64) asked.delete(asked.keys().next().value);
    attempt();
  }
  return asked.get(path);
}

// The address of a window that holds this one, and stays as one moves a little.
function around(from, to) {
  const span = 2 ** Math.ceil(Math.log2(Math.max(1, to - from))), first = Math.max(0, Math.floor(from / span) * span);
  return { first, last: Math.min(first + 2 * span, 2 ** 52) };
}

// Waits of a window: those of the whole step, or finer ones once a server has answered.
export function waits(run, rankClass, from, to, arrived) {
  if (!run.live || to - from > run.step_ns / 4) return run.waits;
  const { first, last } = around(from, to);
  return fetched(`/api/slices?db=${run.index}&level=idle&class=${rankClass}&from=${first}&to=${last}`, (d) => causes(d, run.strings), arrived) ?? run.waits;
}

// Ops of a window. Offline there is one answer; a server is asked once the window has come to rest.
export function ops(run, rankClass, from, to, arrived) {
  if (!run.live) return run.ops;
  const { first, last } = around(from, to);
  return fetched(`/api/slices?db=${run.index}&level=op&class=${rankClass}&from=${first}&to=${last}`, (d) => spans(d, run.strings), arrived);
}

// Checkpoints of a window, fewer in a group: {from, to, groups}; null where there is no server.
export function saves(run, from, to, arrived) {
  if (!run.live) return null;
  const { first, last } = around(from, to);
  return fetched(`/api/checkpoints?db=${run.index}&from=${first}&to=${last}`, (d) => ({ from: first, to: last, groups: rows(d) }), arrived);
}
