#include "analysis/result.h"

#include <math.h>

static double overlap(double a_begin, double a_end, double b_begin, double b_end)
{
    return fmax(fmin(a_end, b_end) - fmax(a_begin, b_begin), 0.0);
}

/* Time of the stream's ops during which compute ran too. Both streams are first in, first out, so
 * their ops stand in order of time and one sweep finds all overlaps. */
bool result_stream_of_class(const struct step *step, uint32_t rank_class, enum stream stream,
                            struct result_stream *out)
{
    const struct op_times *times = worker_times(step->worker, rank_class);
    const struct program *program =
        step->lowered.programs[step->symmetry.ranks[rank_class].program];
    *out = (struct result_stream){0};
    uint32_t compute = 0;
    for (uint32_t i = 0; i < program->op_count; i++) {
        if (program->ops[i].stream != stream) {
            continue;
        }
        out->op_count++;
        out->busy_s += times[i].finish_s - times[i].begin_s;
        out->waited_s += times[i].begin_s - times[i].post_s;
        for (uint32_t j = compute; stream != STREAM_COMPUTE && j < program->op_count; j++) {
            if (program->ops[j].stream != STREAM_COMPUTE || times[j].finish_s <= times[i].begin_s) {
                compute = j == compute ? j + 1 : compute;
                continue;
            }
            if (times[j].begin_s >= times[i].finish_s) {
                break;
            }
            out->hidden_s +=
                overlap(times[i].begin_s, times[i].finish_s, times[j].begin_s, times[j].finish_s);
        }
    }
    return out->op_count > 0;
}

static void gather_streams(const struct step *step, struct result *out)
{
    for (uint32_t i = 0; i < step->symmetry.rank_class_count; i++) {
        double share = (double)step->symmetry.ranks[i].rank_count / (double)step->rank_count;
        for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
            struct result_stream one;
            if (!result_stream_of_class(step, i, (enum stream)stream, &one)) {
                continue;
            }
            struct result_stream *sum = &out->streams[stream];
            sum->busy_s += share * one.busy_s;
            sum->hidden_s += share * one.hidden_s;
            sum->waited_s += share * one.waited_s;
            sum->op_count = one.op_count > sum->op_count ? one.op_count : sum->op_count;
        }
    }
}

static double stage_bubble_s(const struct step *step, uint32_t program)
{
    double sum = 0.0, ranks = 0.0;
    for (uint32_t i = 0; i < step->symmetry.rank_class_count; i++) {
        const struct rank_class *c = &step->symmetry.ranks[i];
        if (c->program == program) {
            double parts[PART_COUNT];
            worker_breakdown(step->worker, i, step->step_s, parts);
            sum += parts[PART_BUBBLE] * c->rank_count;
            ranks += c->rank_count;
        }
    }
    return ranks > 0.0 ? sum / ranks : 0.0;
}

static void gather_stages(const struct scenario *scenario, const struct step *step,
                          struct result *out)
{
    struct arena *arena = sim_arena(step->sim);
    struct ledger_limits endless = {
        .usable_bytes = INFINITY,
        .expandable_segments = scenario->configuration.software.expandable_segments,
    };
    out->stage_count = step->memory_count;
    out->stages = ARENA_ARRAY(arena, struct result_stage, out->stage_count);
    for (uint32_t i = 0; i < out->stage_count; i++) {
        const struct stage_memory *m = &step->memory[i];
        struct result_stage *stage = &out->stages[i];
        *stage = (struct result_stage){
            .program = m->program,
            .stage = m->stage,
            .rank_count = m->rank_count,
            .first_rank = m->representative,
            .layers = step->lowered.layers_of_stage[m->stage],
            .bubble_s = out->timed ? stage_bubble_s(step, m->program) : 0.0,
            .ledger = &m->ledger,
        };
        if (m->ledger.failure.failed) {
            ledger_play(arena, step->lowered.programs[m->program], &endless, false, &stage->needed);
        } else {
            stage->needed = m->ledger;
        }
    }
}

static const char *moment_in_words(struct arena *arena, const struct program *program,
                                   const struct ledger_failure *failure)
{
    if (failure->step == 0) {
        return "step zero, before any training";
    }
    const char *step = failure->step == 1 ? "first training step" : "a later training step";
    if (failure->entry.op == 0) {
        return step;
    }
    const struct op *op = &program->ops[failure->entry.op - 1];
    if (op->microbatch == UINT16_MAX) {
        return arena_format(arena, "%s, %s", step, phase_names[op->phase]);
    }
    return arena_format(arena, "%s, %s of microbatch %u", step, phase_names[op->phase],
                        op->microbatch);
}

static void gather_failure(const struct step *step, struct result_failure *out)
{
    struct arena *arena = sim_arena(step->sim);
    const struct stage_memory *m = &step->memory[step->failed_program];
    const struct ledger_failure *f = &m->ledger.failure;
    *out = (struct result_failure){
        .failed = true,
        .rank = m->representative,
        .stage = m->stage,
        .tenant = (enum tenant)f->entry.tenant,
        .tensor = f->entry.layer == UINT16_MAX
                      ? f->entry.name
                      : arena_format(arena, "%s of layer %u", f->entry.name, f->entry.layer),
        .at = moment_in_words(arena, step->lowered.programs[m->program], f),
        .call_site = f->entry.call_site,
        .step = f->step,
        .at_s = step->failed_at_s,
        .bytes = f->entry.bytes,
        .short_bytes = f->short_bytes,
        .allocated_bytes = f->allocated_bytes,
        .reserved_bytes = f->reserved_bytes,
    };
}

void result_gather(const struct scenario *scenario, const struct step *step, struct result *out)
{
    *out = (struct result){.scenario = scenario, .step = step, .timed = step->worker != NULL};
    gather_stages(scenario, step, out);
    if (out->timed) {
        gather_streams(step, out);
    }
    if (!step->fits) {
        gather_failure(step, &out->failure);
    }
}

static const struct {
    const char *helps, *does_not;
} knobs[TENANT_COUNT] = {
    [TENANT_WEIGHTS] = {"more tp or pp, or sharding zero-3 / fsdp",
                        "microbatch, sequence and recompute do not"},
    [TENANT_GRADIENTS] = {"more tp or pp, or sharding zero-2 and up",
                          "microbatch, sequence and recompute do not"},
    [TENANT_MASTER] = {"more tp or pp, or sharding zero-1 and up with more dp",
                       "microbatch, sequence and recompute do not"},
    [TENANT_MOMENTS] = {"more tp or pp, sharding zero-1 and up with more dp, a leaner optimizer",
                        "microbatch, sequence and recompute do not"},
    [TENANT_ACTIVATIONS] = {"smaller microbatch, recompute, sequence_parallel, more tp or cp, "
                            "shorter sequence",
                            "sharding (ZeRO) and dp do not"},
    [TENANT_TEMPORARY] = {"smaller microbatch, more tp or cp, shorter sequence, a fused loss",
                          "sharding (ZeRO) and dp do not"},
    [TENANT_COMMUNICATION] = {"fewer communicators, less prefetch, smaller units", NULL},
    [TENANT_CONTEXT] = {"nothing: it is the price of a process on the card", NULL},
    [TENANT_FRAGMENTATION] = {"expandable segments of the allocator", NULL},
};

const char *result_knob(enum tenant tenant)
{
    return knobs[tenant].helps;
}

const char *result_no_knob(enum tenant tenant)
{
    return knobs[tenant].does_not;
}
