/* document_table.h - lines of cells between tabs, as a table (document_lines.h). */
#ifndef ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_TABLE_H
#define ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_TABLE_H

#include <stdio.h>

#include "sim/arena.h"

/* Changes `text`. Cells are cut to what a text of format.h holds. */
void document_table(struct arena *arena, char *text, FILE *out);

#endif
