/* A change is told with the keys that its user has to state: the fewest where what is chosen anew
 * does as well as what was tried, else those that would be chosen otherwise, dp where it is
 * stated, at last all; and not at all where nothing helps. The reader always chooses the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/plan/change.h"
#include "models/plan/choice_keys.h"
#include "models/plan/plan_layout.h"
#include "models/step/simulate/step.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

enum {
    TEXT = 512
};

/* A scenario that leaves keys open. */
struct fake {
    struct configuration chosen;           /* of what is not stated */
    bool dp_stated, refuses, refuses_open; /* all; unless recompute is stated */
    unsigned readings;
    char last[TEXT];
};

static bool read(void *context, const char *const *sets, unsigned count, struct configuration *out)
{
    struct fake *f = context;
    struct plan_layout l = plan_layout_of(&f->chosen);
    bool recompute = false, dp = f->dp_stated;
    f->readings++;
    f->last[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        const size_t used = strlen(f->last);
        const char *name = strchr(sets[i], '.') + 1, *value = strchr(name, '=') + 1;
        snprintf(f->last + used, TEXT - used, "%s%s", i > 0 ? " " : "", sets[i]);
        for (unsigned key = 0; key < PLAN_KEY_COUNT; key++)
            if (strncmp(plan_axis_names[key], name, (size_t)(value - name - 1)) == 0 &&
                plan_axis_names[key][value - name - 1] == '\0')
                assert_true(plan_layout_read(&l, (enum plan_axis)key, value));
        recompute |= strncmp(name, "recompute=", strlen("recompute=")) == 0;
        dp |= strncmp(name, "dp=", strlen("dp=")) == 0;
    }
    if (!dp)
        l.dp = (uint32_t)(configuration_gpus(&f->chosen) / (l.tp * l.pp * l.cp));
    plan_layout_apply(&f->chosen, &l, out);
    return !f->refuses && (recompute || !f->refuses_open) &&
           configuration_ranks(out) == configuration_gpus(out);
}

static struct configuration sized(void)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 2, 1, 4, 1, 8);
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_none;
    return c;
}

static double step_s(const struct configuration *c)
{
    struct change played;
    assert_true(change_play(c, &played) && played.timed);
    return played.step_s;
}

/* `to` has half of tp and a microbatch of 4 in place of 1; recompute and microbatch are open. */
struct case_of_change {
    struct fake fake;
    struct configuration from, to;
    unsigned open;
};

static void begin(struct case_of_change *k)
{
    *k = (struct case_of_change){.from = sized()};
    k->open = 1u << CHOICE_MICROBATCH | 1u << CHOICE_RECOMPUTE | 1u << CHOICE_ATTENTION;
    k->to = k->from;
    k->to.layout.tp = 1;
    k->to.layout.dp = 8;
    k->to.layout.microbatch = 4;
    k->fake.chosen = k->from;
    k->fake.chosen.layout.microbatch = 4;
}

static bool settle(struct case_of_change *k, struct change *out)
{
    const struct change_reader reader = {read, &k->fake};
    const struct change_question q = {&k->from, k->open, &reader};
    struct arena *arena = arena_create();
    const bool settled = change_settle(arena, &q, &k->to, out);
    if (settled) {
        assert_string_equal(out->set, k->fake.last); /* what was read is what is told */
        snprintf(k->fake.last, TEXT, "%s", out->set);
        out->set = k->fake.last;
    }
    arena_destroy(arena);
    return settled;
}

static void the_fewest_keys_that_do(void **state)
{
    struct case_of_change k;
    struct change got;
    begin(&k); /* the same is chosen */
    assert_true(settle(&k, &got));
    assert_string_equal(got.set, "layout.tp=1");
    assert_true(got.step_s == step_s(&k.to) && k.fake.readings == 1);
    begin(&k); /* small microbatches would be, which take longer */
    k.fake.chosen.layout.microbatch = 1;
    struct configuration slow = k.to;
    slow.layout.microbatch = 1;
    assert_true(step_s(&slow) > 1.02 * step_s(&k.to));
    assert_true(settle(&k, &got));
    assert_string_equal(got.set, "layout.tp=1 layout.microbatch=4");
    assert_true(got.step_s == step_s(&k.to) && k.fake.readings == 2);
    begin(&k); /* larger ones: what was chosen anew is faster, and told */
    k.fake.chosen.layout.microbatch = 4;
    k.to.layout.microbatch = 1;
    assert_true(settle(&k, &got));
    assert_string_equal(got.set, "layout.tp=1");
    assert_true(got.step_s < step_s(&k.to) && got.c.layout.microbatch == 4);
}

static void what_has_to_be_stated(void **state)
{
    struct case_of_change k;
    struct change got;
    begin(&k);
    k.fake.dp_stated = true;
    assert_true(settle(&k, &got));
    assert_string_equal(got.set, "layout.tp=1 layout.dp=8");
    begin(&k); /* no key would be chosen otherwise, yet it is refused: all that is open */
    k.fake.refuses_open = true;
    assert_true(settle(&k, &got));
    assert_string_equal(got.set, "layout.tp=1 layout.microbatch=4 layout.recompute=none");
    begin(&k);
    k.open = 0; /* all is stated */
    assert_true(settle(&k, &got));
    assert_string_equal(got.set, "layout.microbatch=4 layout.tp=1");
}

static void what_nobody_can_have_is_not_told(void **state)
{
    struct case_of_change k;
    struct change got;
    begin(&k);
    k.fake.refuses = true;
    assert_false(settle(&k, &got));
    assert_true(k.fake.readings < 6);
    begin(&k);
    k.fake.chosen.gpu.hbm.usable_bytes = k.to.gpu.hbm.usable_bytes = 1.0;
    assert_false(settle(&k, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fewest_keys_that_do),
        cmocka_unit_test(what_has_to_be_stated),
        cmocka_unit_test(what_nobody_can_have_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
