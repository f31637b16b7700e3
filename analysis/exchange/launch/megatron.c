/* Megatron-LM core_v0.19.0 (5be9626): options from megatron/training/arguments.py,
 * megatron/core/transformer/transformer_config.py and megatron/core/model_parallel_config.py. */
#include <inttypes.h>
#include <string.h>

#include "analysis/exchange/launch/launch_facts.h"
#include "analysis/exchange/launch/launch_saves.h"
#include "analysis/exchange/launch/megatron_latent.h"

static void write_variables(const struct launch_job *job, struct launch_text *text)
{
    launch_line(text, "%s", "");
    launch_variable(text, "MEGATRON", "Megatron-LM", "its checkout");
    launch_variable(text, "DATA", "", "prefix of the tokenized data; empty: made-up tokens");
    launch_variable(text, "TOKENIZER", "",
                    arena_format(text->arena,
                                 "Hugging Face name or folder, of %" PRIu64
                                 " entries; with DATA only",
                                 job->c->model.vocabulary));
    launch_common_variables(job, text);
    launch_saves_variables(job, text);
    if (job->c->model.position == POSITION_ROPE)
        launch_variable(text, "ROPE_BASE", "500000", "rotary base: as your model has it");
}

static void write_blocks(const struct launch_job *job, struct launch_text *text)
{
    const struct model_shape *m = &job->c->model;
    static const char *const activations[] = {[FFN_GELU] = NULL,
                                              [FFN_SWIGLU] = "--swiglu",
                                              [FFN_SQUARED_RELU] = "--squared-relu",
                                              [FFN_GEGLU] = "--quick-geglu"};
    static const char *const positions[] = {[POSITION_LEARNED] = "learned_absolute",
                                            [POSITION_ROPE] = "rope",
                                            [POSITION_ALIBI] = "none",
                                            [POSITION_NONE] = "none"};
    if (activations[m->ffn] != NULL)
        launch_option(text, "%s", activations[m->ffn]);
    launch_option(text, "--normalization %s", m->norm.kind == NORM_RMS ? "RMSNorm" : "LayerNorm");
    launch_option(text, "--position-embedding-type %s", positions[m->position]);
    if (m->position == POSITION_ROPE)
        launch_option(text, "--rotary-base \"$ROPE_BASE\"");
    if (!m->tied_embeddings)
        launch_option(text, "--untie-embeddings-and-output-weights");
    if (!m->biases)
        launch_option(text, "--disable-bias-linear");
    if (!m->biases && m->attention.biases != ATTENTION_BIASES_NONE)
        launch_option(text, "--add-qkv-bias");
    if (m->norm.qk_norms)
        launch_option(text, "--qk-layernorm");
    if (m->norm.qk_norms_whole)
        launch_say(text, LAUNCH_REFUSED, "queries and keys are normed head by head, not whole");
    launch_option(text, "--hidden-dropout %g", m->dropout_ratio);
    launch_option(text, "--attention-dropout %g", m->dropout_ratio);
}

/* How rows come to their experts, and which of them a token may choose. */
static void write_dispatch(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct dispatch_kind *kind = configuration_dispatch(c);
    const bool flexible = kind == &dispatch_deepep || kind == &dispatch_hybridep;
    if (flexible) {
        launch_option(text, "--moe-token-dispatcher-type flex");
        launch_option(text, "--moe-flex-dispatcher-backend %s", kind->head.name);
        launch_option(text, "--moe-%s-num-sms %u", kind->head.name, kind->sms);
        if (configuration_expert_room(c) > 0.0)
            launch_option(text, "--moe-expert-rank-capacity-factor %g",
                          configuration_expert_room(c));
    } else {
        launch_option(text, "--moe-token-dispatcher-type alltoall");
    }
    if (!flexible && kind != &dispatch_alltoall) {
        launch_say(text, LAUNCH_DIFFERS, "it has no %s dispatch: the script takes alltoall",
                   kind->head.name);
    }
    if (c->layout.experts.dispatch_8bit)
        launch_say(text, LAUNCH_REFUSED, "it sends rows to their experts in 16 bits, not in eight");
    if (c->model.moe.groups > 1) {
        launch_option(text, "--moe-router-num-groups %" PRIu64, c->model.moe.groups);
        launch_option(text, "--moe-router-group-topk %" PRIu64, c->model.moe.groups_per_token);
    }
}

/* Which layers have experts, as a list in Python: what is behind whole intervals has none. */
static void write_expert_layers(const struct model_shape *m, struct launch_text *text)
{
    const uint64_t each = m->moe.interval > 1 ? m->moe.interval : 1;
    const uint64_t dense = m->moe.dense_layers < m->layers ? m->moe.dense_layers : m->layers;
    const uint64_t first = dense - dense % each; /* intervals count from the first layer of all */
    const uint64_t behind = m->layers - first;
    if (first == 0 && each == 1)
        return;
    if (each == 1)
        launch_option(text, "--moe-layer-freq '([0]*%" PRIu64 "+[1]*%" PRIu64 ")'", first, behind);
    else if (first == 0 && behind % each == 0)
        launch_option(text, "--moe-layer-freq '([0]*%" PRIu64 "+[1])*%" PRIu64 "'", each - 1,
                      behind / each);
    else
        launch_option(text,
                      "--moe-layer-freq '[0]*%" PRIu64 "+([0]*%" PRIu64 "+[1])*%" PRIu64
                      "+[0]*%" PRIu64 "'",
                      first, each - 1, behind / each, behind % each);
}

static void write_experts(const struct launch_job *job, struct launch_text *text)
{
    const struct model_shape *m = &job->c->model;
    if (m->moe.experts == 0)
        return;
    launch_option(text, "--num-experts %" PRIu64, m->moe.experts);
    launch_option(text, "--moe-router-topk %" PRIu64, m->moe.experts_per_token);
    launch_option(text, "--moe-ffn-hidden-size %" PRIu64, m->moe.ffn_hidden);
    if (m->moe.latent > 0)
        launch_option(text, "--moe-latent-size %" PRIu64, m->moe.latent);
    if (job->bf16) /* its kernels know no other */
        launch_option(text, "--moe-grouped-gemm");
    write_dispatch(job, text);
    const struct expert_ranks ranks = configuration_expert_ranks(job->c);
    launch_option(text, "--expert-model-parallel-size %" PRIu64, ranks.ep);
    launch_option(text, "--expert-tensor-parallel-size %" PRIu64, ranks.etp);
    if (m->moe.shared_experts > 0) {
        launch_option(text, "--moe-shared-expert-intermediate-size %" PRIu64,
                      m->moe.shared_experts * m->moe.ffn_hidden);
        if (m->moe.shared_gate)
            launch_option(text, "--moe-shared-expert-gate");
        if (job->c->software.experts.shared_overlap)
            launch_option(text, "--moe-shared-expert-overlap");
    }
    write_expert_layers(m, text);
    if (m->moe.router_bias)
        launch_say(
            text, LAUNCH_YOURS,
            "biases of the router are not written: --moe-router-enable-expert-bias has those "
            "that balance loads, with sigmoid scores");
}

/* Rotation, and how a router scores: model.facts. Sigmoid scores of the chosen experts are always
 * brought to a sum of 1; softmax comes before the choice, over all, or behind it, over those. */
static void write_facts(const struct launch_job *job, struct launch_text *text)
{
    const bool sigmoid = launch_has_fact(job, "scoring_func=sigmoid");
    const struct launch_fact options[] = {
        {"partial_rotary_factor=", "--rotary-percent "},
        {"rotary_pct=", "--rotary-percent "},
        {"no_rope_layer_interval=", "--no-rope-freq "},
        {"scoring_func=sigmoid", "--moe-router-score-function sigmoid"},
        {"moe_apply_probs_on_input=true", "--moe-apply-probs-on-input"},
        {"routed_scaling_factor=", "--moe-router-topk-scaling-factor "},
        {sigmoid ? NULL : "norm_topk_prob=false", "--moe-router-pre-softmax"},
        {NULL, NULL},
    };
    launch_facts(job, text, options);
    const struct model_shape *m = &job->c->model;
    if (m->moe.experts > 0 && m->moe.experts_per_token == 1 && !sigmoid &&
        !launch_has_fact(job, "norm_topk_prob=false"))
        launch_say(
            text, LAUNCH_REFUSED,
            "a softmax behind the choice of one expert is always 1 (\"Please use "
            "--moe-router-pre-softmax when topk is 1\"): model.facts norm_topk_prob=false or "
            "scoring_func=sigmoid says what the model has");
}

static void write_model(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct model_shape *m = &c->model;
    launch_open(text, "MODEL", job->name);
    launch_option(text, "--num-layers %" PRIu64, m->layers);
    launch_option(text, "--hidden-size %" PRIu64, m->hidden);
    launch_option(text, "--ffn-hidden-size %" PRIu64, m->ffn_hidden);
    launch_option(text, "--num-attention-heads %" PRIu64, m->attention.heads);
    if (m->attention.kv_heads != m->attention.heads) {
        launch_option(text, "--group-query-attention");
        launch_option(text, "--num-query-groups %" PRIu64, m->attention.kv_heads);
    }
    if (m->attention.head_size * m->attention.heads != m->hidden)
        launch_option(text, "--kv-channels %" PRIu64, m->attention.head_size);
    launch_option(text, "--seq-length %" PRIu64, c->training.sequence);
    launch_option(text, "--max-position-embeddings %" PRIu64, job->positions);
    write_blocks(job, text);
    write_experts(job, text);
    write_facts(job, text);
    megatron_latent(m, text);
    if (m->mtp_layers > 0)
        launch_option(text, "--mtp-num-layers %" PRIu64, m->mtp_layers);
    launch_close(text);
}

/* How the layers lie in the pipeline. */
static void write_split(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    const bool given = job->split == LAUNCH_SPLIT_GIVEN;
    if (l->pp == 1)
        return;
    if (job->split == LAUNCH_SPLIT_LIST) {
        launch_option(text, "--pipeline-model-parallel-layout '%s'",
                      launch_job_stages(job, text->arena));
    } else if (l->pipeline.vpp > 1) {
        launch_option(text, "--num-layers-per-virtual-pipeline-stage %" PRIu64, job->chunk_layers);
    }
    if (l->pipeline.vpp > 1 && job->c->software.pipeline.blocking_interleaved)
        launch_option(text, "--no-overlap-p2p-communication");
    if (job->split == LAUNCH_SPLIT_ENDS) {
        launch_option(text, "--account-for-embedding-in-pipeline-split");
        launch_option(text, "--account-for-loss-in-pipeline-split");
    }
    if (given && l->pipeline.first_layers > 0)
        launch_option(text, "--decoder-first-pipeline-num-layers %" PRIu64,
                      l->pipeline.first_layers);
    if (given && l->pipeline.last_layers > 0)
        launch_option(text, "--decoder-last-pipeline-num-layers %" PRIu64, l->pipeline.last_layers);
}

static void write_sharding(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    const unsigned stage = launch_stage(l->data.sharding);
    if (stage >= 1)
        launch_option(text, "--use-distributed-optimizer");
    if (stage >= 2) {
        launch_option(text, "--use-megatron-fsdp");
        launch_option(text, "--data-parallel-sharding-strategy %s",
                      stage == 2 ? "optim_grads" : "optim_grads_params");
        launch_option(text, "--no-gradient-accumulation-fusion");
    }
    if (l->data.sharding->hybrid && job->shards < job->replicas) {
        launch_option(text, "--num-distributed-optimizer-instances %" PRIu64,
                      job->replicas / job->shards);
        launch_option(text, "--outer-dp-sharding-strategy no_shard");
    }
    if (job->c->software.data.overlap_gradients)
        launch_option(text, "--overlap-grad-reduce");
    if (stage >= 1 && job->c->software.data.overlap_gradients &&
        job->c->software.data.overlap_parameters)
        launch_option(text, "--overlap-param-gather");
}

static void write_layout(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    launch_open(text, "LAYOUT", "which rank does what");
    launch_option(text, "--tensor-model-parallel-size %" PRIu64, l->tp);
    if (job->sequence_parallel)
        launch_option(text, "--sequence-parallel");
    if (job->sequence_parallel && c->software.tensor.pipelines)
        launch_option(text, "--tp-comm-overlap");
    launch_option(text, "--pipeline-model-parallel-size %" PRIu64, l->pp);
    write_split(job, text);
    launch_option(text, "--context-parallel-size %" PRIu64, l->cp);
    if (l->cp > 1)
        launch_option(text, "--cp-comm-type %s", launch_cp_type(l));
    if (l->cp > 1 && l->context.method == CP_ALL_TO_ALL_RING) {
        const struct context_ranks context = configuration_context_ranks(c);
        launch_option(text, "--hierarchical-context-parallel-sizes %" PRIu64 " %" PRIu64,
                      context.heads, context.ring);
    }
    if (!launch_job_order(job, "tp-cp-dp-pp") && launch_job_order(job, "tp-cp-pp-dp"))
        launch_option(text, "--use-tp-pp-dp-mapping");
    launch_option(text, "--micro-batch-size %" PRIu64, l->microbatch);
    launch_option(text, "--global-batch-size %" PRIu64, c->training.global_batch);
    write_sharding(job, text);
    launch_close(text);
}

static void write_precision(const struct launch_job *job, struct launch_text *text)
{
    static const char *const recipes[] = {[FP8_AUTO] = "",
                                          [FP8_DELAYED] = "delayed",
                                          [FP8_CURRENT] = "tensorwise",
                                          [FP8_MX] = "mxfp8",
                                          [FP8_BLOCKWISE] = "blockwise"};
    if (job->bf16 || job->fp16)
        launch_option(text, "--%s", job->bf16 ? "bf16" : "fp16");
    if (job->bf16 && job->gradient_bytes < 4.0)
        launch_option(text, "--grad-reduce-in-bf16");
    if (job->fp16 && !(job->gradient_bytes < 4.0)) /* of bf16 it is the default */
        launch_option(text, "--accumulate-allreduce-grads-in-fp32");
    const struct training_spec *t = &job->c->training;
    if (t->wide_layers_first + t->wide_layers_last > 0) {
        launch_option(text, "--first-last-layers-bf16");
        launch_option(text, "--num-layers-at-start-in-bf16 %" PRIu64, t->wide_layers_first);
        launch_option(text, "--num-layers-at-end-in-bf16 %" PRIu64, t->wide_layers_last);
    }
    if (job->recipe == FP8_NVFP4)
        launch_option(text, "--fp4-format e2m1");
    if (job->recipe != FP8_AUTO && job->c->software.fp8.activation_cache)
        launch_option(text, "--activation-func-fp8-input-store");
    if (job->recipe == FP8_AUTO || job->recipe == FP8_NVFP4)
        return;
    launch_option(text, "--fp8-format %s", job->recipe == FP8_BLOCKWISE ? "e4m3" : "hybrid");
    launch_option(text, "--fp8-recipe %s", recipes[job->recipe]);
    if (launch_stage(job->c->layout.data.sharding) >= 1)
        launch_option(text, "--fp8-param-gather");
}

static void write_offload(const struct launch_job *job, struct launch_text *text)
{
    launch_option(text, "--optimizer-cpu-offload");
    launch_option(text, "--optimizer-offload-fraction %g", job->c->layout.offload.optimizer);
    if (job->c->layout.offload.optimizer_to == OFFLOAD_NVME)
        launch_say(text, LAUNCH_REFUSED,
                   "state on drives is not offered: it lies in the memory of the CPUs");
}

/* --main-params-dtype takes fp32 and fp16; all three, and state on the host, want the distributed
 * optimizer
 * (megatron/core/optimizer/optimizer_config.py). */
static void write_formats(const struct launch_job *job, struct launch_text *text)
{
    const bool offloads = job->c->layout.offload.optimizer > 0.0;
    const struct state_formats *f = &job->c->training.state_formats;
    const enum state_format master = optimizer_master_format(f);
    if (f->master == 0 && f->moments[0] == 0 && f->moments[1] == 0 && !offloads)
        return;
    if (launch_stage(job->c->layout.data.sharding) < 1 || master == STATE_BF16 ||
        master == STATE_NONE) {
        if (offloads)
            launch_say(
                text, LAUNCH_REFUSED,
                "state on the host wants the distributed optimizer and its formats: it stays "
                "on the cards");
        launch_note_formats(job, text);
        return;
    }
    launch_option(text, "--use-precision-aware-optimizer");
    if (offloads)
        write_offload(job, text);
    if (f->master != 0)
        launch_option(text, "--main-params-dtype %s", master_format_names[f->master]);
    if (f->moments[0] != 0)
        launch_option(text, "--exp-avg-dtype %s", moment_format_names[f->moments[0]]);
    if (f->moments[1] != 0)
        launch_option(text, "--exp-avg-sq-dtype %s", moment_format_names[f->moments[1]]);
}

static void write_optimizer(const struct launch_job *job, struct launch_text *text)
{
    const char *name = job->c->training.optimizer->head.name;
    const bool descent = strcmp(name, "sgd") == 0 || strcmp(name, "momentum") == 0;
    launch_option(text, "--optimizer %s", descent ? "sgd" : "adam");
    if (descent)
        launch_option(text, "--sgd-momentum %s", strcmp(name, "sgd") == 0 ? "0" : "0.9");
    if (!descent && strcmp(name, "adam") != 0 && strcmp(name, "adamw") != 0)
        launch_note_optimizer(job, text, "adam");
    write_formats(job, text);
    launch_note_adapter(job, text);
}

/* Saves of Megatron-FSDP are not asynchronous. */
static bool saves_behind(const struct launch_job *job)
{
    return launch_stage(job->c->layout.data.sharding) < 2;
}

static void write_saves(const struct launch_job *job, struct launch_text *text)
{
    if (!saves_behind(job))
        launch_option(text, "--ckpt-format fsdp_dtensor");
    if (!launch_saves_any(job))
        return;
    launch_option(text, "--save \"$CHECKPOINTS\"");
    launch_option(text, "--load \"$CHECKPOINTS\"");
    launch_option(text, "--save-interval \"$SAVE_EVERY\"");
    if (saves_behind(job) && launch_saves_behind(job)) {
        launch_option(text, "--async-save");
        launch_option(text, "--use-persistent-ckpt-worker");
    }
}

static void write_training(const struct launch_job *job, struct launch_text *text)
{
    static const char *const backends[] = {[ATTENTION_MATH] = "unfused",
                                           [ATTENTION_FLASH1] = "flash",
                                           [ATTENTION_FLASH2] = "flash",
                                           [ATTENTION_FLASH3] = "flash",
                                           [ATTENTION_CUDNN] = "fused"};
    const struct launch_recompute again = launch_core_recompute(job, true);
    launch_open(text, "TRAINING", "number formats, memory, schedule of steps");
    write_precision(job, text);
    launch_option(text, "--attention-backend %s", backends[job->c->training.attention]);
    if (again.granularity != NULL)
        launch_option(text, "--recompute-granularity %s", again.granularity);
    if (again.modules[0] != NULL)
        launch_option(text, "--recompute-modules %s %s%s%s", again.modules[0], again.modules[1],
                      again.modules[2] != NULL ? " " : "",
                      again.modules[2] != NULL ? again.modules[2] : "");
    if (again.method != NULL) {
        launch_option(text, "--recompute-method %s", again.method);
        launch_option(text, "--recompute-num-layers %" PRIu64, again.layers);
    }
    if (launch_core_offloaded(job) > 0)
        launch_option(text, "--cpu-offloading-num-layers %" PRIu64, launch_core_offloaded(job));
    write_optimizer(job, text);
    launch_option(text, "--train-iters \"$STEPS\"");
    launch_option(text, "--lr \"$LR\"");
    write_saves(job, text);
    launch_close(text);
}

/* NullTokenizer adds the end of a document to --vocab-size; --make-vocab-size-divisible-by is 128,
 * times tp (megatron/training/arguments.py). */
static void note_vocabulary(const struct launch_job *job, struct launch_text *text)
{
    const uint64_t entries = job->c->model.vocabulary, step = 128 * job->c->layout.tp;
    const uint64_t padded = (entries + step - 1) / step * step;
    const char *to =
        padded == entries
            ? "is a multiple of 128 x tp"
            : arena_format(text->arena, "is padded to %" PRIu64 ", a multiple of 128 x tp", padded);
    launch_say(text, LAUNCH_YOURS,
               "the vocabulary of %" PRIu64
               " %s; the tokenizer of made-up tokens adds one entry to its --vocab-size",
               entries, to);
}

static void note(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    launch_core_notes(job, text);
    launch_saves_note(job, saves_behind(job), text);
    note_vocabulary(job, text);
    if (c->model.ffn == FFN_GEGLU) {
        launch_say(text, LAUNCH_REFUSED,
                   "geglu is there with the quick approximation of GELU alone (--quick-geglu): the "
                   "same matrices, another function");
    }
    if (c->model.position == POSITION_ALIBI) {
        launch_say(text, LAUNCH_REFUSED,
                   "alibi is not offered: positions are left out (--position-embedding-type none)");
    }
    if (!c->model.biases && c->model.attention.biases == ATTENTION_BIASES_ALL) {
        launch_say(text, LAUNCH_REFUSED,
                   "the output of the attention has no bias: --add-qkv-bias gives q, k and v one");
    }
    if (job->sequence_parallel && c->software.tensor.pipelines) {
        launch_say(text, LAUNCH_YOURS,
                   "--tp-comm-overlap takes its sizes from --tp-comm-overlap-cfg FILE where the "
                   "built-in ones do not suit");
    }
    if (c->training.attention != ATTENTION_MATH && c->training.attention != ATTENTION_CUDNN) {
        launch_say(text, LAUNCH_YOURS,
                   "--attention-backend flash takes the FlashAttention that is installed: %s was "
                   "simulated",
                   attention_kernel_names[c->training.attention]);
    }
    if (c->model.moe.experts > 0 && c->layout.experts.capacity > 0.0) {
        launch_say(text, LAUNCH_YOURS,
                   "experts took %g times the mean of a rank's tokens: give "
                   "--moe-expert-capacity-factor and --moe-pad-expert-input-to-capacity",
                   c->layout.experts.capacity);
    }
}

static void write(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    const bool fsdp = launch_stage(l->data.sharding) >= 2;
    write_variables(job, text);
    launch_line(text, "%s", "");
    if (!fsdp && (l->tp > 1 || l->cp > 1) && !job->c->gpu.gemm.block_scaling)
        launch_line(text,
                    "export CUDA_DEVICE_MAX_CONNECTIONS=1 # before Blackwell: tp, cp need it");
    else if (fsdp)
        launch_line(text, "unset CUDA_DEVICE_MAX_CONNECTIONS # FSDP forbids 1");
    launch_line(text, "if [ -n \"$DATA\" ]; then");
    launch_line(text, "    INPUT=(--data-path \"$DATA\" --tokenizer-type HuggingFaceTokenizer"
                      " --tokenizer-model \"$TOKENIZER\")");
    launch_line(text, "else");
    launch_line(text,
                "    INPUT=(--mock-data --tokenizer-type NullTokenizer --vocab-size %" PRIu64 ")",
                job->c->model.vocabulary - 1);
    launch_line(text, "fi");
    write_model(job, text);
    write_layout(job, text);
    write_training(job, text);
    launch_line(text, "\"${RUN[@]}\" \"$MEGATRON/pretrain_gpt.py\" \\");
    launch_option(text, "\"${MODEL[@]}\" \"${LAYOUT[@]}\" \"${TRAINING[@]}\" \"${INPUT[@]}\"");
    note(job, text);
}

const struct launch_kind launch_megatron = {
    .head = {.name = "megatron", .doc = "Megatron-LM: pretrain_gpt.py"},
    .version = "Megatron-LM core_v0.19.0",
    .software = "megatron",
    .check = launch_core_check,
    .write = write,
};
