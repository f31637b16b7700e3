/* calculon.h - an execution, a model and a system of Calculon (calculon-ai/calculon) as a scenario.
 *
 * Keys and their meaning are those of calculon/llm/llm.py, calculon/system.py, memory.py,
 * network.py and processor.py: a block is attention without fused kernels and a feed-forward block
 * with GELU, both with biases, dropout and layer norms; parameters count an embedding of 51,200
 * entries and learned positions, of which it simulates no time. */
#ifndef ORRERY_SCENARIOS_IMPORT_PEERS_CALCULON_H
#define ORRERY_SCENARIOS_IMPORT_PEERS_CALCULON_H

#include "scenarios/import/peers/peer.h"

enum calculon_option {
#define X(id, name) CALCULON_##id,
#include "scenarios/import/peers/calculon_list.h"
#undef X
    CALCULON_OPTIONS
};
/* `gpus` from outside; 0: none. False with a sentence, file and line. */
bool calculon_read(struct arena *arena, const struct peer_files *files, uint64_t gpus,
                   struct launched *out, struct error *error);

/* The datatype of an execution. */
enum calculon_format {
    CALCULON_FLOAT32,
    CALCULON_FLOAT16,
    CALCULON_BFLOAT16,
    CALCULON_FLOAT8
};
/* Parts of it. */
struct calculon_run {
    uint64_t gpus, tp, pp, dp;
    enum calculon_format format;
};
void calculon_layout(struct launched *l, const struct calculon_run *run);
/* The machine, as its file describes it. Returns the ranks that network 0 joins. */
uint64_t calculon_system(struct launched *l, const struct calculon_run *run, bool card);

#endif
