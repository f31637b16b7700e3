/* figures.h - one entry of the catalogue for people: its figures, and under them their sources,
 * each once, by number. */
#ifndef ORRERY_ANALYSIS_LISTING_FIGURES_H
#define ORRERY_ANALYSIS_LISTING_FIGURES_H

#include "analysis/json/json.h"
#include "analysis/terminal/session.h"

void figures_print(const struct json_list_entry *entry, const struct session *session);

#endif
