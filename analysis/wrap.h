/* wrap.h - text in lines of at most 96 columns. */
#ifndef ORRERY_ANALYSIS_WRAP_H
#define ORRERY_ANALYSIS_WRAP_H

#include <stdio.h>

/* Prints words from the present column, taken to be `indent`; following lines begin with as many
 * blanks. Ends the line. Words are ASCII. */
void wrap_print(FILE *out, const char *text, int indent);

#endif
