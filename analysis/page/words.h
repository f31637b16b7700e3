/* words.h - the words of JSON documents, written straight to a stream.
 *
 * Texts come from databases and may hold anything: what is no valid UTF-8 becomes U+FFFD, and what
 * could end a <script> or begin a tag is escaped, so that a document may stand inside an HTML page
 * as it is. Errors of the stream stay in it for the caller to test. */
#ifndef ORRERY_ANALYSIS_PAGE_WORDS_H
#define ORRERY_ANALYSIS_PAGE_WORDS_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/record/database/query.h"

/* A quoted string; returns how many bytes that took. */
uint64_t words_text(FILE *out, const char *text, unsigned bytes);
/* The shortest decimal that reads back as the same number; null when it is not finite. */
uint64_t words_number(FILE *out, double value);
/* A cell of a row as it is: null, a whole number, a number or a string. */
uint64_t words_cell(FILE *out, const struct query_row *row, unsigned column);

#endif
