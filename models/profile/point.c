#include "models/profile/point.h"

#include "sim/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No size of a step comes near: 2^53, up to which every count is a double. */
#define SIZE_MAX_COUNT 9007199254740992.0
#define FP32_BYTES 4.0
#define HALF_BYTES 2.0

const struct point_kind point_kinds[POINT_KIND_COUNT] = {
    [POINT_GEMM] = {"gemm", {"m", "n", "k", "batch"}},
    [POINT_GROUPED] = {"grouped", {"m", "n", "k", "batch"}},
    [POINT_ATTENTION] = {"attention",
                         {"batch", "query_tokens", "key_tokens", "heads", "kv_heads", "head_size",
                          "value_size"}},
    [POINT_MEMORY] = {"memory", {"bytes"}},
    [POINT_COPY] = {"copy", {"bytes"}},
    [POINT_LAUNCH] = {"launch", {"count"}},
    [POINT_COLLECTIVE] = {"collective", {"ranks", "bytes", "nodes"}},
};
static const char *const point_types[] = {"bf16", "fp16", "fp8", "fp4", "tf32", "fp32", NULL};
const char *const point_operators[] = {
    "stream",
    "norm",
    "norm-gradient",
    "activation",
    "activation-gradient",
    "add",
    "rope",
    "softmax",
    "cross-entropy",
    "embedding",
    "adam",
    "cast",
    NULL,
};
static const double type_bytes[] = {2.0, 2.0, 1.0, 0.5, 4.0, 4.0};

static int type_index(const char *type)
{
    for (int i = 0; point_types[i] != NULL; i++)
        if (strcmp(point_types[i], type) == 0)
            return i;
    return -1;
}

double point_type_bytes(const char *type)
{
    int index = type_index(type);
    return index < 0 ? 0.0 : type_bytes[index];
}

unsigned point_axes(enum calibrate_kind kind)
{
    unsigned count = 0;
    while (count < POINT_AXES && point_kinds[kind].axes[count] != NULL)
        count++;
    return count;
}

double point_size(const struct calibrate_point *point, const char *axis)
{
    for (unsigned i = 0; i < point_axes(point->kind); i++)
        if (strcmp(point_kinds[point->kind].axes[i], axis) == 0)
            return point->size[i];
    return 0.0;
}

/* Scores and gradients of q and k go by a query's head, the rest by a value's: two products
 * forward, five backward (arXiv:2307.08691 section 4.1). */
static double attention_flops(const struct calibrate_point *p)
{
    double head = p->size[5], value = p->size[6];
    double sizes = p->backward ? 3.0 * head + 2.0 * value : head + value;
    return 2.0 * sizes * p->size[0] * p->size[1] * p->size[2] * p->size[3] *
           (p->causal ? 0.5 : 1.0);
}

double point_flops(const struct calibrate_point *p)
{
    switch (p->kind) {
    case POINT_GEMM:
    case POINT_GROUPED:
        return 2.0 * p->size[0] * p->size[1] * p->size[2] * p->size[3];
    case POINT_ATTENTION:
        return attention_flops(p);
    case POINT_MEMORY:
    case POINT_COPY:
    case POINT_LAUNCH:
    case POINT_COLLECTIVE:
        return 0.0;
    case POINT_KIND_COUNT:
        break;
    }
    UNREACHABLE("kind is an enum point_kind");
}

double point_bytes(const struct calibrate_point *p)
{
    double element = point_type_bytes(p->type);
    const double *s = p->size;
    switch (p->kind) {
    case POINT_GEMM:
    case POINT_GROUPED:
        return ((s[0] * s[2] + s[2] * s[1]) * element +
                s[0] * s[1] * (p->accumulate ? 2.0 * FP32_BYTES : fmax(element, HALF_BYTES))) *
               s[3];
    case POINT_ATTENTION:
        return s[0] * (s[1] * s[3] + s[2] * s[4]) * (s[5] + s[6]) * element *
               (p->backward ? 2.0 : 1.0);
    case POINT_MEMORY:
    case POINT_COPY:
        return s[0];
    case POINT_COLLECTIVE:
        return s[1];
    case POINT_LAUNCH:
        return 0.0;
    case POINT_KIND_COUNT:
        break;
    }
    UNREACHABLE("kind is an enum point_kind");
}

/* Nodes of a collective need not be said: in one. */
static bool may_be_unsaid(const struct calibrate_point *p, unsigned axis)
{
    return p->kind == POINT_COLLECTIVE && axis == 2;
}

bool point_alike(const struct calibrate_point *a, const struct calibrate_point *b)
{
    return a->kind == b->kind && strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 &&
           a->causal == b->causal && a->backward == b->backward && a->accumulate == b->accumulate;
}

bool point_same(const struct calibrate_point *a, const struct calibrate_point *b)
{
    if (!point_alike(a, b))
        return false;
    for (unsigned i = 0; i < POINT_AXES; i++)
        if (a->size[i] != b->size[i])
            return false;
    return true;
}

static bool is_word(const char *text, size_t room)
{
    size_t length = strnlen(text, room);
    if (length == 0 || length == room)
        return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

const char *point_problem(const struct calibrate_point *p)
{
    if ((unsigned)p->kind >= POINT_KIND_COUNT)
        return "its kind is unknown";
    if (!is_word(p->name, sizeof p->name))
        return "its name is not a word of small letters";
    if (memchr(p->type, '\0', sizeof p->type) == NULL || type_index(p->type) < 0)
        return "its number format is unknown";
    if ((p->causal || p->backward) && p->kind != POINT_ATTENTION)
        return "only attention is causal or backward";
    if (p->accumulate && p->kind != POINT_GEMM)
        return "only a gemm adds into a kept result";
    for (unsigned i = 0; i < POINT_AXES; i++) {
        bool used = i < point_axes(p->kind) && !(may_be_unsaid(p, i) && p->size[i] == 0.0);
        if (!isfinite(p->size[i]) || (used ? p->size[i] <= 0.0 : p->size[i] != 0.0))
            return "a size is not a positive number";
        if (p->size[i] > SIZE_MAX_COUNT)
            return "a size is gigantic";
    }
    if (p->kind == POINT_COLLECTIVE && (p->size[2] == 1.0 || p->size[2] > p->size[0]))
        return "nodes of a collective are from 2 to its ranks, or not said: in one";
    return NULL;
}

void point_print(const struct calibrate_point *p, char out[POINT_LINE_BYTES])
{
    static const char *const flags[] = {"causal", "backward", "accumulate"};
    const bool set[] = {p->causal, p->backward, p->accumulate};
    char words[POINT_LINE_BYTES] = "";
    size_t used = 0;
    for (unsigned i = 0; i < 3; i++)
        if (set[i])
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? "," : " ",
                                     flags[i]);
    int length = snprintf(out, POINT_LINE_BYTES, "%s %s %s%s", point_kinds[p->kind].name, p->name,
                          p->type, words);
    for (unsigned i = 0; i < point_axes(p->kind) && length < POINT_LINE_BYTES; i++)
        if (!may_be_unsaid(p, i) || p->size[i] != 0.0)
            length += snprintf(out + length, POINT_LINE_BYTES - (size_t)length, " %s=%.17g",
                               point_kinds[p->kind].axes[i], p->size[i]);
}

/* The next word, ended by a blank; false at the end of the line. */
static bool next_word(const char **at, char *out, size_t room)
{
    *at += strspn(*at, " \t\r\n");
    size_t length = strcspn(*at, " \t\r\n");
    if (length == 0 || length >= room)
        return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length;
    return true;
}

static bool read_flags(char *word, struct calibrate_point *out)
{
    for (char *rest = word; rest != NULL;) {
        char *end = strchr(rest, ',');
        if (end != NULL)
            *end++ = '\0';
        if (strcmp(rest, "causal") == 0)
            out->causal = true;
        else if (strcmp(rest, "backward") == 0)
            out->backward = true;
        else if (strcmp(rest, "accumulate") == 0)
            out->accumulate = true;
        else
            return false;
        rest = end;
    }
    return true;
}

static bool read_size(const char *word, struct calibrate_point *out, struct error *error)
{
    const char *equals = strchr(word, '=');
    size_t length = (size_t)(equals - word);
    char *end;
    for (unsigned i = 0; i < point_axes(out->kind); i++) {
        const char *axis = point_kinds[out->kind].axes[i];
        if (strlen(axis) != length || strncmp(axis, word, length) != 0)
            continue;
        if (out->size[i] != 0.0)
            return error_set(error, "%s is given twice", axis);
        out->size[i] = strtod(equals + 1, &end);
        if (end == equals + 1 || *end != '\0' || !(out->size[i] > 0.0))
            return error_set(error, "%s is not a positive number", word);
        return true;
    }
    return error_set(error, "%s has no size '%.*s'", point_kinds[out->kind].name, (int)length,
                     word);
}

static bool read_kind(const char *word, struct calibrate_point *out)
{
    for (unsigned i = 0; i < POINT_KIND_COUNT; i++) {
        if (strcmp(point_kinds[i].name, word) == 0) {
            out->kind = (enum calibrate_kind)i;
            return true;
        }
    }
    return false;
}

bool point_parse(const char *line, struct calibrate_point *out, struct error *error)
{
    char word[POINT_LINE_BYTES];
    *out = (struct calibrate_point){.kind = POINT_GEMM};
    if (!next_word(&line, word, sizeof word) || !read_kind(word, out))
        return error_set(error, "a shape begins with its kind: gemm, grouped, attention, memory, "
                                "copy, launch or collective");
    if (!next_word(&line, out->name, sizeof out->name) ||
        !next_word(&line, out->type, sizeof out->type))
        return error_set(error, "behind the kind stand a name (or -) and a number format");
    while (next_word(&line, word, sizeof word)) {
        if (strchr(word, '=') != NULL) {
            if (!read_size(word, out, error))
                return false;
        } else if (!read_flags(word, out)) {
            return error_set(error, "neither a flag nor a size: '%s'", word);
        }
    }
    const char *problem =
        line[strspn(line, " \t\r\n")] != '\0' ? "a word is gigantic" : point_problem(out);
    return problem == NULL || error_set(error, "%s", problem);
}
