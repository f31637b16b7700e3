/* pass_spans.h - transfers of a rank that slow the compute beside them: when each is under way. */
#ifndef ORRERY_MODELS_STEP_ESTIMATE_PASS_SPANS_H
#define ORRERY_MODELS_STEP_ESTIMATE_PASS_SPANS_H

enum {
    PASS_SPANS_MAX = 64
};
struct pass_spans { /* seconds, those that may not be over; zero: none */
    struct pass_span {
        double begin_s, finish_s;
    } rows[PASS_SPANS_MAX];
    unsigned count;
};

/* One that is empty is left out; of too many the oldest, which ends first, is joined to the next.
 */
void pass_spans_add(struct pass_spans *spans, double begin_s, double finish_s);
/* Keeps those that reach beyond this instant. */
void pass_spans_forget(struct pass_spans *spans, double now_s);
/* When work is done that takes work_s from begin_s on, and goes at this speed (a ratio) beside one.
 */
double pass_spans_slowed_s(const struct pass_spans *spans, double begin_s, double work_s,
                           double speed);

#endif
