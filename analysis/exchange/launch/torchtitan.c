/* torchtitan v0.2.2 (73a0e69): keys of torchtitan/config/job_config.py; rules of
 * torchtitan/distributed/parallel_dims.py, distributed/pipeline_parallel.py, train.py, and of
 * torch/distributed/pipelining/schedules.py. Its main branch renamed keys since. */
#include <inttypes.h>
#include <string.h>

#include "analysis/exchange/launch/flavor.h"
#include "analysis/exchange/launch/float8.h"
#include "analysis/exchange/launch/launch_job.h"
#include "analysis/exchange/launch/launch_saves.h"
#include "sim/check.h"

/* What it makes of a sharding: parameters over shard x cp ranks, copies over replicate. */
struct degrees {
    uint64_t shard, replicate;
};
static struct degrees degrees_of(const struct launch_job *job)
{
    const struct layout_spec *l = &job->c->layout;
    if (launch_stage(l->data.sharding) == 0)
        return (struct degrees){1, l->dp};
    if (!l->data.sharding->hybrid)
        return (struct degrees){l->dp, 1};
    const uint64_t shard = job->shards > l->cp ? job->shards / l->cp : 1;
    return (struct degrees){shard, l->dp / shard};
}

static void check_dims(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    const struct degrees d = degrees_of(job);
    const uint64_t parts = l->tp * 2 * l->cp;
    if (l->data.sharding->hybrid && (job->shards % l->cp != 0 || d.shard * d.replicate != l->dp)) {
        launch_say(text, LAUNCH_REFUSED,
                   "it shards over data_parallel_shard_degree x context_parallel_degree: groups of "
                   "%" PRIu64 " do not come out with cp %" PRIu64 ", dp %" PRIu64
                   " (\"Invalid parallel dims\")",
                   job->shards, l->cp, l->dp);
    }
    if (d.replicate > 1 && d.shard == 1 && l->cp == 1 && l->tp * l->pp > 1) {
        launch_say(text, LAUNCH_REFUSED,
                   "plain data parallelism (DDP) stands alone: with tp %" PRIu64 ", pp %" PRIu64
                   " take zero-2, fsdp or hsdp (\"DDP has not supported > 1D parallelism\")",
                   l->tp, l->pp);
    }
    if (job->c->training.sequence % parts != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "the sequence must divide by 2 tp cp, also with cp 1: %" PRIu64 ", tp %" PRIu64
                   ", cp %" PRIu64 " (\"Sequence length must be divisible by the product of TP "
                   "degree and 2 * CP degree\")",
                   job->c->training.sequence, l->tp, l->cp);
    }
}

static bool multi(const struct launch_job *job)
{
    return job->c->layout.pipeline.schedule->interleaved;
}

/* What its own arithmetic makes of pipeline_parallel_layers_per_stage. */
static uint64_t stages_made(const struct launch_job *job, uint64_t per_stage, uint64_t less)
{
    return (job->c->model.layers + less + per_stage - 1) / per_stage;
}

/* Layers that the first and the last chunk have less than those between; false: it cannot be said
 * so. per_stage 0: the key is left out, and one chunk a rank, or two of a looped schedule, get
 * layers evenly, the first ones one more. */
struct pieces {
    uint64_t per_stage, first_less, last_less;
};
static bool pieces_of(const struct launch_job *job, struct pieces *out)
{
    const uint64_t last = job->chunks - 1, usual = multi(job) ? 2 : 1;
    *out = (struct pieces){job->chunk_layers, 0, 0};
    if (job->split == LAUNCH_SPLIT_EVEN)
        return true;
    if (job->split == LAUNCH_SPLIT_ENDS) {
        *out = (struct pieces){job->chunk_layers, 1, 1};
        return true;
    }
    const uint64_t most = job->layers[last > 1 ? 1 : (job->layers[1] > job->layers[0])];
    if (job->split == LAUNCH_SPLIT_GIVEN && job->layers[0] <= most && job->layers[last] <= most) {
        *out = (struct pieces){most, most - job->layers[0], most - job->layers[last]};
        return true;
    }
    out->per_stage = job->c->layout.pipeline.vpp == usual
                         ? 0
                         : (job->c->model.layers + job->chunks - 1) / job->chunks;
    return job->split == LAUNCH_SPLIT_LIST && launch_job_spreads(job);
}

static void check_pipeline(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    struct pieces pieces;
    const uint64_t m = job->microbatches;
    if (l->pp == 1)
        return;
    pieces_of(job, &pieces);
    const uint64_t made = pieces.per_stage > 0 ? stages_made(job, pieces.per_stage,
                                                             pieces.first_less + pieces.last_less)
                                               : job->chunks;
    if (made != job->chunks) {
        launch_say(text, LAUNCH_REFUSED,
                   "%" PRIu64 " layers a stage make %" PRIu64 " stages of %" PRIu64
                   " layers, not pp x vpp = %" PRIu64
                   " (\"number of virtual stages must be divisible by the pipeline parallel "
                   "size\")",
                   pieces.per_stage, made, job->c->model.layers, job->chunks);
    }
    const uint64_t rounds = m / l->pp > 0 ? m / l->pp : 1;
    if (multi(job) && m % rounds != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "Interleaved1F1B takes microbatches in rounds: %" PRIu64
                   " microbatches, %" PRIu64 " rounds (\"number of microbatches must be a "
                   "multiple of the number of rounds\")",
                   m, rounds);
    }
}

static void check(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    check_dims(job, text);
    if (c->training.global_batch % (l->microbatch * l->dp) != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "the global batch must divide by local batch x dp: %" PRIu64 ", %" PRIu64
                   " x %" PRIu64 " (\"global batch size must be multiple of local batch size "
                   "times data-parallel degree\")",
                   c->training.global_batch, l->microbatch, l->dp);
    } else {
        check_pipeline(job, text);
    }
}

static void write_variables(const struct launch_job *job, struct launch_text *text)
{
    const struct flavor *flavor = flavor_of(&job->c->model, job->c->training.sequence);
    launch_line(text, "%s", "");
    launch_line(text, "# run it in the checkout of torchtitan");
    launch_variable(text, "MODEL", flavor != NULL ? flavor->model : "llama3", "family of models");
    if (flavor != NULL)
        launch_variable(text, "FLAVOR", flavor->name, "has the shape that was simulated");
    else
        launch_line(text, "FLAVOR=${FLAVOR:?a flavor of $MODEL with the shape above}");
    launch_variable(text, "DATASET", "c4", "as torchtitan calls it");
    launch_variable(text, "DATA", "", "folder of the data set; empty: it is fetched");
    launch_variable(text, "TOKENIZER", "assets/hf/tokenizer", "folder of the tokenizer");
    launch_common_variables(job, text);
    launch_saves_variables(job, text);
}

static void write_training(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    const bool wide = !job->bf16 && !job->fp16;
    const char *name = c->training.optimizer->head.name;
    const uint64_t local = l->pp > 1 ? c->training.global_batch / l->dp : l->microbatch;
    launch_open(text, "TRAINING", job->name);
    launch_option(text, "--model.name \"$MODEL\"");
    launch_option(text, "--model.flavor \"$FLAVOR\"");
    launch_option(text, "--model.hf_assets_path \"$TOKENIZER\"");
    launch_option(text, "--training.dataset \"$DATASET\"");
    launch_option(text, "--training.seq_len %" PRIu64, c->training.sequence);
    launch_option(text, "--training.local_batch_size %" PRIu64, local);
    launch_option(text, "--training.global_batch_size %" PRIu64, c->training.global_batch);
    launch_option(text, "--training.mixed_precision_param %s", wide ? "float32" : "bfloat16");
    launch_option(text, "--training.mixed_precision_reduce float32");
    float8_write(job, text);
    launch_option(text, "--optimizer.name %s", strcmp(name, "adam") == 0 ? "Adam" : "AdamW");
    if (strcmp(name, "adam") != 0 && strcmp(name, "adamw") != 0)
        launch_note_optimizer(job, text, "AdamW");
    launch_note_formats(job, text);
    launch_note_adapter(job, text);
    launch_option(text, "--optimizer.lr \"$LR\"");
    launch_option(text, "--training.steps \"$STEPS\"");
    if (launch_saves_any(job)) {
        launch_option(text, "--checkpoint.enable");
        launch_option(text, "--checkpoint.folder \"$CHECKPOINTS\"");
        launch_option(text, "--checkpoint.interval \"$SAVE_EVERY\"");
        launch_option(text, "--checkpoint.async_mode %s",
                      launch_saves_behind(job) ? "async" : "disabled");
    }
    launch_close(text);
}

/* One layer in so many is recomputed whole; 1: all are. */
static uint64_t spacing_of(const struct launch_job *job)
{
    const struct layout_spec *l = &job->c->layout;
    switch ((enum recompute)l->recompute) {
    case RECOMPUTE_EVERY_OTHER_LAYER:
        return 2;
    case RECOMPUTE_BLOCK:
        return l->recompute_layers < job->most_layers ? job->most_layers / l->recompute_layers : 1;
    case RECOMPUTE_NONE:
    case RECOMPUTE_SELECTIVE:
    case RECOMPUTE_PER_OPERATOR:
    case RECOMPUTE_MODULES:
    case RECOMPUTE_UNIFORM:
    case RECOMPUTE_FULL:
        return 1;
    }
    UNREACHABLE("recompute is an enum recompute");
}

static void note_recompute(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    if (l->recompute == RECOMPUTE_SELECTIVE) {
        launch_say(text, LAUNCH_DIFFERS,
                   "recomputing the attention core alone is not offered: nothing is recomputed "
                   "instead, as its fused kernels keep no scores anyway");
    } else if (l->recompute == RECOMPUTE_MODULES) {
        launch_say(text, LAUNCH_REFUSED,
                   "recomputation by modules is not offered: whole layers are recomputed instead, "
                   "which holds less and takes longer");
    } else if (l->recompute == RECOMPUTE_UNIFORM && l->recompute_layers > 1) {
        launch_say(text, LAUNCH_REFUSED,
                   "one kept input for %" PRIu64
                   " layers is not offered: each layer is recomputed from its own",
                   l->recompute_layers);
    } else if (l->recompute == RECOMPUTE_BLOCK && spacing_of(job) > 1) {
        launch_say(text, LAUNCH_DIFFERS,
                   "the first %" PRIu64 " layers of a chunk cannot be named: one in %" PRIu64
                   " is recomputed, which is as many or a little more",
                   l->recompute_layers, spacing_of(job));
    } else if (l->recompute == RECOMPUTE_BLOCK) {
        launch_say(text, LAUNCH_DIFFERS,
                   "recomputing more than half of the layers means all of them here, not %" PRIu64
                   " of %" PRIu64,
                   l->recompute_layers, job->most_layers);
    }
}

static void write_recompute(const struct launch_job *job, struct launch_text *text)
{
    const int kind = job->c->layout.recompute;
    const uint64_t spacing = spacing_of(job);
    const bool none = kind == RECOMPUTE_NONE || kind == RECOMPUTE_SELECTIVE;
    const bool selective = kind == RECOMPUTE_PER_OPERATOR || spacing > 1;
    launch_option(text, "--activation_checkpoint.mode %s",
                  none ? "none" : (selective ? "selective" : "full"));
    if (kind == RECOMPUTE_PER_OPERATOR)
        launch_option(text, "--activation_checkpoint.selective_ac_option op");
    else if (spacing > 1)
        launch_option(text, "--activation_checkpoint.selective_ac_option %" PRIu64, spacing);
    note_recompute(job, text);
}

static const char *schedule_name(const struct launch_job *job)
{
    const struct schedule_kind *kind = job->c->layout.pipeline.schedule;
    if (kind == &schedule_zb_v)
        return "ZBVZeroBubble";
    if (multi(job))
        return "Interleaved1F1B";
    return kind == &schedule_gpipe ? "GPipe" : "1F1B";
}

static void write_pipeline(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    struct pieces pieces;
    if (l->pp == 1)
        return;
    if (!pieces_of(job, &pieces)) {
        launch_say(text, LAUNCH_REFUSED,
                   "the layers of each stage cannot be given one by one: torchtitan spreads them "
                   "evenly, the first stages get one more");
    }
    if (l->pipeline.schedule->splits && l->pipeline.schedule != &schedule_zb_v) {
        launch_say(text, LAUNCH_REFUSED,
                   "%s is not offered: %s runs instead; ZBVZeroBubble (zb-v) is",
                   l->pipeline.schedule->head.name, multi(job) ? "Interleaved1F1B" : "1F1B");
    }
    launch_option(text, "--parallelism.pipeline_parallel_schedule %s", schedule_name(job));
    launch_option(text, "--parallelism.pipeline_parallel_microbatch_size %" PRIu64, l->microbatch);
    if (pieces.per_stage > 0) {
        launch_option(text, "--parallelism.pipeline_parallel_layers_per_stage %" PRIu64,
                      pieces.per_stage);
    }
    launch_option(text, "--parallelism.pipeline_parallel_first_stage_less_layers %" PRIu64,
                  pieces.first_less);
    launch_option(text, "--parallelism.pipeline_parallel_last_stage_less_layers %" PRIu64,
                  pieces.last_less);
}

/* ParallelDims: expert ranks take all context ranks and part of the data ranks; whole experts also
 * all tensor ranks. With one expert rank the tensor ranks cut each expert. */
static void check_experts(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    const struct expert_ranks ranks = configuration_expert_ranks(job->c);
    const uint64_t least = l->cp * (ranks.etp == 1 ? l->tp : 1),
                   most = degrees_of(job).shard * least;
    if (ranks.etp != l->tp && ranks.ep == 1) {
        launch_say(text, LAUNCH_REFUSED,
                   "with ep 1 each expert is cut over the tp = %" PRIu64
                   " tensor ranks: it is not whole (etp %" PRIu64 ")",
                   l->tp, ranks.etp);
    } else if (ranks.ep > 1 && (ranks.ep % least != 0 || most % ranks.ep != 0)) {
        launch_say(text, LAUNCH_REFUSED,
                   "with etp %" PRIu64 " the ranks that share experts are a multiple of %" PRIu64
                   " and divide the %" PRIu64
                   " that data is sharded over with them: not ep %" PRIu64,
                   ranks.etp, least, most, ranks.ep);
    }
}

static void write_experts(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct expert_ranks ranks = configuration_expert_ranks(c);
    if (c->model.moe.experts == 0)
        return;
    check_experts(job, text);
    launch_option(text, "--parallelism.expert_parallel_degree %" PRIu64, ranks.ep);
    if (ranks.ep > 1)
        launch_option(text, "--parallelism.expert_tensor_parallel_degree %" PRIu64, ranks.etp);
    launch_note_rows(job, text);
}

static bool asynchronous(const struct launch_job *job)
{
    return job->sequence_parallel && job->c->software.tensor.pipelines;
}

/* Asynchronous tensor parallelism is made by the compiler. */
static bool compiled(const struct launch_job *job)
{
    return job->c->software.usual.execution == EXECUTION_COMPILED || asynchronous(job);
}

static void write_layout(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    const struct degrees d = degrees_of(job);
    const unsigned stage = launch_stage(l->data.sharding);
    const bool keeps = stage == 1 || stage == 2 || (stage == 3 && !c->software.shards.reshard);
    launch_open(text, "LAYOUT", "which rank does what");
    launch_option(text, "--parallelism.tensor_parallel_degree %" PRIu64, l->tp);
    if (asynchronous(job))
        launch_option(text, "--parallelism.enable_async_tensor_parallel");
    launch_option(text, "--parallelism.pipeline_parallel_degree %" PRIu64, l->pp);
    write_pipeline(job, text);
    launch_option(text, "--parallelism.context_parallel_degree %" PRIu64, l->cp);
    if (l->cp > 1) {
        launch_option(text, "--parallelism.context_parallel_rotate_method %s",
                      configuration_context_ranks(c).ring > 1 ? "alltoall" : "allgather");
        if (configuration_context_ranks(c).heads > 1)
            launch_say(text, LAUNCH_REFUSED,
                       "TorchTitan has no exchange of heads: keys and values are %s",
                       configuration_context_ranks(c).ring > 1 ? "passed round" : "gathered");
        launch_option(text, "--parallelism.context_parallel_load_balancer %s",
                      job->cp_uneven ? "None" : "headtail");
    }
    write_experts(job, text);
    launch_option(text, "--parallelism.data_parallel_shard_degree %" PRIu64, d.shard);
    launch_option(text, "--parallelism.data_parallel_replicate_degree %" PRIu64, d.replicate);
    launch_option(text, "--parallelism.fsdp_reshard_after_forward %s", keeps ? "never" : "default");
    write_recompute(job, text);
    if (compiled(job))
        launch_option(text, "--compile.enable");
    launch_close(text);
}

/* Number formats come with FSDP, or by autocast on one rank or under DDP alone. */
static void note_formats(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    if (degrees_of(job).shard * l->cp == 1 && l->tp * l->pp > 1 && (job->bf16 || job->fp16)) {
        launch_say(text, LAUNCH_REFUSED,
                   "nothing is sharded over data or context ranks, and so mixed_precision_param "
                   "has no effect: weights and products are fp32 unless --training.dtype bfloat16 "
                   "makes all of them bf16");
    }
}

static void note_sharding(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    const unsigned stage = launch_stage(l->data.sharding);
    if (job->replicas > 1 && (stage == 1 || stage == 2)) {
        launch_say(text, LAUNCH_DIFFERS,
                   "%s is done by FSDP2 with parameters left gathered: like ZeRO-2, gradients and "
                   "optimizer state are sharded%s",
                   l->data.sharding->head.name,
                   stage == 1 ? ", not the state alone as in ZeRO-1" : "");
    } else if (job->replicas > 1 && stage == 3 && l->pp > 1) {
        launch_say(text, LAUNCH_REFUSED,
                   "with a pipeline FSDP2 leaves parameters gathered through the step "
                   "(fsdp_reshard_after_forward default): it holds what ZeRO-2 holds");
    }
    if (stage == 0 && l->cp > 1) {
        launch_say(text, LAUNCH_DIFFERS,
                   "with context parallelism the state is always sharded, over cp = %" PRIu64
                   " ranks, not copied",
                   l->cp);
    }
}

static void note_layout(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    if (l->tp > 1 && !l->sequence_parallel) {
        launch_say(text, LAUNCH_DIFFERS,
                   "sequence parallelism always comes with tensor parallelism here");
    }
    if (l->tp > c->model.attention.kv_heads) {
        launch_say(text, LAUNCH_DIFFERS,
                   "the projections of keys and values are split over tp = %" PRIu64
                   " without repeating their %" PRIu64
                   " heads: no rank has a whole head, and the attention may refuse that",
                   l->tp, c->model.attention.kv_heads);
    }
    if (l->pp > 1 && job->microbatches < job->chunks) {
        launch_say(text, LAUNCH_YOURS,
                   "fewer microbatches (%" PRIu64 ") than stages (%" PRIu64
                   "): it warns of the bubble",
                   job->microbatches, job->chunks);
    }
    if (!launch_job_order(job, "tp-cp-dp-pp"))
        launch_note_order(job, text, "tp-cp-dp-pp");
}

static void note_training(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct model_shape *m = &c->model;
    float8_note(job, degrees_of(job).shard, compiled(job), text);
    if (c->layout.offload.activations > 0.0)
        launch_say(text, LAUNCH_REFUSED,
                   "copies of activations beside compute are not offered: they stay on the cards");
    if (c->layout.offload.optimizer > 0.0)
        launch_say(text, LAUNCH_REFUSED,
                   "the optimizer alone on the host is not offered: its state stays on the cards");
    if (job->fp16)
        launch_say(text, LAUNCH_REFUSED, "fp16 is not offered: bfloat16 stands in its place");
    if (job->gradient_bytes < 4.0) {
        launch_say(text, LAUNCH_REFUSED,
                   "gradients are reduced in fp32 alone: they were simulated in %g bytes "
                   "(training.gradient_bytes=4 simulates that)",
                   job->gradient_bytes);
    }
    launch_note_pattern(job, text);
    if (m->latent.indexer.heads > 0)
        launch_say(text, LAUNCH_REFUSED,
                   "sparse attention with an indexer is not offered: it would be dense");
    if (m->mtp_layers > 0)
        launch_say(text, LAUNCH_REFUSED, "modules that predict further ahead are left out");
    if (flavor_of(m, c->training.sequence) == NULL) {
        launch_say(text, LAUNCH_YOURS,
                   "shapes come from a flavor: add one with %s and name it in FLAVOR, its family "
                   "in MODEL",
                   flavor_words(text->arena, m, c->training.sequence));
    }
    launch_say(text, LAUNCH_YOURS,
               "the attention kernel comes with the flavor (attn_type sdpa: PyTorch chooses): %s "
               "was simulated",
               attention_kernel_names[c->training.attention]);
}

static void write(const struct launch_job *job, struct launch_text *text)
{
    write_variables(job, text);
    launch_line(text, "%s", "");
    launch_line(text, "PLACE=()");
    launch_line(text, "if [ -n \"$DATA\" ]; then PLACE=(--training.dataset_path \"$DATA\"); fi");
    write_training(job, text);
    write_layout(job, text);
    launch_line(text, "\"${RUN[@]}\" -m torchtitan.train \\");
    launch_option(text, "\"${TRAINING[@]}\" \"${LAYOUT[@]}\" \"${PLACE[@]}\"");
    launch_saves_note(job, true, text);
    note_formats(job, text);
    launch_note_units(job, text);
    note_sharding(job, text);
    note_layout(job, text);
    note_training(job, text);
}

const struct launch_kind launch_torchtitan = {
    .head = {.name = "torchtitan", .doc = "torchtitan: PyTorch's own trainer"},
    .version = "torchtitan v0.2.2",
    .software = "torchtitan",
    .check = check,
    .write = write,
};
