#include "models/step/estimate/pass_spans.h"

#include <math.h>
#include <stdbool.h>

void pass_spans_forget(struct pass_spans *spans, double now_s)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < spans->count; i++)
        if (spans->rows[i].finish_s > now_s)
            spans->rows[kept++] = spans->rows[i];
    spans->count = kept;
}

void pass_spans_add(struct pass_spans *spans, double begin_s, double finish_s)
{
    struct pass_span *rows = spans->rows;
    if (finish_s <= begin_s)
        return;
    if (spans->count == PASS_SPANS_MAX) {
        rows[1].begin_s = rows[0].begin_s;
        for (unsigned i = 1; i < PASS_SPANS_MAX; i++)
            rows[i - 1] = rows[i];
        spans->count--;
    }
    rows[spans->count++] = (struct pass_span){begin_s, finish_s};
}

double pass_spans_slowed_s(const struct pass_spans *spans, double begin_s, double work_s,
                           double speed)
{
    double now_s = begin_s, left_s = work_s;
    while (left_s > 0.0) {
        double until_s = INFINITY;
        bool disturbed = false;
        for (unsigned i = 0; i < spans->count; i++) {
            const struct pass_span *t = &spans->rows[i];
            if (t->begin_s <= now_s && t->finish_s > now_s) {
                until_s = disturbed ? fmax(until_s, t->finish_s) : t->finish_s;
                disturbed = true;
            }
        }
        for (unsigned i = 0; i < spans->count && !disturbed; i++)
            if (spans->rows[i].begin_s > now_s)
                until_s = fmin(until_s, spans->rows[i].begin_s);
        const double rate = disturbed ? speed : 1.0;
        if (now_s + left_s / rate <= until_s)
            return now_s + left_s / rate;
        left_s -= (until_s - now_s) * rate;
        now_s = until_s;
    }
    return now_s;
}
