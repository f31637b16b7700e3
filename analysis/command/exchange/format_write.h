/* format_write.h - how a format of `orrery export` writes and ends. */
#ifndef ORRERY_ANALYSIS_COMMAND_EXCHANGE_FORMAT_WRITE_H
#define ORRERY_ANALYSIS_COMMAND_EXCHANGE_FORMAT_WRITE_H

#include "analysis/command/exchange/format_kind.h"

/* EXIT_OK; else says the sentence and returns EXIT_TROUBLE. */
int format_done(const struct exporting *e, bool good, const struct error *error);
/* What `write` writes of its kind into the file `path`, or on stdout where that is NULL. */
int format_write(const struct exporting *e, enum output_kind written, const char *path,
                 int (*write)(const struct exporting *e, FILE *out));

#endif
