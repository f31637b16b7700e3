#include "models/job/parts/job_chain.h"
#include "scenarios/assemble/build_duration.h"
#include "scenarios/assemble/build_job.h"
#include "sim/plural.h"

static void wrong(struct builder *b, const struct value *recovery, const char *key, const char *why)
{
    problems_error(b->problems, section_mark(recovery, key), "recovery.%s: %s", key, why);
}

static void check_spares(struct builder *b, const struct value *recovery)
{
    const struct job_spec *job = &b->scenario->job;
    uint64_t spares = job->recovery.spares;
    if (job->recovery.kind && !job->recovery.kind->has_spares && spares > 0)
        wrong(
            b, recovery, "spares",
            arena_format(b->arena,
                         "%s takes none; remove it, or choose hot-spare, warm-spare or cold-spare",
                         job->recovery.kind->head.name));
    if (b->cluster_sound && spares > job->nodes)
        wrong(b, recovery, "spares",
              arena_format(b->arena,
                           "%llu spare%s for %llu node%s; the pool has at most one for each node",
                           (unsigned long long)spares, plural_s(spares),
                           (unsigned long long)job->nodes, plural_s(job->nodes)));
}

/* An elastic job goes on with fewer replicas, down to a number that it has. */
static void check_replicas(struct builder *b, const struct value *recovery)
{
    uint64_t dp = b->scenario->configuration.layout.dp,
             least = b->scenario->job.recovery.replicas_min;
    if (b->layout_sound && least > dp)
        wrong(b, recovery, "replicas_min",
              arena_format(b->arena,
                           "the job has %llu replica%s (layout.dp), so it goes up to %llu",
                           (unsigned long long)dp, plural_s(dp), (unsigned long long)dp));
}

static void idle(struct builder *b, const struct value *section, const char *path, const char *key,
                 const char *why)
{
    problems_idle(b->problems, section_mark(section, key),
                  arena_format(b->arena, "%s.%s", path, key), "%s", why);
}

/* Keys that the policy does not look at, or that need another one. */
static void warn_partners(struct builder *b, const struct value *mapping)
{
    const struct recovery_spec *recovery = &b->scenario->job.recovery;
    const char *path = schema_section(SECTION_RECOVERY)->path;
    if (recovery->replicas_min > 1 &&
        !recovery_heeds(recovery->kind, &recovery->options).replicas_min)
        idle(b, mapping, path, "replicas_min",
             arena_format(b->arena, "with policy %s: it goes on with all replicas or none",
                          recovery->kind->head.name));
    if (recovery->escalate_ratio == 0.0 && value_find(mapping, "manual_repair"))
        idle(b, mapping, path, "manual_repair", "without escalate: no repair comes to it");
}

/* Links that take time and are never walked: by the policy after a failure, or after a planned
 * stop. */
static void warn_links(struct builder *b, const struct value *restart)
{
    const struct job_spec *job = &b->scenario->job;
    const struct recovery_kind *kind = job->recovery.kind;
    const struct recovery_heeds heeds = recovery_heeds(kind, &job->recovery.options);
    const bool stops = job->maintenance_every_s > 0.0 || heeds.shrinks;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        const char *name = restart_link_names[link];
        const bool walked = heeds.links[link] || (stops && job_chain_plans(link));
        if (!walked && job->recovery.restart.links[link].mean_s > 0.0 && value_find(restart, name))
            idle(b, restart, schema_section(SECTION_RESTART)->path, name,
                 arena_format(b->arena, "with policy %s: it is no link of its chain",
                              kind->head.name));
    }
}

static void build_restart(struct builder *b, const struct value *recovery)
{
    struct restart_spec *restart = &b->scenario->job.recovery.restart;
    const struct schema_section *schema = schema_section(SECTION_RESTART);
    const struct value *mapping = section_take(b, recovery, SECTION_RESTART);
    struct restart_keys keys = {0.0};
    if (mapping == NULL)
        return;
    reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    restart->communicators_per_rank_s = keys.communicators_per_rank_s;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        struct duration_keys duration;
        build_duration(b, mapping, SECTION_RESTART_LINKS + link, schema->path, &duration);
        restart->links[link] = duration.duration;
        restart->sheltered[link] = duration.sheltered;
    }
    section_finish(b, SECTION_RESTART, mapping, (struct params){NULL, 0}, schema->path);
}

/* The spares of whoever says nothing of them, if the policy takes any: of 1,024 nodes that are down
 * for .125 % of their time, four or fewer are at once 99 times of 100 (binomial). */
static void choose_spares(struct builder *b, const struct value *mapping)
{
    const uint64_t each = 4, nodes = 1024;
    struct job_spec *job = &b->scenario->job;
    const struct recovery_kind *kind = job->recovery.kind;
    if (kind == NULL || !kind->has_spares || value_find(mapping, "spares") || !b->cluster_sound)
        return;
    job->recovery.spares = (job->nodes * each + nodes - 1) / nodes;
    reader_chose(&b->reader, "recovery.spares",
                 arena_format(b->arena, "%llu", (unsigned long long)job->recovery.spares));
}

/* What the policy takes beside its name. */
static struct params read_keys(struct builder *b, const struct value *mapping)
{
    const struct schema_section *schema = schema_section(SECTION_RECOVERY);
    struct recovery_spec *recovery = &b->scenario->job.recovery;
    struct recovery_keys keys = {.policy = ""};
    reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    *recovery = (struct recovery_spec){.kind = recovery_find(keys.policy),
                                       .spares = keys.spares,
                                       .crews = keys.crews,
                                       .replicas_min = keys.replicas_min,
                                       .retire_after = keys.retire_after,
                                       .repair_fails_ratio = keys.repair_fails_ratio,
                                       .manual_repair_fails_ratio = keys.manual_repair_fails_ratio,
                                       .wrong_blame_ratio = keys.wrong_blame_ratio,
                                       .escalate_ratio = keys.escalate_ratio};
    if (*keys.policy && recovery->kind == NULL)
        section_unknown_name(b, SECTION_RECOVERY, mapping, "policy", keys.policy,
                             family_kinds(b->arena, FAMILY_RECOVERIES));
    return section_options(b, mapping, schema->path, recovery->kind ? &recovery->kind->head : NULL,
                           &recovery->options);
}

void build_recovery(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_RECOVERY);
    const struct value *mapping = section_take(b, b->root, SECTION_RECOVERY);
    struct recovery_spec *recovery = &b->scenario->job.recovery;
    struct duration_keys repair, manual;
    if (mapping == NULL)
        return;
    struct params options = read_keys(b, mapping);
    build_duration(b, mapping, SECTION_REPAIR, schema->path, &repair);
    build_duration(b, mapping, SECTION_MANUAL_REPAIR, schema->path, &manual);
    recovery->repair = repair.duration;
    recovery->manual_repair = manual.duration;
    build_restart(b, mapping);
    section_finish(b, SECTION_RECOVERY, mapping, options, schema->path);
    choose_spares(b, mapping);
    check_spares(b, mapping);
    check_replicas(b, mapping);
}

void build_recovery_idle(struct builder *b)
{
    const struct value *mapping = value_find(b->root, schema_section(SECTION_RECOVERY)->path);
    if (mapping == NULL || b->scenario->job.recovery.kind == NULL)
        return;
    const struct value *restart = value_find(mapping, "restart");
    warn_partners(b, mapping);
    if (restart != NULL)
        warn_links(b, restart);
}
