#include "models/plan/plan_space.h"

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"
#include "sim/list.h"

enum {
    CONTEXT_MAX = 64,
    SEQUENCE_LEAST = 2048, /* of a rank: below that its blocks are mostly latency */
    CHUNKS_MOST = 64,      /* of a stage, as the rules have it */
    MICROBATCH_MOST = 64,
    RANKS_MOST = 1 << 22
};

struct space {
    struct arena *arena;
    const struct configuration *base;
    unsigned held;
    struct plan_layout *rows;
    uint32_t count, room;
};

static bool held(const struct space *s, enum plan_axis key)
{
    return (s->held >> key & 1u) != 0;
}

static void add_recomputed(struct space *s, struct plan_layout layout, int recompute)
{
    layout.recompute = recompute;
    s->rows[s->count++] = layout;
}

/* From no recomputation a search goes up; what is no rung of the ladder stands beside that: modules
 * of a mixture, as recipes have them, and what the model's makers recomputed. */
static void add(struct space *s, const struct plan_layout *layout)
{
    const struct configuration *c = s->base;
    const bool modules = c->software.offers.module_recompute && c->model.moe.experts > 0;
    const int makers =
        c->software.pipeline.makers_recipe ? c->model.usual.recompute : RECOMPUTE_NONE;
    LIST_ROOM(s->arena, s->rows, s->count, 3, s->room);
    s->rows[s->count++] = *layout;
    if (held(s, PLAN_RECOMPUTE))
        return;
    if (modules)
        add_recomputed(s, *layout, RECOMPUTE_MODULES);
    if (makers != RECOMPUTE_NONE && !(modules && makers == RECOMPUTE_MODULES))
        add_recomputed(s, *layout, makers);
}

/* What the software offers: its usual kind, and that which shards all, unless its release does not
 * have that yet; beside those zero-0 and zero-1. PyTorch's own data parallelism has fsdp and hsdp,
 * in a pipeline zero-1 (parameters stay gathered, as `run` has it), and ddp where no other axis
 * splits the model (torchtitan: "DDP has not supported > 1D parallelism"). The kinds between are
 * for software whose kind that shards all is a ZeRO stage. */
static bool offers(const struct configuration *c, const struct sharding_kind *kind)
{
    const struct software_profile *software = &c->software;
    const struct sharding_kind *usual = sharding_find(software->usual.sharding);
    const struct sharding_kind *full = sharding_find(software->usual.full_sharding);
    const bool units = usual->units || (full != NULL && full->units);
    const bool stages = (full != NULL && full->shards_weights && !full->units) ||
                        (usual->shards_gradients && !usual->units);
    const struct layout_spec *l = &c->layout;
    if (kind->shards_weights && software->offers.whole_parameters)
        return false;
    if (kind == usual || kind == full)
        return true;
    if (kind == &sharding_zero_0)
        return !usual->units || l->tp * l->pp * l->cp == 1;
    if (kind->hybrid)
        return usual->units && configuration_replicas(c) > c->cluster.node.gpus;
    if (kind->units)
        return units;
    return kind == &sharding_zero_1 ? !usual->units || l->pp > 1 : stages;
}

static void add_shardings(struct space *s, struct plan_layout layout)
{
    struct configuration c;
    plan_layout_apply(s->base, &layout, &c);
    if (held(s, PLAN_SHARDING)) {
        add(s, &layout);
        return;
    }
    for (unsigned i = 0; i < sharding_kind_count; i++) {
        const struct sharding_kind *kind = sharding_kinds[i];
        const bool alone = configuration_replicas(&c) == 1;
        const bool deep = kind->shards_gradients && layout.pp > 1; /* holds no less than zero-1 */
        if (alone ? kind != &sharding_zero_0 : deep || !offers(&c, kind))
            continue;
        layout.sharding = kind;
        add(s, &layout);
    }
}

static void add_sequences(struct space *s, struct plan_layout layout)
{
    const struct software_offers *offers = &s->base->software.offers;
    const bool able =
        offers->sequence_parallelism && layout.tp > 1 && !(offers->heads_alone && layout.cp > 1);
    if (held(s, PLAN_SEQUENCE_PARALLEL)) {
        add_shardings(s, layout);
        return;
    }
    layout.sequence_parallel = false;
    add_shardings(s, layout);
    layout.sequence_parallel = true;
    if (able)
        add_shardings(s, layout);
}

static bool divides(const struct space *s, bool ends, uint64_t chunks)
{
    return (s->base->model.layers + (ends ? 2 : 0)) % chunks == 0;
}

static void add_order_kind(struct space *s, struct plan_layout layout, uint32_t vpp,
                           const struct schedule_kind *kind)
{
    layout.vpp = vpp;
    layout.schedule = kind;
    plan_layout_settle_ends(s->base, &layout);
    add_sequences(s, layout);
}

static void add_order(struct space *s, struct plan_layout layout, uint32_t vpp)
{
    const struct schedule_kind *kind = vpp > 1 ? &schedule_interleaved : &schedule_one_f_one_b;
    add_order_kind(s, layout, vpp,
                   held(s, PLAN_SCHEDULE) ? s->base->layout.pipeline.schedule : kind);
}

/* The schedule of the model's makers, where it is open and neither of the two above; or NULL. */
static const struct schedule_kind *makers_order(const struct space *s)
{
    const char *name = s->base->model.usual.schedule;
    if (held(s, PLAN_SCHEDULE) || !s->base->software.pipeline.makers_recipe || name == NULL)
        return NULL;
    const struct schedule_kind *kind = schedule_find(name);
    return kind == &schedule_one_f_one_b || kind == &schedule_interleaved ? NULL : kind;
}

static void add_makers_order(struct space *s, struct plan_layout layout)
{
    const struct schedule_kind *kind = layout.pp > 1 ? makers_order(s) : NULL;
    const uint32_t chunks = kind != NULL && kind->chunks > 0 ? kind->chunks : 1;
    if (kind != NULL && (!held(s, PLAN_VPP) || layout.vpp == chunks))
        add_order_kind(s, layout, chunks, kind);
}

static void add_orders(struct space *s, struct plan_layout layout)
{
    const struct configuration *c = s->base;
    const bool asked = held(s, PLAN_SCHEDULE) && c->layout.pipeline.schedule->interleaved;
    const bool may =
        layout.pp > 1 && (asked || (!held(s, PLAN_SCHEDULE) && c->software.pipeline.interleaves));
    if (held(s, PLAN_VPP))
        add_order(s, layout, layout.vpp);
    else if (!asked) /* one chunk a stage interleaves nothing */
        add_order(s, layout, 1);
    add_makers_order(s, layout);
    if (held(s, PLAN_VPP))
        return;
    const uint64_t most = (c->model.layers + 2) / layout.pp;
    for (uint32_t v = 2; may && v <= most && v <= CHUNKS_MOST; v++) {
        const uint64_t chunks = (uint64_t)layout.pp * v;
        const bool usual = v == c->software.usual.chunks;
        if (usual || divides(s, false, chunks) ||
            (c->software.pipeline.even_stages && divides(s, true, chunks)))
            add_order(s, layout, v);
    }
}

static void add_microbatches(struct space *s, struct plan_layout layout)
{
    const uint64_t share = s->base->training.global_batch / layout.dp;
    if (held(s, PLAN_MICROBATCH)) {
        add_orders(s, layout);
        return;
    }
    for (uint32_t m = 1; m <= MICROBATCH_MOST; m++) {
        layout.microbatch = m;
        if ((m & (m - 1)) == 0 || (share > 0 && share % m == 0))
            add_orders(s, layout);
    }
}

uint64_t plan_share_after(const struct configuration *c, uint64_t ep)
{
    for (ep++; ep <= c->model.moe.experts; ep++)
        if (c->model.moe.experts % ep == 0)
            return ep;
    return 0;
}

uint64_t plan_share_etp(const struct configuration *c, uint64_t ep)
{
    return c->layout.etp == 0 && ep > 1 ? 1 : c->layout.etp;
}

static void add_shares(struct space *s, struct plan_layout layout)
{
    const uint64_t ranks = (uint64_t)layout.tp * layout.cp * layout.dp;
    if (s->base->model.moe.experts == 0 || held(s, PLAN_EP)) {
        if (s->base->model.moe.experts > 0)
            layout.etp = (uint32_t)plan_share_etp(s->base, layout.ep);
        add_microbatches(s, layout);
        return;
    }
    for (uint64_t ep = 1; ep > 0 && ep <= ranks; ep = plan_share_after(s->base, ep)) {
        layout.ep = (uint32_t)ep;
        layout.etp = (uint32_t)plan_share_etp(s->base, ep);
        if (held(s, PLAN_ETP) || ranks % ((layout.etp > 0 ? layout.etp : layout.tp) * ep) == 0)
            add_microbatches(s, layout);
    }
}

static bool tp_divides(const struct plan_splits *s)
{
    return (s->heads == 0 || s->heads % s->at_tp == 0) && s->gpus % s->at_tp == 0;
}

/* Once more pp, else the next cp, else the next tp. */
static bool advance(struct plan_splits *s)
{
    const bool begins = s->looked++ == 0, divides = !begins && tp_divides(s);
    const uint64_t both = s->at_tp * s->at_cp;
    if (divides && s->at_pp < s->pp.last && both * (s->at_pp + 1) <= s->gpus) {
        s->at_pp++;
        return true;
    }
    s->at_pp = s->pp.first;
    if (divides && 2 * s->at_cp <= s->cp.last) {
        s->at_cp *= 2;
        return true;
    }
    s->at_cp = s->cp.first;
    s->at_tp = begins ? s->tp.first : s->at_tp + 1;
    return s->at_tp <= s->tp.last;
}

bool plan_splits_next(struct plan_splits *s)
{
    while (advance(s)) {
        const uint64_t ranks = s->at_tp * s->at_cp * s->at_pp;
        s->at_dp = s->gpus / ranks;
        if (tp_divides(s) && s->gpus % ranks == 0 &&
            (s->size == 0 || s->at_tp * s->at_pp == s->size))
            return true;
    }
    return false;
}

/* cp is a power of two that leaves each rank so much of the sequence. */
static uint64_t most_context(const struct configuration *c)
{
    uint64_t cp = 1;
    while (configuration_splits_sequences(c) && 2 * cp <= CONTEXT_MAX &&
           c->training.sequence / (2 * cp) >= SEQUENCE_LEAST)
        cp *= 2;
    return cp;
}

static struct plan_range range_of(const struct space *s, enum plan_axis key, uint64_t stated,
                                  uint64_t most)
{
    return held(s, key) ? (struct plan_range){stated, stated} : (struct plan_range){1, most};
}

static struct plan_splits splits_of(const struct space *s)
{
    const struct configuration *c = s->base;
    const uint64_t domain = c->cluster.node.gpus, heads = c->model.attention.heads,
                   most_stages = c->model.layers + 2;
    struct plan_splits splits = {
        .gpus = configuration_gpus(c),
        .heads = held(s, PLAN_TP) ? 0 : heads,
        .tp = range_of(s, PLAN_TP, c->layout.tp, domain < heads ? domain : heads),
        .cp = range_of(s, PLAN_CP, c->layout.cp, most_context(c)),
        .pp = range_of(s, PLAN_PP, c->layout.pp, most_stages),
    };
    return splits;
}

uint32_t plan_space(struct arena *arena, const struct configuration *base, unsigned held_keys,
                    struct plan_layout **out)
{
    struct space s = {.arena = arena, .base = base, .held = held_keys};
    struct plan_layout layout = plan_layout_of(base);
    struct plan_splits splits = splits_of(&s);
    CHECK(configuration_gpus(base) <= RANKS_MOST);
    if (!held(&s, PLAN_RECOMPUTE)) {
        layout.recompute = RECOMPUTE_NONE;
        layout.recompute_layers = 0;
    }
    while (plan_splits_next(&splits)) {
        layout.tp = (uint32_t)splits.at_tp;
        layout.cp = (uint32_t)splits.at_cp;
        layout.pp = (uint32_t)splits.at_pp;
        layout.dp = (uint32_t)splits.at_dp;
        add_shares(&s, layout);
    }
    *out = s.rows;
    return s.count;
}
