/* simumax.h - a strategy, a model and a system of SimuMax (MooreThreads/SimuMax) as a scenario.
 *
 * Keys, their defaults and their meaning are those of simumax/core/config.py: Megatron-LM's
 * training of a decoder with rotary positions, RMS norms, no biases and a head of its own. Rates of
 * memory and networks are in GiB/s there, that between nodes of a whole node. */
#ifndef ORRERY_SCENARIOS_IMPORT_PEERS_SIMUMAX_H
#define ORRERY_SCENARIOS_IMPORT_PEERS_SIMUMAX_H

#include "scenarios/import/peers/peer.h"

enum simumax_option {
#define X(id, name) SIMUMAX_##id,
#include "scenarios/import/peers/simumax_list.h"
#undef X
    SIMUMAX_OPTIONS
};
/* As calculon_read. */
bool simumax_read(struct arena *arena, const struct peer_files *files, uint64_t gpus,
                  struct launched *out, struct error *error);

/* Parts of it. */
struct simumax_run {
    uint64_t gpus, layers, experts; /* experts of a layer; 1: it is dense */
    struct launched_ranks ranks;
};
void simumax_layout(struct launched *l, const struct simumax_run *run);
/* The machine, as its file describes it. */
void simumax_system(struct launched *l, const struct simumax_run *run, bool card);

#endif
