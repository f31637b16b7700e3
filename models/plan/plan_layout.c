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

const char *const plan_axis_names[PLAN_KEY_COUNT] = {
    "tp",
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
    "last_stage_layers",
};
#define AT(member) offsetof(struct plan_layout, member)
static const struct {
    size_t at;
    enum value_type type;
} values[PLAN_KEY_COUNT] = {
    [PLAN_TP] = {AT(tp), VALUE_COUNT},
    [PLAN_PP] = {AT(pp), VALUE_COUNT},
    [PLAN_CP] = {AT(cp), VALUE_COUNT},
    [PLAN_EP] = {AT(ep), VALUE_COUNT},
    [PLAN_MICROBATCH] = {AT(microbatch), VALUE_COUNT},
    [PLAN_SCHEDULE] = {AT(schedule), VALUE_SCHEDULE},
    [PLAN_VPP] = {AT(vpp), VALUE_COUNT},
    [PLAN_RECOMPUTE] = {AT(recompute), VALUE_RECOMPUTE},
    [PLAN_SHARDING] = {AT(sharding), VALUE_SHARDING},
    [PLAN_SEQUENCE_PARALLEL] = {AT(sequence_parallel), VALUE_TRUTH},
    [PLAN_DP] = {AT(dp), VALUE_COUNT},
    [PLAN_ETP] = {AT(etp), VALUE_COUNT},
    [PLAN_RECOMPUTE_LAYERS] = {AT(recompute_layers), VALUE_COUNT},
    [PLAN_ENDS_COUNT] = {AT(ends_count), VALUE_TRUTH},
    [PLAN_FIRST_STAGE_LAYERS] = {AT(first_stage_layers), VALUE_COUNT},
    [PLAN_LAST_STAGE_LAYERS] = {AT(last_stage_layers), VALUE_COUNT},
};
static const size_t bytes_of[] = {
    [VALUE_COUNT] = sizeof(uint32_t),
    [VALUE_TRUTH] = sizeof(bool),
    [VALUE_RECOMPUTE] = sizeof(int),
    [VALUE_SCHEDULE] = sizeof(const struct schedule_kind *),
    [VALUE_SHARDING] = sizeof(const struct sharding_kind *),
};

struct plan_layout plan_layout_of(const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    return (struct plan_layout){.tp = (uint32_t)l->tp,
                                .pp = (uint32_t)l->pp,
                                .cp = (uint32_t)l->cp,
                                .ep = (uint32_t)configuration_expert_ranks(c).ep,
                                .etp = c->model.moe.experts > 0 ? (uint32_t)l->etp : 0,
                                .dp = (uint32_t)l->dp,
                                .vpp = (uint32_t)l->pipeline.vpp,
                                .microbatch = (uint32_t)l->microbatch,
                                .recompute_layers = (uint32_t)l->recompute_layers,
                                .recompute = l->recompute,
                                .sequence_parallel = l->sequence_parallel,
                                .ends_count = l->pipeline.ends_count,
                                .first_stage_layers = (uint32_t)l->pipeline.first_layers,
                                .last_stage_layers = (uint32_t)l->pipeline.last_layers,
                                .schedule = l->pipeline.schedule,
                                .sharding = l->data.sharding};
}

void plan_layout_apply(const struct configuration *base, const struct plan_layout *layout,
                       struct configuration *out)
{
    struct layout_spec *l = &out->layout;
    *out = *base;
    l->tp = layout->tp;
    l->pp = layout->pp;
    l->cp = layout->cp;
    if (base->model.moe.experts > 0) {
        l->ep = layout->ep;
        l->etp = layout->etp;
    }
    l->dp = layout->dp;
    l->pipeline.vpp = layout->vpp;
    l->microbatch = layout->microbatch;
    l->recompute = layout->recompute;
    l->recompute_layers = layout->recompute_layers;
    l->sequence_parallel = layout->sequence_parallel;
    l->pipeline.ends_count = layout->ends_count;
    l->pipeline.first_layers = layout->first_stage_layers;
    l->pipeline.last_layers = layout->last_stage_layers;
    l->pipeline.schedule = layout->schedule;
    l->data.sharding = layout->sharding;
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
