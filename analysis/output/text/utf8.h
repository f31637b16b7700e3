/* utf8.h - valid UTF-8, for documents that must not hold anything else. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TEXT_UTF8_H
#define ORRERY_ANALYSIS_OUTPUT_TEXT_UTF8_H

#include <stdio.h>

/* Length of the valid UTF-8 sequence at `s` (within `left` bytes), or 0. */
unsigned utf8_length(const unsigned char *s, unsigned left);
/* So many bytes as a string of JSON, in its quotes; what is no UTF-8 as U+FFFD, byte by byte. */
void utf8_write_json(FILE *out, const char *text, unsigned bytes);

#endif
