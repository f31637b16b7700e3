/* gpu_name.h - is a name one of the catalogue's cards? */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_GPU_NAME_H
#define ORRERY_ANALYSIS_COMMAND_LINE_GPU_NAME_H

#include <stdbool.h>

#include "sim/error.h"

/* `folder` NULL: the built-in catalogue. False with a sentence that has the nearest name. */
bool gpu_name_known(const char *name, const char *folder, struct error *error);

#endif
