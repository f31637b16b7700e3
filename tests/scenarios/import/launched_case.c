#include "tests/scenarios/import/launched_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/launched/launched_print.h"
#include "sim/random.h"
#include "tests/test.h"

static struct arena *arena;
static struct launched launched;
static struct error error;
static char *yaml;
static bool sound;
static const char *named = "h100-80gb-sxm";

void launched_case_named(const char *gpu)
{
    named = gpu;
}

void launched_case_end(void)
{
    if (arena != NULL)
        arena_destroy(arena);
    free(yaml);
    arena = NULL;
    yaml = NULL;
}

void launched_case_read(launched_reader_fn *reader, const char *text, const char *set,
                        uint64_t gpus)
{
    size_t bytes = 0;
    launched_case_end();
    arena = arena_create();
    const struct launched_hints hints = {.sets = &set, .set_count = set != NULL, .sources = true};
    const struct import_file file = {"run.sh", arena_text(arena, text), strlen(text)};
    error = (struct error){""};
    sound = reader(arena, &file, &hints, gpus, &launched, &error);
    if (!sound)
        return;
    FILE *out = open_memstream(&yaml, &bytes);
    launched_print(&launched, named, out);
    fclose(out);
}

/* The line of the scenario that begins so and ends there, or has its place behind; NULL: none. */
static const char *find(const char *line)
{
    const size_t bytes = strlen(line);
    if (!sound)
        fail_msg("%s", error.text);
    for (const char *at = yaml; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        at += strspn(at, " ");
        const char *end = at + bytes;
        if (strncmp(at, line, bytes) == 0 && (*end == '\n' || strncmp(end, " ", 1) == 0) &&
            (end[strspn(end, " ")] == '\n' || end[strspn(end, " ")] == '#'))
            return end;
    }
    return NULL;
}

void launched_case_has(const char *line)
{
    if (find(line) == NULL)
        fail_msg("no line %s in\n%s", line, yaml);
}

void launched_case_lacks(const char *line)
{
    if (find(line) != NULL)
        fail_msg("a line %s in\n%s", line, yaml);
}

void launched_case_place(const char *line, const char *place)
{
    const char *at = find(line);
    const char *found = at != NULL ? strstr(at, place) : NULL;
    if (found == NULL || found > strchr(at, '\n'))
        fail_msg("no place %s behind %s in\n%s", place, line, yaml);
}

void launched_case_warns(const char *words)
{
    if (!sound)
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < launched.warnings.count; i++)
        if (strstr(launched.warnings.rows[i], words) != NULL)
            return;
    fail_msg("no warning of %s in\n%s", words, yaml);
}

void launched_case_quiet(const char *words)
{
    for (uint32_t i = 0; i < launched.warnings.count; i++)
        if (strstr(launched.warnings.rows[i], words) != NULL)
            fail_msg("%s", launched.warnings.rows[i]);
}

void launched_case_silent(void)
{
    if (!sound)
        fail_msg("%s", error.text);
    if (launched.warnings.count > 0)
        fail_msg("%s", launched.warnings.rows[0]);
}

void launched_case_refused(const char *words)
{
    if (sound)
        fail_msg("not refused:\n%s", yaml);
    if (strstr(error.text, words) == NULL)
        fail_msg("%s, not %s", error.text, words);
}

struct scenario *launched_case_scenario(void)
{
    struct error problem = {""};
    if (!sound)
        fail_msg("%s", error.text);
    struct scenario *s = scenario_read("read.yaml", yaml, strlen(yaml), NULL, &problem);
    if (s == NULL || s->diagnostics.error_count > 0) {
        if (s != NULL)
            scenario_print_problems(s, stdout, false);
        fail_msg("%s\n%s", problem.text, yaml);
    }
    return s;
}

uint64_t launched_case_pick(uint64_t *state, const uint64_t *values, unsigned count)
{
    *state = random_hash(*state, count + 5);
    return values[*state % count];
}
