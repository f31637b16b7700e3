/* Keys of software, memory and saves in scripts: a key that the scenario sets beside the profile
 * changes the script or is told, once; what then needs more memory has its figures or is refused;
 * each framework saves as the weeks were simulated. */
#include <stdio.h>
#include <string.h>

#include "analysis/exchange/launch/launch_unsaid.h"
#include "models/sharding/sharding_kind.h"
#include "models/workload/software.h"
#include "tests/analysis/exchange/launch_case.h"
#include "tests/test.h"

/* Llama 3 8B on 64 H100, as all four frameworks take it. */
static struct scenario *read_case(const char *software, const char *precision)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model: llama3-8b\n"
             "cluster: {gpu: h100-80gb-sxm, nodes: 8}\n"
             "training: {sequence: 8192, global_batch: 512, precision: %s, attention: flash2,\n"
             "  gradient_bytes: 4}\n"
             "layout: {tp: 2, pp: 2, dp: 16, microbatch: 1, schedule: 1f1b, sharding: zero-1,\n"
             "  recompute: none, sequence_parallel: true}\n"
             "software: %s\n",
             precision, software);
    struct error error = {""};
    struct scenario *s = scenario_read("case.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static struct launch_text write_case(const struct launch_kind *kind, struct scenario *s)
{
    struct launch_beside beside;
    struct launch_text text;
    launch_beside_find(s, kind, s->arena, &beside);
    launch_write(kind, &s->configuration, &beside, s->arena, &text);
    return text;
}

/* What says which layouts there are, which version it is, and how long the host takes. */
static bool of_no_script(const struct param *key)
{
    static const char *const names[] = {"framework",
                                        "year",
                                        "sequence_parallelism",
                                        "selective_recompute",
                                        "operator_recompute",
                                        "block_recompute",
                                        "flash3",
                                        "native",
                                        "experts_alone",
                                        "sharded_optimizers",
                                        "dispatches",
                                        "narrow_rows",
                                        "heads_alone",
                                        "execution",
                                        "usual_attention",
                                        "usual_dropout",
                                        "usual_gradient_bytes",
                                        "usual_chunks",
                                        "usual_sharding",
                                        "full_sharding",
                                        "pipeline_refuses_shards",
                                        "interleaves",
                                        "even_stages"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(key->name, names[i]) == 0)
            return true;
    return key->type == PARAM_TIME;
}

/* Another value of a key than a profile has. */
static void change(const struct param *key, struct software_profile *profile)
{
    void *at = (char *)profile + key->offset;
    switch (key->type) {
    case PARAM_FLAG:
        *(bool *)at = !*(bool *)at;
        break;
    case PARAM_COUNT:
        *(uint64_t *)at += 1;
        break;
    case PARAM_CHOICE:
        *(int *)at = key->choices[*(int *)at + 1] != NULL ? *(int *)at + 1 : 0;
        break;
    case PARAM_TEXT:
        *(const char **)at = "attn";
        break;
    case PARAM_RATIO:
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
    case PARAM_POWER:
    case PARAM_MONEY:
        *(double *)at = *(double *)at > key->minimum ? (*(double *)at + key->minimum) / 2.0
                                                     : key->minimum + 0.5;
    }
}

static bool differ(const struct launch_text *a, const struct launch_text *b)
{
    bool same = a->refused == b->refused && a->line_count == b->line_count;
    for (uint32_t i = 0; same && i < a->line_count; i++)
        same = strcmp(a->lines[i], b->lines[i]) == 0;
    return !same;
}

/* Notes stand in the script, so its lines are all that can differ. What changes it by itself is not
 * told as unsaid as well. */
static void law_of_keys(const struct launch_kind *kind, const char *precision)
{
    struct scenario *s = read_case(kind->software, "bf16");
    struct launch_beside beside;
    struct launch_text plain, unaware, aware;
    s->configuration.training.precision = precision_find(precision);
    launch_beside_find(s, kind, s->arena, &beside);
    launch_write(kind, &s->configuration, &beside, s->arena, &plain);
    assert_null(launch_case_note(&plain, LAUNCH_DIFFERS, "no option of the script says it"));
    assert_false(plain.refused && strcmp(precision, "bf16") == 0);
    for (unsigned i = 0; i < software_param_count && !plain.refused; i++) {
        const struct param *key = &software_params[i];
        struct configuration c = s->configuration;
        assert_int_equal(launch_unsaid_asks(key), !of_no_script(key));
        if (of_no_script(key))
            continue;
        change(key, &c.software);
        struct launch_beside without = beside;
        without.plain.known = false;
        launch_write(kind, &c, &without, s->arena, &unaware);
        launch_write(kind, &c, &beside, s->arena, &aware);
        char words[128];
        snprintf(words, sizeof words, "software.%s is ", key->name);
        const bool told = launch_case_note(&aware, LAUNCH_DIFFERS, words) != NULL;
        if (!differ(&plain, &aware))
            fail_msg("%s: software.%s is dropped", kind->head.name, key->name);
        if (!aware.refused && told == differ(&plain, &unaware))
            fail_msg("%s: software.%s is %s", kind->head.name, key->name,
                     told ? "told twice" : "not told");
    }
    scenario_destroy(s);
}

static void no_key_is_dropped(void **state)
{
    for (unsigned i = 0; i < launch_kind_count; i++) {
        law_of_keys(launch_kinds[i], "bf16");
        law_of_keys(launch_kinds[i], "fp8");
    }
}

/* Both values in their places, and the one that leads to what runs. */
static void a_note_has_both_values(void **state)
{
    struct scenario *s = read_case("{profile: megatron, bucket: 100MB, overlap_gradients: false,\n"
                                   "  gradient_kept_bytes: 2, cuda_graphs: attn, launch: 9us}",
                                   "bf16");
    const struct launch_text text = write_case(&launch_megatron, s);
    const char *note = launch_case_note(&text, LAUNCH_DIFFERS, "software.bucket");
    assert_string_equal(note, "software.bucket is 100MB here and 160MB in the profile megatron: no "
                              "option of the script says it, and megatron does as the profile "
                              "(software.bucket=160MB simulates that)");
    assert_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.overlap_gradients"));
    assert_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.cuda_graphs is"));
    assert_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.launch"));
    assert_non_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.gradient_kept_bytes is 2"));
    scenario_destroy(s);
    s = read_case("{profile: megatron, bucket: 100MB}", "bf16");
    const struct launch_text other = write_case(&launch_torchtitan, s);
    assert_non_null(launch_case_note(&other, LAUNCH_DIFFERS, "does it in its own way"));
    scenario_destroy(s);
}

/* Months, names and formats that reading decides are no keys of the scenario. */
static void what_reading_decides(void **state)
{
    struct scenario *s = read_case("{profile: nemo, release: 2024-04, bucket: 100MB}", "bf16");
    struct launch_text text = write_case(&launch_nemo, s);
    assert_non_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.bucket"));
    assert_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.router_fusion"));
    scenario_destroy(s);
    s = read_case("{profile: nemo, router_fusion: true}", "bf16"); /* of mixtures, by a release */
    text = write_case(&launch_nemo, s);
    assert_non_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.router_fusion is true"));
    scenario_destroy(s);
    s = read_case("{profile: megatron, states_as_weights: true}", "bf16");
    text = write_case(&launch_megatron, s);
    assert_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.states_as_weights is"));
    assert_non_null(launch_case_note(&text, LAUNCH_REFUSED, "formats of master weights"));
    scenario_destroy(s);
    s = read_case("{profile: automodel, states_as_weights: false}", "bf16");
    text = write_case(&launch_megatron, s); /* its states are of 32 bits unless told */
    assert_false(text.refused);
    assert_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.states_as_weights is"));
    scenario_destroy(s);
    s = read_case("{profile: nemo, cuda_graphs: mlp}", "bf16");
    struct launch_beside beside; /* of a profile that has graphs, too: another note, not one more */
    launch_beside_find(s, &launch_nemo, s->arena, &beside);
    beside.plain.software.graphs.modules = "attn";
    launch_write(&launch_nemo, &s->configuration, &beside, s->arena, &text);
    assert_non_null(launch_case_note(&text, LAUNCH_DIFFERS, "CUDA graphs (mlp) are not written"));
    assert_null(launch_case_note(&text, LAUNCH_DIFFERS, "software.cuda_graphs is"));
    scenario_destroy(s);
}

/* Inputs of norms rebuilt, or kept: by the ledger of the layout itself. */
static void memory_has_its_figures(void **state)
{
    struct scenario *s = read_case("{profile: megatron, save_norm_input: false}", "bf16");
    const struct launch_text text = write_case(&launch_megatron, s);
    struct launch_room stated, whole;
    struct configuration c = s->configuration;
    launch_room_find(&c, &stated);
    c.software.layer.save_norm_input = true;
    launch_room_find(&c, &whole);
    assert_true(stated.fits && whole.fits && whole.needed_bytes > stated.needed_bytes);
    assert_non_null(launch_case_note(&text, LAUNCH_DIFFERS, "with software.save_norm_input=true"));
    assert_false(text.refused);
    c = s->configuration; /* between the two no card holds the second */
    c.gpu.hbm.usable_bytes = (stated.needed_bytes + whole.needed_bytes) / 2.0;
    struct launch_beside beside;
    struct launch_text full;
    launch_beside_step(s, &c, &launch_megatron, s->arena, &beside);
    assert_true(beside.room.known && beside.room.fits);
    launch_write(&launch_megatron, &c, &beside, s->arena, &full);
    assert_true(full.refused);
    assert_non_null(
        launch_case_note(&full, LAUNCH_REFUSED,
                         "with software.save_norm_input=true, as in the profile, it does not "
                         "fit in memory"));
    c.gpu.hbm.usable_bytes = stated.needed_bytes / 2.0; /* neither does */
    launch_beside_step(s, &c, &launch_megatron, s->arena, &beside);
    launch_write(&launch_megatron, &c, &beside, s->arena, &full);
    assert_false(full.refused);
    assert_true(beside.room.needed_bytes > c.gpu.hbm.usable_bytes);
    assert_non_null(launch_case_note(&full, LAUNCH_YOURS, "it does not fit in memory: stage "));
    scenario_destroy(s);
}

static bool has(const struct launch_text *text, const char *line)
{
    for (uint32_t i = 0; i < text->line_count; i++)
        if (strncmp(text->lines[i] + strspn(text->lines[i], " "), line, strlen(line)) == 0)
            return true;
    return false;
}

/* How each framework is told to save: in the background, waiting, not at all. */
static const struct saving {
    const struct launch_kind *kind;
    const char *behind, *waiting, *any; /* NULL: there is no such option */
} savings[] = {
    {&launch_megatron, "--async-save", NULL, "--save "},
    {&launch_torchtitan, "--checkpoint.async_mode async", "--checkpoint.async_mode disabled",
     "--checkpoint.enable"},
    {&launch_deepspeed, NULL, "--save ", "--save-interval"},
    {&launch_nemo, "checkpoint.async_save=true", "checkpoint.async_save=false",
     "checkpoint.save=\"$CHECKPOINTS\""},
};

static void saves_of(const struct saving *row, struct scenario *s)
{
    struct launch_beside beside = {.saves = {.policy = "p", .every_steps = 7, .step_s = 2.0}};
    const enum launch_saving hows[] = {LAUNCH_SAVES_NOTHING, LAUNCH_SAVES_WAITING,
                                       LAUNCH_SAVES_BEHIND, LAUNCH_SAVES_UNKNOWN};
    for (unsigned i = 0; i < sizeof hows / sizeof hows[0]; i++) {
        struct launch_text text;
        const bool any = hows[i] != LAUNCH_SAVES_NOTHING;
        const bool behind = hows[i] == LAUNCH_SAVES_BEHIND || hows[i] == LAUNCH_SAVES_UNKNOWN;
        beside.saves.how = hows[i];
        beside.saves.every_steps = hows[i] != LAUNCH_SAVES_UNKNOWN && any ? 7 : 0;
        launch_write(row->kind, &s->configuration, &beside, s->arena, &text);
        assert_false(text.refused);
        assert_int_equal(has(&text, row->any), any);
        assert_int_equal(has(&text, "SAVE_EVERY=${SAVE_EVERY:-7}"),
                         any && hows[i] != LAUNCH_SAVES_UNKNOWN);
        assert_int_equal(has(&text, "SAVE_EVERY=${SAVE_EVERY:-50}"),
                         hows[i] == LAUNCH_SAVES_UNKNOWN);
        assert_int_equal(has(&text, "CHECKPOINTS="), any);
        if (row->behind != NULL)
            assert_int_equal(has(&text, row->behind), behind);
        if (row->behind != NULL && row->waiting != NULL && any)
            assert_int_equal(has(&text, row->waiting), !behind);
        assert_int_equal(launch_case_note(&text, LAUNCH_DIFFERS, "waits for each save") != NULL,
                         row->behind == NULL && hows[i] == LAUNCH_SAVES_BEHIND);
        assert_int_equal(launch_case_note(&text, LAUNCH_YOURS, "was not simulated") != NULL,
                         hows[i] == LAUNCH_SAVES_UNKNOWN);
        assert_int_equal(launch_case_note(&text, LAUNCH_YOURS, "nothing is saved") != NULL, !any);
        assert_int_equal(
            launch_case_note(&text, LAUNCH_YOURS,
                             "SAVE_EVERY=7 is 14 s of work in simulated steps of 2 s") != NULL,
            any && hows[i] != LAUNCH_SAVES_UNKNOWN);
    }
}

static void saves_are_those_of_the_weeks(void **state)
{
    for (unsigned i = 0; i < sizeof savings / sizeof savings[0]; i++) {
        struct scenario *s = read_case(savings[i].kind->software, "bf16");
        saves_of(&savings[i], s);
        scenario_destroy(s);
    }
}

/* Megatron-FSDP does not save in the background. */
static void sharded_weights_wait(void **state)
{
    static const struct launch_kind *const kinds[] = {&launch_megatron, &launch_nemo};
    struct scenario *s = read_case("megatron", "bf16");
    struct launch_beside beside = {
        .saves = {.how = LAUNCH_SAVES_BEHIND, .policy = "async", .every_steps = 7, .step_s = 2.0}};
    s->configuration.layout.data.sharding = sharding_find("fsdp");
    s->configuration.layout.pp = 1;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct launch_text text;
        launch_write(kinds[i], &s->configuration, &beside, s->arena, &text);
        assert_false(has(&text, "--async-save") || has(&text, "checkpoint.async_save=true"));
        assert_non_null(launch_case_note(&text, LAUNCH_DIFFERS, "waits for each save"));
    }
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_is_dropped),
        cmocka_unit_test(a_note_has_both_values),
        cmocka_unit_test(what_reading_decides),
        cmocka_unit_test(memory_has_its_figures),
        cmocka_unit_test(saves_are_those_of_the_weeks),
        cmocka_unit_test(sharded_weights_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
