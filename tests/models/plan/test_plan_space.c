/* The enumerator of layouts against plain loops over all numbers with the rules written out, row by
 * row: so it yields that set, none twice, in that order. */
#include <string.h>

#include "models/plan/ladder.h"
#include "models/plan/plan_space.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

struct machine {
    uint64_t nodes, node_gpus;
};
static const struct machine machines[] = {{1, 8}, {2, 8}, {6, 8}, {1, 72}};

/* What shards by stages of ZeRO. */
#define STAGES(usually)                                                                            \
    .usual = usually, .full = "zero-3", .flat = {"zero-0", "zero-1", "zero-2", "zero-3"},          \
    .deep = {"zero-0", "zero-1"}
/* What a kind of software runs: with one stage; behind a pipeline; and over more replicas than a
 * domain has cards. */
static const struct software_case {
    const char *usual, *full;
    bool interleaves, even_stages, sequence_parallelism;
    uint64_t chunks;
    const char *flat[4], *deep[2], *wide;
    const char *makers; /* the schedule of the model's makers, which it runs; NULL: it does not */
    int theirs;         /* what these computed again; 0: modules */
    bool modules;       /* it can compute modules again */
    bool whole;         /* its release shards no parameters yet */
} softwares[] = {
    {STAGES("zero-1"), .interleaves = true, .even_stages = true, .sequence_parallelism = true},
    {.usual = "zero-1",
     .full = "fsdp",
     .interleaves = true,
     .sequence_parallelism = true,
     .chunks = 5,
     .flat = {"zero-0", "zero-1", "fsdp"},
     .deep = {"zero-0", "zero-1"}},
    {.usual = "zero-1",
     .full = "fsdp",
     .interleaves = true,
     .sequence_parallelism = true,
     .flat = {"zero-0", "zero-1"},
     .deep = {"zero-0", "zero-1"},
     .whole = true},
    {.usual = "fsdp",
     .full = "fsdp",
     .interleaves = true,
     .flat = {"zero-0", "fsdp"},
     .deep = {"zero-1"},
     .wide = "hsdp"},
    {STAGES("zero-1"), .interleaves = true, .sequence_parallelism = true, .modules = true},
    {STAGES("zero-2"), .sequence_parallelism = true},
    {STAGES("zero-1"), .interleaves = true, .sequence_parallelism = true, .makers = "dualpipe"},
    {STAGES("zero-1"), .makers = "dualpipe", .theirs = RECOMPUTE_FULL, .modules = true},
    {STAGES("zero-1"), .interleaves = true, .makers = "dualpipe-v", .modules = true},
};
static const struct shape {
    uint64_t layers, heads, sequence, batch, experts, etp;
} shapes[] = {
    {12, 12, 4096, 48, 0, 0}, {10, 8, 8192, 40, 0, 0}, {6, 18, 2048, 9, 0, 0},
    {8, 8, 4096, 96, 8, 0},   {12, 4, 2048, 24, 6, 0}, {4, 6, 16384, 64, 12, 2},
};
#define COUNT(of) (sizeof(of) / sizeof(of)[0])
enum {
    MOST = 100 /* past every bound */
};

static struct configuration base_of(const struct machine *m, const struct software_case *s,
                                    const struct shape *shape)
{
    struct configuration c = lower_case();
    c.cluster.nodes = m->nodes;
    c.cluster.node.gpus = m->node_gpus;
    c.cluster.gpus = 0;
    c.model.layers = shape->layers;
    c.model.attention.heads = shape->heads;
    c.model.moe.experts = shape->experts;
    c.layout.etp = shape->etp;
    c.training.sequence = shape->sequence;
    c.training.global_batch = shape->batch;
    c.software.usual.sharding = s->usual;
    c.software.usual.full_sharding = s->full;
    c.software.usual.chunks = s->chunks;
    c.software.pipeline.interleaves = s->interleaves;
    c.software.pipeline.even_stages = s->even_stages;
    c.software.offers.sequence_parallelism = s->sequence_parallelism;
    c.software.pipeline.makers_recipe = s->makers != NULL;
    c.software.offers.module_recompute = s->modules;
    c.software.offers.whole_parameters = s->whole;
    c.model.usual.schedule = s->makers != NULL ? s->makers : "zb-v";
    c.model.usual.recompute = s->theirs > 0 ? s->theirs : RECOMPUTE_MODULES;
    return c;
}

struct naive { /* walks the rows as the loops find them */
    const struct configuration *c;
    const struct software_case *s;
    unsigned held;
    const struct plan_layout *rows;
    uint32_t count, at;
};

static bool is_held(const struct naive *n, enum plan_axis key)
{
    return (n->held >> key & 1u) != 0;
}

static bool is_power(uint64_t value)
{
    return value == 1 || value == 2 || value == 4 || value == 8 || value == 16 || value == 32 ||
           value == 64;
}

static bool split_rule(const struct naive *n, uint64_t tp, uint64_t cp, uint64_t pp, uint64_t dp)
{
    const struct configuration *c = n->c;
    const bool tp_good = is_held(n, PLAN_TP)
                             ? tp == c->layout.tp
                             : tp <= c->cluster.node.gpus && c->model.attention.heads % tp == 0;
    const bool cp_good = is_held(n, PLAN_CP)
                             ? cp == c->layout.cp
                             : is_power(cp) && (cp == 1 || c->training.sequence / cp >= 2048);
    return tp_good && cp_good &&
           (is_held(n, PLAN_PP) ? pp == c->layout.pp : pp <= c->model.layers + 2) &&
           tp * cp * pp * dp == c->cluster.nodes * c->cluster.node.gpus;
}

static bool share_rule(const struct naive *n, const struct plan_layout *l)
{
    const uint64_t experts = n->c->model.moe.experts, ranks = (uint64_t)l->tp * l->cp * l->dp;
    const uint64_t said = n->c->layout.etp, width = l->etp > 0 ? l->etp : l->tp;
    if (experts == 0)
        return l->ep == 1 && l->etp == 0;
    if (is_held(n, PLAN_EP))
        return l->ep == n->c->layout.ep && l->etp == (said == 0 && l->ep > 1 ? 1 : said);
    return experts % l->ep == 0 && l->ep <= ranks && ranks % (width * l->ep) == 0 &&
           l->etp == (said == 0 && l->ep > 1 ? 1 : said);
}

static bool microbatch_rule(const struct naive *n, const struct plan_layout *l)
{
    const uint64_t share = n->c->training.global_batch / l->dp;
    if (is_held(n, PLAN_MICROBATCH))
        return l->microbatch == n->c->layout.microbatch;
    return l->microbatch <= 64 &&
           (is_power(l->microbatch) || (share > 0 && share % l->microbatch == 0));
}

static bool chunk_rule(const struct naive *n, const struct plan_layout *l)
{
    const uint64_t layers = n->c->model.layers, chunks = (uint64_t)l->pp * l->vpp;
    const bool held = is_held(n, PLAN_SCHEDULE),
               asked = held && n->c->layout.pipeline.schedule->interleaved,
               ring = held ? asked : n->s->interleaves;
    if (is_held(n, PLAN_VPP))
        return l->vpp == n->c->layout.pipeline.vpp;
    return (l->vpp == 1 && !asked) ||
           (l->vpp > 1 && ring && l->pp > 1 && l->vpp <= 64 && chunks <= layers + 2 &&
            (l->vpp == n->s->chunks || layers % chunks == 0 ||
             (n->s->even_stages && (layers + 2) % chunks == 0)));
}

static bool is_listed(const char *name, const char *const *names, unsigned count)
{
    bool listed = false;
    for (unsigned i = 0; i < count; i++)
        listed = listed || (names[i] != NULL && strcmp(names[i], name) == 0);
    return listed;
}

static bool sharding_rule(const struct naive *n, const struct plan_layout *l)
{
    const char *name = l->sharding->head.name;
    const uint64_t replicas = (uint64_t)l->dp * l->cp;
    if (is_held(n, PLAN_SHARDING))
        return l->sharding == n->c->layout.data.sharding;
    if (replicas == 1)
        return strcmp(name, "zero-0") == 0;
    if (l->pp > 1)
        return is_listed(name, n->s->deep, COUNT(n->s->deep));
    if (strcmp(name, "zero-0") == 0 && strcmp(n->s->usual, "fsdp") == 0 && l->tp * l->cp > 1)
        return false; /* PyTorch's plain data parallelism stands alone */
    return is_listed(name, n->s->flat, COUNT(n->s->flat)) ||
           (n->s->wide != NULL && strcmp(name, n->s->wide) == 0 &&
            replicas > n->c->cluster.node.gpus);
}

static bool sequence_rule(const struct naive *n, const struct plan_layout *l)
{
    if (is_held(n, PLAN_SEQUENCE_PARALLEL))
        return l->sequence_parallel == n->c->layout.sequence_parallel;
    return !l->sequence_parallel || (n->s->sequence_parallelism && l->tp > 1);
}

/* 3 + 2: what the first and the last stage have where no other division is even. */
static void settle(const struct naive *n, struct plan_layout *l)
{
    const uint64_t layers = n->c->model.layers, chunks = (uint64_t)l->pp * l->vpp;
    const uint64_t each = (layers + l->pp - 1) / l->pp, others = (l->pp - 2) * each;
    l->ends_count = false;
    l->first_stage_layers = l->last_stage_layers = 0;
    if (!n->s->even_stages || l->pp == 1 || layers % chunks == 0)
        return;
    l->ends_count = (layers + 2) % chunks == 0;
    if (l->ends_count || l->vpp > 1 || layers < others + 2)
        return;
    const uint64_t ends = layers - others;
    l->last_stage_layers = (uint32_t)(ends > 2 ? ends / 2 : 1);
    l->first_stage_layers = (uint32_t)ends - l->last_stage_layers;
}

static void meet(struct naive *n, const struct plan_layout *l)
{
    const bool open = !is_held(n, PLAN_RECOMPUTE);
    bool wanted[RECOMPUTE_FULL + 1] = {false};
    struct plan_layout other = *l;
    wanted[RECOMPUTE_MODULES] = open && n->s->modules && n->c->model.moe.experts > 0;
    if (open && n->s->makers != NULL)
        wanted[n->c->model.usual.recompute] = true;
    assert_true(n->at < n->count);
    assert_true(plan_layout_same(&n->rows[n->at++], l, 0));
    for (other.recompute = 0; other.recompute <= RECOMPUTE_FULL; other.recompute++) {
        if (!wanted[other.recompute])
            continue;
        assert_true(n->at < n->count);
        assert_true(plan_layout_same(&n->rows[n->at++], &other, 0));
    }
}

static void loop_kinds(struct naive *n, struct plan_layout l)
{
    for (unsigned sequence = 0; sequence <= 1; sequence++) {
        l.sequence_parallel = sequence == 1;
        for (unsigned k = 0; k < sharding_kind_count; k++) {
            l.sharding = sharding_kinds[k];
            if (sequence_rule(n, &l) && sharding_rule(n, &l))
                meet(n, &l);
        }
    }
}

/* The schedule of the makers stands behind plain 1f1b, where no schedule is held. */
static void loop_makers(struct naive *n, struct plan_layout l)
{
    const bool two = n->s->makers != NULL && strcmp(n->s->makers, "dualpipe-v") == 0;
    l.vpp = two ? 2 : 1;
    if (n->s->makers == NULL || l.pp == 1 || is_held(n, PLAN_SCHEDULE) ||
        (is_held(n, PLAN_VPP) && n->c->layout.pipeline.vpp != l.vpp))
        return;
    settle(n, &l);
    l.schedule = schedule_find(n->s->makers);
    loop_kinds(n, l);
}

static void loop_orders(struct naive *n, struct plan_layout l)
{
    const bool held = is_held(n, PLAN_VPP);
    for (l.vpp = 1; l.vpp <= MOST; l.vpp++) {
        settle(n, &l);
        l.schedule = l.vpp > 1 ? &schedule_interleaved : &schedule_one_f_one_b;
        if (is_held(n, PLAN_SCHEDULE))
            l.schedule = n->c->layout.pipeline.schedule;
        if (chunk_rule(n, &l))
            loop_kinds(n, l);
        if (held ? l.vpp == n->c->layout.pipeline.vpp : l.vpp == 1)
            loop_makers(n, l);
    }
}

static void loop_batches(struct naive *n, struct plan_layout l)
{
    for (l.microbatch = 1; l.microbatch <= MOST; l.microbatch++)
        if (microbatch_rule(n, &l))
            loop_orders(n, l);
}

static void loop_shares(struct naive *n, struct plan_layout l)
{
    for (l.ep = 1; l.ep <= MOST; l.ep++)
        for (l.etp = 0; l.etp <= MOST; l.etp++)
            if (share_rule(n, &l))
                loop_batches(n, l);
}

static void loop_splits(struct naive *n)
{
    struct plan_layout l = {.recompute = is_held(n, PLAN_RECOMPUTE) ? n->c->layout.recompute
                                                                    : RECOMPUTE_NONE};
    for (l.tp = 1; l.tp <= MOST; l.tp++)
        for (l.cp = 1; l.cp <= MOST; l.cp++)
            for (l.pp = 1; l.pp <= MOST; l.pp++) {
                l.dp = (uint32_t)(configuration_gpus(n->c) / ((uint64_t)l.tp * l.cp * l.pp));
                if (split_rule(n, l.tp, l.cp, l.pp, l.dp))
                    loop_shares(n, l);
            }
}

static uint32_t compare(const struct configuration *c, const struct software_case *s, unsigned held)
{
    struct arena *arena = arena_create();
    struct plan_layout *rows = NULL;
    struct naive naive = {.c = c, .s = s, .held = held};
    naive.count = plan_space(arena, c, held, &rows);
    naive.rows = rows;
    loop_splits(&naive);
    assert_int_equal(naive.at, naive.count);
    arena_destroy(arena);
    return naive.count;
}

static void space_is_what_the_rules_leave(void **state)
{
    uint64_t all = 0;
    for (unsigned m = 0; m < COUNT(machines); m++)
        for (unsigned s = 0; s < COUNT(softwares); s++)
            for (unsigned k = 0; k < COUNT(shapes); k++) {
                const struct configuration c = base_of(&machines[m], &softwares[s], &shapes[k]);
                all += compare(&c, &softwares[s], 0);
            }
    print_message("%llu layouts\n", (unsigned long long)all);
    assert_true(all > 10000);
}

/* Each axis held alone, and each two, at the values of a layout of the space and at others. */
static void held_axes_keep_their_values(void **state)
{
    for (unsigned k = 0; k < COUNT(shapes); k++) {
        const struct software_case *s =
            &softwares[k % 2 == 0 ? 0 : COUNT(softwares) - 2 + k % 3 / 2];
        struct configuration c = base_of(&machines[1], s, &shapes[k]);
        c.layout.tp = 2;
        c.layout.pp = k % 2 == 0 ? 2 : 16; /* more stages than layers: the rules say it */
        c.layout.cp = k % 3 == 0 ? 1 : 2;
        c.layout.microbatch = 3;
        c.layout.ep = shapes[k].experts > 0 ? 2 : 0;
        c.layout.pipeline.vpp = k < 2 ? 3 : 1 + k % 2;
        c.layout.pipeline.schedule = k < 3 ? &schedule_interleaved : &schedule_gpipe;
        c.layout.data.sharding = sharding_find("fsdp");
        c.layout.recompute = RECOMPUTE_FULL;
        c.layout.sequence_parallel = true;
        for (unsigned a = 0; a < PLAN_AXIS_COUNT; a++)
            for (unsigned b = a; b < PLAN_AXIS_COUNT; b++)
                compare(&c, s, 1u << a | 1u << b);
    }
}

/* From none to all: the rungs that the software offers and that free something, a block's layers
 * one by one. */
static void ladder_has_its_rungs(void **state)
{
    for (unsigned bits = 0; bits < 64; bits++) {
        struct configuration c = lower_case();
        struct plan_layout l;
        unsigned at = 0, rungs = 0;
        struct {
            int level;
            uint32_t layers;
        } want[8] = {{RECOMPUTE_NONE, 0}};
        c.software.offers.selective_recompute = bits & 1;
        c.software.offers.operator_recompute = bits & 2;
        c.software.offers.block_recompute = bits & 4;
        c.training.attention = bits & 8 ? ATTENTION_MATH : ATTENTION_FLASH2;
        c.model.moe.experts = bits & 16 ? 4 : 0;
        c.layout.pp = bits & 32 ? 4 : 1; /* chunks of one layer have no first ones */
        if ((bits & 9) == 9)
            want[++rungs].level = RECOMPUTE_SELECTIVE;
        if ((bits & 18) == 2)
            want[++rungs].level = RECOMPUTE_PER_OPERATOR;
        if (bits & 2)
            want[++rungs].level = RECOMPUTE_EVERY_OTHER_LAYER;
        for (uint32_t layers = 1; (bits & 36) == 4 && layers < 4; layers++) {
            want[++rungs].level = RECOMPUTE_BLOCK;
            want[rungs].layers = layers;
        }
        want[++rungs].level = RECOMPUTE_FULL;
        l = plan_layout_of(&c);
        do {
            assert_true(at <= rungs);
            assert_int_equal(l.recompute, want[at].level);
            assert_int_equal(l.recompute_layers, want[at].layers);
            at++;
        } while (ladder_more(&c, 0, &l));
        assert_int_equal(at, rungs + 1);
        l = plan_layout_of(&c);
        assert_false(ladder_more(&c, 1u << PLAN_RECOMPUTE, &l));
        ladder_most(1u << PLAN_RECOMPUTE, &l);
        assert_int_equal(l.recompute, RECOMPUTE_NONE);
        ladder_most(0, &l);
        assert_int_equal(l.recompute, RECOMPUTE_FULL);
        l.recompute = RECOMPUTE_MODULES; /* beside the ladder */
        assert_false(ladder_more(&c, 0, &l));
        ladder_most(0, &l);
        assert_int_equal(l.recompute, RECOMPUTE_MODULES);
    }
}

struct threshold {
    uint64_t least;
    unsigned asked;
};

static bool at_least(void *context, uint64_t layers)
{
    struct threshold *t = context;
    t->asked++;
    return layers >= t->least;
}

static void least_layers_are_the_least(void **state)
{
    for (uint64_t most = 1; most <= 40; most++)
        for (uint64_t fails = 0; fails < most; fails++)
            for (uint64_t least = fails + 1; least <= most + 1; least++) {
                struct threshold t = {least, 0};
                const struct ladder_block block = {at_least, &t};
                const uint64_t found = ladder_least_layers(&block, fails, most);
                assert_int_equal(found, least < most ? least : most);
                assert_true(t.asked <= 6);
            }
}

/* Each key alone: its text is read back, and it goes into a configuration and out again. */
static void keys_of_a_layout_are_its_own(void **state)
{
    static const char *const texts[PLAN_KEY_COUNT] = {"3",  "5",    "7",      "11",   "13", "gpipe",
                                                      "17", "full", "zero-3", "true", "19", "23",
                                                      "29", "true", "31",     "37"};
    struct arena *arena = arena_create();
    struct configuration c = lower_case(), out;
    c.model.moe.experts = 4;
    const struct plan_layout from = plan_layout_of(&c);
    for (unsigned i = 0; i < PLAN_KEY_COUNT; i++) {
        const enum plan_axis key = (enum plan_axis)i;
        struct plan_layout l = from, other = from;
        assert_true(plan_layout_read(&l, key, texts[i]));
        assert_string_equal(plan_layout_text(arena, &l, key), texts[i]);
        assert_false(plan_layout_same(&l, &from, 0));
        assert_false(plan_layout_same(&l, &from, ~(1u << key)));
        assert_true(plan_layout_same(&l, &from, 1u << key));
        plan_layout_copy(&other, &l, key);
        assert_true(plan_layout_same(&other, &l, 0));
        plan_layout_apply(&c, &l, &out);
        other = plan_layout_of(&out);
        assert_true(plan_layout_same(&other, &l, 0));
        assert_false(plan_layout_read(&l, key, "nothing"));
        assert_false(plan_layout_read(&l, key, ""));
    }
    arena_destroy(arena);
}

/* The splits of a size, by trying all. */
static void splits_of_a_size(void **state)
{
    for (uint64_t gpus = 1; gpus <= 72; gpus++)
        for (uint64_t size = 0; size <= 12; size++) {
            struct plan_splits s = {
                .gpus = gpus, .heads = 12, .size = size, .tp = {1, 8}, .cp = {1, 4}, .pp = {1, 10}};
            for (uint64_t tp = 1; tp <= 8; tp++)
                for (uint64_t cp = 1; cp <= 4; cp *= 2)
                    for (uint64_t pp = 1; pp <= 10; pp++) {
                        if (12 % tp != 0 || gpus % (tp * cp * pp) != 0 ||
                            (size > 0 && tp * pp != size))
                            continue;
                        assert_true(plan_splits_next(&s));
                        assert_true(s.at_tp == tp && s.at_cp == cp && s.at_pp == pp);
                        assert_int_equal(s.at_dp, gpus / (tp * cp * pp));
                    }
            assert_false(plan_splits_next(&s));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(space_is_what_the_rules_leave),
        cmocka_unit_test(held_axes_keep_their_values),
        cmocka_unit_test(ladder_has_its_rungs),
        cmocka_unit_test(least_layers_are_the_least),
        cmocka_unit_test(keys_of_a_layout_are_its_own),
        cmocka_unit_test(splits_of_a_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
