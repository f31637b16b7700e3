/* Which version of its framework a row of orrery validate ran: by its features, by those of its
 * peers, by its card. */
#include <stdio.h>
#include <string.h>

#include "analysis/validate/rows/validate_run.h"
#include "tests/test.h"

struct world {
    struct arena *arena;
    struct error error;
};

static struct world begin(void)
{
    return (struct world){.arena = arena_create()};
}

/* None that a newer one had superseded when the card came out; what a scenario takes that names
 * none is the newest of its framework. */
static void test_no_version_is_older_than_the_card(void **state)
{
    struct world w = begin();
    const struct validate_versions *versions = validate_versions_read(w.arena, NULL, &w.error);
    static const struct {
        const char *gpu;
        uint64_t release;
    } cards[] = {{"a100-80gb-sxm", 2021},
                 {"h100-80gb-sxm", 2022},
                 {"h200-141gb-sxm", 2024},
                 {"b200-180gb-sxm", 2024},
                 {"a card of one's own", 2021}};
    assert_non_null(versions);
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        const struct validate_run run = {.gpu = cards[i].gpu,
                                         .software = "megatron",
                                         .attention = "",
                                         .recompute = "",
                                         .precision = "bf16"};
        assert_int_equal(validate_version(versions, &run)->version.year, cards[i].release);
    }
    const struct software_profile *usual = &versions->profiles[versions->count];
    for (unsigned i = 0; i < versions->count; i++)
        if (strcmp(versions->profiles[i].version.framework, usual->version.framework) == 0)
            assert_true(versions->profiles[i].version.year <= usual->version.year);
    arena_destroy(w.arena);
}

static void test_what_a_version_can_do(void **state)
{
    struct world w = begin();
    const struct validate_versions *versions = validate_versions_read(w.arena, NULL, &w.error);
    assert_non_null(versions);
    struct validate_run run = {
        .attention = "math", .software = "megatron", .recompute = "", .precision = "bf16"};
    uint64_t oldest = validate_version(versions, &run)->version.year;
    run.recompute = "selective";
    assert_true(validate_version(versions, &run)->version.year > oldest);
    run.recompute = "full";
    assert_true(validate_version(versions, &run)->version.year == oldest);
    run.layout.sequence_parallel = FLAG_TRUE;
    uint64_t later = validate_version(versions, &run)->version.year;
    run.attention = "flash2";
    uint64_t latest = validate_version(versions, &run)->version.year;
    assert_true(oldest < later && later < latest);
    /* a peer that did it is as good */
    static const struct validate_run_peers peers[] = {
        {false, false, false}, {.selective = true}, {.sequence_parallel = true}, {.fused = true}};
    const uint64_t years[] = {oldest, later, later, latest};
    for (unsigned i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        const struct validate_run beside = {.attention = "math",
                                            .software = "megatron",
                                            .recompute = "full",
                                            .precision = "bf16",
                                            .peers = peers[i]};
        assert_int_equal(validate_version(versions, &beside)->version.year, years[i]);
    }
    run.software = "";
    assert_non_null(validate_version(versions, &run));
    run.software = "megatron-of-nowhere";
    assert_null(validate_version(versions, &run));
    arena_destroy(w.arena);
}

/* Rows of one source, software and month ran one version, that which can do what any of them did.
 */
static void test_one_version_a_source(void **state)
{
    static const char head[] = "row_id,source,software,released,sequence_parallel,recompute,"
                               "attention\n";
    static const struct {
        const char *rows;
        struct validate_run_peers of_first;
    } cases[] = {
        {"a,s,m,2022-05,0,full,math\nb,s,m,2022-05,1,selective,flash2", {true, true, true}},
        {"a,s,m,2022-05,0,full,math\nb,t,m,2022-05,1,selective,flash2", {false, false, false}},
        {"a,s,m,2022-05,0,full,math\nb,s,n,2022-05,1,selective,flash2", {false, false, false}},
        {"a,s,m,2022-05,0,full,math\nb,s,m,2023-05,1,selective,flash2", {false, false, false}},
        {"a,s,m,2022-05,1,full,math\nb,s,m,2022-05,0,none,", {true, false, false}},
        {"a,s,m,2022-05,0,none,\nb,s,m,2022-05,0,selective,math", {false, true, false}},
        {"a,s,m,2022-05,0,none,math\nb,s,m,2022-05,,none,cudnn", {false, false, true}},
        {"a,s,m,2022-05,1,selective,flash2\nb,s,m,2022-05,0,full,math", {true, true, true}},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w = begin();
        struct csv csv;
        char text[512];
        snprintf(text, sizeof text, "%s%s", head, cases[i].rows);
        assert_true(csv_parse(w.arena, "test.csv", arena_text(w.arena, text), strlen(text), &csv,
                              &w.error));
        struct validate_row row = {.id = "a"};
        struct cells cells = {.csv = &csv, .record = 0, .row = &row};
        struct validate_run run;
        validate_run_read(&cells, &run);
        if (memcmp(&run.peers, &cases[i].of_first, sizeof run.peers) != 0)
            fail_msg("case %u", i);
        arena_destroy(w.arena);
    }
}

/* A version for experts alone is that of runs with experts, and supersedes none for other runs, on
 * cards as new as itself. */
static void test_versions_of_experts(void **state)
{
    struct world w = begin();
    const struct validate_versions *versions = validate_versions_read(w.arena, NULL, &w.error);
    static const char *const cards[] = {"h100-80gb-sxm", "b300-288gb-sxm"};
    assert_non_null(versions);
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        struct validate_run run = {.gpu = cards[i],
                                   .software = "fsdp",
                                   .attention = "flash3",
                                   .recompute = "",
                                   .precision = "bf16"};
        assert_false(validate_version(versions, &run)->offers.experts_alone);
        run.model.experts = 8;
        assert_true(validate_version(versions, &run)->offers.experts_alone);
        run.software = "megatron";
        assert_false(validate_version(versions, &run)->offers.experts_alone);
    }
    arena_destroy(w.arena);
}

/* Eager unless the run says otherwise or could not do without: FP8 and asynchronous collectives. */
static void test_eager_or_compiled(void **state)
{
    struct world w = begin();
    const struct validate_versions *versions = validate_versions_read(w.arena, NULL, &w.error);
    const struct validate_run plain = {
        .attention = "", .software = "torchtitan", .recompute = "selective", .precision = "bf16"};
    struct validate_run run = plain;
    assert_int_equal(validate_version(versions, &run)->usual.execution, EXECUTION_EAGER);
    run.says.compile = true;
    assert_int_equal(validate_version(versions, &run)->usual.execution, EXECUTION_COMPILED);
    run = plain;
    run.precision = "fp8";
    assert_int_equal(validate_version(versions, &run)->usual.execution, EXECUTION_COMPILED);
    run.says.eager = true;
    assert_int_equal(validate_version(versions, &run)->usual.execution, EXECUTION_EAGER);
    run = plain;
    run.says.async = true;
    assert_int_equal(validate_version(versions, &run)->usual.execution, EXECUTION_COMPILED);
    /* The words of its source choose where no framework is named, and nowhere else. */
    run = plain;
    run.software = "megatron";
    run.says.native = true;
    assert_string_equal(software_framework(validate_version(versions, &run)), "megatron");
    run.says.undated = true;
    const struct software_profile *native = validate_version(versions, &run);
    assert_true(native->offers.native);
    run.says.native = false;
    assert_ptr_not_equal(validate_version(versions, &run), native);
    arena_destroy(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_version_is_older_than_the_card),
        cmocka_unit_test(test_what_a_version_can_do),
        cmocka_unit_test(test_one_version_a_source),
        cmocka_unit_test(test_versions_of_experts),
        cmocka_unit_test(test_eager_or_compiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
