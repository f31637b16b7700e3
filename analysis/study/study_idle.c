/* Invariant 1: a bit of a point stands for a warning of the list, which has each text once; those
 * of one key differ in what it lacks. */
#include "analysis/study/study_idle.h"

#include <string.h>

#include "sim/check.h"

enum {
    WARNING_MAX = 64
};
struct study_idle {
    struct arena *arena;
    const struct vary *varies;
    size_t point_count;
    struct problem warnings[WARNING_MAX]; /* each where it was met first */
    unsigned vary_count, count;
    uint64_t *of_point; /* a bit for each that it has */
    bool *seen;         /* by point: it can be played */
};

struct study_idle *study_idle_create(struct arena *arena, const struct vary *varies,
                                     unsigned vary_count, size_t point_count)
{
    struct study_idle *idle = ARENA_NEW(arena, struct study_idle);
    idle->arena = arena;
    idle->varies = varies;
    idle->vary_count = vary_count;
    idle->point_count = point_count;
    idle->of_point = ARENA_ARRAY(arena, uint64_t, point_count);
    idle->seen = ARENA_ARRAY(arena, bool, point_count);
    return idle;
}

static unsigned find(const struct study_idle *idle, const char *text)
{
    unsigned i = 0;
    while (i < idle->count && strcmp(idle->warnings[i].text, text) != 0)
        i++;
    return i;
}

static struct problem copy(struct arena *arena, const struct problem *problem)
{
    struct problem out = *problem;
    out.file = arena_text(arena, problem->file);
    out.text = arena_text(arena, problem->text);
    out.source = problem->source != NULL ? arena_text(arena, problem->source) : NULL;
    out.idle = arena_text(arena, problem->idle);
    return out;
}

void study_idle_see(struct study_idle *idle, size_t point, const struct scenario *scenario)
{
    CHECK(point < idle->point_count && !idle->seen[point]);
    idle->seen[point] = true;
    for (unsigned i = 0; i < scenario->diagnostics.problem_count; i++) {
        const struct problem *problem = &scenario->diagnostics.problems[i];
        if (problem->idle == NULL)
            continue;
        const unsigned at = find(idle, problem->text);
        if (at == WARNING_MAX)
            continue;
        if (at == idle->count)
            idle->warnings[idle->count++] = copy(idle->arena, problem);
        idle->of_point[point] |= UINT64_C(1) << at; /* 1 */
    }
}

/* Which of the varied keys it is; vary_count: none. */
static unsigned varied_as(const struct study_idle *idle, const char *key)
{
    unsigned k = 0;
    while (k < idle->vary_count && strcmp(idle->varies[k].key, key) != 0)
        k++;
    return k;
}

/* Of all warnings those that are of this key. */
static uint64_t bits_of(const struct study_idle *idle, const char *key)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < idle->count; i++)
        bits |= strcmp(idle->warnings[i].idle, key) == 0 ? UINT64_C(1) << i : 0;
    return bits;
}

/* A value for which no point warns is the key's default, which states nothing: it says neither.
 * Where a point warns, all points of that value must. */
static bool is_idle(const struct study_idle *idle, const char *key)
{
    const uint64_t bits = bits_of(idle, key);
    const unsigned k = varied_as(idle, key);
    const bool varied = k < idle->vary_count;
    const size_t values = varied ? idle->varies[k].count : 1;
    struct arena_mark mark = arena_mark(idle->arena);
    size_t *warned = ARENA_ARRAY(idle->arena, size_t, values);
    size_t *all = ARENA_ARRAY(idle->arena, size_t, values);
    bool always = true;
    for (size_t p = 0; p < idle->point_count; p++) {
        const size_t value = varied ? study_vary_index(idle->varies, idle->vary_count, k, p) : 0;
        all[value] += idle->seen[p];
        warned[value] += (idle->of_point[p] & bits) != 0;
    }
    for (size_t v = 0; v < values; v++)
        always = always && (warned[v] == 0 || warned[v] == all[v]);
    arena_rewind(idle->arena, mark);
    return always;
}

void study_idle_tell(const struct study_idle *idle, FILE *notes, bool colour)
{
    for (unsigned i = 0; i < idle->count; i++)
        if (is_idle(idle, idle->warnings[i].idle))
            scenario_print_problem(&idle->warnings[i], notes, colour);
}
