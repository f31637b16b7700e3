/* price.c
 *
 * Invariants
 * 1. A neighbour differs in what its key names and in what follows from it; it is legal.
 * 2. No trial is made that would exceed passes_max. */
#include "models/plan/price.h"

#include <math.h>
#include <stdlib.h>

#include "models/plan/choice_keys.h"
#include "models/plan/price_moves.h"
#include "models/plan/trial.h"
#include "sim/check.h"

enum {
    SETTLED_MAX = 2 /* moves of a key that are settled until one holds */
};

struct price_search {
    struct arena *arena;
    const struct price_question *q;
    const struct configuration *c; /* the question's own */
    struct price_move *moves;
    unsigned move_count;
    uint64_t passes;
    double usable_bytes;    /* of the card */
    double gpu_s_per_token; /* of c; 0: not known yet */
    struct prices *out;
};

/* Spends the passes of a trial; false: no more are left. */
static bool afford(struct price_search *s, const struct configuration *c)
{
    const uint64_t passes = trial_passes(c);
    if (s->passes + passes > s->q->passes_max) {
        s->out->stopped = true; /* 2 */
        return false;
    }
    s->passes += passes;
    return true;
}

/* The scenario's own step, as a trial plays it; 0: it cannot be known. */
static double own_gpu_s_per_token(struct price_search *s)
{
    const struct configuration *c = s->c;
    if (s->gpu_s_per_token == 0.0 && !trial_differs(c)) {
        s->gpu_s_per_token =
            s->q->step->step_s * (double)configuration_ranks(c) / configuration_tokens(c);
    } else if (s->gpu_s_per_token == 0.0 && afford(s, c)) {
        const double own = trial_gpu_s_per_token(c, s->usable_bytes);
        s->gpu_s_per_token = isfinite(own) ? own : 0.0;
    }
    return s->gpu_s_per_token;
}

/* As tried, with all other keys held; INFINITY: it does not fit, or there are no passes left. A
 * part of the replicas holds more of the state than all do, so that is asked of all. */
static double time_of(struct price_search *s, struct configuration *c)
{
    const bool counts =
        c->layout.recompute == RECOMPUTE_BLOCK && s->c->layout.recompute != RECOMPUTE_BLOCK;
    if (counts ? !trial_least_block(c, s->usable_bytes) : !trial_may_fit(c, s->usable_bytes))
        return INFINITY;
    if (!afford(s, c))
        return INFINITY;
    s->out->tried++;
    const double gpu_s = trial_gpu_s_per_token(c, s->usable_bytes);
    return isfinite(gpu_s) && trial_differs(c) && !trial_fits(c, s->usable_bytes) ? INFINITY
                                                                                  : gpu_s;
}

/* The best of a move and of what goes further the same way. */
static void judge(struct price_search *s, struct price_move *move)
{
    struct configuration c = move->c;
    double best = INFINITY;
    do {
        const double gpu_s = time_of(s, &c);
        if (!(gpu_s < fmin(best, own_gpu_s_per_token(s))))
            break;
        best = gpu_s;
        move->c = c;
    } while (move->further != NULL && move->further(&c) && configuration_legal(&c));
    if (own_gpu_s_per_token(s) > (1.0 + PRICE_RATIO) * best)
        move->gpu_s_per_token = best;
}

/* Where other keys are open, a size further may be had with what is chosen for it, though not with
 * what was. */
static void go_further(struct price_search *s, const struct price_move *move, struct change *best)
{
    const unsigned of_layout = (1u << CHOICE_LAYOUT_END) - 1;
    struct configuration c = best->c;
    struct change more;
    if (move->further == NULL || (s->q->change.open & of_layout) == 0)
        return;
    while (move->further(&c) && change_try(s->arena, &s->q->change, &c, &more) && more.timed &&
           more.step_s < best->step_s) {
        *best = more;
        c = more.c;
    }
}

static bool tell(struct price_search *s, const struct price_move *move)
{
    struct change change;
    const double step_s = s->q->step->step_s;
    if (!change_settle(s->arena, &s->q->change, &move->c, &change) || !change.timed)
        return false;
    go_further(s, move, &change);
    if (!(step_s > (1.0 + PRICE_RATIO) * change.step_s))
        return false;
    CHECK(s->out->count < PRICE_MAX);
    s->out->rows[s->out->count++] = (struct price){
        .key = move->key,
        .other = change.set,
        .cost_ratio = step_s / change.step_s - 1.0,
        .step_s = step_s,
        .other_s = change.step_s,
    };
    return true;
}

/* Of the moves of a key the fastest that holds. */
static void tell_key(struct price_search *s, const char *key)
{
    for (unsigned i = 0; i < SETTLED_MAX; i++) {
        struct price_move *best = NULL;
        for (unsigned k = 0; k < s->move_count; k++) {
            struct price_move *move = &s->moves[k];
            if (move->key == key && isfinite(move->gpu_s_per_token) &&
                (best == NULL || move->gpu_s_per_token < best->gpu_s_per_token))
                best = move;
        }
        if (best == NULL || tell(s, best))
            break;
        best->gpu_s_per_token = INFINITY;
    }
    for (unsigned k = 0; k < s->move_count; k++) /* told, or given up */
        if (s->moves[k].key == key)
            s->moves[k].gpu_s_per_token = INFINITY;
}

static int by_cost(const void *a, const void *b)
{
    const struct price *x = a, *y = b;
    return (x->cost_ratio < y->cost_ratio) - (x->cost_ratio > y->cost_ratio);
}

void price_find(struct arena *arena, const struct price_question *question, struct prices *out)
{
    struct price_search s = {.arena = arena,
                             .q = question,
                             .c = question->change.from,
                             .usable_bytes = question->change.from->gpu.hbm.usable_bytes,
                             .out = out};
    *out = (struct prices){.count = 0};
    if (!(question->step->step_s > 0.0) || !question->step->fits)
        return;
    s.moves = ARENA_ARRAY(arena, struct price_move, PRICE_MOVES_MAX);
    s.move_count =
        price_moves(s.c, question->change.open, question->step, question->win_ratio, s.moves);
    for (unsigned i = 0; i < s.move_count; i++)
        judge(&s, &s.moves[i]);
    for (unsigned i = 0; i < s.move_count; i++)
        tell_key(&s, s.moves[i].key);
    qsort(out->rows, out->count, sizeof *out->rows, by_cost);
}
