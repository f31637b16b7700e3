/* nemo.h - the resolved YAML of a GPT of NeMo 1 as a scenario.
 *
 * Keys and defaults are those of megatron_gpt_config.yaml and of MegatronGPTModel. Values that
 * OmegaConf has still to resolve (${...}) are refused where they make a key. */
#ifndef ORRERY_SCENARIOS_IMPORT_CONFIGURED_NEMO_H
#define ORRERY_SCENARIOS_IMPORT_CONFIGURED_NEMO_H

#include "scenarios/import/launched/launched.h"

enum nemo_option {
#define X(id, name) NEMO_##id,
#include "scenarios/import/configured/nemo_list.h"
#undef X
    NEMO_OPTIONS
};
/* As launched_megatron. */
bool nemo_read(struct arena *arena, const struct import_file *file,
               const struct launched_hints *hints, uint64_t gpus, struct launched *out,
               struct error *error);
/* Which rank does what, what is sharded and computed again. */
void nemo_layout(struct launched *l, const struct launched_ranks *ranks);

#endif
