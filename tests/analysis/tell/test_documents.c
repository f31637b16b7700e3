/* Law: what the lines of a document show and what its JSON says are the same numbers. A fact that
 * stands behind a dot is not in the JSON document: where lines show such a number, the document has
 * it under another key, to the last bit, or it is listed here. Ratios and differences that lines
 * work out are of facts, for which the same holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain/trace_simulated.h"
#include "analysis/record/database/store_step.h"
#include "analysis/record/evidence/record_run.h"
#include "analysis/record/numbers/job_record.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_compare.h"
#include "analysis/tell/report/report_explain.h"
#include "analysis/tell/report/report_layouts.h"
#include "analysis/tell/report/report_lesson.h"
#include "analysis/tell/report/report_tasks.h"
#include "analysis/tell/report/report_trace.h"
#include "analysis/tell/report/report_walls.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "scenarios/assemble/scenario.h"
#include "sim/check.h"
#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

/* Numbers of the text that no key of JSON has yet: what a document says later, this loses. */
/* clang-format off */
static const char *const text_alone[] = {
    /* the head of a report: what was asked */
    ".parameters", ".active_parameters", ".rank_count", ".gpus", ".sequence", ".tp", ".pp", ".dp",
    ".global_batch", ".microbatches", ".microbatch", ".nodes", ".peak_flops_per_s", ".step_tokens",
    /* traffic of a step */
    ".op_count", ".busy_s", ".hidden_s", ".use", ".bytes_per_s", ".link_count", ".moved_bytes",
    /* memory */
    ".allocated_bytes", ".nominal_parameters", ".nominal_hbm_bytes", ".bytes", ".most", ".limit",
    /* weeks, and the story of their interruptions */
    ".repair_s", ".step_variants", ".kept_rows", ".count", ".stops", ".lost_s", ".down_s", ".at",
    /* sums, shares and differences that are worked out before they are printed */
    ".sum_s", ".no_compute_s", ".rest_s", ".rest_count", ".figures_more",
    ".better", ".over", ".more", ".share", ".headroom_high_bytes",
    /* walls */
    ".hbm_bytes_per_s", ".balance",
    /* compare */
    ".a_tokens", ".b_tokens",
    /* a trace */
    ".host_s",
};
/* clang-format on */
enum {
    ALONE = sizeof text_alone / sizeof *text_alone,
    NUMBERS_MAX = 1 << 16
};
static bool met[ALONE];

/* All numbers of a document that JSON has, and all that stand aside. */
struct numbers {
    double json[NUMBERS_MAX];
    const struct fact *aside[NUMBERS_MAX];
    unsigned json_count, aside_count;
};

static bool is_number(const struct fact *fact)
{
    return (fact->kind == FACT_REAL && isfinite(fact->value.real)) || fact->kind == FACT_INTEGER;
}

static double number_of(const struct fact *fact)
{
    return fact->kind == FACT_REAL ? fact->value.real : (double)fact->value.integer;
}

static void gather(struct numbers *all, const struct fact *fact, bool aside)
{
    aside = aside || fact->aside;
    CHECK(all->json_count < NUMBERS_MAX && all->aside_count < NUMBERS_MAX);
    if (fact->kind == FACT_OBJECT || fact->kind == FACT_ARRAY)
        for (const struct fact *one = fact->value.of.first; one != NULL; one = one->next)
            gather(all, one, aside);
    else if (is_number(fact) && aside)
        all->aside[all->aside_count++] = fact;
    else if (is_number(fact))
        all->json[all->json_count++] = number_of(fact);
}

/* Do the lines show this key? Conditions alone do not. */
static bool shown(const char *const *lines, const char *key)
{
    const size_t length = strlen(key);
    for (; *lines != NULL; lines++)
        for (const char *at = *lines; (at = strstr(at, key)) != NULL; at += length) {
            const char *begin = at;
            while (*begin != '{' && begin > *lines)
                begin--;
            if (strchr("}:/-<> ", at[length]) != NULL && strncmp(begin, "{if ", 4) != 0 &&
                strncmp(begin, "{each ", 6) != 0)
                return true;
        }
    return false;
}

/* Is this number of the text one of the document, or on the list? */
static bool is_known(const struct numbers *all, const struct fact *fact)
{
    for (unsigned i = 0; i < ALONE; i++)
        if (strcmp(text_alone[i], fact->key) == 0)
            return met[i] = true;
    for (unsigned i = 0; i < all->json_count; i++)
        if (all->json[i] == number_of(fact))
            return true;
    print_message("%s is shown, and no number of the JSON document: %.17g\n", fact->key,
                  number_of(fact));
    return false;
}

static void same_numbers(const struct fact *document, const char *const *lines)
{
    struct numbers *all = calloc(1, sizeof *all);
    CHECK(all != NULL);
    gather(all, document, false);
    unsigned strange = 0;
    for (unsigned i = 0; i < all->aside_count; i++)
        if (shown(lines, all->aside[i]->key))
            strange += !is_known(all, all->aside[i]);
    assert_true(all->json_count > 5 && strange == 0);
    free(all);
}

/* Prints it both ways, too: each name of the lines is in the tree, or it ends the process. */
static void hold(const struct fact *document, const char *const *lines)
{
    FILE *nowhere = fopen("/dev/null", "w");
    const struct session session = {.out = nowhere, .notes = nowhere, .utf8 = true};
    CHECK(nowhere != NULL);
    document_print(document, lines, false, &session);
    document_print(document, lines, true, &session);
    fclose(nowhere);
    same_numbers(document, lines);
}

#define MODEL "model: {layers: 4, hidden: 1024, heads: 8, vocabulary: 8000}\n"
#define CLUSTER "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, fabric: ib-ndr-8x400}\n"
static const char step_text[] = MODEL CLUSTER "training: {sequence: 512, global_batch: 32}\n"
                                              "layout: {tp: 2, pp: 2, sharding: zero-1}\n";
static const char full_text[] =
    "model: {layers: 80, hidden: 8192, heads: 64, vocabulary: 8000}\n" CLUSTER
    "training: {sequence: 4096, global_batch: 32}\n"
    "layout: {tp: 2, pp: 2, sharding: zero-1}\n";
static const char weeks_text[] = MODEL CLUSTER "training: {sequence: 512, global_batch: 32}\n"
                                               "layout: {tp: 2, pp: 2, sharding: zero-1}\n"
                                               "run: {duration: 2d}\n"
                                               "failures: [{cause: card, unit: gpu, mtbf: 200h}]\n"
                                               "checkpoint: {policy: async, interval: 20min}\n"
                                               "recovery: {policy: hot-spare, spares: 1}\n";

struct played {
    struct scenario *scenario;
    struct step *step;
    struct result result;
    struct job_record *job;
    struct record record;
    struct arena *arena;
};

static void play(const char *text, struct played *p)
{
    struct error error = {""};
    const struct step_options options = {.ledger_points = true};
    *p = (struct played){.arena = arena_create()};
    p->scenario = scenario_read("law.yaml", text, strlen(text), NULL, &error);
    assert_non_null(p->scenario);
    if (p->scenario->diagnostics.error_count > 0)
        fail_msg("%s", p->scenario->diagnostics.problems[0].text);
    assert_true(step_run(&p->scenario->configuration, &options, &p->step, &error));
    result_gather(p->scenario, p->step, &p->result);
    if (p->scenario->has_run)
        assert_true(
            job_record_play(p->scenario, false, (struct job_watches){NULL, NULL}, &p->job, &error));
    p->result.job = p->job;
    result_advise(&p->result);
    record_of_run(p->arena, &p->result, true, &p->record);
}

static void end(struct played *p)
{
    job_record_destroy(p->job);
    arena_destroy(p->arena);
    step_destroy(p->step);
    scenario_destroy(p->scenario);
}

static void hold_runs(const char *text)
{
    struct played p;
    struct rule_of_thumb rule;
    play(text, &p);
    for (int all = 0; all < 2; all++)
        hold(report_run(&p.record, &(struct run_told){.result = &p.result, .all = all > 0}),
             report_run_lines);
    rule_of_thumb(&p.scenario->configuration, &rule);
    const uint64_t minimum[] = {0, 3, UINT64_MAX};
    for (unsigned i = 0; i < 3; i++) {
        const struct memory_told told = {.scenario = p.scenario,
                                         .rule = &rule,
                                         .helps = p.result.advice.helps,
                                         .minimum_gpus = minimum[i],
                                         .minimum = &p.scenario->configuration,
                                         .opened_gpus = i,
                                         .held = i * 5,
                                         .limit = 77,
                                         .all = i > 0};
        hold(report_memory(&p.record, &told), report_memory_lines);
    }
    end(&p);
}

static void runs_and_memory(void **state)
{
    hold_runs(step_text);
    hold_runs(full_text);
    hold_runs(weeks_text);
}

static void walls_of_a_job(void **state)
{
    const struct walls_assumed assumed = {.mfu_ratio = 0.4, .bandwidth_bytes_per_s = 1e11};
    struct played p;
    struct walls walls;
    struct error error = {""};
    play(step_text, &p);
    assert_true(walls_gather(p.arena, p.scenario, &assumed, &walls, &error));
    hold(report_walls(p.arena, p.scenario, &walls), report_walls_lines);
    end(&p);
}

static double number_at(const struct fact *object, const char *key)
{
    return number_of(document_find(object, key, strlen(key)));
}

/* What B has more than A, in each row of memory and of the terms. */
static void differences_are_those_of_b_less_a(const struct fact *document)
{
    const struct fact *memory = document_find(document, "memory", strlen("memory"));
    const struct fact *terms = document_find(document, "terms", strlen("terms"));
    for (const struct fact *one = memory->value.of.first; one != NULL; one = one->next)
        assert_true(number_at(one, "difference_bytes") ==
                    number_at(one, "b_bytes") - number_at(one, "a_bytes"));
    if (terms->kind != FACT_ARRAY)
        return;
    for (const struct fact *one = terms->value.of.first; one != NULL; one = one->next) {
        assert_true(number_at(one, "difference_s") ==
                    number_at(one, "b_s") - number_at(one, "a_s"));
        assert_true(number_at(one, "difference_gpu_s_per_1e6_tokens") ==
                    number_at(one, "b_gpu_s_per_1e6_tokens") -
                        number_at(one, "a_gpu_s_per_1e6_tokens"));
    }
}

static void comparisons(void **state)
{
    static const char *const texts[] = {step_text, full_text, weeks_text};
    for (unsigned i = 0; i < 3; i++) {
        struct played a, b;
        struct comparison comparison;
        struct error error = {""};
        play(weeks_text, &a);
        play(texts[i], &b);
        const struct compared_side sides[2] = {{.path = "a", .record = a.record},
                                               {.path = "b", .record = b.record}};
        assert_true(comparison_of(a.arena, sides, &comparison, &error));
        const struct fact *document = report_compare(sides, &comparison);
        differences_are_those_of_b_less_a(document);
        hold(document, report_compare_lines);
        end(&b);
        end(&a);
    }
}

static void explanations(void **state)
{
    char folder[128], path[256];
    struct played p;
    struct store *store;
    struct query *query;
    struct explanation explanation;
    struct error error = {""};
    sample_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/law.db", folder);
    play(step_text, &p);
    CHECK(store_open(path, 0.0, &store, &error) == STORE_GOOD);
    store_step(store, &p.result, &p.record, DETAIL_OP);
    CHECK(store_finish(store, &error) == STORE_GOOD);
    assert_true(query_open(path, &query, &error));
    assert_true(explanation_of(query, path, p.arena, 1, &explanation, &error));
    assert_true(explanation.path.known && explanation.has_elasticities);
    const struct fact *document = report_explain(&explanation);
    const struct fact *path_of = document_find(document, "critical_path", strlen("critical_path"));
    const struct fact *parts = document_find(path_of, "parts", strlen("parts"));
    for (const struct fact *part = parts->value.of.first; part != NULL; part = part->next) {
        const struct fact *wire = document_find(part, "wire", strlen("wire"));
        assert_true(wire->kind == FACT_NULL || *wire->value.word != '\0');
    }
    hold(document, report_explain_lines);
    query_close(query);
    end(&p);
    CHECK(remove(path) == 0);
    sample_remove(folder);
}

/* A step beside itself, one of its kernels slower and one missing. */
static void traces_of_a_profiler(void **state)
{
    struct played p;
    struct trace_span *simulated, *measured;
    struct trace_comparison comparison;
    struct error error = {""};
    play(step_text, &p);
    const uint32_t count = trace_simulated(p.arena, p.step, 1, &simulated);
    assert_true(count > 10);
    measured = ARENA_ARRAY(p.arena, struct trace_span, count);
    memcpy(measured, simulated, count * sizeof *measured);
    measured[3].busy_s *= 2.0;
    const struct trace_span *const spans[TRACE_SIDES] = {measured, simulated};
    const uint32_t counts[TRACE_SIDES] = {count - 1, count};
    assert_true(trace_compare(p.arena, spans, counts, &comparison, &error));
    comparison.times[TRACE_MEASURED].idle_s = comparison.times[TRACE_SIMULATED].idle_s + 1e-9;
    const struct pytorch_step step = {
        .spans = measured, .count = count - 1, .number = 7, .kernels = 300, .host_s = 0.25};
    const struct compared_trace told = {
        .path = "trace",
        .scenario = p.scenario,
        .step = &step,
        .rank = 1,
        .ranks = 16,
        .simulated_step_s = p.step->step_s,
        .unknown = {.ratio = 0.5, .count = 1, .largest = {{"strange", 0.125}}},
    };
    const struct fact *document = report_trace(p.arena, &told, &comparison);
    /* a nanosecond is the rounding of a trace */
    assert_string_equal(document_text(document, "{each .times}{if .name = idle}{.more}{end}{end}"),
                        "0 s");
    hold(document, report_trace_lines);
    end(&p);
}

static void tasks_of_traces(void **state)
{
    struct record record = {.arena = arena_create()};
    struct task_step_row *step = record_add(&record, ROW_task_step, 1);
    *step = (struct task_step_row){.traces = "job",
                                   .machine = "a node",
                                   .announced_words = "",
                                   .digest = "0",
                                   .step_s = 2.0,
                                   .rank_count = 3,
                                   .node_count = 99,
                                   .compute_count = 11,
                                   .by_rates_count = 12,
                                   .untimed_count = 13,
                                   .host_count = 14,
                                   .memory_count = 15,
                                   .collective_count = 16,
                                   .message_count = 17,
                                   .dropped_count = 18,
                                   .event_count = 1234};
    struct task_rank_row *ranks = record_add(&record, ROW_task_rank, 3);
    for (int i = 0; i < 3; i++)
        ranks[i] = (struct task_rank_row){.rank = i,
                                          .compute_s = 0.5 + i,
                                          .memory_s = 0.25,
                                          .exposed_communication_s = 0.3,
                                          .host_s = 0.4,
                                          .wait_s = 0.6,
                                          .done_s = 0.7,
                                          .communicating_s = 0.8};
    struct task_group_row *group = record_add(&record, ROW_task_group, 2);
    group[0] = (struct task_group_row){.name = "short", .rank_count = 2, .moving_s = 0.1};
    group[1] = (struct task_group_row){.name = "all",
                                       .rank_count = 3,
                                       .last_rank = 2,
                                       .meeting_count = 5,
                                       .payload_bytes = 1e9,
                                       .moving_s = 0.9};
    const struct report_tasks_told told = {.name = NULL};
    const struct fact *document = report_tasks(&record, &told, 2);
    assert_string_equal(document_text(document, "{each .ranks}{.rank} {end}"), "2 1 ");
    assert_string_equal(document_text(document, "{each .groups}{.name} {end}"), "all short ");
    hold(document, report_tasks_lines);
    hold(report_tasks(&record, &told, 8), report_tasks_lines);
    arena_destroy(record.arena);
}

static void lessons(void **state)
{
    struct played p;
    play(step_text, &p);
    struct lesson_row *lesson = record_add(&p.record, ROW_lesson, 1);
    *lesson = (struct lesson_row){3, "what it shows", "what to look for", "what comes next"};
    struct lesson_run_row *runs = record_add(&p.record, ROW_lesson_run, 2);
    runs[0] = (struct lesson_run_row){"", "", "", 1, 1.5, 2e3, 0.4, 0.0, 5e9, 0.9};
    runs[1] = (struct lesson_run_row){"other", "a=1", "more", 0, NAN, NAN, NAN, NAN, 7e9, NAN};
    struct question_row *question = record_add(&p.record, ROW_question, 1);
    *question = (struct question_row){"why?", "1 + 1", 2.0, "1", "2", "it is"};
    for (int answers = 0; answers < 2; answers++) {
        const struct fact *document = report_lesson(&p.record, p.scenario, "law", answers > 0);
        /* no run has a bubble: no column of them */
        assert_string_equal(
            document_text(document, "{if .has_mfu}1{end}{if .has_bubble_ratio}2{end}"), "1");
        hold(document, report_lesson_lines);
        hold(document, report_lesson_markdown);
    }
    end(&p);
}

static void layouts(void **state)
{
    const struct plan_layout l = {.tp = 1,
                                  .pp = 2,
                                  .dp = 3,
                                  .cp = 4,
                                  .ep = 5,
                                  .vpp = 6,
                                  .microbatch = 7,
                                  .schedule = &schedule_one_f_one_b,
                                  .sharding = sharding_kinds[0],
                                  .recompute_layers = 8,
                                  .first_stage_layers = 9,
                                  .last_stage_layers = 10};
    struct arena *arena = arena_create();
    struct fact *o = document_begin(arena, "", NULL);
    report_layout_facts(o, &l);
    assert_string_equal(document_text(o, "{tp} {pp} {dp} {cp} {ep} {vpp} {microbatch} "
                                         "{recompute_layers} {first_stage_layers} "
                                         "{last_stage_layers} {.ends} {schedule}"),
                        "1 2 3 4 5 6 7 8 9 10 9+10 1f1b");
    arena_destroy(arena);
}

/* Last of all. */
static void all_of_the_list_is_shown(void **state)
{
    unsigned idle = 0;
    for (unsigned i = 0; i < ALONE; i++)
        if (!met[i]) {
            print_message("%s: no text shows it\n", text_alone[i]);
            idle++;
        }
    assert_int_equal(idle, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_memory),
        cmocka_unit_test(walls_of_a_job),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(explanations),
        cmocka_unit_test(traces_of_a_profiler),
        cmocka_unit_test(tasks_of_traces),
        cmocka_unit_test(lessons),
        cmocka_unit_test(layouts),
        cmocka_unit_test(all_of_the_list_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
