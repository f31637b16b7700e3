/* packed.h - text as zlib in base64, for a page that stands in a file.
 *
 * What is packed is a page's documents: 5 to 20 characters for a byte of zlib, and no number loses
 * a digit. The browser unpacks it by itself (DecompressionStream, RFC 1950 as "deflate"). */
#ifndef ORRERY_ANALYSIS_PAGE_PACKED_H
#define ORRERY_ANALYSIS_PAGE_PACKED_H

#include <stddef.h>
#include <stdio.h>

/* Writes A-Z, a-z, 0-9, +, / and = alone: no quote, and nothing that ends a script. */
void packed_write(const char *text, size_t bytes, FILE *out);

#endif
