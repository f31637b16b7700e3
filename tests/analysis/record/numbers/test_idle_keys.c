/* A key that a scenario states is in effect, refused or warned of. Every key of the sections below
 * is set to other values in small scenarios of each sort: some value changes a figure of the run
 * (the digests of its timeline and of its allocations among them), or each that is read is warned
 * of by the key's name (scenarios/schema/idle.c). And each has an effect in one of them at least:
 * a forgotten wire has none. Exceptions stand below, with their reasons. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/evidence/record_run.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/schema/keys.h"
#include "sim/digest.h"
#include "tests/test.h"

enum {
    FIGURES = 8192,
    VALUE_MAX = 16,
    KEY_MAX = 512
};
#define MODEL "hidden: 1024, heads: 16, kv_heads: 8, vocabulary: 32000"
#define EXPERTS ", experts: 16, experts_per_token: 4, moe_ffn_hidden: 512"
#define LATENT ", kv_rank: 256, head_size: 64, rope_head_size: 32, v_head_size: 64"
#define PATTERN(kind) ", pattern: '3*" kind ",attention', linear_heads: 16, linear_head_size: 64"
#define TWO_NODES "gpu: h100-80gb-sxm, nodes: 2"
#define RUN "sequence: 2048, global_batch: 32, "
#define BF16 "attention: flash2, precision: bf16"
#define FP8 "attention: flash2, precision: fp8"
#define ALONE "cp: 1, vpp: 1, schedule: 1f1b, microbatch: 1, recompute: none"
#define DENSE "tp: 2, pp: 1, sharding: zero-1, sequence_parallel: true, " ALONE
#define PLAIN "tp: 1, pp: 1, sequence_parallel: false, " ALONE
#define SPLIT(recompute)                                                                           \
    "tp: 1, pp: 1, sequence_parallel: false, cp: 1, vpp: 1, schedule: 1f1b, microbatch: 1, "       \
    "recompute: " recompute

static const struct base {
    const char *name, *model, *training, *layout, *software;
    const char *cluster; /* NULL: two nodes */
    unsigned layers;
} bases[] = {
    {"dense", "", BF16, DENSE, "megatron", TWO_NODES ", node: {name: dgx-h100, nics: 4}", 4},
    {"experts", EXPERTS, BF16, PLAIN ", sharding: zero-1, ep: 8, etp: 1", "megatron", NULL, 4},
    {"one rank of experts", EXPERTS, BF16, PLAIN ", sharding: zero-1, ep: 1, etp: 1", "megatron",
     NULL, 4},
    {"latent", EXPERTS LATENT, BF16, PLAIN ", sharding: zero-1, ep: 8, etp: 1, dispatch: deepep",
     "megatron", NULL, 4},
    {"units", "", BF16, PLAIN ", sharding: fsdp", "torchtitan", NULL, 4},
    {"hybrid", ", window: 512", BF16, PLAIN ", sharding: hsdp", "torchtitan", NULL, 4},
    {"both ways", "", BF16 ", causal: false",
     "tp: 1, pp: 1, cp: 2, cp_method: ring, vpp: 1, schedule: 1f1b, microbatch: 1, recompute: "
     "none, "
     "sharding: zero-1, sequence_parallel: false",
     "megatron", NULL, 4},
    {"pipeline", "", FP8,
     "tp: 2, pp: 2, cp: 2, vpp: 2, schedule: interleaved, sharding: zero-1, microbatch: 1, "
     "recompute: none, sequence_parallel: true",
     "{profile: megatron, bucket: 1MB}", NULL, 4},
    {"gdn", PATTERN("gdn"), BF16, PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"mamba2", PATTERN("mamba2"), BF16, PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"kda", PATTERN("kda"), BF16, PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"lightning", PATTERN("lightning"), BF16, PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"adapters", "", BF16 ", adapter: lora", PLAIN ", sharding: zero-0",
     "{profile: megatron, bucket: 100kB}", NULL, 4},
    {"offload", "", BF16,
     SPLIT("block, recompute_layers: 2") ", sharding: zero-1, optimizer_offload: 0.5", "megatron",
     NULL, 4},
    {"one replica", "", BF16, "tp: 4, pp: 4, sharding: zero-0, sequence_parallel: false, " ALONE,
     "{profile: megatron, even_stages: false}", NULL, 6},
    {"heads and ring", "", BF16,
     "tp: 1, pp: 1, cp: 4, cp_method: all_to_all_ring, vpp: 1, schedule: 1f1b, microbatch: 1, "
     "recompute: none, sharding: zero-1, sequence_parallel: false, activation_offload: 0.5",
     "megatron", NULL, 4},
    {"unfused", ", norm: layernorm", "attention: math, precision: fp8", PLAIN ", sharding: zero-1",
     "{profile: megatron, fp8_recipe: current}", NULL, 4},
    {"shared experts", EXPERTS ", shared_experts: 1, clamped_activation: true", FP8,
     DENSE ", ep: 4, etp: 1, dispatch: alltoall", "{profile: megatron, bucket: 1MB}", NULL, 4},
    {"room", EXPERTS, FP8,
     PLAIN ", sharding: zero-1, ep: 8, etp: 1, dispatch: hybridep, rank_capacity: 2", "megatron",
     NULL, 4},
    {"sparse",
     EXPERTS LATENT
     ", q_rank: 512, indexer_heads: 8, indexer_size: 64, sparse_keys: 512, indexer_interval: 2",
     BF16, PLAIN ", sharding: zero-1, ep: 8, etp: 1", "megatron", NULL, 4},
    {"recomputed", "", BF16, SPLIT("full") ", sharding: zero-3", "deepspeed", NULL, 4},
    {"by operator", "", BF16, SPLIT("per_operator") ", sharding: fsdp", "torchtitan", NULL, 4},
    {"userbuffers", "", FP8 ", bf16_layers_first: 1", DENSE,
     "{profile: megatron, tp_pipelines: true, backward_tp_overlap: false}", NULL, 4},
    {"four bits", "", "attention: cudnn, precision: nvfp4", DENSE, "megatron",
     "gpu: b200-180gb-sxm, nodes: 2", 4},
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
    {"model.usual_recompute", "of a search, which tries it"},
    {"model.positions_max", "a bound of the sequence, which is warned of past it"},
    {"model.norm", "layernorm without biases moves and keeps what rms does"},
    {"model.expert_groups", "a fact of the model, which alltoall does not feel"},
    {"model.groups_per_token", "likewise"},
    {"model.linear_key_size", "kinds whose keys are as wide as their values refuse another width"},
    {"layout.order", "words of its own, checked by the rule of the layout"},
    {"layout.placement", "where all ranks are one group, any order of them has the same links"},
    {"layout.sharding", "with one replica all are one; it is said of what a study varies"},
    {"training.precision", "fp16 and bf16 are equally wide"},
    {"software.profile", "other figures, by name"},
    {"software.release", "other figures, by month"},
    {"software.framework", "the name under which published runs are found"},
    {"software.year", "likewise, of the version"},
    {"software.native", "likewise"},
    {"software.experts_alone", "likewise"},
    {"software.execution", "likewise"},
    {"software.pipeline_refuses_shards", "a refusal, by the rule of the layout"},
    {"software.even_stages", "likewise"},
    {"software.interleaves", "an offer, refused where it is asked for and not there"},
    {"software.makers_recipe", "what a search tries"},
    {"software.sequence_parallelism", "an offer, refused where it is asked for and not there"},
    {"software.selective_recompute", "likewise"},
    {"software.operator_recompute", "likewise"},
    {"software.block_recompute", "likewise"},
    {"software.flash3", "likewise"},
    {"software.cp_mixers", "likewise"},
    {"software.sharded_optimizers", "likewise"},
    {"software.usual_attention", "taken where training.attention is left open"},
    {"software.usual_dropout", "likewise"},
    {"software.usual_chunks", "taken where layout.vpp is left open"},
    {"software.usual_sharding", "taken where layout.sharding is left open"},
    {"software.full_sharding", "likewise"},
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
             "model: {layers: %u, " MODEL "%s}\ncluster: {%s}\ntraining: {" RUN
             "%s}\nlayout: {%s}\n"
             "software: %s\n",
             base->layers, base->model, base->cluster != NULL ? base->cluster : TWO_NODES,
             base->training, base->layout, base->software);
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), &options, &error);
    assert_non_null(s);
    return s;
}

/* Of what every program allocates and frees. */
static uint64_t allocations_of(const struct step *step)
{
    uint64_t digest = digest_begin();
    for (uint32_t p = 0; p < step->lowered.program_count; p++) {
        const struct program *program = step->lowered.programs[p];
        const struct ledger_entry *entries[] = {program->setup, program->ledger};
        const uint32_t counts[] = {program->setup_count, program->ledger_count};
        for (unsigned list = 0; list < 2; list++)
            for (uint32_t i = 0; i < counts[list]; i++) {
                uint64_t bits;
                memcpy(&bits, &entries[list][i].bytes, sizeof bits);
                digest = digest_add(digest_add(digest, bits), entries[list][i].op);
            }
    }
    return digest;
}

/* Every number of the table `run`, and the digests. */
static void figures_of(const struct scenario *s, char out[FIGURES])
{
    const struct step_options options = {.threads = 1, .ignore_memory = true};
    const struct row_table *table = &row_tables[ROW_run];
    struct step *step = NULL;
    struct error error = {""};
    struct result result;
    struct record record;
    size_t used;
    if (!step_run(&s->configuration, &options, &step, &error))
        fail_msg("%s", error.text);
    struct arena *arena = arena_create();
    result_gather(s, step, &result);
    record_of_run(arena, &result, false, &record);
    used = (size_t)snprintf(out, FIGURES, "%" PRIx64 " ", allocations_of(step));
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

/* Words of keys that take a text of no family. */
static const struct {
    const char *key;
    const char *words[3];
} texts[] = {{"software.cuda_graphs", {"full", "layer", "attn+moe_router+moe_preprocess"}}};

/* Some of each type, far enough apart that an effect is seen. */
static struct name_list tried_values(struct arena *arena, const char *key, enum param_type type)
{
    static const char *const of_types[][7] = {
        [PARAM_COUNT] = {"1", "2", "3", "4", "8", "64", "512"},
        [PARAM_RATIO] = {"0.25", "0.5", "1", "2", "4", "100"},
        [PARAM_TIME] = {"1us", "1ms", "1s"},
        [PARAM_BYTES] = {"1MB", "100MB", "2GB"},
        [PARAM_BANDWIDTH] = {"10GB/s", "100GB/s", "1TB/s"},
        [PARAM_FLOP_RATE] = {"100TFLOP/s", "1PFLOP/s"},
        [PARAM_FREQUENCY] = {"1GHz", "2GHz"},
        [PARAM_POWER] = {"100W", "500W"},
        [PARAM_MONEY] = {"1USD", "5USD"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(texts[i].key, key) == 0)
            return (struct name_list){texts[i].words, 3};
    if (type == PARAM_FLAG || type == PARAM_CHOICE || type == PARAM_TEXT)
        return keys_values(arena, key);
    struct name_list list = {of_types[type], 0};
    while (list.count < 7 && list.names[list.count] != NULL)
        list.count++;
    return list;
}

static unsigned values_of(struct arena *arena, const char *key, const struct param *row,
                          const char *out[VALUE_MAX])
{
    const struct name_list list = tried_values(arena, key, row->type);
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
    static const char *const words[] = {"auto", "none", "0", "1"};
    const bool on = row->fallback != NULL && strcmp(row->fallback, "true") == 0;
    bool nothing = (row->fallback != NULL && strcmp(row->fallback, value) == 0) ||
                   strstr(base->layout, said) != NULL || (!on && strcmp(value, "false") == 0);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        nothing = nothing || strcmp(words[i], value) == 0;
    return nothing;
}

struct trial {
    const struct base *base;
    char figures[FIGURES]; /* as it stands */
    bool changed;
    unsigned idle, false_warnings, at;
    bool effective[KEY_MAX]; /* by the order of keys, in some base */
    char silent[64];
};

/* How many of its problems have this in their text. */
static unsigned problems_with(const struct scenario *s, const char *words)
{
    unsigned count = 0;
    for (unsigned i = 0; i < s->diagnostics.problem_count; i++)
        count += strstr(s->diagnostics.problems[i].text, words) != NULL;
    return count;
}

static void try_value(struct trial *t, const char *key, const struct param *row, const char *value)
{
    static char now[FIGURES];
    char set[160], idle[96];
    snprintf(set, sizeof set, "%s=%s", key, value);
    snprintf(idle, sizeof idle, "%s has no effect", key);
    struct scenario *s = read_with(t->base, set);
    const unsigned idle_count = problems_with(s, idle);
    assert_true(idle_count <= 1);
    if (s->diagnostics.error_count == 0) {
        figures_of(s, now);
        const bool changed = strcmp(now, t->figures) != 0;
        if (changed && idle_count > 0) {
            print_message("%s: %s is warned of and has an effect\n", t->base->name, set);
            t->false_warnings++;
        }
        t->changed = t->changed || changed;
        if (!changed && problems_with(s, key) == 0 && !says_nothing(t->base, row, value)) {
            snprintf(t->silent, sizeof t->silent, "%s", value);
            t->idle++;
        }
    }
    scenario_destroy(s);
}

static void take_effect(struct trial *t)
{
    assert_true(t->at < KEY_MAX);
    t->effective[t->at] = t->effective[t->at] || t->changed;
}

static unsigned hold_keys(struct arena *arena, struct trial *t, const char *path,
                          struct params rows)
{
    unsigned faults = 0;
    for (unsigned i = 0; i < rows.count; i++) {
        const char *values[VALUE_MAX];
        const char *key = arena_format(arena, "%s.%s", path, rows.rows[i].name);
        t->at++;
        if (is_exception(key))
            continue;
        t->changed = false;
        t->idle = 0;
        const unsigned count = values_of(arena, key, &rows.rows[i], values);
        assert_true(count > 0);
        for (unsigned v = 0; v < count && !t->changed; v++)
            try_value(t, key, &rows.rows[i], values[v]);
        take_effect(t);
        if (!t->changed && t->idle > 0) {
            print_message("%s: %s=%s does nothing in silence\n", t->base->name, key, t->silent);
            faults++;
        }
    }
    return faults;
}

static const enum section sections[] = {SECTION_MODEL, SECTION_TRAINING, SECTION_LAYOUT,
                                        SECTION_SOFTWARE};

static unsigned hold_sections(struct trial *t)
{
    unsigned faults = 0;
    struct arena *arena = arena_create();
    t->at = 0;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        const struct schema_section *section = schema_section(sections[i]);
        faults += hold_keys(arena, t, section->path, section->keys);
        faults += hold_keys(arena, t, section->path, schema_table(section));
    }
    arena_destroy(arena);
    return faults;
}

/* Keys that change nothing in any base. */
static unsigned without_wires(const struct trial *t)
{
    unsigned faults = 0, at = 0;
    for (size_t s = 0; s < sizeof sections / sizeof sections[0]; s++) {
        const struct schema_section *section = schema_section(sections[s]);
        const struct params lists[] = {section->keys, schema_table(section)};
        for (unsigned l = 0; l < 2; l++)
            for (unsigned i = 0; i < lists[l].count; i++) {
                char key[96];
                snprintf(key, sizeof key, "%s.%s", section->path, lists[l].rows[i].name);
                at++;
                if (is_exception(key) || t->effective[at])
                    continue;
                print_message("%s has an effect nowhere\n", key);
                faults++;
            }
    }
    return faults;
}

static void test_no_key_is_idle_in_silence(void **state)
{
    static struct trial t;
    unsigned faults = 0;
    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
        struct scenario *s = read_with(&bases[b], NULL);
        if (s->diagnostics.error_count > 0)
            fail_msg("%s: %s", bases[b].name, s->diagnostics.problems[0].text);
        t.base = &bases[b];
        figures_of(s, t.figures);
        scenario_destroy(s);
        faults += hold_sections(&t);
    }
    faults += without_wires(&t);
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

/* Of several things that a key lacks the first is said; a figure that the profile has is not. */
static void test_one_warning_a_key(void **state)
{
    static const char text[] =
        "model: llama3-8b\ncluster: {gpu: h100-80gb-sxm, nodes: 2}\n"
        "training: {global_batch: 32, precision: bf16}\nlayout: {tp: 1, pp: 1, sharding: zero-1}\n"
        "software: {profile: megatron, p2p_sync: 1ms, tp_scatter_splits: 8, fp8_gathers: true}\n";
    static const char *const sentences[] = {
        ("software.fp8_gathers has no effect in precision bf16: it is about low-precision linear "
         "layers"),
        "software.tp_scatter_splits has no effect with tp 1: it is about tensor-parallel ranks",
        "software.p2p_sync has no effect with pp 1: it is about stages of a pipeline"};
    struct error error = {""};
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_int_equal(s->diagnostics.error_count, 0);
    assert_int_equal(s->diagnostics.problem_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct problem *p = &s->diagnostics.problems[i];
        bool found = false;
        for (unsigned t = 0; t < 3; t++)
            found = found || strcmp(p->text, sentences[t]) == 0;
        if (!found || p->line != 5)
            fail_msg("line %u: %s", p->line, p->text);
    }
    scenario_destroy(s);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_key_is_idle_in_silence), cmocka_unit_test(test_words_and_places),
        cmocka_unit_test(test_one_warning_a_key), cmocka_unit_test(test_presets_are_silent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
