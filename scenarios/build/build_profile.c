/* build_profile.c - cluster.profile: the measured times of the cluster's cards. */
#include "models/gpu/calibrate/profile_time.h"

#include <string.h>

#include "scenarios/build/build_parts.h"
#include "scenarios/language/file.h"

static const char *name_of(struct builder *b, const char *path,
                           const struct measured_profile *profile)
{
    return arena_format(b->arena, "%s: %s, %s", file_stem(b->arena, path),
                        profile->head.facts.device, profile->head.date);
}

/* What is odd about it, yet no error. */
static void warn(struct builder *b, struct mark mark, const struct measured_profile *profile)
{
    const struct gpu_spec *gpu = &b->scenario->configuration.gpu;
    const char *of = profile->head.gpu;
    if (*of && strcmp(of, gpu->name) != 0)
        problems_warning(b->problems, mark, "cluster.profile: it was measured on %s, not on %s", of,
                         gpu->name);
    if (!profile->head.complete)
        problems_warning(b->problems, mark,
                         "cluster.profile: the calibration was not finished; 'orrery-calibrate' "
                         "with the same file goes on");
}

void build_profile(struct builder *b, const struct value *cluster, const char *named)
{
    struct configuration *c = &b->scenario->configuration;
    struct mark mark = section_mark(cluster, "profile");
    struct measured_profile *profile = ARENA_NEW(b->arena, struct measured_profile);
    struct error error = {""};
    const char *path = section_file(b, named, mark), *why;
    if (!profile_read(b->arena, path, profile, &error)) {
        problems_error(b->problems, mark, "cluster.profile: %s", error.text);
    } else if ((why = profile_time_impossible(b->arena, profile, &c->gpu)) != NULL) {
        problems_error(b->problems, mark, "cluster.profile: %s", why);
    } else {
        warn(b, mark, profile);
        c->kernels = (struct kernel_source){profile_time_lookup,
                                            profile_time_open(b->arena, profile, &c->gpu),
                                            name_of(b, path, profile)};
    }
}
