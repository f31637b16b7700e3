/* Laws of the schedules that run the gradients of inputs and of weights apart, over every shape of
 * 2 to 8 stages and up to 3 microbatches for each: each microbatch passes each part of the model
 * forward, then backward by its inputs, then by its weights; no rank waits for ever; and no rank
 * keeps more microbatches than is published. Planted faults show that each law can fail. */
#include <math.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "tests/test.h"

enum {
    STAGES = 8,
    CHUNKS = 2,
    MICROBATCHES = 3 * STAGES,
    PARTS = CHUNKS * STAGES,
    ROOM = 3 * CHUNKS * MICROBATCHES
};
struct split_order {
    const struct schedule_kind *kind;
    struct schedule_shape shape;
    struct pass passes[STAGES][ROOM];
    uint32_t count[STAGES];
};
enum progress {
    WAITING,
    FORWARD_DONE,
    INPUTS_DONE,
    ALL_DONE
};

static void write_split(struct split_order *o, const struct schedule_kind *kind,
                        const struct schedule_shape *shape)
{
    o->kind = kind;
    o->shape = *shape;
    assert_true(schedule_room(kind, shape) <= ROOM);
    for (uint32_t s = 0; s < shape->stages; s++)
        o->count[s] = schedule_write(kind, shape, NULL, s, o->passes[s]);
}

/* Of a rank: forwards, inputs and weights of what passes through its chunks, in this order; pairs
 * are a forward and the whole backward behind it. */
static bool rank_is_complete(const struct split_order *o, uint32_t rank)
{
    enum progress seen[CHUNKS][MICROBATCHES] = {{WAITING}};
    uint32_t done = 0;
    for (uint32_t i = 0; i < o->count[rank]; i++) {
        const struct pass *p = &o->passes[rank][i];
        if (p->chunk >= CHUNKS || p->microbatch >= o->shape.microbatches)
            return false;
        enum progress *at = &seen[p->chunk][p->microbatch];
        const enum progress before = pass_is_forward(p)        ? WAITING
                                     : p->kind == PASS_WEIGHTS ? INPUTS_DONE
                                                               : FORWARD_DONE;
        if (*at != before)
            return false;
        *at = pass_is_forward(p) ? FORWARD_DONE : pass_ends_microbatch(p) ? ALL_DONE : INPUTS_DONE;
        done += *at == ALL_DONE;
        if (p->kind == PASS_FORWARD_PAIRED &&
            (i + 1 == o->count[rank] || p[1].kind != PASS_BACKWARD))
            return false;
    }
    const uint32_t through = o->kind->placement == PLACED_BOTH_WAYS ? 1 : o->shape.chunks;
    return done == through * o->shape.microbatches;
}

/* Forwards that have been and whose weights' gradients have not: the most at once. */
static uint32_t most_kept(const struct split_order *o, uint32_t rank)
{
    uint32_t now = 0, most = 0;
    for (uint32_t i = 0; i < o->count[rank]; i++) {
        now += pass_is_forward(&o->passes[rank][i]);
        most = now > most ? now : most;
        now -= pass_ends_microbatch(&o->passes[rank][i]);
    }
    return most;
}

struct parts_done { /* [forward, backward][part][microbatch] */
    bool of[2][PARTS][MICROBATCHES];
};

/* Is what a pass needs of other parts there? */
static bool is_ready(const struct split_order *o, const struct parts_done *done, uint32_t rank,
                     const struct pass *p)
{
    const uint32_t part = schedule_part(o->kind, &o->shape, rank, p->chunk);
    const uint32_t parts = schedule_parts(o->kind, &o->shape);
    if (p->kind == PASS_WEIGHTS)
        return done->of[1][part][p->microbatch];
    if (pass_is_forward(p))
        return part == 0 || done->of[0][part - 1][p->microbatch];
    return done->of[0][part][p->microbatch] &&
           (part + 1 == parts || done->of[1][part + 1][p->microbatch]);
}

static void finish(const struct split_order *o, struct parts_done *done, uint32_t rank,
                   const struct pass *p)
{
    const uint32_t part = schedule_part(o->kind, &o->shape, rank, p->chunk);
    if (p->kind != PASS_WEIGHTS)
        done->of[pass_is_forward(p) ? 0 : 1][part][p->microbatch] = true;
}

/* Each rank in its order, a pair as one: do all come to their end? */
static bool all_end(const struct split_order *o)
{
    struct parts_done done;
    uint32_t next[STAGES] = {0}, left = 0;
    memset(&done, 0, sizeof done);
    for (uint32_t s = 0; s < o->shape.stages; s++)
        left += o->count[s];
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t s = 0; s < o->shape.stages; s++) {
            if (next[s] == o->count[s])
                continue;
            const struct pass *p = &o->passes[s][next[s]];
            const bool pair = p->kind == PASS_FORWARD_PAIRED;
            if (!is_ready(o, &done, s, p) || (pair && !is_ready(o, &done, s, p + 1)))
                continue;
            for (unsigned i = 0; i <= pair; i++, left--)
                finish(o, &done, s, &p[i]);
            next[s] += 1u + pair;
            moved = true;
        }
    }
    return left == 0;
}

/* Chunks of microbatches on a rank at most, from forward to the weights' gradients:
 * arXiv:2401.10241 table 1 and section 3 (p and 2p - 1; the limits of zb-1p and zb-2p),
 * arXiv:2405.15362 (zb-v: p whole stages), arXiv:2412.19437 table 2 (p + 1). */
static uint32_t published_peak(const char *name, uint32_t p)
{
    if (strcmp(name, "zb-h2") == 0)
        return 2 * p - 1;
    if (strcmp(name, "zb-2p") == 0 || strcmp(name, "zb-v") == 0)
        return 2 * p;
    if (strcmp(name, "dualpipe") == 0)
        return p + 1;
    return strcmp(name, "dualpipe-v") == 0 ? 2 * p + 1 : p;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void every_shape(void **state)
{
    static struct split_order o;
    unsigned kinds = 0;
    for (unsigned k = 0; k < schedule_kind_count; k++) {
        const struct schedule_kind *kind = schedule_kinds[k];
        unsigned checked = 0;
        for (uint32_t p = 2; p <= STAGES && kind->splits; p++) {
            for (uint32_t m = 1; m <= 3 * p; m++) {
                const struct schedule_shape shape = {p, kind->chunks > 0 ? kind->chunks : 1, m,
                                                     NULL};
                if (kind->refuse(&shape) != NULL)
                    continue;
                write_split(&o, kind, &shape);
                uint32_t peak = 0;
                for (uint32_t s = 0; s < p; s++) {
                    assert_true(rank_is_complete(&o, s));
                    const uint32_t kept = most_kept(&o, s);
                    peak = kept > peak ? kept : peak;
                }
                const uint32_t published = published_peak(kind->head.name, p);
                const uint32_t all = m * shape.chunks;
                if (peak != smaller(published, all))
                    print_message("%s p %u m %u: %u\n", kind->head.name, p, m, peak);
                assert_int_equal(peak, smaller(published, all));
                assert_true(all_end(&o));
                checked++;
            }
        }
        assert_true(!kind->splits || checked >= 14);
        kinds += kind->splits;
    }
    assert_int_equal(kinds, 7);
}

/* ZB-H1 and ZB-H2 keep as many on every rank, where 1F1B keeps p - r. */
static void peaks_are_even(void **state)
{
    static struct split_order o;
    for (uint32_t p = 2; p <= STAGES; p++) {
        const struct schedule_shape shape = {p, 1, 3 * p, NULL};
        for (uint32_t s = 0; s < p; s++) {
            write_split(&o, &schedule_zb_h1, &shape);
            assert_int_equal(most_kept(&o, s), p);
            write_split(&o, &schedule_zb_h2, &shape);
            assert_int_equal(most_kept(&o, s), 2 * p - 1);
        }
    }
}

static void refusals(void **state)
{
    static const struct {
        const char *name;
        struct schedule_shape good, bad[3];
    } rows[] = {
        {"zb-h1", {4, 1, 1, NULL}, {{4, 2, 8, NULL}, {1, 1, 8, NULL}, {1, 2, 8, NULL}}},
        {"zb-2p", {2, 1, 1, NULL}, {{4, 2, 8, NULL}, {1, 1, 8, NULL}, {1, 2, 8, NULL}}},
        {"zb-v", {4, 2, 7, NULL}, {{4, 2, 6, NULL}, {4, 1, 8, NULL}, {1, 2, 8, NULL}}},
        {"dualpipe", {4, 1, 8, NULL}, {{4, 1, 6, NULL}, {3, 1, 8, NULL}, {4, 1, 9, NULL}}},
        {"dualpipe-v", {3, 2, 6, NULL}, {{3, 2, 5, NULL}, {3, 1, 6, NULL}, {1, 2, 6, NULL}}},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct schedule_kind *kind = schedule_find(rows[i].name);
        assert_null(kind->refuse(&rows[i].good));
        for (unsigned b = 0; b < 3; b++)
            assert_non_null(kind->refuse(&rows[i].bad[b]));
    }
}

/* Where parts lie: a V comes back to rank 0; from both ends every part is there twice. */
static void placements(void **state)
{
    for (uint32_t p = 2; p <= STAGES; p += 2) {
        const struct schedule_shape v = {p, 2, 3 * p, NULL}, both = {p, 1, 4 * p, NULL};
        unsigned held[PARTS] = {0};
        assert_int_equal(schedule_part(&schedule_zb_v, &v, 0, 1), 2 * p - 1);
        assert_int_equal(schedule_part(&schedule_zb_v, &v, p - 1, 1), p);
        assert_int_equal(schedule_parts(&schedule_zb_v, &v), 2 * p);
        assert_int_equal(schedule_parts(&schedule_dualpipe, &both), p);
        for (uint32_t s = 0; s < p; s++)
            for (uint32_t k = 0; k < schedule_chunks(&schedule_dualpipe, &both); k++)
                held[schedule_part(&schedule_dualpipe, &both, s, k)]++;
        for (uint32_t part = 0; part < p; part++)
            assert_int_equal(held[part], 2);
    }
}

/* An order by times keeps to the memory of each rank: one that keeps three times as much as the
 * first two holds a third of the microbatches. */
static void memory_by_rank(void **state)
{
    static const double each[4] = {1.0, 1.0, 1.0, 1.0}, kept[4] = {1.0, 1.0, 1.0, 3.0};
    const struct pass_costs costs = {each, each, each, kept, kept, 0.0};
    const struct schedule_shape shape = {4, 1, 24, NULL};
    static struct split_order o;
    o.kind = &schedule_zb_2p;
    o.shape = shape;
    for (uint32_t s = 0; s < 4; s++) {
        o.count[s] = schedule_write(o.kind, &shape, &costs, s, o.passes[s]);
        assert_true(rank_is_complete(&o, s));
    }
    assert_true(all_end(&o));
    assert_int_equal(most_kept(&o, 3), 2 * 4 / 3);
    assert_true(most_kept(&o, 1) > 4);
}

/* Planted: a pass of weights lost, one before its inputs, a pair torn apart, a rank that wants a
 * microbatch back before it has handed it on. */
static void planted_faults(void **state)
{
    static struct split_order o;
    const struct schedule_shape shape = {4, 1, 8, NULL};
    write_split(&o, &schedule_zb_h1, &shape);
    o.count[1]--;
    assert_false(rank_is_complete(&o, 1));
    write_split(&o, &schedule_zb_h1, &shape);
    o.passes[0][4].kind = PASS_WEIGHTS;
    assert_false(rank_is_complete(&o, 0));
    write_split(&o, &schedule_zb_h1, &shape);
    o.passes[0][0] = (struct pass){PASS_BACKWARD_INPUT, 0, 0};
    assert_false(all_end(&o));
    write_split(&o, &schedule_dualpipe, &shape);
    uint32_t i = 0;
    while (o.passes[0][i].kind != PASS_FORWARD_PAIRED)
        i++;
    o.passes[0][i + 1].kind = PASS_BACKWARD_INPUT;
    assert_false(rank_is_complete(&o, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),    cmocka_unit_test(peaks_are_even),
        cmocka_unit_test(refusals),       cmocka_unit_test(placements),
        cmocka_unit_test(memory_by_rank), cmocka_unit_test(planted_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
