/* stands_on.h - the figures that a number depends on most, with origin and error: rows of the table
 * `constant` of a database, found by the beginnings of their names. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_STANDS_ON_H
#define ORRERY_ANALYSIS_EXPLAIN_STANDS_ON_H

#include "analysis/record/database/query.h"
#include "analysis/record/numbers/record.h"

struct kept_constant {
    const char *name, *text, *origin, *source;
    double error_ratio;
};
struct kept_constants {
    const struct kept_constant *rows;
    unsigned count;
    const struct run_row *run; /* its precision and attention kernel choose among figures */
};
/* Reads the table. Texts live in the arena. */
bool stands_on_read(struct query *query, struct arena *arena, const struct record *record,
                    struct kept_constants *out, struct error *error);
/* Those whose names begin so ("gpu.gemm_ software.launch=": entry, then figure; "=" ends a whole
 * name, "*" stands for any part of it), the least sure first; of attention and peaks only what this
 * run uses. At most `room` into `out`; returns how many there are. */
unsigned stands_on_find(const struct kept_constants *constants, const char *beginnings,
                        const struct kept_constant **out, unsigned room);

#endif
