/* Launches of Megatron-LM in the forms that people have: logs, scripts, command lines, YAML. */
#include <stdio.h>

#include "scenarios/import/launched/launched_megatron.h"
#include "tests/scenarios/import/launched_case.h"
#include "tests/test.h"

#define SHAPE "--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 "
#define BATCH "--micro-batch-size 2 --global-batch-size 64 --vocab-size 32000 "
#define LINE "torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py " SHAPE BATCH

static void read(const char *text)
{
    launched_case_read(launched_megatron, text, NULL, 0);
}

static void refuses(const char *text, const char *words)
{
    read(text);
    launched_case_refused(words);
}

/* What a launch that says nothing else means, by the defaults of Megatron-LM. */
static void test_a_line(void **state)
{
    static const char *const lines[] = {"layers: 8",
                                        "hidden: 1024",
                                        "heads: 16",
                                        "ffn_hidden: 4096",
                                        "vocabulary: 32000",
                                        "ffn: gelu",
                                        "norm: layernorm",
                                        "position: learned",
                                        "tied_embeddings: true",
                                        "biases: true",
                                        "dropout: 0.1",
                                        "gpu: h100-80gb-sxm",
                                        "gpus: 16",
                                        "global_batch: 64",
                                        "sequence: 2048",
                                        "precision: fp32",
                                        "gradient_bytes: 4",
                                        "optimizer: adamw",
                                        "tp: 1",
                                        "pp: 1",
                                        "vpp: 1",
                                        "cp: 1",
                                        "dp: 16",
                                        "order: tp-cp-dp-pp",
                                        "sharding: zero-0",
                                        "microbatch: 2",
                                        "recompute: none",
                                        "profile: megatron",
                                        "cuda_graphs: none",
                                        "overlap_gradients: false",
                                        "sequence_parallel: false",
                                        "overlap_parameters: false"};
    read(LINE);
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++)
        launched_case_has(lines[i]);
    launched_case_lacks("schedule: 1f1b");
    launched_case_silent();
}

static void test_a_script(void **state)
{
    read("#!/bin/bash\n#SBATCH --nodes=9 --gpus-per-node=8\n# --num-layers 99\n"
         "TP=2; NODES=${NODES:-2}\nMBS=${1:-\"1\"}\nPP=4\n"
         "MODEL_ARGS=(\n    --data-path a#b --num-layers 8 # it's small\n    --hidden-size 1024\n"
         "    \"--num-attention-heads 16\"\n    # --hidden-size 1\n    --seq-length 2048\n)\n"
         "EXTRA=\"--bf16 --swiglu \\\n  --vocab-size 32000\"\n"
         "MODEL_ARGS+=(--disable-bias-linear '--untie-embeddings-and-output-weights')\n"
         "if [[ \"$TP\" == \"2\" ]] || [ -f there ]; then\n  MODEL_ARGS+=(--sequence-parallel)\n"
         "else\n  MODEL_ARGS+=(--fp16)\nfi\n"
         "mkdir -p logs --verbose\n"
         "torchrun --nproc_per_node 8 --nnodes $NODES \\\n  \"$HERE/pretrain_gpt.py\" "
         "${MODEL_ARGS[@]} \\\n"
         "  $EXTRA --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size=$PP \\\n"
         "  --micro_batch_size $MBS --global_batch_size $((MBS * 32)) --save $CHECKPOINTS \\\n"
         "  --tokenizer-type NullTokenizer \"$@\"\n");
    launched_case_place("layers: 8", "run.sh:8, --num-layers");
    launched_case_place("heads: 16", "run.sh:10, --num-attention-heads");
    launched_case_has("gpus: 16");
    launched_case_has("tp: 2");
    launched_case_has("pp: 4");
    launched_case_has("dp: 2");
    launched_case_has("microbatch: 1");
    launched_case_has("global_batch: 32");
    launched_case_has("precision: bf16");
    launched_case_has("ffn_hidden: 2688"); /* two thirds of four times the width, in whole 64s */
    launched_case_has("biases: false");
    launched_case_has("norm_biases: true");
    launched_case_has("tied_embeddings: false");
    launched_case_has("sequence_parallel: true");
    launched_case_has("schedule: 1f1b");
    launched_case_has("vocabulary: 32001"); /* the end of a document */
    launched_case_silent();
}

/* It is tried again until it ends well, or while it does not. */
static void test_a_launch_in_a_loop(void **state)
{
    read("TP=2\nuntil " LINE "--tensor-model-parallel-size $TP; do\n  sleep 10\ndone\n");
    launched_case_has("tp: 2");
    launched_case_silent();
    read("TP=2\nwhile ! " LINE "--tensor-model-parallel-size $TP\ndo sleep 10; done\n");
    launched_case_has("tp: 2");
    launched_case_silent();
}

/* What is not known is asked for, where it is needed and nowhere else. */
static void test_variables(void **state)
{
    static const char text[] = LINE "--tensor-model-parallel-size $TP --save $PLACE $MORE";
    refuses(text, "run.sh:1: --tensor-model-parallel-size: $TP: it has no value; --set TP=VALUE");
    launched_case_read(launched_megatron, text, "TP=4", 0);
    launched_case_has("tp: 4");
    launched_case_warns("what it adds to the launch is not known: $MORE: it has no value");
    launched_case_read(launched_megatron, "TP=2\n" LINE "--tensor-model-parallel-size $TP", "TP=8",
                       0);
    launched_case_has("tp: 8");
    refuses("TP=$(nproc)\n" LINE "--tensor-model-parallel-size $TP", "the output of a command");
    refuses(LINE "--tensor-model-parallel-size `nproc`", "the output of a command");
    refuses("[ -f x ] && TP=2\n" LINE "--tensor-model-parallel-size $TP", "$TP: set where");
    /* Options that the file has, and that are not known all the same, are not left out. */
    refuses("P=(--tensor-model-parallel-size 4)\n[ -f x ] && P+=(--bf16)\n" LINE "${P[@]}",
            "run.sh:3: the launch has options that are not known ($P: set where");
    refuses("P=(--bf16 --swiglu)\n" LINE "\"${P[@]/--bf16/}\"",
            "not known (an array with an operator that is not followed");
    refuses("P=(--bf16 --swiglu)\n" LINE "--swiglu ${P[@]:0:1}", "an array with an operator");
    refuses("P=$(cat options)\n" LINE "$P", "are not known (the output of a command");
    refuses(LINE "--bf16 --swiglu false $(cat options)", "the output of a command");
    refuses("P=(--bf16 --swiglu)\nP[0]=--fp16\n" LINE "${P[@]}",
            "an element of it is set by itself");
    refuses("TP=2\nfor TP in 4 1; do\n" LINE "--tensor-model-parallel-size $TP\ndone\n",
            "$TP: set by a loop");
    launched_case_read(launched_megatron, "[ -f x ] && P+=(--bf16)\n" LINE "${P[@]} $@",
                       "P=--swiglu", 0);
    launched_case_has("ffn: swiglu");
    launched_case_read(launched_megatron, LINE, "2=1", 0);
    launched_case_refused("--set 2=1");
    read("A=\"" SHAPE BATCH "--nproc-per-node 4\"\nrun=\"python pretrain_gpt.py $@ ${A}\"\n"
         "srun -l sh -c \"${run}\"\n");
    launched_case_has("gpus: 4");
    read("MODEL_ARGS=\" \\\n " SHAPE "\\\n " BATCH "\"\n"); /* a part of a launch */
    launched_case_has("layers: 8");
    launched_case_has("# gpus: not said: --gpus N");
    launched_case_lacks("dp: 1");
    read("A=(--swiglu)\nif [ 1 -eq 2 ]; then A=(--swiglu --bf16); fi\n\n" LINE "${A[@]}");
    launched_case_place("ffn: swiglu", "run.sh:4, --swiglu"); /* several lines may have said it */
    read(LINE "--optimizer sgd x$MORE");                      /* behind the word that counts */
    launched_case_has("optimizer: momentum");
    refuses(LINE "--recompute-granularity selective --recompute-modules moe_act x$MORE",
            "--recompute-modules: $MORE: it has no value");
    read(LINE "\n" LINE "--bf16\n");
    launched_case_warns("run.sh:2: another launch, which is not read");
    launched_case_has("precision: fp32");
}

/* What it sources is read where it stands beside it, and names its own lines. */
static void test_sources(void **state)
{
    FILE *part = fopen("launched_part.sh", "w");
    assert_non_null(part);
    fputs("\nARGS=\"" SHAPE BATCH "--tensor-model-parallel-size ${TP}\"\n", part);
    fclose(part);
    read("TP=4\n. `pwd`/launched_part.sh\nsbatch -N 2 x\nexit 0\n");
    launched_case_place("tp: 4", "launched_part.sh:2, --tensor-model-parallel-size");
    refuses(". ./launched_part.sh\n", "launched_part.sh:2: --tensor-model-parallel-size: $TP");
    remove("launched_part.sh");
}

static void test_gpus(void **state)
{
    launched_case_read(launched_megatron, LINE, NULL, 32);
    launched_case_has("gpus: 32");
    launched_case_has("dp: 32");
    refuses(LINE "--tensor-model-parallel-size 3",
            "run.sh:1: --nproc-per-node: 16 GPUs do not divide by tp 3 x pp 1 x cp 1");
    refuses(LINE "--tensor-model-parallel-size 4294967296 "
                 "--pipeline-model-parallel-size 4294967296",
            "16 GPUs do not divide by tp 4294967296");
    launched_case_read(launched_megatron, LINE "--context-parallel-size 3", NULL, 32);
    launched_case_refused("32 GPUs do not divide by tp 1 x pp 1 x cp 3");
    launched_case_read(launched_megatron, LINE, NULL, 64);
    launched_case_refused(
        "--global-batch-size: 64 sequences do not divide by microbatch 2 x dp 64");
    read("#SBATCH --nodes=4 --ntasks-per-node=8\npython pretrain_gpt.py " SHAPE BATCH);
    launched_case_has("gpus: 32");
    read("torchrun --nnodes 2 --nproc-per-node 6 pretrain_gpt.py " SHAPE
         "--micro-batch-size 2 --vocab-size 8");
    launched_case_has("nodes: 2");
    launched_case_has("global_batch: 24"); /* the microbatch of each replica */
    refuses("python pretrain_gpt.py " SHAPE "--micro-batch-size 2 --vocab-size 8",
            "--global-batch-size is not said");
}

#define LOG_HEAD "------------------------ arguments ------------------------\n"
#define LOG_SHAPE                                                                                  \
    "  num_layers ...................................... 8\n"                                      \
    "  hidden_size ..................................... 1024\n"                                   \
    "  num_attention_heads ............................. 16\n"                                     \
    "  seq_length ...................................... 2048\n"                                   \
    "  micro_batch_size ................................ 1\n"                                      \
    "  global_batch_size ............................... 64\n"                                     \
    "  world_size ...................................... 16\n"
#define LOG_END "-------------------- end of arguments ---------------------\n"

static void test_a_log(void **state)
{
    read("using world size: 16\n" LOG_HEAD LOG_SHAPE
         "  add_bias_linear ................................. False\n"
         "  bf16 ............................................ True\n"
         "  img_h ........................................... 224\n"
         "  tp_comm_overlap_ag .............................. True\n"
         "  apply_rope_fusion ............................... False\n"
         "  fp8 ............................................. None\n"
         "  ffn_hidden_size ................................. 2816\n"
         "  group_query_attention ........................... True\n"
         "  num_query_groups ................................ 4\n"
         "  gradient_accumulation_fusion .................... False\n"
         "  params_dtype .................................... torch.bfloat16\n"
         "  attention_backend ............................... AttnBackend.flash\n"
         "  cp_comm_type .................................... ['p2p']\n"
         "  moe_layer_freq .................................. 1\n"
         "  recompute_granularity ........................... None\n"
         "  tensor_model_parallel_size ...................... 2\n"
         "  pipeline_model_parallel_size .................... 2\n"
         "  overlap_p2p_comm ................................ True\n"
         "  virtual_pipeline_model_parallel_size ............ 2\n"
         "  swiglu .......................................... True\n" LOG_END
         " > padded vocab (size: 50257) with 47 dummy tokens (new size: 50304)\n");
    launched_case_has("biases: false");
    launched_case_has("precision: bf16");
    launched_case_has("kv_heads: 4");
    launched_case_has("ffn_hidden: 2816");
    launched_case_has("gradient_fusion: false");
    launched_case_has("attention: flash2");
    launched_case_has("vocabulary: 50257");
    launched_case_has("vpp: 2");
    launched_case_has("schedule: interleaved");
    launched_case_has("p2p_blocking_interleaved: false");
    launched_case_has("dp: 4");
    launched_case_place("layers: 8", "run.sh:3, --num-layers");
    launched_case_silent();
    read(LOG_HEAD LOG_SHAPE "  microbatch_group_size_per_virtual_pipeline_stage  7\n" LOG_END);
    launched_case_warns("microbatches are taken in groups of the pipeline's stages");
    launched_case_read(launched_megatron, LOG_HEAD LOG_SHAPE LOG_END, NULL, 32);
    launched_case_refused("run.sh:8: --world-size: the run has 16 GPUs, not 32 (--gpus)");
    refuses(LOG_HEAD LOG_SHAPE, "has no end");
}

/* A restart prints its arguments again: with another layout it is another run. */
static void test_a_log_of_two_runs(void **state)
{
    static const char again[] = LOG_HEAD LOG_SHAPE LOG_END " iteration 1\n" LOG_HEAD LOG_SHAPE;
    read(LOG_HEAD LOG_SHAPE "  bf16 ........ True\n" LOG_END "iteration 1\n" LOG_HEAD
                            "0:  hidden_size ... 1024\n  num_layers ... 9\n"
                            "  bf16 ........ True\n  world_size ... 8\n" LOG_END);
    launched_case_has("layers: 8");
    launched_case_has("gpus: 16");
    launched_case_warns("run.sh:12: another block of arguments, which is not read; it differs in "
                        "num_layers, world_size");
    launched_case_quiet("hidden_size");
    launched_case_quiet("bf16");
    read(again); /* even if that is cut */
    launched_case_has("layers: 8");
    launched_case_quiet("another");
    read("  cpus ..... 64\n" LOG_HEAD LOG_SHAPE LOG_END "  memory ... 80\n"); /* in no block */
    launched_case_quiet("another");
    /* Of three the first that differs is named; more than sixteen names are cut. */
    read(LOG_HEAD LOG_SHAPE LOG_END LOG_HEAD LOG_SHAPE LOG_END LOG_HEAD
         "  a ... 1\n  b ... 1\n  c ... 1\n  d ... 1\n  e ... 1\n  f ... 1\n  g ... 1\n"
         "  h ... 1\n  i ... 1\n  j ... 1\n  k ... 1\n  l ... 1\n  m ... 1\n  n ... 1\n"
         "  o ... 1\n  p ... 1\n  q ... 1\n" LOG_END LOG_HEAD "  num_layers ... 7\n" LOG_END);
    launched_case_warns("run.sh:19: another block");
    launched_case_warns("differs in a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...");
    launched_case_quiet("num_layers");
}

/* Launchers put ranks before each line, and other processes print between. */
static void test_prefixes(void **state)
{
    read("0: " LOG_HEAD "3: hello ... world\n0:   num_layers ......... 8\n"
         "[default0]:  hidden_size ... 1024\n0:   num_attention_heads ... 16\n"
         "0:   seq_length ..... 2048\n0:   micro_batch_size ..... 1\n"
         "0:   global_batch_size ..... 8\n0:   vocab_size ..... 512\n0: " LOG_END
         "0:   num_layers ......... 9\n");
    launched_case_has("layers: 8");
    launched_case_has("hidden: 1024");
    launched_case_has("vocabulary: 512");
}

static void test_yaml(void **state)
{
    static const char text[] =
        "ENV_VARS:\n  A: 1\nMODEL_ARGS:\n  --num-layers: 12\n  --hidden-size: 512\n"
        "  --num-attention-heads: 8\n  --seq-length: 1024 # short\n  --micro-batch-size: 4\n"
        "  --global-batch-size: 32\n  --bf16: true\n  --swiglu: false\n"
        "  --data-path: ${DATA}/text\n  --merge-file: ${DATA}/merges.txt\n"
        "  --tensor-model-parallel-size: ${TP}\n  --use-distributed-optimizer: true\n"
        "  --recompute-granularity: selective\n"
        "  --recompute-modules: \"[layernorm mla_up_proj moe_act]\"\nTEST_TYPE: regular\n";
    launched_case_read(launched_megatron, text, "TP=2", 8);
    launched_case_has("layers: 12");
    launched_case_has("ffn: gelu");
    launched_case_has("tp: 2");
    launched_case_has("dp: 4");
    launched_case_has("vocabulary: 50257");
    launched_case_has("sharding: zero-1");
    launched_case_has("recompute: modules");
    launched_case_place("sequence: 1024", "run.sh:7, --seq-length");
    launched_case_silent();
    launched_case_read(launched_megatron, text, NULL, 8);
    launched_case_refused("run.sh:14: --tensor-model-parallel-size: $TP: it has no value");
    refuses("MODE: inference\nMODEL_ARGS:\n  --num-layers: 12\n", "run.sh:1: MODE is inference");
    refuses("MODEL_ARGS: [\n", "run.sh:");
    refuses("MODEL_ARGS: none\n", "no mapping MODEL_ARGS");
}

static void test_others_are_refused(void **state)
{
    refuses("python pretrain_t5.py " SHAPE BATCH, "pretrain_t5.py trains T5");
    refuses("python pretrain_bert.py " SHAPE BATCH, "trains BERT");
    refuses("python examples/multimodal/train.py " SHAPE BATCH, "texts and pictures");
    refuses("python tasks/main.py " SHAPE BATCH, "a task");
    refuses(LINE "--hybrid-layer-pattern M-M*", "run.sh:1: --hybrid-layer-pattern");
    refuses(LINE "--tokenizer-type BertWordPieceLowerCase", "BERT has an encoder");
    refuses(LINE "--spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec",
            "layers of several kinds");
    refuses(LINE "--img-h 336", "pictures are not simulated");
    refuses(LINE "--retro-add-retriever", "RETRO");
    refuses(LINE "--vision-model-type clip", "pictures are not simulated");
    refuses(LINE "--num-tokens-to-generate 4", "nothing is trained");
    read("python /home/robert/pretrain_gpt.py " SHAPE BATCH);
    launched_case_has("layers: 8");
    refuses("echo hello\n", "run.sh: no launch");
    refuses("", "the file is empty");
    refuses("if [ 1 -eq 1 ]; then\n" LINE, "no `fi`");
    refuses("torchrun pretrain_gpt.py --hidden-size 8 " BATCH, "no --num-layers");
    refuses(
        "torchrun pretrain_gpt.py --num-layers 8 --hidden-size 8 --num-attention-heads 3 " BATCH,
        "3 heads do not divide --hidden-size 8");
    refuses(LINE "--num-layers 2.5", "--num-layers: wants a whole number above 0, not '2.5'");
    refuses(LINE "--num-layers", "not 'nothing'");
    refuses(LINE "--normalization Other", "'Other' is not simulated; there are LayerNorm, RMSNorm");
    refuses(LINE "--hidden-dropout -1", "wants a number from 0 on, not '-1'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_line),
                                       cmocka_unit_test(test_a_script),
                                       cmocka_unit_test(test_variables),
                                       cmocka_unit_test(test_gpus),
                                       cmocka_unit_test(test_sources),
                                       cmocka_unit_test(test_a_launch_in_a_loop),
                                       cmocka_unit_test(test_a_log),
                                       cmocka_unit_test(test_a_log_of_two_runs),
                                       cmocka_unit_test(test_prefixes),
                                       cmocka_unit_test(test_yaml),
                                       cmocka_unit_test(test_others_are_refused)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launched_case_end();
    return failed;
}
