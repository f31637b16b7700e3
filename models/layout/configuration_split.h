/* configuration_split.h - the layers of a model over the chunks of a pipeline, as the software
 * splits them. */
#ifndef ORRERY_MODELS_LAYOUT_CONFIGURATION_SPLIT_H
#define ORRERY_MODELS_LAYOUT_CONFIGURATION_SPLIT_H

#include "models/layout/configuration.h"

/* Layers of each chunk of each stage: [stages x chunks] by global chunk. */
void configuration_split(const struct configuration *c, uint32_t *layers);

#endif
