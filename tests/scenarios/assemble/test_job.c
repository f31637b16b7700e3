/* Weeks of training at the door: what a scenario says arrives in the job, and every wrong word gets
 * its message at its place. Each bad case replaces one line of a sound scenario. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/schema/schema.h"
#include "sim/units.h"
#include "tests/scenarios/assemble/weeks.h"
#include "tests/test.h"

#define TIMES "ns, us, ms, s, min, h, d, y"

static void test_sound(void **state)
{
    struct scenario *scenario = weeks_read(WEEKS_LINE_COUNT, "");
    const struct job_spec *job = &scenario->job;
    weeks_problems_are(scenario, "");
    assert_true(scenario->has_run);
    assert_true(job->duration_s == 54.0 * DAY);
    assert_int_equal(job->steps, 0);
    assert_int_equal(job->nodes, 4);
    assert_int_equal(job->gpus_per_node, 8);
    assert_int_equal(job->nics_per_node, 8);
    assert_int_equal(job->replicas, 2);
    assert_int_equal(job->ranks, 32);
    assert_true(job->tokens_per_step == 8192.0 * 64.0);
    assert_int_equal(job->cause_count, 1);
    assert_string_equal(job->causes[0].name, "gpu");
    assert_true(job->causes[0].detect.mean_s < 0.0 && job->causes[0].repair.mean_s < 0.0);
    assert_true(job->checkpoint.interval_s == 30.0 * MINUTE);
    assert_true(job->checkpoint.bytes_per_parameter == 14.0);
    assert_true(fabs(job->checkpoint.job_mtbf_s - 5.8 * YEAR / 32.0) < 1.0);
    assert_int_equal(scenario->storage.tier_count, 1);
    assert_true(scenario->storage.stall_s < 0.0);
    assert_int_equal(job->recovery.spares, 2);
    assert_true(job->recovery.repair.mean_s == DAY);
    scenario_destroy(scenario);
}

static void test_values_arrive(void **state)
{
    struct scenario *scenario =
        weeks_read(WEEKS_RECOVERY,
                   "recovery: {policy: elastic-shrink, replicas_min: 2, retire_after: 3, crews: 1, "
                   "repair: {mean: 2h, law: lognormal, shape: 2.2}, restart: {detect: 90s, "
                   "communicators: {mean: 10s, sheltered: true}, communicators_per_rank: 1ms}}");
    const struct recovery_spec *recovery = &scenario->job.recovery;
    weeks_problems_are(scenario, "");
    assert_string_equal(recovery->kind->head.name, "elastic-shrink");
    assert_int_equal(recovery->replicas_min, 2);
    assert_int_equal(recovery->retire_after, 3);
    assert_int_equal(recovery->crews, 1);
    assert_true(recovery->repair.law == DURATION_LOGNORMAL && recovery->repair.shape == 2.2);
    assert_true(recovery->restart.links[LINK_DETECT].mean_s == 90.0);
    assert_false(recovery->restart.sheltered[LINK_DETECT]);
    assert_true(recovery->restart.sheltered[LINK_COMMUNICATORS]);
    assert_true(recovery->restart.communicators_per_rank_s == MILLISECOND);
    scenario_destroy(scenario);
    scenario =
        weeks_read(WEEKS_FAILURES, "failures: [{cause: hot, unit: node, law: weibull, shape: 0.7, "
                                   "mtbf: 90d, effect: slow, slow: 60%, slow_time: 1h, "
                                   "initial_age: new, detect: 5min, in_place: 25%}]");
    const struct failure_cause *cause = &scenario->job.causes[0];
    weeks_problems_are(scenario, "");
    assert_true(cause->effect == EFFECT_SLOW && cause->unit == UNIT_NODE && cause->new_units);
    assert_true(cause->slow_ratio == 0.6 && cause->in_place_ratio == 0.25);
    assert_true(cause->slow_time.mean_s == HOUR && cause->detect.mean_s == 5.0 * MINUTE);
    scenario_destroy(scenario);
    scenario =
        weeks_read(WEEKS_TRAINING, "training: {sequence: 8192, global_batch: 64, tokens: 1B}");
    assert_int_equal(scenario->job.steps, 1908); /* 1e9 / 524288, rounded up */
    scenario_destroy(scenario);
    scenario =
        weeks_read(WEEKS_CHECKPOINT, "checkpoint: {stall: 0s, load: 2min, interval: optimal, "
                                     "storage: host+disk}");
    weeks_problems_are(scenario, "");
    assert_true(scenario->job.checkpoint.interval_s == 0.0);
    assert_true(scenario->storage.stall_s == 0.0 && scenario->storage.load_s == 120.0);
    assert_true(scenario->storage.persist_s < 0.0);
    assert_int_equal(scenario->storage.tier_count, 2);
    scenario_destroy(scenario);
}

/* The sections of the restart chain are its links, in order. */
static void test_links_have_sections(void **state)
{
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++)
        assert_string_equal(schema_key(schema_section(SECTION_RESTART_LINKS + i)),
                            restart_link_names[i]);
}

static const struct weeks_case bad[] = {
    /* run */
    {WEEKS_RUN, "run: {}",
     "5:1: run.duration must be given, as in 54d, or run.steps, or training.tokens: when does the "
     "run end?\n"},
    {WEEKS_RUN, "run: {duration: 54}",
     "5:17: run.duration: '54' has no unit; write one of " TIMES "\n"},
    {WEEKS_RUN, "run: {steps: 0}",
     "5:14: run.steps: 0 is out of range; it goes from 1 to 1000000000000\n"},
    {WEEKS_RUN, "run: {work: 54d, steps: 5}",
     "5:13: run.work: 'steps' is given too; keep one of them\n"},
    {WEEKS_RUN, "run: {duration: 54d, strike: never}",
     "5:30: run.strike: unknown choice 'never'; known: always, running, working\n"},
    {WEEKS_RUN, "run: {duration: 54d, maintenance_every: 30d}",
     "5:1: run.maintenance must be given with maintenance_every, as in 6h\n"},
    {WEEKS_RUN, "run: {duration: 54d, maintenance_every: 1h, maintenance: 2h}",
     "5:58: run.maintenance: is as long as the time between two of them; shorten it\n"},
    {WEEKS_RUN, "run: {duration: 54d, maintenance_every: 1s, maintenance: 1ms}",
     "5:41: run.maintenance_every: a million times in run.duration; is its unit right?\n"},
    {WEEKS_RUN, "run: {duraton: 54d}",
     "5:1: run.duration must be given, as in 54d, or run.steps, or training.tokens: when does the "
     "run end?\n5:7: unknown key 'duraton' in run; did you mean 'duration'?\n"},
    {WEEKS_RUN, "",
     "~6:1: failures has no effect on a single step; add `run: {duration: 54d}`\n"
     "~7:1: checkpoint has no effect on a single step; add `run: {duration: 54d}`\n"
     "~8:1: storage has no effect on a single step; add `run: {duration: 54d}`\n"
     "~9:1: recovery has no effect on a single step; add `run: {duration: 54d}`\n"},
    /* failures */
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5.8}]",
     "6:31: failures[0].mtbf: '5.8' has no unit; write one of " TIMES "\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu}]",
     "6:12: failures[0].mtbf must be given: the mean time between failures of one unit, as in "
     "5.8y\n"},
    {WEEKS_FAILURES, "failures: [{mtbf: 5y}]",
     "6:12: failures[0].cause must be given: Any unique name for the cause. Its random draws "
     "depend on the seed and on this name.\n"},
    {WEEKS_FAILURES, "failures: {cause: gpu, mtbf: 5y}",
     "6:11: failures takes a list, not a mapping\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5y}, {cause: gpu, mtbf: 3y}]",
     "6:44: failures: the cause 'gpu' stands twice; give each its own name\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5y, law: weibul}]",
     "6:40: failures.law: unknown failure law 'weibul'; did you mean 'weibull'?\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5y, law: weibull, shape: 0.01}]",
     "6:56: failures[0].shape: 0.01 is out of range; it goes from 0.1 to 10\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5y, shape: 0.7}]",
     "6:35: unknown key 'shape' in failures[0]; it goes with law: weibull, lognormal, gamma\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5y, unit: rack}]",
     "6:41: failures[0].unit: unknown choice 'rack'; known: gpu, nic, node, domain, job\n"},
    {WEEKS_FAILURES, "failures: [{cause: pdu, mtbf: 5y, unit: domain}]",
     "6:12: failures[0].domain_nodes must be given: the nodes that share a domain, as in 32\n"},
    {WEEKS_FAILURES, "failures: [{cause: hot, mtbf: 5y, effect: slow}]",
     "6:12: failures[0].slow must be given with effect slow: the speed that is left\n"},
    {WEEKS_FAILURES, "failures: [{cause: hot, mtbf: 5y, slow: 50%}]",
     "6:41: failures[0].slow: only with `effect: slow`\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5y, repair: {law: gamma}}]",
     "6:49: failures[0].repair.shape must be given with law gamma: exponent k, "
     "1: exponential, above: that many stages in sequence\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5y, repair: {mean: 2h, shape: 1}}]",
     "6:61: failures[0].repair.shape: the law fixed has none; remove it, or choose another law\n"},
    {WEEKS_FAILURES,
     "failures: [{cause: gpu, mtbf: 5y, repair: {mean: 2h, law: gamma, shape: 1000}}]",
     "6:73: failures[0].repair.shape: 1000 is out of range; it goes from 0.05 to 50\n"},
    {WEEKS_FAILURES,
     "failures: [{cause: gpu, mtbf: 5y, repair: {mean: 2h, law: lognormal, shape: 5.1}}]",
     "6:77: failures[0].repair.shape: with law lognormal it goes up to 5; beyond, nearly every "
     "draw is 0\n"},
    {WEEKS_FAILURES,
     "failures: [{cause: gpu, mtbf: 5y, repair: {mean: 2h, law: weibull, shape: 0.09}}]",
     "6:75: failures[0].repair.shape: with law weibull it starts at 0.1; below, nearly every draw "
     "is 0\n"},
    {WEEKS_FAILURES, "failures: [{cause: rack, law: shock, mtbf: 5y}]",
     "6:31: failures[0].law: a blow strikes a domain: give `unit: domain` and domain_nodes\n"},
    {WEEKS_FAILURES, "failures: [{cause: x, law: lemon, mtbf: 5y, unit: job}]",
     "6:51: failures[0].unit: lemons are nodes, so that a gpu, a nic or a node fails\n"},
    {WEEKS_FAILURES,
     "failures: [{cause: x, mtbf: 5y, cascade: 10%, domain_nodes: 4, unit: domain}]",
     "6:70: failures[0].unit: a gpu, a nic or a node drags another along\n"},
    {WEEKS_FAILURES, "failures: [{cause: x, law: trace, trace: x.csv, early: 1d}]",
     "6:28: failures[0].law: a trace is what happened; remove early, early_factor, cascade\n"},
    {WEEKS_FAILURES, "failures: [{preset: lama3}]",
     "6:21: failures.preset: unknown fleet 'lama3'; did you mean 'llama3-405b'?\n"},
    {WEEKS_FAILURES, "failures: [{preset: llama3-405b, mtbf: 3y}]",
     "6:34: failures[0]: 'mtbf' cannot stand beside 'preset'; write the causes out to change "
     "one\n"},
    {WEEKS_FAILURES, "failures: [{cause: log, law: trace}]",
     "6:12: failures[0].trace must be given: the CSV file to replay\n"},
    {WEEKS_FAILURES, "failures: [{cause: log, law: trace, trace: no/such.csv}]",
     "6:44: failures[0].trace: there is no file 'no/such.csv' in the working folder\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5y, trace: x.csv}]",
     "6:42: failures[0].trace: only `law: trace` reads one\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 5y, rows: x}]",
     "6:41: failures[0].rows: of a trace, but none is given\n"},
    {WEEKS_FAILURES, "failures: [{cause: gpu, mtbf: 1s}]",
     "6:1: failures: by their rates 1.49e+08 in run.duration, one every 0.0312 s; at most 1e+07 "
     "can "
     "be played: check the units of mtbf\n"},
    /* checkpoint and storage */
    {WEEKS_CHECKPOINT, "checkpoint: {policy: sync, interval: 0s, storage: disk}",
     "7:38: checkpoint.interval: 0s is out of range; it goes from 1ms to 100y\n"},
    {WEEKS_CHECKPOINT, "checkpoint: {policy: sync, interval: 30, storage: disk}",
     "7:38: checkpoint.interval: '30' has no unit; write one of " TIMES "\n"},
    {WEEKS_CHECKPOINT,
     "checkpoint: {policy: sync, interval: 30min, interval_steps: 5, storage: disk}",
     "7:61: checkpoint.interval_steps: 'interval' is given too; keep one of them\n"},
    {WEEKS_CHECKPOINT, "checkpoint: {policy: asynk}",
     "7:22: checkpoint.policy: unknown checkpoint policy 'asynk'; did you mean 'async'?\n"},
    {WEEKS_CHECKPOINT, "checkpoint: {policy: sync, storage: dsk}",
     "7:37: checkpoint.storage: unknown storage tier 'dsk'; did you mean 'disk'?\n"},
    {WEEKS_CHECKPOINT, "checkpoint: {policy: sync, storage: host+disk}",
     "7:37: checkpoint.storage: sync takes 1 to 1 tiers joined by '+', as in 'pfs', not 2\n"},
    {WEEKS_CHECKPOINT, "checkpoint: {policy: async, storage: disk+disk}",
     "7:38: checkpoint.storage: 'disk' stands twice\n"},
    {WEEKS_CHECKPOINT, "checkpoint: {policy: sync, storage: disk, keep: 0}",
     "7:49: checkpoint.keep: 0 is out of range; it goes from 1 to 100000\n"},
    {WEEKS_STORAGE, "storage: [{name: disk, total_write_bandwidth: 10}]",
     "8:47: storage[0].total_write_bandwidth: '10' has no unit; write one of B/s, kB/s, MB/s, "
     "GB/s, TB/s, MiB/s, GiB/s, b/s, kb/s, Mb/s, Gb/s, Tb/s\n"},
    {WEEKS_STORAGE, "storage: [{name: disk}, {name: disk}]",
     "8:32: storage[1].name: 'disk' stands twice\n"},
    {WEEKS_STORAGE, "storage: [{name: disk, bandwith: 10GB/s}]",
     "8:24: unknown key 'bandwith' in storage[0]; known: name, path, survival, memory, "
     "client_write_bandwidth, client_read_bandwidth, node_write_bandwidth, node_read_bandwidth, "
     "total_write_bandwidth, total_read_bandwidth, latency, copies\n"},
    /* recovery */
    {WEEKS_RECOVERY, "recovery: {policy: hot-spare, spares: 5}",
     "9:39: recovery.spares: 5 spares for 4 nodes; the pool has at most one for each node\n"},
    {WEEKS_RECOVERY, "recovery: {policy: restart-in-place, spares: 2}",
     "9:46: recovery.spares: restart-in-place takes none; remove it, or choose hot-spare, "
     "warm-spare or cold-spare\n"},
    {WEEKS_RECOVERY, "recovery: {policy: elastic-shrink, replicas_min: 3}",
     "9:50: recovery.replicas_min: the job has 2 replicas (layout.dp), so it goes up to 2\n"},
    {WEEKS_RECOVERY, "recovery: {policy: hot-spares}",
     "9:20: recovery.policy: unknown recovery policy 'hot-spares'; did you mean 'hot-spare'?\n"},
    {WEEKS_RECOVERY, "recovery: {repair: 24}",
     "9:20: recovery.repair.mean: '24' has no unit; write one of " TIMES "\n"},
    {WEEKS_RECOVERY, "recovery: {restart: {detekt: 3s}}",
     "9:22: unknown key 'detekt' in recovery.restart; did you mean 'detect'?\n"},
    {WEEKS_RECOVERY, "recovery: {restart: {detect: {mean: 3s, sheltred: true}}}",
     "9:41: unknown key 'sheltred' in recovery.restart.detect; did you mean 'sheltered'?\n"},
    {WEEKS_RECOVERY, "recovery: {repair_fails: 1.5}",
     "9:26: recovery.repair_fails: 1.5 is out of range; it goes from 0 to 0.99\n"},
};

/* Found a minute earlier, one of the two kept checkpoints is older than the corruption. */
static void test_no_warning_without_reason(void **state)
{
    struct scenario *scenario = weeks_read(
        WEEKS_FAILURES, "failures: [{cause: bits, mtbf: 5y, effect: corrupt, detect: 59min}]");
    weeks_problems_are(scenario, "");
    scenario_destroy(scenario);
}

static void test_bad(void **state)
{
    weeks_cases(bad, sizeof bad / sizeof bad[0]);
}

#define HEAD "at,unit_kind,unit,cause,repair\n"
static char trace_path[] = "/tmp/orrery-trace-......";

static struct scenario *read_trace(const char *csv, size_t bytes, const char *more)
{
    char failures[256];
    FILE *file = fopen(trace_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(csv, 1, bytes, file), bytes);
    fclose(file);
    snprintf(failures, sizeof failures, "failures: [{cause: log, law: trace, trace: %s%s}]",
             trace_path, more);
    return weeks_read(WEEKS_FAILURES, failures);
}

static int make_trace(void **state)
{
    memset(strrchr(trace_path, '-') + 1, 'X', 6); /* six X, as mkstemp wants them */
    int file = mkstemp(trace_path);
    return file < 0 || close(file) != 0;
}

static int remove_trace(void **state)
{
    return unlink(trace_path);
}

/* Rows come in order, each cause by itself; one cause on two kinds of units is two. */
static void test_trace(void **state)
{
    static const char csv[] = HEAD "3.2h,gpu,17,HBM,2h\n4h,node,1,HBM,\n5h,gpu,0,HBM,0s\n"
                                   "5h,job,0,\"bug, again\",0s\n6h,node,5,PSU,1d\n";
    struct scenario *scenario = read_trace(csv, strlen(csv), ", in_place: 10%");
    const struct job_spec *job = &scenario->job;
    weeks_problems_are(scenario, "");
    assert_int_equal(job->cause_count, 4);
    assert_string_equal(job->causes[0].name, "HBM");
    assert_string_equal(job->causes[1].name, "HBM (node)");
    assert_string_equal(job->causes[2].name, "bug, again");
    assert_int_equal(job->causes[2].unit, UNIT_JOB);
    assert_int_equal(job->causes[0].trace_count, 2);
    assert_true(job->causes[0].trace[0].at_s == 3.2 * HOUR);
    assert_true(job->causes[0].trace[0].repair_s == 2.0 * HOUR);
    assert_true(job->causes[0].trace[1].repair_s == 0.0);
    assert_true(job->causes[1].trace[0].repair_s < 0.0);
    assert_int_equal(job->causes[3].trace[0].unit, 5); /* a spare */
    assert_true(job->causes[3].in_place_ratio == 0.1);
    scenario_destroy(scenario);
    static const char marked[] =
        "\xEF\xBB\xBF" HEAD "3.2h,gpu,17,HBM,2h\n"; /* with a byte order mark */
    scenario = read_trace(marked, strlen(marked), "");
    weeks_problems_are(scenario, "");
    assert_int_equal(scenario->job.cause_count, 1);
    assert_true(scenario->job.causes[0].trace[0].at_s == 3.2 * HOUR);
    scenario_destroy(scenario);
    scenario = read_trace(csv, strlen(csv), ", rows: PSU");
    assert_int_equal(scenario->job.cause_count, 1);
    assert_string_equal(scenario->job.causes[0].name, "PSU");
    scenario_destroy(scenario);
}

static void test_bad_traces(void **state)
{
    static const struct {
        const char *csv, *more, *problems; /* of the file where they begin with '@' */
    } cases[] = {
        {HEAD "1h,gpu,48,a,2h\n", "",
         "@2:8: unit: there is no gpu 48; they are numbered from 0 to 47\n"},
        {HEAD "1h,node,6,a,2h\n", "",
         "@2:9: unit: there is no node 6; they are numbered from 0 to 5\n"},
        {HEAD "1h,domain,0,a,2h\n", "",
         "@2:11: unit: the cluster has no domains; say `domain_nodes` beside the trace\n"},
        {HEAD "1h,rack,0,a,2h\n", "",
         "@2:4: unit_kind: unknown unit kind 'rack'; known: gpu, nic, node, domain, job\n"},
        {HEAD "2h,gpu,0,a,2h\n1h,gpu,0,a,2h\n", "",
         "@3:1: at: is earlier than the row above; sort the rows by `at`\n"},
        {HEAD "3,gpu,0,a,2h\n", "", "@2:1: at: '3' has no unit; write one of " TIMES "\n"},
        {HEAD "3h,gpu,0,a,2\n", "", "@2:12: repair: '2' has no unit; write one of " TIMES "\n"},
        {HEAD "-3h,gpu,0,a,2h\n", "", "@2:1: at: must be from 0s to 100y\n"},
        {HEAD "3h,gpu,x,a,2h\n", "", "@2:8: unit: 'x' is not a number\n"},
        {HEAD "3h,gpu,1,,2h\n", "", "@2:10: cause: is empty; name what failed\n"},
        {HEAD "\"3h\",gpu,x,\xC3\xA9\xC3\xA9,z\n", "",
         "@2:10: unit: 'x' is not a number\n@2:15: repair: 'z' is not a number\n"},
        {"\xEF\xBB\xBF" HEAD "1h,gpu,x,a,2h\n", "", "@2:8: unit: 'x' is not a number\n"},
        {"\xEF\xBB\xBF" HEAD "1h,gpu,0,\xFF,2h\n", "",
         "@2:10: a byte that is not UTF-8; save the file as UTF-8\n"},
        {"at,unit_kind,unit,cause\n", "",
         "6:44: failures[0].trace: '%s' has no column 'repair'; a trace has "
         "at,unit_kind,unit,cause,repair\n"},
        {"at,unit,cause\n", "",
         "6:44: failures[0].trace: '%s' has no column 'unit_kind', 'repair'; a trace has "
         "at,unit_kind,unit,cause,repair\n"},
        {HEAD "1h,gpu,0,a\n", "",
         "6:44: failures[0].trace: %s:2: 4 fields, but the header has 5 columns\n"},
        {"", "", "6:44: failures[0].trace: %s: the file is empty\n"},
        {HEAD "1h,gpu,0,\xFF,2h\n", "",
         "@2:10: a byte that is not UTF-8; save the file as UTF-8\n"},
        {HEAD "1h,gpu,0,a,2h\n", ", rows: b", "6:76: failures[0].rows: no row has the cause 'b'\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char wanted[1024] = "";
        const char *from = cases[i].problems;
        size_t at = 0;
        for (; *from && at < sizeof wanted - 64; from++)
            if (*from == '@')
                at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s:", trace_path);
            else if (*from == '%')
                at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s", trace_path), from++;
            else
                wanted[at++] = *from;
        wanted[at] = '\0';
        struct scenario *scenario = read_trace(cases[i].csv, strlen(cases[i].csv), cases[i].more);
        weeks_problems_are(scenario, wanted);
        assert_true(scenario->diagnostics.error_count > 0);
        scenario_destroy(scenario);
    }
}

/* A trace of many thousand bad rows in the worst order of columns is refused at once. */
static void test_trace_of_garbage(void **state)
{
    enum {
        ROWS = 200000
    };
    static char csv[ROWS * 12 + 64];
    size_t at = (size_t)snprintf(csv, sizeof csv, "repair,cause,unit,unit_kind,at\n");
    for (unsigned i = 0; i < ROWS; i++)
        at += (size_t)snprintf(csv + at, sizeof csv - at, "x,a,1,gpu,%u\n", i % 10);
    struct scenario *scenario = read_trace(csv, at, "");
    assert_true(scenario->diagnostics.error_count >= 20 && scenario->diagnostics.error_count < 100);
    scenario_destroy(scenario);
}

/* A study plays the steps of points once that differ in such keys alone. */
static void test_keys_of_weeks(void **state)
{
    static const char *const weeks[] = {"run.duration",          "failures[0].mtbf",
                                        "checkpoint.interval",   "storage[1].latency",
                                        "recovery.repair.mean",  "recovery.restart.load.mean",
                                        "recovery.spares",       "cost.gpu_hour",
                                        "notes[0].at",           "notes",
                                        "failures[0].detect.law"};
    static const char *const steps[] = {"seed",
                                        "model.layers",
                                        "layout.tp",
                                        "training.runs",
                                        "cluster.node.gpus",
                                        "software.launch",
                                        "runs.duration",
                                        "ru.duration",
                                        "perturbations.jitter",
                                        "costs",
                                        "name",
                                        ""};
    for (unsigned i = 0; i < sizeof weeks / sizeof weeks[0]; i++)
        assert_true(scenario_key_of_weeks(weeks[i]));
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++)
        assert_false(scenario_key_of_weeks(steps[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_of_weeks),
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_values_arrive),
        cmocka_unit_test(test_links_have_sections),
        cmocka_unit_test(test_no_warning_without_reason),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_bad_traces),
        cmocka_unit_test(test_trace_of_garbage),
    };
    return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
