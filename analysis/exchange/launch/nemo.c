/* NeMo, which for language models is Megatron-Bridge v0.6.0 (51885cf): flags of
 * scripts/training/run_recipe.py; overrides GROUP.FIELD=VALUE of
 * src/megatron/bridge/training/config.py, with the names of Megatron Core. */
#include <inttypes.h>
#include <string.h>

#include "analysis/exchange/launch/launch_facts.h"
#include "analysis/exchange/launch/launch_saves.h"

static bool maps_pipeline_first(const struct launch_job *job)
{
    return !launch_job_order(job, "tp-cp-dp-pp") && launch_job_order(job, "tp-cp-pp-dp");
}

static void check(const struct launch_job *job, struct launch_text *text)
{
    launch_core_check(job, text);
    if (launch_stage(job->c->layout.data.sharding) >= 2 && maps_pipeline_first(job)) {
        launch_say(text, LAUNCH_REFUSED,
                   "Megatron-FSDP does not go with pipeline ranks numbered before data ranks: take "
                   "layout.order tp-cp-dp-pp (\"use_tp_pp_dp_mapping is not supported with "
                   "Megatron FSDP\")");
    }
}

static void write_variables(const struct launch_job *job, struct launch_text *text)
{
    const struct model_shape *m = &job->c->model;
    const bool llama = m->ffn == FFN_SWIGLU && m->norm.kind == NORM_RMS &&
                       m->position == POSITION_ROPE && m->moe.experts == 0;
    launch_line(text, "%s", "");
    launch_variable(text, "BRIDGE", "Megatron-Bridge", "its checkout");
    if (llama) {
        launch_variable(text, "RECIPE", "llama3_70b_pretrain_32gpu_h100_bf16_config",
                        "what is not set below comes from it");
    } else {
        launch_line(text, "RECIPE=${RECIPE:?a pretraining recipe of the model's family}");
    }
    launch_variable(text, "DATA", "", "prefix of the tokenized data; empty: made-up tokens");
    launch_common_variables(job, text);
    launch_saves_variables(job, text);
    if (m->position == POSITION_ROPE)
        launch_variable(text, "ROPE_BASE", "500000", "rotary base: as your model has it");
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

/* Rotation, and how a router scores: model.facts. Sigmoid scores of the chosen experts are always
 * brought to a sum of 1; softmax comes before the choice, over all, or behind it, over those. */
static void write_facts(const struct launch_job *job, struct launch_text *text)
{
    const bool sigmoid = launch_has_fact(job, "scoring_func=sigmoid");
    const struct launch_fact options[] = {
        {"partial_rotary_factor=", "model.rotary_percent="},
        {"rotary_pct=", "model.rotary_percent="},
        {"no_rope_layer_interval=", "model.no_rope_freq="},
        {"scoring_func=sigmoid", "model.moe_router_score_function=sigmoid"},
        {"routed_scaling_factor=", "model.moe_router_topk_scaling_factor="},
        {sigmoid ? NULL : "norm_topk_prob=false", "model.moe_router_pre_softmax=true"},
        {NULL, NULL},
    };
    launch_facts(job, text, options);
}

static void write_model(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct model_shape *m = &c->model;
    static const char *const positions[] = {[POSITION_LEARNED] = "learned_absolute",
                                            [POSITION_ROPE] = "rope",
                                            [POSITION_ALIBI] = "none",
                                            [POSITION_NONE] = "none"};
    launch_open(text, "MODEL", job->name);
    launch_option(text, "model.num_layers=%" PRIu64, m->layers);
    launch_option(text, "model.hidden_size=%" PRIu64, m->hidden);
    launch_option(text, "model.ffn_hidden_size=%" PRIu64, m->ffn_hidden);
    launch_option(text, "model.num_attention_heads=%" PRIu64, m->attention.heads);
    launch_option(text, "model.num_query_groups=%" PRIu64, m->attention.kv_heads);
    launch_option(text, "model.kv_channels=%" PRIu64, m->attention.head_size);
    launch_option(text, "model.vocab_size=%" PRIu64, m->vocabulary);
    launch_option(text, "model.gated_linear_unit=%s", truth(transformer_gated(m)));
    launch_option(text, "model.normalization=%s",
                  m->norm.kind == NORM_RMS ? "RMSNorm" : "LayerNorm");
    launch_option(text, "model.position_embedding_type=%s", positions[m->position]);
    if (m->position == POSITION_ROPE)
        launch_option(text, "model.rotary_base=\"$ROPE_BASE\"");
    if (m->mtp_layers > 0)
        launch_option(text, "model.mtp_num_layers=%" PRIu64, m->mtp_layers);
    launch_option(text, "model.share_embeddings_and_output_weights=%s", truth(m->tied_embeddings));
    launch_option(text, "model.add_bias_linear=%s", truth(m->biases));
    launch_option(text, "model.add_qkv_bias=%s",
                  truth(m->biases || m->attention.biases != ATTENTION_BIASES_NONE));
    launch_option(text, "model.qk_layernorm=%s", truth(m->norm.qk_norms));
    if (m->norm.qk_norms_whole)
        launch_say(text, LAUNCH_REFUSED, "queries and keys are normed head by head, not whole");
    launch_option(text, "model.hidden_dropout=%g", m->dropout_ratio);
    launch_option(text, "model.attention_dropout=%g", m->dropout_ratio);
    write_facts(job, text);
    launch_close(text);
}

/* GROUP.FIELD=number, or null where it is not said: the recipe has its own. */
static void write_number(struct launch_text *text, const char *field, bool said, uint64_t number)
{
    if (said)
        launch_option(text, "%s=%" PRIu64, field, number);
    else
        launch_option(text, "%s=null", field);
}

static void write_split(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    const bool ends = job->split == LAUNCH_SPLIT_ENDS, listed = job->split == LAUNCH_SPLIT_LIST;
    const bool given = job->split == LAUNCH_SPLIT_GIVEN;
    if (l->pipeline.vpp > 1 && !listed)
        launch_option(text, "-vp %" PRIu64, l->pipeline.vpp);
    else
        launch_option(text, "model.virtual_pipeline_model_parallel_size=null");
    launch_option(text, "model.account_for_embedding_in_pipeline_split=%s", truth(ends));
    launch_option(text, "model.account_for_loss_in_pipeline_split=%s", truth(ends));
    write_number(text, "model.num_layers_in_first_pipeline_stage",
                 given && l->pipeline.first_layers > 0, l->pipeline.first_layers);
    write_number(text, "model.num_layers_in_last_pipeline_stage",
                 given && l->pipeline.last_layers > 0, l->pipeline.last_layers);
    if (listed) {
        launch_option(text, "'model.pipeline_model_parallel_layout=\"%s\"'",
                      launch_job_stages(job, text->arena));
    } else {
        launch_option(text, "model.pipeline_model_parallel_layout=null");
    }
    if (l->pipeline.vpp > 1) {
        launch_option(text, "comm_overlap.overlap_p2p_comm=%s",
                      truth(!job->c->software.pipeline.blocking_interleaved));
    }
}

static void write_sharding(const struct launch_job *job, struct launch_text *text)
{
    const struct software_profile *s = &job->c->software;
    const unsigned stage = launch_stage(job->c->layout.data.sharding);
    const bool gathers = stage >= 1 && s->data.overlap_gradients && s->data.overlap_parameters;
    launch_option(text, "ddp.use_distributed_optimizer=%s", truth(stage >= 1));
    launch_option(text, "ddp.use_megatron_fsdp=%s", truth(stage >= 2));
    if (stage >= 2) {
        launch_option(text, "ddp.data_parallel_sharding_strategy=%s",
                      stage == 2 ? "optim_grads" : "optim_grads_params");
        launch_option(text, "model.gradient_accumulation_fusion=false");
        launch_option(text, "ddp.average_in_collective=false");
        launch_option(text, "checkpoint.ckpt_format=fsdp_dtensor");
    }
    if (job->c->layout.data.sharding->hybrid && job->shards < job->replicas) {
        launch_option(text, "ddp.num_distributed_optimizer_instances=%" PRIu64,
                      job->replicas / job->shards);
        launch_option(text, "ddp.outer_dp_sharding_strategy=no_shard");
    }
    launch_option(text, "comm_overlap.overlap_grad_reduce=%s", truth(s->data.overlap_gradients));
    launch_option(text, "comm_overlap.overlap_param_gather=%s", truth(gathers));
}

static void write_layout(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    const bool pipelines = job->sequence_parallel && c->software.tensor.pipelines;
    launch_open(text, "LAYOUT", "which rank does what");
    launch_option(text, "-tp %" PRIu64, l->tp);
    launch_option(text, "-pp %" PRIu64, l->pp);
    launch_option(text, "-cp %" PRIu64, l->cp);
    launch_option(text, "-mb %" PRIu64, l->microbatch);
    launch_option(text, "-gb %" PRIu64, c->training.global_batch);
    launch_option(text, "-sl %" PRIu64, c->training.sequence);
    write_split(job, text);
    launch_option(text, "model.sequence_parallel=%s", truth(job->sequence_parallel));
    launch_option(text, "comm_overlap.tp_comm_overlap=%s", truth(pipelines));
    launch_option(text, "comm_overlap.tp_comm_overlap_cfg=null");
    if (l->cp > 1)
        launch_option(text, "model.cp_comm_type=%s", launch_cp_type(l));
    if (l->cp > 1 && l->context.method == CP_ALL_TO_ALL_RING) {
        const struct context_ranks context = configuration_context_ranks(c);
        launch_option(text, "model.hierarchical_context_parallel_sizes=[%" PRIu64 ",%" PRIu64 "]",
                      context.heads, context.ring);
    }
    if (maps_pipeline_first(job))
        launch_option(text, "dist.use_tp_pp_dp_mapping=true");
    write_sharding(job, text);
    launch_close(text);
}

static const char *precision_of(const struct launch_job *job)
{
    static const char *const recipes[] = {[FP8_AUTO] = "bf16_mixed",
                                          [FP8_DELAYED] = "bf16_with_fp8_delayed_scaling_mixed",
                                          [FP8_CURRENT] = "bf16_with_fp8_current_scaling_mixed",
                                          [FP8_MX] = "bf16_with_mxfp8_mixed",
                                          [FP8_NVFP4] = "bf16_with_nvfp4_mixed",
                                          [FP8_BLOCKWISE] =
                                              "bf16_with_fp8_subchannel_scaling_mixed"};
    if (job->fp16)
        return "fp16_mixed";
    return job->bf16 ? recipes[job->recipe] : "null";
}

/* MixedPrecisionConfig.setup: what the recipe of mixed_precision says of 8-bit layers and weights
 * replaces what stands in `model`. */
static void note_recipe(const struct launch_job *job, struct launch_text *text)
{
    const struct training_spec *t = &job->c->training;
    const uint64_t wide = job->recipe == FP8_CURRENT ? 1 : 0;
    if (job->recipe == FP8_AUTO)
        return;
    if (t->wide_layers_first != wide || t->wide_layers_last != wide) {
        launch_say(text, LAUNCH_REFUSED,
                   "the recipe %s keeps %" PRIu64 " first and %" PRIu64
                   " last layers in bf16, not %" PRIu64 " and %" PRIu64
                   " (training.bf16_layers_first=%" PRIu64 " and training.bf16_layers_last=%" PRIu64
                   " simulate it)",
                   precision_of(job), wide, wide, t->wide_layers_first, t->wide_layers_last, wide,
                   wide);
    }
    if (job->recipe == FP8_BLOCKWISE) {
        launch_say(text, LAUNCH_REFUSED,
                   "the recipe %s keeps and gathers weights in 16 bits, which holds more "
                   "(software.fp8_recipe=current keeps them in eight)",
                   precision_of(job));
    }
}

/* Saves of Megatron-FSDP are not asynchronous. */
static bool saves_behind(const struct launch_job *job)
{
    return launch_stage(job->c->layout.data.sharding) < 2;
}

/* CheckpointConfig: without a folder in `save` nothing is saved; the recipe has one. */
static void write_saves(const struct launch_job *job, struct launch_text *text)
{
    const bool any = launch_saves_any(job);
    const char *behind = truth(any && saves_behind(job) && launch_saves_behind(job));
    launch_option(text, "checkpoint.save=%s", any ? "\"$CHECKPOINTS\"" : "null");
    launch_option(text, "checkpoint.load=%s", any ? "\"$CHECKPOINTS\"" : "null");
    launch_option(text, "checkpoint.save_interval=%s", any ? "\"$SAVE_EVERY\"" : "null");
    launch_option(text, "checkpoint.async_save=%s", behind);
    launch_option(text, "checkpoint.use_persistent_ckpt_worker=%s", behind);
}

static void write_training(const struct launch_job *job, struct launch_text *text)
{
    const struct launch_recompute again = launch_core_recompute(job, true);
    const char *name = job->c->training.optimizer->head.name;
    const bool descent = strcmp(name, "sgd") == 0 || strcmp(name, "momentum") == 0;
    launch_open(text, "TRAINING", "number formats, memory, schedule of steps");
    launch_option(text, "mixed_precision=%s", precision_of(job));
    note_recipe(job, text);
    if (job->gradient_bytes < 4.0)
        launch_option(text, "ddp.grad_reduce_in_fp32=false");
    launch_option(text, "model.recompute_granularity=%s",
                  again.granularity != NULL ? again.granularity : "null");
    if (again.modules[0] != NULL)
        launch_option(text, "'model.recompute_modules=[%s,%s%s%s]'", again.modules[0],
                      again.modules[1], again.modules[2] != NULL ? "," : "",
                      again.modules[2] != NULL ? again.modules[2] : "");
    launch_option(text, "model.recompute_method=%s", again.method != NULL ? again.method : "null");
    write_number(text, "model.recompute_num_layers", again.method != NULL, again.layers);
    if (launch_core_offloaded(job) > 0) {
        launch_option(text, "model.cpu_offloading=true");
        launch_option(text, "model.cpu_offloading_weights=false");
        launch_option(text, "model.cpu_offloading_num_layers=%" PRIu64, launch_core_offloaded(job));
    }
    launch_option(text, "optimizer.optimizer=%s", descent ? "sgd" : "adam");
    if (descent)
        launch_option(text, "optimizer.sgd_momentum=%s", strcmp(name, "sgd") == 0 ? "0" : "0.9");
    else if (strcmp(name, "adam") != 0 && strcmp(name, "adamw") != 0)
        launch_note_optimizer(job, text, "adam");
    if (job->c->layout.offload.optimizer > 0.0) {
        launch_option(text, "optimizer.optimizer_cpu_offload=true");
        launch_option(text, "optimizer.optimizer_offload_fraction=%g",
                      job->c->layout.offload.optimizer);
        if (job->c->layout.offload.optimizer_to == OFFLOAD_NVME)
            launch_say(text, LAUNCH_REFUSED,
                       "state on drives is not offered: it lies in the memory of the CPUs");
    }
    launch_note_formats(job, text);
    launch_note_adapter(job, text);
    launch_option(text, "optimizer.lr=\"$LR\"");
    launch_option(text, "train.train_iters=\"$STEPS\"");
    write_saves(job, text);
    launch_close(text);
}

static void note(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct model_shape *m = &c->model;
    launch_core_notes(job, text);
    launch_saves_note(job, saves_behind(job), text);
    launch_say(text, LAUNCH_YOURS,
               "what is not set comes from the recipe, and the activation (%s was simulated) from "
               "nowhere else: take a recipe of the model's family; the tokenizer is the recipe's",
               ffn_names[m->ffn]);
    launch_say(text, LAUNCH_YOURS,
               "the attention kernel is Transformer Engine's choice (model.attention_backend): %s "
               "was simulated",
               attention_kernel_names[c->training.attention]);
    if (job->gradient_bytes < 4.0) {
        launch_say(text, LAUNCH_YOURS,
                   "the recipe of mixed_precision may set ddp.grad_reduce_in_fp32 back to true");
    }
    if (m->position == POSITION_ALIBI) {
        launch_say(text, LAUNCH_REFUSED,
                   "alibi is not offered: positions are left out (position_embedding_type none)");
    }
    if (!m->biases && m->attention.biases == ATTENTION_BIASES_ALL) {
        launch_say(text, LAUNCH_REFUSED,
                   "the output of the attention has no bias: add_qkv_bias gives q, k and v one");
    }
    if (m->latent.kv_rank > 0)
        launch_say(text, LAUNCH_REFUSED, "latent attention comes from the recipe");
    if (m->moe.experts > 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "experts and how they are shared out come from the recipe");
    }
}

static void write(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    write_variables(job, text);
    launch_line(text, "%s", "");
    if (launch_stage(l->data.sharding) >= 2)
        launch_line(text, "unset CUDA_DEVICE_MAX_CONNECTIONS # FSDP forbids 1");
    else if ((l->tp > 1 || l->cp > 1) && !job->c->gpu.gemm.block_scaling)
        launch_line(text,
                    "export CUDA_DEVICE_MAX_CONNECTIONS=1 # before Blackwell: tp, cp need it");
    launch_line(text, "INPUT=(--dataset mock)");
    launch_line(text, "if [ -n \"$DATA\" ]; then");
    launch_line(text, "    INPUT=(\"dataset.blend=[[$DATA],null]\")");
    launch_line(text, "fi");
    write_model(job, text);
    write_layout(job, text);
    write_training(job, text);
    launch_line(text, "\"${RUN[@]}\" \"$BRIDGE/scripts/training/run_recipe.py\" \\");
    launch_option(text, "--recipe \"$RECIPE\" --mode pretrain \"${INPUT[@]}\" \\");
    launch_option(text, "\"${LAYOUT[@]}\" \"${MODEL[@]}\" \"${TRAINING[@]}\"");
    note(job, text);
}

const struct launch_kind launch_nemo = {
    .head = {.name = "nemo", .doc = "NeMo's Megatron-Bridge: run_recipe.py with overrides"},
    .version = "Megatron-Bridge v0.6.0",
    .software = "nemo",
    .check = check,
    .write = write,
};
