/* waits.h - when compute stands still, and why, as few spans whose sums by cause are exact.
 *
 * Waits come by track and, within a track, by time, each with one cause. Waits that follow each
 * other without a gap are one stand-still; it is cut into pieces of at least a unit, and a piece
 * says how long each cause lasted in it. What is shorter than a unit as a whole (between two ops of
 * a pass, say) has no place in a picture and goes to the rest of its track, by cause. While there
 * are more rows than room the unit is doubled. So the sums by track and cause over pieces and rests
 * are those of the database, to the nanosecond, and a piece covers every stand-still of a unit.
 * The workload: 1e3 to 1e7 waits into 4,000 rows. It knows no database. */
#ifndef ORRERY_ANALYSIS_PAGE_WAITS_H
#define ORRERY_ANALYSIS_PAGE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WAITS_CAUSES = 16 /* more than the breakdown has parts */
};
struct waits_piece {
    int64_t track, begin, end;                     /* ns; begin == end: the rest of its track */
    int64_t ns[WAITS_CAUSES], count[WAITS_CAUSES]; /* by place in `causes` */
};
struct wait_spans {
    struct waits_piece *pieces; /* of the caller, room for `room` + 2 */
    struct waits_piece rest;    /* of the track that is open */
    uint64_t room, count, rows; /* rows: of pieces by cause */
    int64_t causes[WAITS_CAUSES], unit;
    unsigned cause_count;
};
void waits_begin(struct wait_spans *waits, struct waits_piece *pieces, uint64_t room, int64_t unit);
/* False when there is no room however large the unit, or more causes than WAITS_CAUSES. */
bool waits_add(struct wait_spans *waits, int64_t track, int64_t begin, int64_t end, int64_t cause);
bool waits_end(struct wait_spans *waits);

#endif
