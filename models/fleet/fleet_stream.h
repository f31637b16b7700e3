/* fleet_stream.h - failures that do not depend on age, one after the other: Poisson streams over
 * slots, lemons, domains or the job, and lists of incidents.
 *
 * A stream proposes candidates in the order of time; one that hits nothing of the job is passed
 * over (thinning, exact for a Poisson stream). Candidate n is a function of (key, n) alone. Looking
 * ahead settles nothing: nodes may join before a candidate's time, so candidates are dropped only
 * when the fleet's time is beyond them. Workload: less than one candidate in ten is dropped. */
#ifndef ORRERY_MODELS_FLEET_FLEET_STREAM_H
#define ORRERY_MODELS_FLEET_FLEET_STREAM_H

#include "models/fleet/fleet_members.h"
#include "models/fleet/fleet_spec.h"

struct candidate {
    double at_s;     /* exposed time */
    uint64_t number; /* of its cause: key of further draws */
    uint32_t unit;
    double repair_s; /* as in fleet_event */
};
enum stream_over {
    OVER_SLOTS,
    OVER_LEMONS,
    OVER_DOMAINS,
    OVER_JOB,
    OVER_TRACE
};
struct stream_place {
    uint64_t index;
    double age_s; /* of candidate `index`, on the cause's clock */
};
struct fleet_stream {
    const struct failure_cause *cause;
    enum stream_over over;
    struct fleet_clock clock;
    uint64_t key, mark;     /* mark: high bits of this stream's numbers */
    uint64_t hit_key;       /* of the cause: which nodes of a struck domain go down */
    double gap_s;           /* mean */
    uint32_t first, count;  /* lemons: in `lemons`; domains: numbers */
    const uint32_t *lemons; /* nodes, ascending */
    uint32_t units_each;    /* of a node */
    /* Nodes of the job that it can strike, kept for domains and lemons; 0: it is not asked. */
    uint32_t inside_count;
    struct stream_place head, seen;
    bool drawn;             /* next.at_s and `chosen` are those of `seen` */
    uint32_t chosen;        /* unit among those of the stream */
    uint64_t skipped;       /* incidents of a trace whose moment passed without a strike */
    uint64_t first_skipped; /* index of the first; valid when there are any */
    bool found;             /* `next` stood at `seen` and struck the job when it was last asked */
    struct candidate next;  /* valid when found, at_s when drawn */
};
/* Fills the streams of a cause without memory, or of a trace; returns how many (at most
 * STREAMS_EACH). */
enum {
    STREAMS_EACH = 3
};
uint32_t fleet_stream_create(struct arena *arena, const struct fleet_spec *spec,
                             const struct failure_cause *cause, const struct members *members,
                             uint64_t key, struct fleet_stream *out);
/* Looks for the next candidate that strikes the job before `limit_s`; it stands in stream->next.
 * Ends for every limit: without a node that it can strike it is not looked for. */
bool fleet_stream_next(struct fleet_stream *stream, const struct members *members, double now_s,
                       double limit_s);
void fleet_stream_take(struct fleet_stream *stream);
/* Incidents of a trace up to `end_s` that struck nothing, the unit being out of the job; `first` is
 * the index of the first where there are any. 0 for other streams. */
uint64_t fleet_stream_skipped(const struct fleet_stream *stream, double end_s, uint64_t *first);
/* Of the candidate that stands next, whether it strikes or not; INFINITY: none is left. */
double fleet_stream_moment_s(const struct fleet_stream *stream);
/* A node leaves or joins. Streams over slots, or over the job, need not be told while they have
 * not looked ahead. */
void fleet_stream_changed(struct fleet_stream *stream, const struct members *members, uint32_t node,
                          bool joined);
/* Candidates were passed over that may strike the job when a node joins. */
static inline bool fleet_stream_looked_ahead(const struct fleet_stream *stream)
{
    return stream->head.index != stream->seen.index;
}

uint32_t fleet_units_each(const struct fleet_spec *spec,
                          int unit); /* GPUs, NICs of a node; else 1 */
/* Does the node go down in blow `number` to its domain? */
bool fleet_struck(const struct failure_cause *cause, uint64_t hit_key, uint64_t number,
                  uint32_t node);

#endif
