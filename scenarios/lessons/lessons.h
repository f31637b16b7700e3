/* lessons.h - the lessons of the course, in the program, so that one file is a whole classroom.
 *
 * The table is written by embed.cmake from the YAML files beside it, by name; a row of nulls ends
 * it. */
#ifndef ORRERY_SCENARIOS_LESSONS_LESSONS_H
#define ORRERY_SCENARIOS_LESSONS_LESSONS_H

#include <stddef.h>

struct lesson_file {
    const char *name; /* "bubble" */
    const char *text; /* of the scenario, NUL-ended after `bytes` */
    size_t bytes;
};
extern const struct lesson_file lessons_shipped[];

#endif
