/* waterfall.h - from the peak of all cards down to the tokens of a day, term by term.
 *
 * Known from a record alone. Terms are seconds of a step of the mean rank; of weeks, what each
 * class of lost time adds to a step that was kept: step_s x class / useful. They add up to the time
 * of a kept step, and so to tokens a day: the first row is the model's FLOPs at the dense peak, and
 * each following one says how many tokens a day are left behind it. The order of the rows decides
 * how many tokens a day a row takes; its seconds do not depend on it. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_WATERFALL_H
#define ORRERY_ANALYSIS_EXPLAIN_WATERFALL_H

#include <stdbool.h>

#include "analysis/record/numbers/record.h"
#include "sim/error.h"

/* X(key, when, what, stands_on, seconds): `when` TIMED or WEEKS; `stands_on` begins the names of
 * the constants, blank-separated, behind the name of their entry ("gpu.", "node."), that the term
 * depends on most; `seconds` is an expression over `r`, a const struct run_row *. */
#define WATERFALL_OF_THE_STEP(X)                                                                   \
    X(useful, TIMED, "model FLOPs (as MFU counts them) at the dense peak", "gpu.peak_",            \
      r->mfu_ratio * r->step_s)                                                                    \
    X(masked_scores, TIMED, "scores counted in those that a causal mask leaves out", "",           \
      waterfall_masked(r))                                                                         \
    X(kernels, TIMED, "kernels below the peak: efficiency, HBM, power cap, small ops",             \
      "gpu.gemm_ gpu.attention_ gpu.hbm_ gpu.kernel_start software.interference",                  \
      r->compute_s - r->mfu_ratio * r->step_s - waterfall_masked(r))                               \
    X(recompute, TIMED, "forward kernels run again to save memory", "gpu.gemm_ gpu.attention_",    \
      r->recompute_s)                                                                              \
    X(exposed_tp, TIMED, "tensor-parallel communication that nothing hides",                       \
      "node.nvlink_ node.nvls_ node.collective_start software.tp_", r->exposed_tp_s)               \
    X(exposed_cp, TIMED, "context-parallel communication that nothing hides",                      \
      "node.nvlink_ node.nic_ fabric.efficiency fabric.latency software.cp_", r->exposed_cp_s)     \
    X(exposed_ep, TIMED, "expert-parallel communication that nothing hides",                       \
      "node.nvlink_ node.nic_ fabric.efficiency fabric.latency", r->exposed_ep_s)                  \
    X(bubble, TIMED, "the pipeline has no work for the stage", "", r->bubble_s)                    \
    X(exposed_pp, TIMED, "the wire between stages",                                                \
      "node.nic_ fabric.efficiency fabric.latency software.p2p_", r->exposed_pp_s)                 \
    X(exposed_dp, TIMED, "gradients and parameters among replicas that nothing hides",             \
      "node.nic_ fabric.efficiency fabric.switch_latency software.bucket software.overlap_",       \
      r->exposed_dp_s)                                                                             \
    X(offload, TIMED, "activations on their way to the host or back",                              \
      "node.pcie_bandwidth node.host_dram_", r->offload_s)                                         \
    X(optimizer, TIMED, "updating the weights", "gpu.hbm_ software.optimizer_", r->optimizer_s)    \
    X(host, TIMED, "the CPU had not launched the next kernel",                                     \
      "software.launch software.pass_host software.data_host software.optimizer_host", r->host_s)  \
    X(straggler, TIMED, "a peer's card is slower at the same work", "gpu.speed_spread",            \
      r->straggler_s)
#define WATERFALL_OF_WEEKS(X)                                                                      \
    X(checkpoint, WEEKS, "standing still while a checkpoint is taken",                             \
      "storage.client_ storage.node_ storage.total_ storage.latency",                              \
      waterfall_lost(r, r->checkpoint_s))                                                          \
    X(lost_work, WEEKS, "steps that a failure undid",                                              \
      "failures.mtbf=", waterfall_lost(r, r->lost_work_s))                                         \
    X(detect, WEEKS, "until a failure was noticed",                                                \
      "failures.mtbf=", waterfall_lost(r, r->detect_s))                                            \
    X(restart, WEEKS, "from there to the first step again",                                        \
      "failures.mtbf= storage.client_ storage.node_ storage.total_ storage.latency",               \
      waterfall_lost(r, r->restart_s))                                                             \
    X(wait, WEEKS, "waiting for a spare or a repair",                                              \
      "failures.mtbf=", waterfall_lost(r, r->wait_s))                                              \
    X(degraded, WEEKS, "slower, or with fewer replicas",                                           \
      "failures.mtbf=", waterfall_lost(r, r->degraded_s))                                          \
    X(maintenance, WEEKS, "planned", "", waterfall_lost(r, r->maintenance_s))
#define WATERFALL(X) WATERFALL_OF_THE_STEP(X) WATERFALL_OF_WEEKS(X)

enum waterfall_key {
#define X(key, when, what, stands_on, seconds) WATERFALL_##key,
    WATERFALL(X)
#undef X
    WATERFALL_COUNT
};
struct waterfall_term {
    const char *key, *what, *stands_on;
    double seconds;        /* of a kept step; the first term is what nothing can take */
    double tokens_per_day; /* that are left behind this term */
    bool known;            /* of weeks: not of a single step */
};
struct waterfall {
    struct waterfall_term terms[WATERFALL_COUNT];
    double kept_step_s;    /* wall clock of a kept step: the sum of the terms that are known */
    double step_s;         /* without failures and saves */
    double paced_s;        /* of the straggler term: inside ops, at the pace of a slower card */
    double tokens_per_day; /* behind the last term */
    bool weeks;
};
/* False with a sentence where the record holds no step that was timed, or its parts do not add up
 * to the step (a damaged file). Weeks that kept no step count as a single step. */
bool waterfall_of(const struct record *record, struct waterfall *out, struct error *error);

/* Time in which the GPU computes nothing, by cause, the longest first: without paced_s. */
struct idle_cause {
    const char *key, *what;
    double seconds;
};
/* Writes at most WATERFALL_COUNT causes that took time, of a step; returns how many. */
unsigned waterfall_idle(const struct waterfall *waterfall, struct idle_cause *out);

#endif
