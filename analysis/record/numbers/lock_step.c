#include "analysis/record/numbers/lock_step.h"

#include <stdio.h>

#include "analysis/output/text/format.h"
#include "sim/check.h"

struct lock_step_text lock_step_warning(const struct stagger *stagger)
{
    struct lock_step_text text;
    CHECK(stagger_matters(stagger));
    const double step_s = stagger->shortest_s / (1.0 - stagger->spared_ratio);
    snprintf(
        text.s, sizeof text.s,
        "alike groups share wires in lock-step: all send at once, slowly, and then all compute "
        "while the wires stand idle; with ranks that start up to %s apart, as they well may, "
        "the step comes out up to %s shorter: take %s to %s as the answer (Lock-step in "
        "docs/models/players.md)",
        format_time(stagger->apart_s).s, format_percent(stagger->spared_ratio).s,
        format_time(stagger->shortest_s).s, format_time(step_s).s);
    return text;
}
