/* peer.h - the documents of another program that estimates training steps: what is to be run, the
 * model, the machine.
 *
 * Each document's keys become words of one launch (scenarios/import/launched): those of the first
 * as they stand, the model's behind "model.", the machine's behind "system.". A machine that is
 * described becomes a card, a node and a fabric of figures; what no such file says of a card (SMs,
 * clock, power) is that of the card which the user names, or else stands in, with a warning. */
#ifndef ORRERY_SCENARIOS_IMPORT_PEERS_PEER_H
#define ORRERY_SCENARIOS_IMPORT_PEERS_PEER_H

#include "scenarios/import/launched/launched.h"

struct peer_files {
    const struct import_file *run, *model, *system; /* system: NULL: it is not given */
    bool card;                                      /* a card is named from outside */
};
/* Their words by the table. False with a sentence, file and line. */
bool peer_take(struct arena *arena, const struct peer_files *files,
               const struct launched_table *table, struct launched *out, struct error *error);

/* Of pairs of a size and an efficiency: that of the largest size, above 0 and at most 1; `usual`
 * where they are not said. */
double peer_efficiency(struct launched *l, int option, double usual);
/* A number above 0 that must be there. */
double peer_figure(struct launched *l, int option, const char *name);
/* A share, above 0 and at most 1. */
double peer_share(struct launched *l, int option, double usual);
/* The GPUs of the job, which a number from outside (0: none) must not contradict, as a key. */
void peer_gpus(struct launched *l, int option, uint64_t said, uint64_t gpus);
/* What the file does not say of a card; nothing where the user names one. */
void peer_card(struct launched *l, bool named);
/* A group of ranks that lie in `span` consecutive ones: is it in the network that the file says?
 * `first`: ranks that network 0 joins. Warns if not. */
void peer_network(struct launched *l, int option, uint64_t span, uint64_t first);

#endif
