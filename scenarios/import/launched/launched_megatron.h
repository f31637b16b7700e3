/* launched_megatron.h - a launch of Megatron-LM (pretrain_gpt.py) as a scenario.
 *
 * Defaults are those of megatron/training/arguments.py at core_v0.19.0: what a launch does not say
 * is said in the scenario, where Orrery's own default would be another. */
#ifndef ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_MEGATRON_H
#define ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_MEGATRON_H

#include "scenarios/import/launched/launched.h"

enum megatron_option {
#define X(id, name, dest, type) MEGATRON_##id,
#include "scenarios/import/launched/launched_megatron_list.h"
#undef X
    MEGATRON_OPTIONS,
    MEGATRON_NOTHING = LAUNCHED_NOTHING
};
extern const struct launched_table launched_megatron_table;

/* Of a file in any of its three forms. `gpus`: of the job, from outside; 0: as the file says. False
 * with a sentence, file and line. */
bool launched_megatron(struct arena *arena, const struct import_file *file,
                       const struct launched_hints *hints, uint64_t gpus, struct launched *out,
                       struct error *error);

/* Parts of it: each writes its keys. */
void launched_megatron_layout(struct launched *l, const struct launched_ranks *ranks);
void launched_megatron_training(struct launched *l, const struct launched_ranks *ranks);
/* Layers over the pipeline, and its virtual stages. */
void launched_megatron_stages(struct launched *l, const struct launched_ranks *ranks);
/* Which layers have experts: dense_layers, expert_interval. */
void launched_megatron_expert_layers(struct launched *l, uint64_t layers);
/* Is the state sharded: 0, 1, 2, 3 as ZeRO calls it. */
unsigned launched_megatron_stage(struct launched *l);

#endif
