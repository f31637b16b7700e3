/* In which of many draws a layout fits, by draws made by hand: as each of them is played alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/plan/fit_draws.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "scenarios/assemble/scenario.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    MANY = 150, /* six from one that is played to the next */
    FEW = 9,
    ROOMS = 6,
    HALVINGS = 50
};
static const char *const layouts[] = {
    "model: {preset: llama3-8b, layers: 8}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
    "training: {global_batch: 16, sequence: 4096}\n"
    "layout: {tp: 2, pp: 2, microbatch: 1, recompute: none}\n",
    "model: {preset: llama3-8b, layers: 4}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
    "training: {global_batch: 16, sequence: 4096}\nsoftware: fsdp\n"
    "layout: {tp: 1, pp: 1, microbatch: 1, sharding: fsdp, recompute: full}\n",
    "model: {preset: qwen3-30b-a3b, layers: 4}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
    "training: {global_batch: 16, sequence: 4096}\nsoftware: megatron\n"
    "layout: {tp: 1, pp: 2, ep: 4, microbatch: 1, schedule: gpipe, recompute: none}\n",
    "model: {preset: llama3-8b, layers: 4}\ncluster: {gpu: h100-80gb-sxm, gpus: 4}\n"
    "training: {global_batch: 8, sequence: 4096}\n"
    "layout: {tp: 1, pp: 2, microbatch: 1, recompute: none, optimizer_offload: 50%}\n",
};
enum {
    LAYOUTS = sizeof layouts / sizeof layouts[0]
};

static struct scenario *read(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s\n%s", s->diagnostics.problems[0].text, text);
    return s;
}

static const size_t offsets[FIT_FIGURE_COUNT] = {
#define X(name, member, less, sizes) offsetof(struct configuration, member),
    FIT_FIGURES(X)
#undef X
};

static struct configuration with(const struct configuration *c, const double *values)
{
    struct configuration out = *c;
    for (unsigned f = 0; f < FIT_FIGURE_COUNT; f++)
        memcpy((char *)&out + offsets[f], &values[f], sizeof *values);
    return out;
}

static bool plays(const struct configuration *c)
{
    return trial_may_fit(c, c->gpu.hbm.usable_bytes);
}

/* The least memory of a card that it fits. */
static double least_card(const struct configuration *c)
{
    double low = 0.0, high = 1e12;
    for (unsigned i = 0; i < HALVINGS; i++) {
        struct configuration tried = *c;
        tried.gpu.hbm.usable_bytes = 0.5 * (low + high);
        *(plays(&tried) ? &high : &low) = tried.gpu.hbm.usable_bytes;
    }
    return high;
}

/* The same of its host. */
static double least_host(const struct configuration *c)
{
    double low = 0.0, high = 1e14;
    for (unsigned i = 0; i < HALVINGS; i++) {
        struct configuration tried = *c;
        tried.cluster.node.host.memory_bytes = 0.5 * (low + high);
        *(plays(&tried) ? &high : &low) = tried.cluster.node.host.memory_bytes;
    }
    return high;
}

static double (*as_they_are(struct arena *arena, const struct configuration *c,
                            uint32_t count))[FIT_FIGURE_COUNT]
{
    double(*values)[FIT_FIGURE_COUNT] = arena_array(arena, sizeof *values, count, _Alignof(double));
    for (uint32_t d = 0; d < count; d++)
        for (unsigned f = 0; f < FIT_FIGURE_COUNT; f++)
            values[d][f] = fit_draws_value(c, (enum fit_figure)f);
    return values;
}

/* How many draws are judged otherwise than they are played. */
static unsigned wrong(struct arena *arena, const struct configuration *c,
                      double (*values)[FIT_FIGURE_COUNT], uint32_t count, unsigned *fitting)
{
    const struct fit_draws draws = {count, values};
    bool fits[MANY];
    unsigned out = 0;
    *fitting = 0;
    const uint32_t told = fit_draws_count(arena, c, &draws, fits);
    for (uint32_t d = 0; d < count; d++) {
        const struct configuration one = with(c, values[d]);
        const bool played = plays(&one);
        *fitting += played;
        out += played != fits[d];
    }
    assert_true(out > 0 || told == *fitting);
    return out;
}

/* Draws stand in no order. */
static uint32_t shuffled(uint32_t i)
{
    return (i * 67 + 11) % MANY;
}

/* A figure from a half of what just fits to half as much again. Does it fit on one side of some
 * value alone? The allocator rounds, so of a figure that moves many small tensors it may not. */
static bool once(const struct configuration *c, double (*values)[FIT_FIGURE_COUNT])
{
    bool fits[MANY];
    unsigned switches = 0;
    for (uint32_t d = 0; d < MANY; d++) {
        const struct configuration one = with(c, values[d]);
        fits[shuffled(d)] = plays(&one);
    }
    for (uint32_t d = 1; d < MANY; d++)
        switches += fits[d] != fits[d - 1];
    return switches <= 1;
}

/* In the order of one figure draws stand by their margins, so what is not played is as it is. */
static void one_figure_alone(void **state)
{
    struct arena *arena = arena_create();
    unsigned asked = 0, parted[FIT_FIGURE_COUNT] = {0};
    for (unsigned i = 0; i < LAYOUTS; i++) {
        struct scenario *s = read(layouts[i]);
        struct configuration *c = &s->configuration;
        c->gpu.hbm.usable_bytes = least_card(c);
        c->cluster.node.host.memory_bytes = least_host(c);
        for (unsigned f = 0; f < FIT_FIGURE_COUNT; f++) {
            double(*values)[FIT_FIGURE_COUNT] = as_they_are(arena, c, MANY);
            unsigned fitting;
            for (uint32_t d = 0; d < MANY; d++)
                values[d][f] *= 0.5 + shuffled(d) / (double)MANY;
            if (!once(c, values))
                continue;
            if (wrong(arena, c, values, MANY, &fitting) > 0)
                fail_msg("layout %u, figure %u: not as they are played", i, f);
            parted[f] += fitting > 0 && fitting < MANY;
            asked++;
        }
        scenario_destroy(s);
    }
    for (unsigned f = 0; f < FIT_FIGURE_COUNT; f++)
        assert_true(parted[f] > 0);
    assert_true(asked > 3 * LAYOUTS * FIT_FIGURE_COUNT / 4);
    arena_destroy(arena);
}

/* Each of them counts, wherever it stands: cards a hair below the least one and above it, and one
 * of these among ample ones. */
static void few_draws(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read(layouts[0]);
    struct configuration *c = &s->configuration;
    const double least = least_card(c), below = (1.0 - 1e-6) * least;
    c->gpu.hbm.usable_bytes = 2.0 * least;
    for (uint32_t count = 1; count <= FEW; count++) {
        unsigned fitting;
        for (uint32_t at = 0; at <= count; at++) {
            double(*values)[FIT_FIGURE_COUNT] = as_they_are(arena, c, count);
            if (at < count)
                values[at][FIT_usable] = below;
            assert_int_equal(wrong(arena, c, values, count, &fitting), 0);
            assert_int_equal(fitting, count - (at < count));
            for (uint32_t d = 0; d < count; d++)
                values[d][FIT_usable] = d < at ? below : least;
            assert_int_equal(wrong(arena, c, values, count, &fitting), 0);
            assert_int_equal(fitting, count - at);
        }
    }
    scenario_destroy(s);
    arena_destroy(arena);
}

/* A tensor that is only there in some draws. */
static void tensors_that_come(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *s = read(layouts[0]);
    struct configuration *c = &s->configuration;
    double(*values)[FIT_FIGURE_COUNT];
    unsigned fitting;
    c->software.memory.workspace_bytes = 0.0;
    c->gpu.hbm.usable_bytes = least_card(c) + 1e9;
    values = as_they_are(arena, c, MANY);
    for (uint32_t d = 0; d < MANY; d++)
        values[d][FIT_workspace] = 2e9 * shuffled(d) / MANY;
    assert_int_equal(wrong(arena, c, values, MANY, &fitting), 0);
    assert_true(fitting > 0 && fitting < MANY);
    scenario_destroy(s);
    arena_destroy(arena);
}

/* What the loss takes is the last stage's, what a layer keeps more the first one's: in some draws
 * the one does not fit, in some the other. */
static void stages_that_fill_apart(void **state)
{
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, 1, 0, "draws");
    struct scenario *s = read("model: {preset: llama3-8b, layers: 8}\n"
                              "cluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
                              "training: {global_batch: 16, sequence: 8192}\n"
                              "layout: {tp: 1, pp: 2, microbatch: 1, recompute: none}\n");
    struct configuration *c = &s->configuration;
    c->gpu.hbm.usable_bytes = least_card(c);
    for (unsigned n = 0; n < ROOMS; n++) {
        double(*values)[FIT_FIGURE_COUNT] = as_they_are(arena, c, MANY);
        unsigned fitting;
        for (uint32_t d = 0; d < MANY; d++) {
            values[d][FIT_usable] *= 1.0 + 0.02 * n;
            values[d][FIT_loss] *= 0.5 + random_uniform(stream);
            values[d][FIT_activation] *= 0.5 + random_uniform(stream);
        }
        assert_true(wrong(arena, c, values, MANY, &fitting) <= 1);
        assert_true(fitting > MANY / 4 && fitting < MANY);
    }
    scenario_destroy(s);
    arena_destroy(arena);
}

/* The loss from which on its stage needs more than the others. */
static double loss_that_decides(const struct configuration *c)
{
    double low = 0.0, high = 64.0 * c->software.head.memory_bytes;
    struct configuration tried = *c;
    tried.software.head.memory_bytes = 0.0;
    tried.gpu.hbm.usable_bytes = least_card(&tried);
    for (unsigned i = 0; i < HALVINGS; i++) {
        tried.software.head.memory_bytes = 0.5 * (low + high);
        *(plays(&tried) ? &low : &high) = tried.software.head.memory_bytes;
    }
    return high;
}

/* Where two stages need as much but differ in what the allocator needs beside their tensors, the
 * fullest is not always the one that does not fit: within some thousandths of that card. */
static void stages_that_need_as_much(void **state)
{
    static const char *const how[] = {"{tp: 1, pp: 2, microbatch: 1, recompute: full}",
                                      "{tp: 1, pp: 8, microbatch: 1, recompute: none}"};
    const double standard_error = sqrt(0.25 * MANY);
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, 1, 0, "draws");
    for (unsigned i = 0; i < sizeof how / sizeof how[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: {preset: llama3-8b, layers: 8}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
                 "training: {global_batch: 16, sequence: 4096}\nlayout: %s\n",
                 how[i]);
        struct scenario *s = read(text);
        struct configuration *c = &s->configuration;
        unsigned fitting;
        c->software.head.memory_bytes = loss_that_decides(c);
        c->gpu.hbm.usable_bytes = least_card(c);
        double(*values)[FIT_FIGURE_COUNT] = as_they_are(arena, c, MANY);
        for (uint32_t d = 0; d < MANY; d++) {
            values[d][FIT_usable] *= 1.0 + 0.006 * (random_uniform(stream) - 0.5);
            values[d][FIT_loss] *= 1.0 + 0.06 * (random_uniform(stream) - 0.5);
        }
        assert_true(wrong(arena, c, values, MANY, &fitting) <= standard_error);
        assert_true(fitting > MANY / 4 && fitting < MANY / 2);
        scenario_destroy(s);
    }
    arena_destroy(arena);
}

/* Between two that are played lies no more than one standard error of the share that decides. */
static void one_standard_error(void **state)
{
    for (uint32_t count = 1; count <= 10000; count++) {
        const uint64_t step = fit_draws_step(count);
        assert_true(100 * (step - 1) * (step - 1) <= 9 * count);
        assert_true(100 * step * step >= 9 * count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_figure_alone),         cmocka_unit_test(few_draws),
        cmocka_unit_test(tensors_that_come),        cmocka_unit_test(stages_that_fill_apart),
        cmocka_unit_test(stages_that_need_as_much), cmocka_unit_test(one_standard_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
