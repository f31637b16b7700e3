/* Law: nothing is lost. Every op of every rank is played once, in order, for its time; what is sent
 * is received, over the links that it crosses; what is allocated is freed; the parts of the
 * breakdown tile the step. Pairwise over every table, folded; the books are kept apart from the
 * players (law_books.h). */
#include <string.h>

#include "models/lower/stage/lower.h"
#include "tests/laws/law_blame.h"
#include "tests/laws/law_case.h"
#include "tests/laws/law_loads.h"
#include "tests/laws/law_play.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16
};

static const char *books_fault(const struct law_play *p, char text[LAW_TEXT])
{
    const char *fault = law_order_fault(p, text);
    fault = fault == NULL ? law_partners_fault(p, text) : fault;
    fault = fault == NULL ? law_payload_fault(p, text) : fault;
    fault = fault == NULL ? law_links_fault(p, text) : fault;
    fault = fault == NULL ? law_loads_fault(p, text) : fault;
    fault = fault == NULL ? law_tiles_fault(p, text) : fault;
    fault = fault == NULL ? law_blame_fault(p, text) : fault;
    fault = fault == NULL ? law_idle_fault(p, text) : fault;
    for (uint32_t i = 0; i < p->lowered.program_count && fault == NULL; i++)
        fault = law_memory_fault(p->lowered.programs[i], text);
    uint64_t ops = 0;
    for (uint32_t i = 0; i < p->symmetry.rank_class_count; i++)
        ops += p->lowered.programs[p->symmetry.ranks[i].program]->op_count;
    if (fault == NULL && ops != worker_op_count(p->worker))
        fault = "the worker counts other ops than there are";
    return fault;
}

static void play(struct law_play *p, const struct configuration *c, bool unfold)
{
    law_begin(p, c);
    lower(p->arena, c, &p->lowered);
    law_fold(p, unfold);
    law_run(p);
}

static void pairwise_cases_close_their_books(void **state)
{
    struct arena *arena = arena_create();
    struct law_cover cover;
    law_cover(arena, RANK_MAX, &cover);
    unsigned faults = 0;
    for (unsigned i = 0; i < cover.count; i++) {
        struct law_setup setup;
        struct law_play p;
        char text[LAW_TEXT], description[400];
        assert_true(law_configure(&cover.cases[i], RANK_MAX, &setup));
        play(&p, &setup.c, false);
        const char *fault = books_fault(&p, text);
        if (fault != NULL) {
            law_describe(&cover.cases[i], description, sizeof description);
            print_message("%s: %s\n", description, fault);
            faults++;
        }
        law_end(&p);
    }
    assert_int_equal(faults, 0);
    arena_destroy(arena);
}

/* The same shapes without a pipeline, each trouble in turn, folded and not. */
static void waits_go_to_who_is_waited_for(void **state)
{
    struct arena *arena = arena_create();
    struct law_cover cover;
    law_cover(arena, RANK_MAX, &cover);
    unsigned faults = 0, played = 0;
    for (unsigned i = 0; i < cover.count; i++) {
        struct law_case k = cover.cases[i];
        struct law_setup setup;
        k.level[LAW_PP] = k.level[LAW_VPP] = 0;
        k.level[LAW_TROUBLE] = (uint8_t)(i % LAW_TROUBLE_COUNT);
        if (!law_configure(&k, RANK_MAX, &setup))
            continue;
        struct law_play p;
        char text[LAW_TEXT], description[400];
        play(&p, &setup.c, i / LAW_TROUBLE_COUNT % 2 == 1);
        const char *fault = law_tiles_fault(&p, text);
        fault = fault == NULL ? law_blame_fault(&p, text) : fault;
        if (fault != NULL) {
            law_describe(&k, description, sizeof description);
            print_message("%s: %s\n", description, fault);
            faults++;
        }
        law_end(&p);
        played++;
    }
    assert_int_equal(faults, 0);
    assert_true(played > 40);
    arena_destroy(arena);
}

/* All shared links of a play called own, as if their groups never met: NULL when nothing meets. */
static const char *called_own_fault(const struct configuration *c, char text[LAW_TEXT])
{
    struct law_play p;
    law_begin(&p, c);
    lower(p.arena, c, &p.lowered);
    law_fold(&p, true);
    for (uint32_t i = 0; i < p.symmetry.plan_count; i++) {
        struct played_plan *plan = &p.symmetry.plans[i];
        if (plan->use_count > 0) {
            plan->own_first = plan->use_first;
            plan->own_count = plan->use_count;
            plan->use_count = 0;
        }
    }
    law_run(&p);
    const char *fault = law_own_fault(&p, text);
    law_end(&p);
    return fault;
}

static void own_links_are_never_shared(void **state)
{
    struct arena *arena = arena_create();
    struct law_cover cover;
    law_cover(arena, RANK_MAX, &cover);
    unsigned faults = 0, planted = 0;
    for (unsigned i = 0; i < cover.count; i++) {
        struct law_setup setup;
        struct law_play p;
        char text[LAW_TEXT], description[400];
        assert_true(law_configure(&cover.cases[i], RANK_MAX, &setup));
        play(&p, &setup.c, true);
        const char *fault = law_own_fault(&p, text);
        if (fault != NULL) {
            law_describe(&cover.cases[i], description, sizeof description);
            print_message("%s: %s\n", description, fault);
            faults++;
        }
        law_end(&p);
        planted += called_own_fault(&setup.c, text) != NULL;
    }
    assert_int_equal(faults, 0);
    assert_true(planted > 0);
    arena_destroy(arena);
}

/* A case with pipeline, tensor and data parallelism, for the planted faults. */
static void begin_plain(struct law_setup *setup, struct law_play *p)
{
    struct law_case k = {.level = {[LAW_GPUS] = 2, [LAW_TP] = 1, [LAW_PP] = 1, [LAW_DP] = 1}};
    while (!law_configure(&k, RANK_MAX, setup))
        assert_true(++k.level[LAW_FABRIC] < law_level_count(LAW_FABRIC, RANK_MAX));
    law_begin(p, &setup->c);
    lower(p->arena, &setup->c, &p->lowered);
}

/* A message of another size at one end: seen before it is played. */
static void a_wrong_size_is_seen(void **state)
{
    struct law_setup setup;
    struct law_play p;
    char text[LAW_TEXT];
    begin_plain(&setup, &p);
    law_place(&p);
    assert_null(law_partners_fault(&p, text));
    struct program *program = p.lowered.programs[0];
    bool found = false;
    for (uint32_t i = 0; i < program->op_count && !found; i++) {
        if (program->ops[i].kind == OP_SEND) {
            program->transfers[program->ops[i].cost].bytes += 1.0;
            found = true;
        }
    }
    assert_true(found);
    assert_non_null(law_partners_fault(&p, text));
    law_end(&p);
}

/* A plan that moves a byte too few; and one that forgets a link. */
static void lost_bytes_are_seen(void **state)
{
    for (unsigned fault = 0; fault < 2; fault++) {
        struct law_setup setup;
        struct law_play p;
        char text[LAW_TEXT];
        begin_plain(&setup, &p);
        law_fold(&p, false);
        struct played_plan *plan = &p.symmetry.plans[0];
        assert_true(plan->bytes > 0.0 && plan->use_count + plan->own_count > 0);
        if (fault == 0)
            plan->bytes *= 0.5;
        else if (plan->own_count > 0)
            plan->own_count--;
        else
            plan->use_count--;
        law_run(&p);
        assert_true((law_payload_fault(&p, text) == NULL) == (fault == 1));
        assert_non_null(law_links_fault(&p, text));
        law_end(&p);
    }
}

/* A free that is forgotten, and one made twice. */
static void a_forgotten_free_is_seen(void **state)
{
    struct law_setup setup;
    struct law_play p;
    char text[LAW_TEXT];
    begin_plain(&setup, &p);
    struct program *program = p.lowered.programs[0];
    assert_null(law_memory_fault(program, text));
    struct ledger_entry *last = &program->ledger[program->ledger_count - 1];
    while (last->action != LEDGER_FREE)
        last--;
    last->action = LEDGER_ALLOCATE;
    assert_non_null(law_memory_fault(program, text));
    last->action = LEDGER_FREE;
    last->flags |= LEDGER_FIRST_STEP; /* the second step forgets it */
    assert_non_null(law_memory_fault(program, text));
    law_end(&p);
}

/* An op that is played twice pushes the others on its stream back: its time is not its cost. */
static void a_wrong_time_is_seen(void **state)
{
    struct law_setup setup;
    struct law_play p;
    char text[LAW_TEXT];
    begin_plain(&setup, &p);
    law_fold(&p, false);
    law_run(&p);
    assert_null(law_order_fault(&p, text));
    struct program *program = p.lowered.programs[0];
    for (uint32_t i = 0; i < program->cost_count; i++)
        program->costs[i].gpu_s *= 2.0;
    assert_non_null(law_order_fault(&p, text));
    double parts[PART_COUNT];
    worker_breakdown(p.worker, 0, parts);
    assert_true(law_tiles(parts, p.step_s));
    parts[PART_BUBBLE] += 1e-9 * p.step_s;
    assert_false(law_tiles(parts, p.step_s));
    law_end(&p);
}

/* Of two pieces of a full wire one is moved onto the other, one is lost, one is late. */
static void loads_that_cannot_be_are_seen(void **state)
{
    struct law_setup setup;
    struct law_play p;
    char text[LAW_TEXT];
    begin_plain(&setup, &p);
    law_fold(&p, false);
    law_run(&p);
    uint32_t link = 0;
    while (network_link_bytes(p.network, link) <= 0.0)
        assert_true(++link < p.symmetry.link_class_count);
    p.symmetry.link_class_count = link + 1; /* of those before it none carries anything */
    const double bytes = network_link_bytes(p.network, link);
    const double wire_s = bytes / p.symmetry.links[link].bytes_per_s;
    assert_true(2.0 * wire_s < p.step_s);
    struct worker_load pieces[] = {{link, 0, 0.0, wire_s / 2.0, bytes / 2.0},
                                   {link, 0, wire_s / 2.0, wire_s, bytes / 2.0}};
    assert_null(law_pieces_fault(&p, pieces, 2, text));
    assert_non_null(law_pieces_fault(&p, pieces, 1, text));
    pieces[1].from_s -= 1e-3 * wire_s;
    assert_non_null(law_pieces_fault(&p, pieces, 2, text));
    pieces[1].from_s = p.step_s - wire_s;
    pieces[1].until_s = p.step_s * (1.0 + 1e-6);
    assert_non_null(law_pieces_fault(&p, pieces, 2, text));
    law_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairwise_cases_close_their_books),
        cmocka_unit_test(waits_go_to_who_is_waited_for),
        cmocka_unit_test(own_links_are_never_shared),
        cmocka_unit_test(a_wrong_size_is_seen),
        cmocka_unit_test(lost_bytes_are_seen),
        cmocka_unit_test(loads_that_cannot_be_are_seen),
        cmocka_unit_test(a_forgotten_free_is_seen),
        cmocka_unit_test(a_wrong_time_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
