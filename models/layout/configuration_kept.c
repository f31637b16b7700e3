/* The rules of what is kept: for each parameter, and of the modules of a layer. */
#include <inttypes.h>

#include "models/layout/configuration_parts.h"
#include "models/sharding/sharding_kind.h"
#include "sim/plural.h"

static void check_master(struct rule_report *r)
{
    const struct training_spec *t = &r->c->training;
    const enum state_format format = optimizer_master_format(&t->state_formats);
    if (format == STATE_AUTO || t->precision->master_weights)
        return;
    rule_say(r, false, "training.master_weights",
             "%s keeps no master copy: its weights are as wide as one; take auto",
             t->precision->head.name);
}

static void check_moment(struct rule_report *r, unsigned moment)
{
    static const char *const keys[MOMENT_MAX] = {"training.first_moment", "training.second_moment"};
    const struct optimizer *o = r->c->training.optimizer;
    if (optimizer_moment_format(&r->c->training.state_formats, moment) == STATE_AUTO)
        return;
    if (moment >= o->moment_count)
        rule_say(r, false, keys[moment], "%s has %s: take auto", o->head.name,
                 o->moment_count == 0 ? "no moments" : "one moment");
    else if (o->fixed_formats)
        rule_say(r, false, keys[moment], "%s keeps %s in its own format: take auto", o->head.name,
                 o->moments[moment].name);
}

static void check_adapter(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const struct adapter_spec *a = &c->training.adapter;
    const enum peak_kind peak = c->training.precision->gemm_peak;
    if (a->kind == ADAPTER_NONE)
        return;
    if (c->model.moe.experts > 0 || c->model.latent.kv_rank > 0)
        rule_say(r, false, "training.adapter",
                 "adapters are known for dense models with ordinary attention, %s has %s",
                 c->model.name, c->model.moe.experts > 0 ? "experts" : "latent attention");
    if (c->model.mtp_layers > 0)
        rule_say(r, false, "model.mtp_layers",
                 "the effect of adapters on multi-token prediction modules is not known: set "
                 "mtp_layers: 0");
    if (peak != PEAK_BF16 && peak != PEAK_FP16)
        rule_say(r, false, "training.precision",
                 "with frozen weights %s computes in 16 bits, not in %s: take bf16 or fp16",
                 adapter_names[a->kind], c->training.precision->head.name);
    if (a->rank == 0 || a->rank > c->model.hidden)
        rule_say(r, false, "training.adapter_rank",
                 "a rank of %" PRIu64 " is none of a matrix %" PRIu64 " wide", a->rank,
                 c->model.hidden);
}

static void check_modules(struct rule_report *r)
{
    const struct configuration *c = r->c;
    if (c->layout.recompute != RECOMPUTE_MODULES)
        return;
    if (c->training.adapter.kind != ADAPTER_NONE)
        rule_say(
            r, false, "layout.recompute",
            "it is not known which modules of frozen layers are recomputed: take full or none");
}

bool configuration_wide_layer(const struct configuration *c, uint64_t layer)
{
    const struct training_spec *t = &c->training;
    return layer < t->wide_layers_first || layer + t->wide_layers_last >= c->model.layers;
}

/* Do its wide layers forbid delayed scaling? */
static bool wide_undelayed(const struct configuration *c)
{
    return c->software.fp8.delayed_whole &&
           c->training.wide_layers_first + c->training.wide_layers_last > 0;
}

enum fp8_recipe configuration_fp8_recipe(const struct configuration *c)
{
    const enum fp8_recipe wanted = (enum fp8_recipe)c->software.fp8.recipe;
    const enum fp8_recipe out =
        fp8_recipe_on(wanted, c->training.precision->gemm_peak, c->gpu.gemm.block_scaling);
    return wanted == FP8_AUTO && out == FP8_DELAYED && wide_undelayed(c) ? FP8_CURRENT : out;
}

double configuration_weight_copy_bytes(const struct configuration *c)
{
    const struct precision *p = c->training.precision;
    if (!precision_narrow(p) || c->software.fp8.weights_each)
        return p->copy_bytes;
    const struct fp8_facts *facts = fp8_recipe_facts(configuration_fp8_recipe(c));
    const double copy = facts->element_bytes + facts->weight_scale_bytes;
    if (!facts->by_direction && !c->gpu.gemm.transposed_copies)
        return 0.0;
    return p->weight_bytes < precision_wide(p)->weight_bytes ? copy + facts->weight_scale_bytes
                                                             : 2.0 * copy;
}

static void check_wide_layers(struct rule_report *r)
{
    const struct training_spec *t = &r->c->training;
    const uint64_t layers = r->c->model.layers, wide = t->wide_layers_first + t->wide_layers_last;
    const char *key =
        t->wide_layers_first > 0 ? "training.bf16_layers_first" : "training.bf16_layers_last";
    if (wide == 0)
        return;
    if (!precision_narrow(t->precision))
        rule_say(r, false, key, "%s computes every layer in one format: take fp8 or nvfp4, or 0",
                 t->precision->head.name);
    else if (wide >= layers)
        rule_say(r, false, key,
                 "%" PRIu64 " layer%s in bf16 %s none of %" PRIu64 " in %s: take fewer, or "
                 "precision: %s",
                 wide, plural_s(wide), wide == 1 ? "leaves" : "leave", layers,
                 t->precision->head.name, precision_wide(t->precision)->head.name);
    else if (configuration_fp8_recipe(r->c) == FP8_DELAYED && wide_undelayed(r->c))
        rule_say(r, false, "software.fp8_recipe",
                 "%s keeps no layer in bf16 with delayed scaling: take current or blockwise, or 0 "
                 "for training.bf16_layers_first and bf16_layers_last",
                 r->c->software.name);
}

/* Names of sharded_optimizers are optimizers, and the one of the training is among them where its
 * state is sharded. */
static void check_sharded_optimizers(struct rule_report *r)
{
    const struct software_profile *software = &r->c->software;
    const char *name = r->c->training.optimizer->head.name;
    const char *unknown = software_unknown(software->offers.sharded_optimizers, optimizer_at);
    if (unknown != NULL)
        rule_say(r, false, "software.sharded_optimizers",
                 "'%.40s' begins with no optimizer: it is any, or optimizers joined by +", unknown);
    else if (r->c->layout.data.sharding->shards_optimizer && !software_shards(software, name))
        rule_say(r, false, "training.optimizer",
                 "%s shards the state of %s, not of %s: take one of these, or layout.sharding: "
                 "zero-0",
                 software->name, software->offers.sharded_optimizers, name);
}

void configuration_check_state(struct rule_report *r)
{
    check_wide_layers(r);
    check_sharded_optimizers(r);
    check_master(r);
    for (unsigned i = 0; i < MOMENT_MAX; i++)
        check_moment(r, i);
    check_adapter(r);
    check_modules(r);
}
