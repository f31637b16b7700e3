#include "analysis/line/refusal.h"

bool refusal_counted(const struct scenario *scenario, struct error *error)
{
    return scenario->counted_only &&
           !error_set(error, "the step of such a model is not simulated by this version; 'orrery "
                             "memory' counts it");
}

bool refusal_find(const struct scenario *scenario, struct step **step, struct error *error)
{
    struct step_options options = {.brief = true};
    *step = NULL;
    if (refusal_counted(scenario, error))
        return true;
    return !step_run(&scenario->configuration, &options, step, error);
}
