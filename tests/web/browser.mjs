// What the browser tests share: runs made by orrery, a browser, and pages that must not complain.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const folder = mkdtempSync(join(tmpdir(), "orrery-web-"));
const { ORRERY, SCENARIOS, CHROMIUM } = process.env;

export const orrery = (...args) => execFileSync(ORRERY, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] }).toString();
export const sql = (db, text) => JSON.parse(execFileSync("sqlite3", ["-json", join(folder, db), text], { maxBuffer: 1 << 26 }).toString() || "[]");
export const tamper = (db, text) => execFileSync("sqlite3", [join(folder, db), text]);

// A run of a scenario as NAME.db, and as NAME.html where asked.
export function run(name, scenario, ...sets) {
  try {
    orrery("run", join(SCENARIOS, scenario), ...sets.flatMap((s) => ["--set", s]), "--db", `${name}.db`);
  } catch (e) {
    if (e.status !== 4) throw e; // it does not fit: that is a run, too
  }
  return `${name}.db`;
}
export function html(name, ...dbs) {
  orrery("replay", ...dbs, "--html", `${name}.html`);
  return `file://${join(folder, `${name}.html`)}`;
}

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });

// A page of its own; `complaints` collects every console error, exception, violation and request from outside.
export async function visit(browser, url, { width = 1280, height = 800, offline = true, motion = "no-preference", prepare } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, offline, reducedMotion: motion });
  context.setDefaultTimeout(15000);
  const page = await context.newPage(), complaints = [], own = new URL(url).origin;
  if (prepare) await page.addInitScript(prepare);
  page.on("console", (m) => { if (["error", "warning"].includes(m.type())) complaints.push(m.text()); });
  page.on("pageerror", (e) => complaints.push(e.stack));
  page.on("request", (r) => { if (!r.url().startsWith("data:") && !(own === "null" ? r.url().startsWith("file:") : r.url().startsWith(own))) complaints.push(`asked for ${r.url()}`); });
  page.on("dialog", (d) => { complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
  await page.goto(url);
  await page.waitForFunction(() => document.body.dataset.ready || !document.getElementById("trouble").hidden, null, { timeout: 20000 });
  return { page, complaints, clock: () => page.evaluate(() => orrery.clock()), close: () => context.close() };
}

// orrery replay DB... as a server; resolves to its address.
export function serve(...args) {
  const child = spawn(ORRERY, ["replay", ...args], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout.on("data", (data) => {
      const url = String(data).match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (url) resolve({ url: url[0], stop: () => child.kill(), ended: new Promise((end) => child.on("exit", end)), alive: () => child.exitCode === null });
    });
  });
}
