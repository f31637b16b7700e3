/* Each option of Megatron-LM's launches, the key that it makes, and what is said of the others. */
#include "scenarios/import/launched/launched_megatron.h"
#include "tests/scenarios/import/launched_case.h"
#include "tests/test.h"

#define LINE                                                                                       \
    "torchrun --nproc-per-node 64 pretrain_gpt.py --num-layers 24 --hidden-size 1024 "             \
    "--num-attention-heads 16 --seq-length 2048 --micro-batch-size 1 --global-batch-size 64 "      \
    "--vocab-size 32000 "
#define MOE LINE "--num-experts 8 --bf16 --moe-grouped-gemm --moe-token-dispatcher-type alltoall "
#define PIPE LINE "--pipeline-model-parallel-size 4 "

struct row {
    const char *text, *lines[4]; /* that the scenario has */
};

static void hold(const struct row *rows, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        launched_case_read(launched_megatron, rows[i].text, NULL, 0);
        for (unsigned k = 0; k < 4 && rows[i].lines[k] != NULL; k++)
            launched_case_has(rows[i].lines[k]);
        launched_case_silent();
    }
}
#define HOLD(rows) hold(rows, sizeof(rows) / sizeof(rows)[0])

static void test_the_model(void **state)
{
    static const struct row rows[] = {
        {LINE "--swiglu", {"ffn: swiglu", "ffn_hidden: 2688"}},
        {LINE "--squared-relu", {"ffn: squared_relu", "ffn_hidden: 4096"}},
        {LINE "--quick-geglu --ffn-hidden-size 100", {"ffn: geglu", "ffn_hidden: 100"}},
        {LINE "--normalization RMSNorm --qk-layernorm", {"norm: rms", "qk_norms: true"}},
        {LINE "--num-query-groups 4", {"heads: 16"}},
        {LINE "--group-query-attention --num-query-groups 4", {"kv_heads: 4"}},
        {LINE "--kv-channels 96", {"head_size: 96"}},
        {LINE "--max-position-embeddings 4096", {"position: learned", "positions_max: 4096"}},
        {LINE "--position-embedding-type rope --rotary-percent 0.5 --no-rope-freq 4",
         {"position: rope", "facts: \"partial_rotary_factor=0.5 no_rope_layer_interval=4\""}},
        {LINE "--use-rotary-position-embeddings", {"position: rope"}},
        {LINE "--position-embedding-type none", {"position: none"}},
        {LINE "--disable-bias-linear --add-qkv-bias", {"biases: false", "attention_biases: qkv"}},
        {LINE "--hidden-dropout 0 --attention-dropout 0.0", {"dropout: 0"}},
        {LINE "--mtp-num-layers 2", {"mtp_layers: 2"}},
        {LINE "--window-size 127,0 --window-attn-skip-freq 2 --softmax-type learnable",
         {"window: 128", "full_interval: 2", "sinks: true"}},
        {LINE "--attention-output-gate", {"attention_gate: true"}},
        {LINE "--padded-vocab-size 32128 --vocab-size 32000", {"vocabulary: 32000"}},
        {LINE "--make-vocab-size-divisible-by 16", {"vocabulary_multiple: 16"}},
        {LINE "--multi-latent-attention --qk-layernorm --kv-lora-rank 512 --q-lora-rank 768",
         {"kv_rank: 512", "q_rank: 768", "head_size: 128", "v_head_size: 128"}},
        {MOE "--moe-ffn-hidden-size 512 --moe-router-topk 4",
         {"experts: 8", "experts_per_token: 4", "moe_ffn_hidden: 512", "ep: 1"}},
        {MOE "--moe-shared-expert-intermediate-size 8192 --moe-shared-expert-gate",
         {"shared_experts: 2", "shared_expert_gate: true", "shared_expert_overlap: false"}},
        {MOE "--moe-layer-freq '([0]*3+[1]*21)'", {"dense_layers: 3"}},
        {MOE "--moe-layer-freq '[0,1]*12'", {"expert_interval: 2"}},
        {MOE "--moe-layer-freq '[0]*4+([0]*1+[1])*10'", {"dense_layers: 4", "expert_interval: 2"}},
        {MOE "--moe-router-num-groups 4 --moe-router-group-topk 2",
         {"expert_groups: 4", "groups_per_token: 2"}},
        {MOE "--moe-router-score-function sigmoid --moe-router-topk-scaling-factor 2.5 "
             "--moe-router-enable-expert-bias",
         {"facts: \"scoring_func=sigmoid routed_scaling_factor=2.5\"", "router_bias: true"}},
        {MOE "--moe-router-pre-softmax", {"facts: \"norm_topk_prob=false\""}},
    };
    HOLD(rows);
}

static void test_the_layout(void **state)
{
    static const struct row rows[] = {
        {LINE "--tensor-model-parallel-size 2 --sequence-parallel --tp-comm-overlap",
         {"tp: 2", "sequence_parallel: true", "tp_pipelines: true", "dp: 32"}},
        {LINE "--sequence-parallel", {"sequence_parallel: false"}},
        {LINE "--context-parallel-size 2", {"cp: 2", "cp_method: ring"}},
        {LINE "--context-parallel-size 2 --cp-comm-type a2a", {"cp_method: all_to_all"}},
        {LINE "--context-parallel-size 4 --cp-comm-type a2a+p2p "
              "--hierarchical-context-parallel-sizes 2 2",
         {"cp_method: all_to_all_ring", "cp_inner: 2"}},
        {LINE "--use-tp-pp-dp-mapping", {"order: tp-cp-pp-dp"}},
        {LINE "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather",
         {"sharding: zero-1", "overlap_gradients: true", "overlap_parameters: true"}},
        {LINE "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params",
         {"sharding: fsdp"}},
        {LINE "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads",
         {"sharding: zero-2"}},
        {LINE "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
              "--num-distributed-optimizer-instances 4",
         {"sharding: hsdp", "shard_group: 16"}},
        {LINE "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
              "--num-distributed-optimizer-instances 4 --context-parallel-size 2",
         {"dp: 32", "cp: 2", "shard_group: 16"}}, /* of dp x cp */
        {LINE "--use-torch-fsdp2 --no-gradient-accumulation-fusion", {"sharding: fsdp"}},
        {LINE "--no-gradient-accumulation-fusion", {"gradient_fusion: false"}},
        {LINE "--ddp-bucket-size 1000", {"bucket: 4000B"}},
        {PIPE "--num-layers-per-virtual-pipeline-stage 2", {"vpp: 3", "schedule: interleaved"}},
        {PIPE "--num-virtual-stages-per-pipeline-rank 2 --no-overlap-p2p-communication",
         {"vpp: 2", "p2p_blocking_interleaved: true"}},
        {PIPE "--decoder-first-pipeline-num-layers 3", {"first_stage_layers: 3"}},
        {PIPE "--decoder-last-pipeline-num-layers 3", {"last_stage_layers: 3"}},
        {PIPE "--account-for-embedding-in-pipeline-split --num-layers 23",
         {"first_stage_layers: 5"}},
        {PIPE "--account-for-loss-in-pipeline-split --num-layers 23", {"last_stage_layers: 5"}},
        {PIPE "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split "
              "--num-layers 22 --num-layers-per-virtual-pipeline-stage 3",
         {"ends_count: true", "vpp: 2"}},
        {PIPE "--pipeline-model-parallel-layout 'Et*6|(t*6|)*2t*6L'",
         {"ends_count: false", "vpp: 1"}},
        {PIPE "--pipeline-model-parallel-layout 'Et*2|(ttt|)*6t*4L'",
         {"vpp: 2", "first_stage_layers: 2", "last_stage_layers: 4", "even_stages: false"}},
        {PIPE "--pipeline-model-parallel-layout 'Et*6t*0|(t*2(t|)*0)*3|t*6|t*6L'",
         {"vpp: 1", "ends_count: false"}},
        {PIPE "--num-layers 22 --pipeline-model-parallel-layout 'Et*5|t*6|t*6|t*5L'",
         {"ends_count: true", "even_stages: false"}},
        {PIPE "--num-layers 22 --pipeline-model-parallel-layout 'Et*6|t*6|t*5|t*5L'",
         {"ends_count: false", "even_stages: false"}},
        {MOE "--expert-model-parallel-size 4 --tensor-model-parallel-size 2", {"ep: 4", "etp: 2"}},
        {MOE "--expert-model-parallel-size 4 --expert-tensor-parallel-size 1 "
             "--tensor-model-parallel-size 2 --moe-expert-capacity-factor 1.5",
         {"etp: 1", "dispatch: alltoall", "expert_capacity: 1.5"}},
        {MOE "--moe-token-dispatcher-type flex --moe-enable-deepep", {"dispatch: deepep"}},
        {MOE "--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep "
             "--moe-expert-rank-capacity-factor 1.5",
         {"dispatch: hybridep", "rank_capacity: 1.5"}},
        {MOE "--moe-router-fusion --moe-paged-stash",
         {"router_fusion: true", "moe_paged_stash: true"}},
    };
    HOLD(rows);
    launched_case_read(launched_megatron, PIPE "--decoder-first-pipeline-num-layers 3", NULL, 0);
    launched_case_lacks("last_stage_layers: 5"); /* (24 + 1) / 4 - 1, which nobody asked for */
    launched_case_read(launched_megatron,
                       PIPE "--pipeline-model-parallel-layout 'Et*7|t*5|t*7|t*5L'", NULL, 0);
    launched_case_warns("layers cannot be given stage by stage");
}

static void test_the_training(void **state)
{
    static const struct row rows[] = {
        {LINE "--bf16", {"precision: bf16", "gradient_bytes: 4"}},
        {LINE "--bf16 --grad-reduce-in-bf16", {"gradient_bytes: 2"}},
        {LINE "--fp16", {"precision: fp16", "gradient_bytes: 2"}},
        {LINE "--fp16 --accumulate-allreduce-grads-in-fp32", {"gradient_bytes: 4"}},
        {LINE "--bf16 --fp8-format hybrid", {"precision: fp8", "fp8_recipe: delayed"}},
        {LINE "--bf16 --fp8-format hybrid --fp8-recipe tensorwise --first-last-layers-bf16 "
              "--num-layers-at-end-in-bf16 0",
         {"fp8_recipe: current", "bf16_layers_first: 1", "bf16_layers_last: 0"}},
        {LINE "--bf16 --fp8-format e4m3 --fp8-recipe blockwise --activation-func-fp8-input-store "
              "--fp8-dot-product-attention",
         {"fp8_recipe: blockwise", "fp8_activation_cache: true", "fp8_attention: true"}},
        {LINE "--bf16 --fp4-format e2m1", {"precision: nvfp4"}},
        {LINE "--attention-backend fused", {"attention: cudnn"}},
        {LINE "--attention-backend unfused", {"attention: math"}},
        {LINE "--use-flash-attn", {"attention: flash2"}},
        {LINE "--optimizer sgd", {"optimizer: momentum"}},
        {LINE "--optimizer sgd --sgd-momentum 0", {"optimizer: sgd"}},
        {LINE "--use-precision-aware-optimizer --main-params-dtype fp16 --exp-avg-dtype bf16 "
              "--exp-avg-sq-dtype fp8",
         {"master_weights: fp16", "first_moment: bf16", "second_moment: fp8"}},
        {LINE "--optimizer-cpu-offload --optimizer-offload-fraction 0.5",
         {"optimizer_offload: 0.5"}},
        {LINE "--cpu-offloading-num-layers 6", {"activation_offload: 0.250000"}},
        {LINE "--recompute-activations", {"recompute: selective"}},
        {LINE "--recompute-granularity selective", {"recompute: selective"}},
        {LINE "--recompute-granularity full --recompute-method uniform", {"recompute: full"}},
        {LINE "--recompute-granularity full --recompute-method uniform --recompute-num-layers 4",
         {"recompute: uniform", "recompute_layers: 4"}},
        {LINE "--recompute-granularity full --recompute-method block --recompute-num-layers 2",
         {"recompute: block", "recompute_layers: 2"}},
        {LINE "--activations-checkpoint-method uniform", {"recompute: full"}},
        {LINE "--checkpoint-activations", {"recompute: full"}},
        {LINE "--enable-cuda-graph", {"cuda_graphs: layer"}},
        {LINE "--cuda-graph-impl transformer_engine --cuda-graph-scope attn moe_router",
         {"cuda_graphs: attn+moe_router"}},
        {LINE "--cuda-graph-impl local --cuda-graph-scope full_iteration", {"cuda_graphs: full"}},
        {LINE "--train-iters 10", {"tokens: 1310720"}},
        {LINE "--train-samples 1000", {"tokens: 2048000"}},
    };
    HOLD(rows);
}

/* What moves time and has no key, and what nobody knows. */
static void test_warnings(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {LINE "--no-such-option 4 --bf16", "1 not known here, and left out: no-such-option"},
        {LINE "--overlap-moe-expert-parallel-comm", "it overlaps more than is simulated"},
        {LINE "--rampup-batch-size 16 16 5859375", "the batch is simulated at its full size"},
        {LINE "--hidden-dropout 0", "one dropout is simulated"},
        {LINE "--no-rope-fusion --position-embedding-type rope",
         "rotation is simulated as one kernel"},
        {LINE "--use-distributed-optimizer --num-distributed-optimizer-instances 2",
         "shared among all data ranks, not in 2 copies"},
        {LINE "--bf16 --fp8-format hybrid --use-distributed-optimizer",
         "weights are simulated as gathered in 8 bits"},
        {LINE "--recompute-granularity selective --recompute-modules mlp core_attn",
         "not simulated as computed again: mlp"},
        {LINE "--recompute-granularity selective --recompute-modules layernorm",
         "norms, up-projections of latents and activations"},
        {MOE "--moe-layer-freq 2", "the last of 2 layers has the experts here"},
        {MOE "--moe-shared-expert-intermediate-size 5000", "not 5000"},
        {MOE "--moe-token-dispatcher-type flex --moe-deepep-num-sms 24", "with 20 SMs"},
        {MOE "--moe-token-dispatcher-type flex --moe-enable-deepep "
             "--moe-expert-rank-capacity-factor 1.5",
         "room is simulated of hybridep alone"},
        {LINE "--num-experts 8 --bf16 --expert-model-parallel-size 2", "simulated as alltoall"},
        {LINE "--num-experts 8 --bf16", "products of experts are simulated in groups"},
        {LINE "--transformer-impl local", "simulated as Transformer Engine's"},
        {LINE "--multi-latent-attention", "the latents are simulated with their norms"},
        {LINE "--enable-cuda-graph --cuda-graph-scope mamba", "simulated as none"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        launched_case_read(launched_megatron, rows[i].text, NULL, 0);
        launched_case_warns(rows[i].words);
    }
    launched_case_read(launched_megatron, MOE "--moe-shared-expert-intermediate-size 5000", NULL,
                       0);
    launched_case_has("shared_experts: 2"); /* no fewer than it has */
    launched_case_read(launched_megatron,
                       LINE "--recompute-granularity selective --recompute-modules layernorm", NULL,
                       0);
    launched_case_has("recompute: modules");
    launched_case_read(launched_megatron,
                       LINE "--use-torch-fsdp2 --no-gradient-accumulation-fusion", NULL, 0);
    launched_case_lacks("gradient_fusion: false"); /* which FSDP asks for */
    /* The attention of Megatron's own layers, unless the line says another. */
    static const struct row own[] = {
        {LINE "--transformer-impl local", {"attention: math"}},
        {LINE "--transformer-impl local --attention-backend fused", {"attention: cudnn"}},
        {LINE "--transformer-impl local --use-flash-attn", {"attention: flash2"}},
    };
    for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++) {
        launched_case_read(launched_megatron, own[i].text, NULL, 0);
        launched_case_has(own[i].lines[0]);
        launched_case_warns("simulated as Transformer Engine's");
    }
}

static void test_contradictions(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {LINE "--recompute-granularity full", "--recompute-granularity: full wants"},
        {PIPE "--num-layers-per-virtual-pipeline-stage 5", "24 layers do not divide by pp 4 x 5"},
        {PIPE "--pipeline-model-parallel-layout 'Et*6|t*6L'", "12 layers in 2 stages"},
        {PIPE "--pipeline-model-parallel-layout 'Et*6|((((((((((t))))))))))L'",
         "no list of stages"},
        {PIPE "--pipeline-model-parallel-layout 'Et*99999999999L'", "no list of stages"},
        {PIPE "--pipeline-model-parallel-layout '(t'", "no list of stages"},
        {MOE "--moe-layer-freq [0,1,1]", "no list of 0 and 1 for each of 24 layers"},
        {MOE "--moe-layer-freq '[1]*12+[0]*12'", "have no keys"},
        {MOE "--moe-layer-freq '[0,1,0]*8'", "have no keys"}, /* the first is no third layer */
        {MOE "--moe-layer-freq '[0,1,0,1,2,1]*4'", "no list of 0 and 1"},
        {LINE "--cpu-offloading-num-layers 24", "wants fewer than all layers"},
        {PIPE "--cpu-offloading-num-layers 4", "and no pipeline"},
        {LINE "--cp-comm-type other --context-parallel-size 2", "'other' is not simulated"},
        {LINE "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
              "--num-distributed-optimizer-instances 3",
         "3 copies do not divide dp x cp, 64"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        launched_case_read(launched_megatron, rows[i].text, NULL, 0);
        launched_case_refused(rows[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_model), cmocka_unit_test(test_the_layout),
        cmocka_unit_test(test_the_training), cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_contradictions)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launched_case_end();
    return failed;
}
