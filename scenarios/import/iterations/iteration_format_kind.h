/* iteration_format_kind.h - the formats of training logs: one file and one row each.
 *
 * A format looks at one line after the other and says what it saw (iteration_row.h): an
 * iteration, a pause for a checkpoint or an evaluation, a checkpoint that was loaded. A table is
 * read whole instead. Which ranks printed, when, what stands twice and where a run was started
 * again are not its concern. */
#ifndef ORRERY_SCENARIOS_IMPORT_ITERATIONS_ITERATION_FORMAT_KIND_H
#define ORRERY_SCENARIOS_IMPORT_ITERATIONS_ITERATION_FORMAT_KIND_H

#include <stdbool.h>

#include "sim/kind.h"

struct iteration_reading;
struct iteration_line;
struct iteration_format_kind {
    struct kind head; /* as --format spells it */
    const char *form; /* a line of it, as a message shows it */
    /* Looks at a line, perhaps none of its own. False with a sentence: it is its own, and wrong. */
    bool (*look)(struct iteration_reading *r, const struct iteration_line *line);
    /* Of a table: reads the whole text. NULL: it is no table. */
    bool (*table)(struct iteration_reading *r);
    bool redraws;       /* it draws a progress bar: a number that stands again was drawn again */
    bool pauses_inside; /* the time of an iteration holds the pauses told behind the one before */
};
#define X(name) extern const struct iteration_format_kind iteration_format_##name;
#include "scenarios/import/iterations/iteration_format_list.h"
#undef X
KIND_FAMILY(iteration_format)

#endif
