/* launched_deepspeed.h - a training under DeepSpeed as a scenario: ds_config.json with a model that
 * the user names, or a script of Megatron-DeepSpeed with the configuration in it (cat >ds.json
 * <<'END').
 *
 * Batches follow deepspeed/runtime/config.py: of the global batch, the microbatch and the steps of
 * accumulation the third follows from two. "auto", which the Hugging Face Trainer fills in, is
 * nothing said. */
#ifndef ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_DEEPSPEED_H
#define ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_DEEPSPEED_H

#include <string.h>

#include "scenarios/import/launched/launched.h"

enum deepspeed_option {
#define X(id, name, dest, type) DEEPSPEED_##id,
#include "scenarios/import/launched/launched_deepspeed_list.h"
#undef X
    DEEPSPEED_OPTIONS
};
/* As launched_megatron; hints->model names the model of a configuration alone. */
bool launched_deepspeed(struct arena *arena, const struct import_file *file,
                        const struct launched_hints *hints, uint64_t gpus, struct launched *out,
                        struct error *error);

/* Is it said, and not "auto"? */
static inline bool launched_deepspeed_says(const struct launched *l, int option)
{
    return l->said[option].value != NULL && strcmp(l->said[option].value, "auto") != 0;
}
/* Which rank does what, and its memory. */
void launched_deepspeed_layout(struct launched *l, const struct launched_ranks *ranks);

#endif
