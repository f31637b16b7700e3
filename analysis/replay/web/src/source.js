// What the database says: embedded in the file, or asked of the server that sent it.

// Rows as objects.
export function rows(grid) {
  return grid.rows.map((row) => Object.fromEntries(grid.columns.map((name, i) => [name, row[i]])));
}

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store" });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text || `the server answered ${answer.status}`);
  return JSON.parse(text);
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

// Curves of wires by track: the class of wires of its name, and what one of them carries from each moment on.
function wires(tracks, links, loads) {
  const classes = new Map(links.map((l) => [`${l.kind}, ${l.from} to ${l.to}`, l]));
  const out = new Map(tracks.filter((t) => t.kind === "wire" && classes.has(t.name)).map((t) => [t.id, { link: classes.get(t.name), points: [] }]));
  for (const { track, ts, value } of loads) out.get(track)?.points.push({ ts, value });
  return out;
}

function digest(documents, index, live) {
  const head = documents.run, strings = new Map(head.strings.rows);
  const run = rows(head.run)[0] ?? {};
  const classes = rows(head.classes), tracks = rows(head.tracks), links = rows(head.links);
  const stages = new Map();
  for (const c of classes) if (!stages.has(c.stage)) stages.set(c.stage, c);
  const memory = new Map();
  for (const [track, ts, high, last] of documents.memory.rows) {
    if (!memory.has(track)) memory.set(track, []);
    memory.get(track).push({ ts, high, last });
  }
  const weeks = Object.fromEntries(Object.entries(documents.weeks).filter(([, v]) => v.rows).map(([k, v]) => [k, rows(v)]));
  return {
    index, live, file: head.file, complete: head.complete, palette: head.palette, shades: head.shades, colours: head.colours, run, classes, tracks, weeks, memory,
    meta: Object.fromEntries(head.meta.rows), units: new Map(head.units.rows.map(([name, unit, text]) => [name, { unit, text }])),
    breakdown: rows(head.breakdown), links, wires: wires(tracks, links, rows(head.wire_loads)), nodeWires: rows(head.node_wires), notes: rows(head.notes), messages: rows(head.messages),
    outOfMemory: rows(head.out_of_memory)[0], neighbours: rows(head.neighbours), stageMemory: rows(head.stage_memory),
    constants: rows(head.constants), kinds: rows(head.kinds ?? { columns: [], rows: [] }),
    lessonRuns: rows(head.lesson_runs ?? { columns: [], rows: [] }), lesson: rows(head.lesson ?? { columns: [], rows: [] }), recipes: rows(head.recipes ?? { columns: [], rows: [] }), questions: rows(head.questions ?? { columns: [], rows: [] }),
    gpusOfNode: head.gpus_of_node.rows[0]?.[0] ?? 1, nodeName: head.nodes.rows[0]?.[0] ?? "", seats: head.seats.rows,
    stages: [...stages.values()].sort((a, b) => a.stage - b.stage), strings,
    memoryResolution: documents.memory.resolution, passes: spans(documents.passes, strings), ops: documents.ops ? spans(documents.ops, strings) : null,
    step_ns: Math.max(0, ...classes.map((c) => Math.round((c.finish_s ?? 0) * 1e9))),
    wall_ns: run.kind === "job" ? Math.round((run.wall_s ?? 0) * 1e9) : 0,
  };
}

export async function open() {
  const embedded = JSON.parse(document.getElementById("orrery-data").textContent);
  if (embedded.runs) return embedded.runs.map((documents, i) => digest(documents, i, false));
  const out = [];
  for (let i = 0; i < embedded.count; i++) out.push(await load(i));
  return out;
}

export async function load(index) {
  const [run, passes, memory, weeks] = await Promise.all([ask(`/api/run?db=${index}`),
    ask(`/api/slices?db=${index}&level=pass`), ask(`/api/memory?db=${index}`), ask(`/api/weeks?db=${index}`)]);
  return digest({ run, passes, memory, weeks }, index, true);
}

// What was said with --set, in order.
export const settings = (run) => Object.entries(run.meta).filter(([key]) => /^set\.\d+$/.test(key)).sort().map(([, value]) => value);

// The keys of scenarios, as JSON Schema.
export const schema = () => ask("/api/schema");

// One simulation at a time: while the server is at another it is asked again, for some seconds.
export async function post(path, text) {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(path, { method: "POST", body: text, headers: { "content-type": "application/json" } });
    if (answer.status !== 503 || tries === 20) return { ok: answer.ok, text: await answer.text() };
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

// Ops of a window. Offline there is one answer; a server is asked once the window has come to rest.
const asked = new Map();
export function ops(run, rankClass, from, to, arrived) {
  if (!run.live) return run.ops;
  const span = 2 ** Math.ceil(Math.log2(Math.max(1, to - from))), first = Math.max(0, Math.floor(from / span) * span);
  const key = `/api/slices?db=${run.index}&level=op&class=${rankClass}&from=${first}&to=${Math.min(first + 2 * span, 2 ** 52)}`;
  if (!asked.has(key)) {
    asked.set(key, null);
    if (asked.size > 64) asked.delete(asked.keys().next().value);
    ask(key).then((d) => { asked.set(key, spans(d, run.strings)); arrived(); }, (e) => arrived(e));
  }
  return asked.get(key);
}
