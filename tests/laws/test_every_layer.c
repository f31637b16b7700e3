/* Every model of the catalogue with every software profile, in every precision of two cards that
 * between them have all formats, is lowered, whole on each rank and split over eight tensor ranks,
 * under one kind of recomputation after the other, and with every adapter. No list of a segment is
 * full (models/workload/transformer.h, SEGMENT_KERNEL_MAX, SEGMENT_SAVED_MAX), which the writers
 * CHECK, and recomputation of a part alone marks kernels that run again. All kinds of layers that a
 * model has are lowered once. */
#include <stdio.h>
#include <string.h>

#include "models/lower/plan/lower_plan.h"
#include "models/sharding/sharding_kind.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/catalogue.h"
#include "tests/test.h"

enum {
    TEXT_BYTES = 1024,
    NAME_MAX_BYTES = 64
};

struct point {
    const char *model, *gpu, *precision, *beside; /* beside: more of its training */
    unsigned tp;
};

struct profiles { /* a scenario for each software */
    struct scenario **rows;
    unsigned count;
};

/* Longest lists that were met, and who has the longest of all. */
struct longest {
    unsigned forward, dgrad, wgrad, saved, segments, points, refused;
    char who[6 * NAME_MAX_BYTES];
};

static struct scenario *read_point(const struct point *p)
{
    char text[TEXT_BYTES];
    const int bytes =
        snprintf(text, sizeof text,
                 "model: {preset: %s}\n"
                 "cluster: {gpu: %s, gpus: 64}\n"
                 "training: {precision: %s, sequence: 4096, global_batch: 128%s}\n"
                 "layout: {tp: %u, pp: 1, cp: 1, ep: 1, microbatch: 1, recompute: none}\n",
                 p->model, p->gpu, p->precision, p->beside, p->tp);
    const struct scenario_options options = {0};
    struct error error;
    struct scenario *s = scenario_read("law.yaml", text, (size_t)bytes, &options, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count == 0)
        return s;
    scenario_destroy(s);
    return NULL;
}

static void raise(unsigned *most, unsigned count, unsigned room)
{
    assert_true(count <= room);
    if (count > *most)
        *most = count;
}

static void measure(const struct layer *layer, const struct point *p, const char *software,
                    struct longest *out)
{
    raise(&out->segments, layer->segment_count, LAYER_SEGMENT_MAX);
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *g = &layer->segments[i];
        if (g->dgrad.count > out->dgrad)
            snprintf(out->who, sizeof out->who, "%s %s %s tp %u %s", p->model, software,
                     p->precision, p->tp, p->beside);
        raise(&out->forward, g->forward.count, SEGMENT_KERNEL_MAX);
        raise(&out->dgrad, g->dgrad.count, SEGMENT_KERNEL_MAX);
        raise(&out->wgrad, g->wgrad.count, SEGMENT_KERNEL_MAX);
        raise(&out->saved, g->saved.count, SEGMENT_SAVED_MAX);
    }
}

/* Kernels that recomputation of a part runs again, of all kinds of layers. */
static unsigned repeated_in(const struct lowering *l)
{
    unsigned count = 0;
    for (unsigned b = BLOCK_LAYER; b < lower_plan_block_count(l); b++)
        for (unsigned i = 0; l->layers[b] != NULL && i < l->layers[b]->segment_count; i++)
            for (unsigned k = 0; k < l->layers[b]->segments[i].forward.count; k++)
                count += l->layers[b]->segments[i].forward.repeated[k];
    return count;
}

static void check_recompute(struct arena *arena, struct configuration *c, unsigned recompute,
                            const struct point *p, struct longest *out)
{
    const struct arena_mark mark = arena_mark(arena);
    c->layout.recompute = (int)recompute;
    c->layout.recompute_layers = recompute == RECOMPUTE_BLOCK || recompute == RECOMPUTE_UNIFORM;
    if (!configuration_legal(c)) {
        out->refused++;
        return;
    }
    const struct lowering *l = lower_plan_lowering(arena, c);
    for (unsigned b = 0; b < lower_plan_block_count(l); b++)
        if (l->layers[b] != NULL)
            measure(l->layers[b], p, c->software.name, out);
    const bool part = recompute == RECOMPUTE_PER_OPERATOR || recompute == RECOMPUTE_MODULES;
    assert_true(part || repeated_in(l) == 0);
    assert_true(recompute != RECOMPUTE_PER_OPERATOR || repeated_in(l) > 0);
    out->points++;
    arena_rewind(arena, mark);
}

/* With one kind of recomputation after the other: none, of a part, of whole layers. */
static void check_point(struct arena *arena, const struct profiles *profiles, const struct point *p,
                        unsigned *turn, struct longest *out)
{
    struct scenario *s = read_point(p);
    if (s == NULL) {
        out->refused += profiles->count;
        return;
    }
    for (unsigned i = 0; i < profiles->count; i++) {
        struct configuration c = s->configuration;
        c.software = profiles->rows[i]->configuration.software;
        c.layout.data.sharding = sharding_find(c.software.usual.sharding);
        check_recompute(arena, &c, *turn, p, out);
        c.layout.data.sharding = &sharding_fsdp; /* weights come anew, and are cast anew */
        check_recompute(arena, &c, *turn, p, out);
        *turn = recompute_names[*turn + 1] != NULL ? *turn + 1 : RECOMPUTE_NONE;
    }
    scenario_destroy(s);
}

static void check_model(struct arena *arena, const struct profiles *profiles, const char *model,
                        unsigned *turn, struct longest *out)
{
    static const char *const gpus[] = {"h100-80gb-sxm", "gb300-288gb"};
    static const char *const adapters[] = {", adapter: lora", ", adapter: qlora"};
    for (unsigned at = 0; at < 4 * precision_count; at++) {
        const struct precision *precision = &precisions[at / 4];
        const struct point p = {model, gpus[at % 2], precision->head.name, "",
                                at / 2 % 2 == 0 ? 1 : 8};
        const bool narrow = precision_narrow(precision);
        if (narrow || (at % 2 == 0 && precision == precision_find("bf16"))) /* or alike */
            check_point(arena, profiles, &p, turn, out);
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct point p = {model, gpus[0], "bf16", adapters[i], 1};
        check_point(arena, profiles, &p, turn, out);
    }
}

static void read_profiles(struct arena *arena, struct catalogue *catalogue, struct profiles *out)
{
    const struct name_list names = catalogue_names(catalogue, FAMILY_SOFTWARE);
    out->rows = ARENA_ARRAY(arena, struct scenario *, names.count);
    for (; out->count < names.count; out->count++) {
        struct error error;
        const char *text = arena_format(arena,
                                        "model: {layers: 2, hidden: 256, heads: 4, vocabulary: "
                                        "1024}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
                                        "training: {sequence: 512, global_batch: 16}\n"
                                        "layout: {tp: 1, pp: 1, microbatch: 1}\nsoftware: %s\n",
                                        names.names[out->count]);
        struct scenario *s = scenario_read("law.yaml", text, strlen(text), NULL, &error);
        assert_non_null(s);
        assert_int_equal(s->diagnostics.error_count, 0);
        out->rows[out->count] = s;
    }
}

static void no_list_of_a_segment_is_full(void **state)
{
    (void)state;
    struct arena *names = arena_create(), *arena = arena_create();
    struct catalogue catalogue;
    struct profiles profiles = {.count = 0};
    struct longest out = {0};
    unsigned turn = RECOMPUTE_NONE;
    catalogue_open(&catalogue, names, NULL, NULL);
    read_profiles(names, &catalogue, &profiles);
    const struct name_list models = catalogue_names(&catalogue, FAMILY_MODELS);
    for (unsigned m = 0; m < models.count; m++)
        check_model(arena, &profiles, models.names[m], &turn, &out);
    print_message("%u points, %u refused: forward %u, dgrad %u, wgrad %u, saved %u, segments %u "
                  "(%s)\n",
                  out.points, out.refused, out.forward, out.dgrad, out.wgrad, out.saved,
                  out.segments, out.who);
    assert_true(out.points > 4 * models.count * profiles.count);
    assert_true(out.forward > 32 && out.dgrad > 32); /* latent attention in few bits, sparse */
    for (unsigned i = 0; i < profiles.count; i++)
        scenario_destroy(profiles.rows[i]);
    arena_destroy(arena);
    arena_destroy(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_list_of_a_segment_is_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
