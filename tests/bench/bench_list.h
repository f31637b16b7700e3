/* bench_list.h - one row for each line of orrery-bench; the aims are those of the performance page.
 * A new benchmark is a `const struct bench` in its own file, a row here and its file in CMake. */
#ifndef ORRERY_TESTS_BENCH_LIST_H
#define ORRERY_TESTS_BENCH_LIST_H

/* clang-format off */
#define BENCH_LIST \
    X(bench_hold, 1e3, bench_heap, 1e3, "hold model, 1e3 pending", "events", 40e6) \
    X(bench_hold, 1e5, bench_heap, 1e5, "hold model, 1e5 pending", "events", 20e6) \
    X(bench_hold, 1e6, bench_heap, 1e6, "hold model, 1e6 pending", "events", 10e6) \
    X(bench_fat_tree, 1024, bench_copy, 0, \
      "fair shares, 1 K flows on a fat tree", "completions", 20e3) \
    X(bench_fat_tree, 4096, bench_copy, 0, \
      "fair shares, 4 K flows on a fat tree", "completions", 20e3) \
    X(bench_fat_tree, 16384, bench_copy, 0, \
      "fair shares, 16 K flows on a fat tree", "completions", 20e3) \
    X(bench_rings, 4096, bench_copy, 0, \
      "fair shares, 4 K flows on ring groups", "completions", 500e3) \
    X(bench_rings, 16384, bench_copy, 0, \
      "fair shares, 16 K flows on ring groups", "completions", 500e3) \
    X(bench_alone, 4096, bench_copy, 0, \
      "an activity that shares no link, 4 K of them", "completions", 1e6) \
    X(bench_step, 0, bench_copy, 0, \
      "405B on 16,384 GPUs, text to result, folded", "steps", 1 / 0.3) \
    X(bench_step, 1, bench_copy, 0, \
      "405B on 16,384 GPUs, every rank played", "ops", 100e6) \
    X(bench_plan, 0, bench_copy, 0, "70B on 512 GPUs planned, two threads", "plans", 1.0) \
    X(bench_plan, 1, bench_copy, 0, \
      "layouts of it timed at pass detail, two threads", "layouts", 10e3) \
    X(bench_plan, 2, bench_copy, 0, \
      "layouts judged by rules, memory and bound", "layouts", 100e3) \
    X(bench_fleet, 0, bench_copy, 0, \
      "failures of 54 days, 16,384 GPUs, 18 causes", "failures", 5e6) \
    X(bench_fleet, 1, bench_copy, 0, \
      "the same, units that age", "failures", 1e6) \
    X(bench_job, 0, bench_copy, 0, \
      "54 days of 405B on 16,384 GPUs, text to result", "runs", 1 / 0.05) \
    X(bench_job, 1000, bench_copy, 0, \
      "54 days of 16,384 GPUs, step known", "replications", 10e3) \
    X(bench_store, 1e6, bench_copy, 0, "timeline into SQLite, 1e6 rows", "rows", 2e6)
/* clang-format on */

#endif
