/* nccl_tests_state.h - what the readers of nccl-tests' and rccl-tests' outputs share: how a
 * collective is called, whether a row's figures agree, and the samples that become points. */
#ifndef ORRERY_SCENARIOS_IMPORT_MACHINE_NCCL_TESTS_STATE_H
#define ORRERY_SCENARIOS_IMPORT_MACHINE_NCCL_TESTS_STATE_H

#include "scenarios/import/machine/nccl_tests.h"

struct nccl_sample {
    struct calibrate_point point;
    double time_s;
    unsigned order;
};
struct nccl_reading {
    struct import_text text;
    struct arena *arena;
    const char *given_op, *op; /* as steps call it; NULL: not told */
    unsigned host_count, rank_count;
    struct nccl_sample *samples;
    unsigned sample_count, sample_room;
    struct nccl_tests *out;
};
/* One measurement as it is printed. */
struct nccl_times {
    double bytes;
    double time_us, algbw, busbw; /* GB/s */
    double wrong;                 /* values; 0: none, or not checked */
};
/* What a row says of its collective beside its figures. */
struct nccl_hints {
    const char *redop, *root; /* NULL or "": it has no such column */
    bool in_place_unchecked;  /* wrong values are counted out of place, and N/A in place */
};

/* What one of nccl-tests' programs, or rccl-tests' names, is called in a step: "alltoall_perf" and
 * "AllToAll" -> "all_to_all"; names of steps stay. NULL: none that a step plays. */
const char *nccl_tests_op(const char *program);
/* Sets the operation; false with a sentence where no step plays it. */
bool nccl_tests_take_op(struct nccl_reading *r, const char *program);
/* The operation that busbw over algbw among these ranks tells, where it can be one alone: each has
 * its own factor (nccl-tests PERFORMANCE.md) and reduces or has a root, or not. NULL: none, or
 * several. */
const char *nccl_tests_guess(unsigned ranks, const struct nccl_times *times,
                             const struct nccl_hints *hints);
/* The number format in a profile; "": one that no step sends; NULL: none of nccl-tests'. */
const char *nccl_tests_type(const char *type);
/* Checks that time, bandwidths, operation, ranks and hints agree, and keeps the sample. False with
 * a sentence. */
bool nccl_tests_keep(struct nccl_reading *r, const char *type, const struct nccl_times *times,
                     const struct nccl_hints *hints);
/* Samples to points. */
void nccl_tests_points(struct nccl_reading *r);
bool nccl_tests_question(const struct nccl_reading *r); /* "which collective is it?"; false */

/* A text that begins with '{' or '[': rccl-tests' list or lines of objects, or the object that
 * nccl-tests writes with -J. */
bool nccl_tests_json(struct nccl_reading *r);

#endif
