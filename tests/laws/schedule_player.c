#include "schedule_player.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "sim/check.h"

static size_t slot(const struct schedule_shape *shape, uint32_t chunk, uint32_t microbatch,
                   bool forward)
{
    return ((size_t)chunk * shape->microbatches + microbatch) * 2 + (forward ? 0 : 1);
}

/* When the input of a pass is there; -1: not yet. */
static double ready_s(const struct schedule_shape *shape, const double *done, uint32_t chunk,
                      const struct pass *pass)
{
    uint32_t last = shape->stages * shape->chunks - 1;
    if (pass->kind == PASS_FORWARD)
        return chunk == 0 ? 0.0 : done[slot(shape, chunk - 1, pass->microbatch, true)];
    double own = done[slot(shape, chunk, pass->microbatch, true)];
    if (chunk == last || own < 0.0)
        return own;
    double after = done[slot(shape, chunk + 1, pass->microbatch, false)];
    return after < 0.0 ? after : fmax(own, after);
}

double passes_play(const struct order *order, double forward_s, double backward_s)
{
    const struct schedule_shape *shape = &order->shape;
    size_t slots = (size_t)2 * shape->stages * shape->chunks * shape->microbatches;
    double *done = malloc(sizeof *done * slots), now[8] = {0}, end = 0.0;
    CHECK(done != NULL);
    for (size_t i = 0; i < slots; i++)
        done[i] = -1.0;
    uint32_t next[8] = {0}, left = 0;
    for (uint32_t s = 0; s < shape->stages; s++)
        left += order->count[s];
    for (bool moved = true; moved && left > 0;) {
        moved = false;
        for (uint32_t s = 0; s < shape->stages; s++) {
            for (; next[s] < order->count[s]; next[s]++, left--, moved = true) {
                const struct pass *pass = &order->passes[s][next[s]];
                uint32_t chunk = s + pass->chunk * shape->stages;
                double ready = ready_s(shape, done, chunk, pass);
                if (ready < 0.0)
                    break;
                bool forward = pass->kind == PASS_FORWARD;
                now[s] = fmax(now[s], ready) + (forward ? forward_s : backward_s) / shape->chunks;
                done[slot(shape, chunk, pass->microbatch, forward)] = now[s];
                end = fmax(end, now[s]);
            }
        }
    }
    free(done);
    return left == 0 ? end : -1.0;
}

/* A message: the k-th send of a stage's stream and the k-th receive of its neighbour's. */
struct meeting {
    double send_s, receive_s; /* arrival; -1: not yet */
};
enum {
    MESSAGE_MAX = 256,
    OP_MAX = 2048,
    STAGE_MAX = 8
};
struct game {
    const struct lowered *lowered;
    double finish[STAGE_MAX][OP_MAX]; /* -1: not yet */
    double free_s[STAGE_MAX][STREAM_COUNT];
    uint32_t ordinal[STAGE_MAX][OP_MAX];            /* of a message on its stream */
    uint32_t before[STAGE_MAX][OP_MAX];             /* the op before on the same stream, + 1 */
    struct meeting meet[STAGE_MAX][2][MESSAGE_MAX]; /* [sender][to next] */
};

static double start_s(const struct game *g, uint32_t stage, uint32_t index)
{
    const struct op *op = &g->lowered->programs[stage]->ops[index];
    uint32_t needs[3] = {op->wait[0], op->wait[1], g->before[stage][index]};
    double start = 0.0;
    for (unsigned i = 0; i < 3; i++) {
        double at = needs[i] == 0 ? 0.0 : g->finish[stage][needs[i] - 1];
        if (at < 0.0)
            return -1.0;
        start = fmax(start, at);
    }
    return start;
}

static bool play_message(struct game *g, uint32_t stage, uint32_t index, double start)
{
    const struct op *op = &g->lowered->programs[stage]->ops[index];
    uint32_t stages = g->lowered->program_count;
    bool send = op->kind == OP_SEND;
    bool to_next = op->stream == STREAM_SEND_NEXT || op->stream == STREAM_RECV_PREV;
    uint32_t sender = send ? stage : (stage + (to_next ? stages - 1 : 1)) % stages;
    CHECK(g->ordinal[stage][index] < MESSAGE_MAX);
    struct meeting *m = &g->meet[sender][to_next][g->ordinal[stage][index]];
    *(send ? &m->send_s : &m->receive_s) = start;
    if (m->send_s < 0.0 || m->receive_s < 0.0)
        return false;
    g->finish[stage][index] = fmax(m->send_s, m->receive_s);
    return true;
}

static bool play_op(struct game *g, uint32_t stage, uint32_t index)
{
    const struct program *p = g->lowered->programs[stage];
    const struct op *op = &p->ops[index];
    double start = start_s(g, stage, index);
    if (g->finish[stage][index] >= 0.0 || start < 0.0)
        return false;
    if (op->kind == OP_COMPUTE || op->kind == OP_COLLECTIVE) {
        g->finish[stage][index] = start + (op->kind == OP_COMPUTE ? p->costs[op->cost].gpu_s : 0.0);
        return true;
    }
    return play_message(g, stage, index, start);
}

static void prepare(struct game *g)
{
    for (uint32_t s = 0; s < g->lowered->program_count; s++) {
        const struct program *p = g->lowered->programs[s];
        uint32_t ordinal[STREAM_COUNT] = {0}, before[STREAM_COUNT] = {0};
        CHECK(p->op_count <= OP_MAX);
        for (uint32_t i = 0; i < p->op_count; i++) {
            g->finish[s][i] = -1.0;
            g->ordinal[s][i] = ordinal[p->ops[i].stream]++;
            g->before[s][i] = before[p->ops[i].stream];
            before[p->ops[i].stream] = i + 1;
        }
        for (unsigned k = 0; k < 2 * MESSAGE_MAX; k++)
            g->meet[s][k / MESSAGE_MAX][k % MESSAGE_MAX] = (struct meeting){-1.0, -1.0};
    }
}

double programs_play(const struct lowered *lowered)
{
    struct game *g = calloc(1, sizeof *g);
    CHECK(g != NULL);
    g->lowered = lowered;
    prepare(g);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t s = 0; s < lowered->program_count; s++)
            for (uint32_t i = 0; i < lowered->programs[s]->op_count; i++)
                moved |= play_op(g, s, i);
    }
    double end = 0.0;
    for (uint32_t s = 0; s < lowered->program_count && end >= 0.0; s++) {
        for (uint32_t i = 0; i < lowered->programs[s]->op_count && end >= 0.0; i++) {
            double at = g->finish[s][i];
            end = at < 0.0 ? -1.0 : fmax(end, at);
        }
    }
    free(g);
    return end;
}
