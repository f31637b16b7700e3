// The pictures of the page in README.md and docs/replay.md: picture.mjs FOLDER writes replay.png, replay-plan.png, replay-study.png
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { html, launch, orrery, run, visit } from "./browser.mjs";

const study = join(process.env.SCENARIOS, "studies/checkpoint-interval-study.yaml");
run("step", "llama3-70b-64xh100.yaml", "layout.pp=4", "training.global_batch=32");
orrery("plan", "--model", "llama3-70b", "--gpu", "h100-80gb-sxm", "--gpus", "64", "--global-batch", "256", "--db", "plan.db");
orrery("study", study, "--vary", "checkpoint.interval=2min..3h:log:9", "--seeds", "40", "--db", "study.db");
const browser = await launch();
for (const [file, name, height] of [["replay.png", "step", 860], ["replay-plan.png", "plan", 1300], ["replay-study.png", "study", 780]]) {
  const v = await visit(browser, html(name, `${name}.db`), { width: 1280, height });
  writeFileSync(join(process.argv[2], file), await v.page.screenshot());
  await v.close();
}
await browser.close();
