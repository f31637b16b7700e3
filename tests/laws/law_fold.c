#include "tests/laws/law_fold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/step/simulate/wires.h"
#include "sim/check.h"
#include "tests/laws/law_play.h"

static void play(struct law_play *p, const struct configuration *c, bool unfold)
{
    law_begin(p, c);
    lower(p->arena, c, &p->lowered);
    law_fold(p, unfold);
    law_run(p);
}

/* Of both the busiest wire of each kind at each node carries the same, and one wire at some node is
 * the busiest of all. */
static const char *wires_fault(struct step *const s[2])
{
    const char *fault = NULL;
    struct arena *arena = arena_create();
    const struct node_wires *nodes[2] = {wires_of_nodes(arena, s[0]), wires_of_nodes(arena, s[1])};
    for (unsigned kind = 0; kind < LINK_FABRIC; kind++) {
        const uint32_t best = wires_busiest(s[1], (enum link_kind)kind);
        const double all = best == WIRE_NONE ? 0.0 : wires_use_ratio(s[1], best);
        double most = 0.0;
        for (uint32_t node = 0; node < s[0]->topology.node_count; node++) {
            double use[2] = {0.0, 0.0};
            for (unsigned i = 0; i < 2; i++)
                if (nodes[i][node].link[kind] != WIRE_NONE)
                    use[i] = wires_use_ratio(s[i], nodes[i][node].link[kind]);
            most = fmax(most, use[1]);
            fault = fabs(use[0] - use[1]) > 1e-12 * use[1] ? "wires of a node differ" : fault;
        }
        fault = most != all ? "the busiest wire is at no node" : fault;
    }
    arena_destroy(arena);
    return fault;
}

/* Of the outcome alone, which may be that of bundles, all is as in the step, to the bit. */
static const char *outcome_fault(const struct configuration *c, const struct step *whole)
{
    const struct step_options options = {.outcome_only = true, .ignore_memory = true};
    struct step *s;
    struct error error;
    const bool ran = step_run(c, &options, &s, &error);
    CHECK(ran);
    const bool same =
        memcmp(&s->step_s, &whole->step_s, sizeof s->step_s) == 0 &&
        memcmp(&s->rates, &whole->rates, sizeof s->rates) == 0 &&
        memcmp(s->parts.breakdown_s, whole->parts.breakdown_s, sizeof s->parts.breakdown_s) == 0 &&
        s->parts.bubble_ratio == whole->parts.bubble_ratio;
    step_destroy(s);
    return same ? NULL : "the outcome alone is another";
}

/* What step_run reports of both: digest, step and mean breakdown (whose sums run over classes). */
static const char *step_fault(const struct configuration *c, uint64_t digest)
{
    struct step *s[2];
    struct error error;
    for (unsigned unfold = 0; unfold < 2; unfold++) {
        const struct step_options options = {.unfold = unfold == 1, .ignore_memory = true};
        const bool ran = step_run(c, &options, &s[unfold], &error);
        CHECK(ran);
    }
    const char *fault = NULL;
    if (s[0]->digest != s[1]->digest || s[0]->digest != digest)
        fault = "the digests of step_run differ";
    else if (memcmp(&s[0]->step_s, &s[1]->step_s, sizeof s[0]->step_s) != 0)
        fault = "step_run's steps are not as long";
    double sum_s = 0.0;
    for (unsigned part = 0; part < PART_COUNT; part++) {
        const double off_s = fabs(s[0]->parts.breakdown_s[part] - s[1]->parts.breakdown_s[part]);
        fault = off_s > 1e-12 * s[0]->step_s ? "step_run's breakdowns differ" : fault;
        sum_s += s[0]->parts.breakdown_s[part];
    }
    if (!(fabs(sum_s - s[0]->step_s) <= 1e-12 * s[0]->step_s))
        fault = "step_run's breakdown does not add up to the step";
    if (fault == NULL)
        fault = wires_fault(s);
    if (fault == NULL)
        fault = outcome_fault(c, s[0]);
    step_destroy(s[0]);
    step_destroy(s[1]);
    return fault;
}

bool law_fold_holds(const struct law_case *k, unsigned rank_max, bool whole_steps,
                    struct fold_report *report)
{
    struct law_setup setup;
    struct law_play folded, unfolded;
    char text[200];
    const bool legal = law_configure(k, rank_max, &setup);
    CHECK(legal);
    *report = (struct fold_report){.description = ""};
    law_describe(k, report->description, sizeof report->description);
    play(&folded, &setup.c, false);
    play(&unfolded, &setup.c, true);
    report->class_count = folded.symmetry.rank_class_count;
    report->rank_count = folded.symmetry.rank_count;
    const char *fault = law_difference(&folded, &unfolded, text);
    if (fault == NULL && whole_steps)
        fault = step_fault(&setup.c, law_digest(&folded));
    if (fault != NULL)
        snprintf(report->fault, sizeof report->fault, "%s", fault);
    law_end(&folded);
    law_end(&unfolded);
    return fault == NULL;
}
