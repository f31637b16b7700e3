/* Where every layout breaks a rule, the rule that most break is told, with a remedy: the key's
 * layouts are counted again here, and the remedy takes the rule away. */
#include <stdio.h>
#include <string.h>

#include "analysis/plan/search/search.h"
#include "analysis/plan/search/search_broken.h"
#include "models/plan/plan_layout.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

enum {
    BREAKS = 64,
    SETS = 6
};
#define DENSE                                                                                      \
    "model: {layers: 4, hidden: 512, heads: 8, vocabulary: 32000, position: learned, "             \
    "positions_max: 1024}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"                               \
    "training: {sequence: 1024, global_batch: 16}\nsoftware: megatron\n"
#define MIXED                                                                                      \
    "model: {layers: 4, hidden: 512, heads: 8, vocabulary: 32000, experts: 8, "                    \
    "experts_per_token: 2, moe_ffn_hidden: 512}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"         \
    "training: {sequence: 1024, global_batch: 16}\nsoftware: megatron\n"

/* The key's rule is broken by each layout of the scenario with `set`, and by none with `mend`. */
static const struct {
    const char *text, *set, *also, *key, *mend;
    unsigned held;
} cases[] = {
    {DENSE, "training.sequence=4096", NULL, "training.sequence", "model.positions_max=4096", 0},
    {DENSE, "model.kv_heads=3", NULL, "model.kv_heads", "model.kv_heads=4", 0},
    {DENSE, "cluster.gpu=a100-80gb-sxm", "training.attention=flash3", "training.attention",
     "training.attention=math", 0},
    {DENSE, "training.precision=fp8", "cluster.gpu=a100-80gb-sxm", "training.precision",
     "training.precision=bf16", 0},
    {DENSE, "software.cuda_graphs=moe_preprocess", NULL, "software.cuda_graphs",
     "software.cuda_graphs=attn", 0},
    {DENSE, "layout.order=tp", NULL, "layout.order", "layout.order=tp-cp-dp-pp", 0},
    {DENSE, "layout.tp=16", "cluster.gpus=16", "layout.tp", "layout.tp=8", 1u << PLAN_TP},
    {MIXED, "model.experts_per_token=9", NULL, "model.experts_per_token",
     "model.experts_per_token=8", 0},
    {MIXED, "model.expert_groups=3", "model.groups_per_token=1", "model.expert_groups",
     "model.expert_groups=4", 0},
    {MIXED, "model.expert_groups=8", "model.groups_per_token=1", "model.groups_per_token",
     "model.groups_per_token=2", 0},
    {MIXED, "layout.dispatch_8bit=true", "layout.dispatch=alltoall", "layout.dispatch_8bit",
     "layout.dispatch_8bit=false", 0},
};

static struct scenario *read_set(const char *text, const char *const *sets, unsigned count)
{
    const struct scenario_options how = {.layout_open = true, .sets = sets, .set_count = count};
    struct error error = {""};
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), &how, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s", s->diagnostics.problems[0].text);
    return s;
}

static struct search *search_of(const struct scenario *s, unsigned held)
{
    const struct search_question question = {
        .base = &s->configuration, .held = held, .leaders = 1, .threads = 1};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    return search;
}

/* How many layouts break a rule of the key; and whether `row` does, in these words. */
static uint32_t count_again(const struct search *s, const char *key, const struct search_row *row,
                            const char *sentence, bool *said)
{
    uint32_t layouts = 0;
    *said = false;
    for (uint32_t i = 0; i < s->row_count; i++) {
        struct rule_break breaks[BREAKS];
        struct configuration c;
        bool found = false;
        plan_layout_apply(s->base, &s->rows[i].layout, &c);
        const unsigned count = configuration_check(&c, breaks, BREAKS);
        for (unsigned k = 0; k < count && k < BREAKS; k++) {
            const bool is = !breaks[k].warning && strcmp(breaks[k].key, key) == 0;
            found = found || is;
            *said = *said || (is && &s->rows[i] == row && strcmp(breaks[k].text, sentence) == 0);
        }
        layouts += found;
    }
    return layouts;
}

/* Rules that a row breaks, `key` among them, else 0; and the first of them. */
static unsigned count_breaks(const struct search *s, const struct search_row *row, const char *key,
                             struct rule_break *first)
{
    struct rule_break breaks[BREAKS];
    struct configuration c;
    unsigned broken = 0;
    bool found = false;
    plan_layout_apply(s->base, &row->layout, &c);
    const unsigned count = configuration_check(&c, breaks, BREAKS);
    for (unsigned k = 0; k < count && k < BREAKS; k++) {
        if (breaks[k].warning)
            continue;
        if (broken++ == 0 && first != NULL)
            *first = breaks[k];
        found = found || strcmp(breaks[k].key, key) == 0;
    }
    return found ? broken : 0;
}

static bool has_remedy(const char *sentence)
{
    static const char *const verbs[] = {" take ",  " set ",           " give ",
                                        " raise ", " captured with ", " must "};
    bool has = false;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        has = has || strstr(sentence, verbs[i]) != NULL;
    return has;
}

static void a_rule_that_all_break_is_told(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *sets[SETS] = {cases[i].set, cases[i].also};
        unsigned count = cases[i].also != NULL ? 2 : 1;
        struct scenario *s = read_set(cases[i].text, sets, count);
        struct search *search = search_of(s, cases[i].held);
        struct search_broken b;
        bool said;
        search_broken_find(search, &b);
        if (!b.known || !b.same || strcmp(b.key, cases[i].key) != 0 || b.count != search->row_count)
            fail_msg("%s: %s, by %u of %u", cases[i].set, b.known ? b.key : "nothing", b.count,
                     search->row_count);
        assert_int_equal(count_again(search, b.key, b.row, b.sentence, &said), b.count);
        assert_true(said);
        if (cases[i].held == 0 && !has_remedy(b.sentence))
            fail_msg("no remedy: %s", b.sentence);
        search_destroy(search);
        scenario_destroy(s);
        sets[count++] = cases[i].mend;
        s = read_set(cases[i].text, sets, count);
        search = search_of(s, cases[i].held);
        search_broken_find(search, &b);
        if (b.known || count_again(search, cases[i].key, NULL, "", &said) == search->row_count)
            fail_msg("%s: %s", cases[i].mend, b.known ? b.sentence : "still broken");
        search_destroy(search);
        scenario_destroy(s);
    }
}

/* Its row breaks no more rules than others that break this one, and none before it that as many
 * layouts break. */
static void hold_row(const struct search *s, const struct search_broken *b)
{
    const unsigned its = count_breaks(s, b->row, b->key, NULL);
    assert_true(its > 0);
    for (uint32_t i = 0; i < s->row_count; i++) {
        struct rule_break first;
        const unsigned others = count_breaks(s, &s->rows[i], b->key, &first);
        bool said;
        assert_true(others == 0 || its <= others);
        if (others > 0 && strcmp(first.key, b->key) != 0)
            assert_true(count_again(s, first.key, NULL, "", &said) < b->count);
    }
}

/* Rules that hang on the layout: no key is broken by more, and its words are those of a layout. */
static void of_several_rules_the_most_broken(void **state)
{
    static const struct {
        const char *sets[SETS];
        unsigned count;
        bool all, same; /* there is a rule that every layout breaks; in the same words */
    } mixed[] = {
        {{"layout.microbatch=3"}, 1, true, false},
        {{"layout.microbatch=1", "training.sequence=4096", "model.kv_heads=3"}, 3, true, true},
        /* One replica has ranks of a pipeline or of a context, and several divide no batch; each
         * layout is warned of its precision. */
        {{"layout.microbatch=16", "model.heads=1", "training.sequence=1023", "model.layers=7",
          "cluster.gpu=v100-32gb-sxm", "training.precision=bf16"},
         6,
         false,
         false},
    };
    static const char *const keys[] = {"layout",
                                       "layout.cp",
                                       "layout.tp",
                                       "layout.vpp",
                                       "layout.pp",
                                       "layout.schedule",
                                       "layout.sharding",
                                       "training.sequence",
                                       "training.global_batch",
                                       "layout.sequence_parallel"};
    for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++) {
        struct scenario *s = read_set(DENSE, mixed[i].sets, mixed[i].count);
        struct search *search = search_of(s, 1u << PLAN_MICROBATCH);
        struct search_broken b;
        bool said;
        search_broken_find(search, &b);
        assert_true(b.known && b.same == mixed[i].same);
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            assert_true(count_again(search, keys[k], NULL, "", &said) <= b.count);
        assert_int_equal(count_again(search, b.key, b.row, b.sentence, &said), b.count);
        assert_true(said);
        assert_true((b.count == search->row_count) == mixed[i].all);
        hold_row(search, &b);
        search_destroy(search);
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_rule_that_all_break_is_told),
                                       cmocka_unit_test(of_several_rules_the_most_broken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
