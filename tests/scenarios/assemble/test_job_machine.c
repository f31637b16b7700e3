/* What a job of weeks takes from its machine, its layout and its keys: replicas and stages by hand
 * for small machines, prices and power of the catalogue, and every key in its own place. */
#include <math.h>
#include <stdio.h>

#include "sim/units.h"
#include "tests/scenarios/assemble/weeks.h"
#include "tests/test.h"

static struct scenario *read_machine(unsigned nodes, const char *layout)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model: {preset: llama3-8b}\n"
             "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: %u, fabric: ib-ndr-8x400}\n"
             "training: {sequence: 6144, global_batch: 64}\n"
             "layout: {%s}\nrun: {duration: 54d}\n",
             nodes, layout);
    struct scenario *scenario = weeks_read_text(text);
    assert_int_equal(scenario->diagnostics.error_count, 0);
    return scenario;
}

static void tell_replicas(const struct job_spec *job, char *text, size_t size)
{
    size_t used = 0;
    for (uint32_t node = 0; node < job->nodes; node++) {
        for (uint32_t i = job->replicas_begin[node]; i < job->replicas_begin[node + 1]; i++) {
            const char *between = i > job->replicas_begin[node] ? " " : "";
            used +=
                (size_t)snprintf(text + used, size - used, "%s%u", between, job->replicas_on[i]);
        }
        used += (size_t)snprintf(text + used, size - used, "/");
    }
    assert_true(used < size);
}

/* Ranks are numbered tp first, then cp, dp and pp. Packed, rank r is GPU r; scattered over four
 * nodes, node n has the ranks n, n + 4, n + 8, ... */
static void test_where_replicas_and_stages_stand(void **state)
{
    static const struct {
        unsigned nodes;
        const char *layout;
        unsigned used;        /* nodes of the job */
        const char *replicas; /* of each node, a slash behind it */
        const char *stages;   /* a digit for each GPU of the job, 8 a node */
    } rows[] = {
        {4, "tp: 8, pp: 2", 4, "0/1/0/1/", "00000000000000001111111111111111"},
        {4, "tp: 2, pp: 4, dp: 2", 2, "0 1/0 1/", "0000111122223333"},
        {4, "tp: 8, dp: 4", 4, "0/1/2/3/", "00000000000000000000000000000000"},
        /* six ranks a replica: of the second two stand on node 0, of the third four on node 1 */
        {3, "tp: 2, cp: 3, dp: 4", 3, "0 1/1 2/2 3/", "000000000000000000000000"},
        /* two ranks of a replica stand side by side, so that nodes 0 and 1 have the even ones */
        {4, "tp: 2, dp: 16, placement: scattered", 4,
         "0 2 4 6 8 10 12 14/0 2 4 6 8 10 12 14/1 3 5 7 9 11 13 15/1 3 5 7 9 11 13 15/",
         "00000000000000000000000000000000"},
        /* eight ranks a stage: each node has two of each, of the first replica and the third, or of
         * the two others */
        {4, "tp: 2, pp: 4, dp: 4, placement: scattered", 4, "0 2/0 2/1 3/1 3/",
         "00112233001122330011223300112233"},
        /* pipelines innermost: stage and tensor peers in one node, a replica each */
        {2, "tp: 2, pp: 4, order: tp-pp-cp-dp", 2, "0/1/", "0011223300112233"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *scenario = read_machine(rows[i].nodes, rows[i].layout);
        const struct job_spec *job = &scenario->job;
        assert_int_equal(job->nodes, rows[i].used);
        assert_int_equal(job->gpus_per_node, 8);
        char replicas[256];
        tell_replicas(job, replicas, sizeof replicas);
        assert_string_equal(replicas, rows[i].replicas);
        for (unsigned gpu = 0; rows[i].stages[gpu] != '\0'; gpu++)
            if (job->stage_of_gpu[gpu] != (uint32_t)(rows[i].stages[gpu] - '0'))
                fail_msg("%s: GPU %u in stage %u", rows[i].layout, gpu, job->stage_of_gpu[gpu]);
        scenario_destroy(scenario);
    }
}

/* Every GPU of this node has a NIC: those of GPUs that idle strike nobody. */
static void test_nics_of_a_part_of_a_node(void **state)
{
    static const struct {
        const char *cluster;
        uint32_t nics;
    } rows[] = {{"gpus: 8", 8},
                {"gpus: 4", 4},
                {"gpus: 1", 1},
                {"nodes: 2", 8},
                {"gpus: 4, node: {gpus: 8, nics: 2}", 2}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: {preset: llama3-8b}\ncluster: {gpu: h100-80gb-sxm, %s}\n"
                 "training: {sequence: 6144, global_batch: 64}\nrun: {duration: 54d}\n",
                 rows[i].cluster);
        struct scenario *scenario = weeks_read_text(text);
        assert_int_equal(scenario->diagnostics.error_count, 0);
        if (scenario->job.nics_per_node != rows[i].nics)
            fail_msg("%s: %u NICs", rows[i].cluster, scenario->job.nics_per_node);
        scenario_destroy(scenario);
    }
}

/* An H100 costs 2.5 USD an hour. */
static void test_price(void **state)
{
    struct scenario *scenario = weeks_read(WEEKS_LINE_COUNT, "");
    assert_true(scenario->job.cost.rental.gpu_hour_usd == 2.5);
    assert_true(scenario->job.cost.rental.spare_hour_usd == 8.0 * 2.5);
    scenario_destroy(scenario);
    scenario = weeks_read(WEEKS_STORAGE, "storage: [{name: disk}]\n"
                                         "cost: {gpu_hour: 0.5USD, storage_tb_month: 20USD}");
    assert_true(scenario->job.cost.rental.gpu_hour_usd == 0.5);
    assert_true(scenario->storage_tb_month_usd == 20.0);
    scenario_destroy(scenario);
    scenario = weeks_read(WEEKS_STORAGE, "storage: [{name: disk}]\ncost: {gpu_hour: 0USD}");
    assert_true(
        isnan(scenario->job.cost.rental.job_hour_usd)); /* nothing is known to cost nothing */
    assert_true(scenario->storage_tb_month_usd == 0.0);
    scenario_destroy(scenario);
}

static void test_keys_of_a_run(void **state)
{
    struct scenario *scenario =
        weeks_read(WEEKS_RUN, "run: {duration: 54d, steps: 70, strike: working, step_noise: 3%, "
                              "maintenance_every: 30d, maintenance: 6h}");
    const struct job_spec *job = &scenario->job;
    weeks_problems_are(scenario, "");
    assert_true(job->duration_s == 54.0 * DAY);
    assert_int_equal(job->steps, 70);
    assert_string_equal(strike_names[job->strike], "working");
    assert_true(job->step_noise_sigma == 0.03);
    assert_true(job->maintenance_every_s == 30.0 * DAY && job->maintenance_s == 6.0 * HOUR);
    assert_true(scenario->work_s == 0.0);
    scenario_destroy(scenario);
    scenario = weeks_read(WEEKS_RUN, "run: {work: 11h}");
    assert_true(scenario->work_s == 11.0 * HOUR && scenario->job.duration_s == 0.0);
    assert_int_equal(scenario->job.steps, 0);
    assert_string_equal(strike_names[scenario->job.strike], "always");
    scenario_destroy(scenario);
}

/* Tokens over those of a step, 64 sequences of 8,192, a begun one too; steps or work come first. */
static void test_steps_of_tokens(void **state)
{
    static const struct {
        const char *tokens, *run;
        uint64_t steps;
    } rows[] = {{"5242880", "duration: 54d", 10},
                {"5242881", "duration: 54d", 11},
                {"5242880", "duration: 54d, steps: 3", 3},
                {"5242880", "work: 1h", 0}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char lines[256];
        snprintf(lines, sizeof lines,
                 "training: {sequence: 8192, global_batch: 64, tokens: %s}\n"
                 "run: {%s}\nname: x",
                 rows[i].tokens, rows[i].run);
        char text[1024];
        snprintf(text, sizeof text,
                 "model: {preset: llama3-8b}\n"
                 "cluster: {gpu: h100-80gb-sxm, nodes: 4, fabric: ib-ndr-8x400}\n%s\n",
                 lines);
        struct scenario *scenario = weeks_read_text(text);
        weeks_problems_are(scenario, "");
        assert_int_equal(scenario->job.steps, rows[i].steps);
        scenario_destroy(scenario);
    }
}

static void test_keys_of_a_recovery(void **state)
{
    struct scenario *scenario = weeks_read(
        WEEKS_RECOVERY,
        "recovery: {policy: elastic-shrink, spares: 3, crews: 5, replicas_min: 2, retire_after: 7, "
        "repair_fails: 11%, manual_repair_fails: 12%, wrong_blame: 13%, escalate: 14%, "
        "repair: {mean: 2h, law: gamma, shape: 3}, manual_repair: {mean: 3d, law: exponential}}");
    const struct recovery_spec *recovery = &scenario->job.recovery;
    const char without_lemons[] =
        " has no effect without failures of `law: lemon`: it leaves a lemon as it is; other nodes "
        "are sound after a repair\n";
    char warned[512];
    snprintf(warned, sizeof warned,
             "~9:91: recovery.repair_fails%s~9:110: "
             "recovery.manual_repair_fails%s",
             without_lemons, without_lemons);
    weeks_problems_are(scenario, warned);
    assert_string_equal(recovery->kind->head.name, "elastic-shrink");
    assert_int_equal(recovery->spares, 3);
    assert_int_equal(recovery->crews, 5);
    assert_int_equal(recovery->replicas_min, 2);
    assert_int_equal(recovery->retire_after, 7);
    assert_true(recovery->repair_fails_ratio == 0.11);
    assert_true(recovery->manual_repair_fails_ratio == 0.12);
    assert_true(recovery->wrong_blame_ratio == 0.13);
    assert_true(recovery->escalate_ratio == 0.14);
    assert_true(recovery->repair.law == DURATION_GAMMA && recovery->repair.shape == 3.0);
    assert_true(recovery->repair.mean_s == 2.0 * HOUR);
    assert_true(recovery->manual_repair.law == DURATION_EXPONENTIAL);
    assert_true(recovery->manual_repair.mean_s == 3.0 * DAY);
    scenario_destroy(scenario);
    scenario = weeks_read(WEEKS_RECOVERY, "recovery: {policy: hot-spare}");
    assert_true(scenario->job.recovery.manual_repair.mean_s == 48.0 * HOUR);
    assert_true(scenario->job.recovery.repair.mean_s == 24.0 * HOUR);
    scenario_destroy(scenario);
}

/* Each link of the chain gets its own words, whichever stand beside it; the others keep what they
 * have where nothing is said. */
static void test_each_link_alone(void **state)
{
    struct scenario *unsaid = weeks_read(WEEKS_RECOVERY, "");
    const struct restart_spec *usual = &unsaid->job.recovery.restart;
    assert_true(usual->communicators_per_rank_s == 0.0025);
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        char text[256];
        snprintf(
            text, sizeof text,
            "recovery: {policy: cold-spare, restart: {%s: {mean: 77s, law: lognormal, shape: 1.5, "
            "sheltered: true}}}",
            restart_link_names[link]);
        struct scenario *scenario = weeks_read(WEEKS_RECOVERY, text);
        const struct restart_spec *restart = &scenario->job.recovery.restart;
        weeks_problems_are(scenario, "");
        for (unsigned other = 0; other < RESTART_LINK_COUNT; other++) {
            const struct duration *d = &restart->links[other];
            assert_true(d->mean_s == (other == link ? 77.0 : usual->links[other].mean_s));
            assert_true((d->law == DURATION_LOGNORMAL && d->shape == 1.5) == (other == link));
            assert_true(restart->sheltered[other] == (other == link));
        }
        assert_true(restart->communicators_per_rank_s == usual->communicators_per_rank_s);
        scenario_destroy(scenario);
    }
    struct scenario *scenario =
        weeks_read(WEEKS_RECOVERY, "recovery: {restart: {communicators_per_rank: 3ms}}");
    const struct restart_spec *restart = &scenario->job.recovery.restart;
    assert_true(restart->communicators_per_rank_s == 0.003);
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        assert_true(restart->links[link].mean_s == usual->links[link].mean_s);
    scenario_destroy(scenario);
    scenario_destroy(unsaid);
}

static void test_keys_of_a_checkpoint(void **state)
{
    struct scenario *scenario =
        weeks_read(WEEKS_CHECKPOINT,
                   "checkpoint: {policy: multi-level, interval_steps: 9, storage: host+nvme+disk, "
                   "bytes_per_parameter: 13, keep: 4, corrupt: 21%, final: false, stall: 3s, "
                   "persist: 4s, load: 5s, write_share: 2%, second_every: 3, third_every: 5}");
    const struct checkpoint_spec *spec = &scenario->job.checkpoint;
    const struct job_storage *storage = &scenario->storage;
    weeks_problems_are(scenario, "~7:188: checkpoint.write_share has no effect with an interval "
                                 "that is stated: it bounds an optimal one\n");
    assert_string_equal(spec->kind->head.name, "multi-level");
    assert_int_equal(spec->interval_steps, 9);
    assert_true(spec->interval_s == 0.0 && spec->bytes_per_parameter == 13.0);
    assert_int_equal(spec->keep, 4);
    assert_true(spec->corrupt_ratio == 0.21 && spec->write_share_ratio == 0.02 && !spec->final);
    assert_true(storage->stall_s == 3.0 && storage->persist_s == 4.0 && storage->load_s == 5.0);
    assert_true(spec->options.value[0] == 3.0 && spec->options.value[1] == 5.0);
    assert_int_equal(storage->tier_count, 3);
    assert_string_equal(storage->tiers[0].name, "host");
    assert_string_equal(storage->tiers[1].name, "nvme");
    assert_string_equal(storage->tiers[2].name, "disk");
    assert_true(storage->tiers[2].total_write_bytes_per_s == 10e9);
    scenario_destroy(scenario);
    scenario = weeks_read(WEEKS_CHECKPOINT, "checkpoint: {policy: sync, persist: 0s}");
    storage = &scenario->storage;
    assert_true(storage->stall_s < 0.0 && storage->persist_s == 0.0 && storage->load_s < 0.0);
    assert_string_equal(storage->tiers[0].name, "pfs");
    assert_int_equal(scenario->job.checkpoint.keep, 2);
    assert_true(scenario->job.checkpoint.final);
    scenario_destroy(scenario);
}

static void test_keys_of_a_cause(void **state)
{
    struct scenario *scenario = weeks_read(
        WEEKS_FAILURES,
        "failures: [{cause: first, mtbf: 3y, detect: {law: exponential}}, {cause: nics, unit: nic, "
        "mtbf: 2y, domain_nodes: 2, "
        "early_factor: 5, early: 3d, cascade: 17%, effect: slow, slow: 40%, slow_link: true, "
        "repair: {mean: 5h, law: weibull, shape: 0.8}, in_place: 6%}]");
    weeks_problems_are(scenario, "");
    assert_int_equal(scenario->job.cause_count, 2);
    const struct failure_cause *cause = &scenario->job.causes[0];
    assert_true(cause->unit == UNIT_GPU && cause->effect == EFFECT_STOP && !cause->new_units);
    assert_true(cause->mtbf_s == 3.0 * YEAR && cause->early_factor == 1.0);
    assert_true(cause->early_s == 0.0 && cause->cascade_ratio == 0.0 && !cause->slow_link);
    assert_true(cause->domain_nodes == 0 && cause->in_place_ratio == 0.0);
    assert_true(cause->detect.mean_s == -1.0 && cause->repair.mean_s == -1.0);
    assert_true(cause->slow_time.mean_s == 0.0);
    cause = &scenario->job.causes[1];
    assert_string_equal(cause->name, "nics");
    assert_true(cause->unit == UNIT_NIC && cause->mtbf_s == 2.0 * YEAR);
    assert_int_equal(cause->domain_nodes, 2);
    assert_true(cause->early_factor == 5.0 && cause->early_s == 3.0 * DAY);
    assert_true(cause->cascade_ratio == 0.17 && cause->slow_ratio == 0.4 && cause->slow_link);
    assert_true(cause->repair.mean_s == 5.0 * HOUR && cause->repair.shape == 0.8);
    assert_true(cause->repair.law == DURATION_WEIBULL && cause->in_place_ratio == 0.06);
    scenario_destroy(scenario);
}

static struct scenario *read_tiers(const char *tiers, const char *storage)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model: {preset: llama3-8b}\ntraining: {sequence: 8192, global_batch: 64}\n"
             "cluster: {gpu: h100-80gb-sxm, nodes: 4, fabric: ib-ndr-8x400}\n"
             "run: {duration: 54d}\ncheckpoint: {policy: async, storage: %s}\nstorage: %s\n",
             tiers, storage);
    struct scenario *scenario = weeks_read_text(text);
    weeks_problems_are(scenario, "");
    return scenario;
}

/* A tier of one's own under a name of the catalogue changes what it says, and no more. */
static void test_tiers_of_ones_own(void **state)
{
    struct scenario *scenario = read_tiers("nvme+pfs", "[]");
    const struct storage_tier *tiers = scenario->storage.tiers;
    assert_int_equal(scenario->storage.tier_count, 2);
    assert_string_equal(tiers[0].name, "nvme");
    assert_true(tiers[0].node_write_bytes_per_s == 32e9 && tiers[0].latency_s == 0.01);
    assert_string_equal(tiers[1].name, "pfs");
    assert_true(tiers[1].node_write_bytes_per_s == 1.95e9 && tiers[1].latency_s == 1.0);
    scenario_destroy(scenario);
    scenario = read_tiers("nvme+pfs", "[{name: pfs, latency: 3s}, {name: nvme, copies: 2}]");
    tiers = scenario->storage.tiers;
    assert_true(tiers[0].node_write_bytes_per_s == 32e9 && tiers[0].latency_s == 0.01);
    assert_int_equal(tiers[0].copies, 2);
    assert_true(tiers[1].node_write_bytes_per_s == 1.95e9 && tiers[1].latency_s == 3.0);
    assert_int_equal(tiers[1].survival, SURVIVES_DOMAIN);
    scenario_destroy(scenario);
    scenario = read_tiers("host+mine", "[{name: mine, client_read_bandwidth: 3GB/s}]");
    tiers = scenario->storage.tiers;
    assert_string_equal(tiers[1].name, "mine");
    assert_true(tiers[1].client_read_bytes_per_s == 3e9 && tiers[1].total_read_bytes_per_s == 0.0);
    scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_replicas_and_stages_stand),
        cmocka_unit_test(test_nics_of_a_part_of_a_node),
        cmocka_unit_test(test_price),
        cmocka_unit_test(test_keys_of_a_run),
        cmocka_unit_test(test_steps_of_tokens),
        cmocka_unit_test(test_keys_of_a_recovery),
        cmocka_unit_test(test_each_link_alone),
        cmocka_unit_test(test_keys_of_a_checkpoint),
        cmocka_unit_test(test_keys_of_a_cause),
        cmocka_unit_test(test_tiers_of_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
