#include "tests/laws/law_fold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/step/step.h"
#include "sim/check.h"
#include "tests/laws/law_play.h"

static void play(struct law_play *p, const struct configuration *c, bool unfold)
{
    law_begin(p, c);
    lower(p->arena, c, &p->lowered);
    law_fold(p, unfold);
    law_run(p);
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
        const double off_s = fabs(s[0]->breakdown_s[part] - s[1]->breakdown_s[part]);
        fault = off_s > 1e-12 * s[0]->step_s ? "step_run's breakdowns differ" : fault;
        sum_s += s[0]->breakdown_s[part];
    }
    if (fabs(sum_s - s[0]->step_s) > 1e-12 * s[0]->step_s)
        fault = "step_run's breakdown does not add up to the step";
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
