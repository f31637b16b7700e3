/* Which version of its framework a published run used: the oldest that can do what the run did, and
 * what the other runs of its source did that name the same software and month.
 * People run a new feature soon after it has come, and an old kernel only until there is a better;
 * on a new card they run what its makers had adapted to it, none that was superseded by then. */
#include <stdio.h>
#include <string.h>

#include "analysis/validate/rows/validate_run.h"
#include "scenarios/describe/describe.h"
#include "scenarios/language/names.h"

enum {
    FRAMEWORKS_MAX = 256
};

/* Tables without a column of software are those of papers that ran Megatron-LM (layers.csv:
 * arXiv:2205.05198, pipeline.csv: arXiv:2401.10241). */
static const char tables_framework[] = "megatron";

/* Reads one profile through the door; the rest of the scenario may be wrong. "": the default. */
static bool read_profile(struct arena *arena, const char *catalogue, const char *name,
                         struct software_profile *out, struct error *error)
{
    char text[256];
    int length =
        snprintf(text, sizeof text, "software: {%s%.128s}\n", *name ? "profile: " : "", name);
    struct scenario_options how = {.catalogue = catalogue};
    struct scenario *s = scenario_read("software profile", text, (size_t)length, &how, error);
    if (s == NULL)
        return false;
    *out = s->configuration.software;
    bool found = out->name != NULL;
    if (found) {
        out->name = arena_text(arena, out->name);
        out->version.framework = arena_text(arena, out->version.framework);
        out->graphs.modules = arena_text(arena, out->graphs.modules);
        out->usual.sharding = arena_text(arena, out->usual.sharding);
        out->usual.full_sharding = arena_text(arena, out->usual.full_sharding);
    }
    scenario_destroy(s);
    if (found)
        return true;
    if (*name == '\0')
        return error_set(error, "software.yaml of the catalogue lacks the profile that stands "
                                "where none is named (software.profile in docs/reference.md)");
    return error_set(error, "the software profile '%.80s' of the catalogue cannot be read", name);
}

static bool read_card(struct arena *arena, const char *catalogue, const char *name,
                      struct card_year *out, struct error *error)
{
    char text[256];
    int length = snprintf(text, sizeof text, "cluster: {gpu: %.128s}\n", name);
    struct scenario_options how = {.catalogue = catalogue};
    struct scenario *s = scenario_read("card", text, (size_t)length, &how, error);
    if (s == NULL)
        return false;
    *out = (struct card_year){arena_text(arena, name), s->configuration.gpu.release,
                              s->configuration.cluster.node.gpus};
    scenario_destroy(s);
    return true;
}

static bool read_cards(struct arena *arena, const char *catalogue, struct validate_versions *out,
                       struct error *error)
{
    const struct catalogue_entry *entries;
    unsigned count = describe_entries("gpus", catalogue, arena, &entries, error);
    if (count == 0)
        return false;
    out->cards = ARENA_ARRAY(arena, struct card_year, count);
    for (; out->card_count < count; out->card_count++)
        if (!read_card(arena, catalogue, entries[out->card_count].name,
                       &out->cards[out->card_count], error))
            return false;
    return true;
}

const struct validate_versions *validate_versions_read(struct arena *arena, const char *catalogue,
                                                       struct error *error)
{
    struct validate_versions *out = ARENA_NEW(arena, struct validate_versions);
    const struct catalogue_entry *entries;
    unsigned count = describe_entries("software", catalogue, arena, &entries, error);
    if (count == 0)
        return NULL;
    out->profiles = ARENA_ARRAY(arena, struct software_profile, count + 1);
    for (; out->count < count; out->count++)
        if (!read_profile(arena, catalogue, entries[out->count].name, &out->profiles[out->count],
                          error))
            return NULL;
    if (!read_profile(arena, catalogue, "", &out->profiles[count], error))
        return NULL;
    return read_cards(arena, catalogue, out, error) ? out : NULL;
}

/* A run that does not say so is eager, which is the default of frameworks that offer both; but FP8
 * is of use only with its casts fused (torchtitan's page on float8), so it was compiled. */
static bool runs_as(const struct software_profile *profile, const struct validate_run *run)
{
    const struct precision *precision = precision_find(run->precision);
    const bool fp8 = precision != NULL && precision_narrow(precision);
    const bool compiled = run->says.compile || (!run->says.eager && (run->says.async || fp8));
    return profile->usual.execution == EXECUTION_ANY ||
           compiled == (profile->usual.execution == EXECUTION_COMPILED);
}

/* Attention that is not named is no feature. */
bool validate_run_fused(const char *attention)
{
    return *attention != '\0' && strcmp(attention, attention_kernel_names[ATTENTION_MATH]) != 0;
}

bool validate_run_selective(const char *recompute)
{
    return strcmp(recompute, recompute_names[RECOMPUTE_SELECTIVE]) == 0;
}

/* Can this version do what the run and its peers did? */
static bool able(const struct software_profile *profile, const struct validate_run *run)
{
    const bool fused = run->peers.fused || validate_run_fused(run->attention);
    const bool selective = run->peers.selective || validate_run_selective(run->recompute);
    const bool sequence =
        run->peers.sequence_parallel || run->layout.sequence_parallel == FLAG_TRUE;
    return (!sequence || profile->offers.sequence_parallelism) &&
           (!selective || profile->offers.selective_recompute ||
            profile->offers.operator_recompute) &&
           (!profile->offers.experts_alone || run->model.experts > 0) && runs_as(profile, run) &&
           (!fused || profile->usual.attention != ATTENTION_MATH);
}

/* PyTorch's own, run as this run was; without one, the middle of what is run. */
static const struct software_profile *native_version(const struct validate_versions *versions,
                                                     const struct validate_run *run)
{
    for (unsigned i = 0; i < versions->count; i++)
        if (versions->profiles[i].offers.native && runs_as(&versions->profiles[i], run))
            return &versions->profiles[i];
    return &versions->profiles[versions->count];
}

static uint64_t card_release(const struct validate_versions *versions, const char *gpu)
{
    for (unsigned i = 0; gpu != NULL && i < versions->card_count; i++)
        if (strcmp(versions->cards[i].name, gpu) == 0)
            return versions->cards[i].release;
    return 0;
}

/* Had a newer version of the framework come when the card did, or before? */
static bool superseded(const struct validate_versions *versions, const struct software_profile *p,
                       const struct validate_run *run)
{
    const uint64_t card = card_release(versions, run->gpu);
    for (unsigned i = 0; i < versions->count; i++) {
        const struct software_profile *newer = &versions->profiles[i];
        if (strcmp(software_framework(newer), software_framework(p)) == 0 &&
            newer->version.year > p->version.year && newer->version.year <= card &&
            !newer->offers.experts_alone)
            return true;
    }
    return false;
}

const struct software_profile *validate_version(const struct validate_versions *versions,
                                                const struct validate_run *run)
{
    if (run->says.undated && run->says.native)
        return native_version(versions, run);
    if (run->says.undated)
        return &versions->profiles[versions->count];
    const char *framework = *run->software != '\0' ? run->software : tables_framework;
    const struct software_profile *found = NULL;
    for (unsigned i = 0; i < versions->count; i++) {
        const struct software_profile *p = &versions->profiles[i];
        if (strcmp(software_framework(p), framework) != 0 || superseded(versions, p, run))
            continue;
        bool better = found == NULL || (able(p, run) && !able(found, run));
        if (found != NULL && able(p, run) == able(found, run))
            better = able(p, run) && p->offers.experts_alone != found->offers.experts_alone
                         ? p->offers.experts_alone
                         : (able(p, run) ? p->version.year < found->version.year
                                         : p->version.year > found->version.year);
        found = better ? p : found;
    }
    return found;
}

const char *validate_framework_near(const struct validate_versions *versions, const char *name)
{
    const char *names[FRAMEWORKS_MAX];
    unsigned count = 0;
    for (; count < versions->count && count < FRAMEWORKS_MAX; count++)
        names[count] = software_framework(&versions->profiles[count]);
    return names_nearest(name, (struct name_list){names, count});
}
