/* A key that a scenario states is in effect, refused or warned of. Every key of a model, a training
 * and a layout is set to other values in small scenarios of each sort: some value changes a figure
 * of the run (the digest of its timeline among them), or each that is read is warned of by the
 * key's name (scenarios/schema/idle.c). Exceptions stand below, with their reasons. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/evidence/record_run.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/schema/keys.h"
#include "tests/test.h"

enum {
    FIGURES = 8192,
    VALUE_MAX = 16
};
#define MODEL "layers: 4, hidden: 1024, heads: 16, kv_heads: 8, vocabulary: 32000"
#define EXPERTS ", experts: 16, experts_per_token: 4, moe_ffn_hidden: 512"
#define PATTERN(kind) ", pattern: '3*" kind ",attention', linear_heads: 16, linear_head_size: 64"
#define CLUSTER "cluster: {gpu: h100-80gb-sxm, nodes: 2}\n"
#define RUN "sequence: 2048, global_batch: 32, attention: flash2, precision: "
#define ALONE "cp: 1, vpp: 1, schedule: 1f1b, microbatch: 1, recompute: none"
#define DENSE "tp: 2, pp: 1, sharding: zero-1, sequence_parallel: true, " ALONE
#define PLAIN "tp: 1, pp: 1, sequence_parallel: false, " ALONE

static const struct base {
    const char *name, *model, *training, *layout, *software;
} bases[] = {
    {"dense", "", "bf16", DENSE, "megatron"},
    {"experts", EXPERTS, "bf16", PLAIN ", sharding: zero-1, ep: 8, etp: 1", "megatron"},
    {"one rank of experts", EXPERTS, "bf16", PLAIN ", sharding: zero-1, ep: 1, etp: 1", "megatron"},
    {"latent", EXPERTS ", kv_rank: 256, head_size: 64, rope_head_size: 32, v_head_size: 64", "bf16",
     PLAIN ", sharding: zero-1, ep: 8, etp: 1, dispatch: deepep", "megatron"},
    {"units", "", "bf16", PLAIN ", sharding: fsdp", "torchtitan"},
    {"hybrid", ", window: 512", "bf16", PLAIN ", sharding: hsdp", "torchtitan"},
    {"both ways", "", "bf16, causal: false",
     "tp: 1, pp: 1, cp: 2, vpp: 1, schedule: 1f1b, microbatch: 1, recompute: none, "
     "sharding: zero-1, sequence_parallel: false",
     "megatron"},
    {"pipeline", "", "fp8",
     "tp: 2, pp: 2, cp: 2, vpp: 2, schedule: interleaved, sharding: zero-1, microbatch: 1, "
     "recompute: none, sequence_parallel: true",
     "megatron"},
    {"gdn", PATTERN("gdn"), "bf16", PLAIN ", sharding: zero-1", "megatron"},
    {"mamba2", PATTERN("mamba2"), "bf16", PLAIN ", sharding: zero-1", "megatron"},
    {"kda", PATTERN("kda"), "bf16", PLAIN ", sharding: zero-1", "megatron"},
    {"lightning", PATTERN("lightning"), "bf16", PLAIN ", sharding: zero-1", "megatron"},
    {"adapters", "", "bf16, adapter: lora", PLAIN ", sharding: zero-0", "megatron"},
    {"offload", "", "bf16", PLAIN ", sharding: zero-1, optimizer_offload: 0.5", "megatron"},
};

/* Keys that may be stated in silence although nothing changes. */
static const struct exception {
    const char *key, *reason;
} exceptions[] = {
    {"model.preset", "other shapes, by name"},
    {"model.hf", "a file"},
    {"model.pattern", "other layers, by words of its own (tests/laws/test_patterns.c)"},
    {"model.facts", "what the trained function has and no time depends on"},
    {"model.nominal_parameters", "of the rule of thumb, which no figure of a run is"},
    {"model.usual_precision", "taken where training.precision is left open, and here it is not"},
    {"model.usual_dispatch", "likewise"},
    {"model.usual_dispatch_8bit", "likewise"},
    {"model.usual_schedule", "likewise"},
    {"model.positions_max", "a bound of the sequence, which is warned of past it"},
    {"model.norm", "layernorm without biases moves and keeps what rms does"},
    {"model.expert_groups", "a fact of the model, which alltoall does not feel"},
    {"model.groups_per_token", "likewise"},
    {"model.linear_key_size", "kinds whose keys are as wide as their values refuse another width"},
    {"layout.order", "words of its own, checked by the rule of the layout"},
    {"layout.placement", "where all ranks are one group, any order of them has the same links"},
    {"layout.schedule", "with pp 1 all that are allowed are one order"},
    {"training.precision", "fp16 and bf16 are equally wide"},
};

static bool is_exception(const char *key)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        if (strcmp(exceptions[i].key, key) == 0)
            return true;
    return false;
}

static struct scenario *read_with(const struct base *base, const char *set)
{
    char text[2048];
    struct error error = {""};
    const struct scenario_options options = {.sets = &set, .set_count = set != NULL};
    snprintf(text, sizeof text,
             "model: {" MODEL "%s}\n" CLUSTER "training: {" RUN "%s}\nlayout: {%s}\n"
             "software: %s\n",
             base->model, base->training, base->layout, base->software);
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), &options, &error);
    assert_non_null(s);
    return s;
}

/* Every number of the table `run`, and the digest. */
static void figures_of(const struct scenario *s, char out[FIGURES])
{
    const struct step_options options = {.threads = 1, .ignore_memory = true};
    const struct row_table *table = &row_tables[ROW_run];
    struct step *step = NULL;
    struct error error = {""};
    struct result result;
    struct record record;
    size_t used = 0;
    if (!step_run(&s->configuration, &options, &step, &error))
        fail_msg("%s", error.text);
    struct arena *arena = arena_create();
    result_gather(s, step, &result);
    record_of_run(arena, &result, false, &record);
    for (unsigned i = 0; i < table->column_count && used < FIGURES; i++) {
        const struct row_column *column = &table->columns[i];
        const void *row = record_run(&record);
        int length = 0;
        if (column->type == ROW_INTEGER)
            length = snprintf(out + used, FIGURES - used, "%" PRId64 " ", row_integer(row, column));
        else if (column->type == ROW_REAL)
            length = snprintf(out + used, FIGURES - used, "%a ", row_real(row, column));
        else if (strcmp(column->name, "digest") == 0)
            length = snprintf(out + used, FIGURES - used, "%s ", row_text(row, column));
        used += (size_t)length;
    }
    assert_true(used > 100 && used < FIGURES);
    arena_destroy(arena);
    step_destroy(step);
}

static unsigned values_of(struct arena *arena, const char *key, const struct param *row,
                          const char *out[VALUE_MAX])
{
    static const char *const counts[] = {"1", "2", "3", "4", "8", "64", "512"};
    static const char *const ratios[] = {"0.25", "0.5", "1", "2", "4"};
    const bool words = row->type != PARAM_COUNT && row->type != PARAM_RATIO;
    const struct name_list list = words                      ? keys_values(arena, key)
                                  : row->type == PARAM_COUNT ? (struct name_list){counts, 7}
                                                             : (struct name_list){ratios, 5};
    unsigned count = 0;
    while (count < list.count && count < VALUE_MAX) {
        out[count] = list.names[count];
        count++;
    }
    return count;
}

/* Does the value say what holds where nothing is said, or what the base says? */
static bool says_nothing(const struct base *base, const struct param *row, const char *value)
{
    char said[96];
    snprintf(said, sizeof said, "%s: %s", row->name, value);
    static const char *const words[] = {"auto", "false", "none", "0", "1"};
    bool nothing = (row->fallback != NULL && strcmp(row->fallback, value) == 0) ||
                   strstr(base->layout, said) != NULL;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        nothing = nothing || strcmp(words[i], value) == 0;
    return nothing;
}

struct trial {
    const struct base *base;
    char figures[FIGURES]; /* as it stands */
    bool changed;
    unsigned idle, false_warnings;
    char silent[64];
};

/* Has it a problem with both in its text? */
static bool names(const struct scenario *s, const char *key, const char *words)
{
    bool found = false;
    for (unsigned i = 0; i < s->diagnostics.problem_count; i++) {
        const char *text = s->diagnostics.problems[i].text;
        found = found || (strstr(text, key) != NULL && strstr(text, words) != NULL);
    }
    return found;
}

static void try_value(struct trial *t, const char *key, const struct param *row, const char *value)
{
    static char now[FIGURES];
    char set[160];
    snprintf(set, sizeof set, "%s=%s", key, value);
    struct scenario *s = read_with(t->base, set);
    const bool warned = names(s, key, "");
    if (s->diagnostics.error_count == 0) {
        figures_of(s, now);
        const bool changed = strcmp(now, t->figures) != 0;
        if (changed && names(s, key, "has no effect")) {
            print_message("%s: %s is warned of and has an effect\n", t->base->name, set);
            t->false_warnings++;
        }
        t->changed = t->changed || changed;
        if (!changed && !warned && !says_nothing(t->base, row, value)) {
            snprintf(t->silent, sizeof t->silent, "%s", value);
            t->idle++;
        }
    }
    scenario_destroy(s);
}

static unsigned hold_keys(struct arena *arena, struct trial *t, const char *path,
                          struct params rows)
{
    unsigned faults = 0;
    for (unsigned i = 0; i < rows.count; i++) {
        const char *values[VALUE_MAX];
        const char *key = arena_format(arena, "%s.%s", path, rows.rows[i].name);
        if (is_exception(key))
            continue;
        t->changed = false;
        t->idle = 0;
        const unsigned count = values_of(arena, key, &rows.rows[i], values);
        assert_true(count > 0);
        for (unsigned v = 0; v < count && !t->changed; v++)
            try_value(t, key, &rows.rows[i], values[v]);
        if (!t->changed && t->idle > 0) {
            print_message("%s: %s=%s does nothing in silence\n", t->base->name, key, t->silent);
            faults++;
        }
    }
    return faults;
}

static void test_no_key_is_idle_in_silence(void **state)
{
    static const enum section sections[] = {SECTION_MODEL, SECTION_TRAINING, SECTION_LAYOUT};
    static struct trial t;
    unsigned faults = 0;
    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
        struct arena *arena = arena_create();
        struct scenario *s = read_with(&bases[b], NULL);
        if (s->diagnostics.error_count > 0)
            fail_msg("%s: %s", bases[b].name, s->diagnostics.problems[0].text);
        t.base = &bases[b];
        figures_of(s, t.figures);
        scenario_destroy(s);
        for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
            const struct schema_section *section = schema_section(sections[i]);
            faults += hold_keys(arena, &t, section->path, section->keys);
            faults += hold_keys(arena, &t, section->path, schema_table(section));
        }
        arena_destroy(arena);
    }
    assert_int_equal(faults, 0);
    assert_int_equal(t.false_warnings, 0);
}

/* At the key's own place, with its remedy; a default turns nothing on, but for keys that are there
 * to; a search that chooses the sharding knows nothing of it yet. */
static void test_words_and_places(void **state)
{
    static const char text[] = "model: llama3-8b\ncluster: {gpu: h100-80gb-sxm, nodes: 2}\n"
                               "training: {global_batch: 32, adapter_rank: 16}\n"
                               "layout: {tp: 2, sharding: zero-1, shard_group: 4, cp_method: "
                               "all_gather, fsdp_unit_layers: 1}\n";
    for (int open = 0; open < 2; open++) {
        const struct scenario_options options = {.layout_open = open == 1};
        struct error error = {""};
        struct scenario *s = scenario_read("t.yaml", text, strlen(text), &options, &error);
        const struct problem *p = s->diagnostics.problems;
        assert_int_equal(s->diagnostics.error_count, 0);
        assert_int_equal(s->diagnostics.problem_count, open ? 1 : 2);
        assert_string_equal(p->text,
                            "training.adapter_rank has no effect without training.adapter: it is "
                            "the rank of adapters, and all weights are trained");
        assert_true(p->warning && p->line == 3 && p->column == 30);
        if (!open)
            assert_string_equal(p[1].text, "layout.shard_group has no effect with sharding zero-1: "
                                           "it groups the shards of hsdp");
        assert_true(open || (p[1].warning && p[1].line == 4 && p[1].column == 35));
        scenario_destroy(s);
    }
}

/* What a preset says of itself is no word of the user. */
static void test_presets_are_silent(void **state)
{
    static const char text[] = "model: {preset: qwen3-next-80b-a3b}\n"
                               "cluster: {gpu: b300-288gb-sxm, nodes: 4}\n"
                               "training: {global_batch: 64}\n"
                               "layout: {ep: 8, recompute: full, sharding: zero-1, microbatch: 1}\n"
                               "software: megatron\n";
    struct error error = {""};
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_int_equal(s->diagnostics.error_count, 0);
    for (unsigned i = 0; i < s->diagnostics.problem_count; i++)
        assert_null(strstr(s->diagnostics.problems[i].text, "has no effect"));
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_key_is_idle_in_silence),
                                       cmocka_unit_test(test_words_and_places),
                                       cmocka_unit_test(test_presets_are_silent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
