/* The rules of a pipeline: layers that its stages and chunks can share, and an order that can be.
 */
#include <inttypes.h>
#include <stdio.h>

#include "models/layout/configuration_parts.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/plural.h"

/* The number next to `from`, at most `most`, by whose multiple with `other` the layers can be
 * divided; upwards or downwards; 0: none. */
static uint64_t next_divisor(uint64_t layers, uint64_t other, uint64_t from, bool upwards)
{
    uint64_t value = from;
    while (upwards ? value * other < layers : value > 1) {
        value = upwards ? value + 1 : value - 1;
        if (layers % (value * other) == 0)
            return value;
    }
    return 0;
}

/* "vpp = 2 or 5": the values of `key` beside the one that was given. */
static bool name_divisors(const char *key, uint64_t layers, uint64_t other, uint64_t from,
                          char *out, size_t size)
{
    uint64_t below = next_divisor(layers, other, from, false);
    uint64_t above = next_divisor(layers, other, from, true);
    if (below > 0 && above > 0)
        snprintf(out, size, "%s = %" PRIu64 " or %" PRIu64, key, below, above);
    else
        snprintf(out, size, "%s = %" PRIu64, key, below > 0 ? below : above);
    return below > 0 || above > 0;
}

struct stage_ends configuration_stage_ends(const struct configuration *c, uint64_t pp, uint64_t vpp)
{
    const uint64_t layers = c->model.layers,
                   given = c->layout.pipeline.first_layers + c->layout.pipeline.last_layers;
    const struct stage_ends even = {.count = false};
    if (!c->software.pipeline.even_stages || pp < 2 || vpp < 1 || given > 0 ||
        layers % (pp * vpp) == 0)
        return even;
    if ((layers + 2) % (pp * vpp) == 0)
        return (struct stage_ends){.count = true};
    const uint64_t others = (pp - 2) * ((layers + pp - 1) / pp), ahead = c->model.mtp_layers;
    if (vpp > 1 || layers < others + 2)
        return even;
    const uint64_t ends = layers - others, last = ends > ahead + 2 ? (ends - ahead) / 2 : 1;
    return (struct stage_ends){.first = ends - last, .last = last};
}

static void say_uneven(struct rule_report *r, uint64_t layers)
{
    const struct layout_spec *l = &r->c->layout;
    bool chunks = layers % l->pp == 0; /* then there are several */
    uint64_t whole = r->c->model.layers + 2;
    const struct stage_ends ends = configuration_stage_ends(r->c, l->pp, l->pipeline.vpp);
    char would_do[64], given[96] = "";
    if (l->pipeline.vpp == 1 && !l->pipeline.ends_count && ends.first > 0)
        snprintf(given, sizeof given,
                 ", or first_stage_layers: %" PRIu64 " with last_stage_layers: %" PRIu64,
                 ends.first, ends.last);
    else if (l->pipeline.vpp == 1 && !l->pipeline.ends_count)
        snprintf(given, sizeof given, ", or first_stage_layers and last_stage_layers");
    if (!l->pipeline.ends_count && whole % (l->pp * l->pipeline.vpp) == 0)
        snprintf(would_do, sizeof would_do, "ends_count: true (embedding and head are layers)");
    else if (chunks)
        name_divisors("vpp", layers, l->pp, l->pipeline.vpp, would_do, sizeof would_do);
    else if (!name_divisors("pp", layers, l->pipeline.vpp, l->pp, would_do, sizeof would_do))
        name_divisors("vpp = 1 with pp", layers, 1, l->pp, would_do, sizeof would_do);
    rule_say(r, false, chunks ? "layout.vpp" : "layout.pp",
             "%" PRIu64 " layer%s%s %s not divisible by pp x vpp = %" PRIu64 " x %" PRIu64
             " = %" PRIu64 " chunks, and %s requires equal ones: %s would do%s; a version that "
             "takes a list of layers is software: {profile: %s, even_stages: false}",
             layers, plural_s(layers), l->pipeline.ends_count ? " (with embedding and head)" : "",
             layers == 1 ? "is" : "are", l->pp, l->pipeline.vpp, l->pp * l->pipeline.vpp,
             r->c->software.name, would_do, given, r->c->software.name);
}

/* Megatron-LM megatron/training/arguments.py and core/transformer/transformer_config.py: layers
 * (and what counts as one) over stages, a stage's over its chunks, those between a given first and
 * last stage over the others. */
static void check_even(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    uint64_t given = l->pipeline.first_layers + l->pipeline.last_layers,
             layers = r->c->model.layers;
    uint64_t stages = l->pp - (l->pipeline.first_layers > 0) - (l->pipeline.last_layers > 0);
    if (!r->c->software.pipeline.even_stages || l->pp == 1)
        return;
    if (given == 0 &&
        (layers + (l->pipeline.ends_count ? 2 : 0)) % (l->pp * l->pipeline.vpp) != 0) {
        say_uneven(r, layers + (l->pipeline.ends_count ? 2 : 0));
    } else if (given > 0 && stages > 0 && (layers - given) % stages != 0) {
        rule_say(r, false, "layout.first_stage_layers",
                 "first_stage_layers and last_stage_layers leave %" PRIu64 " layer%s for %" PRIu64
                 " stage%s, and %s requires these to be equal",
                 layers - given, plural_s(layers - given), stages, plural_s(stages),
                 r->c->software.name);
    }
}

static void check_stages(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    uint64_t layers = r->c->model.layers, chunks = l->pp * l->pipeline.vpp;
    if (layers + (l->pipeline.ends_count ? 2 : 0) < chunks) {
        rule_say(r, false, l->pipeline.vpp > 1 ? "layout.vpp" : "layout.pp",
                 "%" PRIu64 " layer%s %s fewer than pp x vpp = %" PRIu64 " x %" PRIu64 " = %" PRIu64
                 " chunks",
                 layers, plural_s(layers), layers == 1 ? "is" : "are", l->pp, l->pipeline.vpp,
                 chunks);
        return;
    }
    uint64_t first = l->pipeline.first_layers, last = l->pipeline.last_layers;
    if (first == 0 && last == 0) {
        check_even(r);
        return;
    }
    if (l->pipeline.vpp > 1 || l->pipeline.ends_count) {
        rule_say(r, false, "layout.first_stage_layers",
                 "first_stage_layers and last_stage_layers need vpp = 1 and no ends_count");
    } else if (l->pp == 1 && ((first > 0 && first != layers) || (last > 0 && last != layers))) {
        rule_say(r, false, "layout.first_stage_layers",
                 "with pp = 1 the one stage holds all %" PRIu64 " layer%s", layers,
                 plural_s(layers));
    } else if (l->pp > 1) {
        uint64_t given = first + last, free_stages = l->pp - (first > 0) - (last > 0);
        bool fits = free_stages == 0 ? given == layers : given + free_stages <= layers;
        if (!fits) {
            rule_say(r, false, "layout.first_stage_layers",
                     "first_stage_layers + last_stage_layers = %" PRIu64 " of %" PRIu64
                     " layer%s do not leave the other %" PRIu64 " stage%s what they need",
                     given, layers, plural_s(layers), free_stages, plural_s(free_stages));
        } else {
            check_even(r);
        }
    }
}

static void check_schedule(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    uint64_t share = l->dp * l->microbatch;
    if (r->c->training.global_batch % share != 0)
        return;
    struct schedule_shape shape = {(uint32_t)l->pp, (uint32_t)l->pipeline.vpp,
                                   (uint32_t)configuration_microbatches(r->c),
                                   &l->pipeline.schedule_options};
    const char *refusal = l->pipeline.schedule->refuse(&shape);
    if (refusal != NULL) {
        rule_say(r, false, "layout.schedule",
                 "%s (pp %" PRIu64 ", vpp %" PRIu64 ", %" PRIu32 " microbatches)", refusal, l->pp,
                 l->pipeline.vpp, shape.microbatches);
    } else if (l->pipeline.schedule->placement == PLACED_BOTH_WAYS &&
               (l->data.sharding->gather == GATHER_UNITS || l->data.sharding->hybrid)) {
        rule_say(r, false, "layout.sharding",
                 "%s holds every stage on two ranks of a pipeline, which reduce their gradients "
                 "together: %s, which gathers weights unit by unit, is not defined for it; take "
                 "zero-1 or zero-0",
                 l->pipeline.schedule->head.name, l->data.sharding->head.name);
    } else if (l->pp == 1 && l->pipeline.vpp > 1) {
        rule_say(r, false, "layout.vpp",
                 "with pp = 1 there is no pipeline whose stages could hold %" PRIu64
                 " chunks: take vpp = 1 or more stages",
                 l->pipeline.vpp);
    } else if (l->pp > 1 && l->pipeline.vpp == 1 && l->pipeline.schedule->interleaved) {
        rule_say(
            r, false, "layout.schedule",
            "%s with vpp = 1 has one chunk on each stage, which is plain 1f1b: give layout.vpp, or "
            "schedule: 1f1b",
            l->pipeline.schedule->head.name);
    } else if (l->pipeline.schedule->interleaved && l->pp > 1 &&
               !r->c->software.pipeline.interleaves) {
        rule_say(r, true, "layout.schedule", "%s does not offer the %s schedule",
                 r->c->software.name, l->pipeline.schedule->head.name);
    }
}

void configuration_check_stages(struct rule_report *r)
{
    check_stages(r);
    check_schedule(r);
}
