/* result.h - what a simulated step has to tell, gathered once for the report, the JSON documents
 * and the database: the memory of each stage (as it goes, and as it would need), the first failure
 * in words, and how much of each communication stream hid under compute.
 *
 * Built in the step's arena; borrows the scenario and the step. Formats nothing. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_RESULT_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_RESULT_H

#include "analysis/record/numbers/advice.h"
#include "models/step/simulate/stagger.h"
#include "scenarios/assemble/scenario.h"

struct job_record;
struct result_stage {
    uint32_t program, stage, rank_count, first_rank, layers;
    double bubble_s;                    /* of its mean rank */
    const struct ledger_result *ledger; /* as it goes on this card; stops at a failure */
    struct ledger_result needed;        /* on a card without end */
};
struct result_failure {
    bool failed;
    bool on_host; /* not a card's memory: that of its node's CPUs; all cards have enough */
    uint32_t rank, stage;
    enum tenant tenant;
    const char *tensor; /* "layer 22 weights", in words */
    const char *at;     /* "before the first step", "first step, forward of microbatch 0" */
    const char *call_site;
    uint32_t step; /* 0: before the first */
    double at_s;   /* inside a step that was timed; else 0 */
    double bytes, short_bytes, allocated_bytes, reserved_bytes;
};
struct result_stream { /* of the mean rank */
    double busy_s, hidden_s, waited_s;
    uint64_t op_count; /* of the rank that has most */
};
struct result {
    const struct scenario *scenario;
    const struct step *step; /* NULL: the model can only be counted */
    struct result_stage *stages;
    uint32_t stage_count;
    struct result_failure failure;
    struct advice advice;
    struct result_stream streams[STREAM_COUNT];
    struct result_stream *class_streams; /* [class x STREAM_COUNT + stream]; NULL when not timed */
    bool timed;
    struct stagger stagger;       /* zero where nobody asked */
    const struct job_record *job; /* weeks of such steps; NULL: a single step */
};
void result_gather(const struct scenario *scenario, const struct step *step, struct result *out);
/* Peak of the fullest rank, as it would need: reserved, or allocated. */
double result_peak_bytes(const struct result *result, bool reserved);
/* What makes that smaller which found no room. */
const char *result_would_help(const struct result *result);
/* Looks for layouts nearby that fit, when this one does not. */
void result_advise(struct result *result);

#endif
