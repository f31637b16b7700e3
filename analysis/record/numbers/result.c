#include "analysis/record/numbers/result.h"

#include "sim/pool.h"

#include <math.h>
#include <string.h>

/* Far below a nanosecond, far above the rounding of sums of seconds. */
static const double MEANINGLESS_S = 1e-12;

/* The compute stream as a curve: seconds of compute done until a moment. */
struct busy_curve {
    double *begin_s, *finish_s, *before_s; /* [compute op]; before_s: done when it begins; one more
                                            * begins never */
    uint32_t count;
};

static void trace_compute(struct arena *arena, const struct program *program,
                          const struct op_times *times, struct busy_curve *out)
{
    out->begin_s = ARENA_ARRAY(arena, double, (size_t)program->op_count + 1);
    out->finish_s = ARENA_ARRAY(arena, double, program->op_count);
    out->before_s = ARENA_ARRAY(arena, double, program->op_count);
    out->count = 0;
    double done_s = 0.0;
    for (uint32_t i = 0; i < program->op_count; i++) {
        if (program->ops[i].stream == STREAM_COMPUTE) {
            out->begin_s[out->count] = times[i].begin_s;
            out->finish_s[out->count] = times[i].finish_s;
            out->before_s[out->count++] = done_s;
            done_s += times[i].finish_s - times[i].begin_s;
        }
    }
    out->begin_s[out->count] = INFINITY;
}

/* Compute done until at_s. `place` moves forward only: times on one stream never go back. */
static inline double done_until(const struct busy_curve *curve, uint32_t *place, double at_s)
{
    uint32_t last = *place;
    while (curve->begin_s[last + 1] <= at_s)
        last++;
    *place = last;
    const double begin_s = curve->begin_s[last], finish_s = curve->finish_s[last];
    if (at_s < begin_s)
        return 0.0;
    return curve->before_s[last] + (at_s < finish_s ? at_s : finish_s) - begin_s;
}

static void trace_class(struct arena *scratch, const struct step *step, uint32_t rank_class,
                        struct result_stream *out)
{
    const struct program *program =
        step->lowered.programs[step->symmetry.ranks[rank_class].program];
    uint32_t place[STREAM_COUNT] = {0};
    struct busy_curve compute;
    struct op_times *times = ARENA_ARRAY(scratch, struct op_times, program->op_count);
    worker_read(step->worker, rank_class, times);
    trace_compute(scratch, program, times, &compute);
    for (uint32_t i = 0; i < program->op_count; i++) {
        unsigned stream = program->ops[i].stream;
        const struct op_times at = times[i];
        out[stream].op_count++;
        out[stream].busy_s += at.finish_s - at.begin_s;
        out[stream].waited_s += at.begin_s - at.post_s;
        if (stream != STREAM_COMPUTE && compute.count > 0) {
            double before_s = done_until(&compute, &place[stream], at.begin_s);
            double after_s = done_until(&compute, &place[stream], at.finish_s);
            /* Differences of sums: what is smaller than their rounding is nothing. */
            out[stream].hidden_s += after_s - before_s > MEANINGLESS_S ? after_s - before_s : 0.0;
        }
    }
}

struct stream_reader {
    const struct step *step;
    struct result_stream *streams;
};

static void read_streams(void *context, size_t index, struct arena *scratch)
{
    const struct stream_reader *reader = context;
    if (reader->step->parts.read_as[index] == index)
        trace_class(scratch, reader->step, (uint32_t)index, reader->streams + index * STREAM_COUNT);
}

static void gather_streams(const struct step *step, struct result *out)
{
    uint32_t class_count = step->symmetry.rank_class_count;
    out->class_streams =
        ARENA_ARRAY(sim_arena(step->sim), struct result_stream, (size_t)class_count * STREAM_COUNT);
    struct stream_reader reader = {step, out->class_streams};
    pool_run_scratch(step_threads(step), class_count, read_streams, &reader);
    for (uint32_t i = 0; i < class_count; i++) {
        struct result_stream *mine = out->class_streams + (size_t)i * STREAM_COUNT;
        if (step->parts.read_as[i] != i) {
            memcpy(mine, out->class_streams + (size_t)step->parts.read_as[i] * STREAM_COUNT,
                   sizeof *mine * STREAM_COUNT);
        }
        double share = (double)step->symmetry.ranks[i].rank_count / (double)step->counts.ranks;
        for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
            const struct result_stream *one = &mine[stream];
            struct result_stream *sum = &out->streams[stream];
            sum->busy_s += share * one->busy_s;
            sum->hidden_s += share * one->hidden_s;
            sum->waited_s += share * one->waited_s;
            sum->op_count = one->op_count > sum->op_count ? one->op_count : sum->op_count;
        }
    }
}

/* Bubble of the mean rank of each program, into stages that stand in order of program. */
static void gather_bubbles(const struct step *step, struct result *out)
{
    for (uint32_t i = 0; i < step->symmetry.rank_class_count; i++) {
        const struct rank_class *c = &step->symmetry.ranks[i];
        struct result_stage *stage = &out->stages[c->program];
        stage->bubble_s +=
            step->parts.class_breakdown_s[i][PART_BUBBLE] * c->rank_count / stage->rank_count;
    }
}

static void gather_stages(const struct scenario *scenario, const struct step *step,
                          struct result *out)
{
    struct arena *arena = sim_arena(step->sim);
    struct ledger_limits endless = {
        .usable_bytes = INFINITY,
        .expandable_segments = scenario->configuration.software.memory.expandable_segments,
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
            .ledger = &m->ledger,
        };
        if (m->ledger.failure.failed)
            ledger_play(arena, step->lowered.programs[m->program], &endless, false, &stage->needed);
        else
            stage->needed = m->ledger;
    }
}

static const char *moment_in_words(struct arena *arena, const struct program *program,
                                   const struct ledger_failure *failure)
{
    if (failure->step == 0)
        return "step zero, before any training";
    const char *step = failure->step == 1 ? "first training step" : "a later training step";
    if (failure->entry.op == 0)
        return step;
    const struct op *op = &program->ops[failure->entry.op - 1];
    if (op->microbatch == UINT16_MAX)
        return arena_format(arena, "%s, %s", step, phase_names[op->phase]);
    return arena_format(arena, "%s, %s of microbatch %u", step, phase_names[op->phase],
                        op->microbatch);
}

static void gather_failure(const struct step *step, struct result_failure *out)
{
    struct arena *arena = sim_arena(step->sim);
    const struct stage_memory *m = &step->memory[step->failed.program];
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
        .at_s = step->failed.at_s,
        .bytes = f->entry.bytes,
        .short_bytes = f->short_bytes,
        .allocated_bytes = f->allocated_bytes,
        .reserved_bytes = f->reserved_bytes,
    };
}

static void gather_host_failure(const struct step *step, const struct layout_spec *layout,
                                struct result_failure *out)
{
    const struct host_memory *host = &step->host;
    const bool activations =
        layout->offload.activations > 0.0 && layout->offload.activations_to == OFFLOAD_CPU;
    const bool state = layout->offload.optimizer > 0.0;
    const uint32_t program = step->lowered.program_of_rank[host->rank];
    *out = (struct result_failure){
        .failed = true,
        .on_host = true,
        .rank = host->rank,
        .stage = step->memory[program].stage,
        .tenant = activations ? TENANT_ACTIVATIONS : TENANT_MASTER,
        .tensor = activations && state ? "activations, state, gradients and weights of a node"
                  : activations        ? "activations of a node"
                                       : "state, gradients and weights of a node",
        .at = "a training step",
        .call_site = "memory of the node's CPUs",
        .step = 1,
        .bytes = host->bytes,
        .short_bytes = host->bytes - host->room_bytes,
        .allocated_bytes = host->room_bytes,
        .reserved_bytes = host->room_bytes,
    };
}

const char *result_would_help(const struct result *result)
{
    const struct result_failure *f = &result->failure;
    if (!f->on_host)
        return result->advice.helps[f->tenant];
    return "smaller shares (layout.activation_offload, optimizer_offload)";
}

void result_gather(const struct scenario *scenario, const struct step *step, struct result *out)
{
    *out = (struct result){.scenario = scenario, .step = step, .timed = step->worker != NULL};
    gather_stages(scenario, step, out);
    if (out->timed) {
        gather_bubbles(step, out);
        gather_streams(step, out);
    }
    if (step->failed.program != UINT32_MAX)
        gather_failure(step, &out->failure);
    else if (!step->fits)
        gather_host_failure(step, &scenario->configuration.layout, &out->failure);
    advice_words(sim_arena(step->sim), &scenario->configuration, &out->advice);
}

double result_peak_bytes(const struct result *result, bool reserved)
{
    double most = 0.0;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct ledger_result *l = &result->stages[i].needed;
        most = fmax(most, reserved ? l->peak_reserved_bytes : l->peak_allocated_bytes);
    }
    return most;
}

void result_advise(struct result *result)
{
    if (result->failure.failed)
        advice_search(sim_arena(result->step->sim), result->scenario, &result->advice);
}
