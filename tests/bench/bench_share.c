/* Flows that come and go at a constant number: each completion starts another flow at the same
 * instant, as in the hold model. The calendar's work is part of it, as in the network player. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "sim/calendar.h"
#include "sim/check.h"
#include "sim/random.h"
#include "sim/share.h"
#include "sim/units.h"

enum {
    USES = 6,
    BATCH = 1000,
    RADIX = 16,
    RING = 8
};
static const double LINK_BYTES_PER_S = 50.0 * GIGA;

struct flows;
typedef uint32_t route_fn(struct flows *flows, uint32_t flow, struct share_use *uses);

struct flows {
    struct arena *arena;
    struct calendar *calendar;
    struct share *share;
    route_fn *route;
    uint32_t host_count, flow_count;
    uint32_t *slots, *flow_of; /* by activity id */
    uint64_t draws;
};

static uint64_t draw(struct flows *flows, uint64_t below)
{
    return random_hash(3, flows->draws++) % below;
}

/* A fat tree of three tiers: RADIX hosts at a leaf, RADIX leaves in a pod, each leaf with one link
 * to each of RADIX switches of its pod, each of those with RADIX links to the core; up and down.
 * Sender, receiver and path are random. */
static uint32_t route_fat_tree(struct flows *flows, uint32_t flow, struct share_use *uses)
{
    (void)flow;
    uint32_t hosts = flows->host_count, count = 0;
    uint32_t from = (uint32_t)draw(flows, hosts);
    uint32_t to = (from + 1 + (uint32_t)draw(flows, hosts - 1)) % hosts;
    uint32_t second = (uint32_t)draw(flows, RADIX), core = (uint32_t)draw(flows, RADIX);
    uint32_t tiers[3] = {0, 2 * hosts, 4 * hosts};
    uses[count++].link = tiers[0] + from;
    if (from / RADIX != to / RADIX) {
        uint32_t pod_hosts = RADIX * RADIX;
        uses[count++].link = tiers[1] + from / RADIX * RADIX + second;
        if (from / pod_hosts != to / pod_hosts) {
            uses[count++].link = tiers[2] + from / pod_hosts * pod_hosts + second * RADIX + core;
            uses[count++].link =
                tiers[2] + hosts + to / pod_hosts * pod_hosts + second * RADIX + core;
        }
        uses[count++].link = tiers[1] + hosts + to / RADIX * RADIX + second;
    }
    uses[count++].link = tiers[0] + hosts + to;
    return count;
}

/* Two rings over each group of RING hosts; a flow goes from a host to the next of its ring. */
static uint32_t route_rings(struct flows *flows, uint32_t flow, struct share_use *uses)
{
    uint32_t host = flow / 2, next = host / RING * RING + (host + 1) % RING;
    uses[0].link = host;
    uses[1].link = flows->host_count + next;
    return 2;
}

/* Each flow has its own sender and receiver. */
static uint32_t route_alone(struct flows *flows, uint32_t flow, struct share_use *uses)
{
    uses[0].link = flow;
    uses[1].link = flows->host_count + flow;
    return 2;
}

static void start(struct flows *flows, uint32_t flow, double now_s)
{
    struct share_use uses[USES];
    uint32_t count = flows->route(flows, flow, uses);
    for (uint32_t i = 0; i < count; i++)
        uses[i].weight = 1.0;
    double bytes = -log(((double)draw(flows, 1u << 30) + 0.5) * 0x1p-30) * GIGA;
    uint32_t id =
        share_start(flows->share, now_s, (struct share_demand){bytes, INFINITY, 1.0}, uses, count);
    flows->flow_of[id] = flow;
}

static void solve(struct flows *flows, double now_s)
{
    const uint32_t *changed;
    size_t count = share_solve(flows->share, now_s, &changed);
    for (size_t i = 0; i < count; i++)
        calendar_set(flows->calendar, flows->slots[changed[i]],
                     share_finish_s(flows->share, changed[i]), 0);
}

static void *prepare(double size, uint32_t host_count, route_fn *route)
{
    struct flows *flows = calloc(1, sizeof *flows);
    CHECK(flows != NULL);
    flows->arena = arena_create();
    flows->flow_count = (uint32_t)size;
    flows->host_count = host_count;
    flows->route = route;
    uint32_t pods = (host_count + RADIX * RADIX - 1) / (RADIX * RADIX);
    uint32_t link_count = 4 * host_count + 2 * pods * RADIX * RADIX;
    double *capacity = ARENA_ARRAY(flows->arena, double, link_count);
    for (uint32_t i = 0; i < link_count; i++)
        capacity[i] = LINK_BYTES_PER_S;
    flows->share = share_create(flows->arena, link_count, capacity);
    flows->calendar = calendar_create(flows->arena, flows->flow_count);
    flows->slots = ARENA_ARRAY(flows->arena, uint32_t, flows->flow_count + 1);
    flows->flow_of = ARENA_ARRAY(flows->arena, uint32_t, flows->flow_count + 1);
    for (uint32_t i = 0; i < flows->flow_count; i++) {
        flows->slots[i] = calendar_slot(flows->calendar);
        start(flows, i, 0.0);
    }
    solve(flows, 0.0);
    return flows;
}

static void *fat_tree_prepare(double size)
{
    return prepare(size, (uint32_t)size / 4, route_fat_tree);
}

static void *rings_prepare(double size)
{
    return prepare(size, (uint32_t)size / 2, route_rings);
}

static void *alone_prepare(double size)
{
    return prepare(size, (uint32_t)size, route_alone);
}

static double run(void *state)
{
    struct flows *flows = state;
    struct calendar_event event;
    for (int i = 0; i < BATCH && calendar_pop(flows->calendar, &event); i++) {
        /* slots and activities are numbered alike: both begin at 0 and each end frees the id that
         * the start takes */
        uint32_t flow = flows->flow_of[event.slot];
        share_finish(flows->share, event.time_s, event.slot);
        start(flows, flow, event.time_s);
        solve(flows, event.time_s);
    }
    return BATCH;
}

static void release(void *state)
{
    struct flows *flows = state;
    arena_destroy(flows->arena);
    free(flows);
}

const struct bench bench_fat_tree = {fat_tree_prepare, run, release};
const struct bench bench_rings = {rings_prepare, run, release};
const struct bench bench_alone = {alone_prepare, run, release};
