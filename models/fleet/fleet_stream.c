/* Invariants
 * 1. head <= seen: candidates before `head` are settled (taken, or passed over with their moment in
 *    the past); those between were passed over as the job stands now.
 * 2. A node that leaves can only unmake candidates, so the search goes on from `seen`; one that
 *    joins can make some, so the search begins at `head` again.
 * 3. The moment of a candidate and the slot that it strikes do not depend on who stands where: they
 *    are drawn once, and who stands in the slot is read anew whenever the stream is asked.
 * 4. inside_count counts the nodes that a candidate can strike: without one the search would not
 *    end. A lemon that was mended is none of them any more; it is mended outside of the job, so
 *    that it left as a lemon and comes back as a node like the others. */
#include "models/fleet/fleet_stream.h"

#include <math.h>

#include "sim/check.h"
#include "sim/random.h"

enum {
    MARK_SHIFT = 60
};

uint32_t fleet_units_each(const struct fleet_spec *spec, int unit)
{
    return unit == UNIT_GPU ? spec->gpus_per_node : unit == UNIT_NIC ? spec->nics_per_node : 1;
}

bool fleet_struck(const struct failure_cause *cause, uint64_t hit_key, uint64_t number,
                  uint32_t node)
{
    if (!cause->kind->hit_ratio || cause->unit != UNIT_DOMAIN)
        return true;
    return random_at(random_hash(hit_key, number), node) < cause->kind->hit_ratio(&cause->options);
}

static bool domain_strikes(const struct fleet_stream *stream, const struct members *members,
                           uint32_t domain, const struct candidate *candidate)
{
    uint64_t size = stream->cause->domain_nodes, first = domain * size;
    for (uint64_t node = first; node < first + size && node < members->node_count; node++)
        if (fleet_members_inside(members, (uint32_t)node, candidate->at_s) &&
            fleet_struck(stream->cause, stream->hit_key, candidate->number, (uint32_t)node))
            return true;
    return false;
}

static bool unit_strikes(const struct fleet_stream *stream, const struct members *members,
                         const struct candidate *candidate)
{
    if (stream->cause->unit == UNIT_JOB)
        return true;
    if (stream->cause->unit == UNIT_DOMAIN)
        return domain_strikes(stream, members, candidate->unit, candidate);
    uint32_t node = candidate->unit / stream->units_each;
    if (stream->over == OVER_LEMONS && fleet_members_mended(members, node))
        return false;
    return fleet_members_inside(members, node, candidate->at_s);
}

/* The unit that the candidate strikes; false: it falls on an empty slot. */
static bool stream_unit(const struct fleet_stream *stream, const struct members *members,
                        uint32_t *unit)
{
    uint32_t chosen = stream->chosen, node = chosen / stream->units_each;
    if (stream->over == OVER_SLOTS)
        node = members->node_of_slot[node];
    else if (stream->over == OVER_LEMONS)
        node = stream->lemons[stream->first + node];
    else
        node += stream->first;
    *unit = node * stream->units_each + chosen % stream->units_each;
    return node != SLOT_EMPTY;
}

/* Fills all but the moment. */
static bool stream_propose(struct fleet_stream *stream, const struct members *members)
{
    struct candidate *next = &stream->next;
    uint64_t index = stream->seen.index;
    next->number = stream->mark | index;
    next->repair_s = -1.0;
    if (stream->over == OVER_TRACE) {
        next->unit = stream->cause->trace[index].unit;
        next->repair_s = stream->cause->trace[index].repair_s;
    } else if (!stream_unit(stream, members, &next->unit)) {
        return false;
    }
    return unit_strikes(stream, members, next);
}

double fleet_stream_moment_s(const struct fleet_stream *stream)
{
    if (stream->over != OVER_TRACE)
        return fleet_clock_exposed_s(stream->clock, stream->seen.age_s);
    uint64_t index = stream->seen.index;
    return index < stream->cause->trace_count ? stream->cause->trace[index].at_s : INFINITY;
}

static double stream_gap_s(const struct fleet_stream *stream, uint64_t index)
{
    return -log(random_at(stream->key, 2 * index)) * stream->gap_s;
}

static void stream_advance(const struct fleet_stream *stream, struct stream_place *place)
{
    place->index++;
    if (stream->over != OVER_TRACE)
        place->age_s += stream_gap_s(stream, place->index);
}

/* Moment and place of the candidate at `seen`. */
static void stream_draw(struct fleet_stream *stream)
{
    stream->next.at_s = fleet_stream_moment_s(stream);
    stream->drawn = true;
    if (stream->over == OVER_TRACE)
        return;
    double place = random_at(stream->key, 2 * stream->seen.index + 1);
    stream->chosen = (uint32_t)(place * (double)stream->count * (double)stream->units_each);
}

/* Candidates before `seen` are in the past: those since `head` struck nothing. */
static void stream_settle(struct fleet_stream *stream)
{
    uint64_t passed = stream->seen.index - stream->head.index;
    if (stream->skipped == 0 && passed > 0)
        stream->first_skipped = stream->head.index;
    stream->skipped += passed;
    stream->head = stream->seen;
}

bool fleet_stream_next(struct fleet_stream *stream, const struct members *members, double now_s,
                       double limit_s)
{
    if ((stream->over == OVER_SLOTS ? members->inside_count : stream->inside_count) == 0)
        return false;
    for (;;) {
        if (!stream->drawn)
            stream_draw(stream);
        if (stream->next.at_s >= limit_s)
            return false;
        stream->found = stream_propose(stream, members);
        if (stream->found)
            return true;
        bool settled = stream->next.at_s < now_s && !fleet_stream_looked_ahead(stream);
        stream_advance(stream, &stream->seen);
        stream->drawn = false;
        if (settled)
            stream_settle(stream);
    }
}

void fleet_stream_take(struct fleet_stream *stream)
{
    CHECK(stream->found);
    stream_settle(stream);
    stream_advance(stream, &stream->seen);
    stream->head = stream->seen;
    stream->found = stream->drawn = false;
}

uint64_t fleet_stream_skipped(const struct fleet_stream *stream, double end_s, uint64_t *first)
{
    uint64_t index = stream->head.index, past = 0;
    if (stream->over != OVER_TRACE)
        return 0;
    while (index + past < stream->cause->trace_count &&
           stream->cause->trace[index + past].at_s < end_s)
        past++;
    *first = stream->skipped > 0 ? stream->first_skipped : index;
    return stream->skipped + past;
}

/* The stream can strike the node where it stands in the job; who stands in the slots is known to
 * the members. */
static bool stream_holds(const struct fleet_stream *stream, const struct members *members,
                         uint32_t node)
{
    if (stream->over == OVER_DOMAINS) {
        uint64_t domain = node / stream->cause->domain_nodes;
        return domain >= stream->first && domain - stream->first < stream->count;
    }
    if (stream->over != OVER_LEMONS || fleet_members_mended(members, node))
        return false;
    uint32_t low = stream->first, high = stream->first + stream->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (stream->lemons[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stream->first + stream->count && stream->lemons[low] == node;
}

void fleet_stream_changed(struct fleet_stream *stream, const struct members *members, uint32_t node,
                          bool joined)
{
    if (joined && fleet_stream_looked_ahead(stream)) {
        stream->seen = stream->head;
        stream->found = stream->drawn = false;
    }
    if (stream_holds(stream, members, node))
        stream->inside_count += joined ? 1 : UINT32_MAX;
}

struct stream_units { /* nodes or domains */
    uint32_t first, count;
    uint32_t inside; /* nodes of the job among them */
};

/* Starts a stream of `rate` failures of one unit a second over `count` nodes or domains. */
static uint32_t stream_begin(struct fleet_stream *stream, enum stream_over over, uint64_t id,
                             uint64_t key, double rate, struct stream_units units)
{
    if (units.count == 0 || stream->units_each == 0 || rate == 0.0)
        return 0;
    stream->over = over;
    stream->key = random_hash(key, id);
    stream->mark = id << MARK_SHIFT;
    stream->gap_s = 1.0 / (rate * (double)units.count * (double)stream->units_each);
    stream->first = units.first;
    stream->count = units.count;
    stream->inside_count = units.inside;
    stream->head.age_s = stream_gap_s(stream, 0);
    stream->seen = stream->head;
    return 1;
}

/* Lemons of the job's first nodes and of the spares are streams of their own: more spares change no
 * failure of the others. */
static uint32_t stream_lemons(struct arena *arena, const struct members *members, uint64_t key,
                              const struct fleet_stream *plain, struct fleet_stream *out)
{
    double share, factor;
    plain->cause->kind->lemons(&plain->cause->options, &share, &factor);
    uint32_t *lemons = ARENA_ARRAY(arena, uint32_t, members->node_count), count = 0, own = 0;
    uint64_t status = random_key(key, "lemon");
    for (uint32_t node = 0; node < members->node_count; node++) {
        if (random_at(status, node) < share)
            lemons[count++] = node;
        if (node + 1 == members->slot_count)
            own = count;
    }
    double rate = failure_cause_rate(plain->cause, factor - 1.0);
    out[0] = out[1] = *plain;
    out[0].lemons = out[1].lemons = lemons;
    uint32_t made =
        stream_begin(&out[0], OVER_LEMONS, 1, key, rate, (struct stream_units){0, own, own});
    return made + stream_begin(&out[made], OVER_LEMONS, 2, key, rate,
                               (struct stream_units){own, count - own, 0});
}

/* Domains in which a node of the job stands at first, and those of spares alone. */
static uint32_t stream_domains(const struct members *members, uint64_t key,
                               const struct fleet_stream *plain, struct fleet_stream *out)
{
    uint64_t size = plain->cause->domain_nodes;
    uint32_t own = (uint32_t)((members->slot_count + size - 1) / size);
    uint32_t all = (uint32_t)((members->node_count + size - 1) / size);
    double rate = failure_cause_rate(plain->cause, 1.0);
    out[0] = out[1] = *plain;
    uint32_t made = stream_begin(&out[0], OVER_DOMAINS, 0, key, rate,
                                 (struct stream_units){0, own, members->slot_count});
    return made + stream_begin(&out[made], OVER_DOMAINS, 1, key, rate,
                               (struct stream_units){own, all - own, 0});
}

uint32_t fleet_stream_create(struct arena *arena, const struct fleet_spec *spec,
                             const struct failure_cause *cause, const struct members *members,
                             uint64_t key, struct fleet_stream *out)
{
    struct fleet_stream plain = {.cause = cause,
                                 .clock = {cause->early_factor, cause->early_s},
                                 .hit_key = random_key(key, "hit"),
                                 .units_each = fleet_units_each(spec, cause->unit)};
    if (cause->kind->replays) {
        plain.over = OVER_TRACE;
        plain.inside_count = 1;
        *out = plain;
        return 1;
    }
    if (cause->unit == UNIT_DOMAIN)
        return stream_domains(members, key, &plain, out);
    *out = plain;
    uint32_t slots = cause->unit == UNIT_JOB ? 1 : members->slot_count;
    uint32_t made =
        stream_begin(out, cause->unit == UNIT_JOB ? OVER_JOB : OVER_SLOTS, 0, key,
                     failure_cause_rate(cause, 1.0), (struct stream_units){0, slots, slots});
    if (cause->kind->lemons && made > 0 && cause->unit != UNIT_JOB)
        made += stream_lemons(arena, members, key, &plain, out + made);
    return made;
}
