/* The planner under libFuzzer. The first line is what --why asks, the rest a scenario whose layout
 * is open; where it is small it is searched: leaders keep their bounds and stand by time, every
 * layout has a fate, and a filter is read or refused in words. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "analysis/plan/search/search_why.h"
#include "scenarios/assemble/scenario.h"
#include "sim/check.h"

enum {
    GPU_MAX = 16,
    LAYER_MAX = 6,
    BATCH_MAX = 32
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_small(const struct scenario *s)
{
    const struct configuration *c = &s->configuration;
    return s->diagnostics.error_count == 0 && configuration_gpus(c) <= GPU_MAX &&
           c->model.layers <= LAYER_MAX && c->training.global_batch <= BATCH_MAX;
}

static void check_search(const struct search *s)
{
    uint32_t sum = 0;
    for (unsigned f = 0; f < FATE_COUNT; f++)
        sum += s->counts.fates[f];
    CHECK(sum == s->row_count && s->counts.fates[FATE_OPEN] == 0);
    for (uint32_t i = 0; i < s->leader_count; i++) {
        const struct search_leader *l = &s->leaders[i];
        CHECK(isfinite(l->step_s) && l->step_s > 0.0);
        CHECK(l->row->least_s <= l->step_s * (1.0 + 1e-9));
        CHECK(i == 0 || s->leaders[i - 1].step_s <= l->step_s);
        CHECK(!l->played || l->peak_reserved_bytes <= s->base->gpu.hbm.usable_bytes);
    }
}

static void ask(const struct search *s, const char *text)
{
    struct search_wish wish;
    struct search_verdict verdict;
    struct error error = {""};
    if (!search_wish_read(text, &wish, &error) || !search_why(s, &wish, &verdict, &error)) {
        CHECK(error.text[0] != '\0');
        return;
    }
    CHECK((verdict.row == NULL) == (verdict.found->row_count == 0));
    CHECK(verdict.row == NULL || verdict.played || verdict.overflow.known ||
          verdict.rule[0] != '\0' || verdict.row->least_bytes > 0.0);
    search_why_end(&verdict);
}

static void search(const struct scenario *scenario, const char *why)
{
    const struct search_question question = {
        .base = &scenario->configuration, .headroom_ratio = 0.05, .leaders = 2, .threads = 1};
    struct search *s = NULL;
    struct error error = {""};
    if (!search_run(&question, &s, &error)) {
        CHECK(error.text[0] != '\0');
        return;
    }
    check_search(s);
    ask(s, why);
    search_destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    const size_t line = end != NULL ? (size_t)(end - data) : 0;
    struct arena *arena = arena_create();
    char *why = arena_alloc(arena, line + 1, 1);
    const struct scenario_options how = {.layout_open = true};
    struct error error = {""};
    if (line > 0)
        memcpy(why, data, line);
    const char *text = end != NULL ? (const char *)end + 1 : "";
    const size_t bytes = end != NULL ? size - line - 1 : 0;
    struct scenario *s = scenario_read("input", text, bytes, &how, &error);
    if (s != NULL && is_small(s))
        search(s, why);
    scenario_destroy(s);
    arena_destroy(arena);
    return 0;
}
