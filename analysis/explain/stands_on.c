#include "analysis/explain/stands_on.h"

#include <stdio.h>
#include <string.h>

#include "models/gpu/precision.h"
#include "sim/list.h"

enum {
    FOUND_MAX = 256,
    WORD_MAX = 96
};

struct constant_reading {
    struct arena *arena;
    struct kept_constant *rows;
    unsigned count, room;
};

static const char *text_of(struct arena *arena, const struct query_row *row, unsigned column)
{
    unsigned bytes;
    const char *text = query_text(row, column, &bytes);
    return arena_format(arena, "%.*s", (int)bytes, text);
}

static bool take_constant(void *context, const struct query_row *row, struct error *error)
{
    struct constant_reading *reading = context;
    (void)error;
    LIST_ROOM(reading->arena, reading->rows, reading->count, 1, reading->room);
    reading->rows[reading->count++] = (struct kept_constant){
        .name = text_of(reading->arena, row, 0),
        .text = text_of(reading->arena, row, 1),
        .origin = text_of(reading->arena, row, 2),
        .source = text_of(reading->arena, row, 3),
        .error_ratio = query_real(row, 4),
    };
    return true;
}

bool stands_on_read(struct query *query, struct arena *arena, const struct record *record,
                    struct kept_constants *out, struct error *error)
{
    struct constant_reading reading = {.arena = arena};
    const bool good = query_run(query,
                                "select name, text, origin, source, error_ratio from constant "
                                "where run = 1 order by name",
                                NULL, take_constant, &reading, error);
    *out = (struct kept_constants){reading.rows, reading.count, record_run(record)};
    return good;
}

static bool begins(const char *text, const char *with, size_t length)
{
    return strncmp(text, with, length) == 0;
}

/* "gpu.NAME.figure" begins with "gpu.fig"; "storage.NAME.x" with "storage."; a star stands for what
 * lies between: "gpu.f*e=". */
static bool matches(const char *name, const char *word, size_t length)
{
    const char *dot = memchr(word, '.', length), *figure = strrchr(name, '.');
    if (dot == NULL || figure == NULL)
        return false;
    const size_t entry = (size_t)(dot - word) + 1;
    size_t rest = length - entry;
    const bool whole = rest > 0 && word[length - 1] == '=';
    rest -= whole ? 1 : 0;
    const char *star = memchr(word + entry, '*', rest);
    if (star != NULL) {
        const size_t head = (size_t)(star - word) - entry, tail = rest - head - 1;
        const size_t length_of = strlen(figure + 1);
        return begins(name, word, entry) && length_of >= head + tail &&
               begins(figure + 1, word + entry, head) &&
               begins(figure + 1 + length_of - tail, star + 1, tail);
    }
    return begins(name, word, entry) && begins(figure + 1, dot + 1, rest) &&
           (!whole || figure[1 + rest] == '\0');
}

/* Curves of other kernels, peaks of other formats and what narrow products cost more have no part
 * in this run. */
static bool used(const struct run_row *run, const char *name)
{
    char own[WORD_MAX];
    const char *figure = strrchr(name, '.') + 1;
    if (begins(figure, "attention_", strlen("attention_")) && strcmp(figure, "attention_rows")) {
        const int length = snprintf(own, sizeof own, "attention_%s_%s", run->attention,
                                    run->causal == 1 ? "causal" : "full");
        return length < (int)sizeof own && begins(figure, own, (size_t)length);
    }
    if (begins(figure, "peak_", strlen("peak_"))) {
        snprintf(own, sizeof own, "peak_%s", run->precision);
        return strcmp(figure, own) == 0;
    }
    const struct precision *p = precision_find(run->precision);
    if (strcmp(figure, "gemm_split_cost") == 0 || strcmp(figure, "gemm_block_cost") == 0)
        return p == NULL || precision_narrow(p);
    if (strcmp(figure, "gemm_fp4_cost") == 0)
        return p == NULL || p->gemm_peak == PEAK_FP4;
    return true;
}

static bool asked(const struct kept_constants *c, const struct kept_constant *one,
                  const char *beginnings)
{
    for (const char *word = beginnings; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        if (matches(one->name, word, length))
            return used(c->run, one->name);
        word += length + strspn(word + length, " ");
    }
    return false;
}

/* The least sure first, then as the table has them: insertion, as there are few. */
static void insert(const struct kept_constant **found, unsigned count,
                   const struct kept_constant *one)
{
    unsigned at = count;
    for (; at > 0 && found[at - 1]->error_ratio < one->error_ratio; at--)
        found[at] = found[at - 1];
    found[at] = one;
}

unsigned stands_on_find(const struct kept_constants *c, const char *beginnings,
                        const struct kept_constant **out, unsigned room)
{
    const struct kept_constant *found[FOUND_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < c->count && count < FOUND_MAX; i++)
        if (asked(c, &c->rows[i], beginnings))
            insert(found, count++, &c->rows[i]);
    for (unsigned i = 0; i < count && i < room; i++)
        out[i] = found[i];
    return count;
}
