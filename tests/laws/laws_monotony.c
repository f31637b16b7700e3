/* laws_monotony.c - random scenarios against their changes: what goes the wrong way, and why.
 *
 * usage: laws_monotony [COUNT [FIRST [SHOW]]]    1,500 scenarios from number 0 by default
 * Prints a line for each fault, and for each anomaly above SHOW (a ratio; .02); then a row for each
 * change: how many pairs, how many go the wrong way by more than 1e-9, the 90th percentile of those
 * and the worst. Ends with 0 when every one of them is an effect of shared wires or of the tuner.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/check.h"
#include "sim/pool.h"
#include "tests/laws/law_monotony.h"
#include "tests/laws/random_scenario.h"

struct visit {
    bool legal, applies[CHANGE_COUNT];
    struct law_monotony found[CHANGE_COUNT];
};
struct walk {
    unsigned long first, count;
    struct visit *visits;
};

static void visit(void *context, size_t index)
{
    struct walk *walk = context;
    struct visit *v = &walk->visits[index];
    struct scenario *scenario = random_scenario(walk->first + index);
    if (scenario == NULL)
        return;
    struct law_pair pair;
    law_pair_begin(&pair, &scenario->configuration);
    v->legal = true;
    for (unsigned change = 0; change < CHANGE_COUNT; change++) {
        v->applies[change] = law_monotony_of(&pair, &scenario->configuration,
                                             (enum law_change)change, &v->found[change]);
    }
    law_pair_end(&pair);
    scenario_destroy(scenario);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The row of one change; returns its faults. */
static unsigned tell(const struct walk *walk, enum law_change change, double show, double *wrong)
{
    unsigned pairs = 0, wrong_count = 0, retuned = 0, faults = 0;
    for (unsigned long i = 0; i < walk->count; i++) {
        const struct law_monotony *m = &walk->visits[i].found[change];
        if (!walk->visits[i].applies[change])
            continue;
        pairs++;
        const bool fault = !law_monotony_holds(m);
        faults += fault;
        if (m->anomaly_ratio > 1e-9) {
            wrong[wrong_count++] = m->anomaly_ratio;
            retuned += m->apart_ratio > 0.0;
        }
        if (fault || m->anomaly_ratio > show) {
            printf("%s: scenario %lu, %s: %.4f %% the wrong way, %.4f %% apart; %u ops late, %u "
                   "retuned, %u misplaced\n",
                   fault ? "FAULT" : "anomaly", walk->first + i, law_change_names[change],
                   100.0 * m->anomaly_ratio, 100.0 * m->apart_ratio, m->late_ops, m->retuned_count,
                   m->misplaced_count);
        }
    }
    qsort(wrong, wrong_count, sizeof *wrong, compare);
    const double tail = wrong_count > 0 ? wrong[wrong_count * 9 / 10] : 0.0;
    const double worst = wrong_count > 0 ? wrong[wrong_count - 1] : 0.0;
    printf("%-20s %6u pairs %5u wrong (%u by the tuner)  p90 %.3f %%  worst %.3f %%  %u faults\n",
           law_change_names[change], pairs, wrong_count, retuned, 100.0 * tail, 100.0 * worst,
           faults);
    return faults;
}

int main(int argc, char **argv)
{
    struct walk walk = {.count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1500,
                        .first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0};
    const double show = argc > 3 ? strtod(argv[3], NULL) : 0.02;
    struct arena *arena = arena_create();
    walk.visits = ARENA_ARRAY(arena, struct visit, walk.count + 1);
    double *wrong = ARENA_ARRAY(arena, double, walk.count + 1);
    pool_run(pool_threads_available(), walk.count, visit, &walk);
    unsigned legal = 0, faults = 0;
    for (unsigned long i = 0; i < walk.count; i++)
        legal += walk.visits[i].legal;
    for (unsigned change = 0; change < CHANGE_COUNT; change++)
        faults += tell(&walk, (enum law_change)change, show, wrong);
    printf("%u of %lu scenarios legal, %u faults\n", legal, walk.count, faults);
    arena_destroy(arena);
    return faults > 0 || legal == 0;
}
