#include "tests/models/fleet/fleet_case.h"

#include "sim/check.h"

void fleet_case_create(uint32_t nodes, uint32_t spares, struct fleet_case *out)
{
    *out = (struct fleet_case){.spec = {.nodes = nodes,
                                        .gpus_per_node = 8,
                                        .nics_per_node = 8,
                                        .recovery = {.spares = spares}}};
    out->spec.causes = out->causes;
}

struct failure_cause *fleet_case_add(struct fleet_case *fleet_case, const char *name,
                                     const char *kind, double option, int unit, double mtbf_s)
{
    CHECK(fleet_case->spec.cause_count < CASE_CAUSES);
    struct failure_cause *cause = &fleet_case->causes[fleet_case->spec.cause_count++];
    *cause = (struct failure_cause){.name = name,
                                    .kind = failure_find(kind),
                                    .options = {{option}},
                                    .unit = unit,
                                    .effect = EFFECT_STOP,
                                    .mtbf_s = mtbf_s,
                                    .early_factor = 1.0};
    CHECK(cause->kind != NULL);
    return cause;
}

uint32_t fleet_case_play(struct fleet *fleet, double limit_s, struct fleet_event *events,
                         uint32_t room)
{
    struct fleet_event event;
    uint32_t count = 0;
    for (; fleet_next(fleet, limit_s, &event); count++) {
        if (count < room)
            events[count] = event;
        fleet_take(fleet, &event);
    }
    return count;
}
