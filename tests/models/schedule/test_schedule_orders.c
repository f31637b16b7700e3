/* The order of passes, written out by hand, not only the bubble that it leaves.
 *
 * GPipe: arXiv:1811.06965 figure 2c. 1F1B and its interleaved form: arXiv:2104.04473 section 2.2;
 * warm-up of the latter 2 (p - i - 1) + (v - 1) p passes of chunks (Megatron-LM,
 * megatron/core/pipeline_parallel/schedules.py). ZB-V: ScheduleZBVZeroBubble of pytorch
 * torch/distributed/pipelining/schedules.py. A pass is its microbatch and a letter: a, b, c a
 * forward pass of the first, second, third chunk, A, B, C its backward pass (or that for inputs
 * alone), x, y, z then that for weights. */
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "tests/test.h"

enum {
    PASS_MAX = 3 * 4 * 16,
    TEXT_MAX = PASS_MAX * 4
};

static const char *const known[] = {"gpipe", "1f1b", "interleaved"};
enum {
    KNOWN = sizeof known / sizeof *known
};

static void spell(const struct pass *passes, uint32_t count, char text[TEXT_MAX])
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        static const char first[] = {[PASS_FORWARD] = 'a',
                                     [PASS_BACKWARD] = 'A',
                                     [PASS_BACKWARD_INPUT] = 'A',
                                     [PASS_WEIGHTS] = 'x'};
        char letter = (char)(first[passes[i].kind] + passes[i].chunk);
        at += (size_t)snprintf(text + at, TEXT_MAX - at, "%s%u%c", i ? " " : "",
                               passes[i].microbatch, letter);
    }
}

struct order_row {
    const char *kind;
    struct schedule_shape shape;
    uint32_t stage;
    const char *order;
};
static const struct order_row rows[] = {
    {"gpipe", {1, 1, 1, NULL}, 0, "0a 0A"},
    {"gpipe", {3, 1, 3, NULL}, 0, "0a 1a 2a 0A 1A 2A"},
    {"gpipe", {3, 1, 3, NULL}, 2, "0a 1a 2a 0A 1A 2A"},
    {"gpipe", {2, 1, 5, NULL}, 1, "0a 1a 2a 3a 4a 0A 1A 2A 3A 4A"},
    {"1f1b", {1, 1, 3, NULL}, 0, "0a 0A 1a 1A 2a 2A"},
    {"1f1b", {4, 1, 6, NULL}, 0, "0a 1a 2a 3a 0A 4a 1A 5a 2A 3A 4A 5A"},
    {"1f1b", {4, 1, 6, NULL}, 1, "0a 1a 2a 0A 3a 1A 4a 2A 5a 3A 4A 5A"},
    {"1f1b", {4, 1, 6, NULL}, 2, "0a 1a 0A 2a 1A 3a 2A 4a 3A 5a 4A 5A"},
    {"1f1b", {4, 1, 6, NULL}, 3, "0a 0A 1a 1A 2a 2A 3a 3A 4a 4A 5a 5A"},
    /* Fewer microbatches than stages: the warm-up is all of them. */
    {"1f1b", {4, 1, 2, NULL}, 0, "0a 1a 0A 1A"},
    {"1f1b", {4, 1, 2, NULL}, 2, "0a 1a 0A 1A"},
    {"1f1b", {4, 1, 2, NULL}, 3, "0a 0A 1a 1A"},
    {"1f1b", {4, 1, 1, NULL}, 0, "0a 0A"},
    {"interleaved", {4, 1, 6, NULL}, 1, "0a 1a 2a 0A 3a 1A 4a 2A 5a 3A 4A 5A"},
    {"interleaved", {2, 2, 4, NULL}, 0, "0a 1a 0b 1b 2a 0B 3a 1B 2b 0A 3b 1A 2B 3B 2A 3A"},
    {"interleaved", {2, 2, 4, NULL}, 1, "0a 1a 0b 0B 1b 1B 2a 0A 3a 1A 2b 2B 3b 3B 2A 3A"},
    {"interleaved",
     {2, 3, 4, NULL},
     0,
     "0a 1a 0b 1b 0c 1c 2a 0C 3a 1C 2b 0B 3b 1B 2c 0A 3c 1A 2C 3C 2B 3B 2A 3A"},
    {"interleaved",
     {2, 3, 4, NULL},
     1,
     "0a 1a 0b 1b 0c 0C 1c 1C 2a 0B 3a 1B 2b 0A 3b 1A 2c 2C 3c 3C 2B 3B 2A 3A"},
    {"interleaved",
     {3, 2, 6, NULL},
     0,
     "0a 1a 2a 0b 1b 2b 3a 4a 0B 5a 1B 3b 2B 4b 0A 5b 1A 2A 3B 4B 5B 3A 4A 5A"},
    {"interleaved",
     {3, 2, 6, NULL},
     1,
     "0a 1a 2a 0b 1b 2b 0B 3a 1B 4a 2B 5a 0A 3b 1A 4b 2A 5b 3B 4B 5B 3A 4A 5A"},
    {"interleaved",
     {3, 2, 6, NULL},
     2,
     "0a 1a 2a 0b 0B 1b 1B 2b 2B 3a 0A 4a 1A 5a 2A 3b 3B 4b 4B 5b 5B 3A 4A 5A"},
    {"zb-v", {2, 2, 3, NULL}, 0, "0a 1a 2a 0b 0B 0y 1b 1B 1y 0A 0x 2b 2B 2y 1A 1x 2A 2x"},
    {"zb-v", {2, 2, 3, NULL}, 1, "0a 0b 1a 1b 0B 0y 2a 0A 0x 2b 1B 1y 1A 2B 2A 1x 2y 2x"},
};

static void test_orders(void **state)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pass passes[PASS_MAX];
        char text[TEXT_MAX];
        const struct schedule_kind *kind = schedule_find(rows[i].kind);
        assert_non_null(kind);
        uint32_t count = kind->write(&rows[i].shape, rows[i].stage, passes);
        spell(passes, count, text);
        assert_string_equal(text, rows[i].order);
    }
}

/* Forward passes before the first backward pass, and the most that ran forward and not yet
 * backward: what activations are held for. */
static void count_held(const struct pass *passes, uint32_t count, uint32_t *before, uint32_t *most)
{
    uint32_t held = 0;
    *before = *most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (passes[i].kind == PASS_FORWARD) {
            held++;
        } else {
            *before = *before == 0 ? held : *before;
            held--;
        }
        *most = held > *most ? held : *most;
    }
    assert_int_equal(held, 0);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Steady stages run a forward pass before each backward pass: one more than the warm-up is held. */
static uint32_t held_by(const char *kind, const struct schedule_shape *s, uint32_t stage)
{
    uint32_t all = s->microbatches * s->chunks;
    if (strcmp(kind, "gpipe") == 0)
        return all;
    uint32_t behind = s->stages - 1 - stage;
    return least(all, s->chunks == 1 ? behind + 1 : 2 * behind + (s->chunks - 1) * s->stages + 1);
}

/* Chunks go forward from the first, backward from the last, in groups of p microbatches. */
static void check_progress(const struct schedule_shape *s, const struct pass *passes,
                           uint32_t count)
{
    uint32_t next[2] = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        bool back = passes[i].kind == PASS_BACKWARD;
        uint32_t k = next[back]++, group = s->chunks == 1 ? 1 : s->stages;
        uint32_t turn = k / group % s->chunks;
        assert_int_equal(passes[i].chunk, back ? s->chunks - 1 - turn : turn);
        assert_int_equal(passes[i].microbatch, k / (group * s->chunks) * group + k % group);
    }
    assert_int_equal(next[0], s->microbatches * s->chunks);
    assert_int_equal(next[1], s->microbatches * s->chunks);
}

static void test_warm_up_and_held(void **state)
{
    unsigned checked = 0;
    for (unsigned k = 0; k < KNOWN; k++) {
        const struct schedule_kind *kind = schedule_find(known[k]);
        for (uint32_t p = 1; p <= 6; p++) {
            for (uint32_t v = 1; v <= 4; v++) {
                for (uint32_t m = 1; m <= 13; m++) {
                    struct schedule_shape shape = {p, v, m, NULL};
                    for (uint32_t s = 0; s < p && kind->refuse(&shape) == NULL; s++, checked++) {
                        struct pass passes[PASS_MAX];
                        uint32_t before, most, count = kind->write(&shape, s, passes);
                        count_held(passes, count, &before, &most);
                        assert_int_equal(before, held_by(kind->head.name, &shape, s));
                        assert_int_equal(most, before);
                        check_progress(&shape, passes, count);
                    }
                }
            }
        }
    }
    assert_int_equal(checked, 3 * 21 * 13 + 3 * (13 + 2 * 6 + 3 * 4 + 4 * 3 + 5 * 2 + 6 * 2));
}

static void test_refusals(void **state)
{
    static const char *const gpipe = "gpipe has one chunk for each stage: layout.vpp must be 1",
                             *const plain = "1f1b has one chunk for each stage: layout.vpp > 1 "
                                            "needs schedule interleaved",
                             *const odd = "interleaved needs microbatches that are a multiple of "
                                          "the pipeline stages";
    static const struct {
        struct schedule_shape shape;
        bool chunks, multiple;
    } shapes[] = {
        {{4, 1, 8, NULL}, false, true}, {{4, 1, 6, NULL}, false, false},
        {{4, 2, 8, NULL}, true, true},  {{4, 2, 4, NULL}, true, true},
        {{4, 2, 6, NULL}, true, false}, {{4, 2, 2, NULL}, true, false},
        {{4, 3, 9, NULL}, true, false}, {{1, 2, 5, NULL}, true, true},
        {{1, 1, 1, NULL}, false, true},
    };
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        bool chunks = shapes[i].chunks;
        const char *why = schedule_find("gpipe")->refuse(&shapes[i].shape);
        assert_true(chunks ? why && strcmp(why, gpipe) == 0 : why == NULL);
        why = schedule_find("1f1b")->refuse(&shapes[i].shape);
        assert_true(chunks ? why && strcmp(why, plain) == 0 : why == NULL);
        why = schedule_find("interleaved")->refuse(&shapes[i].shape);
        bool refused = chunks && !shapes[i].multiple;
        assert_true(refused ? why && strcmp(why, odd) == 0 : why == NULL);
    }
}

/* (p - 1)(tF + tB), over v for chunks: whatever the number of microbatches. */
static void test_bubbles(void **state)
{
    struct schedule_shape shape = {5, 1, 3, NULL}, chunks = {5, 4, 10, NULL}, one = {1, 1, 9, NULL};
    assert_true(schedule_find("gpipe")->bubble_s(&shape, 3.0, 7.0) == 40.0);
    assert_true(schedule_find("1f1b")->bubble_s(&shape, 3.0, 7.0) == 40.0);
    assert_true(schedule_find("interleaved")->bubble_s(&shape, 3.0, 7.0) == 40.0);
    assert_true(schedule_find("interleaved")->bubble_s(&chunks, 3.0, 7.0) == 10.0);
    for (unsigned k = 0; k < KNOWN; k++)
        assert_true(schedule_find(known[k])->bubble_s(&one, 3.0, 7.0) == 0.0);
}

static void test_names(void **state)
{
    for (unsigned k = 0; k < KNOWN; k++) {
        assert_non_null(schedule_find(known[k]));
        assert_string_equal(schedule_find(known[k])->head.name, known[k]);
        assert_int_equal(schedule_find(known[k])->interleaved, k == 2);
    }
    assert_null(schedule_find(""));
    assert_null(schedule_find("1F1B"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),   cmocka_unit_test(test_warm_up_and_held),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_bubbles),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
