/* transformer_product.c - the linear layers of each piece of a layer, and which of their products
 * are computed again. What is kept (transformer_saved.c) and what runs (transformer_piece.c) both
 * follow it. */
#include "models/workload/transformer_piece.h"

#include "sim/check.h"

/* One linear layer after another that read the same input. */
static unsigned separate(const struct rank_share *s, const char *const names[][3],
                         const double outputs[], unsigned count, struct linear *out)
{
    for (unsigned i = 0; i < count; i++)
        out[i] = (struct linear){names[i][0], names[i][1], names[i][2], s->tokens, s->hidden,
                                 outputs[i],  i > 0,       true,        false};
    return count;
}

unsigned transformer_piece_linears(const struct rank_share *s, enum piece piece,
                                   struct linear out[PIECE_LINEAR_MAX])
{
    static const char *const qkv[][3] = {{"query", "query dgrad", "query wgrad"},
                                         {"key", "key dgrad", "key wgrad"},
                                         {"value", "value dgrad", "value wgrad"}};
    static const char *const up[][3] = {{"gate", "gate dgrad", "gate wgrad"},
                                        {"up", "up dgrad", "up wgrad"}};
    const bool apart = s->context->software->separate_projections;
    switch (piece) {
    case PIECE_QKV:
        if (apart)
            return separate(s, qkv, (double[]){s->query, s->key, s->key}, 3, out);
        out[0] = (struct linear){"qkv",     "qkv dgrad", "qkv wgrad",
                                 s->tokens, s->hidden,   s->query + 2.0 * s->key,
                                 false,     true,        false};
        return 1;
    case PIECE_PROJECT:
        out[0] = (struct linear){"projection",
                                 "projection dgrad",
                                 "projection wgrad",
                                 s->tokens,
                                 s->query,
                                 s->hidden,
                                 false,
                                 false,
                                 false};
        return 1;
    case PIECE_UP:
        if (apart && s->gates > 1.0)
            return separate(s, up, (double[]){s->ffn, s->ffn}, 2, out);
        out[0] =
            (struct linear){"up",  "up dgrad", "up wgrad", s->tokens, s->hidden, s->gates * s->ffn,
                            false, true,       false};
        return 1;
    default:
        CHECK(piece == PIECE_DOWN);
        out[0] = (struct linear){"down",    "down dgrad", "down wgrad", s->tokens, s->ffn,
                                 s->hidden, false,        false,        false};
        return 1;
    }
}

/* Which product of a layer it is, counted from 1. */
static unsigned product_of(const struct rank_share *s, enum piece piece, unsigned linear)
{
    static const enum piece order[] = {PIECE_QKV, PIECE_PROJECT, PIECE_UP, PIECE_DOWN};
    struct linear ignored[PIECE_LINEAR_MAX];
    unsigned before = 0;
    for (unsigned i = 0; order[i] != piece; i++) {
        CHECK(order[i] != PIECE_DOWN);
        before += transformer_piece_linears(s, order[i], ignored);
    }
    return before + linear + 1;
}

bool transformer_product_repeated(const struct rank_share *s, enum piece piece, unsigned linear)
{
    return s->context->per_operator && piece != PIECE_DOWN && product_of(s, piece, linear) % 2 == 0;
}
