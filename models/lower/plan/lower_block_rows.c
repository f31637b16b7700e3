/* Blocks into rows of a program, and which pieces a pass runs. */
#include "models/lower/plan/lower_block.h"
#include "sim/check.h"

static void list_rows(struct piece_list *list, struct program_writer *w)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct lowered_piece *p = &list->rows[i];
        p->row = p->kind == OP_COMPUTE ? program_cost(w, &p->cost, p->kernels, p->kernel_count)
                                       : program_transfer(w, p->transfer.op, p->transfer.bytes);
        p->host = program_host(w, p->host_s);
        p->name_row = (uint16_t)program_name(w, p->name);
    }
}

void lower_block_rows(struct block *block, struct program_writer *w)
{
    for (unsigned i = 0; i < PIECES_COUNT; i++)
        list_rows(&block->lists[i], w);
}

enum block_pieces lower_block_pieces(enum pass_kind kind)
{
    switch (kind) {
    case PASS_BACKWARD:
        return PIECES_BACKWARD;
    case PASS_BACKWARD_INPUT:
        return PIECES_INPUT;
    case PASS_WEIGHTS:
        return PIECES_WEIGHTS;
    case PASS_FORWARD:
    case PASS_FORWARD_PAIRED:
        return PIECES_FORWARD;
    case PASS_KIND_COUNT:
        break;
    }
    UNREACHABLE("kind is an enum pass_kind");
}
