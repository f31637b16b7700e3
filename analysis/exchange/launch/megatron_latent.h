/* megatron_latent.h - Megatron-LM's options of latent attention, and of the indexer of its rows. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_MEGATRON_LATENT_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_MEGATRON_LATENT_H

#include "analysis/exchange/launch/launch_job.h"
#include "models/workload/transformer.h"

/* Writes nothing for other attention. */
void megatron_latent(const struct model_shape *model, struct launch_text *text);

#endif
