/* iteration_log.h - reads the iterations of a log. */
#ifndef ORRERY_SCENARIOS_IMPORT_ITERATIONS_ITERATION_LOG_H
#define ORRERY_SCENARIOS_IMPORT_ITERATIONS_ITERATION_LOG_H

#include "scenarios/import/iterations/iteration.h"
#include "scenarios/import/reader/import_text.h"

/* Reads a log in the format `format`; NULL: in the one that reads the most iterations. Takes the
 * file's text. False with a sentence: there is no iteration in it, or a line is wrong. */
bool iteration_log_read(struct arena *arena, const struct import_file *file,
                        const struct iteration_format_kind *format, struct iteration_log *out,
                        struct error *error);

#endif
