/* report_machines.h - several machines told, each by its best layout. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_MACHINES_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_MACHINES_H

#include "analysis/plan/search/search_machine.h"
#include "analysis/tell/document/document.h"

/* orrery.plan-machines/1; `keys` were varied: "cluster.gpus, cluster.gpu". */
struct fact *report_machines(struct arena *arena, const struct search_machines *machines,
                             const char *keys);
extern const char *const report_machines_lines[];

#endif
