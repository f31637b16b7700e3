/* The writer of programs, and the invariants that it checks: one planted fault for each. */
#include <math.h>
#include <string.h>

#include "models/program/program.h"
#include "tests/test.h"

static struct op compute_op(struct program_writer *w, double gpu_s, uint32_t wait)
{
    struct op_kernel kernel = {"gemm", gpu_s, 1.0, 1.0, KERNEL_MODELLED, 0};
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
    struct arena *arena = arena_create();
    struct program_writer *w = program_begin(arena, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t op = program_op(w, compute_op(w, (double)(i % 100), i));
        assert_int_equal(op, i + 1);
    }
    struct program *p = program_end(w);
    assert_int_equal(p->cost_count, 100);
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(p->costs[p->ops[i].cost].gpu_s == (double)(i % 100));
    arena_destroy(arena);
}

/* What was reserved and is outgrown moves with its rows, be it one. */
static void test_growth_of_what_was_reserved(void **state)
{
    for (uint32_t reserved = 1; reserved <= 3; reserved++) {
        struct arena *arena = arena_create();
        struct program_writer *w = program_begin(arena, 0);
        program_reserve(w, reserved, reserved);
        compute_op(w, 0.5, OP_NONE); /* so that no row is all zeros */
        for (uint32_t i = 0; i < 100; i++) {
            program_op(w, compute_op(w, 1.0 + i, i));
            program_ledger(w, block(LEDGER_ALLOCATE, i, LEDGER_FIRST_STEP | LEDGER_STAYS));
        }
        struct program *p = program_end(w);
        assert_int_equal(p->op_count, 100);
        for (uint32_t i = 0; i < 100; i++) {
            assert_true(p->costs[p->ops[i].cost].gpu_s == 1.0 + i);
            assert_true(p->ledger[i].tensor == i && p->ledger[i].bytes == 512.0);
        }
        arena_destroy(arena);
    }
}

enum {
    KERNELS = 300
};

/* More rows at once than twice the room: the kernels of one cost, first of all or after others. */
static void test_growth_by_many(void **state)
{
    static const uint32_t batches[][3] = {{1, 31, 1},  {1, 32, 1},   {32, 1, 1},   {33, 1, 1},
                                          {64, 64, 1}, {65, 128, 9}, {1, 200, 99}, {KERNELS, 1, 1}};
    for (unsigned i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        struct arena *arena = arena_create();
        struct program_writer *w = program_begin(arena, 0);
        struct op_kernel kernels[KERNELS];
        double count = 0.0;
        for (unsigned b = 0; b < 3; b++) {
            for (uint32_t k = 0; k < batches[i][b]; k++)
                kernels[k] = (struct op_kernel){"gemm", ++count, 2.0, 3.0, KERNEL_MODELLED, 0};
            struct op_cost cost = {.gpu_s = count};
            struct op op = compute_op(w, 0.0, OP_NONE);
            op.cost = program_cost(w, &cost, kernels, batches[i][b]);
            program_op(w, op);
        }
        struct program *p = program_end(w);
        double met = 0.0;
        for (uint32_t b = 0; b < 3; b++) {
            const struct op_cost *cost = &p->costs[p->ops[b].cost];
            assert_int_equal(cost->kernel_count, batches[i][b]);
            for (uint32_t k = 0; k < batches[i][b]; k++)
                assert_true(p->kernels[cost->kernel_first + k].gpu_s == ++met);
        }
        arena_destroy(arena);
    }
}

/* Equal content gives the row that is there; whatever differs gives a new one. */
static void test_rows_differ_by_content(void **state)
{
    struct arena *arena = arena_create();
    struct program_writer *w = program_begin(arena, 0);
    const struct op_cost cost = {.gpu_s = 1.0, .peak_s = 2.0, .flops = 3.0, .bytes = 4.0};
    const struct op_kernel pair[] = {{"a", 1.0, 2.0, 3.0, KERNEL_MODELLED, 0},
                                     {"b", 4.0, 5.0, 6.0, KERNEL_MODELLED, 0}};
    assert_int_equal(program_cost(w, &cost, pair, 2), 0);
    assert_int_equal(program_cost(w, &cost, pair, 1), 1);
    assert_int_equal(program_cost(w, &cost, pair, 0), 2);
    for (uint32_t field = 0; field < 4; field++) {
        struct op_cost other = cost;
        *(double *[]){&other.gpu_s, &other.peak_s, &other.flops, &other.bytes}[field] += 1.0;
        assert_int_equal(program_cost(w, &other, pair, 2), 3 + field);
        assert_int_equal(program_cost(w, &other, pair, 2), 3 + field);
    }
    for (uint32_t field = 0; field < 6; field++) {
        struct op_kernel other[] = {pair[0], pair[1]}, *last = &other[1];
        if (field == 3)
            last->name = "c";
        else if (field == 4)
            last->evidence = KERNEL_MEASURED;
        else if (field == 5)
            last->shape = 1;
        else
            *(double *[]){&last->gpu_s, &last->flops, &last->bytes}[field] += 1.0;
        assert_int_equal(program_cost(w, &cost, other, 2), 7 + field);
    }
    const struct op_kernel turned[] = {pair[1], pair[0]};
    assert_int_equal(program_cost(w, &cost, turned, 2), 13);
    assert_int_equal(program_cost(w, &cost, pair, 2), 0);
    assert_int_equal(program_transfer(w, COMM_ALL_REDUCE, 8.0), 0);
    assert_int_equal(program_transfer(w, COMM_ALL_GATHER, 8.0), 1);
    assert_int_equal(program_transfer(w, COMM_ALL_REDUCE, 9.0), 2);
    assert_int_equal(program_transfer(w, COMM_ALL_REDUCE, 8.0), 0);
    assert_int_equal(program_host(w, 0.5), 0);
    assert_int_equal(program_host(w, 0.25), 1);
    assert_int_equal(program_host(w, 0.5), 0);
    char copy[] = "name";
    assert_int_equal(program_name(w, "name"), 0);
    assert_int_equal(program_name(w, "named"), 1);
    assert_int_equal(program_name(w, copy), 0);
    struct program *p = program_end(w);
    assert_int_equal(p->cost_count, 14);
    assert_int_equal(p->kernel_count, 2 + 1 + 0 + 11 * 2);
    assert_int_equal(p->costs[1].kernel_first, 2);
    assert_int_equal(p->costs[1].kernel_count, 1);
    assert_int_equal(p->costs[13].kernel_first, 23);
    assert_string_equal(p->kernels[24].name, "a");
    assert_true(p->transfers[2].op == COMM_ALL_REDUCE && p->transfers[2].bytes == 9.0);
    assert_true(p->hosts[0] == 0.5 && p->hosts[1] == 0.25);
    assert_string_equal(p->names[1], "named");
    arena_destroy(arena);
}

/* Which kinds may stand on which stream; every other pair is refused. */
static void test_streams_fit_kinds(void **state)
{
    static const struct {
        enum op_kind kind;
        uint32_t streams;
    } rows[] = {
        {OP_COMPUTE,
         1U << STREAM_COMPUTE | 1U << STREAM_COPY | 1U << STREAM_TO_HOST | 1U << STREAM_FROM_HOST},
        {OP_COLLECTIVE, 1U << STREAM_TP | 1U << STREAM_CP | 1U << STREAM_EP | 1U << STREAM_DP |
                            1U << STREAM_GATHER | 1U << STREAM_REPLICATE | 1U << STREAM_EMBED |
                            1U << STREAM_WORLD | 1U << STREAM_EP_DATA | 1U << STREAM_EP_GATHER |
                            1U << STREAM_EP_REPLICATE | 1U << STREAM_CP_HEADS},
        {OP_SEND, 1U << STREAM_SEND_NEXT | 1U << STREAM_SEND_PREV},
        {OP_RECV, 1U << STREAM_RECV_PREV | 1U << STREAM_RECV_NEXT},
        {(enum op_kind)4, 0},
    };
    struct arena *arena = arena_create();
    struct program *p = sample(arena);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
            p->ops[2].kind = (uint8_t)rows[i].kind;
            p->ops[2].stream = (uint8_t)stream;
            const char *problem = program_problem(p);
            if (rows[i].streams >> stream & 1U)
                assert_null(problem);
            else
                assert_string_equal(problem, "an op stands on a stream of another kind");
        }
    }
    arena_destroy(arena);
}

static const double nothing = (double)NAN, endless = (double)INFINITY;
typedef void fault_fn(struct program *p);

#define FAULT(name, ...)                                                                           \
    static void name(struct program *p)                                                            \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
FAULT(wait_for_later, p->ops[0].wait[1] = 2)
FAULT(wait_for_self, p->ops[1].wait[0] = 2)
FAULT(wait_second_for_self, p->ops[1].wait[1] = 2)
FAULT(cost_missing, p->ops[0].cost = 1)
FAULT(transfer_missing, p->ops[2].cost = 1)
FAULT(host_missing, p->ops[0].host = 1)
FAULT(name_missing, p->ops[0].name = 2)
FAULT(phase_missing, p->ops[2].phase = PHASE_COUNT)
FAULT(ledger_falls, p->ops[2].ledger = 1)
FAULT(ledger_ends_early, p->ops[2].ledger = 4)
FAULT(time_negative, p->costs[0].gpu_s = -1.0)
FAULT(time_endless, p->costs[0].gpu_s = endless)
FAULT(time_nothing, p->costs[0].gpu_s = nothing)
FAULT(kernels_missing, p->costs[0].kernel_count = 2)
FAULT(kernels_beyond, p->costs[0].kernel_first = 1)
FAULT(size_negative, p->transfers[0].bytes = -1.0)
FAULT(size_endless, p->transfers[0].bytes = endless)
FAULT(size_nothing, p->transfers[0].bytes = nothing)
FAULT(host_negative, p->hosts[0] = -1e-9)
FAULT(host_endless, p->hosts[0] = endless)
FAULT(interference_whole, p->interference.ratio = 1.0)
FAULT(interference_negative, p->interference.ratio = -0.1)
FAULT(join_negative, p->interference.join_ratio[JOIN_TENSOR] = -0.1)
FAULT(join_endless, p->interference.join_ratio[JOIN_CONTEXT] = endless)
FAULT(block_negative, p->ledger[0].bytes = -1.0)
FAULT(block_endless, p->ledger[0].bytes = endless)
FAULT(setup_nothing, p->setup[0].bytes = nothing)
FAULT(no_tenant, p->ledger[0].tenant = TENANT_FRAGMENTATION)
FAULT(stays_each_step, p->ledger[1].flags = LEDGER_STAYS)
FAULT(alive_twice, p->ledger[1] = p->ledger[0])
FAULT(setup_twice, p->ledger[0].tensor = 0)
FAULT(stays_twice, p->ledger[0].tensor = 2)
FAULT(freed_twice, p->ledger[1] = p->ledger[2])
FAULT(setup_freed, p->ledger[2].tensor = 0)
FAULT(stays_freed, p->ledger[2].tensor = 2)
FAULT(setup_frees, p->setup[0].action = LEDGER_FREE)
FAULT(first_step_only, p->ledger[0].flags = LEDGER_FIRST_STEP)
FAULT(leak, p->ledger_count--; p->ops[2].ledger = 2)
FAULT(leak_of_last_number, p->ledger[1].flags = 0)
FAULT(free_outside, p->ledger[2].flags = LEDGER_OUTSIDE)
FAULT(free_first_step, p->ledger[2].flags = LEDGER_FIRST_STEP)
FAULT(free_smaller, p->ledger[2].bytes -= 1.0)
FAULT(free_of_others, p->ledger[2].tenant = TENANT_WEIGHTS)
#undef FAULT

static const struct {
    fault_fn *plant;
    const char *problem;
} faults[] = {
    {wait_for_later, "an op waits for itself or for a later op"},
    {wait_for_self, "an op waits for itself or for a later op"},
    {wait_second_for_self, "an op waits for itself or for a later op"},
    {cost_missing, "an op names a cost or transfer that is not there"},
    {transfer_missing, "an op names a cost or transfer that is not there"},
    {host_missing, "an op names a host time, name or phase that is not there"},
    {name_missing, "an op names a host time, name or phase that is not there"},
    {phase_missing, "an op names a host time, name or phase that is not there"},
    {ledger_falls, "the ledger entries of an op do not follow those of the op before"},
    {ledger_ends_early, "the ledger entries of an op do not follow those of the op before"},
    {time_negative, "a cost is no time, or its kernels are not there"},
    {time_endless, "a cost is no time, or its kernels are not there"},
    {time_nothing, "a cost is no time, or its kernels are not there"},
    {kernels_missing, "a cost is no time, or its kernels are not there"},
    {kernels_beyond, "a cost is no time, or its kernels are not there"},
    {size_negative, "a transfer has no size"},
    {size_endless, "a transfer has no size"},
    {size_nothing, "a transfer has no size"},
    {host_negative, "a host time is no time"},
    {host_endless, "a host time is no time"},
    {interference_whole, "the interference ratio is not in [0, 1)"},
    {interference_negative, "the interference ratio is not in [0, 1)"},
    {join_negative, "a join ratio is below zero"},
    {join_endless, "a join ratio is below zero"},
    {block_negative, "a ledger entry has no size or no tenant"},
    {block_endless, "a ledger entry has no size or no tenant"},
    {setup_nothing, "a ledger entry has no size or no tenant"},
    {no_tenant, "a ledger entry has no size or no tenant"},
    {stays_each_step, "an allocation that stays must happen in the first step only"},
    {alive_twice, "a block is allocated while it lives"},
    {setup_twice, "a block is allocated while it lives"},
    {stays_twice, "a block is allocated while it lives"},
    {freed_twice, "a block is freed that the step did not allocate"},
    {setup_freed, "a block is freed that the step did not allocate"},
    {stays_freed, "a block is freed that the step did not allocate"},
    {setup_frees, "a block is freed that the step did not allocate"},
    {first_step_only, "a block is freed that the step did not allocate"},
    {leak, "a block of the step is never freed"},
    {leak_of_last_number, "a block of the step is never freed"},
    {free_outside, "a free differs from its allocation"},
    {free_first_step, "a free differs from its allocation"},
    {free_smaller, "a free differs from its allocation"},
    {free_of_others, "a free differs from its allocation"},
};

static void test_planted_faults(void **state)
{
    for (unsigned i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct arena *arena = arena_create();
        struct program *p = sample(arena);
        assert_null(program_problem(p));
        faults[i].plant(p);
        const char *problem = program_problem(p);
        if (problem == NULL || strcmp(problem, faults[i].problem) != 0)
            fail_msg("%s: got %s", faults[i].problem, problem == NULL ? "nothing" : problem);
        arena_destroy(arena);
    }
}

/* The last values that stand. */
static void test_bounds_hold(void **state)
{
    struct arena *arena = arena_create();
    struct program *p = sample(arena);
    p->ops[1].wait[1] = 1;
    p->ops[2].ledger = 3;
    p->ops[0].phase = PHASE_COUNT - 1;
    p->ops[0].name = 1;
    p->costs[0].gpu_s = p->transfers[0].bytes = p->hosts[0] = p->setup[0].bytes = 0.0;
    p->interference.ratio = 0.999;
    p->interference.join_ratio[JOIN_TENSOR] = 10.0;
    p->setup[0].tenant = TENANT_FRAGMENTATION - 1;
    assert_null(program_problem(p));
    p->interference.ratio = p->interference.join_ratio[JOIN_TENSOR] = 0.0;
    assert_null(program_problem(p));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_shared),
        cmocka_unit_test(test_growth_keeps_rows),
        cmocka_unit_test(test_growth_of_what_was_reserved),
        cmocka_unit_test(test_growth_by_many),
        cmocka_unit_test(test_rows_differ_by_content),
        cmocka_unit_test(test_streams_fit_kinds),
        cmocka_unit_test(test_planted_faults),
        cmocka_unit_test(test_bounds_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
