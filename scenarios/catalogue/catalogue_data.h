/* catalogue_data.h - the catalogue's files as they were when the program was built. The table is
 * written by embed.cmake, in the order of enum family. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_CATALOGUE_DATA_H
#define ORRERY_SCENARIOS_CATALOGUE_CATALOGUE_DATA_H

#include <stddef.h>

struct catalogue_file {
    const char *name;          /* "gpus" */
    const unsigned char *text; /* NUL-ended after `bytes` */
    size_t bytes;
};
extern const struct catalogue_file catalogue_files[];

#endif
