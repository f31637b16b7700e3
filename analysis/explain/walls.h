/* walls.h - the walls of a training job, as they are worked out on an envelope: bytes of state and
 * of activations, FLOPs and seconds, traffic of the gradients, the roofline of a kernel.
 *
 * Small pure functions, in SI, each with its formula and source. They know no layout, no overlap
 * and no engine: what the engine finds stands beside them (walls_gather.h). Symbols: N parameters,
 * L layers, h hidden, a heads, s tokens of a sequence, b sequences, n ranks. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_WALLS_H
#define ORRERY_ANALYSIS_EXPLAIN_WALLS_H

struct walls_shape {
    double sequence, sequences; /* s, b */
    double layers, hidden, heads;
};

/* s b h L (34 + 5 a s / h) bytes: all that a layer keeps in 16 bit for its backward pass, the
 * scores of attention in. Korthikanti et al., arXiv:2205.05198, equation 2: GELU, dropout, as many
 * heads of keys as of queries. */
double walls_kept_with_scores_bytes(const struct walls_shape *shape);
/* 34 s b h L bytes: the same with a flash kernel, which keeps no scores (arXiv:2205.14135). */
double walls_kept_bytes(const struct walls_shape *shape);
/* 2 s b h L bytes: full recomputation keeps the input of each layer (arXiv:2205.05198, table 2). */
double walls_recomputed_bytes(const struct walls_shape *shape);

/* Sequences whose keys and values fit beside the weights, which are split over so many cards. Each
 * card holds a part of a cache, but no part is less than one of `parts`: heads of keys, or 1 where
 * all need the whole (latent attention). 0 where the weights leave nothing. */
double walls_sequences_beside(double cards, double usable_bytes, double weights_bytes,
                              double cache_bytes, double parts);

/* 6 N FLOPs a token: two of a product forward, four backward, scores left out (Kaplan et al.,
 * arXiv:2001.08361, section 2.1). */
double walls_flops(double parameters, double tokens);
/* (4 N + 6 n) FLOPs a token with n parameters in adapters beside N frozen weights, which have no
 * gradients of their own (Hu et al., arXiv:2106.09685, section 4.1). */
double walls_adapter_flops(double parameters, double adapters, double tokens);
/* On so many cards at this share of their dense peak. */
double walls_compute_s(double flops, double gpus, double peak_flops_per_s, double mfu_ratio);

/* 2 (n - 1) / n times the buffer: what each of n ranks sends, and receives, in a ring all-reduce
 * (Patarasuk and Yuan, J. Parallel Distrib. Comput. 69, 2009, section 3). 0 for one rank. */
double walls_all_reduce_bytes(double buffer_bytes, double ranks);

/* FLOPs for each byte of HBM above which a kernel is bound by arithmetic, and the least time of a
 * kernel: the roofline (Williams, Waterman and Patterson, CACM 52(4), 2009). */
double walls_balance(double peak_flops_per_s, double hbm_bytes_per_s);
double walls_roofline_s(double flops, double bytes, double peak_flops_per_s,
                        double hbm_bytes_per_s);

/* What stops the job first, on the envelope. */
enum walls_wall {
    WALL_STATE,         /* the state does not fit on all cards together */
    WALL_ACTIVATIONS,   /* the state does, but one sequence a card beside it does not */
    WALL_COMMUNICATION, /* the gradients are longer on the wire than the step computes */
    WALL_COMPUTE,       /* nothing else: arithmetic */
    WALL_COUNT
};
extern const char *const walls_wall_names[WALL_COUNT];
extern const char *const walls_wall_moves[WALL_COUNT]; /* what moves it, in words */
struct walls_load {
    double state_bytes, least_activation_bytes; /* of all cards; of one card */
    double gpus, usable_bytes;                  /* cards; of one card */
    double compute_s, all_reduce_s;             /* of a step */
};
/* The first of those above that is reached, in that order: what does not fit has no speed. State is
 * taken to be sharded over all cards, activations to be recomputed: the least that they can be
 * without tensor parallelism. */
enum walls_wall walls_binding(const struct walls_load *load);

#endif
