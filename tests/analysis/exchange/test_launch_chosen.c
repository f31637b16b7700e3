/* What is chosen for a scenario that names a framework, that framework's script takes: random
 * half-filled scenarios over presets, cards and all frameworks that scripts are written for. A
 * script may still be refused for the model or for what is stated. So the refusals of the chosen
 * layout are those that the plainest one has as well: one rank a replica, 1f1b, all-to-all, nothing
 * recomputed. The same holds of what a search of the layouts finds. */
#include <stdio.h>
#include <string.h>

#include "analysis/exchange/launch/launch.h"
#include "analysis/plan/search/search.h"
#include "models/collective/dispatch/dispatch_kind.h"
#include "models/schedule/schedule_kind.h"
#include "scenarios/assemble/scenario.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    TEXT_BYTES = 1024,
    DRAWS = 6, /* of each framework */
    LEADERS = 6
};

static const char *const models[] = {"deepseek-v3-671b", "deepseek-v2-236b", "qwen3-30b-a3b",
                                     "mixtral-8x7b",     "llama3-8b",        "llama3-70b",
                                     "gpt3-175b"};
static const char *const layouts[] = {"",      "pp: 4",         "pp: 2, tp: 2",
                                      "tp: 8", "microbatch: 1", "recompute: full"};
static const char *const machines[] = {"h100-80gb-sxm", "gb200-186gb", "h800-80gb-sxm"};

#define PICK(list, stream) list[random_below(stream, sizeof list / sizeof list[0])]

static unsigned random_below(struct random_stream *r, unsigned count)
{
    return (unsigned)(random_uniform(r) * count);
}

static struct scenario *read_half(const struct launch_kind *kind, const char *model,
                                  const char *gpu, unsigned gpus, const char *layout,
                                  unsigned sequence, bool open)
{
    char text[TEXT_BYTES];
    const int bytes = snprintf(text, sizeof text,
                               "model: {preset: %s}\ncluster: {gpu: %s, gpus: %u}\n"
                               "training: {sequence: %u, global_batch: %u}\n"
                               "layout: {%s}\nsoftware: %s\n",
                               model, gpu, gpus, sequence, 4 * gpus, layout, kind->software);
    const struct scenario_options options = {.layout_open = open};
    struct error error;
    struct scenario *s = scenario_read("half.yaml", text, (size_t)bytes, &options, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count == 0)
        return s;
    scenario_destroy(s);
    return NULL;
}

static struct configuration plainest(const struct configuration *from)
{
    struct configuration c = *from;
    struct layout_spec *l = &c.layout;
    l->dp = configuration_ranks(from);
    l->tp = l->pp = l->cp = l->ep = l->pipeline.vpp = 1;
    l->etp = 1;
    l->microbatch = 1;
    l->sequence_parallel = l->pipeline.ends_count = l->experts.dispatch_8bit = false;
    l->pipeline.first_layers = l->pipeline.last_layers = 0;
    l->pipeline.schedule = &schedule_one_f_one_b;
    l->experts.dispatch = &dispatch_alltoall;
    l->recompute = RECOMPUTE_NONE;
    l->recompute_layers = 0;
    return c;
}

static bool refuses(const struct launch_text *text, const char *words)
{
    for (uint32_t i = 0; i < text->note_count; i++)
        if (text->notes[i].weight == LAUNCH_REFUSED && strcmp(text->notes[i].text, words) == 0)
            return true;
    return false;
}

/* Returns whether its script is written. */
static bool check_taken(const struct launch_kind *kind, const struct configuration *c,
                        struct arena *arena, const char *who)
{
    const struct configuration plain = plainest(c);
    struct launch_text text, of_plain;
    launch_write(kind, c, NULL, arena, &text);
    launch_write(kind, &plain, NULL, arena, &of_plain);
    for (uint32_t i = 0; i < text.note_count; i++)
        if (text.notes[i].weight == LAUNCH_REFUSED && !refuses(&of_plain, text.notes[i].text))
            fail_msg("%s for %s, tp %u pp %u cp %u vpp %u %s: %s", who, kind->head.name,
                     (unsigned)c->layout.tp, (unsigned)c->layout.pp, (unsigned)c->layout.cp,
                     (unsigned)c->layout.pipeline.vpp, recompute_names[c->layout.recompute],
                     text.notes[i].text);
    assert_true(software_dispatches(&c->software, configuration_dispatch(c)->head.name));
    assert_true(!c->layout.experts.dispatch_8bit || c->software.offers.narrow_rows);
    return !text.refused;
}

static void check_run(const struct launch_kind *kind, struct random_stream *r, unsigned *read,
                      unsigned *taken)
{
    const char *model = PICK(models, r), *layout = PICK(layouts, r), *gpu = PICK(machines, r);
    const unsigned gpus = 16u << 2 * random_below(r, 3);
    const unsigned sequence = random_below(r, 4) == 0 ? 32768 : 4096;
    struct scenario *s = read_half(kind, model, gpu, gpus, layout, sequence, false);
    char who[256];
    snprintf(who, sizeof who, "%s on %u %s, {%s}", model, gpus, gpu, layout);
    if (s == NULL)
        return;
    *read += 1;
    *taken += check_taken(kind, &s->configuration, s->arena, who);
    scenario_destroy(s);
}

static void what_a_run_chooses(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (unsigned k = 0; k < launch_kind_count; k++) {
        struct random_stream *r = random_create(arena, 11, k, "half-filled");
        unsigned read = 0, taken = 0;
        for (unsigned i = 0; i < DRAWS; i++)
            check_run(launch_kinds[k], r, &read, &taken);
        print_message("%s: %u scenarios, %u scripts\n", launch_kinds[k]->head.name, read, taken);
        assert_true(read >= DRAWS / 2 && taken > 0);
    }
    arena_destroy(arena);
}

/* A model whose makers' recipe no framework that scripts are written for has. */
static void the_makers_recipe(void **state)
{
    (void)state;
    for (unsigned k = 0; k < launch_kind_count; k++) {
        struct scenario *s = read_half(launch_kinds[k], "deepseek-v3-671b", "gb200-186gb", 256,
                                       "pp: 4", 4096, false);
        if (s == NULL) /* layers that do not divide are refused */
            s = read_half(launch_kinds[k], "deepseek-v3-671b", "gb200-186gb", 256, "", 4096, false);
        assert_non_null(s);
        assert_false(s->configuration.layout.pipeline.schedule->splits);
        check_taken(launch_kinds[k], &s->configuration, s->arena, "DeepSeek-V3");
        scenario_destroy(s);
    }
}

static void what_a_search_finds(void **state)
{
    (void)state;
    static const char *const searched[] = {"llama3-8b", "qwen3-30b-a3b"};
    for (unsigned k = 0; k < launch_kind_count; k++) {
        for (unsigned m = 0; m < 2; m++) {
            struct scenario *s =
                read_half(launch_kinds[k], searched[m], "h100-80gb-sxm", 8, "", 8192, true);
            if (s == NULL)
                continue;
            const struct search_question question = {
                .base = &s->configuration, .leaders = LEADERS, .threads = 1};
            struct search *search = NULL;
            struct error error = {""};
            assert_true(search_run(&question, &search, &error));
            for (uint32_t i = 0; i < search->leader_count; i++) {
                struct configuration c;
                plan_layout_apply(&s->configuration, &search->leaders[i].row->layout, &c);
                check_taken(launch_kinds[k], &c, s->arena, searched[m]);
            }
            search_destroy(search);
            scenario_destroy(s);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_run_chooses),
                                       cmocka_unit_test(the_makers_recipe),
                                       cmocka_unit_test(what_a_search_finds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
