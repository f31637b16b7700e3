/* launched_megatron_layout.c - which rank does what. */
#include <inttypes.h>
#include <string.h>

#include "models/collective/dispatch/dispatch_kind.h"
#include "scenarios/import/launched/launched_megatron.h"

#define HAS(option) launched_has(l, MEGATRON_##option)
#define ON(option) launched_on(l, MEGATRON_##option)
#define COUNT(option, usual) launched_count(l, MEGATRON_##option, usual)
#define KEY(option, ...) launched_key(l, LAUNCHED_LAYOUT, MEGATRON_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, MEGATRON_##option, __VA_ARGS__)

unsigned launched_megatron_stage(struct launched *l)
{
    static const char *const strategies[] = {"no_shard", "optim", "optim_grads",
                                             "optim_grads_params", NULL};
    if (ON(MEGATRON_FSDP) || ON(CUSTOM_FSDP))
        return (unsigned)launched_choice(l, MEGATRON_STRATEGY, strategies, 0);
    if (ON(TORCH_FSDP))
        return 3;
    return ON(DISTRIBUTED_OPTIMIZER) ? 1 : 0;
}

static void read_sharding(struct launched *l, const struct launched_ranks *ranks)
{
    static const char *const names[] = {"zero-0", "zero-1", "zero-2", "fsdp"};
    const unsigned stage = launched_megatron_stage(l);
    const uint64_t copies = COUNT(INSTANCES, 1), replicas = ranks->dp * ranks->cp;
    const int place = ON(MEGATRON_FSDP) || ON(CUSTOM_FSDP) ? MEGATRON_STRATEGY
                      : ON(TORCH_FSDP)                     ? MEGATRON_TORCH_FSDP
                                                           : MEGATRON_DISTRIBUTED_OPTIMIZER;
    const bool hybrid = stage == 3 && copies > 1 && replicas > 0;
    launched_key(l, LAUNCHED_LAYOUT, place, "sharding: %s", hybrid ? "hsdp" : names[stage]);
    if (hybrid && replicas % copies != 0)
        launched_bad(l, MEGATRON_INSTANCES, "%" PRIu64 " copies do not divide dp x cp, %" PRIu64,
                     copies, replicas);
    else if (hybrid)
        KEY(INSTANCES, "shard_group: %" PRIu64, replicas / copies);
    else if (copies > 1)
        launched_warn(
            l, MEGATRON_INSTANCES,
            "state is simulated as shared among all data ranks, not in %" PRIu64 " copies", copies);
    SOFTWARE(OVERLAP_GRADIENTS, "overlap_gradients: %s", ON(OVERLAP_GRADIENTS) ? "true" : "false");
    SOFTWARE(OVERLAP_PARAMETERS, "overlap_parameters: %s",
             ON(OVERLAP_PARAMETERS) ? "true" : "false");
    if (stage < 2 && ON(NO_GRADIENT_FUSION)) /* FSDP asks for it, and is simulated with it */
        SOFTWARE(NO_GRADIENT_FUSION, "gradient_fusion: false");
    if (HAS(BUCKET)) /* elements of four bytes */
        SOFTWARE(BUCKET, "bucket: %" PRIu64 "B", 4 * COUNT(BUCKET, 1));
}

static void read_context(struct launched *l, uint64_t cp)
{
    static const char *const types[] = {"p2p", "a2a", "allgather", "all_gather", "a2a+p2p", NULL};
    static const char *const methods[] = {"ring", "all_to_all", "all_gather", "all_gather",
                                          "all_to_all_ring"};
    const char *sizes[2] = {NULL, NULL};
    KEY(CP, "cp: %" PRIu64, cp);
    if (cp == 1)
        return;
    const int type = launched_choice(l, MEGATRON_CP_TYPE, types, 0);
    KEY(CP_TYPE, "cp_method: %s", methods[type]);
    if (type == 4 && launched_list(l, MEGATRON_CP_SIZES, sizes, 2) == 2)
        KEY(CP_SIZES, "cp_inner: %" PRIu64, COUNT(CP_SIZES, 1));
}

static void check_sms(struct launched *l, enum megatron_option option,
                      const struct dispatch_kind *kind)
{
    if (launched_has(l, option) && launched_count(l, option, kind->sms) != kind->sms)
        launched_warn(l, option, "%s is simulated with %u SMs", kind->head.name, kind->sms);
}

static void read_flexible(struct launched *l)
{
    static const char *const backends[] = {"deepep", "hybridep", NULL};
    const int backend = launched_choice(l, MEGATRON_FLEX_BACKEND, backends, 0);
    KEY(FLEX_BACKEND, "dispatch: %s", backends[backend]);
    if (backend == 0)
        check_sms(l, MEGATRON_DEEPEP_SMS, &dispatch_deepep);
    else
        check_sms(l, MEGATRON_HYBRIDEP_SMS, &dispatch_hybridep);
    if (HAS(RANK_CAPACITY) && backend == 1)
        KEY(RANK_CAPACITY, "rank_capacity: %g", launched_number(l, MEGATRON_RANK_CAPACITY, 0.0));
    else if (HAS(RANK_CAPACITY))
        launched_warn(l, MEGATRON_RANK_CAPACITY, "room is simulated of hybridep alone");
}

static void read_experts(struct launched *l, uint64_t tp)
{
    static const char *const types[] = {"allgather", "alltoall", "alltoall_seq", "flex", NULL};
    if (!HAS(EXPERTS))
        return;
    const int type = launched_choice(l, MEGATRON_DISPATCHER, types, 0);
    KEY(EP, "ep: %" PRIu64, COUNT(EP, 1));
    KEY(ETP, "etp: %" PRIu64, COUNT(ETP, tp));
    if (type == 3)
        read_flexible(l);
    else
        KEY(DISPATCHER, "dispatch: alltoall");
    if (type == 0 && COUNT(EP, 1) > 1)
        launched_warn(l, HAS(DISPATCHER) ? MEGATRON_DISPATCHER : LAUNCHED_NOTHING,
                      "--moe-token-dispatcher-type allgather, the default, is simulated as "
                      "alltoall");
    if (HAS(CAPACITY))
        KEY(CAPACITY, "expert_capacity: %g", launched_number(l, MEGATRON_CAPACITY, 0.0));
    if (!ON(GROUPED_GEMM) && ON(BF16))
        launched_warn(l, MEGATRON_EXPERTS,
                      "products of experts are simulated in groups "
                      "(--moe-grouped-gemm)");
    SOFTWARE(ROUTER_FUSION, "router_fusion: %s", ON(ROUTER_FUSION) ? "true" : "false");
    if (ON(PAGED_STASH))
        SOFTWARE(PAGED_STASH, "moe_paged_stash: true");
}

static void read_batch(struct launched *l, const struct launched_ranks *ranks)
{
    const uint64_t micro = COUNT(MICRO_BATCH, 1), usual = ranks->dp > 0 ? micro * ranks->dp : 0;
    if (!HAS(MICRO_BATCH))
        launched_bad(l, LAUNCHED_NOTHING,
                     "it has no --micro-batch-size, without which there is no scenario");
    KEY(MICRO_BATCH, "microbatch: %" PRIu64, micro);
    if (!HAS(GLOBAL_BATCH) && usual == 0)
        launched_bad(l, LAUNCHED_NOTHING,
                     "--global-batch-size is not said, which is then the microbatch of each "
                     "replica: --gpus N says how many there are");
    const uint64_t batch = COUNT(GLOBAL_BATCH, usual);
    if (!l->broken && usual > 0 && batch % usual != 0)
        launched_bad(l, MEGATRON_GLOBAL_BATCH,
                     "%" PRIu64 " sequences do not divide by microbatch %" PRIu64 " x dp %" PRIu64,
                     batch, micro, ranks->dp);
    launched_key(l, LAUNCHED_TRAINING, MEGATRON_GLOBAL_BATCH, "global_batch: %" PRIu64, batch);
}

void launched_megatron_layout(struct launched *l, const struct launched_ranks *ranks)
{
    const bool sequence = ON(SEQUENCE_PARALLEL) && ranks->tp > 1;
    launched_key(l, LAUNCHED_LAYOUT, HAS(TP) ? MEGATRON_TP : MEGATRON_OLD_TP, "tp: %" PRIu64,
                 ranks->tp);
    KEY(SEQUENCE_PARALLEL, "sequence_parallel: %s", sequence ? "true" : "false");
    if (sequence)
        SOFTWARE(TP_OVERLAP, "tp_pipelines: %s", ON(TP_OVERLAP) ? "true" : "false");
    KEY(PP, "pp: %" PRIu64, ranks->pp);
    launched_megatron_stages(l, ranks);
    read_context(l, ranks->cp);
    if (ranks->dp > 0)
        launched_key(l, LAUNCHED_LAYOUT, LAUNCHED_NOTHING, "dp: %" PRIu64, ranks->dp);
    KEY(PP_BEFORE_DP, "order: tp-cp-%s", ON(PP_BEFORE_DP) ? "pp-dp" : "dp-pp");
    read_experts(l, ranks->tp);
    read_sharding(l, ranks);
    read_batch(l, ranks);
}
