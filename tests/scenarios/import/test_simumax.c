/* Documents of SimuMax: what each key becomes, and an independent count of what they describe. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/transformer.h"
#include "scenarios/import/peers/simumax.h"
#include "sim/random.h"
#include "tests/scenarios/import/peer_case.h"
#include "tests/test.h"

#define MODEL                                                                                      \
    "{\"hidden_size\": 2048, \"head_num\": 16, \"kv_head_num\": 4,\n \"head_size\": 128, "         \
    "\"intermediate_size\": 5632, \"layer_num\": 24, \"vocab_size\": 32000, \"use_swiglu\": true}"
#define RUN                                                                                        \
    "\"seq_len\": 4096, \"micro_batch_size\": 2, \"micro_batch_num\": 8, \"dtype\": \"bf16\",\n"   \
    "\"world_size\": 16, \"tp_size\": 2, \"pp_size\": 4"
#define OPS                                                                                        \
    "\"op\": {\"default\": {\"tflops\": 1}, \"matmul\": {\"tflops\": 300, "                        \
    "\"efficient_factor\": 0.7,\n\"accurate_efficient_factor\": {\"b=1, m=2\": 0.5, \"b=2\": "     \
    "1}},\n"                                                                                       \
    "\"sdp_fwd\": {\"tflops\": 300, \"efficient_factor\": 0.5},"                                   \
    " \"sdp_bwd\": {\"tflops\": 300, \"efficient_factor\": 0.4}}"
#define CARD                                                                                       \
    "\"accelerator\": {\"backend\": \"cuda\", \"mem_gbs\": 80, \"mode\": \"roofline\",\n" OPS      \
    ", \"bandwidth\": {\"default\": {\"gbps\": 1600, \"efficient_factor\": 0.9}}}"
#define FAR                                                                                        \
    "\"inter_node\": {\"bandwidth\": {\"gbps\": 200, \"efficient_factor\": 0.6, "                  \
    "\"latency_us\": 40}, \"op\": {\"p2p\": {\"scale\": 1}}}"
#define NEAR "\"high_intra_node\": {\"bandwidth\": {\"gbps\": 250, \"latency_us\": 9}}"
#define MACHINE "{\"num_per_node\": 8, " CARD ", \"networks\": {" NEAR ", " FAR "}}"

static void reads(const char *run, const char *model, const char *machine)
{
    peer_case_read(simumax_read,
                   (struct peer_case){.run = run, .model = model, .machine = machine});
}

static void test_whole(void **state)
{
    static const char *const lines[] = {"layers: 24",
                                        "hidden: 2048",
                                        "heads: 16",
                                        "kv_heads: 4",
                                        "head_size: 128",
                                        "ffn_hidden: 5632",
                                        "vocabulary: 32000",
                                        "ffn: swiglu",
                                        "tied_embeddings: false",
                                        "gpus: 16",
                                        "sequence: 4096",
                                        "global_batch: 32",
                                        "microbatch: 2",
                                        "precision: bf16",
                                        "gradient_bytes: 4",
                                        "attention: flash2",
                                        "tp: 2",
                                        "pp: 4",
                                        "vpp: 1",
                                        "schedule: 1f1b",
                                        "dp: 2",
                                        "cp: 1",
                                        "order: tp-cp-dp-pp",
                                        "sharding: zero-1",
                                        "sequence_parallel: true",
                                        "recompute: none",
                                        "vocabulary_multiple: 128",
                                        "gradient_fusion: true",
                                        "attention_full_square: true",
                                        "peak_bf16: 300TFLOP/s",
                                        "gemm_efficiency: 0.7",
                                        "attention_flash2_causal_forward_rate: 150TFLOP/s",
                                        "attention_flash2_full_backward_rate: 120TFLOP/s",
                                        "hbm: 80GiB",
                                        "usable_hbm: 75.2GiB",
                                        "hbm_bandwidth: 1600GiB/s",
                                        "hbm_efficiency: 0.9",
                                        "kind: nvlink_island",
                                        "nvlink_bandwidth: 250GiB/s",
                                        "collective_start: 9us",
                                        "nics: 1",
                                        "nic_bandwidth: 200GiB/s",
                                        "kind: rail",
                                        "efficiency: 0.6",
                                        "latency: 40us",
                                        NULL};
    reads("{" RUN "}", MODEL, MACHINE);
    peer_case_have(lines);
    launched_case_place("kv_heads: 4", "llm.json:1, kv_head_num");
    launched_case_place("peak_bf16: 300TFLOP/s", "sys.json:2, accelerator.op.matmul.tflops");
    launched_case_warns("accelerator.op.matmul.accurate_efficient...: products are simulated by");
    launched_case_lacks("peak_fp8: 300TFLOP/s");
    scenario_destroy(launched_case_scenario());
}

static void test_places(void **state)
{
    reads("{" RUN ", \"tp_net\": \"inter_node\", \"pp_net\": \"high_intra_node\", "
          "\"dp_net\": \"auto\", \"mine\": 3}",
          MODEL, MACHINE);
    launched_case_warns("tp_net: the order of ranks puts this group into a node");
    launched_case_warns("pp_net: the order of ranks puts this group across nodes");
    launched_case_quiet("dp_net");
    launched_case_warns("mine: not known here, and left out");
    reads("{\"seq_len\": 64, \"micro_batch_size\": 1, \"micro_batch_num\": 1, "
          "\"world_size\": 16, \"tp_size\": 2, \"dp_net\": \"inter_node\"}",
          MODEL, MACHINE);
    launched_case_quiet("dp_net");
    reads("{" RUN "}", MODEL,
          "{\"num_per_node\": 16, " CARD ", \"networks\": {\"intra_with_pcie\": true, "
          "\"intra_node_pcie_8x\": {\"bandwidth\": {\"gbps\": 30}}}}");
    launched_case_has("kind: pcie");
    launched_case_has("pcie_bandwidth: 30GiB/s");
    launched_case_has("nics: 0");
    scenario_destroy(launched_case_scenario());
}

#define EXPERTS                                                                                    \
    "{\"hidden_size\": 1024, \"head_num\": 16, \"kv_head_num\": 16, \"attention_type\": \"mla\", " \
    "\"intermediate_size\": 4096, \"layer_num\": 8, \"vocab_size\": 32000, \"expert_num\": 16, "   \
    "\"topk\": 4, \"moe_ffn_hidden_size\": 512, \"moe_shared_expert_intermediate_size\": 1024, "   \
    "\"dense_layers\": 1, \"v_head_dim\": 64, \"qk_head_dim\": 96, \"qk_pos_emb_head_dim\": 32, "  \
    "\"q_lora_rank\": null, \"kv_lora_rank\": 256, \"capacity\": 1, \"use_swiglu\": true}"

static void test_experts(void **state)
{
    static const char *const lines[] = {"experts: 16",
                                        "experts_per_token: 4",
                                        "moe_ffn_hidden: 512",
                                        "shared_experts: 2",
                                        "dense_layers: 1",
                                        "head_size: 96",
                                        "kv_rank: 256",
                                        "rope_head_size: 32",
                                        "v_head_size: 64",
                                        "ep: 4",
                                        "etp: 1",
                                        "dispatch: alltoall",
                                        "ffn: swiglu",
                                        "kv_heads: 16",
                                        NULL};
    reads("{" RUN ", \"ep_size\": 4, \"moe_dispatcher_policy\": \"all2all\"}", EXPERTS, MACHINE);
    peer_case_have(lines);
    launched_case_lacks("q_rank: 1");
    launched_case_lacks("expert_capacity: 1");
    scenario_destroy(launched_case_scenario());
}

static void test_switches(void **state)
{
    static const struct {
        const char *keys, *lines[3];
    } rows[] = {
        {"\"fp8\": true", {"precision: fp8"}},
        {"\"enable_sequence_parallel\": false", {"sequence_parallel: false"}},
        {"\"use_fp32_accum_grad\": false", {"gradient_bytes: 2"}},
        {"\"grad_reduce_in_bf16\": true", {"gradient_reduce_bytes: 2"}},
        {"\"use_math_sdp\": true", {"attention: math"}},
        {"\"use_flash_sdp\": false", {"attention: math"}},
        {"\"attention_sparse_ratio\": 0.5", {"attention_full_square: false"}},
        {"\"use_fused_grad_accumulation\": false", {"gradient_fusion: false"}},
        {"\"zero_state\": 0", {"sharding: zero-0"}},
        {"\"pp_schedule\": \"zb_h2\"", {"schedule: zb-h2"}},
        {"\"interleaving_size\": 3, \"pp_comm_async\": false",
         {"schedule: interleaved", "vpp: 3", "p2p_blocking_interleaved: true"}},
        {"\"pp_comm_async\": true", {"p2p_blocking: false"}},
        {"\"recompute_granularity\": \"full_block\", \"recompute_layer_num\": 6",
         {"recompute: full"}},
        {"\"recompute_granularity\": \"full_block\", \"recompute_layer_num\": 5",
         {"recompute: block", "recompute_layers: 5"}},
        {"\"recompute_granularity\": \"full_block\", \"recompute_layer_num\": 5, "
         "\"enable_recompute\": false",
         {"recompute: none"}},
        {"\"recompute_granularity\": \"full_block\", \"recompute_layer_num\": 0",
         {"recompute: none"}},
        {"\"recompute_granularity\": \"selective_recompute\", \"recompute_layer_num\": 6",
         {"recompute: selective"}},
        {"\"num_layers_in_first_pipeline_stage\": 6, \"num_layers_in_last_pipeline_stage\": 6",
         {"first_stage_layers: 6", "last_stage_layers: 6"}},
        {"\"mem_factor\": 0.5", {"usable_hbm: 40GiB"}},
        {"\"account_for_embedding_in_pipeline_split\": true", {"ends_count: false"}},
        {"\"account_for_embedding_in_pipeline_split\": true, "
         "\"account_for_loss_in_pipeline_split\": true",
         {"ends_count: true"}},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char run[1024];
        snprintf(run, sizeof run, "{" RUN ", %s}", rows[i].keys);
        reads(run, MODEL, MACHINE);
        for (unsigned k = 0; k < 3 && rows[i].lines[k] != NULL; k++)
            launched_case_has(rows[i].lines[k]);
    }
    reads("{" RUN ", \"enable_dropout\": true, \"use_fused_norm\": false, "
          "\"use_fused_swiglu\": false, \"attention_sparse_ratio\": 0.4, "
          "\"offload_groupgemm_col_inputs\": true, \"account_for_loss_in_pipeline_split\": true, "
          "\"recompute_granularity\": \"attn_only\", \"recompute_layer_num\": 6}",
          MODEL, NULL);
    launched_case_warns("enable_dropout: no dropout is simulated");
    launched_case_warns("use_fused_norm: norms are simulated as one kernel");
    launched_case_warns("use_fused_swiglu: activations");
    launched_case_warns("attention_sparse_ratio: simulated as 0.5");
    launched_case_warns("offload_groupgemm_col_inputs: inputs of experts stay on the cards");
    launched_case_has("ends_count: false");
    launched_case_warns("account_for_loss_in_pipeline_split: layers are spread as if neither");
    launched_case_warns("recompute_granularity: the core of attention alone");
}

/* One stage has one chunk, of all 24 layers, whatever its interleaving_size: 23 are a part. Of 25
 * layers on four stages the fullest has 7: 6 of them are a part, too. Latents have no groups of
 * keys; a capacity of 1 drops nothing; without padding the vocabulary is what it is; one replica
 * has no data ranks that could be across nodes. */
static void test_ends(void **state)
{
#define ALONE                                                                                      \
    "{\"seq_len\": 64, \"micro_batch_size\": 1, \"micro_batch_num\": 1, \"interleaving_size\": "   \
    "3, "                                                                                          \
    "\"recompute_granularity\": \"full_block\", "
    reads(ALONE "\"world_size\": 2, \"tp_size\": 2, \"recompute_layer_num\": 23}", MODEL, MACHINE);
    launched_case_has("vpp: 1");
    launched_case_has("recompute: block");
    launched_case_has("recompute_layers: 23");
    reads(ALONE "\"world_size\": 2, \"tp_size\": 2, \"recompute_layer_num\": 24}", MODEL, MACHINE);
    launched_case_has("recompute: full");
    reads("{" RUN ", \"recompute_granularity\": \"full_block\", \"recompute_layer_num\": 6, "
          "\"num_layers_in_first_pipeline_stage\": 7}",
          "{\"hidden_size\": 2048, \"head_num\": 16, \"intermediate_size\": 5632, \"layer_num\": "
          "25, \"vocab_size\": 32000, \"padded_vocab_size\": false}",
          MACHINE);
    launched_case_has("recompute: block");
    launched_case_has("vocabulary_multiple: 0");
    static const char latent[] =
        "{\"hidden_size\": 1024, \"head_num\": 16, \"kv_head_num\": 4, \"attention_type\": "
        "\"mla\", \"intermediate_size\": 4096, \"layer_num\": 8, \"vocab_size\": 32000, "
        "\"expert_num\": 16, \"topk\": 4, \"v_head_dim\": 64, \"qk_head_dim\": 96, "
        "\"qk_pos_emb_head_dim\": 32, \"kv_lora_rank\": 256, \"capacity\": 1.5}";
    reads("{" RUN "}", latent, MACHINE);
    launched_case_has("kv_heads: 16");
    launched_case_has("expert_capacity: 1.5");
    reads("{\"seq_len\": 64, \"micro_batch_size\": 1, \"micro_batch_num\": 4, \"world_size\": 16, "
          "\"tp_size\": 8, \"cp_size\": 2, \"dp_net\": \"high_intra_node\"}",
          MODEL, MACHINE);
    launched_case_quiet("dp_net");
}

/* Matrices, norms, router: counted by hand, from the numbers of the document. */
static void test_count(void **state)
{
    unsigned count = 0;
    for (uint64_t number = 0; number < 200; number++) {
        uint64_t s = random_hash(number, 0x73696d75);
        const uint64_t hidden = LAUNCHED_CASE_PICK(&s, 1024, 4096),
                       heads = LAUNCHED_CASE_PICK(&s, 16, 32);
        const uint64_t kv = LAUNCHED_CASE_PICK(&s, 8, 16), size = LAUNCHED_CASE_PICK(&s, 64, 128),
                       ffn = LAUNCHED_CASE_PICK(&s, 2816, 8192);
        const uint64_t layers = LAUNCHED_CASE_PICK(&s, 8, 16, 24),
                       words = LAUNCHED_CASE_PICK(&s, 32000, 128256);
        const uint64_t experts = LAUNCHED_CASE_PICK(&s, 1, 1, 8),
                       inner = LAUNCHED_CASE_PICK(&s, 512, 1024);
        const uint64_t tp = LAUNCHED_CASE_PICK(&s, 1, 2, 4, 8),
                       pp = LAUNCHED_CASE_PICK(&s, 1, 2, 4), dp = LAUNCHED_CASE_PICK(&s, 2, 4, 8);
        const uint64_t micro = LAUNCHED_CASE_PICK(&s, 1, 2), times = LAUNCHED_CASE_PICK(&s, 4, 8),
                       rate = LAUNCHED_CASE_PICK(&s, 125, 989);
        char llm[1024], run[1024], machine[1024];
        snprintf(llm, sizeof llm,
                 "{\"hidden_size\": %" PRIu64 ", \"head_num\": %" PRIu64
                 ", \"kv_head_num\": %" PRIu64 ", \"head_size\": %" PRIu64
                 ", \"intermediate_size\": %" PRIu64 ", \"layer_num\": %" PRIu64
                 ", \"vocab_size\": %" PRIu64 ", \"use_swiglu\": true, \"expert_num\": %" PRIu64
                 ", \"topk\": 2, \"moe_ffn_hidden_size\": %" PRIu64 "}",
                 hidden, heads, kv, size, ffn, layers, words, experts, inner);
        snprintf(run, sizeof run,
                 "{\"seq_len\": 2048, \"micro_batch_size\": %" PRIu64
                 ", \"micro_batch_num\": %" PRIu64 ", \"world_size\": %" PRIu64
                 ", \"tp_size\": %" PRIu64 ", \"pp_size\": %" PRIu64 ", \"ep_size\": %" PRIu64 "}",
                 micro, times, tp * pp * dp, tp, pp, experts > 1 ? dp : 1);
        snprintf(machine, sizeof machine,
                 "{\"accelerator\": {\"mem_gbs\": 64, \"op\": {\"matmul\": {\"tflops\": %" PRIu64
                 "}, \"sdp_fwd\": {\"tflops\": 90}, \"sdp_bwd\": {\"tflops\": 80}}, "
                 "\"bandwidth\": {\"default\": {\"gbps\": 1000}}}, \"networks\": {" NEAR "," FAR
                 "}}",
                 rate);
        if (tp * pp * dp > 8 && tp * pp * dp % 8 != 0)
            continue;
        reads(run, llm, machine);
        struct scenario *scenario = launched_case_scenario();
        const struct configuration *c = &scenario->configuration;
        const double block =
            (double)hidden * (double)size * (double)(2 * heads + 2 * kv) + 2.0 * (double)hidden;
        const double fed = experts > 1
                               ? (double)experts * (3.0 * (double)(hidden * inner) + (double)hidden)
                               : 3.0 * (double)(hidden * ffn);
        assert_true(transformer_parameters(&c->model, c->training.sequence) ==
                    (double)layers * (block + fed) + 2.0 * (double)(words * hidden) +
                        (double)hidden);
        assert_int_equal(configuration_ranks(c), tp * pp * dp);
        assert_int_equal(c->training.global_batch, micro * times * dp);
        assert_true(c->gpu.peak_flops_per_s[PEAK_BF16] == (double)rate * 1e12);
        assert_true(c->cluster.node.nic.bytes_per_s == 200.0 * 1073741824.0);
        scenario_destroy(scenario);
        count++;
    }
    assert_true(count > 100);
}

static void test_refused(void **state)
{
    static const struct {
        const char *run, *model, *machine, *words;
    } rows[] = {
        {"{}", MODEL, NULL, "run.sh: no mapping of keys"},
        {"{\"seq_len\": 1}", MODEL, NULL, "it has no world_size"},
        {"{" RUN "}", "{\"layer_num\": 2}", NULL, "it has no head_num"},
        {"{\"world_size\": 12, \"tp_size\": 8}", MODEL, NULL,
         "run.sh:1: world_size: 12 GPUs do not divide by tp 8 x pp 1 x cp 1"},
        {"{\"world_size\": 8, \"tp_size\": 1e9, \"pp_size\": 1e9, \"cp_size\": 1e9}", MODEL, NULL,
         "8 GPUs do not divide by tp 1000000000"},
        {"{\"world_size\": 1e12}", MODEL, NULL, "wants a whole number from 1 to 1e9"},
        {"{\"world_size\": .inf}", MODEL, NULL, "not '.inf'"},
        {"{\"world_size\": [8, 16]}", MODEL, NULL, "not '8 16'"},
        {"{" RUN ", \"zero_state\": 3}", MODEL, NULL, "'3' is not simulated; there are 0, 1"},
        {"{" RUN ", \"interleaving_size\": 5}", MODEL, NULL,
         "pp_size: 24 layers do not divide by pp 4 x 5 chunks"},
        {"{" RUN ", \"fp8\": 1}", MODEL, NULL, "fp8: wants true or false, not '1'"},
        {"{\"world_size\": 8, \"seq_len\": 8, \"micro_batch_size\": 1e6, \"micro_batch_num\": 1e6}",
         MODEL, NULL, "makes a batch of 8000000000000 sequences"},
        {"{" RUN "}", MODEL, "{\"num_per_node\": 8, " CARD ", \"networks\": {" NEAR "}}",
         "16 GPUs are more than a node has"},
        {"{" RUN "}", MODEL, "{\"num_per_node\": 8, \"networks\": {" NEAR ", " FAR "}}",
         "it has no accelerator.op.matmul.tflops"},
        {"{" RUN "}", MODEL, "{\"num_per_node\": -1, " CARD ", \"networks\": {" NEAR ", " FAR "}}",
         "num_per_node: wants a whole number from 1 to 1e9, not '-1'"},
        {"{" RUN ", \"mem_factor\": 2}", MODEL, MACHINE, "mem_factor: wants a number above 0 and"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reads(rows[i].run, rows[i].model, rows[i].machine);
        launched_case_refused(rows[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),   cmocka_unit_test(test_places),
        cmocka_unit_test(test_experts), cmocka_unit_test(test_switches),
        cmocka_unit_test(test_ends),    cmocka_unit_test(test_count),
        cmocka_unit_test(test_refused)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launched_case_end();
    return failed;
}
