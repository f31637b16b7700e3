#include "analysis/command/line/refusal.h"

bool refusal_find(const struct scenario *scenario, struct step **step, struct error *error)
{
    struct step_options options = {.brief = true};
    *step = NULL;
    return !step_run(&scenario->configuration, &options, step, error);
}
