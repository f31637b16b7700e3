#include "analysis/tell/json/json_parts.h"

#include <math.h>

#include "analysis/output/text/version.h"
#include "scenarios/assemble/scenario.h"
#include "sim/check.h"

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_number_if(bool known, double value)
{
    return known ? json_number(value) : json_null();
}

json_t *json_count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Text of the world may be no valid UTF-8; then it is left out rather than guessed. */
json_t *json_text(const char *value)
{
    json_t *string = value != NULL ? json_string(value) : NULL;
    return string != NULL ? string : json_null();
}

void json_set(json_t *object, const char *key, json_t *value)
{
    CHECK(value != NULL && json_object_set_new(object, key, value) == 0);
}

void json_append(json_t *array, json_t *value)
{
    CHECK(value != NULL && json_array_append_new(array, value) == 0);
}

/* What the scenario left open. */
static json_t *choices_array(const struct scenario *scenario)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < scenario->choices.count; i++) {
        const struct made_choice *one = &scenario->choices.rows[i];
        json_t *row = json_object();
        json_set(row, "key", json_text(choice_path(one)));
        json_set(row, "value", json_text(one->value));
        json_set(row, "why", json_text(one->why));
        json_append(array, row);
    }
    return array;
}

json_t *json_document(const char *schema, const struct scenario *scenario)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    json_set(object, "schema", json_text(schema));
    json_set(object, "version", json_text(ORRERY_VERSION));
    json_set(object, "scenario", json_text(scenario != NULL ? scenario->name : NULL));
    json_set(object, "seed",
             scenario != NULL ? json_count(scenario->configuration.seed) : json_null());
    if (scenario != NULL)
        json_set(object, "choices", choices_array(scenario));
    json_set(object, "digest", json_null());
    return object;
}

void json_print(json_t *object, FILE *out)
{
    /* A failed write stays in the stream; the session reports it. */
    json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(object);
}
