/* step.h - simulate one training step of a configuration: what `orrery run` and every search calls.
 *
 * step_run builds the cluster, lowers the programs, checks memory with the ledger, finds the
 * symmetry classes, plays them, and gathers the result. When some rank runs out of memory the
 * result holds the ledger up to there and `fits` is false; time is then not simulated unless it
 * fails only in the middle of the step (see failure). Everything lives in the step, freed whole.
 *
 * Who asks for the outcome only has bundles of classes played (symmetry_bundle), as long as they
 * have the times of their classes, and else the classes. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_STEP_H
#define ORRERY_MODELS_STEP_SIMULATE_STEP_H

#include "models/memory/ledger.h"
#include "models/step/simulate/step_power.h"
#include "models/step/simulate/worker.h"
#include "sim/error.h"

struct step_options {
    bool unfold;
    bool ledger_points; /* keep the memory timelines */
    bool ignore_memory; /* play on although it does not fit */
    bool memory_only;   /* ledger only, no time */
    bool fits_only;     /* that, up to the first program that does not fit: only `fits` counts */
    bool time_only;     /* no ledger: nothing is known of memory, and nothing refused for it */
    bool fitting_only;  /* time only where it fits */
    bool outcome_only;  /* of time only step_s, rates and the mean breakdown, as without: no worker,
                        * digest, power, or instant of a failure */
    bool brief;         /* time only when it is soon played; else what is refused, without time */
    double usable_bytes; /* of a card, in place of what a process can allocate there; 0: that */
    struct arena *arena; /* where the step lives until it is destroyed; NULL: one of its own */
    unsigned threads;    /* that read its classes; 0: all processors for a large step, else one */
};
struct stage_memory { /* one program: the ranks of a stage */
    uint32_t program, stage, rank_count, representative;
    struct ledger_result ledger;
};
/* The memory of the CPUs of a node: what the ranks of the fullest one keep there at once. */
struct host_memory {
    double bytes, room_bytes; /* room_bytes 0: not said, all fits */
    uint32_t rank;            /* the first of its ranks */
    bool fits;
};
struct step_rates {
    double tokens_per_s;
    double mfu_ratio;        /* of configuration_formula, whatever kernels skip */
    double causal_mfu_ratio; /* the same with half of the scores where a mask is causal */
    double hfu_ratio;        /* what the kernels do: recomputed in, skipped out; never above 1 */
    double model_flops;      /* of a step, whole job */
};
struct step_peak {
    double allocated_bytes, reserved_bytes; /* of the worst rank */
};
struct step_failed {
    uint32_t program; /* where a card's memory ends first; UINT32_MAX: it nowhere does */
    double at_s;      /* in the step, when it fails inside a step that was timed; else 0 */
};
struct step_parts {
    double bubble_ratio;                     /* bubble of the mean rank / step */
    double breakdown_s[PART_COUNT];          /* of the mean rank; sums to step_s */
    double (*class_breakdown_s)[PART_COUNT]; /* by rank class; NULL: no time */
    uint32_t *read_as; /* by rank class: the class, itself or before it, whose times are the same to
                        * the bit; NULL: no time */
};
struct step_counts {
    uint64_t events, ops, classes, ranks;
};
struct step {
    struct sim *sim;
    struct topology topology;
    struct layout layout;
    struct lowered lowered;
    struct symmetry symmetry;
    struct network *network; /* NULL when no time was simulated */
    struct worker *worker;
    struct stage_memory *memory; /* by program */
    uint32_t memory_count;
    struct host_memory host;
    bool fits; /* on the cards and on the hosts */
    double step_s;
    uint64_t digest;  /* of the unfolded timeline; see sim/digest.h */
    unsigned threads; /* as the options asked */
    struct step_rates rates;
    struct step_peak peak;
    struct step_failed failed;
    struct step_parts parts;
    struct step_counts counts;
    struct step_power power; /* 0: no time */
};
/* False with a sentence when the cluster cannot be built, when its ranks play more ops than can be
 * simulated, or when a step takes longer than can be recorded. The caller destroys the step. */
bool step_run(const struct configuration *c, const struct step_options *options, struct step **out,
              struct error *error);
void step_destroy(struct step *step);
/* These FLOPs of the whole job in this time, of what all ranks could do at the dense peak of the
 * precision: MFU of model FLOPs, HFU of those that the kernels do. */
double step_peak_ratio(const struct configuration *c, double flops, double step_s);
/* How many threads to read this step's classes with. The outcome does not depend on it. */
unsigned step_threads(const struct step *step);

#endif
