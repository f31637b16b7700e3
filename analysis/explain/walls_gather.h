/* walls_gather.h - the envelope of a scenario and, beside it, what the engine finds: the ledger of
 * one sequence on a card without end, the step, the all-reduce played on the cluster's wires, and
 * the kernels of a layer against the roofline.
 *
 * Nothing simulated is known of a mixture of experts, which is only counted; of a job that does not
 * fit, its memory. Texts and kernels live in the arena that is given. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_WALLS_GATHER_H
#define ORRERY_ANALYSIS_EXPLAIN_WALLS_GATHER_H

#include <stdbool.h>

#include "analysis/explain/walls.h"
#include "analysis/record/numbers/flops_words.h"
#include "models/layout/configuration.h"
#include "models/step/simulate/step.h"
#include "scenarios/assemble/scenario.h"

/* What is taken for granted. */
struct walls_assumed {
    double mfu_ratio;
    double bandwidth_bytes_per_s; /* of a GPU, one direction, for the all-reduce */
};
#define WALLS_MFU 0.4          /* --mfu, where it is not given */
#define WALLS_BANDWIDTH_GB 100 /* --bandwidth, likewise, in 10^9 bytes a second */

struct walls_envelope {
    struct walls_shape shape; /* of one sequence */
    double parameters;        /* nominal where the model has such a number, else exact */
    double active_parameters; /* that a token visits: of a mixture of experts fewer */
    bool adapters;            /* alone are trained, beside frozen weights */
    double trained_parameters;
    double state_bytes_per_parameter, gradient_bytes_per_parameter;
    double gpus, usable_bytes; /* cards; what a process can allocate on one */
    double cards;              /* of their nominal memory that hold the state */
    double peak_flops_per_s, hbm_bytes_per_s;
    double inference_bytes, inference_cards; /* of weights alone */
    double cache_token_bytes, cache_bytes;   /* keys and values in 16 bit: of a token, a sequence */
    double cache_parts;                      /* into which tensor parallelism splits them at most */
    double step_tokens, budget_tokens;       /* NAN: not said */
    struct walls_assumed assumed;
};
/* Of so many tokens: 6 N, or 4 N + 6 n with adapters. */
double walls_envelope_flops(const struct walls_envelope *envelope, double tokens);
double walls_envelope_gradient_bytes(const struct walls_envelope *envelope);
struct walls_simulated { /* NAN: not simulated */
    double state_bytes, kept_bytes, kept_with_scores_bytes, recomputed_bytes;
    double cards;
    double sequence_flops, step_flops, budget_flops; /* of words.flops.formula a token */
    double step_s, mfu_ratio, budget_s, gpu_s_of_budget;
    double all_reduce_s, exposed_dp_s;
    double card_state_bytes, peak_reserved_bytes; /* of the fullest card */
    const char *most;  /* of the breakdown of the step; NULL: not timed */
    double most_ratio; /* its share of the step */
    bool fits, timed;
};
struct walls_kernel { /* of a layer's forward pass, or of the head, of one microbatch of a rank */
    const char *block, *name;
    double flops, bytes, roofline_s, modelled_s;
    enum peak_kind peak;     /* at which it computes */
    double peak_flops_per_s; /* its roof */
    bool by_arithmetic;      /* its roofline is that of the peak, not of HBM */
};
struct walls_words {
    struct flops_words flops;   /* of the simulated numbers */
    const char *sequence, *mfu; /* formulas of the rows that name that one */
};
struct walls {
    struct walls_envelope envelope;
    struct walls_words words;
    struct walls_simulated simulated;
    enum walls_wall binding;
    const struct walls_kernel *kernels;
    unsigned kernel_count;
};
/* False with a sentence when the step cannot be simulated though its keys are in order. */
bool walls_gather(struct arena *arena, const struct scenario *scenario,
                  const struct walls_assumed *assumed, struct walls *out, struct error *error);

/* The peaks of all kernels that compute, the highest first; returns how many. */
unsigned walls_roofs(const struct walls *walls, const struct walls_kernel *roofs[PEAK_COUNT]);

#endif
