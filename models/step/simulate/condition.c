/* Invariants:
 * 1. Entries are only added; `numbers` finds one by its condition.
 * 2. The table is touched under the lock alone, and its arena is nobody's but while one is added. A
 *    step is simulated outside of the lock: two threads that ask for the same condition at once
 *    both simulate it, and find the same.
 * 3. A condition in the table is canonical: what does not slow anything is not in it. */
#include "models/step/simulate/condition.h"

#include <math.h>
#include <string.h>

#include "models/layout/layout.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/pool.h"
#include "sim/random.h"
#include "sim/table.h"

const struct condition condition_ideal = {.nic_share_ratio = 1.0};

struct entry {
    struct condition condition;
    double step_s;
};
struct condition_table {
    struct arena *arena;
    const struct configuration *c; /* NULL: fixed */
    double fixed_s;
    double ideal_w; /* NAN: not known */
    struct pool_lock *lock;
    struct entry *entries;
    uint32_t capacity;
    struct table numbers; /* of entries */
};

enum {
    BREAK_MAX = 32
};

/* Invariant 3; units at full speed leave, the worst first. */
static struct condition canonical(const struct condition *condition)
{
    struct condition out = {.replicas_missing = condition->replicas_missing,
                            .nic_share_ratio = condition->nic_share_ratio};
    CHECK(condition->slow_count <= CONDITION_SLOW_MAX);
    CHECK(condition->nic_share_ratio > 0.0 && condition->nic_share_ratio <= 1.0);
    for (uint32_t i = 0; i < condition->slow_count; i++) {
        CHECK(condition->slow[i].ratio > 0.0);
        if (condition->slow[i].ratio < 1.0)
            out.slow[out.slow_count++] = condition->slow[i];
    }
    return out;
}

static bool same_slow(const struct condition_slow *a, const struct condition_slow *b)
{
    return a->stage == b->stage && a->link == b->link && a->ratio == b->ratio;
}

static bool same(const void *entries, uint32_t number, const void *condition)
{
    const struct condition *a = &((const struct entry *)entries)[number].condition;
    const struct condition *b = condition;
    bool equal = a->replicas_missing == b->replicas_missing && a->slow_count == b->slow_count &&
                 a->nic_share_ratio == b->nic_share_ratio;
    for (uint32_t i = 0; equal && i < a->slow_count; i++)
        equal = same_slow(&a->slow[i], &b->slow[i]);
    return equal;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t hash_of(const struct condition *condition)
{
    uint64_t hash = random_hash(condition->replicas_missing, condition->slow_count);
    hash = random_hash(hash, bits_of(condition->nic_share_ratio));
    for (uint32_t i = 0; i < condition->slow_count; i++) {
        const struct condition_slow *slow = &condition->slow[i];
        hash = random_hash(hash, (uint64_t)slow->stage << 1 | slow->link);
        hash = random_hash(hash, bits_of(slow->ratio));
    }
    return hash;
}

static uint32_t find(const struct condition_table *t, const struct condition *condition)
{
    return table_find(&t->numbers, hash_of(condition), same, t->entries, condition);
}

static double remember(struct condition_table *t, const struct condition *condition, double step_s)
{
    pool_lock_take(t->lock);
    if (find(t, condition) == TABLE_NONE) {
        arena_claim(t->arena);
        LIST_ROOM(t->arena, t->entries, t->numbers.count, 1, t->capacity);
        uint32_t entry =
            table_number(&t->numbers, t->arena, hash_of(condition), same, t->entries, condition);
        t->entries[entry] = (struct entry){*condition, step_s};
        arena_give(t->arena);
    }
    pool_lock_give(t->lock);
    return step_s;
}

static bool look_up(struct condition_table *t, const struct condition *condition, double *step_s)
{
    pool_lock_take(t->lock);
    uint32_t entry = find(t, condition);
    if (entry != TABLE_NONE)
        *step_s = t->entries[entry].step_s;
    pool_lock_give(t->lock);
    return entry != TABLE_NONE;
}

static bool legal(const struct configuration *c)
{
    struct rule_break breaks[BREAK_MAX];
    unsigned count = configuration_check(c, breaks, BREAK_MAX);
    CHECK(count <= BREAK_MAX);
    for (unsigned i = 0; i < count; i++)
        if (!breaks[i].warning)
            return false;
    return true;
}

/* Each replica keeps its microbatches, so the global batch falls with their number. A hybrid
 * sharding works with whole copies only: it loses the rest of a broken one, down to the last copy,
 * which is sharded anew. */
static void take_replicas(struct configuration *c, uint32_t missing)
{
    uint64_t each = c->training.global_batch / c->layout.dp;
    CHECK(missing < c->layout.dp);
    c->layout.dp -= missing;
    c->training.global_batch = each * c->layout.dp;
    if (c->layout.data.shard_group > configuration_replicas(c))
        c->layout.data.shard_group = configuration_replicas(c);
    while (missing > 0 && !legal(c)) {
        CHECK(c->layout.dp > 1);
        c->layout.dp--;
        c->training.global_batch = each * c->layout.dp;
    }
}

/* The NIC is the narrower of port and slot; a share of that as an efficiency of the port. */
static void take_nic_share(struct topology_spec *cluster, double share_ratio)
{
    double port = topology_port_bytes_per_s(cluster);
    if (share_ratio < 1.0 && port > 0.0) {
        double left = share_ratio * topology_nic_bytes_per_s(cluster);
        cluster->fabric.efficiency_ratio *= left / port;
    }
}

/* The n-th slow unit of a stage: replicas first, then tensor peers, so that no two are one GPU as
 * long as the stage has enough. */
static uint64_t unit_gpu(const struct configuration *c, uint32_t stage, uint32_t n)
{
    uint32_t dp = (uint32_t)c->layout.dp, tp = (uint32_t)c->layout.tp;
    struct coordinates where = {.tp = n / dp % tp, .dp = n % dp, .pp = stage};
    CHECK(stage < c->layout.pp);
    return layout_gpu(c, layout_rank(c, where));
}

/* Room for the configuration's own perturbations and those of the condition. */
static void take_slow(struct configuration *c, const struct condition *condition,
                      struct perturbation *room)
{
    uint32_t own = c->perturbation_count;
    for (uint32_t i = 0; i < own; i++)
        room[i] = c->perturbations[i];
    for (uint32_t i = 0; i < condition->slow_count; i++) {
        const struct condition_slow *slow = &condition->slow[i];
        uint32_t before = 0;
        for (uint32_t k = 0; k < i; k++)
            before += condition->slow[k].stage == slow->stage;
        room[own + i] = (struct perturbation){
            .what = slow->link ? PERTURB_LINK : PERTURB_GPU_SPEED,
            .gpu = unit_gpu(c, slow->stage, before),
            .ratio = slow->ratio,
            .link = LINK_NIC,
        };
    }
    c->perturbations = room;
    c->perturbation_count = own + condition->slow_count;
}

struct played {
    double step_s, wall_w;
};

static bool simulate(const struct configuration *base, const struct condition *condition,
                     bool ignore_memory, struct played *out, struct error *error)
{
    struct configuration c = *base;
    struct arena *arena = arena_create();
    take_replicas(&c, condition->replicas_missing);
    take_nic_share(&c.cluster, condition->nic_share_ratio);
    take_slow(&c, condition,
              ARENA_ARRAY(arena, struct perturbation, c.perturbation_count + CONDITION_SLOW_MAX));
    struct step_options options = {.ignore_memory = ignore_memory};
    struct step *step = NULL;
    bool played = step_run(&c, &options, &step, error);
    if (played && !step->fits && !ignore_memory)
        played = error_set(error, "the job does not fit in memory: see `orrery memory`");
    *out = played ? (struct played){step->step_s, step->power.step_j / step->step_s}
                  : (struct played){NAN, NAN};
    step_destroy(step);
    arena_destroy(arena);
    return played;
}

static struct condition_table *create(const struct configuration *c, double fixed_s, double ideal_w)
{
    struct arena *arena = arena_create();
    struct condition_table *t = ARENA_NEW(arena, struct condition_table);
    *t = (struct condition_table){.arena = arena, .c = c, .fixed_s = fixed_s, .ideal_w = ideal_w};
    t->lock = pool_lock_create();
    arena_give(arena);
    return t;
}

struct condition_table *condition_create(const struct configuration *c, struct error *error)
{
    struct played ideal;
    if (!simulate(c, &condition_ideal, false, &ideal, error))
        return NULL;
    struct condition_table *t = create(c, NAN, ideal.wall_w);
    remember(t, &condition_ideal, ideal.step_s);
    return t;
}

struct condition_table *condition_fixed(double step_s)
{
    CHECK(step_s > 0.0);
    struct condition_table *t = create(NULL, step_s, NAN);
    remember(t, &condition_ideal, step_s);
    return t;
}

void condition_destroy(struct condition_table *table)
{
    if (table != NULL) {
        pool_lock_destroy(table->lock);
        arena_claim(table->arena);
        arena_destroy(table->arena);
    }
}

/* The slowest unit sets the pace of all, and the traffic is all of the step. */
static double fixed_step_s(double step_s, const struct condition *condition)
{
    double left = 1.0;
    for (uint32_t i = 0; i < condition->slow_count; i++)
        left = fmin(left, condition->slow[i].ratio);
    return step_s / (left * condition->nic_share_ratio);
}

/* Memory is judged for the ideal condition: a job that goes on with fewer replicas is taken to have
 * the room. That a condition cannot be simulated is remembered like a time. */
double condition_step_s(struct condition_table *table, const struct condition *condition)
{
    struct condition key = canonical(condition);
    double step_s;
    if (look_up(table, &key, &step_s))
        return step_s;
    if (table->c == NULL)
        return remember(table, &key, fixed_step_s(table->fixed_s, &key));
    struct error error;
    struct played played; /* NAN where it cannot be */
    (void)simulate(table->c, &key, true, &played, &error);
    return remember(table, &key, played.step_s);
}

double condition_ideal_w(const struct condition_table *table)
{
    return table->ideal_w;
}

unsigned condition_count(const struct condition_table *table)
{
    pool_lock_take(table->lock);
    unsigned count = table->numbers.count;
    pool_lock_give(table->lock);
    return count;
}
