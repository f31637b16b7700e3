/* build_job.h - the parts of build_parts.h that describe weeks of training. They fill the
 * scenario's job in this order: recovery (the spares), failures (whose units include them),
 * storage, checkpoint, run. Each reports its own problems. */
#ifndef ORRERY_SCENARIOS_ASSEMBLE_BUILD_JOB_H
#define ORRERY_SCENARIOS_ASSEMBLE_BUILD_JOB_H

#include "models/job/parts/job_spec.h"
#include "scenarios/assemble/section.h"
#include "scenarios/schema/schema_job.h"

/* The causes of failure of a scenario, as they are read. */
struct cause_list {
    struct failure_cause *rows;
    struct mark *marks; /* of their names */
    unsigned count, capacity;
};
void build_cause_add(struct builder *b, struct cause_list *list, const struct failure_cause *cause,
                     struct mark mark);

void build_recovery(struct builder *b); /* build_recovery.c */
/* Warns of its keys that do nothing in this run, which is read. */
void build_recovery_idle(struct builder *b);
void build_failures(struct builder *b); /* build_failures.c */
void build_storage(struct builder *b);  /* build_checkpoint.c: the scenario's own tiers */
/* A tier by its name, the scenario's own or the catalogue's; false with a problem at `where`. */
bool build_tier(struct builder *b, struct mark where, const char *name, struct storage_tier *out);
void build_checkpoint(struct builder *b);          /* build_checkpoint.c */
void build_checkpoint_complete(struct builder *b); /* what follows from a sound configuration */
/* Moments of a cause that replays a trace: build_trace.c. Adds one cause for each that the file
 * names; `like` says what else is known of them. */
void build_trace(struct builder *b, const struct value *item, const char *path,
                 const struct failure_keys *keys, const struct failure_cause *like,
                 struct cause_list *list);

#endif
