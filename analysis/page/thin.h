/* thin.h - many spans as few: so that a picture of a million ops has at most so many rectangles,
 * and every sum stays what it was.
 *
 * Spans come by track and, within a track, by time. While there is room each stays itself. When the
 * room is used up the resolution is doubled, and neighbours of one track that lie in one bin of it
 * become one span: its ends are the outer ends, its count, busy and waiting time the sums, its
 * label that of the longest. So sums over all spans never change, to the nanosecond. The workload:
 * 1e3 to 1e7 spans into 20,000; each is touched a few times. It knows no database.
 * Spans of one phase, microbatch and chunk merge first; others only where that makes no room. */
#ifndef ORRERY_ANALYSIS_PAGE_THIN_H
#define ORRERY_ANALYSIS_PAGE_THIN_H

#include <stdbool.h>
#include <stdint.h>

struct thin_span {
    int64_t track, begin, end; /* ns; end >= begin */
    int64_t busy, wait;        /* ns */
    int64_t count, longest;    /* spans in it; ns of the one that gave the label */
    int64_t name, phase, microbatch, layer, chunk;
};
struct thin {
    struct thin_span *spans; /* of the caller, room for `room` */
    uint64_t room, count;
    int64_t resolution; /* ns; 1: nothing was merged */
    bool mixed;         /* spans of different passes may be in one */
};
void thin_begin(struct thin *thin, struct thin_span *spans, uint64_t room);
/* False when the spans do not fit however coarse: more tracks than room for them. A span must not
 * begin before the one before it on its track (a CHECK). */
bool thin_add(struct thin *thin, const struct thin_span *span);

#endif
