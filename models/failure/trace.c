/* What happened once happens again: moments and units from a list (failure_cause.trace). Nothing is
 * drawn; a unit that is not in the job at its moment is passed over. */
#include "models/failure/failure_kind.h"

const struct failure_kind failure_trace = {
    .head = {.name = "trace", .doc = "Replays a list of incidents: times, units, repairs."},
    .replays = true,
};
