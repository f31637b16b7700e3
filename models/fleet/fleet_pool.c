/* Invariants
 * 1. A life ends at own_s on the clock of its carrier, which shows the cause's clock less still_s.
 *    still_s only grows, so that due_s is never late: a life is corrected when it comes to the top.
 * 2. The lives of a carrier that stands still are parked when they come to the top, and come back
 *    when it goes on. Nothing that is done to look ahead changes when a unit fails.
 * 3. A unit of the job's first nodes is in exactly one place: not drawn, the heap, parked. */
#include "models/fleet/fleet_pool.h"

#include <math.h>

#include "sim/check.h"
#include "sim/list.h"
#include "sim/random.h"

enum {
    WORD_BITS = 64
};

void fleet_pool_create(struct arena *arena, uint32_t cause_count, struct fleet_pools *out)
{
    *out = (struct fleet_pools){.arena = arena,
                                .carriers = ARENA_ARRAY(arena, struct fleet_carriers, cause_count),
                                .pools = ARENA_ARRAY(arena, struct fleet_pool, cause_count)};
}

static uint32_t carrier_nodes(const struct failure_cause *cause, const struct members *members)
{
    if (cause->unit == UNIT_JOB)
        return members->node_count;
    if (cause->unit != UNIT_DOMAIN)
        return 1;
    return cause->domain_nodes < members->node_count ? (uint32_t)cause->domain_nodes
                                                     : members->node_count;
}

static void carriers_create(struct arena *arena, const struct members *members, uint32_t nodes_each,
                            struct fleet_clock clock, struct fleet_carriers *out)
{
    uint32_t count = (members->node_count + nodes_each - 1) / nodes_each;
    *out = (struct fleet_carriers){
        .nodes_each = nodes_each,
        .first_count = (members->slot_count + nodes_each - 1) / nodes_each,
        .count = count,
        .clock = clock,
        .inside = ARENA_ARRAY(arena, uint32_t, count),
        .left_s = ARENA_ARRAY(arena, double, count),
        .still_s = ARENA_ARRAY(arena, double, count),
        .parked = ARENA_ARRAY(arena, uint32_t, count),
        .known = ARENA_ARRAY(arena, bool, count),
    };
    for (uint32_t node = 0; node < members->slot_count; node += nodes_each) {
        uint32_t left = members->slot_count - node;
        out->inside[node / nodes_each] = left < nodes_each ? left : nodes_each;
        out->known[node / nodes_each] = true;
    }
}

/* Causes with the same carriers and the same clock share their ages. */
static uint32_t pools_carriers(struct fleet_pools *pools, const struct members *members,
                               uint32_t nodes_each, struct fleet_clock clock)
{
    for (uint32_t i = 0; i < pools->carriers_count; i++) {
        const struct fleet_carriers *c = &pools->carriers[i];
        if (c->nodes_each == nodes_each && c->clock.factor == clock.factor &&
            c->clock.early_s == clock.early_s)
            return i;
    }
    carriers_create(pools->arena, members, nodes_each, clock,
                    &pools->carriers[pools->carriers_count]);
    return pools->carriers_count++;
}

static double pool_first_s(const struct fleet_pool *pool, double u)
{
    bool new_units = pool->cause->new_units;
    return new_units ? duration_quantile_s(&pool->life, u) : duration_residual_s(&pool->life, u);
}

/* Goes on to the next order statistic. */
static void pool_step(struct fleet_pool *pool)
{
    if (pool->failed_count == pool->unit_count) {
        pool->first_s = INFINITY;
        return;
    }
    double left = (double)(pool->unit_count - pool->failed_count);
    pool->exponent -= log(random_at(pool->order_key, pool->failed_count)) / left;
    pool->first_s = pool_first_s(pool, fmin(-expm1(-pool->exponent), 1.0 - 0x1p-53));
}

void fleet_pool_add(struct fleet_pools *pools, const struct fleet_spec *spec,
                    const struct failure_cause *cause, const struct members *members, uint64_t key)
{
    uint32_t units_each = fleet_units_each(spec, cause->unit);
    if (units_each == 0)
        return;
    uint32_t carriers = pools_carriers(pools, members, carrier_nodes(cause, members),
                                       (struct fleet_clock){cause->early_factor, cause->early_s});
    uint32_t units = pools->carriers[carriers].first_count * units_each;
    struct fleet_pool *pool = &pools->pools[pools->pool_count++];
    *pool = (struct fleet_pool){
        .cause = cause,
        .life = cause->kind->life(&cause->options, cause->mtbf_s),
        .carriers = carriers,
        .units_each = units_each,
        .life_key = random_key(key, "life"),
        .order_key = random_key(key, "order"),
        .pick_key = random_key(key, "pick"),
        .unit_count = units,
        .failed = ARENA_ARRAY(pools->arena, uint64_t, units / WORD_BITS + 1),
    };
    pool_step(pool);
}

/* A unit that has not failed yet, all alike: drawn until one is met, n / (n - j) tries. */
static uint32_t pool_pick(struct fleet_pool *pool)
{
    for (;;) {
        double place = random_at(pool->pick_key, pool->pick_count++);
        uint32_t unit = (uint32_t)(place * (double)pool->unit_count);
        uint64_t bit = UINT64_C(1) << unit % WORD_BITS;
        if (!(pool->failed[unit / WORD_BITS] & bit)) {
            pool->failed[unit / WORD_BITS] |= bit;
            return unit;
        }
    }
}

static double still_s(const struct fleet_pools *pools, const struct fleet_pool *pool, uint32_t unit)
{
    return pools->carriers[pool->carriers].still_s[unit / pool->units_each];
}

static void pool_push(struct fleet_pools *pools, struct fleet_pool *pool, struct fleet_life life)
{
    life.due_s = life.own_s + still_s(pools, pool, life.unit);
    fleet_heap_push(&pool->heap, pools->arena, life);
}

static void pool_draw_first(struct fleet_pools *pools, struct fleet_pool *pool)
{
    struct fleet_life life = {.own_s = pool->first_s, .unit = pool_pick(pool)};
    pool->failed_count++;
    pool_step(pool);
    pool_push(pools, pool, life);
}

static uint32_t parked_room(struct fleet_pools *pools)
{
    if (pools->parked_free > 0) {
        uint32_t place = pools->parked_free - 1;
        pools->parked_free = pools->parked[place].next;
        return place;
    }
    LIST_ROOM(pools->arena, pools->parked, pools->parked_count, 1, pools->parked_capacity);
    return pools->parked_count++;
}

static void pool_park(struct fleet_pools *pools, uint32_t index, uint32_t carrier)
{
    struct fleet_pool *pool = &pools->pools[index];
    uint32_t *list = &pools->carriers[pool->carriers].parked[carrier];
    uint32_t place = parked_room(pools);
    pools->parked[place] = (struct fleet_parked){pool->heap.items[0], index, *list};
    *list = place + 1;
    fleet_heap_pop(&pool->heap);
}

bool fleet_pool_next(struct fleet_pools *pools, uint32_t index, double limit_s,
                     struct candidate *out)
{
    struct fleet_pool *pool = &pools->pools[index];
    const struct fleet_carriers *carriers = &pools->carriers[pool->carriers];
    double limit_age_s = fleet_clock_age_s(carriers->clock, limit_s);
    for (;;) {
        struct fleet_life *top = pool->heap.count > 0 ? &pool->heap.items[0] : NULL;
        if (fmin(pool->first_s, top ? top->due_s : INFINITY) >= limit_age_s)
            return false;
        if (!top || pool->first_s <= top->due_s) {
            pool_draw_first(pools, pool);
            continue;
        }
        uint32_t carrier = top->unit / pool->units_each;
        double due_s = top->own_s + carriers->still_s[carrier];
        if (carriers->inside[carrier] == 0) {
            pool_park(pools, index, carrier);
        } else if (top->due_s < due_s) {
            struct fleet_life late = *top;
            late.due_s = due_s;
            fleet_heap_replace(&pool->heap, late);
        } else {
            *out = (struct candidate){fleet_clock_exposed_s(carriers->clock, due_s),
                                      (uint64_t)top->generation << 32 | top->unit, top->unit, -1.0};
            return true;
        }
    }
}

void fleet_pool_take(struct fleet_pools *pools, uint32_t index)
{
    struct fleet_pool *pool = &pools->pools[index];
    CHECK(pool->heap.count > 0);
    struct fleet_life life = pool->heap.items[0];
    life.generation++;
    double u = random_at(pool->life_key, (uint64_t)life.generation << 32 | life.unit);
    life.own_s += duration_quantile_s(&pool->life, u);
    life.due_s = life.own_s + still_s(pools, pool, life.unit);
    fleet_heap_replace(&pool->heap, life);
}

void fleet_pool_leave(struct fleet_pools *pools, uint32_t node, double exposed_s)
{
    for (uint32_t i = 0; i < pools->carriers_count; i++) {
        struct fleet_carriers *carriers = &pools->carriers[i];
        uint32_t carrier = node / carriers->nodes_each;
        if (--carriers->inside[carrier] == 0)
            carriers->left_s[carrier] = fleet_clock_age_s(carriers->clock, exposed_s);
    }
}

/* Units of a spare that joins for the first time: their first lives, as those of the others. */
static void pools_meet(struct fleet_pools *pools, uint32_t carriers, uint32_t carrier)
{
    for (uint32_t i = 0; i < pools->pool_count; i++) {
        struct fleet_pool *pool = &pools->pools[i];
        for (uint32_t k = 0; pool->carriers == carriers && k < pool->units_each; k++) {
            uint32_t unit = carrier * pool->units_each + k;
            double u = random_at(pool->life_key, unit);
            pool_push(pools, pool,
                      (struct fleet_life){.own_s = pool_first_s(pool, u), .unit = unit});
        }
    }
}

static void pools_unpark(struct fleet_pools *pools, uint32_t *list)
{
    while (*list > 0) {
        uint32_t place = *list - 1;
        struct fleet_parked *parked = &pools->parked[place];
        *list = parked->next;
        pool_push(pools, &pools->pools[parked->pool], parked->life);
        parked->next = pools->parked_free;
        pools->parked_free = place + 1;
    }
}

void fleet_pool_join(struct fleet_pools *pools, uint32_t node, double exposed_s)
{
    for (uint32_t i = 0; i < pools->carriers_count; i++) {
        struct fleet_carriers *carriers = &pools->carriers[i];
        uint32_t carrier = node / carriers->nodes_each;
        if (carriers->inside[carrier]++ > 0)
            continue;
        carriers->still_s[carrier] +=
            fleet_clock_age_s(carriers->clock, exposed_s) - carriers->left_s[carrier];
        if (!carriers->known[carrier]) {
            carriers->known[carrier] = true;
            pools_meet(pools, i, carrier);
        }
        pools_unpark(pools, &carriers->parked[carrier]);
    }
}
