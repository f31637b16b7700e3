#include "models/plan/plan_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"

enum {
    COUNT_MOST = 1 << 22
};
enum value_type {
    VALUE_COUNT,
    VALUE_TRUTH,
    VALUE_RECOMPUTE,
    VALUE_SCHEDULE,
    VALUE_SHARDING
};

const char *const plan_axis_names[PLAN_KEY_COUNT] = {"tp",
                                                     "pp",
                                                     "cp",
                                                     "ep",
                                                     "microbatch",
                                                     "schedule",
                                                     "vpp",
                                                     "recompute",
                                                     "sharding",
                                                     "sequence_parallel",
                                                     "dp",
                                                     "etp",
                                                     "recompute_layers",
                                                     "ends_count",
                                                     "first_stage_layers",
                                                     "last_stage_layers"};
#define AT(member, of_spec)                                                                        \
    offsetof(struct plan_layout, member), offsetof(struct layout_spec, of_spec)
static const struct {
    size_t at, spec_at;
    enum value_type type;
} values[PLAN_KEY_COUNT] = {
    [PLAN_TP] = {AT(tp, tp), VALUE_COUNT},
    [PLAN_PP] = {AT(pp, pp), VALUE_COUNT},
    [PLAN_CP] = {AT(cp, cp), VALUE_COUNT},
    [PLAN_EP] = {AT(ep, ep), VALUE_COUNT},
    [PLAN_MICROBATCH] = {AT(microbatch, microbatch), VALUE_COUNT},
    [PLAN_SCHEDULE] = {AT(schedule, pipeline.schedule), VALUE_SCHEDULE},
    [PLAN_VPP] = {AT(vpp, pipeline.vpp), VALUE_COUNT},
    [PLAN_RECOMPUTE] = {AT(recompute, recompute), VALUE_RECOMPUTE},
    [PLAN_SHARDING] = {AT(sharding, data.sharding), VALUE_SHARDING},
    [PLAN_SEQUENCE_PARALLEL] = {AT(sequence_parallel, sequence_parallel), VALUE_TRUTH},
    [PLAN_DP] = {AT(dp, dp), VALUE_COUNT},
    [PLAN_ETP] = {AT(etp, etp), VALUE_COUNT},
    [PLAN_RECOMPUTE_LAYERS] = {AT(recompute_layers, recompute_layers), VALUE_COUNT},
    [PLAN_ENDS_COUNT] = {AT(ends_count, pipeline.ends_count), VALUE_TRUTH},
    [PLAN_FIRST_STAGE_LAYERS] = {AT(first_stage_layers, pipeline.first_layers), VALUE_COUNT},
    [PLAN_LAST_STAGE_LAYERS] = {AT(last_stage_layers, pipeline.last_layers), VALUE_COUNT},
};
static const size_t bytes_of[] = {
    [VALUE_COUNT] = sizeof(uint32_t), /* of a spec 64 bits */
    [VALUE_TRUTH] = sizeof(bool),
    [VALUE_RECOMPUTE] = sizeof(int),
    [VALUE_SCHEDULE] = sizeof(const struct schedule_kind *),
    [VALUE_SHARDING] = sizeof(const struct sharding_kind *),
};

struct plan_layout plan_layout_of(const struct configuration *c)
{
    struct plan_layout out = {0};
    for (unsigned key = 0; key < PLAN_KEY_COUNT; key++) {
        char *to = (char *)&out + values[key].at;
        const char *from = (const char *)&c->layout + values[key].spec_at;
        if (values[key].type == VALUE_COUNT)
            *(uint32_t *)to = (uint32_t) * (const uint64_t *)from;
        else
            memcpy(to, from, bytes_of[values[key].type]);
    }
    out.ep = (uint32_t)configuration_expert_ranks(c).ep;
    out.etp = c->model.moe.experts > 0 ? out.etp : 0;
    return out;
}

void plan_layout_apply(const struct configuration *base, const struct plan_layout *layout,
                       struct configuration *out)
{
    *out = *base;
    for (unsigned key = 0; key < PLAN_KEY_COUNT; key++) {
        char *to = (char *)&out->layout + values[key].spec_at;
        const char *from = (const char *)layout + values[key].at;
        if (values[key].type == VALUE_COUNT)
            *(uint64_t *)to = *(const uint32_t *)from;
        else
            memcpy(to, from, bytes_of[values[key].type]);
    }
    if (base->model.moe.experts == 0) {
        out->layout.ep = base->layout.ep;
        out->layout.etp = base->layout.etp;
    }
}

static const void *in(const struct plan_layout *layout, enum plan_axis key)
{
    return (const char *)layout + values[key].at;
}

bool plan_layout_same(const struct plan_layout *a, const struct plan_layout *b, unsigned but)
{
    bool same = true;
    for (unsigned key = 0; key < PLAN_KEY_COUNT && same; key++)
        same = (but >> key & 1u) != 0 ||
               memcmp(in(a, key), in(b, key), bytes_of[values[key].type]) == 0;
    return same;
}

void plan_layout_copy(struct plan_layout *to, const struct plan_layout *from, enum plan_axis key)
{
    memcpy((char *)to + values[key].at, in(from, key), bytes_of[values[key].type]);
}

static const char *count_text(struct arena *arena, enum plan_axis key, uint32_t count)
{
    return count == 0 && key >= PLAN_RECOMPUTE_LAYERS ? "auto"
                                                      : arena_format(arena, "%" PRIu32, count);
}

const char *plan_layout_text(struct arena *arena, const struct plan_layout *layout,
                             enum plan_axis key)
{
    const void *value = in(layout, key);
    switch (values[key].type) {
    case VALUE_COUNT:
        return count_text(arena, key, *(const uint32_t *)value);
    case VALUE_TRUTH:
        return *(const bool *)value ? "true" : "false";
    case VALUE_RECOMPUTE:
        return recompute_names[layout->recompute];
    case VALUE_SCHEDULE:
        return layout->schedule->head.name;
    case VALUE_SHARDING:
        return layout->sharding->head.name;
    }
    return NULL;
}

static bool read_count(const char *text, uint32_t *out)
{
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    *out = (uint32_t)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value >= 1 && value <= COUNT_MOST;
}

static bool read_truth(const char *text, bool *out)
{
    *out = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
    return *out || strcmp(text, "false") == 0 || strcmp(text, "no") == 0;
}

static bool read_recompute(const char *text, int *out)
{
    for (*out = 0; recompute_names[*out] != NULL; ++*out)
        if (strcmp(recompute_names[*out], text) == 0)
            return true;
    return false;
}

bool plan_layout_read(struct plan_layout *layout, enum plan_axis key, const char *text)
{
    char *value = (char *)layout + values[key].at;
    switch (values[key].type) {
    case VALUE_COUNT:
        return read_count(text, (uint32_t *)value);
    case VALUE_TRUTH:
        return read_truth(text, (bool *)value);
    case VALUE_RECOMPUTE:
        return read_recompute(text, &layout->recompute);
    case VALUE_SCHEDULE:
        return (layout->schedule = schedule_find(text)) != NULL;
    case VALUE_SHARDING:
        return (layout->sharding = sharding_find(text)) != NULL;
    }
    return false;
}

/* Experts are of a mixture; what follows where nothing is said is said where the base has it. */
static bool is_said(const struct configuration *base, const struct plan_layout *l,
                    enum plan_axis key)
{
    const struct layout_spec *was = &base->layout;
    if (key == PLAN_EP || key == PLAN_ETP)
        return base->model.moe.experts > 0 && (key == PLAN_EP || l->etp > 0);
    if (key == PLAN_RECOMPUTE_LAYERS)
        return l->recompute_layers > 0 || was->recompute_layers > 0;
    if (key == PLAN_ENDS_COUNT)
        return l->ends_count || was->pipeline.ends_count;
    if (key == PLAN_FIRST_STAGE_LAYERS)
        return l->first_stage_layers != was->pipeline.first_layers;
    return key != PLAN_LAST_STAGE_LAYERS || l->last_stage_layers != was->pipeline.last_layers;
}

unsigned plan_layout_sets(struct arena *arena, const struct configuration *base,
                          const struct plan_layout *l, const char *out[PLAN_KEY_COUNT])
{
    static const unsigned char order[PLAN_KEY_COUNT] = {PLAN_EP,
                                                        PLAN_ETP,
                                                        PLAN_TP,
                                                        PLAN_PP,
                                                        PLAN_CP,
                                                        PLAN_DP,
                                                        PLAN_VPP,
                                                        PLAN_MICROBATCH,
                                                        PLAN_SCHEDULE,
                                                        PLAN_SHARDING,
                                                        PLAN_RECOMPUTE,
                                                        PLAN_RECOMPUTE_LAYERS,
                                                        PLAN_SEQUENCE_PARALLEL,
                                                        PLAN_ENDS_COUNT,
                                                        PLAN_FIRST_STAGE_LAYERS,
                                                        PLAN_LAST_STAGE_LAYERS};
    unsigned count = 0;
    for (unsigned i = 0; i < PLAN_KEY_COUNT; i++)
        if (is_said(base, l, (enum plan_axis)order[i]))
            out[count++] = arena_format(arena, "layout.%s=%s", plan_axis_names[order[i]],
                                        plan_layout_text(arena, l, (enum plan_axis)order[i]));
    return count;
}

void plan_layout_settle_ends(const struct configuration *base, struct plan_layout *layout)
{
    const struct stage_ends ends = configuration_stage_ends(base, layout->pp, layout->vpp);
    layout->ends_count = base->layout.pipeline.ends_count || ends.count;
    layout->first_stage_layers =
        (uint32_t)(ends.first > 0 ? ends.first : base->layout.pipeline.first_layers);
    layout->last_stage_layers =
        (uint32_t)(ends.last > 0 ? ends.last : base->layout.pipeline.last_layers);
}
