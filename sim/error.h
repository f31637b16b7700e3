/* error.h - what went wrong in the world outside: a disk, a database, a file that is not there.
 *
 * Functions that can meet the world return bool and fill a `struct error` given last. Errors of the
 * user's scenario are collected with line and caret by scenarios/; errors of ours are CHECKs. */
#ifndef ORRERY_SIM_ERROR_H
#define ORRERY_SIM_ERROR_H

#include <stdbool.h>

struct error {
    char text[1024]; /* one sentence: what, where, and what to do; "" when nothing failed */
};

/* Writes the message (printf) and returns false, so that a caller can `return error_set(...)`. */
__attribute__((format(printf, 2, 3))) bool error_set(struct error *error, const char *format, ...);

#endif
