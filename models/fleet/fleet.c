/* Invariants
 * 1. now_s never falls: every taken failure, leave and join is at or after the one before. (Joins
 *    and leaves come at the moments at which they happen, so that what was passed over stays so.)
 * 2. `next` is the answer of the last look while `fresh`: the first failure at or after now_s, or,
 *    without one, that none comes before `none_before_s`.
 * 3. A source (streams, then pools) stands in a heap by a time that is not after its next failure,
 *    so that few need to be asked. When a node joins, failures may come sooner, and all are asked
 *    anew, but for streams over slots or the job, none of which has passed over a candidate: they
 *    come when they come, whoever stands there.
 * 4. Of sources at one time the first (streams, pools, followers) wins. */
#include "models/fleet/fleet.h"

#include <math.h>

#include "models/fleet/fleet_pool.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/random.h"
#include "sim/units.h"

/* A failure that drags another along: how long after, at most, in exposed time. */
static const double FOLLOW_S = HOUR;

struct follower {
    struct candidate candidate;
    uint32_t cause;
};
struct fleet_source {
    enum {
        SOURCE_NONE,
        SOURCE_STREAM,
        SOURCE_POOL,
        SOURCE_FOLLOWER
    } kind;
    uint32_t index;
};
struct due {
    double at_s;
    uint32_t source; /* streams, then pools */
};
static inline bool due_before(const struct due *a, const struct due *b)
{
    return a->at_s < b->at_s || (a->at_s == b->at_s && a->source < b->source);
}
HEAP_DEFINE(due_heap, struct due, due_before, 2)

struct fleet {
    struct arena *arena;
    struct fleet_spec spec;
    struct members members;
    uint64_t *keys; /* of each cause */
    struct fleet_stream *streams;
    struct fleet_pools pools;
    struct due_heap due; /* a due for each source */
    struct follower *followers;
    uint32_t stream_count, follower_count, follower_capacity;
    double now_s, none_before_s;
    bool fresh;
    bool slots_alone;  /* all streams are over slots or the job */
    bool looked_ahead; /* a stream may have passed over candidates that a node which joins meets */
    struct fleet_source source; /* of `next` */
    struct fleet_event next;
};

/* Causes of one name (a preset given twice) are told apart by how many came before. */
static void fleet_keys(struct fleet *fleet, uint64_t seed)
{
    uint64_t *named = ARENA_ARRAY(fleet->arena, uint64_t, fleet->spec.cause_count);
    for (uint32_t i = 0; i < fleet->spec.cause_count; i++) {
        uint64_t before = 0;
        named[i] = random_key(seed, fleet->spec.causes[i].name);
        for (uint32_t k = 0; k < i; k++)
            before += named[k] == named[i];
        fleet->keys[i] = random_hash(named[i], before);
    }
}

static bool streams_over_slots(const struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->stream_count; i++)
        if (fleet->streams[i].over != OVER_SLOTS && fleet->streams[i].over != OVER_JOB)
            return false;
    return true;
}

static void due_all(struct fleet *fleet, double at_s)
{
    fleet->due.count = 0;
    for (uint32_t i = 0; i < fleet->stream_count + fleet->pools.pool_count; i++)
        due_heap_push(&fleet->due, fleet->arena, (struct due){at_s, i});
}

struct fleet *fleet_create(struct arena *arena, struct fleet_spec spec, uint64_t seed)
{
    struct fleet *fleet = ARENA_NEW(arena, struct fleet);
    *fleet = (struct fleet){.arena = arena, .spec = spec};
    fleet->keys = ARENA_ARRAY(arena, uint64_t, spec.cause_count);
    fleet->streams = ARENA_ARRAY(arena, struct fleet_stream, spec.cause_count * STREAMS_EACH);
    fleet_members_create(arena, spec.nodes, spec.nodes + spec.spares, &fleet->members);
    fleet_pool_create(arena, spec.cause_count, &fleet->pools);
    fleet_keys(fleet, seed);
    for (uint32_t i = 0; i < spec.cause_count; i++) {
        const struct failure_cause *cause = &spec.causes[i];
        if (cause->kind->memoryless || cause->kind->replays)
            fleet->stream_count +=
                fleet_stream_create(arena, &fleet->spec, cause, &fleet->members, fleet->keys[i],
                                    &fleet->streams[fleet->stream_count]);
        else
            fleet_pool_add(&fleet->pools, &fleet->spec, cause, &fleet->members, fleet->keys[i]);
    }
    due_all(fleet, 0.0);
    fleet->slots_alone = streams_over_slots(fleet);
    return fleet;
}

static uint32_t cause_index(const struct fleet *fleet, const struct failure_cause *cause)
{
    return (uint32_t)(cause - fleet->spec.causes);
}

/* Where the unit stands. */
static void fleet_place(const struct fleet *fleet, struct fleet_event *event)
{
    const struct failure_cause *cause = &fleet->spec.causes[event->cause];
    event->node_count = 1;
    if (cause->unit == UNIT_JOB) {
        event->node = UINT32_MAX;
        event->node_count = 0;
    } else if (cause->unit == UNIT_DOMAIN) {
        event->node = (uint32_t)(event->unit * cause->domain_nodes);
        uint32_t left = fleet->members.node_count - event->node;
        event->node_count = cause->domain_nodes < left ? (uint32_t)cause->domain_nodes : left;
    } else {
        event->node = event->unit / fleet_units_each(&fleet->spec, cause->unit);
    }
}

static void fleet_offer(struct fleet *fleet, struct fleet_source source, uint32_t cause,
                        const struct candidate *candidate)
{
    fleet->source = source;
    fleet->next = (struct fleet_event){.at_s = fmax(candidate->at_s, fleet->now_s),
                                       .cause = cause,
                                       .unit = candidate->unit,
                                       .number = candidate->number,
                                       .repair_s = candidate->repair_s};
}

static bool ask_stream(struct fleet *fleet, struct due *due, double limit_s, struct candidate *out)
{
    struct fleet_stream *stream = &fleet->streams[due->source];
    bool found = fleet_stream_next(stream, &fleet->members, fleet->now_s, limit_s);
    due->at_s =
        found || (stream->drawn && stream->next.at_s > limit_s) ? stream->next.at_s : limit_s;
    fleet->looked_ahead |= fleet_stream_looked_ahead(stream);
    if (found)
        *out = stream->next;
    return found;
}

static bool ask_pool(struct fleet *fleet, struct due *due, double limit_s, struct candidate *out)
{
    bool found = fleet_pool_next(&fleet->pools, due->source - fleet->stream_count, limit_s, out);
    due->at_s = found ? out->at_s : limit_s;
    return found;
}

static void offer_source(struct fleet *fleet, uint32_t source, const struct candidate *candidate)
{
    uint32_t streams = fleet->stream_count;
    if (source < streams)
        fleet_offer(fleet, (struct fleet_source){SOURCE_STREAM, source},
                    cause_index(fleet, fleet->streams[source].cause), candidate);
    else
        fleet_offer(fleet, (struct fleet_source){SOURCE_POOL, source - streams},
                    cause_index(fleet, fleet->pools.pools[source - streams].cause), candidate);
}

static bool ask(struct fleet *fleet, struct due *due, double limit_s, struct candidate *out)
{
    return due->source < fleet->stream_count ? ask_stream(fleet, due, limit_s, out)
                                             : ask_pool(fleet, due, limit_s, out);
}

/* Whoever is due first is asked, until none is due before the first that strikes, which then stands
 * on top. One that does not strike by then is due just after it. */
static double look_sources(struct fleet *fleet, double limit_s)
{
    struct due best = {limit_s, 0};
    double bound_s = limit_s;
    struct candidate candidate, struck = {0};
    bool strikes = false;
    while (fleet->due.count > 0 && due_before(&fleet->due.items[0], &best)) {
        struct due top = fleet->due.items[0];
        if (ask(fleet, &top, bound_s, &candidate) && due_before(&top, &best)) {
            strikes = true;
            best = top;
            struck = candidate;
            bound_s = nextafter(top.at_s, INFINITY);
        }
        due_heap_replace(&fleet->due, top);
    }
    if (strikes)
        offer_source(fleet, best.source, &struck);
    return best.at_s;
}

static void look_followers(struct fleet *fleet, double limit_s)
{
    for (uint32_t i = 0; i < fleet->follower_count; i++) {
        const struct follower *f = &fleet->followers[i];
        uint32_t each = fleet_units_each(&fleet->spec, fleet->spec.causes[f->cause].unit);
        if (f->candidate.at_s >= limit_s || f->candidate.at_s < fleet->now_s ||
            !fleet_members_inside(&fleet->members, f->candidate.unit / each, f->candidate.at_s))
            continue;
        fleet_offer(fleet, (struct fleet_source){SOURCE_FOLLOWER, i}, f->cause, &f->candidate);
        limit_s = f->candidate.at_s;
    }
}

static void fleet_look(struct fleet *fleet, double limit_s)
{
    fleet->source.kind = SOURCE_NONE;
    look_followers(fleet, look_sources(fleet, limit_s));
    fleet->fresh = true;
    fleet->none_before_s = limit_s;
    if (fleet->source.kind != SOURCE_NONE)
        fleet_place(fleet, &fleet->next);
}

bool fleet_next(struct fleet *fleet, double limit_s, struct fleet_event *out)
{
    bool known =
        fleet->fresh && (fleet->source.kind != SOURCE_NONE || limit_s <= fleet->none_before_s);
    if (!known)
        fleet_look(fleet, limit_s);
    if (fleet->source.kind == SOURCE_NONE || fleet->next.at_s >= limit_s)
        return false;
    *out = fleet->next;
    return true;
}

/* Followers whose moment is past struck nothing. */
static void followers_settle(struct fleet *fleet)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fleet->follower_count; i++)
        if (fleet->followers[i].candidate.at_s >= fleet->now_s)
            fleet->followers[kept++] = fleet->followers[i];
    fleet->follower_count = kept;
}

static void follower_add(struct fleet *fleet, struct follower follower)
{
    LIST_ROOM(fleet->arena, fleet->followers, fleet->follower_count, 1, fleet->follower_capacity);
    fleet->followers[fleet->follower_count++] = follower;
}

/* Cascades: with probability cascade_ratio a failure of a GPU, a NIC or a node is followed by one
 * of the same cause on another node of its domain, at a uniform moment of the next hour. The unit
 * that follows is disturbed, not worn: it keeps its age. */
static void fleet_cascade(struct fleet *fleet, const struct fleet_event *event)
{
    const struct failure_cause *cause = &fleet->spec.causes[event->cause];
    if (cause->cascade_ratio == 0.0 || cause->domain_nodes < 2 || cause->unit == UNIT_DOMAIN ||
        cause->unit == UNIT_JOB || cause->kind->replays)
        return;
    uint64_t key = random_hash(random_key(fleet->keys[event->cause], "cascade"), event->number);
    uint32_t first = (uint32_t)(event->node / cause->domain_nodes * cause->domain_nodes);
    uint32_t left = fleet->members.node_count - first;
    uint32_t size = cause->domain_nodes < left ? (uint32_t)cause->domain_nodes : left;
    if (size < 2 || random_at(key, 0) >= cause->cascade_ratio)
        return;
    uint32_t node = first + (uint32_t)(random_at(key, 1) * (double)(size - 1));
    node += node >= event->node;
    uint32_t each = fleet_units_each(&fleet->spec, cause->unit);
    uint32_t unit = node * each + (uint32_t)(random_at(key, 2) * (double)each);
    double at_s = event->at_s + random_at(key, 3) * FOLLOW_S;
    follower_add(fleet, (struct follower){{at_s, random_hash(key, 4), unit, -1.0}, event->cause});
}

void fleet_take(struct fleet *fleet, const struct fleet_event *event)
{
    CHECK(fleet->fresh && fleet->source.kind != SOURCE_NONE);
    CHECK(event->at_s == fleet->next.at_s && event->number == fleet->next.number &&
          event->cause == fleet->next.cause);
    fleet->now_s = event->at_s;
    fleet->fresh = false;
    uint32_t index = fleet->source.index;
    if (fleet->source.kind == SOURCE_STREAM) {
        fleet_stream_take(&fleet->streams[index]);
        due_heap_replace(&fleet->due,
                         (struct due){fleet_stream_moment_s(&fleet->streams[index]), index});
    } else if (fleet->source.kind == SOURCE_POOL) {
        fleet_pool_take(&fleet->pools, index);
        due_heap_replace(&fleet->due, (struct due){fleet->now_s, fleet->stream_count + index});
    } else {
        fleet->followers[index] = fleet->followers[--fleet->follower_count];
    }
    followers_settle(fleet);
    fleet_cascade(fleet, event);
}

static void fleet_changed(struct fleet *fleet, uint32_t node, double exposed_s, bool joined)
{
    CHECK(exposed_s >= fleet->now_s);
    fleet->now_s = exposed_s;
    fleet->fresh = false;
    bool met = fleet->looked_ahead || fleet->members.inside_count == 0;
    bool steady = fleet->slots_alone && !(joined && met);
    for (uint32_t i = 0; !steady && i < fleet->stream_count; i++)
        fleet_stream_changed(&fleet->streams[i], &fleet->members, node, joined);
    if (joined && (!steady || fleet->pools.pool_count > 0))
        due_all(fleet, exposed_s);
    fleet->looked_ahead &= !joined;
}

void fleet_leave(struct fleet *fleet, uint32_t node, double exposed_s)
{
    fleet_changed(fleet, node, exposed_s, false);
    fleet_members_leave(&fleet->members, fleet->arena, node);
    fleet_pool_leave(&fleet->pools, node, exposed_s);
}

void fleet_join(struct fleet *fleet, uint32_t node, double exposed_s)
{
    fleet_changed(fleet, node, exposed_s, true);
    fleet_members_join(&fleet->members, node, exposed_s);
    fleet_pool_join(&fleet->pools, node, exposed_s);
}

void fleet_mend(struct fleet *fleet, uint32_t node)
{
    CHECK(fleet->members.slot_of_node[node] == SLOT_EMPTY);
    fleet_members_mend(&fleet->members, fleet->arena, node);
}

bool fleet_hit(const struct fleet *fleet, const struct fleet_event *event, uint32_t node)
{
    return fleet_struck(&fleet->spec.causes[event->cause],
                        random_key(fleet->keys[event->cause], "hit"), event->number, node);
}

double fleet_uniform(const struct fleet *fleet, const struct fleet_event *event,
                     const char *purpose)
{
    return random_at(random_key(fleet->keys[event->cause], purpose), event->number);
}

void fleet_skipped(const struct fleet *fleet, double end_s, struct fleet_skipped *out)
{
    *out = (struct fleet_skipped){0};
    for (uint32_t i = 0; i < fleet->stream_count; i++) {
        const struct fleet_stream *stream = &fleet->streams[i];
        uint64_t first, count = fleet_stream_skipped(stream, end_s, &first);
        if (count == 0)
            continue;
        const struct trace_event *event = &stream->cause->trace[first];
        if (out->first == NULL || event->at_s < out->first->at_s) {
            out->first = event;
            out->cause = cause_index(fleet, stream->cause);
        }
        out->count += count;
    }
}
