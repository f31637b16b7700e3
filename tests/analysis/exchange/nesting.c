#include "tests/analysis/exchange/nesting.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct span {
    long long pid, tid, begin_ns, end_ns;
    size_t place;
};

static int compare(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    long long keys[][2] = {{x->pid, y->pid},
                           {x->tid, y->tid},
                           {x->begin_ns, y->begin_ns},
                           {y->end_ns, x->end_ns},
                           {(long long)x->place, (long long)y->place}};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static long long ns(const json_t *event, const char *key)
{
    return llround(json_number_value(json_object_get(event, key)) * 1000.0);
}

/* Spans sorted by track, begin, longest first. */
static int overlapping(const struct span *spans, size_t count)
{
    long long ends[1000];
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || spans[i].pid != spans[i - 1].pid || spans[i].tid != spans[i - 1].tid)
            depth = 0;
        while (depth > 0 && ends[depth - 1] <= spans[i].begin_ns)
            depth--;
        if (spans[i].end_ns < spans[i].begin_ns ||
            (depth > 0 && spans[i].end_ns > ends[depth - 1]) || depth == 1000)
            return 1;
        ends[depth++] = spans[i].end_ns;
    }
    return 0;
}

long nesting_check(const char *text, char *why, unsigned size)
{
    json_error_t error;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    json_t *events = json_object_get(document, "traceEvents");
    if (document == NULL || !json_is_array(events)) {
        snprintf(why, size, "line %d: %s", error.line, error.text);
        json_decref(document);
        return -1;
    }
    struct span *spans = calloc(json_array_size(events) + 1, sizeof *spans);
    size_t count = 0, i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        const char *kind = json_string_value(json_object_get(event, "ph"));
        if (kind != NULL && kind[0] == 'X') {
            spans[count] = (struct span){
                .pid = json_integer_value(json_object_get(event, "pid")),
                .tid = json_integer_value(json_object_get(event, "tid")),
                .begin_ns = ns(event, "ts"),
                .place = i,
            };
            spans[count].end_ns = spans[count].begin_ns + ns(event, "dur");
            count++;
        }
    }
    qsort(spans, count, sizeof *spans, compare);
    int bad = overlapping(spans, count);
    snprintf(why, size, "%s", bad ? "spans overlap" : "");
    free(spans);
    json_decref(document);
    return bad ? -1 : (long)count;
}
