// The address of the page keeps what one sees: tab, moment, window, speed, opened rows, and which runs stand beside each other.

// Parts of a tab that have rows to open: their classes, and whether all classes are shown.
const openable = (tab) => tab.parts.filter((part) => part.opened);

export function address({ current, runs, asked }) {
  const { name, clock, view } = current;
  if (runs[0].state) {
    const kept = Object.entries(runs[0].state()).filter(([, value]) => value !== null && value !== undefined);
    return `#${new URLSearchParams([["tab", name], ...kept])}`;
  }
  const parts = openable(current), numbers = runs.map((run) => run.index).join();
  const opened = parts.map((part) => [...part.opened].sort((a, b) => a - b).join(".")), all = parts.map((part) => (part.all ? 1 : 0));
  return `#tab=${name}&t=${Math.round(clock.t)}&from=${Math.round(view.from)}&to=${Math.round(view.to)}&speed=${clock.factor}` +
    `${opened.some(Boolean) ? `&open=${opened.join()}` : ""}${all.some(Boolean) ? `&all=${all.join()}` : ""}${runs[0].live && numbers !== asked.join() ? `&runs=${numbers}` : ""}`;
}

// One or two numbers of runs that a link names; null where it names none.
export function runsOf(hash) {
  const said = new URLSearchParams(hash.slice(1)).get("runs");
  return /^\d{1,4}(,\d{1,4})?$/.test(said ?? "") ? said.split(",").map(Number) : null;
}

// Puts a tab as the link says; returns its name, or that of the first.
export function recall(hash, { tabs, runs }) {
  const said = new URLSearchParams(hash.slice(1)), number = (key, low, high) => {
    const value = Number(said.get(key));
    return said.has(key) && Number.isFinite(value) && value >= low && value <= high ? value : null;
  };
  const t = tabs.find((x) => x.name === said.get("tab"));
  if (!t) return tabs[0].name;
  if (runs[0].recall) {
    runs[0].recall(said);
    return t.name;
  }
  t.clock.t = number("t", 0, t.clock.end) ?? t.clock.t;
  t.clock.factor = number("speed", 1 / 1024, 1024) ?? 1;
  const from = number("from", 0, t.clock.end), to = number("to", 0, t.clock.end);
  if (from !== null && to !== null && to - from >= 50) Object.assign(t.view, { from, to });
  rows(t, (said.get("open") ?? "").split(","), (said.get("all") ?? "").split(","));
  return t.name;
}

function rows(tab, opened, all) {
  for (const [i, part] of openable(tab).entries()) {
    const known = new Set(part.run.classes.map((c) => c.id));
    part.restore(new Set((opened[i] ?? "").split(".").filter(Boolean).map(Number).filter((id) => known.has(id))), all[i] === "1");
  }
}
