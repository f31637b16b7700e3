/* wrap.h - text in lines as wide as the terminal, or of 96 columns where there is none. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TEXT_WRAP_H
#define ORRERY_ANALYSIS_OUTPUT_TEXT_WRAP_H

#include <stdio.h>

/* Columns of a line: of a terminal what COLUMNS says, or the terminal itself, from 40 to 200; of a
 * file or a pipe always 96. */
int wrap_width(int fd);
/* `width` 0: 96. Prints words from the present column, taken to be `indent`; following lines begin
 * with as many blanks. Ends the line. Words are ASCII. */
void wrap_print(FILE *out, int width, const char *text, int indent);

#endif
