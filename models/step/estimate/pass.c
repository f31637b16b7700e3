#include "models/step/estimate/pass.h"

#include <math.h>

#include "models/gpu/gpu_power.h"
#include "models/gpu/gpu_work.h"
#include "models/layout/configuration_split.h"
#include "models/lower/plan/lower_held.h"
#include "models/lower/stage/lower.h"
#include "models/schedule/schedule_kind.h"
#include "sim/check.h"

enum {
    TURNS = 3,
    SPLIT_FILLS = 3,
    STAGES_MAX = 4096,
    CHUNKS_MAX = 4096
};
struct pass_split {
    struct arena *arena;
    struct pass_wires *wires;
    struct layout_spec layout;
};

struct pass_split *pass_split_create(const struct configuration *c, const struct topology *topology)
{
    struct arena *arena = arena_create();
    struct pass_split *s = ARENA_NEW(arena, struct pass_split);
    *s = (struct pass_split){.arena = arena, .layout = c->layout};
    s->wires = pass_wires_create(arena, c, topology);
    return s;
}

void pass_split_destroy(struct pass_split *split)
{
    if (split != NULL)
        arena_destroy(split->arena);
}

struct pass_wires *pass_split_wires(struct pass_split *split)
{
    return split->wires;
}

void pass_split_give(struct pass_split *split)
{
    arena_give(split->arena);
}

void pass_split_claim(struct pass_split *split)
{
    arena_claim(split->arena);
}

static uint64_t directions_of(const struct configuration *c)
{
    return c->layout.pipeline.schedule->placement == PLACED_BOTH_WAYS ? 2 : 1;
}

/* An interleaved order repeats after as many microbatches as there are stages, others after one
 * from each end at which they enter. */
static uint64_t turn_of(const struct configuration *c)
{
    return c->layout.pipeline.schedule->interleaved && c->layout.pipeline.vpp > 1
               ? c->layout.pp
               : directions_of(c);
}

/* As many microbatches as are under way at once, and turns that show what is repeated: an order
 * that splits backwards comes to it later. One that is made of times may never: all of it is
 * played. */
uint64_t pass_microbatches_played(const struct configuration *c)
{
    const struct schedule_kind *kind = c->layout.pipeline.schedule;
    const uint64_t turn = turn_of(c), whole = configuration_microbatches(c);
    if (kind->write_timed != NULL)
        return whole;
    const uint64_t filling = kind->splits ? SPLIT_FILLS * c->layout.pp : c->layout.pp;
    const uint64_t enough = filling + TURNS * turn + whole % turn;
    return whole <= enough ? whole : enough;
}

static void play(struct pass_memory *memory, struct pass_split *split,
                 const struct configuration *c, uint64_t microbatches, bool apart,
                 struct pass_played *out)
{
    struct arena *scratch = pass_memory_scratch(memory);
    const struct arena_mark mark = arena_mark(scratch);
    struct configuration played = *c;
    played.training.global_batch = microbatches * c->layout.dp * c->layout.microbatch;
    struct pass_blocks *blocks = pass_blocks_find(memory, c);
    const struct lowering *plan = pass_blocks_plan(blocks);
    struct lowered lowered;
    lower_runs(scratch, &played, plan, &lowered);
    const bool loose = pass_wires_learn(split->wires, scratch, &lowered, plan);
    const struct pass_question question = {
        .lowered = &lowered,
        .prices = pass_blocks_price(blocks, split->wires),
        .wires = split->wires,
        .slowness = 1.0 + gpu_slowest_excess_ratio(&c->gpu, configuration_ranks(c)),
        .microbatches = microbatches,
        .turn = turn_of(c) / directions_of(c),
        .directions = directions_of(c),
        .apart = apart,
    };
    pass_play(scratch, &question, out);
    out->loose = loose;
    arena_rewind(scratch, mark);
}

static void play_step(struct pass_memory *memory, struct pass_split *split,
                      const struct configuration *c, bool apart, struct pass_played *out)
{
    const uint64_t whole = configuration_microbatches(c), turn = turn_of(c);
    uint64_t few = pass_microbatches_played(c);
    CHECK(c->perturbation_count == 0 && !(c->kernel_jitter_sigma > 0.0));
    CHECK(c->layout.tp == split->layout.tp && c->layout.pp == split->layout.pp &&
          c->layout.cp == split->layout.cp && c->layout.dp == split->layout.dp &&
          c->layout.ep == split->layout.ep && c->layout.etp == split->layout.etp);
    play(memory, split, c, few, apart, out);
    while (few < whole && !out->steady) {
        few += turn * (few / turn < (whole - few) / turn ? few / turn : (whole - few) / turn);
        play(memory, split, c, few, apart, out);
    }
    out->step_s += (double)(whole - few) / (double)turn * out->turn_s;
    out->queued_again = out->queued_again && few < whole;
}

void pass_step(struct pass_memory *memory, struct pass_split *split, const struct configuration *c,
               struct pass_played *out)
{
    play_step(memory, split, c, false, out);
}

bool pass_alone(const struct configuration *c, struct pass_played *out, struct error *error)
{
    struct arena *arena = arena_create();
    struct topology topology;
    const bool built = topology_build(arena, &c->cluster, &topology, error);
    if (built) {
        struct pass_memory *memory = pass_memory_create();
        struct pass_split *split = pass_split_create(c, &topology);
        pass_step(memory, split, c, out);
        pass_split_destroy(split);
        pass_memory_destroy(memory);
    }
    arena_destroy(arena);
    return built;
}

double pass_apart_s(struct pass_memory *memory, struct pass_split *split,
                    const struct configuration *c, bool *loose)
{
    struct pass_played played;
    play_step(memory, split, c, true, &played);
    *loose = played.loose;
    return played.step_s;
}

double pass_least_bytes(struct pass_memory *memory, const struct configuration *c)
{
    struct arena *scratch = pass_memory_scratch(memory);
    const struct lowering *plan = pass_blocks_plan(pass_blocks_find(memory, c));
    struct configuration few = *c;
    few.training.global_batch = pass_microbatches_played(c) * c->layout.dp * c->layout.microbatch;
    const double first = lower_held_least_bytes(scratch, &few, plan, 0);
    if (c->layout.pp == 1)
        return first;
    const double last = lower_held_least_bytes(scratch, &few, plan, (uint32_t)c->layout.pp - 1);
    return first > last ? first : last;
}

static void add_list(const struct piece_list *list, struct gpu_work *sum)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct op_cost *cost = &list->rows[i].cost;
        const struct gpu_work one = {
            .time_s = cost->gpu_s, .flop_j = cost->flop_j, .byte_j = cost->byte_j};
        if (list->rows[i].kind == OP_COMPUTE)
            gpu_work_add(sum, &one, 1.0);
    }
}

/* Kernels of each kind of block, forward and back, and what is run again. */
static void find_blocks(const struct lowering *plan, struct gpu_work out[BLOCK_COUNT])
{
    static const enum block_pieces lists[] = {PIECES_FORWARD, PIECES_RECOMPUTE, PIECES_BACKWARD};
    for (unsigned b = 0; b < lower_plan_block_count(plan); b++) {
        out[b] = (struct gpu_work){.time_s = 0.0};
        for (unsigned i = 0; i < sizeof lists / sizeof lists[0]; i++) {
            struct gpu_work list = {.time_s = 0.0};
            add_list(&plan->blocks[b].lists[lists[i]], &list);
            gpu_work_add(&out[b], &list, 1.0);
        }
    }
}

/* Kernels of a chunk's pass: its layers, with the embedding before the first, and behind the last
 * the modules that predict further ahead and the head. */
static struct gpu_work chunk_work(const struct configuration *c, const uint32_t *split,
                                  uint32_t chunk, const struct gpu_work *blocks)
{
    const struct layout_spec *layout = &c->layout;
    const uint32_t chunks = (uint32_t)(layout->pp * layout->pipeline.vpp);
    struct gpu_work sum = {.time_s = 0.0}, module = sum;
    uint32_t before = 0;
    for (uint32_t k = 0; k < chunk; k++)
        before += split[k];
    for (uint32_t i = 0; i < split[chunk]; i++)
        gpu_work_add(&sum, &blocks[lower_plan_block(c, i, before + i)], 1.0);
    if (chunk == 0)
        gpu_work_add(&sum, &blocks[BLOCK_EMBEDDING], 1.0);
    if (chunk + 1 < chunks)
        return sum;
    if (c->model.mtp_layers > 0) {
        gpu_work_add(&module, &blocks[BLOCK_EMBEDDING], 1.0);
        gpu_work_add(&module, &blocks[BLOCK_PREDICTION], 1.0);
        gpu_work_add(&module, &blocks[lower_plan_predicting(c)], 1.0);
        gpu_work_add(&module, &blocks[BLOCK_PREDICTION_HEAD], 1.0);
        gpu_work_add(&sum, &module, (double)c->model.mtp_layers);
    }
    gpu_work_add(&sum, &blocks[BLOCK_HEAD], 1.0);
    return sum;
}

/* Kernels of each stage in a step, and of the first pass through each. */
static void find_stages(struct pass_memory *memory, const struct configuration *c,
                        struct gpu_work *step, double *first_s)
{
    const struct lowering *plan = pass_blocks_plan(pass_blocks_find(memory, c));
    const struct schedule_kind *order = c->layout.pipeline.schedule;
    const uint32_t stages = (uint32_t)c->layout.pp,
                   chunks = stages * (uint32_t)c->layout.pipeline.vpp;
    const double microbatches = (double)configuration_microbatches(c);
    const double each = order->placement == PLACED_BOTH_WAYS ? microbatches / 2.0 : microbatches;
    const struct schedule_shape shape = {stages, (uint32_t)c->layout.pipeline.vpp,
                                         (uint32_t)configuration_microbatches(c),
                                         &c->layout.pipeline.schedule_options};
    struct gpu_work blocks[BLOCK_COUNT];
    uint32_t split[CHUNKS_MAX];
    CHECK(chunks <= CHUNKS_MAX);
    configuration_split(c, split);
    find_blocks(plan, blocks);
    for (uint32_t stage = 0; stage < stages; stage++) {
        step[stage] = (struct gpu_work){.time_s = 0.0};
        first_s[stage] = 0.0;
        for (uint32_t k = 0; k < schedule_chunks(order, &shape); k++) {
            const uint32_t part = schedule_part(order, &shape, stage, k);
            const struct gpu_work pass = chunk_work(c, split, part, blocks);
            gpu_work_add(&step[stage], &pass, each);
            first_s[stage] += k == 0 && !order->splits ? pass.time_s : 0.0;
        }
    }
}

double pass_least_s(struct pass_memory *memory, const struct configuration *c)
{
    const double slowness = 1.0 + gpu_slowest_excess_ratio(&c->gpu, configuration_ranks(c));
    struct gpu_work step[STAGES_MAX];
    double first_s[STAGES_MAX], fill_s = 0.0, least_s = 0.0;
    CHECK(c->layout.pp <= STAGES_MAX);
    find_stages(memory, c, step, first_s);
    for (uint32_t stage = 0; stage < c->layout.pp; stage++) {
        least_s = fmax(least_s, fill_s + step[stage].time_s);
        fill_s += first_s[stage];
    }
    return least_s * slowness;
}

double pass_least_card_w(struct pass_memory *memory, const struct configuration *c, double step_s)
{
    const double budget_w = gpu_power_dynamic_w(&c->gpu);
    struct gpu_work step[STAGES_MAX];
    double first_s[STAGES_MAX], kernels_j = 0.0;
    CHECK(c->layout.pp <= STAGES_MAX && step_s > 0.0);
    find_stages(memory, c, step, first_s);
    for (uint32_t stage = 0; stage < c->layout.pp; stage++)
        kernels_j += fmin(gpu_work_wanted_w(&c->gpu, &step[stage]), budget_w) * step[stage].time_s;
    return gpu_power_static_w(&c->gpu) + kernels_j / (double)c->layout.pp / step_s;
}
