/* quantity.h - numbers with units, from a user's text to SI and back.
 *
 * A physical quantity must carry a unit; a count may carry k, M, B or T; a ratio may be a
 * percentage. Decimal only; no infinities, no NaN, nothing that overflows. It knows no key and no
 * range. The grammar: [+-] digits [. digits] [e [+-] digits] [blanks] [unit]. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_QUANTITY_H
#define ORRERY_SCENARIOS_LANGUAGE_QUANTITY_H

#include <stdint.h>

#include "sim/param.h"

enum {
    QUANTITY_TEXT_MAX = 160
};

struct quantity {
    double number;  /* SI; of a count its nearest double, of a flag 0 or 1 */
    uint64_t count; /* of PARAM_COUNT */
};

/* False with a sentence part that names the text ("'5' has no unit; write one of s, ms, ...") in
 * `why` (QUANTITY_TEXT_MAX bytes). Not for choices and texts. `shown` is the text as messages may
 * show it. */
bool quantity_read(enum param_type type, const char *text, const char *shown, struct quantity *out,
                   char *why);
/* SI to text in the largest unit that keeps the number at least 1; six digits. */
void quantity_write(enum param_type type, double number, char *text, unsigned size);
/* The same in the kind of unit that `like` carries, a text of that type: GB, GiB or Gb/s; of a
 * ratio per cent. */
void quantity_write_like(enum param_type type, double number, const char *like, char *text,
                         unsigned size);
/* "s, ms, us, ns, min, h, d, y"; "" for types without units. */
const char *quantity_units(enum param_type type);
/* What a number of this type is in inside: "s", "B/s"; "" for what has no unit. */
const char *quantity_si_unit(enum param_type type);
/* "time", "bandwidth", ... for the reference. */
const char *quantity_type_name(enum param_type type);

#endif
