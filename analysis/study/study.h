/* study.h - many runs of one scenario: keys varied over a grid, replications by seeds, what comes
 * out of them, and where the best lies.
 *
 * Replication r of every point has seed base + r, so that all points meet the same failures (common
 * random numbers) and differences between points are far sharper than each mean. With a target
 * confidence, replications are added in batches until the objective's interval is narrow enough;
 * the number depends on the values alone, never on threads. Results are the same for any number of
 * threads. Scenarios without `run:` are studied step by step (one replication, unless they jitter).
 * Points that break a rule are counted by their reason and left out.
 *
 * A study can be cut into n shards, which other processes play. Points are dealt out one by one;
 * those beyond the last full round are cut into n parts by replication, unless a confidence is
 * asked for, which must see all of them. The cut knows the number of points and of seeds alone, and
 * points and seeds have the same numbers in every shard.
 */
#ifndef ORRERY_ANALYSIS_STUDY_STUDY_H
#define ORRERY_ANALYSIS_STUDY_STUDY_H

#include "analysis/output/terminal/shard.h"
#include "analysis/record/numbers/metric_source.h"
#include "analysis/record/numbers/statistics.h"
#include "analysis/study/study_vary.h"
#include "models/job/player/job.h"
#include "scenarios/assemble/scenario.h"

struct study_warnings;

/* How people read a metric: by its unit in the list of metrics (record/numbers/metrics.h). */
enum study_unit {
    METRIC_IN_PLAIN, /* a count, tokens: as the name says */
    METRIC_IN_SHARE,
    METRIC_IN_TIME,
    METRIC_IN_BYTES,
    METRIC_IN_MONEY,
    METRIC_IN_ENERGY,
    METRIC_IN_POWER
};
enum study_unit study_unit(enum study_metric metric);

struct study_options {
    const char *path; /* of the scenario */
    const char *text; /* what stands there: read once, for it may be a pipe */
    size_t text_bytes;
    const struct scenario_options *scenario;
    const char *const *varies;
    unsigned vary_count;
    uint64_t seeds;          /* replications of each point, or the most of them */
    double confidence_ratio; /* half width of the objective's interval to its mean; 0: all seeds */
    /* NULL: goodput where all points have one step, else tokens a day; of steps tokens_per_s */
    const char *objective;
    unsigned threads;
    uint64_t top; /* lists show the best so many points; 0: all */
    struct shard shard;
};
/* The closed forms beside a point (reliability.md); NAN where they have no meaning. */
struct study_marks {
    double interval_s, young_s, daly_s, exact_s, job_mtbf_s, stall_s;
};
/* What is missing where a point does not fit: the first tensor without room, and by how much the
 * whole misses the card (peak_reserved_bytes is then what it would need). */
struct study_shortage {
    const char *tensor, *tenant; /* NULL: it fits */
    uint32_t stage;
    double short_bytes; /* what it would need less usable_bytes */
};
/* Replications of a point that a shard plays: `first` and those that follow; all, without shards.
 */
struct study_share {
    size_t first, count;
};
struct study_point {
    const struct scenario_chosen *chosen; /* of its step; NULL: refused */
    struct study_share share;
    size_t replications;            /* of the share, as all that follows */
    double (*values)[METRIC_COUNT]; /* by replication; NAN: not in this study */
    struct study_marks marks;
    const char *announced; /* announced_words of its hardware; NULL: it is sold */
    const char *refusal;   /* the rule that it breaks; NULL: it can be played */
    double usable_bytes;   /* of a card */
    struct study_shortage shortage;
    size_t stored; /* replications that the database holds; SIZE_MAX: rows that are no good */
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
    bool one_step;  /* all keys are of weeks: every point has the same step */
    bool stored;    /* the database knows the study already */
    bool as_stored; /* and with the same seeds and confidence */
    enum study_metric objective;
    struct study_point *points;
    size_t point_count;
    struct study_warnings *warnings; /* of the points as they were read; NULL: recalled */
};
/* Reads the scenario with the values of every point. Points that break a rule get a refusal and are
 * not played. False with a sentence when no point is left, or when a value is wrong by itself (a
 * typing error in --vary): the problems of the first such point are printed to `notes`. */
bool study_plan(struct arena *arena, const struct study_options *options, struct study *out,
                FILE *notes, bool colour, struct error *error);
/* What a shard plays of a point. The shard that has its first replication tells why it is refused;
 * the others play nothing where one replication is all that there is. */
struct study_share study_share(const struct study *study, struct shard shard, size_t point);
/* Gives every point its share. */
void study_deal(struct study *study);
/* How many points the keys make; false with a sentence where those and the seeds are too many. */
bool study_size(struct study *study, struct error *error);
/* The scenario with the values of one point; to be destroyed. NULL with a sentence when the file
 * cannot be read. */
struct scenario *study_scenario(const struct study *study, size_t point, struct error *error);
/* Is this metric one of this study's kind? */
bool study_measures(const struct study *study, unsigned metric);
/* Why points were refused: sentences that differ in their numbers alone are one reason, told by the
 * first. In order of their first points. */
struct study_reason {
    const char *text;
    size_t first_point, count;
};
size_t study_reasons(const struct study *study, struct study_reason **out);
size_t study_refused(const struct study *study); /* points in all */
bool study_fits(const struct study *study);      /* a point does */
/* The points that can be played in the order in which lists show them: of the grid, or with `top`
 * the best `top` of them, best first (what has no value last). Returns how many. */
size_t study_order(const struct study *study, size_t top, size_t **out);
/* Is it the memory of a node's CPUs that a point is short of? Then its cards have enough. */
bool study_short_on_host(const struct study_point *point);
/* The point that is short by least, of those that do not fit; SIZE_MAX: none. */
size_t study_nearest(const struct study *study);
/* No point has more than one replication: there is nothing to say about a spread. */
bool study_single(const struct study *study);
void study_summarise(struct arena *arena, const struct study_point *point, enum study_metric m,
                     struct summary *out);
/* Enough replications of this point? `target`: how many it should have next. */
bool study_enough(const struct study *study, const struct study_point *point, size_t *target);
/* study_vary_label of it */
const char *study_label(struct arena *arena, const struct study *study, size_t point);

/* Plays one point to its end, from the replications that it already has (a resumed study); what
 * cannot be simulated gets a refusal. False with a sentence when the scenario can no longer be
 * read.
 */
struct study_player;
struct study_player *study_player_create(struct study *study);
void study_player_destroy(struct study_player *player);
bool study_play(struct study_player *player, size_t point, struct error *error);
/* Prints the warnings that are known of the weeks of the points that were played: tainted
 * checkpoints, and replications that were given up. */
void study_player_tell(const struct study_player *player, FILE *notes, bool colour);
/* Simulates a step of the point that the report names, the best or the nearest that does not fit,
 * and prints what late_warnings_of_step finds: to try all would take longer than the study. */
void study_tell_step(const struct study *study, FILE *notes, bool colour);

/* Where the objective is best. */
struct study_optimum {
    bool found;   /* a point fits and has a value */
    size_t point; /* with the best mean */
    size_t tied;  /* points, itself included, that a paired test cannot tell from it; where every
                     point has one replication: that have the same value */
    size_t tied_first, tied_last;
    const bool *is_tied;         /* by point */
    bool all_tied;               /* of several that fit: none is better than another */
    double value, low95, high95; /* of the varied key, between points; NAN: not one numeric key,
                                    or the best lies at an end */
    bool at_end;                 /* of the values, and none between the ends is as good */
    bool too_far_apart;          /* no parabola goes through the points around it */
};
void study_optimum(const struct study *study, struct study_optimum *out);

#endif
