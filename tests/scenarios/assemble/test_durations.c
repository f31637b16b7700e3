/* Every law of durations at every place that takes one: the job runs, and waits about as long as
 * the mean says. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/job/player/job.h"
#include "scenarios/assemble/scenario.h"
#include "sim/units.h"
#include "tests/test.h"

/* Weeks of 16 nodes with two causes, in which every link of the chain takes 0 s; %s: a law. */
static const char *const places[] = {
    "failures[0].detect=%s",        "failures[0].repair=%s",
    "failures[1].detect=%s",        "failures[1].slow_time=%s",
    "recovery.repair=%s",           "recovery.manual_repair=%s",
    "recovery.restart.detect=%s",   "recovery.restart.diagnose=%s",
    "recovery.restart.cordon=%s",   "recovery.restart.allocate=%s",
    "recovery.restart.schedule=%s", "recovery.restart.provision=%s",
    "recovery.restart.start=%s",    "recovery.restart.communicators=%s",
    "recovery.restart.warmup=%s",
};
enum {
    PLACES = sizeof places / sizeof *places
};

static void play(const char *set, struct job_result *out)
{
    static const char text[] =
        "model: {preset: llama3-8b}\n"
        "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 16, fabric: ib-ndr-8x400}\n"
        "training: {sequence: 8192, global_batch: 64}\n"
        "layout: {tp: 8, sharding: zero-1}\n"
        "run: {duration: 60d}\n"
        "failures:\n"
        "  - {cause: stop, unit: node, mtbf: 30d}\n"
        "  - {cause: slow, unit: gpu, mtbf: 500d, effect: slow, slow: 0.5}\n"
        "checkpoint: {policy: sync, interval: 30min}\n"
        "recovery: {policy: cold-spare, spares: 16, escalate: 50%, restart: {detect: 0s, start: "
        "0s,\n"
        "  schedule: 0s, provision: 0s, communicators_per_rank: 0s}}\n";
    const char *sets[] = {set};
    const struct scenario_options how = {.sets = sets, .set_count = 1};
    struct error error = {""};
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), &how, &error);
    struct job_spec job;
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s: %s", set, s->diagnostics.problems[0].text);
    struct condition_table *conditions = condition_create(&s->configuration, &error);
    assert_non_null(conditions);
    scenario_job(s, conditions, NULL, &job);
    job_run(&job, conditions, 3, NULL, out);
    condition_destroy(conditions);
    scenario_destroy(s);
}

static void test_every_law_everywhere(void **state)
{
    for (int law = 0; law < DURATION_LAW_COUNT; law++) {
        const double to = duration_shape_of(law)->to;
        char words[96], shape[32];
        snprintf(shape, sizeof shape, ", shape: %g", to > 0.0 ? fmin(to, 1.2) : 1.2);
        snprintf(words, sizeof words, "{mean: 20min, law: %s%s}", duration_law_names[law],
                 duration_has_shape(law) ? shape : "");
        for (unsigned p = 0; p < PLACES; p++) {
            char set[160];
            struct job_result out;
            snprintf(set, sizeof set, places[p], words);
            play(set, &out);
            assert_true(out.wall_s == 60.0 * DAY && out.interruptions > 20);
            const char *link = strstr(set, "restart.");
            for (unsigned k = 0; link != NULL && k < RESTART_LINK_COUNT; k++) {
                const size_t length = strlen(restart_link_names[k]);
                const bool same = strncmp(link + 8, restart_link_names[k], length) == 0 &&
                                  link[8 + length] == '=';
                const double each_s = out.restart_link_s[k] / (double)out.interruptions;
                if (same && (each_s < 10.0 * MINUTE || each_s > 40.0 * MINUTE))
                    fail_msg("%s: %.0f s each", set, each_s);
            }
        }
    }
}

/* Every law of lives likewise, with the keys that it asks for. */
static void test_every_failure_law(void **state)
{
    for (int law = DURATION_FIXED + 1; law < DURATION_LAW_COUNT; law++) {
        char set[96];
        struct job_result out;
        snprintf(set, sizeof set, "failures[0].law=%s", duration_law_names[law]);
        play(set, &out);
        assert_true(out.interruptions > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_law_everywhere),
        cmocka_unit_test(test_every_failure_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
