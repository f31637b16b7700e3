/* storage_use.h - what weeks asked of each tier that checkpoints were kept in: bytes, bandwidth,
 * capacity, and whether the tier can live with it. From the record alone. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_STORAGE_USE_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_STORAGE_USE_H

#include "analysis/record/numbers/job_record.h"

struct storage_use {
    double written_bytes;    /* by saves that became durable */
    double mean_bytes_per_s; /* over the wall clock */
    double peak_bytes_per_s; /* while a save is written; NAN: in no time, by the scenario's word */
    double busy_ratio;       /* share of the wall clock in which it is written; NAN likewise */
    double kept_bytes;       /* of the checkpoints that are kept, less the one being written */
};
void storage_use_of(const struct job_record *record, unsigned level, struct storage_use *out);
/* False: nothing is wrong with this level. Else a sentence in `text`. */
bool storage_use_warning(const struct job_record *record, unsigned level, char *text, size_t size);

#endif
