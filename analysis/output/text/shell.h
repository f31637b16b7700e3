/* shell.h - words as a POSIX shell takes them, for command lines that users copy. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TEXT_SHELL_H
#define ORRERY_ANALYSIS_OUTPUT_TEXT_SHELL_H

#include "sim/arena.h"

/* The word itself where every shell takes it as it stands, else in single quotes. */
const char *shell_word(struct arena *arena, const char *word);

#endif
