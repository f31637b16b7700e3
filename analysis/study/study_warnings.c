/* Invariant 1: a row stands for what is said at one place, but for numbers; a point that says it
 * twice has two rows. Invariant 2: no warning of a point is left out but those that the reader of
 * scenarios left out, which are counted. */
#include "analysis/study/study_warnings.h"

#include <ctype.h>
#include <string.h>

#include "sim/check.h"
#include "sim/list.h"
#include "sim/plural.h"

/* A warning, as it was met first. */
struct warning_row {
    struct problem problem;
    size_t first_point, last_point, count; /* points that have it */
};
/* A stated key that has no effect at some points. */
struct idle_key {
    const char *key;
    unsigned vary;  /* which of the varied keys it is; vary_count: none */
    size_t *warned; /* points by its value */
    size_t last_point;
};
struct study_warnings {
    struct arena *arena;
    const struct vary *varies;
    unsigned vary_count;
    struct warning_row *rows;
    struct idle_key *idle;
    uint32_t row_count, row_capacity, idle_count, idle_capacity;
    size_t *seen[VARY_MAX + 1]; /* points by the value of each varied key; of all: the last */
    unsigned left;              /* most that a point has beyond those that were kept */
    size_t left_point;
};

static size_t values_of(const struct study_warnings *w, unsigned k)
{
    return k < w->vary_count ? w->varies[k].count : 1;
}

static size_t value_at(const struct study_warnings *w, unsigned k, size_t point)
{
    return k < w->vary_count ? study_vary_index(w->varies, w->vary_count, k, point) : 0;
}

struct study_warnings *study_warnings_create(struct arena *arena, const struct vary *varies,
                                             unsigned vary_count)
{
    struct study_warnings *w = ARENA_NEW(arena, struct study_warnings);
    w->arena = arena;
    w->varies = varies;
    w->vary_count = vary_count;
    for (unsigned k = 0; k <= w->vary_count; k++)
        w->seen[k] = ARENA_ARRAY(arena, size_t, values_of(w, k));
    return w;
}

static const char *after_number(const char *text)
{
    while (isdigit((unsigned char)*text) || *text == '.' || *text == ',')
        text++;
    return text;
}

bool study_warnings_alike(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a = after_number(a);
            b = after_number(b);
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *a == *b;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_same(const struct problem *a, const struct problem *b)
{
    return a->line == b->line && a->column == b->column && same_text(a->file, b->file) &&
           same_text(a->idle, b->idle) && study_warnings_alike(a->text, b->text);
}

static const char *kept(struct arena *arena, const char *text)
{
    return text != NULL ? arena_text(arena, text) : NULL;
}

static void see_problem(struct study_warnings *w, size_t point, const struct problem *problem)
{
    uint32_t i = 0;
    while (i < w->row_count && (w->rows[i].last_point == point || /* 1 */
                                !is_same(&w->rows[i].problem, problem)))
        i++;
    if (i == w->row_count) {
        LIST_ROOM(w->arena, w->rows, w->row_count, 1, w->row_capacity);
        struct warning_row *row = &w->rows[w->row_count++];
        *row = (struct warning_row){*problem, point, point, 0};
        row->problem.file = kept(w->arena, problem->file);
        row->problem.text = kept(w->arena, problem->text);
        row->problem.source = kept(w->arena, problem->source);
        row->problem.idle = kept(w->arena, problem->idle);
    }
    w->rows[i].last_point = point;
    w->rows[i].count++;
}

static struct idle_key *find_idle(const struct study_warnings *w, const char *key)
{
    for (uint32_t i = 0; i < w->idle_count; i++)
        if (strcmp(w->idle[i].key, key) == 0)
            return &w->idle[i];
    return NULL;
}

static void see_idle(struct study_warnings *w, size_t point, const char *key)
{
    struct idle_key *idle = find_idle(w, key);
    if (idle == NULL) {
        unsigned k = 0;
        while (k < w->vary_count && strcmp(w->varies[k].key, key) != 0)
            k++;
        LIST_ROOM(w->arena, w->idle, w->idle_count, 1, w->idle_capacity);
        idle = &w->idle[w->idle_count++];
        *idle = (struct idle_key){.key = arena_text(w->arena, key),
                                  .vary = k,
                                  .warned = ARENA_ARRAY(w->arena, size_t, values_of(w, k)),
                                  .last_point = SIZE_MAX};
    }
    if (idle->last_point != point)
        idle->warned[value_at(w, idle->vary, point)]++;
    idle->last_point = point;
}

void study_warnings_see(struct study_warnings *w, size_t point, const struct scenario *scenario,
                        unsigned first)
{
    for (unsigned k = 0; k <= w->vary_count; k++)
        w->seen[k][value_at(w, k, point)]++;
    for (unsigned i = first; i < scenario->diagnostics.problem_count; i++) {
        const struct problem *problem = &scenario->diagnostics.problems[i];
        CHECK(problem->warning);
        see_problem(w, point, problem);
        if (problem->idle != NULL)
            see_idle(w, point, problem->idle);
    }
    if (first == 0 && scenario_warnings_left(scenario) > w->left) { /* 2 */
        w->left = scenario_warnings_left(scenario);
        w->left_point = point;
    }
}

/* A value for which no point warns is the key's default, which states nothing: it says neither.
 * Where a point warns, all points of that value must. */
static bool is_idle(const struct study_warnings *w, const char *key)
{
    const struct idle_key *idle = find_idle(w, key);
    bool always = true;
    for (size_t v = 0; v < values_of(w, idle->vary); v++)
        always = always && (idle->warned[v] == 0 || idle->warned[v] == w->seen[idle->vary][v]);
    return always;
}

/* " (at 3 of 12 points, the first: layout.tp=4)"; "": at all. */
static const char *points_text(const struct study_warnings *w, const struct warning_row *row,
                               size_t all)
{
    const char *label = study_vary_label(w->arena, w->varies, w->vary_count, row->first_point);
    return row->count == all ? ""
           : row->count == 1 ? arena_format(w->arena, " (at %s)", label)
                             : arena_format(w->arena, " (at %zu of %zu points, the first: %s)",
                                            row->count, all, label);
}

void study_warnings_tell(const struct study_warnings *w, size_t all, FILE *notes, bool colour)
{
    for (uint32_t i = 0; i < w->row_count; i++) {
        struct problem problem = w->rows[i].problem;
        if (problem.idle != NULL && !is_idle(w, problem.idle))
            continue;
        if (problem.idle == NULL)
            problem.text =
                arena_format(w->arena, "%s%s", problem.text, points_text(w, &w->rows[i], all));
        scenario_print_problem(&problem, notes, colour);
    }
    if (w->left == 0)
        return;
    const char *label = study_vary_label(w->arena, w->varies, w->vary_count, w->left_point);
    fprintf(notes, "and %u more warning%s%s%s\n", w->left, plural_s(w->left),
            *label != '\0' ? " at " : "", label);
}
