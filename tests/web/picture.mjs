// The picture of the page in the README: picture.mjs FILE.png
import { writeFileSync } from "node:fs";
import { html, launch, run, visit } from "./browser.mjs";

run("step", "llama3-70b-64xh100.yaml", "layout.pp=4", "training.global_batch=32");
const browser = await launch(), v = await visit(browser, html("step", "step.db"), { width: 1280, height: 860 });
writeFileSync(process.argv[2], await v.page.screenshot());
await browser.close();
