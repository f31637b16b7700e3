/* names.h - numbers for strings: each text once, in the order of first use, from 1.
 *
 * Workload: a few hundred different names, asked millions of times, mostly by the same pointer. */
#ifndef ORRERY_ANALYSIS_NAMES_H
#define ORRERY_ANALYSIS_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct names;
struct names *names_create(void);
void names_destroy(struct names *names);
/* `added` is set when the text is new. The text is copied. */
int64_t names_number(struct names *names, const char *text, bool *added);

#endif
