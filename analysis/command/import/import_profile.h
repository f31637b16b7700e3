/* import_profile.h - measured points of another program, written into a profile: a new one, or one
 * of the same card, which keeps what else it holds. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_PROFILE_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_PROFILE_H

#include "models/profile/profile.h"

struct import_points {
    const struct measured_point *rows;
    unsigned count;
    const char *device;    /* as its driver names it; "": not known */
    const char *gpu;       /* name in the catalogue; NULL: not said */
    const char *catalogue; /* the folder that `gpu` is looked up in; NULL: the built-in one */
    const char *method;    /* in words */
    double cards;          /* in the machine; 0: not known */
};
/* False with a sentence; `added` tells whether the file was there. A file that cannot be written
 * whole keeps what it held, and is not marked complete. */
bool import_profile(struct arena *arena, const struct import_points *points, const char *output,
                    bool *added, struct error *error);

#endif
