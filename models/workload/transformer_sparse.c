/* transformer_sparse.c - sparse attention with an indexer (DeepSeek-V3.2) as pieces of a layer on a
 * rank; its numbers of the model stand in transformer.c.
 *
 * An indexer makes ih queries of di from the latent of the queries (or the input, where queries
 * have none), one key of di and ih weights from the input, and norms the key: r ih di + h di + h ih
 * + 2 di (deepseek-ai/DeepSeek-V3.2-Exp inference/model.py, class Indexer). A score is the sum over
 * its heads of weight x relu(query . key). The core reads chosen rows of the latent, one head of
 * keys and values for all queries: 2 a (2 r_kv + d_r) FLOPs a key, against 2 a (d_n + d_r + d_v) of
 * dense attention.
 *
 * Forward: the indexer's products; its scores of all keys, and the best of them; the core in the
 * latent, where one row of r_kv + d_r is key and value of all heads: the up-projection of keys is
 * applied to the queries before it and that of values to its output behind it (NVIDIA/Megatron-LM
 * absorbed_mla.py), as many FLOPs as before. The indexer learns from the probabilities of the core
 * summed over all heads, of the chosen keys (DeepSeek-V3.2, arXiv:2512.02556 section 2.1;
 * --dsa-indexer-use-sparse-loss): they are computed once more for it, and summed over tensor ranks.
 * Its input is cut off from the model: it gets no gradient. Backward the core computes its scores
 * again: five products, three of them r_kv + d_r wide and two r_kv.
 *
 * Scores are written in fp32, by as many queries as LOGITS_BYTES hold, and read twice by the choice
 * (a histogram of their leading bits, then those above the bound). Products of the indexer run in
 * 16 bits. A Hadamard rotation of its queries and keys is left out. */
#include <math.h>

#include "models/workload/transformer_piece.h"
#include "sim/check.h"

#define FP32_BYTES 4.0
#define INDEX_BYTES 4.0
#define CHOICE_PASSES 2.0
/* Of the loss: target and score read, gradient of the score written. */
#define LOSS_BYTES 12.0
/* vllm-project/vllm: VLLM_SPARSE_INDEXER_MAX_LOGITS_MB. */
#define LOGITS_BYTES (512.0 * 1048576.0)

/* Products of which each head has one of its own, in a single launch. */
static struct linear by_head(const struct rank_share *s, const char *const names[3], double inputs,
                             double outputs)
{
    return (struct linear){.forward_name = names[0],
                           .dgrad_name = names[1],
                           .wgrad_name = names[2],
                           .rows = s->tokens * s->attention.heads,
                           .inputs = inputs,
                           .outputs = outputs,
                           .wide = true,
                           .groups = s->attention.heads,
                           .batched = true};
}

static struct linear of_indexer(const struct rank_share *s, const char *forward, const char *wgrad,
                                double inputs, double outputs)
{
    return (struct linear){.forward_name = forward,
                           .dgrad_name = forward,
                           .wgrad_name = wgrad,
                           .rows = s->tokens,
                           .inputs = inputs,
                           .outputs = outputs,
                           .wide = true,
                           .groups = 1.0,
                           .detached = true};
}

static double query_input(const struct rank_share *s)
{
    return s->latent.q_rank > 0.0 ? s->latent.q_rank : s->hidden;
}

unsigned transformer_sparse_linears(const struct rank_share *s, enum piece piece,
                                    struct linear *out)
{
    static const char *const absorb[3] = {"absorb keys", "absorb keys dgrad", "absorb keys wgrad"};
    static const char *const value[3] = {"value up", "value up dgrad", "value up wgrad"};
    const double index = s->sparse.index_heads * s->sparse.index_size;
    if (piece == PIECE_INDEX) {
        out[0] = of_indexer(s, "index query", "index query wgrad", query_input(s), index);
        out[1] = of_indexer(s, "index key", "index key wgrad", s->hidden, s->sparse.index_size);
        out[2] =
            of_indexer(s, "index weights", "index weights wgrad", s->hidden, s->sparse.index_heads);
        return 3;
    }
    if (piece == PIECE_VALUE) {
        out[0] = by_head(s, value, s->latent.kv_rank, s->attention.value_size);
        return 1;
    }
    CHECK(piece == PIECE_QKV);
    out[0] = (struct linear){.forward_name = "query",
                             .dgrad_name = "query dgrad",
                             .wgrad_name = "query wgrad",
                             .rows = s->tokens,
                             .inputs = query_input(s),
                             .outputs = s->attention.query,
                             .column = true,
                             .groups = 1.0};
    out[1] = by_head(s, absorb, s->attention.head_size - s->latent.rope_size, s->latent.kv_rank);
    return 2;
}

/* Rows of keys on this rank while the core runs: of all context ranks. */
static double key_rows(const struct rank_share *s)
{
    return (double)(s->context->microbatch * s->context->sequence);
}

double transformer_sparse_choice_bytes(const struct rank_share *s)
{
    return s->tokens * s->sparse.room * INDEX_BYTES;
}

/* Queries, output and keys once, and the indices; backward those and the gradients, of keys in
 * fp32. */
static struct kernel core(const struct rank_share *s, bool backward)
{
    const double rank = s->latent.kv_rank, row = s->sparse.row, heads = s->attention.heads;
    const double element = s->element.core_bytes;
    const double queries = s->tokens * heads * ((row + rank) * element + FP32_BYTES);
    const double keys = key_rows(s) * row;
    const double widths = backward ? 3.0 * row + 2.0 * rank : row + rank;
    const double bytes = (backward ? 2.0 : 1.0) * queries + keys * element +
                         (backward ? 2.0 * keys * FP32_BYTES : 0.0);
    const struct sparse_shape shape = {.flops = 2.0 * widths * heads * s->tokens * s->sparse.chosen,
                                       .bytes = bytes + transformer_sparse_choice_bytes(s),
                                       .heads = heads,
                                       .backward = backward,
                                       .time_ratio = s->context->software->layer.sparse_time_ratio};
    return gpu_kernel_sparse(backward ? "sparse attention gradient" : "sparse attention",
                             s->context->precision->attention_peak, &shape);
}

/* The scores of the core once more, summed over heads; or the gradient of the indexer's scores,
 * which are computed again, and go to its queries and keys. */
static struct kernel learning(const struct rank_share *s, bool backward)
{
    const double heads = backward ? s->sparse.index_heads : s->attention.heads;
    const double width = backward ? 3.0 * s->sparse.index_size : s->sparse.row;
    const double operands =
        (s->tokens * heads + key_rows(s)) * (backward ? s->sparse.index_size : s->sparse.row);
    const struct sparse_shape shape = {.flops = 2.0 * width * heads * s->tokens * s->sparse.chosen,
                                       .bytes = operands * s->element.core_bytes +
                                                2.0 * transformer_sparse_choice_bytes(s),
                                       .heads = heads,
                                       .backward = backward,
                                       .time_ratio = s->context->software->layer.sparse_time_ratio};
    return gpu_kernel_sparse(backward ? "index score gradient" : "index target",
                             s->context->precision->attention_peak, &shape);
}

/* A product of each head, whose results are summed over the heads before they are written. */
static struct kernel scores(const struct rank_share *s)
{
    const double queries = s->tokens / (double)s->context->microbatch;
    const double batch = (double)s->context->microbatch * s->sparse.index_heads;
    struct kernel out =
        gpu_kernel_gemm("index scores", s->context->precision->attention_peak,
                        (struct gemm_shape){queries, s->sparse.scored, s->sparse.index_size, batch},
                        s->element.core_bytes);
    const double written = FP32_BYTES / s->sparse.index_heads;
    out.bytes += out.m * out.n * out.batch * (written - out.result_bytes);
    out.result_bytes = written;
    return out;
}

static struct kernel choice(const struct rank_share *s)
{
    const double read = s->tokens * s->sparse.scored * FP32_BYTES * CHOICE_PASSES;
    return gpu_kernel_memory("choose keys", read + transformer_sparse_choice_bytes(s), 1.0);
}

static struct kernel loss(const struct rank_share *s)
{
    return gpu_kernel_memory("index loss", s->tokens * s->sparse.chosen * LOSS_BYTES, 1.0);
}

/* Rotation of queries and key, and the norm of the key. */
static struct kernel rotation(const struct rank_share *s, bool backward)
{
    const struct software_block *b = &s->context->software->block;
    const double size = s->sparse.index_size, scale = s->element.core_bytes / HALF_BYTES;
    const double rope = backward ? b->rope_backward_bytes : b->rope_forward_bytes;
    const double norm = backward ? b->norm_backward_bytes : b->norm_forward_bytes;
    const double bytes = s->tokens * size * ((s->sparse.index_heads + 1.0) * rope + norm) * scale;
    return gpu_kernel_memory(backward ? "index rotation gradient" : "index rotation", bytes,
                             b->rope_launches + b->norm_launches);
}

void transformer_sparse_forward(const struct rank_share *s, enum piece piece, struct segment *out)
{
    if (piece == PIECE_INDEX)
        transformer_piece_forward(out, rotation(s, false));
    if (piece == PIECE_CHOOSE) {
        transformer_piece_forward(out, scores(s));
        transformer_piece_forward(out, choice(s));
    }
    if (piece == PIECE_CORE) {
        transformer_piece_forward(out, core(s, false));
        out->attention_core = true;
        out->core.kernels[out->core.count++] = core(s, false);
    }
    if (piece == PIECE_TARGET)
        transformer_piece_forward(out, learning(s, false));
    if (piece == PIECE_TARGET)
        transformer_piece_forward(out, loss(s));
}

void transformer_sparse_backward(const struct rank_share *s, enum piece piece, struct segment *out)
{
    if (piece == PIECE_INDEX)
        transformer_piece_dgrad(out, rotation(s, true));
    if (piece == PIECE_CORE)
        transformer_piece_dgrad(out, core(s, true));
    if (piece == PIECE_TARGET)
        transformer_piece_dgrad(out, learning(s, true));
}

static void keep_input(struct segment *out, const char *name, double bytes)
{
    transformer_piece_saved(out, name, bytes, false);
    out->saved.tensors[out->saved.count - 1].weights = true;
}

/* What a product that is repeated makes is there again. */
static void rebuilt(struct segment *out, bool repeated)
{
    out->saved.tensors[out->saved.count - 1].rebuilt = repeated;
}

static void keep_queries(const struct rank_share *s, bool repeated, struct segment *out)
{
    const double element = s->tokens * s->element.core_bytes;
    keep_input(out, "qkv input", s->input_tokens * query_input(s) * s->element.kept_bytes);
    transformer_piece_saved(out, "latent keys", element * s->sparse.row, false);
    keep_input(out, "query", element * s->attention.query);
    rebuilt(out, repeated);
    transformer_piece_saved(out, "absorbed query", element * s->attention.heads * s->sparse.row,
                            false);
    rebuilt(out, repeated);
}

/* The indexer reads what the products of the latents do; with sequence parallelism gathered, and
 * kept so (dsa.py: gather_from_sequence_parallel_region). */
static void keep_index(const struct rank_share *s, struct segment *out)
{
    const double heads = s->sparse.index_heads, size = s->sparse.index_size;
    const double element = s->tokens * s->element.core_bytes;
    if (s->gathers)
        keep_input(out, "indexer input", element * (s->hidden + query_input(s)));
    transformer_piece_saved(out, "index queries and keys", element * (heads * size + size + heads),
                            false);
}

void transformer_sparse_keep(const struct rank_share *s, enum piece piece, bool repeated,
                             struct segment *out)
{
    const double heads = s->tokens * s->attention.heads;
    if (piece == PIECE_INDEX)
        keep_index(s, out);
    if (piece == PIECE_QKV)
        keep_queries(s, repeated, out);
    if (piece == PIECE_CHOOSE)
        transformer_piece_saved(out, "chosen keys", transformer_sparse_choice_bytes(s), false);
    if (piece == PIECE_CORE)
        transformer_piece_saved(out, "log-sum-exp", heads * FP32_BYTES, true);
    if (piece == PIECE_VALUE)
        keep_input(out, "latent output", heads * s->latent.kv_rank * s->element.core_bytes);
}

double transformer_sparse_apart(const struct rank_share *s)
{
    return key_rows(s) * s->sparse.row * FP32_BYTES;
}

/* Rows of keys that came from other context ranks, with those of the indexer. */
static double gathered(const struct rank_share *s)
{
    const double width = s->sparse.row + s->sparse.index_size;
    return s->context->cp > 1 ? key_rows(s) * width * s->element.core_bytes : 0.0;
}

static double core_temporary(const struct rank_share *s, bool backward)
{
    const double gradients = s->tokens * s->attention.heads * (s->sparse.row + s->latent.kv_rank) *
                             s->element.core_bytes;
    return gathered(s) + (backward ? gradients + transformer_sparse_apart(s) : 0.0);
}

static double index_temporary(const struct rank_share *s)
{
    const double heads = s->sparse.index_heads, size = s->sparse.index_size;
    return s->tokens * (heads * size + size + heads) * FP32_BYTES;
}

static double queries_temporary(const struct rank_share *s, bool backward)
{
    const double widths =
        query_input(s) + s->attention.query + (s->attention.heads + 1.0) * s->sparse.row;
    return s->tokens * s->element.core_bytes *
           ((s->gathers ? query_input(s) : 0.0) + (backward ? widths : 0.0));
}

/* Backward: gradients of what a piece reads and wrote. */
double transformer_sparse_temporary(const struct rank_share *s, enum piece piece, bool backward)
{
    const double row = s->tokens * s->element.core_bytes, heads = s->attention.heads;
    const double index = backward ? index_temporary(s) : 0.0;
    if (piece == PIECE_INDEX)
        return index;
    if (piece == PIECE_QKV)
        return queries_temporary(s, backward);
    if (piece == PIECE_ROPE)
        return row * (heads + 1.0) * s->sparse.row;
    if (piece == PIECE_CHOOSE)
        return gathered(s) +
               (backward ? 0.0 : fmin(LOGITS_BYTES, s->tokens * s->sparse.scored * FP32_BYTES));
    if (piece == PIECE_CORE)
        return core_temporary(s, backward);
    if (piece == PIECE_TARGET)
        return gathered(s) + s->tokens * s->sparse.room * FP32_BYTES + index;
    CHECK(piece == PIECE_VALUE || piece == PIECE_RING);
    return backward ? row * heads * (s->latent.kv_rank + s->attention.value_size) : 0.0;
}
