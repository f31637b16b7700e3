/* In how many draws a layout fits, as plan tells it: what run --uncertainty finds by playing every
 * draw; which figures decide it; and what is said where none of them is uncertain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/command/plan/plan_fitting.h"
#include "analysis/plan/search/search.h"
#include "analysis/record/evidence/memory_draws.h"
#include "analysis/record/evidence/uncertainty.h"
#include "models/plan/trial.h"
#include "models/step/simulate/step.h"
#include "sim/pool.h"
#include "tests/test.h"

enum {
    DRAWS = 64,
    ROOMS = 4
};
/* Two standard errors of the share of so many draws, and a half of one. */
static const double one_share = 0.125, all_shares = 0.03125;
/* Layouts whose memory hangs on other figures: of each the rooms are shares of its own peak. */
static const struct {
    const char *name, *text;
    unsigned otherwise; /* draws of a room that may be judged otherwise than they are played */
} cases[] = {
    {"dense, chunks, unnamed software",
     "model: {preset: llama3-8b, layers: 8}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
     "training: {global_batch: 16, sequence: 8192}\n"
     "layout: {tp: 2, pp: 2, vpp: 2, microbatch: 1, recompute: none}\n",
     DRAWS},
    {"experts",
     "model: {preset: qwen3-30b-a3b, layers: 4}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
     "training: {global_batch: 16, sequence: 4096}\n"
     "layout: {tp: 1, pp: 2, ep: 4, microbatch: 1, recompute: none}\n",
     DRAWS},
    {"8-bit products, Megatron",
     "model: {preset: llama3-8b, layers: 4}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
     "training: {global_batch: 16, sequence: 8192, precision: fp8}\nsoftware: megatron\n"
     "layout: {tp: 2, pp: 2, microbatch: 1, recompute: none}\n",
     DRAWS},
    {"an announced card, whose memory is drawn too",
     "model: {preset: llama3-8b, layers: 16}\ncluster: {gpu: vr200-288gb, gpus: 8}\n"
     "training: {global_batch: 16, sequence: 8192}\nsoftware: nemo\n"
     "layout: {tp: 1, pp: 2, microbatch: 1, recompute: none}\n",
     DRAWS},
    {"sharded weights",
     "model: {preset: llama3-8b, layers: 4}\ncluster: {gpu: a100-80gb-sxm, gpus: 8}\n"
     "training: {global_batch: 16, sequence: 4096}\nsoftware: fsdp\n"
     "layout: {tp: 1, pp: 1, microbatch: 2, sharding: fsdp, recompute: full}\n",
     1},
    {"a schedule that holds all microbatches",
     "model: {preset: llama3-8b, layers: 4}\ncluster: {gpu: h100-80gb-sxm, gpus: 4}\n"
     "training: {global_batch: 32, sequence: 2048}\nsoftware: megatron\n"
     "layout: {tp: 1, pp: 4, microbatch: 1, schedule: gpipe, recompute: none}\n",
     1},
    {"optimizer states on the host",
     "model: {preset: llama3-8b, layers: 4}\ncluster: {gpu: h100-80gb-sxm, gpus: 4}\n"
     "training: {global_batch: 8, sequence: 4096}\n"
     "layout: {tp: 1, pp: 2, microbatch: 1, recompute: none, optimizer_offload: 50%}\n",
     0},
};
static const double rooms[ROOMS] = {0.98, 1.02, 1.06, 1.12};

static struct scenario *read(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s\n%s", s->diagnostics.problems[0].text, text);
    return s;
}

static double peak_bytes(const struct configuration *c)
{
    const struct step_options options = {
        .memory_only = true, .usable_bytes = INFINITY, .threads = 1};
    struct step *step;
    struct error error = {""};
    assert_true(step_run(c, &options, &step, &error));
    const double bytes = step->peak.reserved_bytes;
    step_destroy(step);
    return bytes;
}

/* How far the share is off that of run --uncertainty, which plays every draw. */
static double error_of(struct arena *arena, const struct scenario *s, unsigned otherwise,
                       double *ratio)
{
    const struct uncertainty_options how = {
        .seed = s->configuration.seed, .draw_count = DRAWS, .threads = pool_threads_available()};
    struct uncertain_step step;
    struct fit_draws draws;
    struct error error = {""};
    bool fits[DRAWS];
    uint32_t fitting = 0, same = 0;
    assert_true(uncertainty_draw(arena, s, &how, &step, &error));
    memory_draws(arena, s, DRAWS, &draws);
    assert_int_equal(draws.count, DRAWS);
    const uint32_t told = fit_draws_count(arena, &s->configuration, &draws, fits);
    for (unsigned d = 0; d < DRAWS; d++) {
        fitting += fits[d];
        same += fits[d] == step.draws[d].fits;
    }
    assert_int_equal(told, fitting);
    assert_true(same + otherwise >= DRAWS);
    *ratio = uncertainty_fits_ratio(&step);
    return told / (double)DRAWS - *ratio;
}

static void as_every_draw_played(void **state)
{
    struct arena *arena = arena_create();
    double square = 0.0;
    unsigned asked = 0;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scenario *s = read(cases[i].text);
        const double peak = peak_bytes(&s->configuration);
        unsigned between = 0;
        for (unsigned r = 0; r < ROOMS; r++) {
            double ratio;
            s->configuration.gpu.hbm.usable_bytes = rooms[r] * peak;
            const double off = error_of(arena, s, cases[i].otherwise, &ratio);
            if (fabs(off) > one_share)
                fail_msg("%s: %.3f fit, off by %.3f", cases[i].name, ratio, off);
            square += off * off;
            between += ratio > 0.0 && ratio < 1.0;
        }
        assert_true(between > 0); /* else nothing was asked */
        asked += between;
        scenario_destroy(s);
    }
    assert_true(sqrt(square / asked) <= all_shares);
    arena_destroy(arena);
}

/* Where the card's own memory alone is uncertain, whatever fits is known of every draw. */
static void of_the_card_alone(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read("model: {preset: llama3-8b, layers: 4}\n"
                              "cluster: {gpu: vr200-288gb, gpus: 8}\n"
                              "training: {global_batch: 16, sequence: 4096}\nsoftware: megatron\n"
                              "layout: {tp: 1, pp: 2, microbatch: 1, recompute: none}\n");
    const double peak = peak_bytes(&s->configuration);
    struct constant *usable = ARENA_NEW(arena, struct constant);
    for (unsigned i = 0; i < s->stated.constant_count; i++)
        if (fit_draws_figure(s->stated.constants[i].offset) == FIT_usable)
            *usable = s->stated.constants[i];
    assert_non_null(usable->name);
    s->stated.constants = usable;
    s->stated.constant_count = 1;
    for (unsigned r = 0; r < ROOMS; r++) {
        double ratio;
        s->configuration.gpu.hbm.usable_bytes = (0.97 + 0.03 * r) * peak;
        error_of(arena, s, 0, &ratio);
        assert_true(r != 1 || (ratio > 0.0 && ratio < 1.0));
    }
    scenario_destroy(s);
    arena_destroy(arena);
}

/* Of every software: what is no figure of memory does not move it. */
static void other_figures_are_of_time(void **state)
{
    static const char *const software[] = {
        "unnamed",   "megatron",  "megatron-2021", "megatron-2022",    "nemo",
        "nanotron",  "mosaic",    "torchtitan",    "torchtitan-eager", "fsdp",
        "automodel", "deepspeed", "deepspeed-2021"};
    static const char *const cards[] = {"h100-80gb-sxm", "vr200-288gb", "mi300x-192gb"};
    unsigned moved = 0, asked = 0;
    for (unsigned i = 0; i < sizeof software / sizeof software[0]; i++) {
        for (unsigned k = 0; k < sizeof cards / sizeof cards[0]; k++) {
            char text[1024];
            snprintf(text, sizeof text,
                     "model: {preset: qwen3-30b-a3b, layers: 2}\n"
                     "cluster: {gpu: %s, gpus: 8}\n"
                     "training: {global_batch: 16, sequence: 4096}\nsoftware: %s\n"
                     "layout: {tp: 1, pp: 1, microbatch: 1, recompute: none}\n",
                     cards[k], software[i]);
            struct scenario *s = read(text);
            const double before = peak_bytes(&s->configuration);
            for (unsigned f = 0; f < s->stated.constant_count; f++) {
                const struct constant *constant = &s->stated.constants[f];
                struct configuration c = s->configuration;
                constant_scale(&c, constant, exp(constant->error_ratio));
                const bool same = peak_bytes(&c) == before;
                const bool time = fit_draws_figure(constant->offset) == FIT_FIGURE_COUNT;
                if (time && !same)
                    fail_msg("%s moves memory\n%s", constant->name, text);
                moved += !same;
                asked += time;
            }
            scenario_destroy(s);
        }
    }
    assert_true(moved >= 2 * sizeof software / sizeof software[0] && asked > moved);
}

static struct search *search_for(const struct scenario *s)
{
    const struct search_question question = {
        .base = &s->configuration, .headroom_ratio = 0.05, .leaders = 6, .threads = 2};
    struct search *search;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    assert_true(search->leader_count >= 2);
    return search;
}

/* What is told of a leader is the share of its own layout, whatever the scenario leaves open. */
static void of_each_leader(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read("model: {preset: llama3-8b, layers: 24}\n"
                              "cluster: {gpu: a100-40gb-sxm, gpus: 8}\n"
                              "training: {global_batch: 32, sequence: 4096}\n"
                              "layout: {tp: 8, pp: 1}\n");
    struct search *search = search_for(s);
    struct search_own own = {.fits = true, .row = *search->leaders[1].row, .rank = 2};
    const struct search_row *row = search->leaders[1].row;
    unsigned between = 0, moved = 0;
    own.leader = search->leaders[1];
    search->has_safe = search->has_near = true;
    search->safe = search->near = search->leaders[0];
    plan_fitting_apply(s, search, &own);
    assert_true(search->leaders[own.rank - 1].row == row);
    assert_true(own.leader.fit.ratio == search->leaders[own.rank - 1].fit.ratio);
    assert_true(search->safe.fit.known && search->near.fit.known);
    search->near.fit = search->safe.fit = (struct search_fit){.known = false};
    search->has_safe = false;
    plan_fitting_apply(s, search, NULL);
    assert_true(!search->safe.fit.known && search->near.fit.known);
    for (uint32_t i = 0; i < search->leader_count; i++) {
        const struct search_leader *l = &search->leaders[i];
        struct fit_draws draws;
        bool fits[DRAWS];
        struct configuration c;
        plan_layout_apply(search->base, &l->row->layout, &c);
        memory_draws(arena, s, DRAWS, &draws);
        assert_true(l->fit.known && l->fit.draws == DRAWS);
        assert_true(l->fit.ratio * DRAWS == fit_draws_count(arena, &c, &draws, fits));
        between += l->fit.ratio < 1.0;
        moved += i > 0 && l->step_s < search->leaders[i - 1].step_s;
    }
    assert_true(between > 0 && moved > 0); /* they stand in order (test_search_prefer.c) */
    struct search_front front = {.leaders = &search->leaders[1], .count = 1};
    const double ratio = front.leaders[0].fit.ratio;
    front.leaders[0].fit = (struct search_fit){.known = false};
    plan_fitting_front(s, search, &front);
    assert_true(front.leaders[0].fit.known && front.leaders[0].fit.ratio == ratio);
    search_destroy(search);
    scenario_destroy(s);
    arena_destroy(arena);
}

/* The rank of the user's own layout follows it; one that does not fit has none. */
static void of_the_layout_that_is_asked_about(void **state)
{
    struct scenario *s = read("model: {preset: llama3-8b, layers: 24}\n"
                              "cluster: {gpu: a100-40gb-sxm, gpus: 8}\n"
                              "training: {global_batch: 32, sequence: 4096}\n"
                              "layout: {tp: 8, pp: 1}\n");
    struct search *search = search_for(s);
    struct search_leader *before = ARENA_ARRAY(search->arena, struct search_leader, 6);
    unsigned moved = 0;
    memcpy(before, search->leaders, search->leader_count * sizeof *before);
    for (uint32_t i = 0; i < search->leader_count; i++) {
        struct search_own own = {
            .fits = true, .row = *before[i].row, .rank = i + 1, .leader = before[i]};
        memcpy(search->leaders, before, search->leader_count * sizeof *before);
        plan_fitting_apply(s, search, &own);
        assert_true(search->leaders[own.rank - 1].row == before[i].row);
        moved += own.rank != i + 1;
    }
    assert_true(moved > 1);
    struct search_own none = {.fits = false, .row = *before[0].row, .leader = before[0]};
    plan_fitting_apply(s, search, &none);
    assert_true(none.rank == 0 && !none.leader.fit.known);
    search_destroy(search);
    scenario_destroy(s);
}

static bool of_memory(const struct constant *constant)
{
    return fit_draws_figure(constant->offset) < FIT_FIGURE_COUNT;
}

/* Draws are there if any figure of memory is uncertain, and move that one alone. */
static void which_figures_are_drawn(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read(cases[0].text);
    const struct constant *time = s->stated.constants, *memory = s->stated.constants;
    while (of_memory(time))
        time++;
    while (!of_memory(memory))
        memory++;
    const struct constant pairs[2][2] = {{*memory, *time}, {*time, *memory}};
    const enum fit_figure moved = fit_draws_figure(memory->offset);
    for (unsigned i = 0; i < 2; i++) {
        struct fit_draws draws;
        unsigned other = 0;
        s->stated.constants = pairs[i];
        s->stated.constant_count = 2;
        memory_draws(arena, s, DRAWS, &draws);
        assert_int_equal(draws.count, DRAWS);
        for (unsigned d = 0; d < DRAWS; d++)
            for (unsigned f = 0; f < FIT_FIGURE_COUNT; f++) {
                const double is = fit_draws_value(&s->configuration, (enum fit_figure)f);
                assert_true(f == moved || draws.values[d][f] == is);
                other += f == moved && draws.values[d][f] != is;
            }
        assert_int_equal(other, DRAWS);
        s->stated.constants = i == 0 ? &pairs[0][1] : &pairs[1][0];
        s->stated.constant_count = 1;
        memory_draws(arena, s, DRAWS, &draws);
        assert_int_equal(draws.count, 0);
    }
    scenario_destroy(s);
    arena_destroy(arena);
}

/* Of the layout of each leader, not of that which the scenario begins with. */
static void exact_figures_of_each_layout(void **state)
{
    struct scenario *s = read("model: {preset: llama3-8b}\n"
                              "cluster: {gpu: a100-40gb-sxm, gpus: 8}\n"
                              "training: {global_batch: 32, sequence: 4096}\n");
    s->stated.constant_count = 0;
    struct search *search = search_for(s);
    struct configuration wide = *search->base;
    wide.layout.tp = wide.layout.pp = 1;
    wide.layout.dp = 8;
    search->base = &wide;
    assert_false(trial_fits(&wide, wide.gpu.hbm.usable_bytes));
    plan_fitting_apply(s, search, NULL);
    for (uint32_t i = 0; i < search->leader_count; i++)
        assert_true(search->leaders[i].fit.ratio == 1.0);
    search_destroy(search);
    scenario_destroy(s);
}

static void exact_figures_say_all_or_nothing(void **state)
{
    struct scenario *s = read("model: {preset: llama3-8b, layers: 4}\n"
                              "cluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
                              "training: {global_batch: 16, sequence: 4096}\n"
                              "layout: {tp: 8, pp: 1}\n");
    s->stated.constant_count = 0;
    struct search *search = search_for(s);
    plan_fitting_apply(s, search, NULL);
    for (uint32_t i = 0; i < search->leader_count; i++) {
        const struct search_fit *fit = &search->leaders[i].fit;
        assert_true(fit->known && fit->draws == 0 && fit->ratio == 1.0);
    }
    struct configuration small = *search->base;
    small.gpu.hbm.usable_bytes = search->leaders[0].peak_allocated_bytes / 2.0;
    search->base = &small;
    plan_fitting_apply(s, search, NULL);
    assert_true(search->leaders[search->leader_count - 1].fit.ratio == 0.0);
    search_destroy(search);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_every_draw_played),
        cmocka_unit_test(of_the_card_alone),
        cmocka_unit_test(other_figures_are_of_time),
        cmocka_unit_test(of_each_leader),
        cmocka_unit_test(of_the_layout_that_is_asked_about),
        cmocka_unit_test(which_figures_are_drawn),
        cmocka_unit_test(exact_figures_of_each_layout),
        cmocka_unit_test(exact_figures_say_all_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
