/* child.h - what a piece of a test prints on stderr when it ends its process. */
#ifndef ORRERY_TESTS_CHILD_H
#define ORRERY_TESTS_CHILD_H

#include <stddef.h>

/* Carries out `act` in a child whose SIGABRT is the usual one; the first bytes - 1 of what it
 * prints on stderr stand in `text`. Returns its status, for the macros of sys/wait.h. */
int child_output(void (*act)(void), char *text, size_t bytes);

#endif
