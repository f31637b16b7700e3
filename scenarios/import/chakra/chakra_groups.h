/* chakra_groups.h - the process groups that a Chakra trace tells of itself: PyTorch records them in
 * the inputs of a node "process_group:init", a list of objects with pg_name and ranks
 * (torch/distributed/distributed_c10d.py, pg_config_info), as `orrery export --format chakra` does.
 *
 * Of each group are kept how many ranks it has, the highest, and a sum of their hashes, not the
 * ranks: all traces of a large job name all of them. A group without ranks (PyTorch's of all ranks)
 * and a text that is no such list say nothing. */
#ifndef ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_GROUPS_H
#define ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_GROUPS_H

#include "sim/arena.h"

#include <stdint.h>

#define CHAKRA_GROUPS_NODE "process_group:init" /* is in the node's name */

struct chakra_group {
    const char *name; /* pg_name as the text has it; a copy in the arena */
    uint32_t rank_count, highest;
    uint64_t ranks_hash; /* the same for the same ranks in any order */
};
struct chakra_group_list {
    struct chakra_group *of;
    uint32_t count, room;
};
/* Adds the groups of the text `inputs.values`. */
void chakra_groups_read(struct arena *arena, const char *text, size_t bytes,
                        struct chakra_group_list *out);
/* NULL: the list does not tell of a group of that name. */
const struct chakra_group *chakra_groups_find(const struct chakra_group_list *list,
                                              const char *name);

#endif
