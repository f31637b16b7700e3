/* export_picture.h - `orrery export --svg`: finds what a picture needs in a database, and draws it.
 */
#ifndef ORRERY_ANALYSIS_COMMAND_EXCHANGE_EXPORT_PICTURE_H
#define ORRERY_ANALYSIS_COMMAND_EXCHANGE_EXPORT_PICTURE_H

#include "analysis/command/exchange/export_arguments.h"

/* False with a sentence that says what this database lacks, and what to do. Nothing is drawn then,
 * unless the file is damaged. */
bool export_picture(const struct export_arguments *arguments, struct query *query,
                    enum picture picture, FILE *out, struct error *error);

#endif
