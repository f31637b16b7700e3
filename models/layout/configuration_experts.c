/* The rules of experts, and of latent attention: how many ranks can share them, and what of a
 * layout's other parts this version does not carry with them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/layout/configuration_parts.h"
#include "models/layout/layout.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"

/* Megatron-LM megatron/core/parallel_state.py: etp x ep divides the ranks of a stage. */
static void check_ranks(struct rule_report *r)
{
    const struct model_shape *m = &r->c->model;
    const struct layout_spec *l = &r->c->layout;
    const struct expert_ranks experts = configuration_expert_ranks(r->c);
    const uint64_t ranks = l->tp * configuration_replicas(r->c);
    if (m->moe.experts % experts.ep != 0) {
        rule_say(r, false, "layout.ep", "%" PRIu64 " experts are not divisible by ep = %" PRIu64,
                 m->moe.experts, experts.ep);
    }
    if (experts.etp != 1 && experts.etp != l->tp) {
        rule_say(r, false, "layout.etp",
                 "an expert is on one rank or shared by the tp = %" PRIu64
                 " of a tensor group: etp = %" PRIu64 " is neither",
                 l->tp, experts.etp);
    } else if (ranks % (experts.etp * experts.ep) != 0) {
        rule_say(r, false, "layout.ep",
                 "the tp x cp x dp = %" PRIu64 " ranks of a stage are not divisible by etp x ep = "
                 "%" PRIu64 " x %" PRIu64,
                 ranks, experts.etp, experts.ep);
    }
    if (m->moe.ffn_hidden % experts.etp != 0) {
        rule_say(r, false, "layout.etp",
                 "moe_ffn_hidden = %" PRIu64 " is not divisible by etp = %" PRIu64,
                 m->moe.ffn_hidden, experts.etp);
    }
    if (m->moe.shared_experts * m->moe.ffn_hidden % l->tp != 0) {
        rule_say(r, false, "layout.tp",
                 "the shared experts' width %" PRIu64 " is not divisible by tp = %" PRIu64,
                 m->moe.shared_experts * m->moe.ffn_hidden, l->tp);
    }
}

/* NVIDIA/Megatron-LM megatron/core/transformer/moe/moe_utils.py, group_limited_topk. */
static void check_groups(struct rule_report *r)
{
    const struct model_shape *m = &r->c->model;
    const uint64_t groups = m->moe.groups, chosen = m->moe.groups_per_token;
    if (groups <= 1)
        return;
    if (m->moe.experts % groups != 0) {
        rule_say(r, false, "model.expert_groups",
                 "%" PRIu64 " experts are not divisible by expert_groups = %" PRIu64
                 ": take a divisor",
                 m->moe.experts, groups);
    } else if (chosen == 0 || chosen > groups) {
        rule_say(r, false, "model.groups_per_token",
                 "a token chooses %" PRIu64 " of %" PRIu64
                 " groups of experts: set groups_per_token from 1 to %" PRIu64,
                 chosen, groups, groups);
    } else if (m->moe.experts_per_token > m->moe.experts / groups * chosen) {
        rule_say(r, false, "model.groups_per_token",
                 "%" PRIu64 " groups of %" PRIu64 " experts do not hold the %" PRIu64
                 " that a token visits: take a larger groups_per_token",
                 chosen, m->moe.experts / groups, m->moe.experts_per_token);
    }
}

static void check_dispatch(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const struct dispatch_kind *kind = configuration_dispatch(c);
    const char *unknown = software_unknown(c->software.offers.dispatches, dispatch_at);
    if (unknown != NULL)
        rule_say(r, false, "software.dispatches",
                 "'%.40s' begins with no dispatch: it is any, or kinds of dispatch joined by +",
                 unknown);
    const bool eight = c->training.precision->gemm_peak == PEAK_FP8;
    if (c->layout.experts.dispatch_8bit && !(kind->eight_bit && eight)) {
        rule_say(r, false, "layout.dispatch_8bit",
                 kind->eight_bit
                     ? "experts that compute in %s take no rows of eight bits: take "
                       "training.precision: fp8"
                     : "dispatch %s carries no rows of eight bits: take deepep or hybridep",
                 kind->eight_bit ? c->training.precision->head.name : kind->head.name);
    }
    if (kind->relays && configuration_expert_ranks(c).etp > 1) {
        rule_say(r, false, "layout.dispatch",
                 "%s sends rows to whole experts: set etp: 1, or take alltoall", kind->head.name);
    }
    if (kind->once_per_rank && c->layout.experts.capacity > 0.0) {
        rule_say(r, false, "layout.expert_capacity",
                 "%s drops no rows: remove expert_capacity, or take alltoall", kind->head.name);
    }
}

static void check_room(struct rule_report *r)
{
    const double room = configuration_expert_room(r->c);
    const double busiest = fmax(r->c->layout.experts.imbalance, 1.0);
    if (room > 0.0 && room < busiest) {
        rule_say(r, false, "layout.rank_capacity",
                 "%g times the mean does not hold all rows of the busiest rank, which has %g "
                 "(expert_imbalance): set rank_capacity: %g or more, or 0",
                 room, busiest, busiest);
    }
}

static void check_shape(struct rule_report *r)
{
    const struct model_shape *m = &r->c->model;
    if (m->moe.ffn_hidden == 0 || m->moe.experts_per_token == 0) {
        rule_say(r, false, "model.experts",
                 "%" PRIu64 " experts need moe_ffn_hidden and experts_per_token", m->moe.experts);
    } else if (m->moe.experts_per_token > m->moe.experts) {
        rule_say(r, false, "model.experts_per_token",
                 "a token cannot visit %" PRIu64 " of %" PRIu64 " experts: take at most %" PRIu64,
                 m->moe.experts_per_token, m->moe.experts, m->moe.experts);
    }
}

/* Experts lie inside a shard group, whose copies hold the same (pytorch/torchtitan
 * torchtitan/distributed/parallel_dims.py: ep divides dp_shard x cp x tp). */
static void check_hybrid(struct rule_report *r, const struct expert_ranks *experts)
{
    const struct layout_spec *l = &r->c->layout;
    const uint64_t places = configuration_shards(r->c) * (l->tp / experts->etp);
    const char *order = layout_order(r->c);
    const bool first = strncmp(order, "tp", 2) == 0 || strncmp(order, "pp-tp", 5) == 0;
    if (places % experts->ep != 0) {
        rule_say(r, false, "layout.ep",
                 "hsdp keeps the experts of a layer on the %" PRIu64
                 " ranks of a shard group: they are not divisible by ep = %" PRIu64,
                 places, experts->ep);
    } else if (experts->etp < l->tp && !first) {
        rule_say(r, false, "layout.order",
                 "hsdp lays whole experts out over the tensor ranks first: take tp-cp-dp-pp");
    }
}

/* Megatron-LM megatron/core/transformer/moe/moe_layer.py: with tensor parallelism the tokens of a
 * layer with experts are split over its ranks. */
static void check_with(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    const struct sharding_kind *sharding = l->data.sharding;
    const struct expert_ranks experts = configuration_expert_ranks(r->c);
    const bool alone = configuration_replicas(r->c) == 1 && experts.holders > 1;
    if (l->tp > 1 && !l->sequence_parallel) {
        rule_say(r, false, "layout.sequence_parallel",
                 "experts with tp = %" PRIu64
                 " take each rank's part of the sequence: set sequence_parallel: true",
                 l->tp);
    }
    if (experts.apart && alone && sharding->shards_gradients) {
        rule_say(r, false, "layout.sharding",
                 "%s of the experts only, where everything else has one replica, is not simulated: "
                 "take zero-1 or zero-0, or ep = 1",
                 sharding->head.name);
    }
    if (experts.apart && sharding->hybrid)
        check_hybrid(r, &experts);
}

/* Megatron-LM megatron/core/transformer/transformer_config.py: shared experts run beside the
 * exchanges of the alltoall dispatcher alone, and not where passes run in pairs. */
static void check_overlap(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const char *key = "software.shared_expert_overlap";
    const struct dispatch_kind *kind = configuration_dispatch(c);
    if (!c->software.experts.shared_overlap || c->model.moe.shared_experts == 0)
        return;
    if (kind != &dispatch_alltoall) {
        rule_say(r, false, key,
                 "shared experts overlap with the exchanges of alltoall only, not of %s: set it to "
                 "false, or take layout.dispatch: alltoall",
                 kind->head.name);
    }
    if (c->layout.pipeline.schedule->pairs) {
        rule_say(r, false, key,
                 "%s overlaps the exchanges with the GEMMs of another microbatch: set it to false",
                 c->layout.pipeline.schedule->head.name);
    }
}

void configuration_check_experts(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const bool experts = c->model.moe.experts > 0;
    if (c->layout.recompute == RECOMPUTE_PER_OPERATOR && (experts || c->model.latent.kv_rank > 0)) {
        rule_say(r, false, "layout.recompute",
                 "it is not known which operators of %s are recomputed: take full or none",
                 experts ? "experts" : "latent attention");
    }
    if (!experts && c->layout.ep > 1)
        rule_say(r, false, "layout.ep", "a dense model has no experts to share: remove ep");
    if (!experts && c->layout.etp > 1)
        rule_say(r, false, "layout.etp", "a dense model has no experts to cut: remove etp");
    if (!experts)
        return;
    check_shape(r);
    check_groups(r);
    check_ranks(r);
    check_dispatch(r);
    check_room(r);
    check_overlap(r);
    check_with(r);
}

/* Of a scattered product the copies and an exchange of experts may hold SMs at once. */
void configuration_check_sms(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const uint64_t scatter = c->software.tensor.scatter_sms, bulk = c->software.tensor.bulk_sms;
    const uint64_t sms = c->gpu.sm_count;
    const uint64_t exchange = c->model.moe.experts > 0 ? configuration_dispatch(c)->sms : 0;
    const uint64_t copies = configuration_tensor_pipelines(c) && c->layout.tp > 1
                                ? (scatter > bulk ? scatter : bulk)
                                : 0;
    if (copies > 0 && copies + exchange >= sms)
        rule_say(r, false, scatter > bulk ? "software.tp_scatter_sms" : "software.tp_bulk_sms",
                 "copies that hold %" PRIu64 " SMs%s leave a product none of the %" PRIu64
                 " of this card (cluster.gpu.sm_count)",
                 copies + exchange, exchange > 0 ? ", with those of the exchange of experts," : "",
                 sms);
    else if (exchange >= sms)
        rule_say(r, false, "layout.dispatch",
                 "kernels of this dispatch hold %" PRIu64 " SMs, and this card has %" PRIu64
                 " (cluster.gpu.sm_count)",
                 exchange, sms);
}
