/* configuration_parts.h - what the files of configuration_check share. */
#ifndef ORRERY_MODELS_LAYOUT_CONFIGURATION_PARTS_H
#define ORRERY_MODELS_LAYOUT_CONFIGURATION_PARTS_H

#include "models/layout/configuration.h"

struct rule_report {
    const struct configuration *c;
    struct rule_break *out;
    unsigned capacity, count;
};

/* One more rule is broken at `key`; past the capacity it is only counted. */
__attribute__((format(printf, 4, 5))) void rule_say(struct rule_report *r, bool warning,
                                                    const char *key, const char *format, ...);
/* Context parallelism. */
void configuration_check_context(struct rule_report *r);
/* What runs beside products leaves them SMs. */
void configuration_check_sms(struct rule_report *r);
/* Stages, chunks and their order. The sizes are positive and dp x microbatch is not 0. */
void configuration_check_stages(struct rule_report *r);
/* Experts and latent attention. */
void configuration_check_experts(struct rule_report *r);
/* Patterns of layers and recurrent ones. */
void configuration_check_layers(struct rule_report *r);
/* Sparse attention with an indexer. */
void configuration_check_sparse(struct rule_report *r);
/* What of it is on the host. */
void configuration_check_offload(struct rule_report *r);
/* What is kept for each parameter. */
void configuration_check_state(struct rule_report *r);

#endif
