/* job_anew.c - how often nothing that was kept is good. */
#include <math.h>

#include "models/job/parts/job_spec.h"

/* What a failure leaves of the copies of one checkpoint. */
struct left {
    double copies;  /* levels that outlive it */
    double seldom;  /* saves between two of that level of them which is saved least often */
    double deepest; /* levels that are saved as seldom: they reach furthest back */
};

static struct left left_after(const struct checkpoint_plan *plan, int scope)
{
    struct left out = {0};
    for (unsigned i = 0; i < plan->level_count; i++) {
        const double every = (double)plan->levels[i].every;
        if (plan->levels[i].survival < scope)
            continue;
        out.copies++;
        out.deepest = every > out.seldom ? 1.0 : out.deepest + (every == out.seldom);
        out.seldom = fmax(out.seldom, every);
    }
    return out;
}

/* P(`count` saves or more were begun since), found so long after. The last one before it began was
 * so by any part of what lies between two: a mean over that. */
static double tainted_ratio(const struct duration *found, double count, double apart_s)
{
    enum {
        PARTS = 64
    };
    double sum = 0.0;
    if (count <= 0.0)
        return 1.0;
    for (unsigned i = 0; i < PARTS; i++)
        sum += duration_survival(found, (count - (i + 0.5) / PARTS) * apart_s);
    return sum / PARTS;
}

/* What is asked of the causes: with so many kept of each level, a save each `each_s`. */
struct question {
    const struct job_spec *spec;
    double keep, each_s, run_s;
};

/* The probability of a case, and its mean over the run, before whose end it must have begun. */
struct chance {
    double ratio, of_run;
};

/* Adds a part of the cases: of corruptions that have begun `before_s` before the end or earlier. */
static void add_part(struct chance *sum, const struct question *q, double ratio, double before_s)
{
    sum->ratio += ratio;
    sum->of_run += ratio * fmax(1.0 - before_s / q->run_s, 0.0);
}

/* That a silent corruption leaves no copy that is clean and can be read: of those with `tainted` of
 * the copies, all others must be unreadable. */
static struct chance corrupted(const struct question *q, const struct failure_cause *cause,
                               const struct left *left)
{
    static const double negligible = 1e-12;
    const struct duration *found = job_found_after(q->spec, cause);
    const double bad = q->spec->checkpoint.corrupt_ratio, apart_s = q->each_s * left->seldom;
    double more = tainted_ratio(found, q->keep, apart_s);
    struct chance sum = {0};
    add_part(&sum, q, more, (q->keep - 1.0) * apart_s);
    for (double clean = 1.0; clean <= q->keep; clean++) {
        const double unreadable = pow(bad, clean * left->deepest);
        const double tainted = q->keep - clean;
        const double here = tainted_ratio(found, tainted, apart_s);
        if (unreadable < negligible)
            break;
        add_part(&sum, q, unreadable * (here - more), fmax(tainted - 1.0, 0.0) * apart_s);
        more = here;
    }
    return sum;
}

/* Its failures that replace no node, and those that do, by what is left after each. Where nothing
 * is, no number of copies helps, and none is counted. */
static struct chance chance_of(const struct question *q, const struct failure_cause *cause)
{
    const bool whole = cause->unit == UNIT_JOB;
    const int scope = whole                                                   ? SURVIVES_PROCESS
                      : cause->unit == UNIT_DOMAIN && cause->domain_nodes > 1 ? SURVIVES_DOMAIN
                                                                              : SURVIVES_NODE;
    const double mends[2] = {whole ? 1.0 : cause->in_place_ratio,
                             whole ? 0.0 : 1.0 - cause->in_place_ratio};
    const int scopes[2] = {SURVIVES_PROCESS, scope};
    const double bad = q->spec->checkpoint.corrupt_ratio;
    struct chance sum = {0};
    for (unsigned i = 0; i < 2; i++) {
        const struct left left = left_after(&q->spec->checkpoint.plan, scopes[i]);
        if (left.copies == 0.0 || mends[i] == 0.0)
            continue;
        const double none = pow(bad, left.copies * q->keep);
        const struct chance chance = cause->effect == EFFECT_CORRUPT ? corrupted(q, cause, &left)
                                                                     : (struct chance){none, none};
        sum.ratio += mends[i] * chance.ratio;
        sum.of_run += mends[i] * chance.of_run;
    }
    return sum;
}

/* Recoveries in the run, and how many of them start anew: `out` but `keep`. */
static double anew(const struct question *q, double *recoveries, struct job_anew *out)
{
    struct recovery_decision decision;
    double worst = 0.0, stops = 0.0, unreadable = 0.0;
    job_one_failure(q->spec, &decision);
    *out = (struct job_anew){0};
    *recoveries = 0.0;
    for (uint32_t i = 0; i < q->spec->cause_count; i++) {
        const struct failure_cause *cause = &q->spec->causes[i];
        const bool silent = cause->effect == EFFECT_CORRUPT;
        if (decision.others_go_on && cause->unit != UNIT_JOB && !silent)
            continue;
        const struct chance chance = chance_of(q, cause);
        const double all = q->run_s / job_cause_mtbf_s(q->spec, cause), times = all * chance.of_run;
        *recoveries += all;
        out->times += times;
        stops += silent ? 0.0 : all;
        unreadable += silent ? 0.0 : times;
        if (!silent || times <= worst)
            continue;
        worst = times;
        out->cause = cause;
        out->ratio = chance.ratio;
    }
    if (worst < unreadable) {
        out->cause = NULL;
        out->ratio = unreadable / stops;
    }
    return out->times;
}

bool job_starts_anew(const struct job_spec *spec, double each_s, double run_s, struct job_anew *out)
{
    const double bad = spec->checkpoint.corrupt_ratio;
    const double lost_s = (0.5 + bad / (1.0 - bad)) * each_s; /* with all copies kept */
    struct question q = {spec, (double)spec->checkpoint.keep, each_s, run_s};
    struct job_anew with;
    double few = q.keep, recoveries, ignored;
    if (spec->checkpoint.plan.level_count == 0 || anew(&q, &recoveries, out) <= JOB_ANEW_TIMES ||
        (out->cause == NULL && lost_s * recoveries >= run_s))
        return false;
    while (anew(&q, &ignored, &with) > JOB_ANEW_TIMES)
        q.keep *= 2.0;
    double enough = q.keep;
    while (enough - few > 1.0) {
        q.keep = floor((few + enough) / 2.0);
        *(anew(&q, &ignored, &with) > JOB_ANEW_TIMES ? &few : &enough) = q.keep;
    }
    out->keep = enough;
    return true;
}
