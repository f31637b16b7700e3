// What a job has to show for its time at each moment: steps done, and of these the steps kept.
//
// Steps are kept once a durable checkpoint holds them. The line is a staircase: it rises where a checkpoint becomes durable, to the step
// that this one holds, and falls where an interruption sends the job back, to the step that it loaded. So at no moment does it promise
// more than a restart at that moment would have proved (a law of tests/web). Groups of checkpoints rise at their first and their last
// alone; no group reaches across an interruption (analysis/page/saves.h).

// Points [ns, steps] of both lines, by time. `saves`: groups of checkpoints, in any order; the same may be told twice.
export function progress(run, saves) {
  const ends = saves.flatMap((c) => (c.count > 1 ? [[c.ts, c.step, null], [c.last_ts, c.last_step, null]] : [[c.ts, c.step, null]]));
  const stops = run.weeks.interruptions.filter((i) => !i.others_went_on).map((i) => [i.ts, i.step, i]);
  const kept = [[0, 0]], done = [[0, 0]];
  let held = 0;
  const hold = (ts, steps) => { kept.push([ts, held], [ts, steps]); held = steps; };
  // What is durable at the moment of a failure is kept: it comes first.
  for (const [ts, steps, stop] of [...ends, ...stops].sort((a, b) => a[0] - b[0] || (a[2] ? 1 : 0) - (b[2] ? 1 : 0))) {
    if (stop) {
      hold(ts, stop.loaded_step);
      done.push([ts, steps], [ts, stop.loaded_step], [ts + (stop.dur ?? run.wall_ns - ts), stop.loaded_step]);
      continue;
    }
    if (steps > held) hold(ts, steps);
    if (steps > done[done.length - 1][1]) done.push([ts, steps]);
  }
  kept.push([run.wall_ns, held]);
  done.push([run.wall_ns, Math.max(done[done.length - 1][1], run.run.steps_completed ?? 0)]);
  return { kept, done };
}

// The figure at the end counts tokens: where replicas were missing (recovery: elastic), it is below the steps that checkpoints hold.
export const ofBatches = (run) => (run.run.degraded_s > 1e-9 * run.run.wall_s ? " of the full batch" : "");

// The last point at or before a moment; 0 where there is none.
export function search(points, t) {
  let from = 0, to = points.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (points[middle][0] <= t) from = middle + 1;
    else to = middle;
  }
  return Math.max(0, from - 1);
}
