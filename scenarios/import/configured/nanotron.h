/* nanotron.h - a YAML of nanotron (huggingface/nanotron) as a scenario.
 *
 * Defaults are those of src/nanotron/config: a pipeline of all forwards before all backwards,
 * all-reduces of tensor ranks. Ranks are numbered tp, cp, dp, pp. */
#ifndef ORRERY_SCENARIOS_IMPORT_CONFIGURED_NANOTRON_H
#define ORRERY_SCENARIOS_IMPORT_CONFIGURED_NANOTRON_H

#include "scenarios/import/launched/launched.h"

enum nanotron_option {
#define X(id, name) NANOTRON_##id,
#include "scenarios/import/configured/nanotron_list.h"
#undef X
    NANOTRON_OPTIONS
};
/* As launched_megatron. */
bool nanotron_read(struct arena *arena, const struct import_file *file,
                   const struct launched_hints *hints, uint64_t gpus, struct launched *out,
                   struct error *error);

#endif
