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
#include "tests/analysis/record/numbers/idle_bases.h"
#include "tests/sanitized.h"
#include "tests/test.h"

enum {
    FIGURES = 8192,
    VALUE_MAX = 16,
    KEY_MAX = 512
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

static uint64_t add_real(uint64_t digest, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return digest_add(digest, bits);
}

/* Of what every program allocates and frees, and of what the host does for it, felt or not. */
static uint64_t programs_of(const struct step *step)
{
    uint64_t digest = digest_begin();
    for (uint32_t p = 0; p < step->lowered.program_count; p++) {
        const struct program *program = step->lowered.programs[p];
        const struct ledger_entry *entries[] = {program->setup, program->ledger};
        const uint32_t counts[] = {program->setup_count, program->ledger_count};
        for (unsigned list = 0; list < 2; list++)
            for (uint32_t i = 0; i < counts[list]; i++)
                digest = digest_add(add_real(digest, entries[list][i].bytes), entries[list][i].op);
        for (uint32_t i = 0; i < program->op_count; i++)
            digest = add_real(digest, program->hosts[program->ops[i].host]);
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
    used = (size_t)snprintf(out, FIGURES, "%" PRIx64 " ", programs_of(step));
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
        [PARAM_BYTES] = {"1MB", "100MB", "2GB", "1TB"},
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
                   strstr(base->layout, said) != NULL || strstr(base->training, said) != NULL ||
                   (base->cluster != NULL && strstr(base->cluster, said) != NULL) ||
                   (!on && strcmp(value, "false") == 0);
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

static const enum section sections[] = {SECTION_MODEL,    SECTION_TRAINING, SECTION_LAYOUT,
                                        SECTION_SOFTWARE, SECTION_CLUSTER,  SECTION_GPU,
                                        SECTION_NODE,     SECTION_FABRIC,   SECTION_COST};

static bool of_machine(enum section section)
{
    return section == SECTION_GPU || section == SECTION_NODE || section == SECTION_FABRIC;
}

/* Under sanitizers the machine of every fourth base. */
static unsigned hold_sections(struct trial *t)
{
    unsigned faults = 0;
    struct arena *arena = arena_create();
    const bool machine = (t->base - bases) % SANITIZED_EVERY(4) == 0;
    t->at = 0;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        const struct schema_section *section = schema_section(sections[i]);
        if (of_machine(sections[i]) && !machine) {
            t->at += section->keys.count + schema_table(section).count;
            continue;
        }
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
        const bool some = of_machine(sections[s]) && SANITIZED_EVERY(4) > 1;
        for (unsigned l = 0; l < 2; l++)
            for (unsigned i = 0; i < lists[l].count; i++) {
                char key[96];
                snprintf(key, sizeof key, "%s.%s", section->path, lists[l].rows[i].name);
                at++;
                if (is_exception(key) || t->effective[at] || some)
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

/* Storage is rented for weeks, not for a step; 0 is no price. A card that is described whole is not
 * asked about; what --set adds to it is, and one of the catalogue with another figure. */
static void test_price_of_weeks(void **state)
{
    static const char described[] =
        "cluster: {gpu: {peak_bf16: 900TFLOP/s, peak_fp8: 1.8PFLOP/s, hbm: 80GB, usable_hbm: 79GB, "
        "hbm_bandwidth: 3TB/s, sm_count: 132, clock: 1.8GHz, power: 700W}, node: dgx-h100}\n";
    static const char *const given[] = {
        "cluster: {gpu: h100-80gb-sxm}\ncost: {storage_tb_month: 20USD}\n",
        "cluster: {gpu: h100-80gb-sxm}\ncost: {storage_tb_month: 20USD}\nrun: {duration: 10d}\n",
        "cluster: {gpu: h100-80gb-sxm}\ncost: {storage_tb_month: 0USD}\n",
        described,
        described,
        "cluster: {gpu: {name: h100-80gb-sxm, peak_fp8: 1.8PFLOP/s}}\n"};
    static const char *const idle[] = {"cost.storage_tb_month has no effect on a single step",
                                       NULL,
                                       NULL,
                                       "cluster.gpu.peak_fp8 has no effect in", /* --set */
                                       NULL,
                                       "cluster.gpu.peak_fp8 has no effect in"};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        const char *set = "cluster.gpu.peak_fp8=2PFLOP/s";
        const struct scenario_options options = {.sets = &set, .set_count = i == 3};
        struct error error = {""};
        char text[512];
        snprintf(text, sizeof text, "model: llama3-8b\ntraining: {global_batch: 32}\n%s", given[i]);
        struct scenario *s = scenario_read("t.yaml", text, strlen(text), &options, &error);
        assert_int_equal(s->diagnostics.error_count, 0);
        const unsigned told = problems_with(s, "has no effect");
        if (told != (idle[i] != NULL) || (told > 0 && problems_with(s, idle[i]) != 1))
            fail_msg("%s: %u told", given[i], told);
        scenario_destroy(s);
    }
}

/* A cap above tdp is warned of and moves no figure; up to tdp it is silent and moves them. */
static void test_caps_above_tdp(void **state)
{
    static const struct {
        const char *gpu;
        unsigned told;
        bool moves;
    } rows[] = {
        {"{name: h100-80gb-sxm}", 0, false},
        {"{name: h100-80gb-sxm, power: 700W}", 0, false},
        {"{name: h100-80gb-sxm, power: 300W}", 0, true},
        {"{name: h100-80gb-sxm, power: 701W}", 1, false},
        {"{name: h100-80gb-sxm, power: 100kW}", 1, false},
        {"{name: h100-80gb-sxm, power: 100kW, tdp: 100kW}", 0, true},
    };
    static char stands[FIGURES], now[FIGURES];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char cluster[512];
        struct base base = bases[0];
        snprintf(cluster, sizeof cluster, "gpu: %s, nodes: 2, node: dgx-h100", rows[i].gpu);
        base.cluster = cluster;
        struct scenario *s = read_with(&base, NULL);
        if (s->diagnostics.error_count > 0)
            fail_msg("%s: %s", rows[i].gpu, s->diagnostics.problems[0].text);
        const unsigned told = problems_with(s, "cluster.gpu.power has no effect above");
        figures_of(s, i == 0 ? stands : now);
        if (told != rows[i].told || (i > 0 && (strcmp(now, stands) != 0) != rows[i].moves))
            fail_msg("%s: %u told, figures %s", rows[i].gpu, told,
                     strcmp(now, stands) != 0 ? "move" : "stay");
        scenario_destroy(s);
    }
}

/* Each word of what graphs capture moves something, or is warned of, or refused. */
static void test_graphs_capture_something(void **state)
{
    static const char *const words[] = {"attn", "mlp", "moe_router", "moe_router+moe_preprocess",
                                        "moe",  "on",  "full"};
    static char stands[FIGURES], now[FIGURES];
    unsigned moved = 0, told = 0, refused = 0;
    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
        struct scenario *s = read_with(&bases[b], NULL);
        figures_of(s, stands);
        scenario_destroy(s);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            char set[96];
            snprintf(set, sizeof set, "software.cuda_graphs=%s", words[i]);
            s = read_with(&bases[b], set);
            const bool idle = problems_with(s, "software.cuda_graphs has no effect") == 1;
            if (s->diagnostics.error_count > 0) {
                assert_true(problems_with(s, "software.cuda_graphs") == 1);
                refused++;
            } else {
                figures_of(s, now);
                if ((strcmp(now, stands) != 0) == idle)
                    fail_msg("%s: %s %s", bases[b].name, set, idle ? "is told idle" : "is silent");
                told += idle;
                moved += !idle;
            }
            scenario_destroy(s);
        }
    }
    assert_true(moved > 50 && told > 50 && refused > 10);
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
        cmocka_unit_test(test_caps_above_tdp),    cmocka_unit_test(test_no_key_is_idle_in_silence),
        cmocka_unit_test(test_words_and_places),  cmocka_unit_test(test_one_warning_a_key),
        cmocka_unit_test(test_price_of_weeks),    cmocka_unit_test(test_graphs_capture_something),
        cmocka_unit_test(test_presets_are_silent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
