/* export.h - pictures of a results database for other programs. Reads the database alone.
 *
 * export_chrome writes Chrome trace events (JSON object format; ui.perfetto.dev and
 * chrome://tracing open it): a process for each rank class (or for one rank), a track for each
 * stream, spans that nest or stand apart on every track, counters of the memory curves. export_csv
 * writes a table or view (RFC 4180). Both stream; errors of the database come back as sentences,
 * errors of the output stay in the stream for the caller to test. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_EXPORT_EXPORT_H
#define ORRERY_ANALYSIS_EXCHANGE_EXPORT_EXPORT_H

#include <stdio.h>

#include "analysis/record/database/query.h"

/* rank < 0: every rank class, named by its lowest rank; of execution traces every rank. */
bool export_chrome(struct query *query, int64_t rank, FILE *out, struct error *error);
bool export_csv(struct query *query, const char *table, FILE *out, struct error *error);
/* One field of CSV, in quotes where it needs them. */
void export_csv_text(FILE *out, const char *text, unsigned bytes);
/* How many bytes that writes. */
size_t export_csv_bytes(const char *text, unsigned bytes);
/* The failures of weeks of training, as a scenario with `law: trace` reads them. Refused where a
 * row cannot say what fell (a shock that strikes a part of its domain) or when it was found (a law
 * that is drawn), and where trace_read would not take them. */
bool export_trace(struct query *query, FILE *out, struct error *error);
/* The section `failures:` that replays it, where keys must stand beside the trace; else nothing. */
bool export_trace_beside(struct query *query, FILE *out, struct error *error);
/* The items of that section, whether keys must stand beside the trace or not, each with a comma
 * behind it. `file` is a word of YAML that needs no quotes. */
bool export_trace_items(struct query *query, const char *file, FILE *out, struct error *error);

#endif
