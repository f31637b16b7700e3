/* The writer of programs, and the invariants that it checks: one planted fault for each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/program.h"

static struct op compute_op(struct program_writer *w, double gpu_s, uint32_t wait)
{
    struct op_kernel kernel = {"gemm", gpu_s, 1.0, 1.0};
    struct op_cost cost = {.gpu_s = gpu_s};
    return (struct op){.kind = OP_COMPUTE,
                       .stream = STREAM_COMPUTE,
                       .cost = program_cost(w, &cost, &kernel, 1),
                       .wait = {wait, OP_NONE},
                       .name = (uint16_t)program_name(w, "work"),
                       .host = program_host(w, 0.0)};
}

static struct op reduce_op(struct program_writer *w, uint32_t wait)
{
    return (struct op){.kind = OP_COLLECTIVE,
                       .stream = STREAM_DP,
                       .cost = program_transfer(w, COMM_ALL_REDUCE, 8.0),
                       .wait = {wait, OP_NONE},
                       .name = (uint16_t)program_name(w, "reduce"),
                       .host = program_host(w, 0.0)};
}

static struct ledger_entry block(enum ledger_action action, uint32_t tensor, unsigned flags)
{
    return (struct ledger_entry){.action = (uint8_t)action,
                                 .tenant = TENANT_ACTIVATIONS,
                                 .flags = (uint8_t)flags,
                                 .tensor = tensor,
                                 .bytes = 512.0,
                                 .name = "x",
                                 .call_site = "forward"};
}

/* Two compute ops with a block between them, a reduction, and a block that stays. */
static struct program *sample(struct arena *arena)
{
    struct program_writer *w = program_begin(arena, 3);
    program_setup(w, block(LEDGER_ALLOCATE, 0, 0));
    uint32_t first = program_op(w, compute_op(w, 1.0, OP_NONE));
    program_ledger(w, block(LEDGER_ALLOCATE, 1, 0));
    program_ledger(w, block(LEDGER_ALLOCATE, 2, LEDGER_FIRST_STEP | LEDGER_STAYS));
    program_op(w, compute_op(w, 1.0, first));
    program_ledger(w, block(LEDGER_FREE, 1, 0));
    program_op(w, reduce_op(w, first));
    return program_end(w);
}

static void test_rows_are_shared(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct program *p = sample(arena);
    assert_int_equal(p->op_count, 3);
    assert_int_equal(p->cost_count, 1);
    assert_int_equal(p->kernel_count, 1);
    assert_int_equal(p->host_count, 1);
    assert_int_equal(p->name_count, 2);
    assert_int_equal(p->stage, 3);
    assert_int_equal(p->ops[1].ledger, 2);
    assert_int_equal(p->ledger[0].op, 1);
    assert_int_equal(p->ledger[2].op, 2);
    assert_int_equal(p->setup[0].op, 0);
    arena_destroy(arena);
}

static void test_growth_keeps_rows(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct program_writer *w = program_begin(arena, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t op = program_op(w, compute_op(w, (double)(i % 100), i));
        assert_int_equal(op, i + 1);
    }
    struct program *p = program_end(w);
    assert_int_equal(p->cost_count, 100);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(p->costs[p->ops[i].cost].gpu_s == (double)(i % 100));
    }
    arena_destroy(arena);
}

typedef void fault_fn(struct program *p);
static void wait_for_later(struct program *p)
{
    p->ops[0].wait[1] = 2;
}
static void wait_for_self(struct program *p)
{
    p->ops[1].wait[0] = 2;
}
static void cost_missing(struct program *p)
{
    p->ops[0].cost = 7;
}
static void transfer_missing(struct program *p)
{
    p->ops[2].cost = 1;
}
static void host_missing(struct program *p)
{
    p->ops[0].host = 1;
}
static void name_missing(struct program *p)
{
    p->ops[0].name = 2;
}
static void compute_on_wire(struct program *p)
{
    p->ops[0].stream = STREAM_TP;
}
static void send_on_receive(struct program *p)
{
    p->ops[2].kind = OP_SEND;
    p->ops[2].stream = STREAM_RECV_PREV;
}
static void negative_time(struct program *p)
{
    p->costs[0].gpu_s = -1.0;
}
static void leak(struct program *p)
{
    p->ledger_count--;
}
static void freed_twice(struct program *p)
{
    p->ledger[1] = p->ledger[2];
}
static void setup_freed(struct program *p)
{
    p->ledger[2].tensor = 0;
}
static void alive_twice(struct program *p)
{
    p->ledger[1] = p->ledger[0];
}
static void stays_each_step(struct program *p)
{
    p->ledger[1].flags = LEDGER_STAYS;
}
static void ledger_falls(struct program *p)
{
    p->ops[2].ledger = 0;
}

static void test_planted_faults(void **state)
{
    (void)state;
    static fault_fn *const faults[] = {
        wait_for_later, wait_for_self,   cost_missing,  transfer_missing, host_missing,
        name_missing,   compute_on_wire, negative_time, send_on_receive,  leak,
        freed_twice,    setup_freed,     alive_twice,   stays_each_step,  ledger_falls,
    };
    for (unsigned i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct arena *arena = arena_create();
        struct program *p = sample(arena);
        assert_null(program_problem(p));
        faults[i](p);
        assert_non_null(program_problem(p));
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_shared),
        cmocka_unit_test(test_growth_keeps_rows),
        cmocka_unit_test(test_planted_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
