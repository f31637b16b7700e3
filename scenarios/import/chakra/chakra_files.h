/* chakra_files.h - the Chakra traces of a job: PREFIX.0.et, PREFIX.1.et and so on, one a rank, as
 * ASTRA-sim takes them (astra-sim/astra-sim, astra-sim/workload/Workload.cc).
 *
 * The ranks are as many as there are such files; none between them may be missing. */
#ifndef ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_FILES_H
#define ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_FILES_H

#include "scenarios/import/chakra/chakra_tasks.h"

enum {
    CHAKRA_RANKS_MAX = 1 << 16,
    CHAKRA_BYTES_MAX = 1 << 30 /* of one file */
};
/* Reads them all into the arena; `drop_missing` as chakra_read. False with a sentence. */
bool chakra_files_read(struct arena *arena, const char *prefix, bool drop_missing,
                       struct chakra_job *out, struct error *error);

#endif
