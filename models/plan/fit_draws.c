#include "models/plan/fit_draws.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/memory/ledger.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "sim/check.h"

static const struct fit_figure_row {
    size_t offset;
    bool less, sizes; /* is less of it worse? does it size tensors? */
} rows[FIT_FIGURE_COUNT] = {
#define X(name, member, less, sizes) {offsetof(struct configuration, member), less, sizes},
    FIT_FIGURES(X)
#undef X
};

enum fit_figure fit_draws_figure(size_t offset)
{
    unsigned figure = 0;
    while (figure < FIT_FIGURE_COUNT && rows[figure].offset != offset)
        figure++;
    return (enum fit_figure)figure;
}

static double *member(struct configuration *c, unsigned figure)
{
    return (double *)(void *)((char *)c + rows[figure].offset);
}

double fit_draws_value(const struct configuration *c, enum fit_figure figure)
{
    return *(const double *)(const void *)((const char *)c + rows[figure].offset);
}

struct fit_stage {
    const struct program *program;
    const struct program *moved[FIT_FIGURE_COUNT]; /* one of fit_asked.sizes at its worst */
    double *margin;                                /* [draw] of the card beside what is allocated */
    double enough; /* the least margin that it was found to fit with */
};
struct fit_asked {
    struct arena *scratch;
    const struct configuration *c; /* of few microbatches, unless the schedule holds all */
    const struct fit_draws *draws;
    double worst[FIT_FIGURE_COUNT];
    unsigned sizes[FIT_FIGURE_COUNT], size_count; /* figures that size tensors, and are drawn */
    double (*along)[FIT_FIGURE_COUNT]; /* [draw] each of these, from 0 as it is to 1 at its worst */
    struct fit_stage *stages;
    uint32_t stage_count;
    bool *fits;
};

static struct configuration with_values(const struct fit_asked *a, const double *values)
{
    struct configuration c = *a->c;
    for (unsigned f = 0; f < FIT_FIGURE_COUNT; f++)
        *member(&c, f) = values[f];
    return c;
}

static void find_worst(struct fit_asked *a)
{
    for (unsigned f = 0; f < FIT_FIGURE_COUNT; f++) {
        double worst = a->draws->values[0][f];
        for (uint32_t d = 1; d < a->draws->count; d++)
            worst = rows[f].less ? fmin(worst, a->draws->values[d][f])
                                 : fmax(worst, a->draws->values[d][f]);
        a->worst[f] = worst;
        if (rows[f].sizes && worst != fit_draws_value(a->c, (enum fit_figure)f))
            a->sizes[a->size_count++] = f;
    }
}

static bool fits_whole(const struct fit_asked *a, const double *values)
{
    const struct configuration c = with_values(a, values);
    const struct arena_mark mark = arena_mark(a->scratch);
    const bool fits = trial_fits_in(a->scratch, &c, c.gpu.hbm.usable_bytes);
    arena_rewind(a->scratch, mark);
    return fits;
}

/* What a tensor takes in a draw: linear in each figure that sizes it. */
static double drawn_bytes(const struct fit_asked *a, const struct fit_stage *s, size_t place,
                          bool setup, uint32_t draw)
{
    const struct ledger_entry *e = &(setup ? s->program->setup : s->program->ledger)[place];
    double bytes = e->bytes;
    for (unsigned k = 0; k < a->size_count; k++) {
        const struct ledger_entry *moved =
            &(setup ? s->moved[k]->setup : s->moved[k]->ledger)[place];
        bytes += (moved->bytes - e->bytes) * a->along[draw][k];
    }
    return fmax(bytes, 0.0);
}

/* What does not go through the allocator is of a figure's own size. */
static double outside_bytes(const struct fit_asked *a, const struct ledger_entry *e, uint32_t draw)
{
    return a->draws->values[draw][e->tenant == TENANT_CONTEXT ? FIT_context : FIT_communicator];
}

static bool stage_fits(const struct fit_asked *a, const struct fit_stage *s, uint32_t draw)
{
    const struct arena_mark mark = arena_mark(a->scratch);
    const struct program *p = s->program;
    struct program drawn = *p;
    const struct ledger_limits limits = {a->draws->values[draw][FIT_usable],
                                         a->c->software.memory.expandable_segments};
    struct ledger_result result;
    drawn.setup = ARENA_ARRAY(a->scratch, struct ledger_entry, p->setup_count);
    drawn.ledger = ARENA_ARRAY(a->scratch, struct ledger_entry, p->ledger_count);
    for (uint32_t i = 0; i < p->setup_count; i++) {
        drawn.setup[i] = p->setup[i];
        drawn.setup[i].bytes = (p->setup[i].flags & LEDGER_OUTSIDE) != 0
                                   ? outside_bytes(a, &p->setup[i], draw)
                                   : drawn_bytes(a, s, i, true, draw);
    }
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        drawn.ledger[i] = p->ledger[i];
        drawn.ledger[i].bytes = drawn_bytes(a, s, i, false, draw);
    }
    ledger_play(a->scratch, &drawn, &limits, false, &result);
    arena_rewind(a->scratch, mark);
    return !result.failure.failed;
}

/* Bytes that are held in each draw: `same` in all of them, and `apart` in one more than in another.
 */
struct fit_walk {
    const struct fit_asked *a;
    const struct ledger_entry **held_as; /* [tensor] the entry that allocated it */
    double (*more)[FIT_FIGURE_COUNT]; /* [tensor] of that entry with a size figure at its worst */
    double same, *apart, *peak;       /* [draw] */
    bool risen;                       /* since the last look for a peak */
};

static void look(struct fit_walk *w)
{
    for (uint32_t d = 0; d < w->a->draws->count && w->risen; d++) {
        const double held = w->same + w->apart[d];
        w->peak[d] = held > w->peak[d] ? held : w->peak[d];
    }
    w->risen = false;
}

static void hold(struct fit_walk *w, uint32_t tensor, double sign)
{
    const struct fit_asked *a = w->a;
    w->same += sign * w->held_as[tensor]->bytes;
    for (unsigned k = 0; k < a->size_count; k++) {
        const double more = sign * w->more[tensor][k];
        for (uint32_t d = 0; d < a->draws->count && more != 0.0; d++)
            w->apart[d] += more * a->along[d][k];
    }
}

static void take(struct fit_walk *w, const struct fit_stage *s, size_t place, bool setup)
{
    const struct ledger_entry *e = &(setup ? s->program->setup : s->program->ledger)[place];
    for (unsigned k = 0; k < w->a->size_count; k++)
        w->more[e->tensor][k] =
            (setup ? s->moved[k]->setup : s->moved[k]->ledger)[place].bytes - e->bytes;
    w->held_as[e->tensor] = e;
    hold(w, e->tensor, 1.0);
    w->risen = true;
}

/* Of a step that is not the first: what the first one builds is there. */
static void walk_step(struct fit_walk *w, const struct fit_stage *s)
{
    const struct program *p = s->program;
    for (uint32_t i = 0; i < p->ledger_count; i++)
        if ((p->ledger[i].flags & LEDGER_STAYS) != 0)
            take(w, s, i, false);
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        if ((e->flags & LEDGER_FIRST_STEP) != 0)
            continue;
        if (e->action == LEDGER_ALLOCATE) {
            take(w, s, i, false);
        } else {
            look(w);
            hold(w, e->tensor, -1.0);
        }
    }
    look(w);
}

static uint32_t tensor_bound(const struct program *p)
{
    uint32_t bound = 0;
    for (uint32_t i = 0; i < p->setup_count; i++)
        bound = p->setup[i].tensor >= bound ? p->setup[i].tensor + 1 : bound;
    for (uint32_t i = 0; i < p->ledger_count; i++)
        bound = p->ledger[i].tensor >= bound ? p->ledger[i].tensor + 1 : bound;
    return bound;
}

static void find_margins(const struct fit_asked *a, struct fit_stage *s)
{
    const struct arena_mark mark = arena_mark(a->scratch);
    const struct program *p = s->program;
    const uint32_t count = a->draws->count, tensors = tensor_bound(p);
    struct fit_walk w = {.a = a};
    w.held_as = ARENA_ARRAY(a->scratch, const struct ledger_entry *, tensors);
    w.more = arena_array(a->scratch, sizeof *w.more, tensors, _Alignof(double));
    w.apart = ARENA_ARRAY(a->scratch, double, count);
    w.peak = ARENA_ARRAY(a->scratch, double, count);
    for (uint32_t i = 0; i < p->setup_count; i++) {
        const bool outside = (p->setup[i].flags & LEDGER_OUTSIDE) != 0;
        for (uint32_t d = 0; d < count && outside; d++)
            w.apart[d] += outside_bytes(a, &p->setup[i], d);
        if (!outside)
            take(&w, s, i, true);
    }
    walk_step(&w, s);
    for (uint32_t d = 0; d < count; d++)
        s->margin[d] = a->draws->values[d][FIT_usable] - w.peak[d];
    arena_rewind(a->scratch, mark);
}

/* The margin of the fullest stage. */
static double least_margin(const struct fit_asked *a, uint32_t draw)
{
    double least = INFINITY;
    for (uint32_t s = 0; s < a->stage_count; s++)
        least = fmin(least, a->stages[s].margin[draw]);
    return least;
}

static void sort_by_margin(const struct fit_asked *a, uint32_t *order)
{
    for (uint32_t i = 0; i < a->draws->count; i++) {
        const double margin = least_margin(a, i);
        uint32_t at = i;
        for (; at > 0 && margin < least_margin(a, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* The fullest of those that are behind `before` in the order of margins; NULL: there is none. */
static struct fit_stage *next_stage(const struct fit_asked *a, const struct fit_stage *before,
                                    uint32_t draw)
{
    struct fit_stage *next = NULL;
    for (struct fit_stage *s = a->stages; s < a->stages + a->stage_count; s++) {
        const double margin = s->margin[draw];
        const bool behind = before == NULL || margin > before->margin[draw] ||
                            (margin == before->margin[draw] && s > before);
        if (behind && (next == NULL || margin < next->margin[draw]))
            next = s;
    }
    return next;
}

/* The fullest stage is played, and each other one unless it has fitted with as little before: what
 * holds of draws in the order of margins holds of each of their stages. */
static bool draw_fits(const struct fit_asked *a, uint32_t draw)
{
    struct fit_stage *stage = next_stage(a, NULL, draw);
    for (bool first = true; stage != NULL; first = false) {
        const double margin = stage->margin[draw];
        if (first || margin < stage->enough) {
            if (!stage_fits(a, stage, draw))
                return false;
            stage->enough = fmin(stage->enough, margin);
        }
        stage = next_stage(a, stage, draw);
    }
    return true;
}

/* Draws order[from] and order[to] are known: halves what lies between two that differ; what lies
 * between two that do not is as they are. */
static void part(const struct fit_asked *a, const uint32_t *order, uint32_t from, uint32_t to)
{
    const bool fits = a->fits[order[from]];
    if (to - from < 2)
        return;
    if (fits == a->fits[order[to]]) {
        for (uint32_t i = from + 1; i < to; i++)
            a->fits[order[i]] = fits;
        return;
    }
    const uint32_t middle = from + (to - from) / 2;
    a->fits[order[middle]] = draw_fits(a, order[middle]);
    part(a, order, from, middle);
    part(a, order, middle, to);
}

uint32_t fit_draws_step(uint32_t count)
{
    const double error = sqrt((double)count * FIT_DRAWS_SURE_RATIO * (1.0 - FIT_DRAWS_SURE_RATIO));
    return 1 + (uint32_t)error;
}

/* A draw whose tensors alone exceed the card does not fit. Of the others some are played, at even
 * distances in the order of margins. */
static void judge_all(const struct fit_asked *a)
{
    const uint32_t count = a->draws->count;
    uint32_t *order = ARENA_ARRAY(a->scratch, uint32_t, count), least = 0;
    for (uint32_t s = 0; s < a->stage_count; s++)
        find_margins(a, &a->stages[s]);
    sort_by_margin(a, order);
    for (; least < count && least_margin(a, order[least]) < 0.0; least++)
        a->fits[order[least]] = false;
    if (least == count)
        return;
    a->fits[order[least]] = draw_fits(a, order[least]);
    for (uint32_t before = least; before + 1 < count;) {
        const uint32_t further = before + fit_draws_step(count),
                       place = further < count ? further : count - 1;
        a->fits[order[place]] = draw_fits(a, order[place]);
        part(a, order, before, place);
        before = place;
    }
}

/* Do both lowerings of a stage hold the same tensors? Else they are not linear in between. */
static bool alike(const struct program *a, const struct program *b)
{
    bool same = a->setup_count == b->setup_count && a->ledger_count == b->ledger_count;
    for (uint32_t i = 0; same && i < a->ledger_count; i++)
        same = a->ledger[i].tensor == b->ledger[i].tensor &&
               a->ledger[i].action == b->ledger[i].action;
    return same;
}

/* False: the stages cannot be compared by their tensors, or a host holds some of them. */
static bool lower_all(struct fit_asked *a)
{
    struct lowered lowered;
    bool good = true;
    lower(a->scratch, a->c, &lowered);
    a->stage_count = lowered.program_count;
    a->stages = ARENA_ARRAY(a->scratch, struct fit_stage, a->stage_count);
    for (uint32_t s = 0; s < a->stage_count; s++) {
        a->stages[s].program = lowered.programs[s];
        a->stages[s].margin = ARENA_ARRAY(a->scratch, double, a->draws->count);
        a->stages[s].enough = INFINITY;
        good = good && !(lowered.programs[s]->host_bytes > 0.0);
    }
    for (unsigned k = 0; k < a->size_count && good; k++) {
        struct configuration *c = ARENA_NEW(a->scratch, struct configuration);
        *c = *a->c;
        *member(c, a->sizes[k]) = a->worst[a->sizes[k]];
        lower(a->scratch, c, &lowered);
        for (uint32_t s = 0; s < a->stage_count; s++) {
            a->stages[s].moved[k] = lowered.programs[s];
            good = good && alike(a->stages[s].program, lowered.programs[s]);
        }
    }
    return good;
}

static void find_along(struct fit_asked *a)
{
    a->along = arena_array(a->scratch, sizeof *a->along, a->draws->count, _Alignof(double));
    for (unsigned k = 0; k < a->size_count; k++) {
        const unsigned f = a->sizes[k];
        const double from = fit_draws_value(a->c, (enum fit_figure)f);
        for (uint32_t d = 0; d < a->draws->count; d++)
            a->along[d][k] = (a->draws->values[d][f] - from) / (a->worst[f] - from);
    }
}

uint32_t fit_draws_count(struct arena *scratch, const struct configuration *c,
                         const struct fit_draws *draws, bool *fits)
{
    const struct arena_mark mark = arena_mark(scratch);
    struct configuration few = *c;
    struct fit_asked a = {.scratch = scratch, .c = &few, .draws = draws, .fits = fits};
    uint32_t count = 0;
    CHECK(draws->count > 0);
    if (!c->layout.pipeline.schedule->holds_all)
        trial_shorten(&few);
    find_worst(&a);
    find_along(&a);
    memset(fits, true, draws->count * sizeof *fits);
    if (!fits_whole(&a, a.worst)) {
        if (lower_all(&a))
            judge_all(&a);
        else
            for (uint32_t d = 0; d < draws->count; d++)
                fits[d] = fits_whole(&a, draws->values[d]);
    }
    for (uint32_t d = 0; d < draws->count; d++)
        count += fits[d];
    arena_rewind(scratch, mark);
    return count;
}
