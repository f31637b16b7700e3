/* Laws of sharding and pipeline at the level of a step: the memory table of the ZeRO paper through
 * real ledgers, its traffic on the real wires, and the microbatches in flight on the clock. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "sim/units.h"
#include "tests/laws/law_case.h"
#include "tests/laws/law_play.h"
#include "tests/test.h"

/* The plain case, with a model large enough that no rounding of blocks is seen. */
static void big_model(struct law_setup *setup, uint64_t dp, const struct sharding_kind *sharding)
{
    const struct law_case k = {.level = {0}};
    assert_true(law_configure(&k, 1, setup));
    struct configuration *c = &setup->c;
    c->model.layers = 4;
    c->model.attention.heads = c->model.attention.kv_heads = 64;
    c->model.attention.head_size = 64;
    c->model.hidden = 4096;
    c->model.ffn_hidden = 16384;
    c->layout.dp = dp;
    c->layout.data.sharding = sharding;
    c->training.gradient_bytes = c->training.precision->gradient_bytes;
    c->training.global_batch = dp;
    c->software.memory.communicator_bytes = c->software.memory.workspace_bytes = 0.0;
    c->software.memory.clip_gradients = false;
    c->gpu.hbm.context_bytes = 0.0;
    c->gpu.hbm.usable_bytes = INFINITY;
    c->cluster.node.gpus = c->cluster.node.nic.count = dp < 8 ? dp : 8;
    c->cluster.nodes = (dp + 7) / 8;
}

/* Bytes for each parameter that one rank holds before the first pass. */
static double held_bytes(uint64_t dp, const struct sharding_kind *sharding)
{
    struct law_setup setup;
    struct step *step;
    struct error error;
    big_model(&setup, dp, sharding);
    const struct step_options options = {.memory_only = true};
    assert_true(step_run(&setup.c, &options, &step, &error));
    const struct program *program = step->lowered.programs[0];
    double bytes = 0.0; /* as asked for: the paper knows no allocator, which rounds up */
    for (uint32_t i = 0; i < program->setup_count; i++)
        bytes += program->setup[i].bytes;
    assert_true(step->memory[0].ledger.allocated_after_setup_bytes >= bytes);
    assert_true(step->memory[0].ledger.allocated_after_setup_bytes <= 1.01 * bytes);
    step_destroy(step);
    return bytes / transformer_parameters(&setup.c.model, setup.c.training.sequence);
}

struct row {
    char id[64];
    double parameters, bytes;
    uint64_t dp;
    unsigned zero;
    double digit; /* the value of the last printed digit */
};

/* Columns: row_id,source,quality,cite,params,dp,zero,optimizer,bytes_per_gpu */
static bool read_row(FILE *file, struct row *row)
{
    char line[512], *field[9], *save = NULL;
    if (fgets(line, sizeof line, file) == NULL)
        return false;
    for (unsigned i = 0; i < 9; i++) {
        field[i] = strtok_r(i == 0 ? line : NULL, ",\n", &save);
        assert_non_null(field[i]);
    }
    snprintf(row->id, sizeof row->id, "%s", field[0]);
    row->parameters = strtod(field[4], NULL);
    row->dp = strtoull(field[5], NULL, 10);
    row->zero = (unsigned)strtoul(field[6], NULL, 10);
    row->bytes = strtod(field[8], NULL);
    row->digit = 1.0;
    while (fmod(row->bytes, 10.0 * row->digit) == 0.0)
        row->digit *= 10.0;
    return true;
}

/* Printed digits: off by less than one of the last, be it rounded or cut (4187.5 GB stands there as
 * 4187). A row of trailing zeros (30.0, 512) may not be wider than 2.5 %: 0.117 GB is printed 0.12.
 */
static bool row_holds(const struct row *row, double bytes)
{
    const double width = fmin(row->digit, 0.025 * row->bytes);
    return fabs(bytes - row->bytes) < width;
}

static void rows_of_the_zero_paper_hold(void **state)
{
    FILE *file = fopen(VALIDATION "/memory.csv", "r");
    assert_non_null(file);
    char header[512];
    assert_non_null(fgets(header, sizeof header, file));
    struct row row;
    unsigned count = 0;
    while (read_row(file, &row)) {
        char name[16];
        snprintf(name, sizeof name, "zero-%u", row.zero);
        const struct sharding_kind *sharding = sharding_find(name);
        assert_non_null(sharding);
        const double bytes = held_bytes(row.dp, sharding) * row.parameters;
        if (!row_holds(&row, bytes))
            print_message("%s: %.6g instead of %.6g bytes\n", row.id, bytes, row.bytes);
        assert_true(row_holds(&row, bytes));
        assert_false(row_holds(&row, 1.0625 * bytes)); /* planted: a byte in sixteen */
        count++;
    }
    fclose(file);
    assert_int_equal(count, 54);
}

/* Bytes that leave the first GPU over its own link in a step, for each parameter byte. */
static double sent_ratio(const struct sharding_kind *sharding, uint64_t dp)
{
    struct law_setup setup;
    struct law_play p;
    big_model(&setup, dp, sharding);
    setup.c.cluster.node.nvlink.nvls = false; /* rings: a port sends what the paper counts */
    setup.c.software.shards.reshard = true;
    law_begin(&p, &setup.c);
    lower(p.arena, &setup.c, &p.lowered);
    law_fold(&p, false);
    law_run(&p);
    double bytes = NAN;
    for (uint32_t l = 0; l < p.symmetry.link_class_count; l++) {
        const struct link_id id = {p.symmetry.links[l].representative};
        const struct link link = graph_link_at(&p.topology.graph, id);
        if (link.from.value == topology_gpu(&p.topology, 0).value)
            bytes = network_link_bytes(p.network, l);
    }
    law_end(&p);
    return bytes / (2.0 * transformer_parameters(&setup.c.model, setup.c.training.sequence));
}

/* arXiv:1910.02054, section 7: 2N, 2N, 2N, 3N elements, of which a ring of n sends (n - 1)/n. */
static void traffic_is_that_of_the_paper(void **state)
{
    static const struct {
        const char *name;
        double factor;
    } rows[] = {{"zero-0", 2.0}, {"zero-1", 2.0}, {"zero-2", 2.0}, {"zero-3", 3.0}, {"fsdp", 3.0}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint64_t n = 2; n <= 8; n *= 2) {
            const double expected = rows[i].factor * (double)(n - 1) / (double)n;
            const double ratio = sent_ratio(sharding_find(rows[i].name), n);
            if (!(fabs(ratio - expected) <= 1e-6)) {
                print_message("%s on %" PRIu64 ": %.9g instead of %.9g\n", rows[i].name, n, ratio,
                              expected);
            }
            assert_true(fabs(ratio - expected) <= 1e-6);
        }
    }
    struct sharding_kind faulty = *sharding_find("zero-3"); /* planted: weights are kept */
    faulty.gather = GATHER_NEVER;
    assert_true(fabs(sent_ratio(&faulty, 4) - 3.0 * 3.0 / 4.0) > 1e-6);
}

/* The most microbatches whose first forward has begun and whose last backward has not finished. */
static unsigned in_flight(const struct law_play *p, uint32_t rank, unsigned microbatches)
{
    const struct program *program = law_program(p, rank);
    double begin_s[64], finish_s[64];
    unsigned most = 0;
    for (unsigned m = 0; m < microbatches; m++) {
        begin_s[m] = INFINITY;
        finish_s[m] = 0.0;
    }
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct op *op = &program->ops[i];
        if (op->kind == OP_COMPUTE && op->microbatch < microbatches) {
            const struct op_times times = law_times(p, rank, i);
            begin_s[op->microbatch] = fmin(begin_s[op->microbatch], times.begin_s);
            finish_s[op->microbatch] = fmax(finish_s[op->microbatch], times.finish_s);
        }
    }
    for (unsigned m = 0; m < microbatches; m++) {
        unsigned alive = 0;
        for (unsigned other = 0; other < microbatches; other++)
            alive += begin_s[other] <= begin_s[m] && finish_s[other] > begin_s[m];
        most = alive > most ? alive : most;
    }
    return most;
}

/* Does stage i keep min(p - i, m) microbatches (or all m) in flight, for every small shape? */
static bool flights_hold(const struct schedule_kind *schedule, bool all)
{
    bool hold = true;
    for (uint8_t gpus = 0; gpus < 3; gpus++) { /* nodes of 2, 4, 8: a stage on each GPU */
        for (unsigned microbatches = 1; microbatches <= 12; microbatches += 2) {
            static const uint8_t stages[] = {1, 2, 4};
            struct law_setup setup;
            struct law_play p;
            const struct law_case k = {.level = {[LAW_GPUS] = gpus, [LAW_PP] = stages[gpus]}};
            assert_true(law_configure(&k, 8, &setup));
            setup.c.layout.pipeline.schedule = schedule;
            setup.c.training.global_batch = microbatches;
            law_begin(&p, &setup.c);
            lower(p.arena, &setup.c, &p.lowered);
            law_fold(&p, false);
            law_run(&p);
            for (uint32_t rank = 0; rank < p.lowered.rank_count; rank++) {
                const unsigned warm = (unsigned)setup.c.layout.pp - law_program(&p, rank)->stage;
                const unsigned expected = all || warm > microbatches ? microbatches : warm;
                hold = hold && in_flight(&p, rank, microbatches) == expected;
            }
            law_end(&p);
        }
    }
    return hold;
}

static void microbatches_in_flight(void **state)
{
    assert_true(flights_hold(schedule_find("1f1b"), false));
    assert_true(flights_hold(schedule_find("gpipe"), true));
    assert_false(flights_hold(schedule_find("gpipe"), false)); /* planted: the other order */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_zero_paper_hold),
        cmocka_unit_test(traffic_is_that_of_the_paper),
        cmocka_unit_test(microbatches_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
