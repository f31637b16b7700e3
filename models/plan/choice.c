/* choice.c
 *
 * Invariants
 * 1. A key that is not open is never changed.
 * 2. Trials go from large microbatches, which are cheap to play, to small ones, and stop when
 *    EFFORT_MAX layer passes were played. */
#include "models/plan/choice.h"

#include <inttypes.h>
#include <math.h>

#include "models/plan/choice_attention.h"
#include "models/plan/choice_axes.h"
#include "models/plan/choice_experts.h"
#include "models/plan/choice_orders.h"
#include "models/plan/choice_rules.h"
#include "models/plan/ladder.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "sim/check.h"

enum {
    EFFORT_MAX = 1 << 17 /* layer passes of all trials: about half a second */
};

/* Of memory, what stays free for what varies from step to step where the microbatch is open. */
static const double room_ratio = 0.03;

struct chooser {
    struct arena *arena;
    struct configuration *c;
    unsigned open;
    struct choices *out;
    bool walks;  /* from no recomputation up; else the kind is said, or follows from its layers */
    bool counts; /* the first layers of each chunk: how many is open */
    struct trial_budget budget;
    struct tried_choice { /* the best up to now */
        struct configuration c;
        bool fits;
        double s_per_token; /* GPU time; INFINITY: not timed */
    } best;
    unsigned fitting, timed; /* microbatches and orders that fit, and that were timed */
    struct shares_found shares;
    bool found;
};

static bool is_open(const struct chooser *h, enum choice_key key)
{
    return (h->open >> key & 1u) != 0;
}

/* What may be filled: all, where the microbatch is stated. */
static double roomy_bytes(const struct chooser *h)
{
    return trial_usable_bytes(h->c, is_open(h, CHOICE_MICROBATCH) ? room_ratio : 0.0);
}

static void tell(struct chooser *h, enum choice_key key, const char *value, const char *why)
{
    CHECK(is_open(h, key) && h->out->count < CHOICE_COUNT); /* 1 */
    h->out->rows[h->out->count++] = (struct made_choice){.key = key, .value = value, .why = why};
}

static void choose_attention(struct chooser *h)
{
    struct training_spec *t = &h->c->training;
    if (!is_open(h, CHOICE_ATTENTION))
        return;
    t->attention = (int)choice_attention(h->c);
    tell(h, CHOICE_ATTENTION, attention_kernel_names[t->attention],
         choice_attention_why(h->arena, h->c));
}

static void tell_rule(struct chooser *h, enum choice_key key, struct choice_rule rule)
{
    if (rule.value != NULL)
        tell(h, key, rule.value, rule.why);
}

static struct order_question orders_of(const struct chooser *h)
{
    return choice_rule_orders(h->c, h->open);
}

static unsigned list_microbatches(const struct chooser *h, uint64_t *out)
{
    if (is_open(h, CHOICE_MICROBATCH))
        return choice_microbatches(h->c, out);
    out[0] = h->c->layout.microbatch;
    return 1;
}

static bool is_spent(const struct chooser *h)
{
    return h->budget.passes > h->budget.passes_max;
}

/* `whole`: has the step itself been played? Of one with many microbatches a part tells the rest. */
static double spend_and_time(struct chooser *h, const struct configuration *c, bool *whole)
{
    const uint64_t passes = trial_slope_passes(c);
    const double gpu_s = trial_spend(&h->budget, passes)
                             ? trial_gpu_s_by_slope(c, h->budget.usable_bytes)
                             : INFINITY;
    *whole = isfinite(gpu_s) && passes == trial_passes(c) && !trial_differs(c);
    return gpu_s;
}

/* Does it fit, and if asked how fast is it? The first few microbatches may say no; the step itself,
 * where it is timed, says yes. */
static bool try_level(struct chooser *h, const struct configuration *c, struct tried_choice *out)
{
    h->budget.passes += c->model.layers * c->layout.pp;
    if (!trial_may_fit(c, h->budget.usable_bytes))
        return false;
    bool whole = false;
    if (out != NULL)
        out->s_per_token = spend_and_time(h, c, &whole);
    if (whole)
        return true;
    h->budget.passes += trial_passes(c);
    const bool fits = trial_fits(c, h->budget.usable_bytes);
    if (out != NULL && !fits)
        out->s_per_token = INFINITY;
    return fits;
}

/* The fewest layers of a chunk, by the first few microbatches; where the whole step says no, more.
 */
static bool try_block(struct chooser *h, struct configuration *c, struct tried_choice *out)
{
    const uint64_t most = configuration_chunk_layers(c);
    for (uint64_t left = most; left > 0; left /= 2)
        h->budget.passes += c->model.layers * c->layout.pp;
    if (!trial_least_block(c, h->budget.usable_bytes))
        return false;
    for (; c->layout.recompute_layers < most; c->layout.recompute_layers++)
        if (try_level(h, c, out))
            return true;
    return false;
}

/* The least recomputation with which it fits; false: it does not, and keeps the most. The first
 * candidate is tried at every level, so that "nothing fits" is never said of what was not tried. */
static bool settle_recompute(struct chooser *h, struct configuration *c, struct tried_choice *out)
{
    if (!h->walks)
        return h->counts ? try_block(h, c, out) : try_level(h, c, out);
    c->layout.recompute = RECOMPUTE_NONE;
    c->layout.recompute_layers = 0;
    do {
        const bool block = c->layout.recompute == RECOMPUTE_BLOCK;
        const bool affordable = !h->found || !is_spent(h);
        if (affordable && (block ? is_open(h, CHOICE_RECOMPUTE_LAYERS) && try_block(h, c, out)
                                 : try_level(h, c, out)))
            return true;
    } while (ladder_level(c));
    return false;
}

static bool better(const struct tried_choice *a, const struct tried_choice *b)
{
    if (a->fits != b->fits)
        return a->fits;
    return a->fits ? a->s_per_token < b->s_per_token
                   : a->c.layout.microbatch < b->c.layout.microbatch;
}

static void judge(struct chooser *h, struct configuration *c, bool alone)
{
    if (!configuration_legal(c) || trial_slope_passes(c) > h->budget.passes_max ||
        (h->found && is_spent(h)))
        return; /* 2 */
    struct tried_choice trial = {.s_per_token = INFINITY};
    trial.fits = settle_recompute(h, c, alone ? NULL : &trial);
    trial.c = *c;
    h->fitting += trial.fits ? 1 : 0;
    h->timed += isfinite(trial.s_per_token) ? 1 : 0;
    if (!h->found || better(&trial, &h->best))
        h->best = trial;
    h->found = true;
}

static const char *spell_count(const struct chooser *h, uint64_t count)
{
    return arena_format(h->arena, "%" PRIu64, count);
}

/* Of `fitting` ways, `timed` of which were timed: what is said of the one that was taken. */
static const char *fastest_of(const struct chooser *h, unsigned fitting, unsigned timed,
                              const char *what)
{
    const double all_bytes = h->c->gpu.hbm.usable_bytes;
    const char *spare = "";
    if (h->budget.usable_bytes < all_bytes)
        spare = arena_format(h->arena, " with %.0f %% of memory to spare", 100.0 * room_ratio);
    if (fitting == 0)
        return "nothing fits; the least memory";
    if (fitting == 1)
        return arena_format(h->arena, "nothing else fits%s", spare);
    return timed > 0 ? arena_format(h->arena, "fastest of %u%s that fit%s", timed, what, spare)
                     : arena_format(h->arena, "the first of %u%s that fit%s; none was timed",
                                    fitting, what, spare);
}

static const char *why_fastest(const struct chooser *h)
{
    return h->found ? fastest_of(h, h->fitting, h->timed, "") : "not tried";
}

static const char *why_recompute(const struct chooser *h)
{
    if (!h->found)
        return "not tried";
    if (h->fitting == 0)
        return "nothing fits; the least memory";
    if (!h->walks && !h->counts)
        return "recompute_layers is given";
    return h->c->layout.recompute == RECOMPUTE_NONE ? "it fits without" : "the least that fits";
}

static const char *why_chunks(const struct chooser *h)
{
    struct configuration orders[CHOICE_ORDERS_MAX];
    const struct order_question question = orders_of(h);
    const unsigned count = choice_orders(&question, orders);
    return h->c->layout.pipeline.vpp == orders[count - 1].layout.pipeline.vpp
               ? "the largest number that divides the layers"
               : "a larger number would need more recomputation";
}

static const char *why_share(const struct chooser *h)
{
    return h->shares.legal == 1 ? "no other number divides the experts and the ranks of a stage"
                                : fastest_of(h, h->shares.fitting, h->shares.timed, "");
}

static void tell_trials(struct chooser *h)
{
    static const char shares[] = "so that the other stages are equal",
                      whole[] = "experts stay whole when ranks share them";
    const struct layout_spec *l = &h->c->layout;
    if (is_open(h, CHOICE_EP) && h->c->model.moe.experts > 0)
        tell(h, CHOICE_EP, spell_count(h, l->ep), why_share(h));
    if (is_open(h, CHOICE_ETP) && l->etp == 1 && l->tp > 1)
        tell(h, CHOICE_ETP, "1",
             is_open(h, CHOICE_EP) ? whole : "sharing an expert among tp ranks breaks a rule");
    if (is_open(h, CHOICE_SCHEDULE) && l->pp > 1)
        tell(h, CHOICE_SCHEDULE, l->pipeline.schedule->head.name, why_fastest(h));
    if (is_open(h, CHOICE_CHUNKS) && l->pipeline.vpp > 1)
        tell(h, CHOICE_CHUNKS, spell_count(h, l->pipeline.vpp), why_chunks(h));
    if (is_open(h, CHOICE_ENDS) && l->pipeline.ends_count)
        tell(h, CHOICE_ENDS, "true", "so that the layers divide");
    if (is_open(h, CHOICE_FIRST_STAGE) && l->pipeline.first_layers > 0)
        tell(h, CHOICE_FIRST_STAGE, spell_count(h, l->pipeline.first_layers), shares);
    if (is_open(h, CHOICE_LAST_STAGE) && l->pipeline.last_layers > 0)
        tell(h, CHOICE_LAST_STAGE, spell_count(h, l->pipeline.last_layers), shares);
    if (is_open(h, CHOICE_RECOMPUTE))
        tell(h, CHOICE_RECOMPUTE, recompute_names[l->recompute], why_recompute(h));
    if (is_open(h, CHOICE_RECOMPUTE_LAYERS) && l->recompute == RECOMPUTE_BLOCK)
        tell(h, CHOICE_RECOMPUTE_LAYERS, spell_count(h, l->recompute_layers), why_recompute(h));
    if (is_open(h, CHOICE_MICROBATCH))
        tell(h, CHOICE_MICROBATCH, spell_count(h, l->microbatch), why_fastest(h));
}

/* Of an order that is not said. Where the most chunks are not the best, or something is computed
 * again with them: of fewer, which are larger and keep less, some layers may do. With the
 * microbatch that was best. */
static void try_fewer_chunks(struct chooser *h, const struct configuration *most)
{
    const struct order_question question = orders_of(h);
    const struct layout_spec *best = &h->best.c.layout;
    struct configuration c = *most;
    if (!h->walks || !question.chunks || !question.order || !h->best.fits ||
        (best->pipeline.vpp == c.layout.pipeline.vpp && best->recompute == RECOMPUTE_NONE))
        return;
    c.layout.microbatch = best->microbatch;
    while (choice_orders_fewer(&question, &c)) {
        struct configuration tried = c;
        judge(h, &tried, false);
    }
}

static void try_share(struct chooser *h)
{
    struct configuration pipelines[CHOICE_ORDERS_MAX];
    uint64_t microbatches[CHOICE_MICROBATCHES_MAX];
    const struct order_question question = orders_of(h);
    const unsigned orders = choice_orders(&question, pipelines),
                   sizes = list_microbatches(h, microbatches);
    const bool settled = orders * sizes * h->shares.count == 1 && !h->walks && !h->counts;
    for (unsigned i = 0; i < sizes && !settled; i++) {
        for (unsigned k = 0; k < orders; k++) {
            struct configuration c = pipelines[k];
            c.layout.microbatch = microbatches[i];
            judge(h, &c, orders * sizes * h->shares.count == 1);
        }
    }
    if (h->found) {
        try_fewer_chunks(h, &pipelines[orders - 1]);
        return;
    }
    h->best.c = pipelines[0];
    h->best.c.layout.microbatch = microbatches[sizes - 1];
}

/* Each share of the experts with an effort of its own, half of it for the second. */
static void try_all(struct chooser *h)
{
    for (unsigned i = 0; i < h->shares.count; i++) {
        h->c->layout.ep = h->shares.best[i].ep;
        h->c->layout.etp = h->shares.best[i].etp;
        h->budget.passes = i * h->budget.passes_max / 2;
        try_share(h);
    }
}

/* In the plainest order of the pipeline, with the ends that it asks for. */
static void choose_shares(struct chooser *h)
{
    struct configuration plain[CHOICE_ORDERS_MAX];
    uint64_t microbatches[CHOICE_MICROBATCHES_MAX];
    const struct order_question order = orders_of(h);
    const unsigned sizes = list_microbatches(h, microbatches);
    const struct shares_question question = {
        .ep = is_open(h, CHOICE_EP),
        .etp = is_open(h, CHOICE_ETP),
        .recompute = h->walks,
        .budget = h->budget,
        .microbatches = microbatches,
        .microbatch_count = sizes,
    };
    choice_orders(&order, plain);
    choice_shares(&plain[0], &question, &h->shares);
}

/* With room to spare; where nothing fits so, up to the brim. */
static void choose_by_trial(struct chooser *h)
{
    choose_shares(h);
    try_all(h);
    if (h->found && h->fitting == 0) {
        h->budget.usable_bytes = h->c->gpu.hbm.usable_bytes;
        h->found = false;
        if (h->shares.fitting == 0)
            choose_shares(h);
        try_all(h);
    }
    *h->c = h->best.c;
    tell_trials(h);
}

static void settle_split(const void *context, struct configuration *c)
{
    const struct chooser *h = context;
    choice_settle(h->arena, h->open, c);
}

static bool settle_chunks(const void *context, struct configuration *c)
{
    const struct chooser *h = context;
    const struct chooser inner = {.arena = h->arena, .c = c, .open = h->open};
    const struct order_question question = orders_of(&inner);
    return choice_orders_next(&question, c);
}

static void tell_axis(struct chooser *h, enum choice_key key, uint64_t was, uint64_t is,
                      const char *why)
{
    if (is_open(h, key) && is != was)
        tell(h, key, spell_count(h, is), why);
}

static void list_roomy_splits(struct chooser *h, struct axes_found *out)
{
    const struct axes_question question = {
        .tp = is_open(h, CHOICE_TP),
        .pp = is_open(h, CHOICE_PP),
        .cp = is_open(h, CHOICE_CP),
        .ep = is_open(h, CHOICE_EP),
        .etp = is_open(h, CHOICE_ETP),
        .microbatch = is_open(h, CHOICE_MICROBATCH),
        .recompute = h->walks,
        .settle = settle_split,
        .interleave = settle_chunks,
        .context = h,
        .budget = h->budget,
    };
    choice_axes(h->c, &question, out);
}

/* Where a stated order holds all microbatches and no split has room for them: the splits of the
 * order that would do, so that it alone is what is wrong. */
static void list_splits_of_1f1b(struct chooser *h, struct axes_found *out)
{
    const struct schedule_kind *said = h->c->layout.pipeline.schedule;
    if (!said->holds_all)
        return;
    h->c->layout.pipeline.schedule = &schedule_one_f_one_b;
    list_roomy_splits(h, out);
    h->c->layout.pipeline.schedule = said;
    out->by_1f1b = true;
}

/* With room to spare; where no split holds the model so, up to the brim. */
static void list_splits(struct chooser *h, struct axes_found *out)
{
    const double all_bytes = h->c->gpu.hbm.usable_bytes, roomy = h->budget.usable_bytes;
    *out = (struct axes_found){.fitting = 0};
    if (!is_open(h, CHOICE_TP) && !is_open(h, CHOICE_PP))
        return;
    list_roomy_splits(h, out);
    if (out->count > 0 || out->stays || roomy == all_bytes)
        return;
    h->budget.usable_bytes = all_bytes;
    list_roomy_splits(h, out);
    if (out->count == 0)
        list_splits_of_1f1b(h, out);
    if (out->count == 0)
        h->budget.usable_bytes = roomy;
}

static void take_split(struct chooser *h, const struct axes_found *found, unsigned i)
{
    struct layout_spec *l = &h->c->layout;
    const struct layout_spec was = *l;
    const char *why = found->timed > 1 ? fastest_of(h, found->fitting, found->timed, " splits")
                                       : "the smallest split that fits";
    if (found->count == 0)
        return;
    if (found->by_1f1b)
        why = "a split that fits by 1f1b; none does by the stated schedule";
    l->tp = found->best[i].tp;
    l->pp = found->best[i].pp;
    l->cp = found->best[i].cp;
    l->dp = found->best[i].dp;
    tell_axis(h, CHOICE_TP, was.tp, l->tp, why);
    tell_axis(h, CHOICE_PP, was.pp, l->pp, why);
    tell_axis(h, CHOICE_CP, was.cp, l->cp, why);
}

static void finish(struct chooser *h)
{
    tell_rule(h, CHOICE_SEQUENCE_PARALLEL, choice_rule_sequence_parallel(h->arena, h->open, h->c));
    tell_rule(h, CHOICE_SHARDING, choice_rule_sharding(h->arena, h->open, h->c));
    choose_by_trial(h);
}

/* Where two splits are about as fast, the one that is faster once all else is chosen. */
static void choose_all(struct chooser *h)
{
    struct axes_found found;
    list_splits(h, &found);
    struct configuration c = *h->c;
    struct choices out = *h->out;
    struct chooser other = *h;
    take_split(h, &found, 0);
    finish(h);
    if (found.count < 2)
        return;
    other.c = &c;
    other.out = &out;
    take_split(&other, &found, 1);
    finish(&other);
    if (trial_gpu_s_by_slope(&c, other.budget.usable_bytes) <
        trial_gpu_s_by_slope(h->c, h->budget.usable_bytes)) {
        *h->c = c;
        *h->out = out;
    }
}

/* A number of layers without a kind asks for that of the first layers of each chunk. */
static void plan_recompute(struct chooser *h)
{
    struct layout_spec *l = &h->c->layout;
    const bool layers_open = is_open(h, CHOICE_RECOMPUTE_LAYERS);
    h->walks = is_open(h, CHOICE_RECOMPUTE) && (layers_open || l->recompute_layers == 0);
    if (is_open(h, CHOICE_RECOMPUTE) && !h->walks)
        l->recompute = RECOMPUTE_BLOCK;
    h->counts = !h->walks && layers_open && l->recompute == RECOMPUTE_BLOCK;
    if (h->counts)
        l->recompute_layers = 1; /* until they are counted */
}

const char *choice_path(const struct made_choice *choice)
{
    return choice->path != NULL ? choice->path : choice_key_path(choice->key);
}

void choice_make(struct arena *arena, struct configuration *c, unsigned open, struct choices *out)
{
    struct chooser h = {.arena = arena, .c = c, .open = open, .out = out};
    out->count = 0;
    out->open = open;
    h.budget = (struct trial_budget){.usable_bytes = roomy_bytes(&h), .passes_max = EFFORT_MAX};
    plan_recompute(&h);
    choose_attention(&h);
    choose_all(&h);
}
