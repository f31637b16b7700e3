/* string_table.h - numbers for strings: each text once, in the order of first use, from 1.
 *
 * Workload: a few hundred different names, asked millions of times, mostly by the same pointer. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_STRING_TABLE_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_STRING_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct string_table;
struct string_table *string_table_create(void);
void string_table_destroy(struct string_table *table);
/* `added` is set when the text is new. The text is copied. */
int64_t string_table_number(struct string_table *table, const char *text, bool *added);

#endif
