/* Documents of Calculon: what each key becomes, and an independent count of what they describe. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/transformer.h"
#include "scenarios/import/peers/calculon.h"
#include "sim/random.h"
#include "tests/scenarios/import/peer_case.h"
#include "tests/test.h"

#define MODEL                                                                                      \
    "{\"hidden\": 1024, \"feedforward\": 4096,\n \"seq_size\": 2048, \"attn_heads\": 16, "         \
    "\"attn_size\": 64, \"num_blocks\": 24}"
#define RANKS                                                                                      \
    "\"num_procs\": 32, \"tensor_par\": 4, \"pipeline_par\": 4, \"data_par\": 2,\n"                \
    "\"tensor_par_net\": 0, \"pipeline_par_net\": 1, \"data_par_net\": 1,\n"
#define BATCH "\"batch_size\": 64, \"microbatch_size\": 2, \"datatype\": \"float16\",\n"
#define RUN RANKS BATCH "\"activation_recompute\": \"attn_only\", \"pipeline_interleaving\": 3"
#define MATRIX                                                                                     \
    "\"matrix\": {\"float16\": {\"tflops\": 300,\n  \"gflops_efficiency\": [[1, 0.5], [64, 0.9],"  \
    " [0, 0.1]]}},\n"
#define MEMORIES                                                                                   \
    "\"mem1\": {\"GiB\": 40, \"GBps\": 2000, \"MB_efficiency\": [[100, 0.8], [0, 0.3]]},\n"        \
    "\"mem2\": {\"GiB\": 256, \"GBps\": 30, \"MB_efficiency\": [[100, 0.5], [0, 0.3]]},\n"
#define NEAR                                                                                       \
    "{\"bandwidth\": 250, \"efficiency\": 0.6, \"size\": 8, \"latency\": 0.00001,\n"               \
    " \"ops\": {\"all_reduce\": [2.0, -1]}, \"must_be_filled\": true, \"processor_usage\": 0.15}"
#define FAR                                                                                        \
    "{\"bandwidth\": 25, \"efficiency\": 0.9, \"size\": 4096, \"latency\": 0.00002,\n"             \
    " \"ops\": {\"all_reduce\": [2.0, -1]}, \"processor_usage\": 0.02}"
#define MACHINE "{" MATRIX MEMORIES "\"networks\": [" NEAR ", " FAR "]}"

static const char *model = MODEL, *machine = MACHINE;
static bool card;

static void read(const char *text)
{
    peer_case_read(
        calculon_read,
        (struct peer_case){.run = text, .model = model, .machine = machine, .card = card});
}

static void test_whole(void **state)
{
    static const char *const lines[] = {"layers: 24",
                                        "hidden: 1024",
                                        "heads: 16",
                                        "kv_heads: 16",
                                        "head_size: 64",
                                        "ffn_hidden: 4096",
                                        "gpus: 32",
                                        "sequence: 2048",
                                        "global_batch: 64",
                                        "precision: fp16",
                                        "attention: math",
                                        "tp: 4",
                                        "pp: 4",
                                        "vpp: 3",
                                        "schedule: interleaved",
                                        "dp: 2",
                                        "order: tp-cp-pp-dp",
                                        "microbatch: 2",
                                        "sharding: zero-0",
                                        "recompute: selective",
                                        "sequence_parallel: false",
                                        "p2p_scatter: false",
                                        "overlap_gradients: false",
                                        "peak_fp16: 300TFLOP/s",
                                        "gemm_efficiency: 0.9",
                                        "hbm: 40GiB",
                                        "usable_hbm: 40GiB",
                                        "context: 0B",
                                        "hbm_bandwidth: 2000GB/s",
                                        "hbm_efficiency: 0.8",
                                        "kind: nvlink_island",
                                        "nvlink_bandwidth: 250GB/s",
                                        "collective_start: 10us",
                                        "nvls: false",
                                        "host_memory: 2048GiB",
                                        "pcie_bandwidth: 15GB/s",
                                        "nics: 8",
                                        "nic_bandwidth: 25GB/s",
                                        "kind: rail",
                                        "efficiency: 0.9",
                                        "latency: 20us",
                                        "sm_count: 108",
                                        NULL};
    read("{" RUN "}");
    peer_case_have(lines);
    launched_case_place("layers: 24", "llm.json:2, num_blocks");
    launched_case_place("tp: 4", "run.sh:1, tensor_par");
    launched_case_place("gemm_efficiency: 0.9", "sys.json:2, matrix.float16.gflops_efficiency");
    launched_case_warns("sys.json:2, matrix.float16.gflops_efficiency: that of the largest");
    launched_case_warns("those of an A100 stand in");
    launched_case_lacks("interference: 0.02");
    launched_case_quiet("the order of ranks");
    scenario_destroy(launched_case_scenario());
    card = true;
    read("{" RUN "}");
    launched_case_has("name: h100-80gb-sxm");
    launched_case_lacks("sm_count: 108");
    scenario_destroy(launched_case_scenario());
    card = false;
}

static void test_switches(void **state)
{
    static const char *const overlapped[] = {
        "sequence_parallel: true", "tp_pipelines: true",    "backward_regather: true",
        "overlap_gradients: true", "interference: 0.02",    "tp_overlap_cost: 0.15",
        "sharding: zero-1",        "activation_offload: 1", "optimizer_offload: 1",
        "precision: fp8",          "kv_heads: 1",           NULL};
    machine =
        "{\"matrix\": {\"float8\": {\"tflops\": 900}, \"bfloat16\": {\"tflops\": 450}},"
        "\"vector\": {\"float16\": {\"tflops\": 9}}, \"processing_mode\": \"no_overlap\"," MEMORIES
        "\"networks\": [{\"bandwidth\": 9, \"size\": 8, \"ops\": {\"all_reduce\": [1.0, 1]},"
        " \"processor_usage\": 0.15}, " FAR "]}";
    read("{" RANKS "\"batch_size\": 64, \"microbatch_size\": 2, \"datatype\": \"float8\", "
         "\"tensor_par_comm_type\": \"rs_ag\", \"tensor_par_overlap\": \"ring\", "
         "\"attention_type\": \"multiquery\", "
         "\"seq_par_ag_redo\": true, \"data_par_overlap\": true, \"optimizer_sharding\": true, "
         "\"activations_offload\": true, \"optimizer_offload\": true, \"weight_offload\": true, "
         "\"fused_activation\": true}");
    peer_case_have(overlapped);
    launched_case_has("peak_fp8: 900TFLOP/s");
    launched_case_has("peak_bf16: 450TFLOP/s");
    launched_case_has("nvls: true");
    launched_case_lacks("p2p_scatter: false");
    launched_case_warns("weight_offload: weights stay on the cards");
    launched_case_warns("fused_activation: activations are simulated as kernels");
    launched_case_warns("vector.float16.tflops: kernels without matrices");
    launched_case_warns("processing_mode: arithmetic and memory");
    machine = NULL; /* the user's own card */
    read("{" RUN ", \"tensor_par_comm_type\": \"p2p_rs_ag\", \"new\": 1, \"a\": {\"b\": 2}}");
    launched_case_has("p2p_scatter: true");
    launched_case_has("gpu: h100-80gb-sxm");
    launched_case_warns("run.sh:4, new: not known here, and left out");
    launched_case_warns("run.sh:4, a.b: not known here, and left out");
    read("{" RUN ", \"tensor_par_overlap\": \"pipe\"}");
    launched_case_warns("all-reduces of tensor ranks are simulated beside no product");
    read("{\"num_procs\": 2, \"tensor_par\": 1, \"pipeline_par\": 1, \"data_par\": 2," BATCH
         "\"tensor_par_comm_type\": \"rs_ag\"}");
    launched_case_has("sequence_parallel: false");
    read("{\"num_procs\": 4, \"tensor_par\": 4, \"pipeline_par\": 1, \"data_par\": 1," BATCH
         "\"activation_recompute\": \"full\"}");
    launched_case_has("recompute: full");
    launched_case_has("vpp: 1");
    launched_case_lacks("schedule: 1f1b");
    launched_case_lacks("overlap_gradients: false");
    scenario_destroy(launched_case_scenario());
    machine = MACHINE;
    read("{\"num_procs\": 16, \"tensor_par\": 4, \"pipeline_par\": 2, \"data_par\": 2,"
         "\"tensor_par_net\": 1, \"pipeline_par_net\": 1, \"data_par_net\": 0," BATCH
         "\"weight_offload\": null}");
    launched_case_warns("tensor_par_net: the order of ranks puts this group into a node");
    launched_case_warns("pipeline_par_net: the order of ranks puts this group into a node");
    launched_case_warns("data_par_net: the order of ranks puts this group across nodes");
    launched_case_has("schedule: 1f1b");
}

/* Equation 2 of the paper of Megatron-LM as Calculon has it, and the norm behind the last block. */
static double parameters(double hidden, double ffn, double heads, double size, double blocks,
                         double sequence)
{
    const double block = 2 * hidden * ffn + 4 * hidden * heads * size + hidden + ffn +
                         3 * heads * size + hidden + 4 * hidden;
    return blocks * block + (51200 + sequence) * hidden + 2 * hidden;
}

static void test_count(void **state)
{
    machine = MACHINE;
    for (uint64_t number = 0; number < 200; number++) {
        uint64_t s = random_hash(number, 0x63616c63), heads = LAUNCHED_CASE_PICK(&s, 16, 32, 48);
        const uint64_t size = LAUNCHED_CASE_PICK(&s, 64, 96, 128),
                       hidden = LAUNCHED_CASE_PICK(&s, 1024, 5140, 6144);
        const uint64_t ffn = LAUNCHED_CASE_PICK(&s, 4096, 20560, 16384),
                       blocks = LAUNCHED_CASE_PICK(&s, 13, 16, 40);
        const uint64_t tp = LAUNCHED_CASE_PICK(&s, 1, 2, 4, 8),
                       pp = LAUNCHED_CASE_PICK(&s, 1, 2, 4, 8);
        const uint64_t dp = LAUNCHED_CASE_PICK(&s, 1, 2, 3, 6),
                       micro = LAUNCHED_CASE_PICK(&s, 1, 2, 3);
        const uint64_t batch = dp * micro * pp * LAUNCHED_CASE_PICK(&s, 1, 2, 5),
                       rate = LAUNCHED_CASE_PICK(&s, 125, 312, 1979);
        const uint64_t sequence = LAUNCHED_CASE_PICK(&s, 1024, 2048, 4096),
                       vpp = pp > 1 ? LAUNCHED_CASE_PICK(&s, 1, 1, 2) : 1;
        char llm[512], run[1024], system[1024];
        if ((blocks + pp - 1) / pp % vpp != 0 || pp * vpp > blocks ||
            (tp * pp * dp > 8 && tp * pp * dp % 8 != 0))
            continue;
        snprintf(llm, sizeof llm,
                 "{\"hidden\": %" PRIu64 ", \"feedforward\": %" PRIu64 ", \"seq_size\": %" PRIu64
                 ", \"attn_heads\": %" PRIu64 ", \"attn_size\": %" PRIu64
                 ", \"num_blocks\": %" PRIu64 "}",
                 hidden, ffn, sequence, heads, size, blocks);
        snprintf(run, sizeof run,
                 "{\"num_procs\": %" PRIu64 ", \"tensor_par\": %" PRIu64
                 ", \"pipeline_par\": %" PRIu64 ", \"data_par\": %" PRIu64
                 ", \"batch_size\": %" PRIu64 ", \"microbatch_size\": %" PRIu64
                 ", \"datatype\": \"float16\", \"pipeline_interleaving\": %" PRIu64 "}",
                 tp * pp * dp, tp, pp, dp, batch, micro, vpp);
        snprintf(system, sizeof system,
                 "{\"matrix\": {\"float16\": {\"tflops\": %" PRIu64 "}}," MEMORIES
                 "\"networks\": [" NEAR "," FAR "]}",
                 rate);
        model = llm;
        machine = system;
        read(run);
        struct scenario *scenario = launched_case_scenario();
        const struct configuration *c = &scenario->configuration;
        assert_int_equal(configuration_ranks(c), tp * pp * dp);
        assert_int_equal(c->training.global_batch, batch);
        assert_true(transformer_parameters(&c->model, c->training.sequence) ==
                    parameters((double)hidden, (double)ffn, (double)heads, (double)size,
                               (double)blocks, (double)sequence));
        assert_true(c->gpu.peak_flops_per_s[PEAK_FP16] == (double)rate * 1e12);
        assert_true(c->gpu.hbm.bytes == 40.0 * 1073741824.0);
        assert_true(c->cluster.node.nvlink.bytes_per_s == 250e9);
        assert_true(c->cluster.node.nic.bytes_per_s == 25e9);
        scenario_destroy(scenario);
    }
    model = MODEL;
    machine = MACHINE;
}

struct wrong {
    const char *run, *model, *machine, *words;
};

static const struct wrong rows[] = {
    {"", NULL, NULL, "run.sh: no mapping of keys"},
    {"[1, 2]", NULL, NULL, "run.sh: no mapping of keys"},
    {"{}", NULL, NULL, "run.sh: no mapping of keys"},
    {"{\"num_procs\": 32", NULL, NULL, "run.sh:2: ',' or '}' was expected"},
    {"{\"num_procs\": 32}", NULL, NULL, "it has no tensor_par, without which"},
    {"{" RANKS "\"num_procs\": 32," BATCH "}", NULL, NULL, "num_procs"},
    {"{\"num_procs\": 33, \"tensor_par\": 4, \"pipeline_par\": 4, \"data_par\": 2," BATCH "}", NULL,
     NULL, "run.sh:1: num_procs: 33 processors are not tensor_par 4"},
    {"{\"num_procs\": 0}", NULL, NULL, "num_procs: wants a whole number from 1 to 1e9, not '0'"},
    {"{\"num_procs\": -8}", NULL, NULL, "not '-8'"},
    {"{\"num_procs\": NaN}", NULL, NULL, "not 'NaN'"},
    {"{\"num_procs\": 1e400}", NULL, NULL, "not '1e400'"},
    {"{\"num_procs\": 8.5}", NULL, NULL, "not '8.5'"},
    {"{\"num_procs\": {\"a\": 1}}", NULL, NULL, "it has no num_procs"},
    {"{\"num_procs\": \"many\"}", NULL, NULL, "not 'many'"},
    {"{\"num_procs\": 4e9}", NULL, NULL, "not '4e9'"},
    {"{" RUN ", \"training\": false}", NULL, NULL, "training: nothing is trained"},
    {"{" RUN ", \"training\": 3}", NULL, NULL, "wants true or false, not '3'"},
    {"{" RUN ", \"optimizer_sharding\": \"no\"}", NULL, NULL, "optimizer_sharding: wants true"},
    {"{" RANKS "\"batch_size\": 62, \"microbatch_size\": 2}", NULL, NULL,
     "batch_size: 62 sequences do not divide by microbatch_size 2 x data_par 2"},
    {"{\"num_procs\": 2, \"tensor_par\": 2, \"pipeline_par\": 1, \"data_par\": 1," BATCH
     "\"pipeline_interleaving\": 2}",
     NULL, NULL, "2 chunks without a pipeline"},
    {"{" RANKS BATCH "\"pipeline_interleaving\": 4}", NULL, NULL,
     "pipeline_interleaving: does not divide the 6 blocks of a processor"},
    {"{" RANKS BATCH "\"activation_recompute\": \"some\"}", NULL, NULL,
     "'some' is not simulated; there are none, attn_only, full"},
    {"{" RANKS "\"batch_size\": 64, \"microbatch_size\": 2, \"datatype\": \"float4\"}", NULL, NULL,
     "'float4' is not simulated"},
    {"{\"num_procs\": 64, \"tensor_par\": 2, \"pipeline_par\": 32, \"data_par\": 1," BATCH
     "\"training\": true}",
     NULL, NULL, "pipeline_par: 24 blocks leave chunks of the pipeline empty"},
    {"{" RUN "}", "{\"hidden\": 8}", NULL, "it has no attn_heads"},
    {"{" RUN "}", "{", NULL, "llm.json:"},
    {"{" RUN "}", NULL, "{" MATRIX "\"networks\": [" NEAR "]}",
     "joins 8 processors, and the execution has 32"},
    {"{" RUN "}", NULL, "{" MEMORIES "\"networks\": [" NEAR "," FAR "]}",
     "it has no system.matrix.*.tflops of the execution's datatype"},
    {"{" RUN "}", NULL, "{" MATRIX "\"networks\": [" NEAR "," FAR "]}",
     "it has no system.mem1.GiB"},
    {"{" RUN "}", NULL, "{" MATRIX MEMORIES "\"networks\": []}", "it has no networks.0.size"},
    {"{" RUN "}", NULL,
     "{\"matrix\": {\"float16\": {\"tflops\": 0}}, \"networks\": [" NEAR "," FAR "]}",
     "sys.json:1: matrix.float16.tflops: wants a number above 0, not '0'"},
    {"{" RUN "}", NULL,
     "{\"matrix\": {\"float16\": {\"tflops\": 5, \"gflops_efficiency\": [[8, 1.5]]}},"
     "\"networks\": [" NEAR "," FAR "]}",
     "wants a number above 0 and at most 1, not '1.5'"},
    {"{" RUN "}", NULL,
     "{\"matrix\": {\"float16\": {\"tflops\": 5, \"gflops_efficiency\": [8, 0.5, 3]}},"
     "\"networks\": [" NEAR "," FAR "]}",
     "wants pairs of a size and an efficiency"},
    {"{" RUN "}", NULL,
     "{\"matrix\": {\"float16\": {\"tflops\": 5, \"gflops_efficiency\": [[\"x\", 0.5]]}},"
     "\"networks\": [" NEAR "," FAR "]}",
     "'x' is no size"},
};

static void test_refused(void **state)
{
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        model = rows[i].model != NULL ? rows[i].model : MODEL;
        machine = rows[i].machine != NULL ? rows[i].machine : MACHINE;
        read(rows[i].run);
        launched_case_refused(rows[i].words);
    }
    model = MODEL;
    machine = MACHINE;
    peer_case_read(calculon_read,
                   (struct peer_case){.run = "{" RUN "}", .model = MODEL, .gpus = 64});
    launched_case_refused("the run has 32 GPUs, not 64 (--gpus)");
}

/* Lists within lists, deeper than any that a file has. */
static void test_deep(void **state)
{
    static char text[20000];
    memcpy(text, "{\"a\": ", 6);
    memset(text + 6, '[', 9000);
    memset(text + 9006, ']', 9000);
    memcpy(text + 18006, "}", 2);
    read(text);
    launched_case_refused("run.sh:1: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole), cmocka_unit_test(test_switches), cmocka_unit_test(test_count),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_deep)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launched_case_end();
    return failed;
}
