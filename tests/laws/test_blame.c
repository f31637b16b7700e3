/* Law: over random layouts `optimizer` without waits equals its kernels, and so do `compute` and
 * `recompute`; a wait goes to something that the ranks have (law_blame.h). The pairwise cases of
 * test_conservation.c are held to the same. */
#include "models/lower/stage/lower.h"
#include "tests/laws/law_blame.h"
#include "tests/laws/random_scenario.h"
#include "tests/models/step/world.h"
#include "tests/test.h"

enum {
    SCENARIOS = 240
};

static void play(struct law_play *p, const struct configuration *c)
{
    law_begin(p, c);
    lower(p->arena, c, &p->lowered);
    law_fold(p, false);
    law_run(p);
}

static const char *fault_of(const struct configuration *c, char text[LAW_TEXT])
{
    struct law_play p;
    play(&p, c);
    const char *fault = law_tiles_fault(&p, text);
    fault = fault == NULL ? law_blame_fault(&p, text) : fault;
    law_end(&p);
    return fault;
}

/* As drawn, and with the copies of buckets that some software makes beside its transfers. */
static void parts_are_blamed_for_what_they_did(void **state)
{
    unsigned faults = 0, played = 0;
    for (uint64_t number = 0; number < SCENARIOS; number++) {
        struct scenario *scenario = random_scenario(number);
        char text[LAW_TEXT];
        if (scenario == NULL)
            continue;
        scenario->configuration.software.data.copy_bytes_per_s = number % 2 == 0 ? 10e9 : 0.0;
        const char *fault = fault_of(&scenario->configuration, text);
        if (fault != NULL) {
            print_message("scenario %u: %s\n%s", (unsigned)number, fault, scenario->file.text);
            faults++;
        }
        scenario_destroy(scenario);
        played++;
    }
    assert_true(played > SCENARIOS / 2);
    assert_int_equal(faults, 0);
}

/* Planted: a hair of each wait booked as the update, and a wait that nobody has. */
static void a_wrong_blame_is_seen(void **state)
{
    unsigned planted = 0;
    for (uint64_t number = 0; number < SCENARIOS && planted < 40; number++) {
        struct scenario *scenario = random_scenario(number);
        struct law_play p;
        double parts[PART_COUNT];
        char text[LAW_TEXT];
        if (scenario == NULL)
            continue;
        const bool nobody = scenario->configuration.layout.ep <= 1;
        play(&p, &scenario->configuration);
        worker_breakdown(p.worker, 0, parts);
        assert_null(law_parts_fault(&p, 0, parts, text));
        for (unsigned part = PART_EXPOSED_TP; part < PART_COUNT; part++) {
            if (part == PART_OPTIMIZER || part == PART_EXPOSED_EP || parts[part] < 1e-9 * p.step_s)
                continue;
            parts[part] -= 1e-9 * p.step_s;
            parts[PART_OPTIMIZER] += 1e-9 * p.step_s;
            assert_non_null(law_parts_fault(&p, 0, parts, text));
            parts[PART_OPTIMIZER] -= 1e-9 * p.step_s;
            parts[PART_EXPOSED_EP] += nobody ? 1e-9 * p.step_s : 0.0;
            assert_true(!nobody || law_parts_fault(&p, 0, parts, text) != NULL);
            parts[PART_EXPOSED_EP] = nobody ? 0.0 : parts[PART_EXPOSED_EP];
            parts[part] += 1e-9 * p.step_s;
            planted++;
        }
        law_end(&p);
        scenario_destroy(scenario);
    }
    assert_true(planted >= 40);
}

/* A gather of 3 s and the copy of its bucket, 4 s on the copy stream, before a pass of 2 s and an
 * update of 1 s: both are waits for parameters. */
static void a_copied_bucket_is_no_update(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    struct op copy = world_compute(
        p, 4.0, program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_GATHER, 0, OP_NONE)));
    copy.stream = STREAM_COPY;
    copy.phase = PHASE_PARAMETERS;
    program_op(p, world_compute(p, 2.0, program_op(p, copy)));
    struct op update = world_compute(p, 1.0, OP_NONE);
    update.phase = PHASE_OPTIMIZER;
    program_op(p, update);
    const uint32_t program = world_program(&w, program_end(p));
    double parts[PART_COUNT];
    const uint32_t rank = world_rank(&w, program, 1.0);
    world_plan(&w, world_group(&w, STREAM_GATHER, 1, &rank, 1), 0, 3.0, 0.0, 1.0, 1.0, NULL, 0);
    world_play(&w);
    worker_breakdown(w.worker, rank, parts);
    assert_true(parts[PART_COMPUTE] == 2.0 && parts[PART_OPTIMIZER] == 1.0);
    assert_true(parts[PART_EXPOSED_DP] == 3.0 + 4.0);
    world_end(&w);
}

/* FSDP2 copies weights out of what was gathered and gradients into what is reduced, by kernels
 * between those of the pass: they update nothing. */
static void a_copied_shard_is_no_update(void **state)
{
    static const struct {
        enum phase phase;
        double seconds;
    } kernels[] = {{PHASE_PARAMETERS, 4.0},
                   {PHASE_FORWARD, 2.0},
                   {PHASE_GRADIENTS, 8.0},
                   {PHASE_OPTIMIZER, 1.0}};
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    for (unsigned i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        struct op op = world_compute(p, kernels[i].seconds, OP_NONE);
        op.phase = (uint8_t)kernels[i].phase;
        program_op(p, op);
    }
    const uint32_t rank = world_rank(&w, world_program(&w, program_end(p)), 1.0);
    double parts[PART_COUNT];
    world_play(&w);
    worker_breakdown(w.worker, rank, parts);
    assert_true(parts[PART_COMPUTE] == 4.0 + 2.0 + 8.0 && parts[PART_OPTIMIZER] == 1.0);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_blamed_for_what_they_did),
        cmocka_unit_test(a_wrong_blame_is_seen),
        cmocka_unit_test(a_copied_bucket_is_no_update),
        cmocka_unit_test(a_copied_shard_is_no_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
