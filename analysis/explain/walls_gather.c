#include "analysis/explain/walls_gather.h"

#include <math.h>
#include <string.h>

#include "models/lower/plan/lower_plan.h"
#include "models/lower/stage/lower.h"
#include "models/memory/ledger.h"
#include "models/plan/minimum.h"
#include "models/plan/rule_of_thumb.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/collective_run.h"
#include "sim/units.h"

enum {
    CARDS_LIMIT = 16384, /* as `orrery memory` looks for the smallest cluster */
    CACHE_BYTES = 2,     /* of an element of keys and values */
    STATE_BYTES = 4      /* ... and of the state of a recurrent layer */
};

double walls_envelope_flops(const struct walls_envelope *e, double tokens)
{
    return e->adapters ? walls_adapter_flops(e->active_parameters, e->trained_parameters, tokens)
                       : walls_flops(e->active_parameters, tokens);
}

double walls_envelope_gradient_bytes(const struct walls_envelope *e)
{
    return e->trained_parameters * e->gradient_bytes_per_parameter;
}

static void take_envelope(const struct configuration *c, const struct walls_assumed *assumed,
                          struct walls_envelope *out)
{
    const bool adapters = c->training.adapter.kind != ADAPTER_NONE;
    struct rule_of_thumb rule;
    rule_of_thumb(c, &rule);
    *out = (struct walls_envelope){
        .shape = {.sequence = (double)c->training.sequence,
                  .sequences = 1.0,
                  .layers = (double)c->model.layers,
                  .hidden = (double)c->model.hidden,
                  .heads = (double)c->model.attention.heads},
        .parameters = rule.parameters,
        .active_parameters =
            c->model.moe.experts > 0 ? transformer_active_parameters(&c->model) : rule.parameters,
        .adapters = adapters,
        .trained_parameters = adapters ? configuration_adapter_parameters(c) : rule.parameters,
        .state_bytes_per_parameter = rule.bytes_per_parameter,
        .gradient_bytes_per_parameter = c->training.precision->gradient_bytes,
        .gpus = (double)configuration_ranks(c),
        .usable_bytes = c->gpu.hbm.usable_bytes,
        .cards = (double)rule.static_cards,
        .peak_flops_per_s = c->gpu.peak_flops_per_s[c->training.precision->gemm_peak],
        .hbm_bytes_per_s = c->gpu.hbm.bytes_per_s,
        .inference_bytes = rule.inference_bytes,
        .inference_cards = (double)rule.inference_cards,
        .cache_token_bytes = CACHE_BYTES * transformer_cache_elements(&c->model, 1),
        .cache_bytes = CACHE_BYTES * transformer_cache_elements(&c->model, c->training.sequence) +
                       STATE_BYTES * transformer_state_elements(&c->model),
        .cache_parts = c->model.latent.kv_rank > 0 ? 1.0 : (double)c->model.attention.kv_heads,
        .step_tokens = configuration_tokens(c),
        .budget_tokens = c->training.tokens > 0.0 ? c->training.tokens : NAN,
        .assumed = *assumed,
    };
}

/* The whole model on one card, one sequence, nothing split. */
static struct configuration alone(const struct configuration *c, enum recompute recompute,
                                  enum attention_kernel attention)
{
    struct configuration one = *c;
    one.layout.tp = one.layout.pp = one.layout.cp = one.layout.dp = one.layout.pipeline.vpp = 1;
    one.layout.ep = one.layout.etp = 1;
    one.layout.microbatch = one.training.global_batch = 1;
    one.layout.pipeline.first_layers = one.layout.pipeline.last_layers = 0;
    one.layout.pipeline.schedule = schedule_find("1f1b");
    one.layout.data.sharding = sharding_find("zero-0");
    one.layout.sequence_parallel = false;
    one.layout.recompute = (int)recompute;
    one.training.attention = (int)attention;
    one.cluster.nodes = 1;
    one.cluster.gpus = 0;
    return one;
}

static struct ledger_result ledger_alone(const struct configuration *one)
{
    struct arena *arena = arena_create();
    const struct ledger_limits endless = {
        .usable_bytes = INFINITY, .expandable_segments = one->software.memory.expandable_segments};
    struct ledger_result out;
    ledger_play(arena, lower_stage(arena, one, 0), &endless, false, &out);
    arena_destroy(arena);
    return out;
}

static double state_of(const struct ledger_result *l)
{
    return l->tenants[TENANT_WEIGHTS] + l->tenants[TENANT_GRADIENTS] + l->tenants[TENANT_MASTER] +
           l->tenants[TENANT_MOMENTS];
}

static void take_memory(const struct configuration *c, unsigned open, struct walls_simulated *out)
{
    const enum attention_kernel own = (enum attention_kernel)c->training.attention;
    const struct configuration kept = alone(c, RECOMPUTE_NONE, own);
    const struct configuration scores = alone(c, RECOMPUTE_NONE, ATTENTION_MATH);
    const struct configuration again = alone(c, RECOMPUTE_FULL, own);
    const struct ledger_result whole = ledger_alone(&kept);
    const uint64_t cards = minimum_gpus(c, open, CARDS_LIMIT);
    out->state_bytes = state_of(&whole);
    out->kept_bytes = whole.tenants[TENANT_ACTIVATIONS];
    out->kept_with_scores_bytes = ledger_alone(&scores).tenants[TENANT_ACTIVATIONS];
    out->recomputed_bytes = ledger_alone(&again).tenants[TENANT_ACTIVATIONS];
    out->cards = cards > 0 && cards != MINIMUM_UNKNOWN ? (double)cards : NAN;
}

static void take_time(const struct configuration *c, const struct step *step,
                      struct walls_simulated *out)
{
    unsigned most = 0;
    for (unsigned part = 1; part < PART_COUNT; part++)
        if (step->parts.breakdown_s[part] > step->parts.breakdown_s[most])
            most = part;
    out->timed = true;
    out->step_s = step->step_s;
    out->mfu_ratio = step->rates.mfu_ratio;
    out->budget_s = configuration_trained_tokens(c) / step->rates.tokens_per_s;
    out->gpu_s_of_budget = out->budget_s * (double)step->counts.ranks;
    out->exposed_dp_s = step->parts.breakdown_s[PART_EXPOSED_DP];
    out->most = breakdown_names[most];
    out->most_ratio = step->parts.breakdown_s[most] / step->step_s;
}

static void take_fullest(const struct step *step, struct walls_simulated *out)
{
    const struct ledger_result *fullest = &step->memory[0].ledger;
    for (uint32_t i = 1; i < step->memory_count; i++)
        if (step->memory[i].ledger.peak_reserved_bytes > fullest->peak_reserved_bytes)
            fullest = &step->memory[i].ledger;
    out->peak_reserved_bytes = fullest->peak_reserved_bytes;
    out->card_state_bytes = state_of(fullest);
}

static bool take_step(const struct configuration *c, struct walls_simulated *out,
                      struct error *error)
{
    const struct step_options options = {.threads = 1};
    struct step *step;
    if (!step_run(c, &options, &step, error))
        return false;
    out->fits = step->fits;
    if (step->fits) /* else the ledger ends where memory does */
        take_fullest(step, out);
    if (step->worker != NULL && step->fits)
        take_time(c, step, out);
    step_destroy(step);
    return true;
}

static bool take_all_reduce(const struct configuration *c, const struct walls_envelope *e,
                            struct walls_simulated *out, struct error *error)
{
    const double bytes = walls_envelope_gradient_bytes(e);
    struct collective_result played;
    if (configuration_ranks(c) < 2) {
        out->all_reduce_s = 0.0;
        return true;
    }
    if (!collective_run(c, COMM_ALL_REDUCE, configuration_ranks(c), bytes, &played, error))
        return false;
    out->all_reduce_s = played.time_s;
    return true;
}

static void take_words(struct arena *arena, const struct configuration *c,
                       const struct walls_envelope *e, struct walls_words *out)
{
    out->flops = flops_words_of(arena, c);
    out->sequence =
        arena_format(arena, "%s; simulated: %s",
                     e->adapters ? "(4 N + 6 n) s, n in adapters: frozen weights have no gradients "
                                   "(arXiv:2106.09685, section 4.1)"
                                 : "6 N s (arXiv:2001.08361, section 2.1), N that a token visits",
                     out->flops.formula);
    out->mfu =
        arena_format(arena, "stated (--mfu); simulated: by %s a token, no scores in the envelope",
                     out->flops.formula);
}

static bool take_simulated(const struct scenario *scenario, const struct walls_envelope *e,
                           struct walls_simulated *out, struct error *error)
{
    const struct configuration *c = &scenario->configuration;
    const double flops = configuration_flops_per_token(c, false);
    out->sequence_flops = flops * e->shape.sequence;
    out->step_flops = flops * e->step_tokens;
    out->budget_flops = flops * configuration_trained_tokens(c);
    take_memory(c, scenario->choices.open, out);
    return take_step(c, out, error) && take_all_reduce(c, e, out, error);
}

static struct walls_kernel against_roof(const struct configuration *c, const char *block,
                                        const struct kernel *kernel)
{
    const enum peak_kind kind =
        kernel->kind == KERNEL_MEMORY ? c->training.precision->gemm_peak : kernel->peak;
    const double peak = c->gpu.peak_flops_per_s[kind];
    const double rate = c->gpu.hbm.bytes_per_s;
    return (struct walls_kernel){
        .block = block,
        .name = kernel->name,
        .flops = kernel->flops,
        .bytes = kernel->bytes,
        .roofline_s = walls_roofline_s(kernel->flops, kernel->bytes, peak, rate),
        .modelled_s = gpu_kernel_time_s(&c->gpu, &c->kernels, kernel),
        .peak = kind,
        .peak_flops_per_s = peak,
        .by_arithmetic = kernel->flops > kernel->bytes * walls_balance(peak, rate),
    };
}

/* Forward kernels of a block; `out` NULL: only counts them. */
static unsigned forward_kernels(const struct configuration *c, const char *name,
                                const struct layer *layer, struct walls_kernel *out)
{
    unsigned count = 0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *segment = &layer->segments[i];
        for (unsigned k = 0; k < segment->forward.count; k++, count++)
            if (out != NULL)
                out[count] = against_roof(c, name, &segment->forward.kernels[k]);
    }
    return count;
}

static const char *form_name(const struct model_shape *m, uint64_t layer)
{
    const enum layer_form form = transformer_form(m, layer);
    if (layer_form_mixes(form))
        return m->pattern.kind->head.name;
    return layer_form_attends(form) ? "attention" : "mlp";
}

/* Of a layer; of a pattern's layers, each kind once. `out` NULL: only counts them. */
static unsigned layer_kernels(const struct lowering *l, struct walls_kernel *out)
{
    const struct configuration *c = l->c;
    bool seen[BLOCK_COUNT] = {false};
    unsigned count = 0;
    if (c->model.pattern.count == 0)
        return forward_kernels(c, "layer", l->layers[BLOCK_LAYER], out);
    for (uint32_t i = 0; i < c->model.pattern.count && i < c->model.layers; i++) {
        const enum block_index index = lower_plan_block(c, i, i);
        if (!seen[index])
            count += forward_kernels(c, form_name(&c->model, i), l->layers[index],
                                     out != NULL ? out + count : NULL);
        seen[index] = true;
    }
    return count;
}

static void take_kernels(struct arena *arena, const struct configuration *c, struct walls *out)
{
    const struct lowering *l = lower_plan_lowering(arena, c);
    const struct layer *head = l->layers[BLOCK_HEAD];
    const unsigned of_layer = layer_kernels(l, NULL);
    out->kernel_count = of_layer + forward_kernels(c, "head", head, NULL);
    struct walls_kernel *rows = ARENA_ARRAY(arena, struct walls_kernel, out->kernel_count + 1);
    layer_kernels(l, rows);
    forward_kernels(c, "head", head, rows + of_layer);
    out->kernels = rows;
}

unsigned walls_roofs(const struct walls *walls, const struct walls_kernel *roofs[PEAK_COUNT])
{
    unsigned count = 0;
    for (unsigned i = 0; i < walls->kernel_count; i++) {
        const struct walls_kernel *k = &walls->kernels[i];
        unsigned place = 0;
        while (place < count && roofs[place]->peak_flops_per_s > k->peak_flops_per_s)
            place++;
        if (k->flops <= 0.0 ||
            (place < count && roofs[place]->peak_flops_per_s == k->peak_flops_per_s))
            continue;
        memmove(&roofs[place + 1], &roofs[place], (count++ - place) * sizeof *roofs);
        roofs[place] = k;
    }
    return count;
}

static enum walls_wall binding(const struct walls_envelope *e)
{
    const double buffer = walls_envelope_gradient_bytes(e);
    const struct walls_load load = {
        .state_bytes = e->parameters * e->state_bytes_per_parameter,
        .least_activation_bytes = walls_recomputed_bytes(&e->shape),
        .gpus = e->gpus,
        .usable_bytes = e->usable_bytes,
        .compute_s = walls_compute_s(walls_envelope_flops(e, e->step_tokens), e->gpus,
                                     e->peak_flops_per_s, e->assumed.mfu_ratio),
        .all_reduce_s = walls_all_reduce_bytes(buffer, e->gpus) / e->assumed.bandwidth_bytes_per_s,
    };
    return walls_binding(&load);
}

bool walls_gather(struct arena *arena, const struct scenario *scenario,
                  const struct walls_assumed *assumed, struct walls *out, struct error *error)
{
    const struct configuration *c = &scenario->configuration;
    *out = (struct walls){.kernels = NULL};
    take_envelope(c, assumed, &out->envelope);
    out->simulated = (struct walls_simulated){
        .state_bytes = NAN,
        .kept_bytes = NAN,
        .kept_with_scores_bytes = NAN,
        .recomputed_bytes = NAN,
        .cards = NAN,
        .card_state_bytes = NAN,
        .peak_reserved_bytes = NAN,
        .sequence_flops = NAN,
        .step_flops = NAN,
        .budget_flops = NAN,
        .step_s = NAN,
        .mfu_ratio = NAN,
        .budget_s = NAN,
        .gpu_s_of_budget = NAN,
        .all_reduce_s = NAN,
        .exposed_dp_s = NAN,
    };
    take_words(arena, c, &out->envelope, &out->words);
    out->binding = binding(&out->envelope);
    take_kernels(arena, c, out);
    return take_simulated(scenario, &out->envelope, &out->simulated, error);
}
