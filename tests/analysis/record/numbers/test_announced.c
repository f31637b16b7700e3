/* Hardware that is announced: its error stands in every prediction, and no prediction on it is
 * surer than that of the same job on any card that is sold, whatever the job hangs on. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/evidence/uncertainty.h"
#include "models/layout/announced.h"
#include "scenarios/catalogue/catalogue.h"
#include "sim/pool.h"
#include "tests/test.h"

enum {
    DRAWS = 40,
    CARDS_MAX = 64
};
static const double z_of_p90 = 1.2815515655446004; /* of a normal distribution */
/* What docs/models/catalogue.md says of the 80 % intervals of `jobs`, in logarithms. */
static const double announced_at_least = 1.16, sold_at_most = 1.16, to_two_digits = 0.005;
/* What a step hangs on: products, tensor parallelism, sharded weights of a small batch, exchanges
 * of experts, the host. `%s` is the card, with memory for all. */
static const struct {
    const char *name, *text;
} jobs[] = {
    {"products", "model: {layers: 2, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                 "cluster: {gpu: {name: %s, hbm: 900GB, usable_hbm: 900GB}, gpus: 8}\n"
                 "training: {sequence: 4096, global_batch: 64}\n"
                 "layout: {tp: 1, pp: 1, dp: auto, microbatch: 4}\n"},
    {"tensor parallelism", "model: {layers: 2, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                           "cluster: {gpu: {name: %s, hbm: 900GB, usable_hbm: 900GB}, gpus: 16}\n"
                           "training: {sequence: 4096, global_batch: 16}\n"
                           "layout: {tp: 8, pp: 1, dp: auto, microbatch: 1}\n"},
    {"sharded weights", "model: {layers: 2, hidden: 8192, heads: 64, vocabulary: 32000}\n"
                        "cluster: {gpu: {name: %s, hbm: 900GB, usable_hbm: 900GB}, gpus: 16}\n"
                        "training: {sequence: 1024, global_batch: 16}\nsoftware: fsdp\n"
                        "layout: {tp: 1, pp: 1, dp: auto, microbatch: 1, sharding: fsdp}\n"},
    {"exchanges", "model: {preset: qwen3-30b-a3b, layers: 4}\n"
                  "cluster: {gpu: {name: %s, hbm: 900GB, usable_hbm: 900GB}, gpus: 16}\n"
                  "training: {sequence: 4096, global_batch: 16}\nsoftware: megatron\n"
                  "layout: {tp: 1, pp: 1, dp: auto, ep: 16, microbatch: 1}\n"},
    {"host", "model: {layers: 4, hidden: 256, heads: 4, vocabulary: 1024}\n"
             "cluster: {gpu: {name: %s, hbm: 900GB, usable_hbm: 900GB}, gpus: 8}\n"
             "training: {sequence: 512, global_batch: 64}\nsoftware: megatron\n"
             "layout: {tp: 1, pp: 1, dp: auto, microbatch: 1}\n"},
};

struct rated {
    const char *name;
    double width, own_width, announced_ratio; /* of the 80 % interval, in logarithms */
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

/* Draws are mixed with a normal distribution of the own error. Its 80 % interval is then no
 * narrower than that of this alone, whatever is drawn: the density at a quantile p is the mean of
 * I(g) over the own error, where g are the probabilities by draw, of mean p, and I = density at the
 * quantile of a normal distribution, which is concave. */
static struct rated rate(struct arena *arena, const char *job, const char *card)
{
    char text[1024];
    snprintf(text, sizeof text, job, card);
    struct scenario *s = read(text);
    struct uncertainty_options how = {
        .seed = 1, .draw_count = DRAWS, .threads = pool_threads_available(), .time_only = true};
    struct uncertain_step step;
    struct error error = {""};
    if (!uncertainty_draw(arena, s, &how, &step, &error))
        fail_msg("%s: %s", card, error.text);
    const struct rated out = {
        card, log(uncertainty_step_s(&step, 0.9) / uncertainty_step_s(&step, 0.1)),
        2.0 * z_of_p90 * step.own.log_spread, announced_error_ratio(&s->configuration)};
    assert_true(out.width >= out.own_width - 1e-9);
    assert_true(out.own_width >= 2.0 * z_of_p90 * out.announced_ratio);
    scenario_destroy(s);
    return out;
}

static struct catalogue *open_catalogue(struct arena *arena)
{
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct catalogue *catalogue = ARENA_NEW(arena, struct catalogue);
    problems->arena = arena;
    catalogue_open(catalogue, arena, NULL, problems);
    return catalogue;
}

static struct name_list cards_of(struct arena *arena)
{
    return catalogue_names(open_catalogue(arena), FAMILY_GPUS);
}

static void test_never_surer_than_what_is_sold(void **state)
{
    struct arena *arena = arena_create();
    const struct name_list cards = cards_of(arena);
    double least = INFINITY, most = 0.0;
    assert_true(cards.count <= CARDS_MAX);
    for (unsigned j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
        struct rated surest = {"", INFINITY, 0.0, 0.0}, vaguest = {"", 0.0, 0.0, 0.0};
        unsigned announced = 0, sold = 0;
        for (unsigned i = 0; i < cards.count; i++) {
            if (strcmp(cards.names[i], "h100-80gb-pcie") == 0)
                continue; /* it comes in no usual node */
            const struct rated one = rate(arena, jobs[j].text, cards.names[i]);
            if (one.announced_ratio > 0.0) {
                announced++;
                surest = one.width < surest.width ? one : surest;
            } else {
                sold++;
                vaguest = one.width > vaguest.width ? one : vaguest;
            }
        }
        print_message("%-18s announced at least %.3f (%s), sold at most %.3f (%s)\n", jobs[j].name,
                      surest.width, surest.name, vaguest.width, vaguest.name);
        assert_true(announced >= 2 && sold > 20);
        assert_true(surest.width > vaguest.width);
        least = fmin(least, surest.width);
        most = fmax(most, vaguest.width);
    }
    assert_true(fabs(least - announced_at_least) < to_two_digits);
    assert_true(fabs(most - sold_at_most) < to_two_digits);
    arena_destroy(arena);
}

/* The same of networks: two nodes of a card that is sold, over each. Steps hang on products
 * and on the network's rate. The latency of some transports that are sold was not measured either,
 * and a step that hangs on it alone is as unsure: its error is then that of the catalogue. */
static const struct {
    const char *name, *text;
} across[] = {
    {"products", "model: {layers: 2, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                 "cluster: {gpu: h100-80gb-sxm, gpus: 16, fabric: %s}\n"
                 "training: {sequence: 4096, global_batch: 256}\n"
                 "layout: {tp: 1, pp: 1, dp: auto, microbatch: 4}\n"},
    {"sharded weights", "model: {layers: 2, hidden: 8192, heads: 64, vocabulary: 32000}\n"
                        "cluster: {gpu: h100-80gb-sxm, gpus: 16, fabric: %s}\n"
                        "training: {sequence: 1024, global_batch: 16}\nsoftware: fsdp\n"
                        "layout: {tp: 1, pp: 1, dp: auto, microbatch: 1, sharding: fsdp}\n"},
    {"exchanges", "model: {preset: qwen3-30b-a3b, layers: 4}\n"
                  "cluster: {gpu: h100-80gb-sxm, gpus: 16, fabric: %s}\n"
                  "training: {sequence: 4096, global_batch: 16}\nsoftware: megatron\n"
                  "layout: {tp: 1, pp: 1, dp: auto, ep: 16, microbatch: 1}\n"},
};

static void test_networks_are_never_surer(void **state)
{
    struct arena *arena = arena_create();
    struct catalogue *catalogue = open_catalogue(arena);
    const struct name_list fabrics = catalogue_names(catalogue, FAMILY_FABRICS);
    for (unsigned j = 0; j < sizeof across / sizeof across[0]; j++) {
        struct rated surest = {"", INFINITY, 0.0, 0.0}, vaguest = {"", 0.0, 0.0, 0.0};
        for (unsigned i = 0; i < fabrics.count; i++) {
            const struct value *entry = catalogue_find(catalogue, FAMILY_FABRICS, fabrics.names[i]);
            if (strcmp(value_find(entry, "kind")->text, "none") == 0)
                continue;
            const struct rated one = rate(arena, across[j].text, fabrics.names[i]);
            if (one.announced_ratio > 0.0)
                surest = one.width < surest.width ? one : surest;
            else
                vaguest = one.width > vaguest.width ? one : vaguest;
        }
        print_message("%-18s over what is announced at least %.3f (%s), sold at most %.3f (%s)\n",
                      across[j].name, surest.width, surest.name, vaguest.width, vaguest.name);
        assert_true(isfinite(surest.width) && vaguest.width > 0.0);
        assert_true(surest.width > vaguest.width);
    }
    arena_destroy(arena);
}

/* An entry of the catalogue that calls itself announced has an error for it, and no other has. */
static void test_entries_say_it(void **state)
{
    static const enum family families[] = {FAMILY_GPUS, FAMILY_NODES, FAMILY_FABRICS};
    struct arena *arena = arena_create();
    struct catalogue *catalogue = open_catalogue(arena);
    for (unsigned f = 0; f < sizeof families / sizeof families[0]; f++) {
        const struct name_list names = catalogue_names(catalogue, families[f]);
        unsigned announced = 0;
        for (unsigned i = 0; i < names.count; i++) {
            const struct value *entry = catalogue_find(catalogue, families[f], names.names[i]);
            const struct value *sources = value_find(entry, "sources");
            const struct value *usual = value_find(sources, "default");
            const bool error = value_find(entry, "announced_error") != NULL;
            const bool told = strstr(catalogue_doc(entry), "announced") != NULL ||
                              (usual != NULL && strstr(usual->text, "announced") != NULL);
            if (error != told)
                fail_msg("%s is %sannounced, and says %s", names.names[i], told ? "" : "not ",
                         error ? "so" : "nothing");
            assert_true(!error || value_find(sources, "announced_error") != NULL);
            announced += error;
        }
        assert_int_equal(announced, 2);
    }
    arena_destroy(arena);
}

/* Any card with that error: by so much wider, whatever it is near to. */
static void test_the_error_is_added_to_that_of_the_model(void **state)
{
    static const char text[] = "model: llama3-8b\ncluster: {%s, gpus: 16}\n"
                               "training: {sequence: 4096, global_batch: 64}\nsoftware: %s\n";
    static const char *const of[][3] = {
        {"gpu: h100-80gb-sxm", "gpu: {name: h100-80gb-sxm, announced_error: 25%}", "nemo"},
        {"gpu: h100-80gb-sxm", "gpu: h100-80gb-sxm, node: {name: dgx-h100, announced_error: 25%}",
         "fsdp"},
        {"gpu: l40s-48gb-pcie", "gpu: {name: l40s-48gb-pcie, announced_error: 25%}", "megatron"},
        {"gpu: h100-80gb-sxm",
         "gpu: h100-80gb-sxm, fabric: {name: ib-ndr-8x400, announced_error: 25%}", "nemo"},
    };
    for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
        char sold[512], announced[512], words[ANNOUNCED_WORDS_MAX],
            sentence[MODEL_ERROR_SENTENCE_MAX];
        snprintf(sold, sizeof sold, text, of[i][0], of[i][2]);
        snprintf(announced, sizeof announced, text, of[i][1], of[i][2]);
        struct scenario *a = read(sold), *b = read(announced);
        const struct model_error x = model_error_of(&residues_shipped, &a->configuration, NULL);
        const struct model_error y = model_error_of(&residues_shipped, &b->configuration, NULL);
        assert_true(fabs(y.log_spread * y.log_spread - x.log_spread * x.log_spread - 0.0625) <
                    1e-12);
        assert_int_equal(x.nearness, y.nearness);
        assert_null(announced_words(&a->configuration, words, sizeof words));
        assert_non_null(announced_words(&b->configuration, words, sizeof words));
        assert_non_null(strstr(words, i == 1   ? "dgx-h100 is announced"
                                      : i == 3 ? "ib-ndr-8x400 is announced"
                                               : "is announced"));
        assert_non_null(strstr(words, "25 %"));
        assert_null(strstr(model_error_sentence(&x, sentence, sizeof sentence), "announced"));
        assert_non_null(strstr(model_error_sentence(&y, sentence, sizeof sentence),
                               "announced, nothing was measured on it: 25 %"));
        scenario_destroy(b);
        scenario_destroy(a);
    }
}

/* A card of the catalogue, the node that it usually comes in and the network that usually joins
 * these are announced, by an error of 20 to 40 %, that of card and node the same; or none is. */
static void test_card_and_node_agree(void **state)
{
    struct arena *arena = arena_create();
    const struct name_list cards = cards_of(arena);
    for (unsigned i = 0; i < cards.count; i++) {
        char text[256];
        if (strcmp(cards.names[i], "h100-80gb-pcie") == 0)
            continue;
        snprintf(text, sizeof text,
                 "model: gpt2-124m\ncluster: {gpu: %s, gpus: 4}\n"
                 "training: {sequence: 1024, global_batch: 16}\n",
                 cards.names[i]);
        struct scenario *s = read(text);
        const double of_card = s->configuration.gpu.announced_error_ratio;
        assert_true(of_card == s->configuration.cluster.node.announced_error_ratio);
        assert_true(of_card == 0.0 || (of_card >= 0.2 && of_card <= 0.4));
        scenario_destroy(s);
        snprintf(text, sizeof text,
                 "model: gpt2-124m\ncluster: {gpu: %s, nodes: 2}\n"
                 "training: {sequence: 1024, global_batch: 5040}\n",
                 cards.names[i]);
        s = read(text);
        const double of_fabric = s->configuration.cluster.fabric.announced_error_ratio;
        assert_true((of_card > 0.0) == (of_fabric > 0.0));
        assert_true(of_fabric == 0.0 || (of_fabric >= 0.2 && of_fabric <= 0.4));
        scenario_destroy(s);
    }
    arena_destroy(arena);
}

/* Each part that is announced is named, alone and beside others; the largest error counts. */
static void test_parts_are_named(void **state)
{
    struct scenario *s = read("model: llama3-8b\ncluster: {gpu: h100-80gb-sxm, gpus: 16}\n"
                              "training: {sequence: 4096, global_batch: 64}\n");
    struct configuration *c = &s->configuration;
    static const char *const names[] = {"CARD", "NODE", "NET"};
    static const char *const said[] = {
        "CARD is ",          "NODE is ",          "CARD and NODE are ",     "NET is ",
        "CARD and NET are ", "NODE and NET are ", "CARD, NODE and NET are "};
    static const double errors[] = {0.2, 0.4, 0.3};
    char words[ANNOUNCED_WORDS_MAX];
    c->gpu.name = names[0];
    c->cluster.node.name = names[1];
    c->cluster.fabric.name = names[2];
    for (unsigned parts = 0; parts < 8; parts++) {
        const double of[] = {parts & 1 ? errors[0] : 0.0, parts & 2 ? errors[1] : 0.0,
                             parts & 4 ? errors[2] : 0.0};
        c->gpu.announced_error_ratio = of[0];
        c->cluster.node.announced_error_ratio = of[1];
        c->cluster.fabric.announced_error_ratio = of[2];
        for (unsigned nodes = 1; nodes <= 2; nodes++) {
            c->cluster.nodes = nodes;
            const unsigned used = nodes > 1 ? parts : parts & 3;
            const bool alone = (used & (used - 1)) == 0;
            const char *largest = used & 2 ? "has 40 %" : used & 4 ? "has 30 %" : "has 20 %";
            assert_true(announced_error_ratio(c) ==
                        fmax(fmax(of[0], of[1]), nodes > 1 ? of[2] : 0.0));
            const char *text = announced_words(c, words, sizeof words);
            assert_true((text == NULL) == (used == 0));
            if (text != NULL) {
                assert_memory_equal(text, said[used - 1], strlen(said[used - 1]));
                assert_non_null(strstr(text, alone ? " measured on it," : " measured on them,"));
                assert_non_null(strstr(text, largest));
            }
        }
    }
    scenario_destroy(s);
}

static void test_two_parts_are_named(void **state)
{
    struct scenario *s = read("model: llama3-8b\ncluster: {gpu: vr200-288gb, gpus: 8}\n"
                              "training: {sequence: 4096, global_batch: 64}\n");
    char words[ANNOUNCED_WORDS_MAX];
    assert_non_null(announced_words(&s->configuration, words, sizeof words));
    assert_non_null(strstr(words, "vr200-288gb and vr200-nvl72 are announced"));
    s->configuration.cluster.node.announced_error_ratio = 0.5;
    assert_true(announced_error_ratio(&s->configuration) == 0.5);
    s->configuration.gpu.announced_error_ratio = 0.0;
    assert_non_null(strstr(announced_words(&s->configuration, words, sizeof words),
                           "vr200-nvl72 is announced: nothing was measured on it"));
    s->configuration.cluster.node.announced_error_ratio = 0.0;
    assert_null(announced_words(&s->configuration, words, sizeof words));
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_surer_than_what_is_sold),
        cmocka_unit_test(test_the_error_is_added_to_that_of_the_model),
        cmocka_unit_test(test_card_and_node_agree),
        cmocka_unit_test(test_two_parts_are_named),
        cmocka_unit_test(test_parts_are_named),
        cmocka_unit_test(test_networks_are_never_surer),
        cmocka_unit_test(test_entries_say_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
