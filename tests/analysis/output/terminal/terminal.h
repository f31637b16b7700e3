/* terminal.h - a terminal of a test's own: what a program shows there can be read at the other end.
 */
#ifndef ORRERY_TESTS_ANALYSIS_TERMINAL_H
#define ORRERY_TESTS_ANALYSIS_TERMINAL_H

#include <stdbool.h>

/* Can this machine make one? A bare chroot without /dev/pts cannot: such tests are skipped there.
 */
bool terminal_possible(void);
/* The outer end, which never waits; `inner` is the end of the program. Nothing that is written is
 * changed on its way. The caller closes both. */
int terminal_open(int *inner);

#endif
