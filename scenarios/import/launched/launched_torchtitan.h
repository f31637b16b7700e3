/* launched_torchtitan.h - a launch of torchtitan as a scenario: its TOML, a script or command line
 * with --section.key words, or the YAML that Primus has of it.
 *
 * Shapes are flavors, which torchtitan has by name: those that the catalogue has become presets.
 * Defaults are those of torchtitan/config/job_config.py at v0.2.2. */
#ifndef ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_TORCHTITAN_H
#define ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_TORCHTITAN_H

#include "scenarios/import/launched/launched.h"

enum torchtitan_option {
#define X(id, name, dest, type) TORCHTITAN_##id,
#include "scenarios/import/launched/launched_torchtitan_list.h"
#undef X
    TORCHTITAN_OPTIONS
};
/* As launched_megatron. */
bool launched_torchtitan(struct arena *arena, const struct import_file *file,
                         const struct launched_hints *hints, uint64_t gpus, struct launched *out,
                         struct error *error);

/* Flavors and the presets that have their shape; ended by a NULL model and no layers, which stands
 * for one that is not known. */
struct launched_flavor {
    const char *model, *flavor, *preset;
    uint64_t layers;
    bool experts;
};
extern const struct launched_flavor launched_flavors[];
/* The layout of a model. */
void launched_torchtitan_layout(struct launched *l, const struct launched_ranks *ranks,
                                const struct launched_flavor *flavor);

#endif
