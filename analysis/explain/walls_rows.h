/* walls_rows.h - THE list of numbers of the page of walls: one row each, of the report and of the
 * JSON document.
 *
 * X(key, part, unit, what, formula, envelope, simulated): the last three are expressions over
 * `e`, a const struct walls_envelope *, `s`, a const struct walls_simulated *, and `w`, a const
 * struct walls_words *; NAN: has no such number. `formula` says where the envelope's number comes
 * from, with adapters or without. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_WALLS_ROWS_H
#define ORRERY_ANALYSIS_EXPLAIN_WALLS_ROWS_H

#include "analysis/explain/walls_gather.h"

enum walls_part {
    WALLS_OF_MEMORY,
    WALLS_OF_COMPUTE,
    WALLS_OF_BUDGET,
    WALLS_OF_COMMUNICATION,
    WALLS_OF_INFERENCE,
    WALLS_PART_COUNT
};
extern const char *const walls_part_titles[WALLS_PART_COUNT];
enum walls_unit {
    WALLS_BYTES,
    WALLS_FLOP,
    WALLS_SECONDS,
    WALLS_SHARE,
    WALLS_CARDS,
    WALLS_GPU_YEARS,
    WALLS_MONTHS,
    WALLS_RATE
};
extern const char *const walls_unit_names[]; /* as in SI: "B", "FLOP", "s", "1", "", ... */

#define WALLS_ROWS(X)                                                                              \
    X(state, WALLS_OF_MEMORY, WALLS_BYTES, "state of the model",                                   \
      e->adapters                                                                                  \
          ? "bytes of a frozen weight x N + bytes a parameter x n of the adapters "                \
            "(arXiv:2106.09685, section 4.1; 16 of these for Adam in 16 bit)"                      \
          : "bytes a parameter x N (arXiv:1910.02054, section 3.1: 16 for Adam in 16 bit)",        \
      walls_state(e), s->state_bytes)                                                              \
    X(cards, WALLS_OF_MEMORY, WALLS_CARDS, "cards that hold it",                                   \
      "state / nominal memory of a card; simulated: the smallest legal cluster that trains",       \
      e->cards, s->cards)                                                                          \
    X(state_of_a_card, WALLS_OF_MEMORY, WALLS_BYTES, "of a card, sharded over all",                \
      "state / GPUs; simulated: of the fullest card, as its sharding has it",                      \
      walls_state(e) / e->gpus, s->card_state_bytes)                                               \
    X(peak_of_a_card, WALLS_OF_MEMORY, WALLS_BYTES, "reserved by the fullest card",                \
      "the ledger: state, activations, buffers, fragmentation", NAN, s->peak_reserved_bytes)       \
    X(activations, WALLS_OF_MEMORY, WALLS_BYTES, "activations of a sequence",                      \
      "34 s b h L, scores not kept (arXiv:2205.05198, eq. 2; arXiv:2205.14135)",                   \
      walls_kept_bytes(&e->shape), s->kept_bytes)                                                  \
    X(activations_recomputed, WALLS_OF_MEMORY, WALLS_BYTES, "  all recomputed",                    \
      "2 s b h L (arXiv:2205.05198, table 2); simulated: and what a layer works on",               \
      walls_recomputed_bytes(&e->shape), s->recomputed_bytes)                                      \
    X(activations_with_scores, WALLS_OF_MEMORY, WALLS_BYTES, "  scores kept too",                  \
      "s b h L (34 + 5 a s / h), no flash kernel (arXiv:2205.05198, eq. 2)",                       \
      walls_kept_with_scores_bytes(&e->shape), s->kept_with_scores_bytes)                          \
    X(activations_2048_with_scores, WALLS_OF_MEMORY, WALLS_BYTES, "  the same of 2,048 tokens",    \
      "that formula at the sequence length of the paper", walls_paper_kept(e), NAN)                \
    X(activations_2048_recomputed, WALLS_OF_MEMORY, WALLS_BYTES, "  those recomputed",             \
      "2 s b h L at 2,048 tokens", walls_paper_recomputed(e), NAN)                                 \
    X(sequence_flops, WALLS_OF_COMPUTE, WALLS_FLOP, "FLOPs of a sequence", w->sequence,            \
      walls_envelope_flops(e, e->shape.sequence), s->sequence_flops)                               \
    X(step_flops, WALLS_OF_COMPUTE, WALLS_FLOP, "FLOPs of a step", "the same for a global batch",  \
      walls_envelope_flops(e, e->step_tokens), s->step_flops)                                      \
    X(mfu, WALLS_OF_COMPUTE, WALLS_SHARE, "MFU", w->mfu, e->assumed.mfu_ratio, s->mfu_ratio)       \
    X(sequence_of_a_card, WALLS_OF_COMPUTE, WALLS_SECONDS, "a sequence on one card",               \
      "FLOPs / (peak x MFU)", walls_sequence_s(e), NAN)                                            \
    X(step, WALLS_OF_COMPUTE, WALLS_SECONDS, "time of a step", "FLOPs / (GPUs x peak x MFU)",      \
      walls_step_s(e), s->step_s)                                                                  \
    X(budget_flops, WALLS_OF_BUDGET, WALLS_FLOP, "FLOPs of the training",                          \
      e->adapters ? "(4 N + 6 n) x tokens" : "6 N x tokens",                                       \
      walls_envelope_flops(e, e->budget_tokens), s->budget_flops)                                  \
    X(gpu_years, WALLS_OF_BUDGET, WALLS_GPU_YEARS, "GPU-years",                                    \
      "FLOPs / (peak x MFU), years of 365.25 d; simulated: without failures",                      \
      walls_budget_s(e) * e->gpus / YEAR, s->gpu_s_of_budget / YEAR)                               \
    X(months, WALLS_OF_BUDGET, WALLS_MONTHS, "months on all GPUs",                                 \
      "GPU-years / GPUs, months of a twelfth of that year", walls_budget_s(e) / (YEAR / 12.0),     \
      s->budget_s / (YEAR / 12.0))                                                                 \
    X(all_reduce, WALLS_OF_COMMUNICATION, WALLS_BYTES, "gradients over a card's wire",             \
      e->adapters ? "2 (n - 1) / n x parameters of the adapters x bytes of a gradient: a ring "    \
                    "over all n GPUs"                                                              \
                  : "2 (n - 1) / n x N x bytes of a gradient: a ring over all GPUs",               \
      walls_reduced(e), NAN)                                                                       \
    X(bandwidth, WALLS_OF_COMMUNICATION, WALLS_RATE, "at",                                         \
      "stated (--bandwidth); simulated: what the all-reduce reaches",                              \
      e->assumed.bandwidth_bytes_per_s, walls_reduced(e) / s->all_reduce_s)                        \
    X(all_reduce_s, WALLS_OF_COMMUNICATION, WALLS_SECONDS, "all-reduce",                           \
      "bytes / bandwidth; simulated: alone on this cluster's wires", walls_all_reduce_s(e),        \
      s->all_reduce_s)                                                                             \
    X(all_reduce_share, WALLS_OF_COMMUNICATION, WALLS_SHARE, "  of the step",                      \
      "nothing hidden; simulated: what data parallelism leaves exposed",                           \
      walls_all_reduce_s(e) / walls_step_s(e), s->exposed_dp_s / s->step_s)                        \
    X(infer_weights, WALLS_OF_INFERENCE, WALLS_BYTES, "weights alone", "N x bytes of a weight",    \
      e->inference_bytes, NAN)                                                                     \
    X(infer_cards, WALLS_OF_INFERENCE, WALLS_CARDS, "cards that hold them",                        \
      "weights / nominal memory of a card", e->inference_cards, NAN)                               \
    X(cache_of_a_token, WALLS_OF_INFERENCE, WALLS_BYTES, "keys and values of a token",             \
      "2 x 2 B x heads of keys x their size x L; latent attention: 2 B x (latent + rotated key) "  \
      "x "                                                                                         \
      "L (arXiv:2405.04434, section 2.1)",                                                         \
      e->cache_token_bytes, NAN)                                                                   \
    X(cache_of_a_sequence, WALLS_OF_INFERENCE, WALLS_BYTES, "  of a sequence",                     \
      "x s, in layers with a window at most so many", e->cache_bytes, NAN)                         \
    X(infer_sequences, WALLS_OF_INFERENCE, WALLS_CARDS, "sequences beside the weights",            \
      "what those cards have left / that; cards beyond the heads of keys hold copies",             \
      walls_sequences_beside(e->inference_cards, e->usable_bytes, e->inference_bytes,              \
                             e->cache_bytes, e->cache_parts),                                      \
      NAN)

struct walls_row {
    enum walls_part part;
    enum walls_unit unit;
    const char *key, *what, *formula;
    double envelope, simulated; /* NAN: none */
};
enum {
#define X(key, part, unit, what, formula, envelope, simulated) WALLS_ROW_##key,
    WALLS_ROWS(X)
#undef X
    WALLS_ROW_COUNT
};
void walls_rows(const struct walls *walls, struct walls_row out[WALLS_ROW_COUNT]);

#endif
