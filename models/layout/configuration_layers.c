/* The rules of patterns of layers, and of the recurrent layers in them. */
#include <inttypes.h>

#include "models/layout/configuration_parts.h"

static void check_order(struct rule_report *r)
{
    const struct model_shape *m = &r->c->model;
    const struct layer_pattern *p = &m->pattern;
    bool experts = false;
    for (unsigned i = 0; i < p->count; i++)
        experts = experts || p->layers[i].feed == FEED_EXPERTS;
    if (m->layers % p->count != 0)
        rule_say(r, false, "model.pattern",
                 "a pattern of %u layers does not fill %" PRIu64 " (model.layers) in whole turns",
                 p->count, m->layers);
    if (experts && m->moe.experts == 0)
        rule_say(r, false, "model.pattern",
                 "layers of experts (E) need model.experts, experts_per_token and moe_ffn_hidden");
    if (m->mtp_layers > 0 && layer_form_blocks(transformer_form(m, m->layers - 1)) < 2)
        rule_say(r, false, "model.mtp_layers",
                 "a module has a layer like the last one, which is one block alone in this "
                 "pattern: set mtp_layers: 0");
    if (r->c->training.adapter.kind != ADAPTER_NONE)
        rule_say(r, false, "training.adapter",
                 "adapters are known for models whose layers all attend, and %s has a pattern",
                 m->name);
    if (r->c->layout.recompute == RECOMPUTE_PER_OPERATOR)
        rule_say(r, false, "layout.recompute",
                 "it is not known which operators of a pattern's layers are recomputed: take full "
                 "or none");
}

/* What the kernels of a recurrence, and the software that calls them, can do. */
static void check_kernels(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const char *name = c->model.pattern.kind->head.name;
    const enum peak_kind operands = c->training.precision->attention_peak;
    if (!(c->software.layer.scan_time_ratio > 0.0))
        rule_say(r, false, "software.scan_time",
                 "%s has no recurrent layers (%s): take a profile that has, or set scan_time",
                 c->software.name, name);
    if (operands != PEAK_BF16 && operands != PEAK_FP16)
        rule_say(r, false, "training.precision",
                 "kernels of %s are known for operands of 16 bits: take bf16, fp16 or fp8", name);
    if (c->layout.cp > 1 && !c->software.context.mixers)
        rule_say(r, false, "layout.cp",
                 "%s does not split recurrent layers (%s) over context ranks: take cp = 1",
                 c->software.name, name);
}

static void check_sizes(struct rule_report *r)
{
    const struct model_shape *m = &r->c->model;
    const struct layer_kind *kind = m->pattern.kind;
    if (m->pattern.sizes.heads == 0 || m->pattern.sizes.head_size == 0) {
        rule_say(r, false, "model.pattern", "layers of %s need linear_heads and linear_head_size",
                 kind->head.name);
        return;
    }
    const char *reason = kind->refuse(&m->pattern.sizes);
    if (reason != NULL) {
        rule_say(r, false, "model.linear_heads", "%s", reason);
        return;
    }
    reason = layer_refuse_split(&m->pattern.sizes, r->c->layout.tp, r->c->layout.cp);
    if (reason != NULL)
        rule_say(r, false, "layout.tp",
                 "layers of %s: %s (%" PRIu64 " and %" PRIu64 " heads, tp = %" PRIu64
                 ", cp = %" PRIu64 ")",
                 kind->head.name, reason, m->pattern.sizes.heads, m->pattern.sizes.key_heads,
                 r->c->layout.tp, r->c->layout.cp);
}

void configuration_check_layers(struct rule_report *r)
{
    const struct layer_pattern *p = &r->c->model.pattern;
    if (p->count == 0)
        return;
    check_order(r);
    if (p->kind == NULL)
        return;
    check_kernels(r);
    check_sizes(r);
}
