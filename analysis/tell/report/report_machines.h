/* report_machines.h - several machines told, each by its best layout. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_MACHINES_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_MACHINES_H

#include "analysis/output/terminal/session.h"
#include "analysis/plan/search/search_machine.h"

/* `keys` were varied: "cluster.gpus, cluster.gpu". */
void report_machines(const struct session *session, const struct search_machines *machines,
                     const char *keys);

#endif
