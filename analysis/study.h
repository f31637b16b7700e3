/* study.h - many runs of one scenario: keys varied over a grid, replications by seeds, what comes
 * out of them, and where the best lies.
 *
 * Replication r of every point has seed base + r, so that all points meet the same failures (common
 * random numbers) and differences between points are far sharper than each mean. With a target
 * confidence, replications are added in batches until the objective's interval is narrow enough;
 * the number depends on the values alone, never on threads. Results are the same for any number of
 * threads. Scenarios without `run:` are studied step by step (one replication, unless they jitter).
 */
#ifndef ORRERY_ANALYSIS_STUDY_H
#define ORRERY_ANALYSIS_STUDY_H

#include "analysis/statistics.h"
#include "analysis/study_vary.h"
#include "models/job.h"
#include "scenarios/scenario.h"

enum study_unit {
    METRIC_IN_PLAIN, /* a count, tokens, money: as the name says */
    METRIC_IN_SHARE,
    METRIC_IN_TIME,
    METRIC_IN_BYTES
};
/* X(name, of weeks, larger is better, unit, what it is) */
#define STUDY_METRICS(X)                                                                           \
    X(goodput, true, true, METRIC_IN_SHARE,                                                        \
      "tokens kept, of those of the same time without failures and saves")                         \
    X(ettr, true, true, METRIC_IN_SHARE, "productive share of the wall clock")                     \
    X(tokens_per_day, true, true, METRIC_IN_PLAIN, "tokens kept for each day of wall clock")       \
    X(wall_s, true, false, METRIC_IN_TIME, "wall clock")                                           \
    X(steps_completed, true, true, METRIC_IN_PLAIN, "steps whose result was kept")                 \
    X(tokens_completed, true, true, METRIC_IN_PLAIN, "tokens of those steps")                      \
    X(failures, true, false, METRIC_IN_PLAIN, "failures")                                          \
    X(interruptions, true, false, METRIC_IN_PLAIN, "times that the job stopped for one")           \
    X(checkpoints, true, false, METRIC_IN_PLAIN, "durable checkpoints")                            \
    X(cost_usd, true, false, METRIC_IN_PLAIN, "price of all GPUs for the wall clock")              \
    X(cost_usd_per_1e9_tokens, true, false, METRIC_IN_PLAIN,                                       \
      "price of a thousand million kept tokens")                                                   \
    X(energy_j, true, false, METRIC_IN_PLAIN, "energy of the GPUs")                                \
    X(useful_s, true, true, METRIC_IN_TIME, "badput class useful")                                 \
    X(checkpoint_s, true, false, METRIC_IN_TIME, "badput class checkpoint")                        \
    X(lost_work_s, true, false, METRIC_IN_TIME, "badput class lost_work")                          \
    X(detect_s, true, false, METRIC_IN_TIME, "badput class detect")                                \
    X(restart_s, true, false, METRIC_IN_TIME, "badput class restart")                              \
    X(wait_s, true, false, METRIC_IN_TIME, "badput class wait")                                    \
    X(degraded_s, true, false, METRIC_IN_TIME, "badput class degraded")                            \
    X(maintenance_s, true, false, METRIC_IN_TIME, "badput class maintenance")                      \
    X(idle_s, true, false, METRIC_IN_TIME, "badput class idle")                                    \
    X(step_time_s, false, false, METRIC_IN_TIME, "one step on the cluster as it should be")        \
    X(tokens_per_s, false, true, METRIC_IN_PLAIN, "throughput without failures and saves")         \
    X(mfu, false, true, METRIC_IN_SHARE, "model FLOPs utilisation of that step")                   \
    X(peak_reserved_bytes, false, false, METRIC_IN_BYTES, "reserved memory of the fullest rank")
enum study_metric {
#define X(name, weeks, larger, unit, doc) METRIC_##name,
    STUDY_METRICS(X)
#undef X
    METRIC_COUNT
};
struct study_metric_info {
    const char *name, *doc;
    bool weeks, larger_is_better;
    enum study_unit unit;
};
extern const struct study_metric_info study_metrics[METRIC_COUNT];
int study_metric_find(const char *name); /* or -1 */

struct study_options {
    const char *path; /* of the scenario */
    const char *text; /* what stands there: read once, for it may be a pipe */
    size_t text_bytes;
    const struct scenario_options *scenario;
    const char *const *varies;
    unsigned vary_count;
    uint64_t seeds;          /* replications of each point, or the most of them */
    double confidence_ratio; /* half width of the objective's interval to its mean; 0: all seeds */
    const char *objective;   /* NULL: goodput, or tokens_per_s without weeks */
    unsigned threads;
};
/* The closed forms beside a point (reliability.md); NAN where they have no meaning. */
struct study_marks {
    double interval_s, young_s, daly_s, exact_s, job_mtbf_s, stall_s;
};
struct study_point {
    size_t replications;
    double (*values)[METRIC_COUNT]; /* by replication; NAN: not in this study */
    struct study_marks marks;
    bool done, fits;
};
struct study {
    struct arena *arena;
    const struct study_options *options;
    struct vary varies[VARY_MAX];
    unsigned vary_count;
    const char *name; /* of the scenario */
    uint64_t base_seed, fingerprint;
    const struct scenario_input *inputs; /* of all points */
    bool weeks;
    enum study_metric objective;
    struct study_point *points;
    size_t point_count;
};
/* Reads the scenario with the values of every point; problems of the first point that has any are
 * printed to `notes`. False with a sentence; nothing is played. */
bool study_plan(struct arena *arena, const struct study_options *options, struct study *out,
                FILE *notes, bool colour, struct error *error);
/* The scenario with the values of one point; to be destroyed. NULL with a sentence when the file
 * cannot be read. */
struct scenario *study_scenario(const struct study *study, size_t point, struct error *error);
/* The values of one metric, in the order of seeds. */
double *study_column(struct arena *arena, const struct study_point *point, enum study_metric m);
void study_summarise(struct arena *arena, const struct study_point *point, enum study_metric m,
                     struct summary *out);
/* Enough replications of this point? `target`: how many it should have next. */
bool study_enough(const struct study *study, const struct study_point *point, size_t *target);
/* "checkpoint.interval=30min, recovery.spares=4" */
const char *study_label(struct arena *arena, const struct study *study, size_t point);

/* Plays one point to its end, from the replications that it already has (a resumed study). False
 * with a sentence when it cannot be simulated. */
struct study_player;
struct study_player *study_player_create(struct study *study);
void study_player_destroy(struct study_player *player);
bool study_play(struct study_player *player, size_t point, struct error *error);

/* Where the objective is best. */
struct study_optimum {
    size_t point; /* with the best mean */
    size_t tied;  /* points, itself included, that a paired test cannot tell from it */
    size_t tied_first, tied_last;
    double value, low95, high95; /* of the varied key, between points; NAN: not one numeric key,
                                    or the best lies at an end */
    bool at_end, too_far_apart;  /* no parabola goes through the points around it */
};
void study_optimum(const struct study *study, struct study_optimum *out);

#endif
