/* Scenarios of every sort, small, in which test_idle_keys.c sets each key; and the keys that it may
 * not ask. */
#ifndef ORRERY_TESTS_ANALYSIS_RECORD_NUMBERS_IDLE_BASES_H
#define ORRERY_TESTS_ANALYSIS_RECORD_NUMBERS_IDLE_BASES_H

#include <stddef.h>

#define MODEL "hidden: 1024, heads: 16, kv_heads: 8, vocabulary: 32000"
#define EXPERTS ", experts: 16, experts_per_token: 4, moe_ffn_hidden: 512"
#define LATENT ", kv_rank: 256, head_size: 64, rope_head_size: 32, v_head_size: 64"
#define PATTERN(kind) ", pattern: '3*" kind ",attention', linear_heads: 16, linear_head_size: 64"
#define TWO_NODES "gpu: h100-80gb-sxm, nodes: 2"
#define RUN "sequence: 2048, global_batch: 32, "
#define BF16 "attention: flash2, precision: bf16"
#define FP8 "attention: flash2, precision: fp8"
#define WIDE ", head_size: 256"
#define TIERS                                                                                      \
    "gpu: h100-80gb-sxm, nodes: 4, fabric: {name: ib-ndr-8x400, nodes_per_leaf: 2, routing: "      \
    "hashed}"
#define ALONE "cp: 1, vpp: 1, schedule: 1f1b, microbatch: 1, recompute: none"
#define DENSE "tp: 2, pp: 1, sharding: zero-1, sequence_parallel: true, " ALONE
#define PLAIN "tp: 1, pp: 1, sequence_parallel: false, " ALONE
#define SPLIT(recompute)                                                                           \
    "tp: 1, pp: 1, sequence_parallel: false, cp: 1, vpp: 1, schedule: 1f1b, microbatch: 1, "       \
    "recompute: " recompute

static const struct base {
    const char *name, *model, *training, *layout, *software;
    const char *cluster; /* NULL: two nodes */
    unsigned layers;
} bases[] = {
    {"dense", "", BF16, DENSE, "megatron", TWO_NODES ", node: {name: dgx-h100, nics: 4}", 4},
    {"experts", EXPERTS, BF16, PLAIN ", sharding: zero-1, ep: 8, etp: 1", "megatron", NULL, 4},
    {"one rank of experts", EXPERTS, BF16, PLAIN ", sharding: zero-1, ep: 1, etp: 1", "megatron",
     NULL, 4},
    {"latent", EXPERTS LATENT, BF16, PLAIN ", sharding: zero-1, ep: 8, etp: 1, dispatch: deepep",
     "megatron", NULL, 4},
    {"units", "", BF16, PLAIN ", sharding: fsdp", "torchtitan", NULL, 4},
    {"hybrid", ", window: 512", BF16, PLAIN ", sharding: hsdp", "torchtitan", NULL, 4},
    {"both ways", "", BF16 ", causal: false",
     "tp: 1, pp: 1, cp: 2, cp_method: ring, vpp: 1, schedule: 1f1b, microbatch: 1, recompute: "
     "none, "
     "sharding: zero-1, sequence_parallel: false",
     "megatron", NULL, 4},
    {"pipeline", "", FP8,
     "tp: 2, pp: 2, cp: 2, vpp: 2, schedule: interleaved, sharding: zero-1, microbatch: 1, "
     "recompute: none, sequence_parallel: true",
     "{profile: megatron, bucket: 1MB}", NULL, 4},
    {"gdn", PATTERN("gdn"), BF16, PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"mamba2", PATTERN("mamba2"), BF16, PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"kda", PATTERN("kda"), BF16, PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"lightning", PATTERN("lightning"), BF16, PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"adapters", "", BF16 ", adapter: lora", PLAIN ", sharding: zero-0",
     "{profile: megatron, bucket: 100kB}", NULL, 4},
    {"offload", "", BF16,
     SPLIT("block, recompute_layers: 2") ", sharding: zero-1, optimizer_offload: 0.5", "megatron",
     NULL, 4},
    {"one replica", "", BF16, "tp: 4, pp: 4, sharding: zero-0, sequence_parallel: false, " ALONE,
     "{profile: megatron, even_stages: false}", NULL, 6},
    {"heads and ring", "", BF16,
     "tp: 1, pp: 1, cp: 4, cp_method: all_to_all_ring, vpp: 1, schedule: 1f1b, microbatch: 1, "
     "recompute: none, sharding: zero-1, sequence_parallel: false, activation_offload: 0.5",
     "megatron", NULL, 4},
    {"unfused", ", norm: layernorm", "attention: math, precision: fp8", PLAIN ", sharding: zero-1",
     "{profile: megatron, fp8_recipe: current}", NULL, 4},
    {"shared experts", EXPERTS ", shared_experts: 1, clamped_activation: true", FP8,
     DENSE ", ep: 4, etp: 1, dispatch: alltoall", "{profile: megatron, bucket: 1MB}", NULL, 4},
    {"room", EXPERTS, FP8,
     PLAIN ", sharding: zero-1, ep: 8, etp: 1, dispatch: hybridep, rank_capacity: 2", "megatron",
     NULL, 4},
    {"sparse",
     EXPERTS LATENT
     ", q_rank: 512, indexer_heads: 8, indexer_size: 64, sparse_keys: 512, indexer_interval: 2",
     BF16, PLAIN ", sharding: zero-1, ep: 8, etp: 1", "megatron", NULL, 4},
    {"recomputed", "", BF16, SPLIT("full") ", sharding: zero-3", "deepspeed", NULL, 4},
    {"by operator", "", BF16, SPLIT("per_operator") ", sharding: fsdp", "torchtitan", NULL, 4},
    {"userbuffers", "", FP8 ", bf16_layers_first: 1", DENSE,
     "{profile: megatron, tp_pipelines: true, backward_tp_overlap: false}", NULL, 4},
    {"four bits", "", "attention: cudnn, precision: nvfp4", DENSE, "megatron",
     "gpu: b200-180gb-sxm, nodes: 2", 4},
    {"flash1", "", "attention: flash1, precision: fp16", PLAIN ", sharding: zero-1", "megatron",
     "gpu: a100-80gb-pcie, nodes: 2", 4},
    {"flash1, wide heads", WIDE, "attention: flash1, precision: bf16, causal: false",
     PLAIN ", sharding: zero-1", "megatron", "gpu: a100-80gb-sxm, nodes: 2", 4},
    {"flash2, wide heads", WIDE, BF16 ", causal: false", PLAIN ", sharding: zero-1", "megatron",
     NULL, 4},
    {"tiers", EXPERTS, BF16, DENSE ", ep: 16, etp: 1", "{profile: megatron, bucket: 1MB}", TIERS,
     4},
    {"flash3", "", "attention: flash3, precision: fp8", PLAIN ", sharding: zero-1",
     "{profile: megatron, fp8_recipe: blockwise}", NULL, 4},
    {"flash3, wide heads", WIDE, "attention: flash3, precision: bf16, causal: false",
     PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"cudnn, wide heads", WIDE, "attention: cudnn, precision: bf16, causal: false",
     PLAIN ", sharding: zero-1", "megatron", NULL, 4},
    {"fp32", "", "attention: math, precision: fp32", PLAIN ", sharding: zero-1", "megatron", NULL,
     4},
    {"one node", "", BF16, DENSE, "megatron", "gpu: h100-80gb-sxm, nodes: 1", 4},
    {"torus", "", BF16, DENSE, "megatron",
     "gpu: h100-80gb-sxm, nodes: 4, fabric: {kind: torus, x: 2, y: 2, nic: 400Gb/s, nics: 8}", 4},
    {"drives", "", BF16,
     SPLIT("none") ", sharding: zero-1, optimizer_offload: 0.5, optimizer_offload_to: nvme",
     "megatron", NULL, 4},
};

/* Keys that may be stated in silence although nothing changes. */
static const struct exception {
    const char *key, *reason;
} exceptions[] = {
    {"model.preset", "other shapes, by name"},
    {"model.hf", "a file"},
    {"model.pattern", "other layers, by words of its own (tests/laws/test_patterns.c)"},
    {"model.facts", "what the trained function has and no time depends on"},
    {"model.nominal_parameters", "of the rule of thumb, which no figure of a run is"},
    {"model.usual_precision", "taken where training.precision is left open, and here it is not"},
    {"model.usual_dispatch", "likewise"},
    {"model.usual_dispatch_8bit", "likewise"},
    {"model.usual_schedule", "likewise"},
    {"model.usual_recompute", "of a search, which tries it"},
    {"model.positions_max", "a bound of the sequence, which is warned of past it"},
    {"model.norm", "layernorm without biases moves and keeps what rms does"},
    {"model.expert_groups", "a fact of the model, which alltoall does not feel"},
    {"model.groups_per_token", "likewise"},
    {"model.linear_key_size", "kinds whose keys are as wide as their values refuse another width"},
    {"layout.order", "words of its own, checked by the rule of the layout"},
    {"layout.placement", "where all ranks are one group, any order of them has the same links"},
    {"layout.sharding", "with one replica all are one; it is said of what a study varies"},
    {"training.precision", "fp16 and bf16 are equally wide"},
    {"cluster.profile", "a file"},
    {"cluster.gpu.peak_fp32", "of products of no precision: these are in tf32"},
    {"cluster.gpu.hbm", "of the rule of thumb, where no nominal_hbm is known"},
    {"cluster.gpu.nominal_hbm", "of the rule of thumb, which no figure of a run is"},
    {"cluster.gpu.attention_rows", "moves what a wave that is not full costs"},
    {"cluster.gpu.l2", "moves reads of what does not fit it"},
    {"cluster.gpu.power_window", "of short benchmarks, which profiles are corrected for"},
    {"cluster.gpu.gemm_burst_efficiency", "likewise"},
    {"cluster.gpu.release", "chooses versions of software, as a name does"},
    {"cluster.gpu.socket", "a name, which the node's is compared with"},
    {"cluster.gpu.node", "the usual node, by name"},
    {"cluster.node.socket", "a name, which the card's is compared with"},
    {"cluster.node.card", "a card, by name"},
    {"cluster.node.fabric", "the usual network, by name"},
    {"cluster.node.gpus", "a shape, by the rules of its kind"},
    {"cluster.node.chassis_gpus", "parts of a node, where GPUs of a job are not whole nodes"},
    {"cluster.node.job_gpus", "likewise"},
    {"cluster.node.host_memory", "a bound of what is kept there, checkpoints of weeks too"},
    {"cluster.node.nvls", "moves what NCCL's tuner takes, by size"},
    {"cluster.node.nvls_efficiency", "likewise"},
    {"cluster.node.nvls_channels", "likewise"},
    {"cluster.node.nvlink_step", "likewise"},
    {"cluster.fabric.bulk_latency", "likewise"},
    {"cluster.node.exchange_efficiency", "moves all-to-alls that do not wait for NICs"},
    {"cluster.fabric.nic", "the way to storage of weeks, of one node too"},
    {"cluster.fabric.nics", "likewise"},
    {"cluster.fabric.efficiency", "likewise"},
    {"cluster.node.nics", "likewise"},
    {"cluster.node.pcie_bandwidth", "likewise, and to the host"},
    {"cluster.node.pcie_latency", "likewise"},
    {"cluster.node.nic_bandwidth", "likewise"},
    {"cluster.node.nic_efficiency", "likewise"},
    {"cluster.node.nic_latency", "likewise"},
    {"cluster.node.nic_power", "likewise"},
    {"cluster.fabric.name", "another network, by name"},
    {"cluster.fabric.kind", "likewise"},
    {"cost.storage_tb_month", "of weeks; test_price_of_weeks"},
    {"software.profile", "other figures, by name"},
    {"software.release", "other figures, by month"},
    {"cluster.gpu.maker", "the class of cards in the interval; test_nearest_laws"},
    {"cluster.gpu.generation", "likewise"},
    {"software.framework", "the name under which published runs are found"},
    {"software.year", "likewise, of the version"},
    {"software.native", "likewise"},
    {"software.experts_alone", "likewise"},
    {"software.execution", "likewise"},
    {"software.pipeline_refuses_shards", "a refusal, by the rule of the layout"},
    {"software.even_stages", "likewise"},
    {"software.interleaves", "an offer, refused where it is asked for and not there"},
    {"software.makers_recipe", "what a search tries"},
    {"software.sequence_parallelism", "an offer, refused where it is asked for and not there"},
    {"software.selective_recompute", "likewise"},
    {"software.operator_recompute", "likewise"},
    {"software.block_recompute", "likewise"},
    {"software.flash3", "likewise"},
    {"software.cp_mixers", "likewise"},
    {"software.sharded_optimizers", "likewise"},
    {"software.dispatches", "likewise"},
    {"software.narrow_rows", "likewise"},
    {"software.heads_alone", "likewise"},
    {"software.usual_attention", "taken where training.attention is left open"},
    {"software.usual_dropout", "likewise"},
    {"software.usual_chunks", "taken where layout.vpp is left open"},
    {"software.usual_sharding", "taken where layout.sharding is left open"},
    {"software.full_sharding", "likewise"},
};

#endif
