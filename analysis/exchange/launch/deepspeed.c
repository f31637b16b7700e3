/* DeepSpeed v0.19.5 (cf44300) under Megatron-DeepSpeed 4efb479 (2025-07-16): flags of
 * megatron/arguments.py, keys of deepspeed/runtime/config.py and runtime/zero/config.py; rules of
 * deepspeed/runtime/pipe/engine.py, runtime/pipe/module.py and sequence/layer.py. */
#include <inttypes.h>
#include <string.h>

#include "analysis/exchange/launch/launch_facts.h"
#include "analysis/exchange/launch/launch_saves.h"

static void check(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    if (l->pp > 1 && launch_stage(l->data.sharding) >= 2) {
        launch_say(text, LAUNCH_REFUSED,
                   "a pipeline takes ZeRO stages 0 and 1: %s, pp %" PRIu64
                   " (\"ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism\")",
                   l->data.sharding->head.name, l->pp);
    }
    if (c->training.global_batch % (l->microbatch * l->dp) != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "train_batch_size must be microbatch x accumulation x dp: %" PRIu64
                   " does not divide by %" PRIu64 " x %" PRIu64,
                   c->training.global_batch, l->microbatch, l->dp);
    }
    if (c->model.attention.heads % (l->tp * l->cp) != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "heads must divide over tp, and those of a rank over Ulysses' ranks: %" PRIu64
                   " heads, tp %" PRIu64 ", %" PRIu64 " context ranks",
                   c->model.attention.heads, l->tp, l->cp);
    }
    if (job->positions < c->training.sequence) {
        launch_say(text, LAUNCH_REFUSED,
                   "the position table must cover the sequence: %" PRIu64 " rows, %" PRIu64
                   " tokens (max_position_embeddings)",
                   job->positions, c->training.sequence);
    }
    if (l->data.sharding->hybrid && job->replicas % job->shards != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "mics_shard_size must divide dp x cp: %" PRIu64 " of %" PRIu64, job->shards,
                   job->replicas);
    }
}

static void write_variables(const struct launch_job *job, struct launch_text *text)
{
    launch_line(text, "%s", "");
    launch_variable(text, "MEGATRON", "Megatron-DeepSpeed", "its checkout");
    launch_line(text, "DATA=${DATA:?prefix of the tokenized data}");
    launch_line(text, "TOKENIZER=${TOKENIZER:?Hugging Face name or folder of the tokenizer}");
    launch_common_variables(job, text);
    launch_saves_variables(job, text);
    if (job->c->model.position == POSITION_ROPE)
        launch_variable(text, "ROPE_BASE", "500000", "rotary base: as your model has it");
    launch_variable(text, "CONFIG", "ds.json", "is written here; all hosts must see it");
}

static void write_json(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    const unsigned stage = launch_stage(l->data.sharding);
    launch_line(text, "cat >\"$CONFIG\" <<'END'");
    launch_line(text, "{");
    launch_line(text, "  \"train_batch_size\": %" PRIu64 ",", c->training.global_batch);
    launch_line(text, "  \"train_micro_batch_size_per_gpu\": %" PRIu64 ",", l->microbatch);
    launch_line(text, "  \"gradient_accumulation_steps\": %" PRIu64 ",", job->microbatches);
    launch_line(text, "  \"zero_optimization\": {");
    if (l->data.sharding->hybrid)
        launch_line(text, "    \"mics_shard_size\": %" PRIu64 ",", job->shards);
    if (stage > 0) {
        launch_line(text, "    \"overlap_comm\": %s,",
                    c->software.data.overlap_gradients ? "true" : "false");
    }
    if (c->layout.offload.optimizer > 0.0) {
        const bool drives = c->layout.offload.optimizer_to == OFFLOAD_NVME;
        launch_line(text, "    \"offload_optimizer\": {\"device\": \"%s\", \"ratio\": %g%s},",
                    offload_names[c->layout.offload.optimizer_to], c->layout.offload.optimizer,
                    drives ? ", \"nvme_path\": \"/local_nvme\"" : "");
    }
    launch_line(text, "    \"stage\": %u", stage);
    launch_line(text, "  },");
    launch_line(text, "  \"data_types\": {\"grad_accum_dtype\": \"%s\"},",
                job->gradient_bytes < 4.0 ? (job->fp16 ? "fp16" : "bf16") : "fp32");
    launch_line(text, "  \"bf16\": {\"enabled\": %s},", job->bf16 ? "true" : "false");
    launch_line(text, "  \"fp16\": {\"enabled\": %s}", job->fp16 ? "true" : "false");
    launch_line(text, "}");
    launch_line(text, "END");
}

static void write_model(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct model_shape *m = &c->model;
    static const char *const activations[] = {[FFN_GELU] = NULL,
                                              [FFN_SWIGLU] = "--swiglu",
                                              [FFN_SQUARED_RELU] = "--squared-relu",
                                              [FFN_GEGLU] = "--swiglu"};
    launch_open(text, "MODEL", job->name);
    launch_option(text, "--num-layers %" PRIu64, m->layers);
    launch_option(text, "--hidden-size %" PRIu64, m->hidden);
    launch_option(text, "--ffn-hidden-size %" PRIu64, m->ffn_hidden);
    launch_option(text, "--num-attention-heads %" PRIu64, m->attention.heads);
    if (m->attention.kv_heads != m->attention.heads)
        launch_option(text, "--num-key-value-heads %" PRIu64, m->attention.kv_heads);
    if (m->attention.head_size * m->attention.heads != m->hidden)
        launch_option(text, "--kv-channels %" PRIu64, m->attention.head_size);
    launch_option(text, "--seq-length %" PRIu64, c->training.sequence);
    launch_option(text, "--max-position-embeddings %" PRIu64, job->positions);
    if (activations[m->ffn] != NULL)
        launch_option(text, "%s", activations[m->ffn]);
    launch_option(text, "--normalization %s", m->norm.kind == NORM_RMS ? "rmsnorm" : "layernorm");
    if (m->position == POSITION_ROPE) {
        launch_option(text, "--use-rotary-position-embeddings");
        launch_option(text, "--rotary-position-embeddings-theta \"$ROPE_BASE\"");
    }
    if (!m->tied_embeddings)
        launch_option(text, "--untie-embeddings-and-output-weights");
    if (!m->biases)
        launch_option(text, "--disable-bias-linear");
    launch_option(text, "--hidden-dropout %g", m->dropout_ratio);
    launch_option(text, "--attention-dropout %g", m->dropout_ratio);
    launch_close(text);
}

static void write_layout(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    launch_open(text, "LAYOUT", "which rank does what");
    launch_option(text, "--tensor-model-parallel-size %" PRIu64, l->tp);
    if (job->sequence_parallel && l->cp == 1)
        launch_option(text, "--sequence-parallel");
    launch_option(text, "--pipeline-model-parallel-size %" PRIu64, l->pp);
    if (l->pp == 1)
        launch_option(text, "--no-pipeline-parallel");
    if (l->cp > 1) {
        launch_option(text, "--force-ds-sequence-parallel");
        launch_option(text, "--ds-sequence-parallel-size %" PRIu64, l->cp);
    }
    launch_option(text, "--micro-batch-size %" PRIu64, l->microbatch);
    launch_option(text, "--global-batch-size %" PRIu64, c->training.global_batch);
    launch_option(text, "--deepspeed");
    launch_option(text, "--deepspeed_config \"$CONFIG\"");
    launch_option(text, "--zero-stage %u", launch_stage(l->data.sharding));
    launch_close(text);
}

/* Without a pipeline as Megatron-LM; with one whole layers at even distances, or none. */
static struct launch_recompute recompute_of(const struct launch_job *job)
{
    const struct layout_spec *l = &job->c->layout;
    const struct launch_recompute core = launch_core_recompute(job, false);
    if (l->pp == 1 || core.granularity == NULL)
        return core;
    if (l->recompute == RECOMPUTE_SELECTIVE)
        return (struct launch_recompute){NULL, NULL, 0, {NULL}};
    return (struct launch_recompute){
        "full", "uniform", l->recompute == RECOMPUTE_UNIFORM ? l->recompute_layers : 1, {NULL}};
}

static void write_training(const struct launch_job *job, struct launch_text *text)
{
    static const char *const kernels[] = {[ATTENTION_MATH] = NULL,
                                          [ATTENTION_FLASH1] = "--use-flash-attn-v1",
                                          [ATTENTION_FLASH2] = "--use-flash-attn-v2",
                                          [ATTENTION_FLASH3] = "--use-flash-attn-v2",
                                          [ATTENTION_CUDNN] = "--use-flash-attn-v2"};
    const struct launch_recompute again = recompute_of(job);
    const char *kernel = kernels[job->c->training.attention];
    const char *name = job->c->training.optimizer->head.name;
    const bool descent = strcmp(name, "sgd") == 0 || strcmp(name, "momentum") == 0;
    launch_open(text, "TRAINING", "number formats, memory, schedule of steps");
    if (job->bf16 || job->fp16)
        launch_option(text, "--%s", job->bf16 ? "bf16" : "fp16");
    if (kernel != NULL)
        launch_option(text, "%s", kernel);
    if (again.granularity != NULL)
        launch_option(text, "--recompute-granularity %s", again.granularity);
    if (again.method != NULL) {
        launch_option(text, "--recompute-method %s", again.method);
        launch_option(text, "--recompute-num-layers %" PRIu64, again.layers);
        launch_option(text, "--deepspeed-activation-checkpointing");
    }
    launch_option(text, "--optimizer %s", descent ? "sgd" : "adam");
    if (descent)
        launch_option(text, "--sgd-momentum %s", strcmp(name, "sgd") == 0 ? "0" : "0.9");
    if (!descent && strcmp(name, "adam") != 0 && strcmp(name, "adamw") != 0)
        launch_note_optimizer(job, text, "adam");
    launch_note_formats(job, text);
    launch_note_adapter(job, text);
    launch_option(text, "--train-iters \"$STEPS\"");
    launch_option(text, "--lr \"$LR\"");
    if (launch_saves_any(job)) {
        launch_option(text, "--save \"$CHECKPOINTS\"");
        launch_option(text, "--load \"$CHECKPOINTS\"");
        launch_option(text, "--save-interval \"$SAVE_EVERY\"");
    }
    launch_option(text, "--data-path \"$DATA\"");
    launch_option(text, "--tokenizer-type HFTokenizer");
    launch_option(text, "--tokenizer-model \"$TOKENIZER\"");
    launch_close(text);
}

static void note_layout(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    if (l->pipeline.vpp > 1) {
        launch_say(text, LAUNCH_REFUSED,
                   "there is no interleaving: vpp %" PRIu64
                   " would become 1, plain 1F1B with a bubble %" PRIu64 " times as long",
                   l->pipeline.vpp, l->pipeline.vpp);
    } else if (l->pp > 1 && l->pipeline.schedule == &schedule_gpipe) {
        launch_say(text, LAUNCH_DIFFERS,
                   "gpipe is not offered: 1F1B runs instead, as long and with fewer microbatches "
                   "in memory");
    }
    if (l->pp > 1 && l->pipeline.schedule->splits) {
        launch_say(text, LAUNCH_REFUSED,
                   "%s is not offered: 1F1B runs instead, which never runs the gradients of "
                   "weights apart",
                   l->pipeline.schedule->head.name);
    }
    if (l->pp > 1 &&
        (l->pipeline.ends_count || l->pipeline.first_layers > 0 || l->pipeline.last_layers > 0)) {
        launch_say(text, LAUNCH_REFUSED,
                   "layers cannot be given by stage: DeepSpeed spreads them evenly, the first "
                   "stages get one more");
    }
    if (l->cp > 1 && l->context.method != CP_ALL_TO_ALL) {
        launch_say(
            text, LAUNCH_REFUSED,
            "context parallelism is Ulysses': an all-to-all turns parts of the sequence into "
            "parts of the heads and back, in place of the simulated %s",
            l->context.method == CP_ALL_GATHER ? "all-gather"
            : l->context.method == CP_RING     ? "ring"
                                               : "exchange of heads beside a ring");
    }
    if (l->cp > 1 && job->sequence_parallel) {
        launch_say(text, LAUNCH_REFUSED,
                   "sequence parallelism over tp does not go with Ulysses: it is left out, and the "
                   "activations of norms and residuals are held whole on each tensor rank");
    }
    if (!launch_job_order(job, "tp-cp-dp-pp"))
        launch_note_order(job, text, "tp-cp-dp-pp");
}

static void note_memory(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    if (l->data.sharding->hybrid) {
        launch_say(text, LAUNCH_DIFFERS,
                   "hsdp is MiCS here (stage 3 with mics_shard_size): the model must be built "
                   "under deepspeed.zero.MiCS_Init");
    } else if (l->data.sharding->units) {
        launch_say(text, LAUNCH_DIFFERS,
                   "fsdp is ZeRO stage 3 here, which fetches by tensors and buckets, not by units "
                   "of layers");
    }
    if (l->pp == 1) {
        launch_core_note_recompute(job, false, text);
    } else if (l->recompute == RECOMPUTE_SELECTIVE) {
        launch_say(text, LAUNCH_DIFFERS,
                   "with a pipeline whole layers can be recomputed or none: none, as its fused "
                   "attention keeps no scores");
    } else if (l->recompute != RECOMPUTE_NONE && l->recompute != RECOMPUTE_FULL &&
               l->recompute != RECOMPUTE_UNIFORM) {
        launch_say(text, LAUNCH_REFUSED,
                   "%s recomputation does not go with a pipeline: every layer is recomputed "
                   "whole, which holds less and takes longer",
                   recompute_names[l->recompute]);
    }
    if (job->c->layout.offload.activations > 0.0)
        launch_say(text, LAUNCH_REFUSED,
                   "copies of activations beside compute are not offered: they stay on the cards");
    if (job->c->layout.offload.optimizer > 0.0 && launch_stage(job->c->layout.data.sharding) == 0)
        launch_say(text, LAUNCH_REFUSED,
                   "state on the host wants a stage of ZeRO: it stays on the cards");
    if (job->recipe != FP8_AUTO)
        launch_say(text, LAUNCH_REFUSED, "%s-bit products are not offered: all are bf16",
                   job->recipe == FP8_NVFP4 ? "4" : "8");
    const bool off = launch_stage(job->c->layout.data.sharding) == 0 && job->c->layout.pp == 1;
    if (job->bf16 && job->gradient_bytes < 4.0 && off) {
        launch_say(
            text, LAUNCH_REFUSED,
            "without ZeRO and without a pipeline DeepSpeed sums bf16 gradients in fp32: they "
            "were simulated in %g bytes (training.gradient_bytes=4 simulates that)",
            job->gradient_bytes);
    }
}

static void note_model(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct model_shape *m = &c->model;
    const int attention = c->training.attention;
    if (attention == ATTENTION_FLASH3 || attention == ATTENTION_CUDNN) {
        launch_say(text, LAUNCH_DIFFERS, "the attention is FlashAttention 2, not %s",
                   attention_kernel_names[attention]);
    }
    if (m->ffn == FFN_GEGLU)
        launch_say(text, LAUNCH_REFUSED, "geglu is not offered: swiglu has the same matrices");
    if (m->position == POSITION_ALIBI) {
        launch_say(text, LAUNCH_REFUSED,
                   "alibi is not offered: a learned table of positions stands in its place");
    }
    launch_note_shape(job, text);
    launch_facts(job, text, &(const struct launch_fact){NULL, NULL});
    if ((!m->biases && m->attention.biases != ATTENTION_BIASES_NONE) || m->norm.qk_norms ||
        m->norm.qk_norms_whole) {
        launch_say(text, LAUNCH_REFUSED,
                   "biases of the attention alone and norms of queries and keys are not offered: "
                   "they are left out");
    }
    if (m->latent.kv_rank > 0)
        launch_say(text, LAUNCH_REFUSED, "latent attention is not offered: it would be ordinary");
    if (m->moe.experts > 0)
        launch_say(text, LAUNCH_REFUSED, "this script trains the dense shape without experts");
    if (m->mtp_layers > 0)
        launch_say(text, LAUNCH_REFUSED, "modules that predict further ahead are left out");
    launch_say(text, LAUNCH_YOURS,
               "the vocabulary comes with the tokenizer: %" PRIu64 " entries were simulated",
               m->vocabulary);
}

static void write(const struct launch_job *job, struct launch_text *text)
{
    write_variables(job, text);
    launch_line(text, "%s", "");
    launch_line(text, "export CUDA_DEVICE_MAX_CONNECTIONS=1");
    write_json(job, text);
    write_model(job, text);
    write_layout(job, text);
    write_training(job, text);
    launch_line(text, "\"${RUN[@]}\" \"$MEGATRON/pretrain_gpt.py\" \\");
    launch_option(text, "\"${MODEL[@]}\" \"${LAYOUT[@]}\" \"${TRAINING[@]}\"");
    note_layout(job, text);
    launch_saves_note(job, false, text);
    note_memory(job, text);
    note_model(job, text);
}

const struct launch_kind launch_deepspeed = {
    .head = {.name = "deepspeed", .doc = "DeepSpeed under Megatron-DeepSpeed's pretrain_gpt.py"},
    .version = "DeepSpeed v0.19.5 with Megatron-DeepSpeed 4efb479",
    .software = "deepspeed",
    .check = check,
    .write = write,
};
