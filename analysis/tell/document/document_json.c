#include "analysis/tell/document/document_json.h"

#include <jansson.h>
#include <math.h>

#include "sim/check.h"

static json_t *json_of(const struct fact *fact);

/* Keys may be names of a file: those that are no UTF-8 are left out, as such words are. */
static json_t *object_of(const struct fact *fact)
{
    json_t *object = json_object();
    for (const struct fact *one = fact->value.of.first; one != NULL; one = one->next)
        if (!one->aside && json_object_set_new(object, one->key, json_of(one)) != 0)
            json_object_set_new(object, "(not UTF-8)", json_null());
    return object;
}

static json_t *array_of(const struct fact *fact)
{
    json_t *array = json_array();
    for (const struct fact *one = fact->value.of.first; one != NULL; one = one->next)
        CHECK(json_array_append_new(array, json_of(one)) == 0);
    return array;
}

static json_t *json_of(const struct fact *fact)
{
    json_t *text;
    switch (fact->kind) {
    case FACT_NULL:
        break;
    case FACT_FLAG:
        return json_boolean(fact->value.flag);
    case FACT_INTEGER:
        return json_integer(fact->value.integer);
    case FACT_REAL:
        return isfinite(fact->value.real) ? json_real(fact->value.real) : json_null();
    case FACT_WORD:
    case FACT_QUOTE:
        text = json_string(fact->value.word); /* NULL: no valid UTF-8 */
        return text != NULL ? text : json_null();
    case FACT_OBJECT:
        return object_of(fact);
    case FACT_ARRAY:
        return array_of(fact);
    }
    return json_null();
}

void document_json(const struct fact *document, FILE *out)
{
    json_t *json = json_of(document);
    json_dumpf(json, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(json);
}
