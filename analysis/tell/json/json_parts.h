/* json_parts.h - small words that the json_*.c files build documents of; for them alone, as jansson
 * is met nowhere else. */
#ifndef ORRERY_ANALYSIS_TELL_JSON_JSON_PARTS_H
#define ORRERY_ANALYSIS_TELL_JSON_JSON_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct scenario;
json_t *json_number(double value);                /* null when it is not finite */
json_t *json_number_if(bool known, double value); /* null when it is not known */
json_t *json_count(uint64_t value);
json_t *json_text(const char *value); /* null for NULL and for what is no valid UTF-8 */
/* Both take over `value`. */
void json_set(json_t *object, const char *key, json_t *value);
void json_append(json_t *array, json_t *value);
/* The head that every document has; `scenario` may be NULL. */
json_t *json_document(const char *schema, const struct scenario *scenario);
/* Writes and frees. A failed write stays in the stream; the session reports it. */
void json_print(json_t *object, FILE *out);

#endif
