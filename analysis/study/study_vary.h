/* study_vary.h - what `--vary` asks for: keys of the scenario and the values that they take.
 *
 * KEY=a,b,c | KEY=A..B:N | KEY=A..B:log:N (N defaults to 25). Ends of a range carry units as in a
 * scenario ("1min..4h", "16..64", "0.5..0.9") and stay as typed, values between them have six
 * digits and the kind of unit of the lower end (GB, GiB, Gb/s; times a unit of SI up to 10^6 s);
 * whole numbers stay whole unless more points than whole numbers are asked for; values that
 * coincide are taken once. Several keys make a grid, the last one the fastest. It knows no key: the
 * scenario's own table checks each value at its place.
 */
#ifndef ORRERY_ANALYSIS_STUDY_STUDY_VARY_H
#define ORRERY_ANALYSIS_STUDY_STUDY_VARY_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/arena.h"
#include "sim/error.h"
#include "sim/param.h"

enum {
    VARY_MAX = 4,           /* keys at a time */
    VARY_VALUE_MAX = 10000, /* points of a study */
    VARY_DEFAULT = 25
};
struct vary_value {
    const char *text; /* as a scenario takes it */
    double number;    /* SI; NAN where it is a word */
    bool between;     /* a value inside a range: nobody typed it */
};
struct vary {
    const char *key;
    struct vary_value *values;
    size_t count;
    bool numeric;         /* every value is a number of one type, and they ascend */
    bool range;           /* they were given by two ends */
    bool log;             /* a logarithmic range */
    enum param_type type; /* of all values, where numeric */
};
/* False with a sentence that quotes the text and says what would do. */
bool study_vary_read(struct arena *arena, const char *text, struct vary *out, struct error *error);
/* Points of the grid; false with a sentence past VARY_VALUE_MAX. */
bool study_vary_points(const struct vary *varies, unsigned count, size_t *points,
                       struct error *error);
/* Which value of varies[k] stands at this point. */
size_t study_vary_index(const struct vary *varies, unsigned count, unsigned k, size_t point);
/* "checkpoint.interval=30min, recovery.spares=4" */
const char *study_vary_label(struct arena *arena, const struct vary *varies, unsigned count,
                             size_t point);

#endif
