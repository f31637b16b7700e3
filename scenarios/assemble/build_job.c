#include "scenarios/assemble/build_job.h"

#include <math.h>
#include <string.h>

#include "models/fleet/fleet.h"
#include "models/layout/layout.h"
#include "scenarios/assemble/build_parts.h"
#include "scenarios/language/quantity.h"

/* More failures than the longest log holds; past them mtbf lacks a unit. */
#define FAILURES_MAX 1e7
/* Planned stops that a run meets, one by one too (job.c). */
#define STOPS_MAX 1e6

/* Puts a number among `count` others that are in order, each there once; returns how many then. */
static uint32_t put_once(uint32_t *numbers, uint32_t count, uint32_t number)
{
    uint32_t at = count;
    while (at > 0 && numbers[at - 1] > number)
        at--;
    if (at > 0 && numbers[at - 1] == number)
        return count;
    memmove(numbers + at + 1, numbers + at, (count - at) * sizeof *numbers);
    numbers[at] = number;
    return count + 1;
}

/* Which replicas stand on each node, and which stage on each GPU: no more replicas than GPUs. */
static void place_replicas(struct builder *b, struct job_spec *job)
{
    const struct configuration *c = &b->scenario->configuration;
    size_t gpus = (size_t)job->nodes * job->gpus_per_node;
    uint32_t *on = ARENA_ARRAY(b->arena, uint32_t, gpus);
    uint32_t *begin = ARENA_ARRAY(b->arena, uint32_t, job->nodes + 1);
    uint32_t *stage = ARENA_ARRAY(b->arena, uint32_t, gpus);
    for (uint32_t rank = 0; rank < job->ranks; rank++) {
        uint32_t gpu = layout_gpu(c, rank), node = gpu / job->gpus_per_node;
        struct coordinates at = layout_coordinates(c, rank);
        uint32_t *there = on + (size_t)node * job->gpus_per_node;
        stage[gpu] = at.pp;
        begin[node + 1] = put_once(there, begin[node + 1], at.dp);
    }
    for (uint32_t node = 0; node < job->nodes; node++) { /* counts to places, without gaps */
        uint32_t count = begin[node + 1];
        memmove(on + begin[node], on + (size_t)node * job->gpus_per_node, count * sizeof *on);
        begin[node + 1] = begin[node] + count;
    }
    job->stage_of_gpu = stage;
    job->replicas_on = on;
    job->replicas_begin = begin;
}

/* Those of GPUs that idle serve no rank, in a node alone too, whose network nobody builds. */
static uint64_t nics_in_use(const struct topology_spec *cluster)
{
    const struct node_spec *node = &cluster->node;
    const uint64_t nics = topology_nics(cluster);
    return nics == node->installed_gpus && node->installed_gpus > 0 ? node->gpus : nics;
}

/* What follows from the machine alone; the causes and the spares are checked against it. */
static void fill_machine(struct builder *b)
{
    const struct configuration *c = &b->scenario->configuration;
    struct job_spec *job = &b->scenario->job;
    job->gpus_per_node = (uint32_t)c->cluster.node.gpus;
    job->nics_per_node = (uint32_t)nics_in_use(&c->cluster);
    job->nodes = (uint32_t)(b->layout_sound ? layout_nodes(c) : c->cluster.nodes);
}

static void wrong(struct builder *b, const struct value *run, const char *key, const char *why)
{
    problems_error(b->problems, section_mark(run, key), "run.%s%s", key, why);
}

static void check_maintenance(struct builder *b, const struct value *run,
                              const struct run_keys *keys)
{
    bool period = keys->maintenance_every_s > 0.0, length = keys->maintenance_s > 0.0;
    if (period && !length)
        wrong(b, run, "maintenance", " must be given with maintenance_every, as in 6h");
    if (length && !period)
        wrong(b, run, "maintenance_every", " must be given with maintenance, as in 30d");
    if (period && length && keys->maintenance_s >= keys->maintenance_every_s)
        wrong(b, run, "maintenance", ": is as long as the time between two of them; shorten it");
    if (period && keys->duration_s / keys->maintenance_every_s >= STOPS_MAX)
        wrong(b, run, "maintenance_every", ": a million times in run.duration; is its unit right?");
}

static void build_run(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_RUN);
    const struct value *mapping = section_take(b, b->root, SECTION_RUN);
    struct job_spec *job = &b->scenario->job;
    double tokens = b->scenario->configuration.training.tokens;
    struct run_keys keys = {0};
    if (mapping == NULL)
        return;
    bool sound = reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    section_finish(b, SECTION_RUN, mapping, (struct params){NULL, 0}, schema->path);
    job->duration_s = keys.duration_s;
    job->steps = keys.steps;
    job->strike = keys.strike;
    job->step_noise_sigma = keys.step_noise_sigma;
    job->maintenance_every_s = keys.maintenance_every_s;
    job->maintenance_s = keys.maintenance_s;
    b->scenario->work_s = keys.work_s;
    check_maintenance(b, mapping, &keys);
    if (keys.work_s > 0.0 && keys.steps > 0)
        wrong(b, mapping, "work", ": 'steps' is given too; keep one of them");
    bool ends = keys.duration_s > 0.0 || keys.steps > 0 || keys.work_s > 0.0 || tokens > 0.0;
    if (sound && !ends)
        wrong(
            b, mapping, "duration",
            " must be given, as in 54d, or run.steps, or training.tokens: when does the run end?");
}

/* A run meets failures one by one. */
static void check_failure_count(struct builder *b)
{
    const struct job_spec *job = &b->scenario->job;
    double count = job->duration_s / job->checkpoint.job_mtbf_s;
    const struct value *failures = value_find(b->root, schema_section(SECTION_FAILURES)->path);
    if (failures && count > FAILURES_MAX)
        problems_error(b->problems, failures->key_mark,
                       "failures: by their rates %.3g in run.duration, one every %.3g s; at most "
                       "%.0e can be played: check the units of mtbf",
                       count, job->checkpoint.job_mtbf_s, FAILURES_MAX);
}

/* Mean time of the links of the restart chain that the policy walks, loading left out. */
static double restart_mean_s(const struct job_spec *job)
{
    const struct restart_spec *restart = &job->recovery.restart;
    double sum_s = restart->communicators_per_rank_s * (double)job->ranks;
    struct recovery_decision decision;
    job_one_failure(job, &decision);
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        sum_s += decision.links[link] ? restart->links[link].mean_s : 0.0;
    return sum_s;
}

/* The cause that fails most: its rate alone, and how many of its units there are. */
static const struct failure_cause *busiest(const struct job_spec *job, double *mtbf_s)
{
    const struct failure_cause *worst = NULL;
    *mtbf_s = INFINITY;
    for (uint32_t i = 0; i < job->cause_count; i++) {
        double each_s = job_cause_mtbf_s(job, &job->causes[i]);
        if (each_s < *mtbf_s) {
            *mtbf_s = each_s;
            worst = &job->causes[i];
        }
    }
    return worst;
}

/* mtbf is of one unit: given as that of the job, the job fails before it has restarted. */
static void warn_hopeless(struct builder *b)
{
    const struct job_spec *job = &b->scenario->job;
    const struct value *failures = value_find(b->root, schema_section(SECTION_FAILURES)->path);
    double mtbf_s = job->checkpoint.job_mtbf_s, worst_s;
    if (failures == NULL || b->problems->error_count > 0)
        return;
    const double restart_s = restart_mean_s(job);
    if (mtbf_s >= restart_s)
        return;
    const struct failure_cause *worst = busiest(job, &worst_s);
    char each[QUANTITY_TEXT_MAX], restart[QUANTITY_TEXT_MAX], remedy[QUANTITY_TEXT_MAX];
    quantity_write(PARAM_TIME, mtbf_s, each, sizeof each);
    quantity_write(PARAM_TIME, restart_s, restart, sizeof restart);
    quantity_write(PARAM_TIME, worst->mtbf_s * worst->mtbf_s / worst_s, remedy, sizeof remedy);
    if (worst->kind->replays || worst->unit == UNIT_JOB)
        problems_warning(b->problems, failures->key_mark,
                         "failures: by their rates the job fails every %s, '%s' most, and restarts "
                         "for %s: it will hardly run; look at its mtbf, or its trace",
                         each, worst->name, restart);
    else
        problems_warning(b->problems, failures->key_mark,
                         "failures: by their rates the job fails every %s, '%s' most, and restarts "
                         "for %s: it will hardly run; mtbf is of one %s: for the whole job give "
                         "`unit: job`, or mtbf: %s",
                         each, worst->name, restart, failure_unit_names[worst->unit], remedy);
}

/* Planned stops save first, which a policy without tiers does not. */
static void warn_stops_lose_all(struct builder *b)
{
    const struct job_spec *job = &b->scenario->job;
    const struct value *run = value_find(b->root, schema_section(SECTION_RUN)->path);
    if (job->maintenance_every_s > 0.0 && job->checkpoint.kind->tiers_max == 0)
        problems_warning(b->problems, section_mark(run, "maintenance_every"),
                         "run.maintenance_every: checkpoint.policy %s saves nothing, so each "
                         "planned stop loses all work since the start; choose a policy that saves, "
                         "or give no maintenance",
                         job->checkpoint.kind->head.name);
}

static bool has_lemons(const struct job_spec *job)
{
    for (uint32_t i = 0; i < job->cause_count; i++)
        if (job->causes[i].kind->lemons != NULL)
            return true;
    return false;
}

/* What a failed repair leaves as it was is a lemon. */
static void warn_repair_fails(struct builder *b)
{
    static const char *const keys[] = {"recovery.repair_fails", "recovery.manual_repair_fails"};
    const struct job_spec *job = &b->scenario->job;
    const double ratios[] = {job->recovery.repair_fails_ratio,
                             job->recovery.manual_repair_fails_ratio};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct value *given = value_deepest(b->root, keys[i]);
        if (ratios[i] == 0.0 || given == NULL)
            continue;
        if (!has_lemons(job))
            problems_idle(b->problems, given->key_mark, keys[i],
                          "without failures of `law: lemon`: it leaves a lemon as it is; other "
                          "nodes are sound after a repair");
        else if (i > 0 && job->recovery.escalate_ratio == 0.0)
            problems_idle(b->problems, given->key_mark, keys[i],
                          "without escalate: no repair comes to it");
    }
}

/* The rest, which follows from a sound scenario. */
static void complete(struct builder *b)
{
    const struct configuration *c = &b->scenario->configuration;
    struct job_spec *job = &b->scenario->job;
    job->ranks = configuration_ranks(c);
    job->replicas = (uint32_t)c->layout.dp;
    job->tokens_per_step = configuration_tokens(c);
    if (job->steps == 0 && b->scenario->work_s == 0.0)
        job->steps = configuration_steps(c);
    if (!b->layout_open) /* what may have more ranks than there are GPUs stands nowhere yet */
        place_replicas(b, job);
    rental_of(c, &job->cost.rental);
    build_checkpoint_complete(b);
    job->checkpoint.job_mtbf_s = fleet_job_mtbf_s(job_fleet(job));
    check_failure_count(b);
    warn_hopeless(b);
    warn_stops_lose_all(b);
    warn_repair_fails(b);
}

static void warn_idle(struct builder *b, enum section section)
{
    const char *path = schema_section(section)->path;
    const struct value *given = value_find(b->root, path);
    if (given)
        problems_warning(b->problems, given->key_mark,
                         "%s has no effect on a single step; add `run: {duration: 54d}`", path);
}

static void warn_idle_price(struct builder *b)
{
    static const char key[] = "cost.storage_tb_month";
    const struct value *given = value_deepest(b->root, key);
    if (b->scenario->storage_tb_month_usd > 0.0)
        problems_idle(b->problems, given->key_mark, key,
                      "on a single step: it is the price of checkpoints that are kept; add "
                      "`run: {duration: 54d}`");
}

static bool wanted(const struct builder *b, enum section section)
{
    return b->scenario->has_run || value_find(b->root, schema_section(section)->path) != NULL;
}

void build_job(struct builder *b)
{
    fill_machine(b);
    if (wanted(b, SECTION_RECOVERY))
        build_recovery(b);
    if (wanted(b, SECTION_FAILURES))
        build_failures(b);
    build_storage(b);
    if (wanted(b, SECTION_CHECKPOINT))
        build_checkpoint(b);
    if (b->scenario->has_run) {
        build_run(b);
        build_recovery_idle(b);
    } else {
        warn_idle(b, SECTION_FAILURES);
        warn_idle(b, SECTION_CHECKPOINT);
        warn_idle(b, SECTION_STORAGE);
        warn_idle(b, SECTION_RECOVERY);
        warn_idle_price(b);
    }
    if (b->scenario->has_run && b->problems->error_count == 0)
        complete(b);
}
