/* utf8.h - valid UTF-8, for documents that must not hold anything else. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TEXT_UTF8_H
#define ORRERY_ANALYSIS_OUTPUT_TEXT_UTF8_H

/* Length of the valid UTF-8 sequence at `s` (within `left` bytes), or 0. */
unsigned utf8_length(const unsigned char *s, unsigned left);

#endif
