#include "models/schedule/dual_passes.h"

struct dual_writer {
    const struct dual_passes *order;
    struct pass *out;
    uint32_t count;
    uint32_t forwards[2], backwards[2]; /* by phase */
    uint32_t weights_first;             /* pass behind the last whose weights have come */
};

static void add(struct dual_writer *w, enum pass_kind kind, unsigned phase, uint32_t nth)
{
    const uint32_t chunk = w->order->chunk_of_phase[phase];
    w->out[w->count++] = (struct pass){(uint8_t)kind, (uint8_t)chunk,
                                       (uint16_t)(w->order->first_of_chunk[chunk] + nth)};
}

static void forward(struct dual_writer *w, unsigned phase)
{
    add(w, PASS_FORWARD, phase, w->forwards[phase]++);
}

static void backward(struct dual_writer *w, unsigned phase, bool input_only)
{
    add(w, input_only ? PASS_BACKWARD_INPUT : PASS_BACKWARD, phase, w->backwards[phase]++);
}

static void pair(struct dual_writer *w, unsigned phase)
{
    add(w, PASS_FORWARD_PAIRED, phase, w->forwards[phase]++);
    backward(w, 1 - phase, false);
}

/* First in, first out: the passes written so far are the queue. */
static void weights(struct dual_writer *w)
{
    while (w->out[w->weights_first].kind != PASS_BACKWARD_INPUT)
        w->weights_first++;
    struct pass pass = w->out[w->weights_first++];
    pass.kind = PASS_WEIGHTS;
    w->out[w->count++] = pass;
}

static void warm_up(struct dual_writer *w, uint32_t before, uint32_t inside)
{
    for (uint32_t i = 0; i < 2 * before; i++)
        forward(w, 0);
    for (uint32_t i = 0; i < inside; i++) {
        forward(w, 0);
        forward(w, 1);
    }
    for (uint32_t i = 0; i < before; i++) {
        backward(w, 1, true);
        weights(w);
        forward(w, 1);
    }
}

/* The very first pair of the ranks in the middle is run apart. */
static void steady(struct dual_writer *w, uint32_t before, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        if (i == 0 && before == 0) {
            forward(w, 0);
            backward(w, 1, false);
        } else {
            pair(w, 0);
        }
        pair(w, 1);
    }
    for (uint32_t i = 0; i < before; i++) {
        backward(w, 1, false);
        pair(w, 1);
    }
}

/* The second half of the backwards leaves its weights for the end. */
static void cool_down(struct dual_writer *w, uint32_t before, uint32_t inside)
{
    const uint32_t half = inside / 2;
    const bool odd = (inside - 1) % 2 == 1;
    for (uint32_t i = 0; i < inside; i++) {
        backward(w, 1, i > half || (i == half && odd));
        backward(w, 0, i >= half);
    }
    for (uint32_t i = 0; i < before; i++) {
        weights(w);
        backward(w, 0, true);
    }
    for (uint32_t i = 0; i < inside; i++)
        weights(w);
}

uint32_t dual_passes_write(const struct dual_passes *order, struct pass *out)
{
    struct dual_writer w = {.order = order, .out = out};
    const uint32_t before = order->depth - order->place - 1, inside = order->place + 1;
    warm_up(&w, before, inside);
    steady(&w, before, order->pairs + inside);
    cool_down(&w, before, inside);
    return w.count;
}
