/* What Megatron-LM (core_v0.19.0) and Megatron-Bridge (v0.6.0) share, as both train with Megatron
 * Core: rules (megatron/training/arguments.py, megatron/core/transformer/transformer_config.py,
 * megatron/core/pipeline_parallel/schedules.py, megatron/core/num_microbatches_calculator.py) and
 * what it does otherwise. */
#include <inttypes.h>
#include <string.h>

#include "analysis/exchange/launch/launch_job.h"

#include "sim/check.h"

unsigned launch_stage(const struct sharding_kind *sharding)
{
    if (sharding->shards_weights)
        return 3;
    if (sharding->shards_gradients)
        return 2;
    return sharding->shards_optimizer ? 1 : 0;
}

static void check_shape(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    const struct model_shape *m = &c->model;
    if (m->attention.heads % l->tp != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "heads must divide over tp: %" PRIu64 " heads, tp %" PRIu64
                   " (\"num_attention_heads must be a multiple of tensor_model_parallel_size\")",
                   m->attention.heads, l->tp);
    }
    if (m->attention.kv_heads % l->tp != 0 && l->tp % m->attention.kv_heads != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "key-value heads must be a multiple or a divisor of tp: %" PRIu64 ", tp %" PRIu64
                   " (\"num_query_groups must be a multiple or divisor of "
                   "tensor_model_parallel_size\")",
                   m->attention.kv_heads, l->tp);
    }
    if (l->cp > 1 && c->training.sequence % (2 * l->cp) != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "with context parallelism the sequence must divide by 2 cp: %" PRIu64
                   ", cp %" PRIu64
                   " (\"seq-length should be a multiple of 2 * context-parallel-size\")",
                   c->training.sequence, l->cp);
    }
    if (job->positions < c->training.sequence) {
        launch_say(text, LAUNCH_REFUSED,
                   "the position table must cover the sequence: %" PRIu64 " rows, %" PRIu64
                   " tokens (\"max_position_embeddings must be greater than or equal to "
                   "seq_length\")",
                   job->positions, c->training.sequence);
    }
}

static void check_batch(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    if (c->training.global_batch % (l->microbatch * l->dp) != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "the global batch must divide by microbatch x dp: %" PRIu64 ", %" PRIu64
                   " x %" PRIu64
                   " (\"global batch size is not divisible by micro batch size times data "
                   "parallel size\")",
                   c->training.global_batch, l->microbatch, l->dp);
    } else if (l->pipeline.vpp > 1 && job->microbatches % l->pp != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "interleaving takes microbatches in groups of pp: %" PRIu64
                   " microbatches, pp %" PRIu64 " (\"the number of microbatches should be a "
                   "multiple of the microbatch group size per virtual pipeline stage\")",
                   job->microbatches, l->pp);
    }
}

static void check_stages(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    if (l->pipeline.vpp > 1 && l->pp == 1) {
        launch_say(text, LAUNCH_REFUSED,
                   "virtual stages need a pipeline: pp 1, vpp %" PRIu64
                   " (\"pipeline-model-parallel size should be greater than 1\")",
                   l->pipeline.vpp);
    } else if (l->pipeline.vpp > 1 && l->pp == 2 &&
               job->c->software.pipeline.blocking_interleaved) {
        launch_say(text, LAUNCH_REFUSED,
                   "virtual stages whose sends are not overlapped need pp above 2 "
                   "(\"pipeline-model-parallel size should be greater than 2\")");
    }
    if (l->data.sharding->hybrid && job->replicas % job->shards != 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "groups that shard must divide dp x cp: %" PRIu64 " of %" PRIu64
                   " (\"num_distributed_optimizer_instances\")",
                   job->shards, job->replicas);
    }
}

/* megatron/core/optimizer/distrib_optimizer.py; transformer_config.py: whatever software was
 * simulated, these are the rules of the one that will run. */
static void check_state(const struct launch_job *job, struct launch_text *text)
{
    const struct training_spec *t = &job->c->training;
    const char *name = t->optimizer->head.name;
    const bool descent = strcmp(name, "sgd") == 0 || strcmp(name, "momentum") == 0;
    if (descent && launch_stage(job->c->layout.data.sharding) >= 1) {
        launch_say(text, LAUNCH_REFUSED,
                   "the distributed optimizer does not take %s (\"Only Adam and "
                   "HybridDeviceOptimizer currently supported\"): layout.sharding=zero-0 goes "
                   "without it",
                   name);
    }
    if (t->wide_layers_first + t->wide_layers_last > 0 && job->recipe == FP8_DELAYED) {
        launch_say(text, LAUNCH_REFUSED,
                   "no layer stays in bf16 with delayed scales (\"Delayed scaling does not support "
                   "first / last layer in BF16\"): software.fp8_recipe=current goes with it");
    }
}

void launch_core_check(const struct launch_job *job, struct launch_text *text)
{
    check_shape(job, text);
    check_batch(job, text);
    check_stages(job, text);
    check_state(job, text);
}

/* Of a dense model Megatron-Core has no module that is the activation alone. */
static bool has_modules(const struct launch_job *job)
{
    return job->c->layout.recompute == RECOMPUTE_MODULES && job->c->model.moe.experts > 0;
}

struct launch_recompute launch_core_recompute(const struct launch_job *job, bool modules)
{
    if (modules && has_modules(job))
        return (struct launch_recompute){
            .granularity = "selective",
            .modules = {"layernorm", "moe_act",
                        job->c->model.latent.kv_rank > 0 ? "mla_up_proj" : NULL}};
    const struct layout_spec *l = &job->c->layout;
    switch ((enum recompute)l->recompute) {
    case RECOMPUTE_NONE:
        return (struct launch_recompute){NULL, NULL, 0, {NULL}};
    case RECOMPUTE_SELECTIVE:
        return (struct launch_recompute){"selective", NULL, 0, {NULL}};
    case RECOMPUTE_EVERY_OTHER_LAYER:
        return (struct launch_recompute){"full", "block", (job->most_layers + 1) / 2, {NULL}};
    case RECOMPUTE_BLOCK:
        return (struct launch_recompute){"full", "block", l->recompute_layers, {NULL}};
    case RECOMPUTE_UNIFORM:
        return (struct launch_recompute){"full", "uniform", l->recompute_layers, {NULL}};
    case RECOMPUTE_PER_OPERATOR: /* whole layers instead: launch_core_note_recompute says so */
    case RECOMPUTE_MODULES:
    case RECOMPUTE_FULL:
        return (struct launch_recompute){"full", "uniform", 1, {NULL}};
    }
    UNREACHABLE("recompute is an enum recompute");
}

void launch_core_note_recompute(const struct launch_job *job, bool modules,
                                struct launch_text *text)
{
    if (job->c->layout.recompute == RECOMPUTE_MODULES && !(modules && has_modules(job))) {
        launch_say(text, LAUNCH_REFUSED,
                   "recomputation by modules is not written here: whole layers are recomputed "
                   "instead, which holds less and takes longer");
    } else if (job->c->layout.recompute == RECOMPUTE_PER_OPERATOR) {
        launch_say(text, LAUNCH_REFUSED,
                   "recomputation per operator is PyTorch's: whole layers are recomputed instead, "
                   "which holds less and takes longer");
    } else if (job->c->layout.recompute == RECOMPUTE_EVERY_OTHER_LAYER) {
        launch_say(text, LAUNCH_DIFFERS,
                   "every other layer cannot be named: the first %" PRIu64
                   " layers of each chunk are recomputed, which is as many to within one",
                   launch_core_recompute(job, modules).layers);
    }
}

uint64_t launch_core_offloaded(const struct launch_job *job)
{
    const struct configuration *c = job->c;
    const uint32_t layers = (uint32_t)c->model.layers;
    const uint32_t wanted = configuration_offloaded_layers(c, layers);
    if (c->layout.pp > 1 || c->layout.recompute != RECOMPUTE_NONE)
        return 0;
    return wanted < layers ? wanted : layers - 1;
}

static void note_offload(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    if (!(l->offload.activations > 0.0))
        return;
    if (launch_core_offloaded(job) == 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "activations stay on the cards: layers go to the host whole without a pipeline "
                   "and without recomputation alone (cpu_offloading_num_layers); with them it is "
                   "modules of layers (fine_grained_activation_offloading, offload_modules)");
    } else if (l->offload.activations_to == OFFLOAD_NVME) {
        launch_say(text, LAUNCH_REFUSED,
                   "activations on drives are not offered: they lie in the memory of the CPUs");
    }
}

static void note_sharding(const struct launch_job *job, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    const unsigned stage = launch_stage(l->data.sharding);
    if (stage >= 2) {
        launch_say(
            text, LAUNCH_DIFFERS,
            "%s is done by Megatron-FSDP (strategy %s), whose units and buffers are its own; "
            "it needs the checkpoint format fsdp_dtensor, which is not saved "
            "asynchronously, and CUDA_DEVICE_MAX_CONNECTIONS "
            "must not be 1",
            l->data.sharding->head.name, stage == 2 ? "optim_grads" : "optim_grads_params");
    }
    if (job->recipe != FP8_AUTO && job->recipe != FP8_NVFP4 && stage == 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "weights stay in 16 bits: 8-bit ones (fp8-param-gather) are \"only supported "
                   "with distributed optimizer\" or FSDP, not with %s",
                   l->data.sharding->head.name);
    }
}

void launch_core_notes(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const struct layout_spec *l = &c->layout;
    if (l->pp > 1 && l->pipeline.schedule == &schedule_gpipe) {
        launch_say(text, LAUNCH_DIFFERS,
                   "gpipe is not offered: 1F1B runs instead, as long and with fewer microbatches "
                   "in memory");
    }
    if (l->pp > 1 && l->pipeline.schedule->splits) {
        launch_say(text, LAUNCH_REFUSED,
                   "%s is not offered: %s runs instead; zero-bubble schedules are run by its fork "
                   "sail-sg/zero-bubble-pipeline-parallelism (--enable-zero-bubble, "
                   "--zero-bubble-v-schedule), dualpipe by deepseek-ai/DualPipe",
                   l->pipeline.schedule->head.name,
                   l->pipeline.vpp > 1 ? "interleaved 1F1B" : "1F1B");
    }
    if (job->recipe != FP8_AUTO && c->software.fp8.attention_cache)
        launch_say(text, LAUNCH_REFUSED,
                   "the attention's output is kept in 16 bits: a cache of 12 is not offered "
                   "(software.fp8_attention_cache=false simulates that)");
    if (job->cp_uneven) {
        launch_say(text, LAUNCH_DIFFERS,
                   "context ranks were simulated with neighbouring positions: this framework "
                   "always gives each a block from either end");
    }
    if (!launch_job_order(job, "tp-cp-dp-pp") && !launch_job_order(job, "tp-cp-pp-dp"))
        launch_note_order(job, text, "tp-cp-dp-pp");
    launch_note_shape(job, text);
    if (c->training.precision->gemm_peak == PEAK_TF32) {
        launch_say(text, LAUNCH_YOURS,
                   "fp32: products run in TF32 only where PyTorch is told so "
                   "(NVIDIA_TF32_OVERRIDE=1)");
    }
    launch_core_note_recompute(job, true, text);
    launch_note_units(job, text);
    note_offload(job, text);
    note_sharding(job, text);
}
