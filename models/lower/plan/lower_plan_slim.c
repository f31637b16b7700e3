/* A plan in the room that lower_runs needs. */
#include "models/lower/plan/lower_plan.h"

static void slim_list(struct arena *arena, struct piece_list *list)
{
    const struct lowered_piece *from = list->rows;
    list->rows = ARENA_ARRAY(arena, struct lowered_piece, list->count);
    list->room = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        list->rows[i] = from[i];
        list->rows[i].kernels = NULL;
        list->rows[i].kernel_count = 0;
    }
}

struct lowering *lower_plan_slim(struct arena *arena, const struct lowering *from)
{
    struct lowering *l = ARENA_NEW(arena, struct lowering);
    *l = *from;
    l->arena = arena;
    l->layers = NULL;
    l->split = l->layer_start = NULL;
    l->blocks = ARENA_ARRAY(arena, struct block, lower_plan_block_count(l));
    for (unsigned b = 0; b < lower_plan_block_count(l); b++) {
        struct block *block = &l->blocks[b];
        *block = from->blocks[b];
        block->layer = NULL;
        for (unsigned i = 0; i < PIECES_COUNT; i++)
            slim_list(arena, &block->lists[i]);
    }
    return l;
}
