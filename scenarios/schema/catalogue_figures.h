/* catalogue_figures.h - the figures that an entry of the catalogue gives, in its own order. */
#ifndef ORRERY_SCENARIOS_SCHEMA_CATALOGUE_FIGURES_H
#define ORRERY_SCENARIOS_SCHEMA_CATALOGUE_FIGURES_H

#include "scenarios/catalogue/family.h"
#include "scenarios/catalogue/figure.h"

/* Returns how many there are. Those of a fleet are named "CAUSE.key". Owned by the arena. */
unsigned catalogue_figures(struct arena *arena, enum family family, const struct value *entry,
                           const struct stated_figure **out);

#endif
