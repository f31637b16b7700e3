/* Sources, torchtitan v0.2.2: torchtitan/config/job_config.py (Float8Linear: filter_fqns is empty
 * and enable_fsdp_float8_all_gather false unless told; MXLinear: the head alone is left out),
 * components/quantization/float8.py (a gather of 8 bits needs dp_shard above 1), mx.py (it is not
 * compiled with tensor parallelism), utils.py (a module is left out whose name holds one of the
 * words), models/llama3/infra/parallelize.py (tensorwise scales: inputs are gathered in 8 bits). */
#include "analysis/exchange/launch/float8.h"

#include <inttypes.h>

static bool eight(const struct launch_job *job)
{
    return job->recipe != FP8_AUTO && job->recipe != FP8_NVFP4;
}

/* "output,layers.0.,layers.31.": the head, and the layers that were simulated in 16 bits. The dot
 * behind a number keeps layers.1. from being layers.10. */
static const char *left_out(const struct launch_job *job, struct arena *arena)
{
    const struct training_spec *t = &job->c->training;
    const uint64_t layers = job->c->model.layers;
    const char *out = "output";
    for (uint64_t i = 0; i < layers; i++)
        if (i < t->wide_layers_first || i + t->wide_layers_last >= layers)
            out = arena_format(arena, "%s,layers.%" PRIu64 ".", out, i);
    return out;
}

void float8_write(const struct launch_job *job, struct launch_text *text)
{
    if (!eight(job))
        return;
    const char *name = job->recipe == FP8_MX ? "mx" : "float8";
    launch_option(text, "--model.converters quantize.linear.%s", name);
    launch_option(text, "--quantize.linear.%s.filter_fqns %s", name, left_out(job, text->arena));
    if (job->recipe != FP8_MX)
        launch_option(text, "--quantize.linear.float8.enable_fsdp_float8_all_gather");
}

static void note_scales(const struct launch_job *job, struct launch_text *text)
{
    if (job->recipe == FP8_DELAYED) {
        launch_say(text, LAUNCH_DIFFERS,
                   "scales of steps before (delayed) are not offered: float8 takes those of the "
                   "tensor itself, one more pass over it");
    }
    if (job->recipe == FP8_BLOCKWISE) {
        launch_say(
            text, LAUNCH_DIFFERS,
            "scales by block of 1 x 128 (blockwise) are not offered: float8 takes one of the "
            "tensor");
    }
}

/* Where weights are gathered, they come in 8 bits with float8 and a degree of sharding alone. */
static void note_gathers(const struct launch_job *job, uint64_t shard, struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    const bool sharded = launch_stage(l->data.sharding) >= 1;
    if (sharded && shard * l->cp > 1 && job->recipe == FP8_MX) {
        launch_say(text, LAUNCH_REFUSED,
                   "mx gathers weights in 16 bits, which holds more: they were simulated in eight "
                   "(software.fp8_recipe=current is gathered in eight)");
    } else if (sharded && shard == 1 && l->cp > 1) {
        launch_say(text, LAUNCH_REFUSED,
                   "weights are gathered in 8 bits only where data ranks share them, not context "
                   "ranks alone: with dp %" PRIu64 ", cp %" PRIu64 " they come in 16, which holds "
                   "more",
                   l->dp, l->cp);
    }
    if (job->recipe != FP8_MX && l->tp > 1 && !job->c->software.fp8.gathers) {
        launch_say(text, LAUNCH_DIFFERS,
                   "inputs are gathered over tensor ranks in 8 bits, not in 16 "
                   "(software.fp8_gathers=true simulates that)");
    }
}

void float8_note(const struct launch_job *job, uint64_t shard, bool compiled,
                 struct launch_text *text)
{
    const struct configuration *c = job->c;
    if (job->recipe == FP8_NVFP4)
        launch_say(text, LAUNCH_REFUSED, "4-bit products are not offered: all are bf16");
    if (!eight(job))
        return;
    note_scales(job, text);
    note_gathers(job, shard, text);
    if (job->recipe == FP8_MX && c->layout.tp > 1 && compiled) {
        launch_say(text, LAUNCH_REFUSED,
                   "mx is not compiled with tensor parallelism: tp %" PRIu64
                   " (\"TP not yet supported with torch.compile for mxfp8\"); "
                   "software.fp8_recipe=current is",
                   c->layout.tp);
    }
    if (c->model.moe.experts > 0) {
        launch_say(text, LAUNCH_REFUSED,
                   "experts in 8 bits are not written: theirs would be of 16, which holds more "
                   "(training.precision=bf16 simulates 16 bits for all)");
    }
    launch_say(text, LAUNCH_YOURS, "install torchao, which has the 8-bit layers");
}
