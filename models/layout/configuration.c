#include "models/layout/configuration.h"

#include <math.h>
#include <stddef.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"
#include "sim/random.h"

const char *const cp_method_names[] = {"all_gather", "ring", "all_to_all", "all_to_all_ring", NULL};
const char *const cp_balance_names[] = {"auto", "zig_zag", "none", NULL};
const char *const placement_names[] = {"packed", "scattered", NULL};

uint64_t configuration_replicas(const struct configuration *c)
{
    return c->layout.dp * c->layout.cp;
}

uint64_t configuration_holders(const struct configuration *c)
{
    const uint64_t copies = c->layout.pipeline.schedule->placement == PLACED_BOTH_WAYS ? 2 : 1;
    return copies * configuration_replicas(c);
}

struct expert_ranks configuration_expert_ranks(const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    struct expert_ranks out = {.ep = 1, .etp = l->tp};
    if (c->model.moe.experts > 0) {
        out.ep = l->ep > 0 ? l->ep : 1;
        out.etp = l->etp > 0 ? l->etp : l->tp;
    }
    out.apart = out.ep > 1 || out.etp != l->tp;
    out.edp = l->tp * configuration_replicas(c) / (out.ep * out.etp);
    out.holders = configuration_holders(c) / configuration_replicas(c) * out.edp;
    return out;
}

static uint64_t inner_ranks(const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    const uint64_t tp = l->tp > 0 ? l->tp : 1;
    if (l->context.inner > 0)
        return l->context.inner;
    uint64_t inner = l->cp;
    while (inner > 1 && (l->cp % inner != 0 || inner * tp > c->cluster.node.gpus ||
                         c->model.attention.heads % (inner * tp) != 0 ||
                         c->model.attention.kv_heads % (inner * tp) != 0))
        inner--;
    return inner;
}

struct context_ranks configuration_context_ranks(const struct configuration *c)
{
    const uint64_t cp = c->layout.cp;
    switch ((enum cp_method)c->layout.context.method) {
    case CP_RING:
        return (struct context_ranks){1, cp};
    case CP_ALL_TO_ALL:
        return (struct context_ranks){cp, 1};
    case CP_ALL_TO_ALL_RING:
        return (struct context_ranks){inner_ranks(c), cp / inner_ranks(c)};
    case CP_ALL_GATHER:
        return (struct context_ranks){1, 1};
    }
    UNREACHABLE("method is an enum cp_method");
}

bool configuration_splits_sequences(const struct configuration *c)
{
    return !c->software.offers.heads_alone || c->layout.context.method == CP_ALL_TO_ALL;
}

const struct dispatch_kind *configuration_dispatch(const struct configuration *c)
{
    return c->layout.experts.dispatch != NULL ? c->layout.experts.dispatch : &dispatch_alltoall;
}

double configuration_host_s(const struct configuration *c, double software_s)
{
    const double slowdown = c->cluster.node.host.slowdown_ratio;
    return software_s * (slowdown > 0.0 ? slowdown : 1.0);
}

double configuration_expert_room(const struct configuration *c)
{
    const struct dispatch_kind *kind = configuration_dispatch(c);
    return kind->room != NULL ? kind->room(&c->layout.experts.dispatch_options) : 0.0;
}

struct routing configuration_routing(const struct configuration *c)
{
    return transformer_routing(&c->model);
}

uint64_t configuration_expert_shards(const struct configuration *c)
{
    const struct expert_ranks experts = configuration_expert_ranks(c);
    const uint64_t places = configuration_shards(c) * (c->layout.tp / experts.etp);
    if (c->layout.data.sharding->hybrid)
        return places > experts.ep ? places / experts.ep : 1;
    return sharding_shards(c->layout.data.sharding, experts.holders, experts.holders);
}

double configuration_tokens(const struct configuration *c)
{
    return (double)c->training.global_batch * (double)c->training.sequence;
}

uint64_t configuration_steps_of(double tokens, double step_tokens)
{
    return tokens > 0.0 ? (uint64_t)ceil(tokens / step_tokens) : 0;
}

uint64_t configuration_steps(const struct configuration *c)
{
    return configuration_steps_of(c->training.tokens, configuration_tokens(c));
}

double configuration_trained_tokens(const struct configuration *c)
{
    const uint64_t steps = configuration_steps(c);
    return steps > 0 ? (double)steps * configuration_tokens(c) : NAN;
}

double configuration_adapter_parameters(const struct configuration *c)
{
    return transformer_adapter_parameters(&c->model, &c->training.adapter,
                                          c->software.layer.separate_projections);
}

double configuration_frozen_bytes(const struct configuration *c)
{
    const double all = transformer_parameters(&c->model, c->training.sequence);
    const double linear = transformer_linear_parameters(&c->model) / all;
    return ADAPTER_WEIGHT_BYTES * (1.0 - linear) +
           adapter_frozen_bytes(&c->training.adapter) * linear;
}

void configuration_formula(const struct configuration *c, bool causal, struct formula *out)
{
    transformer_formula(&c->model, c->training.sequence, causal,
                        configuration_adapter_parameters(c), out);
}

double configuration_flops_per_token(const struct configuration *c, bool causal)
{
    struct formula formula;
    configuration_formula(c, causal, &formula);
    return transformer_formula_flops(&formula);
}

uint64_t configuration_ranks(const struct configuration *c)
{
    return c->layout.tp * c->layout.pp * configuration_replicas(c);
}

double configuration_gradient_bytes(const struct configuration *c)
{
    const struct software_profile *software = &c->software;
    const double kept = software->usual.gradient_bytes > 0.0 ? software->usual.gradient_bytes
                                                             : software->data.gradient_kept_bytes;
    if (c->training.gradient_bytes > 0.0)
        return c->training.gradient_bytes;
    return fmax(kept, c->training.precision->gradient_bytes); /* fp32's are not narrowed */
}

uint64_t configuration_gpus(const struct configuration *c)
{
    const struct topology_spec *cluster = &c->cluster;
    return cluster->gpus > 0 ? cluster->gpus : cluster->nodes * cluster->node.gpus;
}

uint64_t configuration_microbatches(const struct configuration *c)
{
    return c->training.global_batch / (c->layout.dp * c->layout.microbatch);
}

bool configuration_tensor_pipelines(const struct configuration *c)
{
    return c->software.tensor.pipelines && c->layout.sequence_parallel &&
           c->layout.tp <= c->cluster.node.gpus;
}

double configuration_tensor_overlap_cost(const struct configuration *c)
{
    const struct software_tensor *t = &c->software.tensor;
    const double held = (double)t->bulk_sms, left = (double)c->gpu.sm_count - held;
    if (configuration_tensor_pipelines(c))
        return left > 0.0 ? held / left : 1.0;
    return c->gpu.gemm.persistent ? 1.0 : t->overlap_cost_ratio;
}

static uint64_t larger_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t configuration_chunk_layers(const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    const uint64_t chunks = l->pp * l->pipeline.vpp, ends = l->pipeline.ends_count ? 2 : 0;
    const uint64_t given = l->pipeline.first_layers + l->pipeline.last_layers;
    const uint64_t free_chunks =
        chunks - (l->pipeline.first_layers > 0) - (l->pipeline.last_layers > 0);
    const uint64_t rest = c->model.layers + ends - given;
    const uint64_t even = free_chunks > 0 ? (rest + free_chunks - 1) / free_chunks : 0;
    const uint64_t most =
        larger_of(even, larger_of(l->pipeline.first_layers, l->pipeline.last_layers));
    return most < c->model.layers ? most : c->model.layers;
}

uint64_t configuration_shards(const struct configuration *c)
{
    uint64_t group = c->layout.data.shard_group;
    if (group == 0) {
        group = c->cluster.node.gpus / c->layout.tp;
        group = group > 0 ? group : 1;
    }
    return sharding_shards(c->layout.data.sharding, configuration_holders(c), group);
}

uint64_t configuration_flow_seed(const struct configuration *c, uint64_t kind)
{
    return random_hash(random_hash(c->seed, c->path_draw), kind);
}
