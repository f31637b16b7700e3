// What every picture shares: a sharp canvas, hatching, colours, text that fits.
import { percent } from "./format.js";

export function canvas(height, label) {
  const element = document.createElement("canvas");
  element.className = "picture";
  element.tabIndex = 0;
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", label);
  element.style.height = `${height}px`;
  return element;
}

export function context(element) {
  const ratio = window.devicePixelRatio || 1, width = element.clientWidth, height = element.clientHeight;
  if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
  }
  const g = element.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = "13px system-ui, sans-serif";
  g.textBaseline = "middle";
  return { g, width, height };
}

// A box with round corners; square where a browser of 2022 cannot.
export const rounded = (g, ...box) => (g.roundRect ? g.roundRect(...box) : g.rect(...box.slice(0, 4)));

const patterns = new Map();
// `ground` null: nothing between the lines.
export function hatch(g, ink, ground, thick = ground ? 1.2 : 2) {
  const key = `${ink} ${ground} ${thick}`;
  if (!patterns.has(key)) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const p = tile.getContext("2d");
    if (ground) {
      p.fillStyle = ground;
      p.fillRect(0, 0, 8, 8);
    }
    p.strokeStyle = ink;
    p.lineWidth = thick;
    p.beginPath();
    for (const d of [-8, 0, 8]) { p.moveTo(d, 8); p.lineTo(d + 8, 0); }
    p.stroke();
    patterns.set(key, tile);
  }
  return g.createPattern(patterns.get(key), "repeat");
}

const channels = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
// Black or white, whichever stands out more from a colour (WCAG 2.1).
export function inkOn(colour) {
  const [r, g, b] = channels(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? ink : "#fff";
}
// Towards white by a share.
export const tint = (colour, share) => `rgb(${channels(colour).map((c) => Math.round(c + (255 - c) * share)).join(",")})`;
// From pale to strong: never from green to red.
export const heat = (colour, share) => tint(colour, 0.88 * (1 - Math.max(0, Math.min(1, share))));

export function fit(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  let short = text;
  while (short.length > 1 && g.measureText(`${short}…`).width > room) short = short.slice(0, -1);
  return short.length > 1 ? `${short}…` : "";
}

export const ink = "#1c1c1e", quiet = "#55585e", rule = "#d8d8d4", idle = ["#8f9399", "#f4f4f2"], alarm = "#c1121f";

// Waiting is hatched, in the colour of its cause: on a canvas, and as the background of a swatch.
export const waitFill = (g, run, cause) => (run.shades.part[cause] ? hatch(g, run.shades.part[cause], "#fff", 3.6) : hatch(g, ...idle));
const waitSwatch = (run, cause) => (run.shades.part[cause] ? `repeating-linear-gradient(-45deg, ${run.shades.part[cause]} 0 3px, #fff 3px 6px)` : null);
// What a wait is for, as the breakdown says it.
export const waitWords = (run, cause) => `${cause.replace("_", " ")}: ${run.breakdown.find((b) => b.part === cause)?.meaning ?? "the GPU computes nothing"}`;
// The causes for which anybody waits, with the share of the step of the mean rank.
export const waitLegend = (run, causes) => run.breakdown.filter((b) => causes.has(b.part)).map((b) => [waitSwatch(run, b.part), `${b.part.replace("_", " ")} ${percent(b.percent / 100)}`]);

// A panel: heading, what to look for, a body, and the same as a table.
export function panel(title, help) {
  const section = document.createElement("section"), heading = document.createElement("h2");
  section.className = "panel";
  heading.textContent = title;
  section.append(heading);
  if (help) {
    const text = document.createElement("p");
    text.className = "help";
    text.textContent = help;
    section.append(text);
  }
  return section;
}

// Text in which `commands` stand between grave accents.
export function paragraph(text, kind, tag = "p") {
  const p = document.createElement(tag);
  for (const [i, part] of String(text).split("`").entries()) {
    const piece = i % 2 === 1 ? document.createElement("code") : document.createTextNode("");
    piece.textContent = part;
    p.append(piece);
  }
  if (kind) p.className = kind;
  return p;
}

export function table(summary, head, body) {
  const details = document.createElement("details"), title = document.createElement("summary"), grid = document.createElement("table");
  title.textContent = summary;
  const line = (cells, kind) => {
    const row = document.createElement("tr");
    for (const cell of cells) {
      const box = document.createElement(kind);
      if (kind === "th") box.scope = "col";
      if (typeof cell === "number") box.className = "number";
      box.textContent = cell === null || cell === undefined ? "–" : String(cell);
      row.append(box);
    }
    return row;
  };
  const top = document.createElement("thead"), rest = document.createElement("tbody"), scroll = document.createElement("div");
  top.append(line(head, "th"));
  for (const row of body) rest.append(line(row, "td"));
  grid.append(top, rest);
  scroll.className = "scroll";
  scroll.tabIndex = 0; // to be scrolled by keys
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", summary);
  scroll.append(grid);
  details.append(title, scroll);
  return details;
}

export function legend(entries) {
  const list = document.createElement("ul");
  list.className = "legend";
  for (const [colour, text] of entries) {
    const item = document.createElement("li"), swatch = document.createElement("span");
    swatch.className = colour ? "swatch" : "swatch hatched";
    if (colour) swatch.style.background = colour;
    item.append(swatch, text);
    list.append(item);
  }
  return list;
}
