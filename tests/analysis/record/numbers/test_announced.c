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
    double width, announced_ratio; /* of the 80 % interval, in logarithms */
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

static struct rated rate(struct arena *arena, const char *job, const char *card)
{
    char text[1024];
    snprintf(text, sizeof text, job, card);
    struct scenario *s = read(text);
    struct uncertainty_options how = {1, DRAWS, pool_threads_available(), NULL, true};
    struct uncertain_step step;
    struct error error = {""};
    if (!uncertainty_draw(arena, s, &how, &step, &error))
        fail_msg("%s: %s", card, error.text);
    const struct rated out = {card,
                              log(uncertainty_step_s(&step, 0.9) / uncertainty_step_s(&step, 0.1)),
                              announced_error_ratio(&s->configuration)};
    scenario_destroy(s);
    return out;
}

static struct name_list cards_of(struct arena *arena)
{
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct catalogue catalogue;
    problems->arena = arena;
    catalogue_open(&catalogue, arena, NULL, problems);
    return catalogue_names(&catalogue, FAMILY_GPUS);
}

static void test_never_surer_than_what_is_sold(void **state)
{
    struct arena *arena = arena_create();
    const struct name_list cards = cards_of(arena);
    assert_true(cards.count <= CARDS_MAX);
    for (unsigned j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
        struct rated surest = {"", INFINITY, 0.0}, vaguest = {"", 0.0, 0.0};
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
    }
    arena_destroy(arena);
}

/* Any card with that error: by so much wider, whatever it is near to. */
static void test_the_error_is_added_to_that_of_the_model(void **state)
{
    static const char text[] = "model: llama3-8b\ncluster: {%s, gpus: 8}\n"
                               "training: {sequence: 4096, global_batch: 64}\nsoftware: %s\n";
    static const char *const of[][3] = {
        {"gpu: h100-80gb-sxm", "gpu: {name: h100-80gb-sxm, announced_error: 25%}", "nemo"},
        {"gpu: h100-80gb-sxm", "gpu: h100-80gb-sxm, node: {name: dgx-h100, announced_error: 25%}",
         "fsdp"},
        {"gpu: l40s-48gb-pcie", "gpu: {name: l40s-48gb-pcie, announced_error: 25%}", "megatron"},
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
        assert_non_null(strstr(words, i == 1 ? "dgx-h100 is announced" : "is announced"));
        assert_non_null(strstr(words, "25 %"));
        assert_null(strstr(model_error_sentence(&x, sentence, sizeof sentence), "announced"));
        assert_non_null(strstr(model_error_sentence(&y, sentence, sizeof sentence),
                               "announced, nothing was measured on it: 25 %"));
        scenario_destroy(b);
        scenario_destroy(a);
    }
}

/* A card of the catalogue and the node that it usually comes in are announced alike, by an error of
 * 20 to 40 %; or neither is. */
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
    }
    arena_destroy(arena);
}

/* Card and node, or the one that is announced; the larger error counts. */
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
