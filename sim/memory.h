/* memory.h - memory of the host, or the end of the process.
 *
 * A host that refuses memory is no bug of ours and nothing that a caller could mend half way
 * through a simulation: the process ends with exit code 1 and a sentence that names the size. Files
 * that are being written stay under their partial names. It knows no arena. */
#ifndef ORRERY_SIM_MEMORY_H
#define ORRERY_SIM_MEMORY_H

#include <stddef.h>

void *memory_take(size_t bytes); /* zeroed, never NULL; free() gives it back */
void *memory_try(size_t bytes);  /* the same; NULL when the host refuses */
/* Takes the stack that a command uses (half a MiB; the deepest seen is .26) before anything else: a
 * limit on memory is told in words then, and not by a signal where the stack grows later. */
void memory_take_stack(void);
_Noreturn void memory_refused(size_t bytes); /* 0: the size is not known */

#endif
