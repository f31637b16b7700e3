/* output_kind.h - what an output is, and which files it may take the place of: its own kind alone.
 *
 * Every text that the program writes begins with words that nothing else begins with. A file under
 * the name of an output is replaced only where it is empty or begins with these: a picture never
 * takes the place of a scenario, of a database or of somebody's thesis. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TERMINAL_OUTPUT_KIND_H
#define ORRERY_ANALYSIS_OUTPUT_TERMINAL_OUTPUT_KIND_H

#include <stdbool.h>

#include "sim/error.h"

enum output_kind {
    OUTPUT_PICTURE,  /* SVG */
    OUTPUT_PAGE,     /* HTML */
    OUTPUT_CHROME,   /* trace events */
    OUTPUT_CSV,      /* a line of column names first */
    OUTPUT_SHAPES,   /* kernels to measure */
    OUTPUT_SCRIPT,   /* for bash */
    OUTPUT_DOCUMENT, /* JSON of this program */
    OUTPUT_LATER     /* named by an option, its kind not known before it is begun; or a database,
                      * whose writer looks for itself */
};
/* May the file at `path`, if there is one, be replaced by an output of the kind? A sentence when
 * not. Devices and pipes are written as they stand; a file that cannot be read is not replaced. */
bool output_may_replace(const char *path, enum output_kind kind, struct error *error);

#endif
