/* worker_program.c - a program made ready to play: links along streams, host times summed. */
#include "models/step/simulate/worker_state.h"
#include "sim/check.h"

static struct played_op read_op(const struct program *program, uint32_t index, uint32_t last_sync)
{
    const struct op *op = &program->ops[index];
    struct played_op played = {
        .wait = {op->wait[0], op->wait[1]},
        .next = OP_END,
        .stream = op->stream,
        .play = PLAY_COMMUNICATION,
    };
    CHECK(op->stream < STREAM_COUNT);
    played.wait[WAIT_HOST] = last_sync;
    for (unsigned i = 0; i < WAIT_COUNT; i++) {
        CHECK(played.wait[i] <= index);
        played.wait_stream[i] =
            played.wait[i] == 0 ? op->stream : program->ops[played.wait[i] - 1].stream;
    }
    if (op->kind != OP_COMPUTE) {
        CHECK(op->cost < program->transfer_count && op->cost <= UINT16_MAX);
        played.transfer = (uint16_t)op->cost;
        return played;
    }
    CHECK(op->cost < program->cost_count);
    const bool sensitive = (op->flags & OP_SENSITIVE) != 0 && program->interference.ratio > 0.0;
    CHECK(!sensitive || op->stream == STREAM_COMPUTE);
    played.play = sensitive ? PLAY_SENSITIVE : PLAY_COMPUTE;
    const double *join_ratio = program->interference.join_ratio;
    played.joins = (op->flags & OP_JOIN) != 0 &&
                   (join_ratio[JOIN_TENSOR] > 0.0 || join_ratio[JOIN_CONTEXT] > 0.0);
    played.gpu_s = program->costs[op->cost].gpu_s;
    return played;
}

static double host_time(const struct program *program, uint32_t index)
{
    if (program->host_count == 0)
        return 0.0;
    CHECK(program->ops[index].host < program->host_count);
    return program->hosts[program->ops[index].host];
}

/* Ops known to have finished are those waited for, those before them on their stream, and what had
 * finished for these. */
static void find_after_compute(struct arena *arena, struct played_program *program)
{
    uint32_t *after = ARENA_ARRAY(arena, uint32_t, program->op_count + (size_t)1);
    for (uint32_t i = 1; i <= program->op_count; i++) {
        const struct played_op *op = &program->ops[i];
        const uint32_t causes[] = {op->wait[WAIT_FIRST], op->wait[WAIT_SECOND], op->wait[WAIT_HOST],
                                   op->previous};
        for (unsigned k = 0; k < sizeof causes / sizeof causes[0]; k++) {
            const uint32_t cause = causes[k];
            const bool computes = cause != 0 && program->ops[cause].stream == STREAM_COMPUTE;
            const uint32_t known = computes ? cause : after[cause];
            after[i] = known > after[i] ? known : after[i];
        }
    }
    program->after_compute = after;
}

static bool in_pass(const struct op *op)
{
    return op->stream == STREAM_COMPUTE &&
           (op->phase == PHASE_FORWARD || op->phase == PHASE_BACKWARD ||
            op->phase == PHASE_RECOMPUTE);
}

/* The transfers of each stream in their order. */
static void list_meetings(struct arena *arena, struct played_program *program)
{
    uint32_t count = 0;
    program->meetings = ARENA_ARRAY(arena, uint32_t, program->communication_count);
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        program->meeting_first[s] = count;
        for (uint32_t i = program->first[s]; i != OP_END; i = program->ops[i].next) {
            if (program->ops[i].play == PLAY_COMMUNICATION) {
                program->ops[i].nth = count - program->meeting_first[s];
                program->meetings[count++] = i;
            }
        }
    }
    program->meeting_first[STREAM_COUNT] = count;
}

void worker_prepare(struct arena *arena, const struct program *program, struct played_program *out)
{
    uint32_t last_sync = 0;
    double issue_s = 0.0;
    bool sensitive = false;
    *out = (struct played_program){.source = program, .op_count = program->op_count};
    out->ops = ARENA_ARRAY(arena, struct played_op, program->op_count + (size_t)1);
    for (unsigned s = 0; s < STREAM_COUNT; s++)
        out->first[s] = OP_END;
    for (uint32_t i = 0; i < program->op_count; i++) {
        struct played_op *op = &out->ops[i + 1];
        *op = read_op(program, i, last_sync);
        issue_s += host_time(program, i);
        op->issue_s = issue_s;
        uint32_t *last = &out->last[op->stream];
        *(*last == 0 ? &out->first[op->stream] : &out->ops[*last].next) = i + 1;
        op->previous = *last;
        *last = i + 1;
        out->communication_count += op->play == PLAY_COMMUNICATION;
        out->last_pass = in_pass(&program->ops[i]) ? i + 1 : out->last_pass;
        sensitive = sensitive || op->play == PLAY_SENSITIVE;
        if ((program->ops[i].flags & OP_HOST_SYNC) != 0) {
            last_sync = i + 1;
            issue_s = 0.0;
        }
    }
    list_meetings(arena, out);
    if (sensitive)
        find_after_compute(arena, out);
}
