/* chakra_messages.h - sends and receives of all ranks matched: who meets whom.
 *
 * The k-th send of a rank to another with a tag meets the k-th receive there, in the order in which
 * they are handed in, rank by rank. */
#ifndef ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_MESSAGES_H
#define ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_MESSAGES_H

#include "scenarios/import/chakra/chakra.h"

struct chakra_message {                  /* one end */
    uint32_t source, target, rank, node; /* node: row of the rank's trace */
    uint64_t tag;
    uint32_t number; /* in the order of all */
    bool receives;
};
struct chakra_messages {
    struct chakra_message *ends;
    uint32_t count, room;
};
/* Adds a SEND or RECV node of a rank. False with a sentence: its ranks are none or not its own. */
bool chakra_messages_add(struct arena *arena, struct chakra_messages *messages,
                         const struct chakra_job *job, uint32_t rank, uint32_t node,
                         struct error *error);
/* Puts partners side by side, the sender first: then ends 2 k and 2 k + 1 are the k-th message,
 * pairs of ranks together. False with a sentence: one has no partner, or another size. */
bool chakra_messages_match(struct chakra_messages *messages, const struct chakra_job *job,
                           struct error *error);

#endif
