/* cause_list.h - the causes of failure of a scenario, as they are read. */
#ifndef ORRERY_SCENARIOS_BUILD_CAUSE_LIST_H
#define ORRERY_SCENARIOS_BUILD_CAUSE_LIST_H

#include "models/job/job_spec.h"
#include "scenarios/build/section.h"

struct cause_list {
    struct failure_cause *rows;
    struct mark *marks; /* of their names */
    unsigned count, capacity;
};
void cause_list_add(struct builder *b, struct cause_list *list, const struct failure_cause *cause,
                    struct mark mark);

#endif
