#include <math.h>
#include <stdio.h>

#include "tests/laws/law_books.h"

#define CLOSE 1e-12 /* of the step */

struct tiling {
    const struct law_play *p;
    uint32_t rank_class;
    const struct worker_idle *spans;
    uint32_t count, next;
    double until_s, busy_s, idle_s[PART_COUNT];
};

static bool meets(const struct tiling *t, double at_s)
{
    return fabs(at_s - t->until_s) <= CLOSE * t->p->step_s;
}

/* Spans that begin before this moment lead up to it without a gap. */
static bool reach(struct tiling *t, double at_s)
{
    for (; t->next < t->count && t->spans[t->next].from_s < at_s; t->next++) {
        const struct worker_idle *span = &t->spans[t->next];
        if (!meets(t, span->from_s) || span->until_s < span->from_s || span->part >= PART_COUNT)
            return false;
        t->idle_s[span->part] += span->until_s - span->from_s;
        t->until_s = span->until_s;
    }
    return meets(t, at_s);
}

static bool tile(struct tiling *t)
{
    const struct law_play *p = t->p;
    const struct program *program = p->lowered.programs[p->symmetry.ranks[t->rank_class].program];
    for (uint32_t i = 0; i < program->op_count; i++) {
        if (program->ops[i].stream != STREAM_COMPUTE)
            continue;
        const struct op_times at = worker_times(p->worker, t->rank_class, i);
        if (!reach(t, at.begin_s))
            return false;
        t->busy_s += at.finish_s - at.begin_s;
        t->until_s = at.finish_s;
    }
    return reach(t, p->step_s) && t->next == t->count;
}

static const char *class_fault(struct tiling *t, char text[LAW_TEXT])
{
    static const enum breakdown_part worked[] = {PART_COMPUTE, PART_RECOMPUTE, PART_OPTIMIZER};
    double parts[PART_COUNT];
    worker_breakdown(t->p->worker, t->rank_class, parts);
    if (!tile(t)) {
        snprintf(text, LAW_TEXT, "class %u: waits and ops do not meet at %.17g s", t->rank_class,
                 t->until_s);
        return text;
    }
    t->idle_s[PART_STRAGGLER] += t->busy_s;
    for (unsigned i = 0; i < 3; i++) {
        t->idle_s[PART_STRAGGLER] -= parts[worked[i]];
        t->idle_s[worked[i]] += parts[worked[i]];
    }
    for (unsigned part = 0; part < PART_COUNT; part++)
        if (!(fabs(t->idle_s[part] - parts[part]) <= CLOSE * t->p->step_s)) {
            snprintf(text, LAW_TEXT, "class %u: %s is %.17g s, its spans are %.17g", t->rank_class,
                     breakdown_names[part], parts[part], t->idle_s[part]);
            return text;
        }
    return NULL;
}

const char *law_idle_fault(const struct law_play *p, char text[LAW_TEXT])
{
    const char *fault = NULL;
    for (uint32_t i = 0; i < p->symmetry.rank_class_count && fault == NULL; i++) {
        const struct arena_mark mark = arena_mark(p->arena);
        struct tiling t = {.p = p, .rank_class = i};
        t.spans = worker_idle(p->worker, i, p->arena, &t.count);
        fault = class_fault(&t, text);
        arena_rewind(p->arena, mark);
    }
    return fault;
}
