/* validate_nodes.h - nodes of the catalogue that hold a card although another is its usual one, for
 * rows that count other nodes than the usual. Read once for a file: a node costs a millisecond. */
#ifndef ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_NODES_H
#define ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_NODES_H

#include <stdint.h>

#include "analysis/validate/table/validate_kind.h"

struct validate_nodes {
    struct card_node {
        const char *name, *card;
        uint64_t gpus;
    } * rows;
    unsigned count;
};
/* Lives in the validation's arena; empty where no row counts other nodes than its card's usual one.
 * NULL with a sentence: the catalogue cannot be read. */
const struct validate_nodes *validate_nodes_read(const struct validation *v, struct error *error);
/* The name of the only one with so many of these cards; NULL: there is none, or several. */
const char *validate_nodes_only(const struct validate_nodes *nodes, const char *card,
                                uint64_t gpus);

#endif
