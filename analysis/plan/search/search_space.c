#include "analysis/plan/search/search_space.h"

#include <inttypes.h>

#include "models/plan/choice.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"
#include "sim/list.h"

const char *const search_key_names[SEARCH_KEY_COUNT] = {
    "tp",       "pp",  "cp",        "ep",       "microbatch",
    "schedule", "vpp", "recompute", "sharding", "sequence_parallel"};

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
    struct search_layout *rows;
    uint32_t count, room;
};

static bool held(const struct space *s, enum search_key key)
{
    return (s->held >> key & 1u) != 0;
}

bool search_layout_same(const struct search_layout *a, const struct search_layout *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->cp == b->cp && a->dp == b->dp &&
           a->vpp == b->vpp && a->microbatch == b->microbatch && a->ep == b->ep &&
           a->etp == b->etp && a->recompute == b->recompute &&
           a->recompute_layers == b->recompute_layers &&
           a->sequence_parallel == b->sequence_parallel && a->ends_count == b->ends_count &&
           a->first_stage_layers == b->first_stage_layers &&
           a->last_stage_layers == b->last_stage_layers && a->schedule == b->schedule &&
           a->sharding == b->sharding;
}

struct search_layout search_layout_of(const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    return (struct search_layout){.tp = (uint32_t)l->tp,
                                  .pp = (uint32_t)l->pp,
                                  .cp = (uint32_t)l->cp,
                                  .ep = (uint32_t)configuration_expert_ranks(c).ep,
                                  .etp = c->model.moe.experts > 0 ? (uint32_t)l->etp : 0,
                                  .dp = (uint32_t)l->dp,
                                  .vpp = (uint32_t)l->pipeline.vpp,
                                  .microbatch = (uint32_t)l->microbatch,
                                  .recompute_layers = (uint32_t)l->recompute_layers,
                                  .recompute = l->recompute,
                                  .sequence_parallel = l->sequence_parallel,
                                  .ends_count = l->pipeline.ends_count,
                                  .first_stage_layers = (uint32_t)l->pipeline.first_layers,
                                  .last_stage_layers = (uint32_t)l->pipeline.last_layers,
                                  .schedule = l->pipeline.schedule,
                                  .sharding = l->data.sharding};
}

static unsigned set_stage(struct arena *arena, const char *which, uint32_t layers, uint64_t was,
                          const char **out)
{
    if (layers == was)
        return 0;
    *out = layers > 0 ? arena_format(arena, "layout.%s_stage_layers=%" PRIu32, which, layers)
                      : arena_format(arena, "layout.%s_stage_layers=auto", which);
    return 1;
}

unsigned search_layout_sets(struct arena *arena, const struct configuration *base,
                            const struct search_layout *l, const char *out[SEARCH_SETS_MAX])
{
    const struct {
        const char *key;
        uint32_t value;
    } counts[] = {{"tp", l->tp}, {"pp", l->pp},   {"cp", l->cp},
                  {"dp", l->dp}, {"vpp", l->vpp}, {"microbatch", l->microbatch}};
    unsigned count = 0;
    if (base->model.moe.experts > 0)
        out[count++] = arena_format(arena, "layout.ep=%" PRIu32, l->ep);
    if (base->model.moe.experts > 0 && l->etp > 0)
        out[count++] = arena_format(arena, "layout.etp=%" PRIu32, l->etp);
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++)
        out[count++] = arena_format(arena, "layout.%s=%" PRIu32, counts[i].key, counts[i].value);
    out[count++] = arena_format(arena, "layout.schedule=%s", l->schedule->head.name);
    out[count++] = arena_format(arena, "layout.sharding=%s", l->sharding->head.name);
    out[count++] = arena_format(arena, "layout.recompute=%s", recompute_names[l->recompute]);
    if (l->recompute_layers > 0)
        out[count++] = arena_format(arena, "layout.recompute_layers=%" PRIu32, l->recompute_layers);
    else if (base->layout.recompute_layers > 0)
        out[count++] = "layout.recompute_layers=auto";
    out[count++] =
        arena_format(arena, "layout.sequence_parallel=%s", l->sequence_parallel ? "true" : "false");
    if (l->ends_count || base->layout.pipeline.ends_count)
        out[count++] = l->ends_count ? "layout.ends_count=true" : "layout.ends_count=false";
    count += set_stage(arena, "first", l->first_stage_layers, base->layout.pipeline.first_layers,
                       &out[count]);
    count += set_stage(arena, "last", l->last_stage_layers, base->layout.pipeline.last_layers,
                       &out[count]);
    return count;
}

void search_apply(const struct configuration *base, const struct search_layout *layout,
                  struct configuration *out)
{
    struct layout_spec *l = &out->layout;
    *out = *base;
    l->tp = layout->tp;
    l->pp = layout->pp;
    l->cp = layout->cp;
    if (base->model.moe.experts > 0) {
        l->ep = layout->ep;
        l->etp = layout->etp;
    }
    l->dp = layout->dp;
    l->pipeline.vpp = layout->vpp;
    l->microbatch = layout->microbatch;
    l->recompute = layout->recompute;
    l->recompute_layers = layout->recompute_layers;
    l->sequence_parallel = layout->sequence_parallel;
    l->pipeline.ends_count = layout->ends_count;
    l->pipeline.first_layers = layout->first_stage_layers;
    l->pipeline.last_layers = layout->last_stage_layers;
    l->pipeline.schedule = layout->schedule;
    l->data.sharding = layout->sharding;
}

void search_settle_ends(const struct configuration *base, struct search_layout *layout)
{
    const struct stage_ends ends = configuration_stage_ends(base, layout->pp, layout->vpp);
    layout->ends_count = base->layout.pipeline.ends_count || ends.count;
    layout->first_stage_layers =
        (uint32_t)(ends.first > 0 ? ends.first : base->layout.pipeline.first_layers);
    layout->last_stage_layers =
        (uint32_t)(ends.last > 0 ? ends.last : base->layout.pipeline.last_layers);
}

static void add(struct space *s, const struct search_layout *layout)
{
    LIST_ROOM(s->arena, s->rows, s->count, 1, s->room);
    s->rows[s->count++] = *layout;
}

/* What the software offers: its usual kind, and that which shards all; beside those zero-0 and
 * zero-1, or for PyTorch's own data parallelism ddp, fsdp and hsdp. Kinds between belong to whom
 * the one that shards all is a ZeRO stage. */
static bool offers(const struct configuration *c, const struct sharding_kind *kind)
{
    const struct software_profile *software = &c->software;
    const struct sharding_kind *usual = sharding_find(software->usual.sharding);
    const struct sharding_kind *full = sharding_find(software->usual.full_sharding);
    const bool units = usual->units || (full != NULL && full->units);
    const bool stages = (full != NULL && full->shards_weights && !full->units) ||
                        (usual->shards_gradients && !usual->units);
    if (kind == usual || kind == full || kind == &sharding_zero_0)
        return true;
    if (kind->hybrid)
        return usual->units && configuration_replicas(c) > c->cluster.node.gpus;
    if (kind->units)
        return units;
    return kind == &sharding_zero_1 ? !usual->units : stages;
}

static void add_shardings(struct space *s, struct search_layout layout)
{
    struct configuration c;
    search_apply(s->base, &layout, &c);
    if (held(s, SEARCH_SHARDING)) {
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

static void add_sequences(struct space *s, struct search_layout layout)
{
    const bool able = s->base->software.offers.sequence_parallelism && layout.tp > 1;
    if (held(s, SEARCH_SEQUENCE_PARALLEL)) {
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

static void add_order(struct space *s, struct search_layout layout, uint32_t vpp)
{
    layout.vpp = vpp;
    layout.schedule = vpp > 1 ? &schedule_interleaved : &schedule_one_f_one_b;
    if (held(s, SEARCH_SCHEDULE))
        layout.schedule = s->base->layout.pipeline.schedule;
    search_settle_ends(s->base, &layout);
    add_sequences(s, layout);
}

static void add_orders(struct space *s, struct search_layout layout)
{
    const struct configuration *c = s->base;
    const bool may = c->software.pipeline.interleaves && layout.pp > 1 &&
                     (!held(s, SEARCH_SCHEDULE) || c->layout.pipeline.schedule->interleaved);
    if (held(s, SEARCH_VPP)) {
        add_order(s, layout, layout.vpp);
        return;
    }
    add_order(s, layout, 1);
    const uint64_t most = (c->model.layers + 2) / layout.pp;
    for (uint32_t v = 2; may && v <= most && v <= CHUNKS_MOST; v++) {
        const uint64_t chunks = (uint64_t)layout.pp * v;
        const bool usual = v == c->software.usual.chunks;
        if (usual || divides(s, false, chunks) ||
            (c->software.pipeline.even_stages && divides(s, true, chunks)))
            add_order(s, layout, v);
    }
}

static void add_microbatches(struct space *s, struct search_layout layout)
{
    const uint64_t share = s->base->training.global_batch / layout.dp;
    if (held(s, SEARCH_MICROBATCH)) {
        add_orders(s, layout);
        return;
    }
    for (uint32_t m = 1; m <= MICROBATCH_MOST; m++) {
        layout.microbatch = m;
        if ((m & (m - 1)) == 0 || (share > 0 && share % m == 0))
            add_orders(s, layout);
    }
}

/* Shares of the experts of a mixture: Megatron-LM's groups, of etp x ep of a stage's ranks. */
static void add_shares(struct space *s, struct search_layout layout)
{
    const uint64_t experts = s->base->model.moe.experts;
    const uint64_t ranks = (uint64_t)layout.tp * layout.cp * layout.dp;
    if (experts == 0 || held(s, SEARCH_EP)) {
        add_microbatches(s, layout);
        return;
    }
    for (uint64_t ep = 1; ep <= experts && ep <= ranks; ep++) {
        const bool whole = s->base->layout.etp == 0 && ep > 1;
        layout.ep = (uint32_t)ep;
        layout.etp = whole ? 1 : (uint32_t)s->base->layout.etp;
        if (experts % ep == 0 && ranks % ((layout.etp > 0 ? layout.etp : layout.tp) * ep) == 0)
            add_microbatches(s, layout);
    }
}

static void add_splits(struct space *s, struct search_layout layout)
{
    const uint64_t gpus = configuration_gpus(s->base), most = s->base->model.layers + 2;
    const uint64_t both = (uint64_t)layout.tp * layout.cp;
    for (uint64_t pp = 1; pp <= most && both * pp <= gpus; pp++) {
        if (gpus % (both * pp) != 0 || (held(s, SEARCH_PP) && pp != s->base->layout.pp))
            continue;
        layout.pp = (uint32_t)pp;
        layout.dp = (uint32_t)(gpus / (both * pp));
        add_shares(s, layout);
    }
}

static bool least_rung(const struct configuration *c, int from, struct search_layout *layout)
{
    for (int level = from; level <= RECOMPUTE_FULL; level++) {
        layout->recompute = level;
        layout->recompute_layers = level == RECOMPUTE_BLOCK ? 1 : 0;
        if (choice_frees(c, level) &&
            (level != RECOMPUTE_BLOCK || configuration_chunk_layers(c) > 1))
            return true;
    }
    return false;
}

bool search_recompute_more(const struct configuration *base, unsigned held_keys,
                           struct search_layout *layout)
{
    struct configuration c;
    if ((held_keys >> SEARCH_RECOMPUTE & 1u) != 0)
        return false;
    search_apply(base, layout, &c);
    if (layout->recompute == RECOMPUTE_BLOCK &&
        layout->recompute_layers + 1 < configuration_chunk_layers(&c)) {
        layout->recompute_layers++;
        return true;
    }
    return least_rung(&c, layout->recompute + 1, layout);
}

void search_recompute_last(const struct configuration *base, struct search_layout *layout)
{
    struct configuration c;
    search_apply(base, layout, &c);
    CHECK(layout->recompute == RECOMPUTE_BLOCK);
    layout->recompute_layers = (uint32_t)configuration_chunk_layers(&c) - 1;
}

uint32_t search_space(struct arena *arena, const struct configuration *base, unsigned held_keys,
                      struct search_layout **out)
{
    struct space s = {.arena = arena, .base = base, .held = held_keys};
    const uint64_t domain = base->cluster.node.gpus, heads = base->model.attention.heads;
    CHECK(configuration_gpus(base) <= RANKS_MOST);
    const uint32_t tp_last = (uint32_t)(held(&s, SEARCH_TP) ? base->layout.tp
                                        : domain < heads    ? domain
                                                            : heads);
    const uint32_t cp_last = held(&s, SEARCH_CP) ? (uint32_t)base->layout.cp : CONTEXT_MAX;
    for (uint32_t tp = held(&s, SEARCH_TP) ? tp_last : 1; tp <= tp_last; tp++) {
        if (!held(&s, SEARCH_TP) && heads % tp != 0)
            continue;
        for (uint32_t cp = held(&s, SEARCH_CP) ? cp_last : 1; cp <= cp_last; cp++) {
            const bool power = (cp & (cp - 1)) == 0;
            const bool room = cp == 1 || base->training.sequence / cp >= SEQUENCE_LEAST;
            if (!held(&s, SEARCH_CP) && (!power || !room))
                continue;
            struct search_layout layout = search_layout_of(base);
            layout.tp = tp;
            layout.cp = cp;
            if (!held(&s, SEARCH_RECOMPUTE))
                layout.recompute = RECOMPUTE_NONE;
            layout.recompute_layers = held(&s, SEARCH_RECOMPUTE) ? layout.recompute_layers : 0;
            add_splits(&s, layout);
        }
    }
    *out = s.rows;
    return s.count;
}
