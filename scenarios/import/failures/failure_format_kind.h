/* failure_format_kind.h - the formats of failure logs: one file and one row each.
 *
 * A format reads lines of its text (import_text.h) and says what it saw, line by line, by
 * failure_log_see (failure_log_state.h); false with a sentence for a line that is not of it.
 * Numbers for names, the watch, repeats and the fits are not its concern. By its name it is a kind
 * of `orrery import`. */
#ifndef ORRERY_SCENARIOS_IMPORT_FAILURES_FAILURE_FORMAT_KIND_H
#define ORRERY_SCENARIOS_IMPORT_FAILURES_FAILURE_FORMAT_KIND_H

#include <stdbool.h>

#include "sim/kind.h"
#include "sim/units.h"

struct failure_reading;
struct failure_format_kind {
    struct kind head; /* as `orrery import` spells it; '\n' where a line of its --help ends */
    bool (*read)(struct failure_reading *reading);
    double merge_s; /* repeats within it are one failure, where the user says nothing */
    bool chains;    /* what a unit logs within it has one cause, which the first line names */
    bool json;      /* it reads JSON, too */
    bool hostless;  /* its lines may name no host: the user says it */
};
/* Drivers log one failure in bursts of seconds to minutes. */
#define FAILURE_BURST_S (10.0 * MINUTE)
#define X(name) extern const struct failure_format_kind failure_format_##name;
#include "scenarios/import/failures/failure_format_list.h"
#undef X
KIND_FAMILY(failure_format)

#endif
