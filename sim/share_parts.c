#include "sim/share_parts.h"

#include <string.h>

enum {
    BLOCK_ALIGNMENT = 16
};

_Static_assert(sizeof(struct share_edge) == sizeof(struct share_user), "they share blocks");

void *share_block_take(struct share *share, uint32_t class)
{
    void *block = share->free_blocks[class];
    if (block == NULL)
        return arena_array(share->arena, sizeof(struct share_edge), (size_t)1 << class,
                           BLOCK_ALIGNMENT);
    memcpy(&share->free_blocks[class], block, sizeof block);
    return block;
}

void share_block_give(struct share *share, uint32_t class, void *block)
{
    memcpy(block, &share->free_blocks[class], sizeof block);
    share->free_blocks[class] = block;
}
