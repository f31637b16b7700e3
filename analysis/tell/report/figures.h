/* figures.h - one entry of the catalogue for people: its figures, and under them their sources,
 * each once, by number. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_FIGURES_H
#define ORRERY_ANALYSIS_TELL_REPORT_FIGURES_H

#include "analysis/output/terminal/session.h"
#include "analysis/tell/json/json.h"

void figures_print(const struct json_list_entry *entry, const struct session *session);

#endif
