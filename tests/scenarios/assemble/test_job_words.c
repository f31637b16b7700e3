/* Weeks of training at the door, at their boundaries: what is just allowed, what is just refused,
 * and in which words. Each case replaces one line of a sound scenario. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/units.h"
#include "tests/scenarios/assemble/weeks.h"
#include "tests/test.h"

#define CASES(rows) weeks_cases(rows, sizeof rows / sizeof rows[0])

static void test_runs(void **state)
{
    static const struct weeks_case rows[] = {
        {WEEKS_RUN, "run: {duration: 54d, maintenance: 6h}",
         "5:1: run.maintenance_every must be given with maintenance, as in 30d\n"},
        {WEEKS_RUN, "run: {duration: 54d, maintenance_every: 2h, maintenance: 2h}",
         "5:58: run.maintenance: is as long as the time between two of them; shorten it\n"},
        {WEEKS_RUN, "run: {duration: 54d, maintenance_every: 2h, maintenance: 119min}", ""},
        {WEEKS_RUN, "run: {duration: 999999s, maintenance_every: 1s, maintenance: 1ms}", ""},
        {WEEKS_RUN, "run: {duration: 1000000s, maintenance_every: 1s, maintenance: 1ms}",
         "5:46: run.maintenance_every: a million times in run.duration; is its unit right?\n"},
        {WEEKS_RUN, "run: {steps: 5}", ""},
        {WEEKS_RUN, "run: {work: 5h}", ""},
        {WEEKS_RUN, "run: 54d", "5:6: run takes keys with values, not a word\n"},
    };
    CASES(rows);
}

static void test_recoveries(void **state)
{
    static const struct weeks_case rows[] = {
        {WEEKS_RECOVERY, "recovery: {policy: hot-spare, spares: 4}", ""},
        {WEEKS_RECOVERY, "recovery: {policy: restart-in-place, spares: 0}", ""},
        {WEEKS_RECOVERY, "recovery: {policy: elastic-shrink, replicas_min: 2}", ""},
        {WEEKS_RECOVERY, "recovery: hot-spare",
         "9:11: recovery takes keys with values, not a word\n"},
        {WEEKS_RECOVERY, "recovery: {restart: 5min}",
         "9:21: recovery.restart takes keys with values, not a word\n"},
        {WEEKS_RECOVERY, "recovery: {restart: {detect: [5min]}}",
         "9:30: recovery.restart.detect takes keys with values, not a list\n"},
    };
    CASES(rows);
}

static void test_checkpoints(void **state)
{
    static const struct weeks_case rows[] = {
        {WEEKS_CHECKPOINT, "checkpoint: sync",
         "7:13: checkpoint takes keys with values, not a word\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: none, interval: 30min}",
         "~7:38: checkpoint: none saves nothing; the interval has no effect\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: none, interval_steps: 5}",
         "~7:44: checkpoint: none saves nothing; the interval has no effect\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: none, interval: optimal}", ""},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: none}", ""},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: none, storage: disk}",
         "7:37: checkpoint.storage: none takes 0 to 0 tiers joined by '+', as in 'auto', not 1\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: host}",
         "7:44: checkpoint.storage: multi-level takes 2 to 4 tiers joined by '+', as in "
         "'host+nvme+pfs', not 1\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: async, storage: host+peer+nvme+disk}",
         "7:38: checkpoint.storage: async takes 1 to 3 tiers joined by '+', as in 'host+pfs', not "
         "4\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: peer-memory, storage: host+peer+nvme+disk}",
         "7:44: checkpoint.storage: peer-memory takes 1 to 3 tiers joined by '+', as in "
         "'host+peer+pfs', not 4\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: every-step, storage: host+peer+nvme+disk}",
         "7:43: checkpoint.storage: every-step takes 1 to 3 tiers joined by '+', as in "
         "'host+peer+pfs', not 4\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: host+nvme}", ""},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: host+peer+nvme+disk}", ""},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: host+disk, keep: 40}", ""},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: peer+disk, keep: 40}", ""},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: host+peer, keep: 40}",
         "7:44: checkpoint.storage: host and peer must each hold 40 checkpoints and the one being "
         "written, 2.3e+03 GB in a node's memory of 2e+03 GB: keep at most 34, spread the state "
         "over more nodes, or keep it elsewhere\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: host+peer+nvme+disk+pfs}",
         "7:44: checkpoint.storage: more than 4 tiers\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: host+disk+host}",
         "7:44: checkpoint.storage: 'host' stands twice\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: disk+host+host}",
         "7:44: checkpoint.storage: 'host' stands twice\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: host+host}",
         "7:44: checkpoint.storage: 'host' stands twice\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: sync, storage: host+peer+nvme+disk+pfs}",
         "7:37: checkpoint.storage: more than 4 tiers\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: host+hos}",
         "7:44: checkpoint.storage: unknown storage tier 'hos'; did you mean 'host'?\n"},
        {WEEKS_CHECKPOINT, "checkpoint: {policy: multi-level, storage: hos+dsk}",
         "7:44: checkpoint.storage: unknown storage tier 'hos'; did you mean 'host'?\n"},
    };
    CASES(rows);
}

/* What is said of 54 days of a job that saves each `each_s`; "": nothing. */
static void taint_is(const struct scenario *s, double each_s, const char *wanted)
{
    struct arena *arena = arena_create();
    struct job_anew anew;
    assert_int_equal(s->diagnostics.problem_count, 0);
    struct job_spec job = s->job; /* storage that outlives all */
    job.checkpoint.plan = (struct checkpoint_plan){
        .levels = {{.survival = SURVIVES_DOMAIN, .every = 1}}, .level_count = 1};
    const bool anew_told = job_starts_anew(&job, each_s, job.duration_s, &anew);
    assert_string_equal(anew_told ? scenario_anew_sentence(arena, &job, &anew) : "", wanted);
    arena_destroy(arena);
}

/* Two checkpoints 30 min apart reach back from 30 min to an hour. Only what is silently wrong
 * taints; the worst cause is told. Of 32 GPUs 54 d / 5 y x 32 = .9461 corruptions are expected, of
 * which one that is found after a fixed 39 min is found too late in 9 of 30 cases. */
static void test_taint(void **state)
{
#define BITS "effect: corrupt, detect: "
#define TOLD(name, after, ratio, times, keep)                                                      \
    "'" name "', which is found after " after " in the mean, has tainted all 2 kept checkpoints "  \
    "by then in " ratio " % of cases: the job starts anew, " times " times in this run by the "    \
    "rates; keep " keep " or more"
    static const struct {
        enum weeks_line line;
        const char *text, *told;
    } rows[] = {
        {WEEKS_FAILURES, "failures: [{cause: a, mtbf: 5y, " BITS "61min}]",
         TOLD("a", "1.01667h", "100", "0.95", "3")},
        {WEEKS_FAILURES, "failures: [{cause: a, mtbf: 5y, " BITS "39min}]",
         TOLD("a", "39min", "29.7", "0.28", "3")},
        {WEEKS_FAILURES, "failures: [{cause: a, mtbf: 50y, " BITS "39min}]", ""}, /* .028 times */
        {WEEKS_FAILURES, "failures: [{cause: a, mtbf: 5y, " BITS "30min}]", ""},
        {WEEKS_FAILURES, "failures: [{cause: a, mtbf: 5y, " BITS "90min}]",
         TOLD("a", "1.5h", "100", "0.95", "4")},
        {WEEKS_FAILURES, "failures: [{cause: a, mtbf: 5y, " BITS "99min}]",
         TOLD("a", "1.65h", "100", "0.95", "5")},
        {WEEKS_FAILURES,
         "failures: [{cause: a, mtbf: 5y, detect: 3h}, {cause: b, mtbf: 5y, " BITS "1min}, "
         "{cause: c, mtbf: 5y, " BITS "2h}, {cause: d, mtbf: 4y, " BITS "3h}]",
         TOLD("d", "3h", "100", "2.1", "7")},
        /* e^(-1 h / 45 min) x 1.422 for where the last save lay; .9461 x that at 2.5 h: .048. */
        {WEEKS_FAILURES,
         "failures: [{cause: a, mtbf: 5y, " BITS "{mean: 45min, law: exponential}}]",
         TOLD("a", "45min", "37.5", "0.35", "5")},
        {WEEKS_FAILURES, "failures: [{cause: a, mtbf: 5y, detect: 3h}]", ""},
        {WEEKS_FAILURES, "failures: [{cause: a, mtbf: 5y, effect: corrupt}]", ""}, /* 10 min */
        {WEEKS_RECOVERY, "recovery: {restart: {detect: 2h}}", ""}, /* of a cause that stops */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scenario *scenario = weeks_read(rows[i].line, rows[i].text);
        taint_is(scenario, 30.0 * MINUTE, rows[i].told);
        scenario_destroy(scenario);
    }
}

/* Found at once is not left to the chain, which takes 10 min: as long as two checkpoints reach. */
static void test_found_at_once(void **state)
{
    static const char *const causes[] = {
        "failures: [{cause: a, mtbf: 5y, effect: corrupt}]",
        "failures: [{cause: a, mtbf: 5y, effect: corrupt, detect: 0s}]"};
    for (unsigned at_once = 0; at_once < 2; at_once++) {
        struct scenario *scenario = weeks_read(WEEKS_FAILURES, causes[at_once]);
        taint_is(scenario, 5.0 * MINUTE, at_once ? "" : TOLD("a", "10min", "100", "0.95", "3"));
        scenario_destroy(scenario);
    }
}

/* In words of one copy, and of several that cannot be read. */
static void test_unreadable(void **state)
{
#define UNREAD(kept, ratio, times, keep)                                                           \
    "a copy cannot be read back with probability 0.1 (checkpoint.corrupt), which leaves no "       \
    "readable copy of " kept " in " ratio " % of recoveries: the job starts anew, " times          \
    " times in this run by the rates; "                                                            \
    "keep " keep " or more"
    struct scenario *scenario = weeks_read(WEEKS_CHECKPOINT, "checkpoint: {policy: sync}");
    struct job_spec *job = &scenario->job;
    struct arena *arena = arena_create();
    const struct job_anew one = {.ratio = 0.1, .times = 1.5, .keep = 2.0},
                          two = {.ratio = 0.01, .times = 0.15, .keep = 3.0};
    job->checkpoint.corrupt_ratio = 0.1;
    job->checkpoint.keep = 1;
    assert_string_equal(scenario_anew_sentence(arena, job, &one),
                        UNREAD("the 1 kept checkpoint", "10", "1.5", "2"));
    job->checkpoint.keep = 2;
    assert_string_equal(scenario_anew_sentence(arena, job, &two),
                        UNREAD("all 2 kept checkpoints", "1", "0.15", "3"));
    arena_destroy(arena);
    scenario_destroy(scenario);
}

/* Each tier is held against the cluster: of four nodes no rank has four others. */
static void test_tiers_that_cannot_be(void **state)
{
#define PEERS "memory: true, survival: node, path: nic, copies: "
#define LACKS(name)                                                                                \
    "7:53: checkpoint.storage: " name " keeps 4 copies on other nodes, but the cluster has 4 "     \
    "nodes in all\n"
    static const struct {
        const char *tiers, *problems;
    } rows[] = {
        {"storage: [{name: a, " PEERS "4}, {name: b, " PEERS "3}]", LACKS("a")},
        {"storage: [{name: a, " PEERS "3}, {name: b, " PEERS "4}]", LACKS("b")},
        {"storage: [{name: a, " PEERS "4}, {name: b, " PEERS "4}]", LACKS("a") LACKS("b")},
        {"storage: [{name: a, " PEERS "3}, {name: b, " PEERS "3}]", ""},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *scenario = weeks_read_both(
            WEEKS_CHECKPOINT, "checkpoint: {keep: 2, policy: multi-level, storage: a+b}",
            WEEKS_STORAGE, rows[i].tiers);
        weeks_problems_are(scenario, rows[i].problems);
        scenario_destroy(scenario);
    }
}

/* A NIC fails where there are NICs, one or many; without them the words say so. */
static void test_nics(void **state)
{
    static const struct {
        unsigned nics;
        const char *unit, *problems;
    } rows[] = {
        {0, "nic", "5:41: failures[0].unit: the nodes of this cluster have no NICs\n"},
        {0, "node", ""},
        {1, "nic", ""},
        {1, "gpu", ""},
        {8, "nic", ""},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: {preset: llama3-8b}\ntraining: {sequence: 8192, global_batch: 64}\n"
                 "cluster: {gpu: h100-80gb-sxm, node: {name: dgx-h100, nics: %u}, nodes: 1}\n"
                 "run: {duration: 54d}\nfailures: [{cause: sun, mtbf: 5y, unit: %s}]\n"
                 "layout: {tp: 8}\ncheckpoint: {policy: none}\n",
                 rows[i].nics, rows[i].unit);
        struct scenario *scenario = weeks_read_text(text);
        weeks_problems_are(scenario, rows[i].problems);
        scenario_destroy(scenario);
    }
}

static void test_tiers(void **state)
{
    static const struct weeks_case rows[] = {
        {WEEKS_STORAGE, "storage: [{name: disk}, {name: \"a+b\"}]",
         "8:32: storage[1].name: a tier's name is one word without '+'\n"},
        {WEEKS_STORAGE, "storage: [{name: disk}, {name: \"a b\"}]",
         "8:32: storage[1].name: a tier's name is one word without '+'\n"},
        {WEEKS_STORAGE, "storage: [{name: disk}, {name: \"\"}]",
         "8:32: storage[1].name: a tier's name is one word without '+'\n"},
        {WEEKS_STORAGE, "storage: [{name: disk}, 5]",
         "8:25: storage[1] takes keys with values, not a word\n"},
        {WEEKS_STORAGE, "storage: [5, {name: disk}]",
         "8:11: storage[0] takes keys with values, not a word\n"},
        {WEEKS_STORAGE, "storage: [{name: disk}, {latency: 1s}]",
         "8:25: storage[1].name must be given: A storage tier of the catalogue, overridden by the "
         "keys below, or a new one.\n"},
        {WEEKS_STORAGE, "storage: [{name: aaaa}, {name: bbbb}, {name: disq}]",
         "7:54: checkpoint.storage: unknown storage tier 'disk'; did you mean 'disq'?\n"},
        {WEEKS_STORAGE, "storage: [{name: dist}]",
         "7:54: checkpoint.storage: unknown storage tier 'disk'; did you mean 'dist'?\n"},
    };
    CASES(rows);
}

static void test_laws_and_units(void **state)
{
#define CAUSE(more) "failures: [{cause: x, mtbf: 5y, " more "}]"
#define NEEDS_DOMAIN                                                                               \
    "6:12: failures[0].domain_nodes must be given: the nodes that share a domain, as in 32\n"
#define NO_LEMON "failures[0].unit: lemons are nodes, so that a gpu, a nic or a node fails\n"
#define NO_DRAG "failures[0].unit: a gpu, a nic or a node drags another along\n"
#define NO_SLOW "failures[0].unit: a gpu, a nic or a node can be slow\n"
    static const struct weeks_case rows[] = {
        {WEEKS_FAILURES, CAUSE("unit: domain, domain_nodes: 2"), ""},
        {WEEKS_FAILURES, CAUSE("unit: node, cascade: 10%"), NEEDS_DOMAIN},
        {WEEKS_FAILURES, CAUSE("unit: gpu, cascade: 10%, domain_nodes: 2"), ""},
        {WEEKS_FAILURES, CAUSE("unit: nic, cascade: 10%, domain_nodes: 2"), ""},
        {WEEKS_FAILURES, CAUSE("unit: node, cascade: 10%, domain_nodes: 2"), ""},
        {WEEKS_FAILURES, CAUSE("unit: job, cascade: 10%, domain_nodes: 2"), "6:39: " NO_DRAG},
        {WEEKS_FAILURES, CAUSE("unit: gpu, law: lemon"), ""},
        {WEEKS_FAILURES, CAUSE("unit: nic, law: lemon"), ""},
        {WEEKS_FAILURES, CAUSE("unit: node, law: lemon"), ""},
        {WEEKS_FAILURES, CAUSE("unit: domain, law: lemon, domain_nodes: 2"), "6:39: " NO_LEMON},
        {WEEKS_FAILURES, CAUSE("unit: domain, law: shock, domain_nodes: 2"), ""},
        {WEEKS_FAILURES, CAUSE("unit: node, law: shock, domain_nodes: 2"),
         "6:50: failures[0].law: a blow strikes a domain: give `unit: domain` and domain_nodes\n"},
        {WEEKS_FAILURES, CAUSE("effect: slow, slow: 0.5, unit: node"), ""},
        {WEEKS_FAILURES, CAUSE("effect: slow, slow: 0.5, unit: nic"), ""},
        {WEEKS_FAILURES, CAUSE("effect: slow, slow: 0.5, unit: job"), "6:64: " NO_SLOW},
        {WEEKS_FAILURES, CAUSE("effect: slow, slow: 0.5, unit: domain, domain_nodes: 2"),
         "6:64: " NO_SLOW},
        {WEEKS_FAILURES, CAUSE("effect: corrupt, slow: 0.5"),
         "6:56: failures[0].slow: only with `effect: slow`\n"},
        {WEEKS_FAILURES, "failures: [5]", "6:12: failures[0] takes keys with values, not a word\n"},
        {WEEKS_FAILURES, "failures: [{cause: a, mtbf: 5y}, 5]",
         "6:34: failures[1] takes keys with values, not a word\n"},
        {WEEKS_FAILURES,
         "failures: [{cause: a, mtbf: 5y}, {cause: b, mtbf: 5y}, {cause: a, mtbf: 5y}]",
         "6:64: failures: the cause 'a' stands twice; give each its own name\n"},
        {WEEKS_FAILURES,
         "failures: [{cause: a, mtbf: 5y}, {cause: b, mtbf: 5y}, {cause: b, mtbf: 5y}]",
         "6:64: failures: the cause 'b' stands twice; give each its own name\n"},
        {WEEKS_FAILURES, "failures: []", ""},
    };
    CASES(rows);
}

/* A trace is what happened: nothing of a law goes with it, neither together nor alone. */
static void test_traces_without_laws(void **state)
{
#define NO_LAW                                                                                     \
    "6:28: failures[0].law: a trace is what happened; remove early, early_factor, cascade\n"
#define TRACED(more) "failures: [{cause: x, law: trace, trace: x.csv, " more "}]"
    static const struct weeks_case rows[] = {
        {WEEKS_FAILURES, TRACED("early: 1d"), NO_LAW},
        {WEEKS_FAILURES, TRACED("early_factor: 2"), NO_LAW},
        {WEEKS_FAILURES, TRACED("early_factor: 0.5"), NO_LAW},
        {WEEKS_FAILURES, TRACED("cascade: 1%, domain_nodes: 2"), NO_LAW},
    };
    CASES(rows);
}

static void test_fleets(void **state)
{
    static const struct weeks_case rows[] = {
        {WEEKS_FAILURES, "failures: [{preset: rsc-1}]", ""},
        {WEEKS_FAILURES, "failures: [{preset: [rsc-1]}]",
         "6:21: failures[0].preset takes one value, not a list\n"},
        {WEEKS_FAILURES, "failures: [{unit: gpu, preset: rsc-1, mtbf: 3y}]",
         "6:13: failures[0]: 'unit' cannot stand beside 'preset'; write the causes out to change "
         "one\n6:39: failures[0]: 'mtbf' cannot stand beside 'preset'; write the causes out to "
         "change one\n"},
    };
    CASES(rows);
    struct scenario *scenario =
        weeks_read(WEEKS_FAILURES, "failures: [{preset: rsc-1}, {cause: own, mtbf: 3y}]");
    weeks_problems_are(scenario, "");
    const struct job_spec *job = &scenario->job;
    assert_true(job->cause_count >= 2);
    assert_string_equal(job->causes[job->cause_count - 1].name, "own");
    scenario_destroy(scenario);
}

/* At most 4,096 causes; one more is refused where it stands, on its own line. */
static void test_too_many_causes(void **state)
{
    enum {
        MOST = 4096
    };
    size_t size = 64 * (MOST + 1) + 1024;
    char *text = malloc(size);
    for (unsigned count = MOST; count <= MOST + 1; count++) {
        size_t at = (size_t)snprintf(
            text, size,
            "model: {preset: llama3-8b}\ntraining: {sequence: 8192, global_batch: 64}\n"
            "cluster: {gpu: h100-80gb-sxm, nodes: 4, fabric: ib-ndr-8x400}\n"
            "run: {duration: 54d}\nfailures:\n");
        for (unsigned i = 0; i < count; i++)
            at += (size_t)snprintf(text + at, size - at, "- {cause: c%u, mtbf: 100000y}\n", i);
        struct scenario *scenario = weeks_read_text(text);
        weeks_problems_are(scenario,
                           count > MOST ? "4102:3: failures: more than 4096 causes\n" : "");
        assert_int_equal(scenario->job.cause_count, MOST);
        assert_string_equal(scenario->job.causes[MOST - 1].name, "c4095");
        scenario_destroy(scenario);
    }
    free(text);
}

/* A shape for each law that has one, up to where the mean is still drawn. */
static void test_durations(void **state)
{
#define REPAIR(words) "recovery: {repair: {mean: 2h, " words "}}"
#define SHAPELESS(law, means)                                                                      \
    "9:36: recovery.repair.shape must be given with law " law ": " means "\n"
    static const struct weeks_case rows[] = {
        {WEEKS_RECOVERY, REPAIR("law: lognormal, shape: 5"), ""},
        {WEEKS_RECOVERY, REPAIR("law: weibull, shape: 0.1"), ""},
        {WEEKS_RECOVERY, REPAIR("law: weibull, shape: 50"), ""},
        {WEEKS_RECOVERY, REPAIR("law: gamma, shape: 50"), ""},
        {WEEKS_RECOVERY, REPAIR("law: gamma, shape: 0.05"), ""},
        {WEEKS_RECOVERY, REPAIR("law: exponential"), ""},
        {WEEKS_RECOVERY, REPAIR("law: fixed"), ""},
        {WEEKS_RECOVERY, REPAIR("law: weibull"),
         SHAPELESS("weibull", "exponent k, 1: exponential")},
        {WEEKS_RECOVERY, REPAIR("law: lognormal"),
         SHAPELESS("lognormal", "standard deviation of the logarithm")},
        {WEEKS_RECOVERY, REPAIR("law: gamma"),
         SHAPELESS("gamma", "exponent k, 1: exponential, above: that many stages in sequence")},
        {WEEKS_RECOVERY, REPAIR("law: exponential, shape: 2"),
         "9:56: recovery.repair.shape: the law exponential has none; remove it, or choose another "
         "law\n"},
        {WEEKS_RECOVERY, "recovery: {repair: }", ""},
    };
    CASES(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_recoveries),
        cmocka_unit_test(test_checkpoints),
        cmocka_unit_test(test_taint),
        cmocka_unit_test(test_found_at_once),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_tiers_that_cannot_be),
        cmocka_unit_test(test_nics),
        cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_laws_and_units),
        cmocka_unit_test(test_traces_without_laws),
        cmocka_unit_test(test_fleets),
        cmocka_unit_test(test_too_many_causes),
        cmocka_unit_test(test_durations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
