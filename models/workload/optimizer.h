/* optimizer.h - what an optimizer keeps for each parameter, and what its update moves.
 *
 * Rows: adam, adamw, adam8bit, sgd, momentum, adafactor, muon. `moments` lists the state tensors in
 * the order in which they are allocated, by the names the frameworks give them (exp_avg,
 * exp_avg_sq). A scenario may keep moments and master copy in other formats; optimizer_state says
 * what comes of it. docs/models/states.md. */
#ifndef ORRERY_MODELS_WORKLOAD_OPTIMIZER_H
#define ORRERY_MODELS_WORKLOAD_OPTIMIZER_H

#include "models/gpu/precision.h"

enum {
    MOMENT_MAX = 2
};
/* How many elements a moment has of a block of parameters (optimizer_extent_ratio). */
enum moment_extent {
    EXTENT_ALL,
    EXTENT_FACTORED, /* a row and a column for each weight matrix; vectors whole */
    EXTENT_VECTORS   /* all but the weight matrices of layers */
};
struct moment {
    const char *name; /* "exp_avg" */
    double bytes;     /* of an element */
    enum moment_extent extent;
};
struct optimizer {
    struct kind head;
    unsigned moment_count;
    struct moment moments[MOMENT_MAX];
    double master_bytes; /* of the master copy, when the precision keeps one */
    /* HBM bytes for each parameter of the local shard that a fused update moves beside its state,
     * which is read and written once, the gradient that is read and the weight that is written. */
    double more_traffic_bytes;
    bool fixed_formats; /* its moments have no other format */
    /* Weight matrices of layers are stepped along an orthogonal matrix near their momentum, by so
     * many Newton-Schulz steps (optimizer_orthogonal_flops); 0: none. */
    unsigned orthogonal_steps;
};
extern const struct optimizer optimizers[];
extern const unsigned optimizer_count;
kind_at_fn optimizer_at;
const struct optimizer *optimizer_find(const char *name); /* or NULL */

/* As scenarios say them, for the master copy and each moment. */
enum state_format {
    STATE_AUTO, /* the optimizer's own */
    STATE_FP32,
    STATE_BF16,
    STATE_FP16,
    STATE_FP8,
    STATE_NONE
};
extern const char *const master_format_names[], *const moment_format_names[]; /* NULL-ended */
/* Choices of those lists, as indices. */
struct state_formats {
    int master, moments[MOMENT_MAX];
};
enum state_format optimizer_master_format(const struct state_formats *formats);
enum state_format optimizer_moment_format(const struct state_formats *formats, unsigned moment);

/* No master copy, and the first so many moments in that format, which those lists have. */
struct state_formats optimizer_states_as(enum state_format format, unsigned moments);

/* What is kept, in bytes of an element. */
struct optimizer_state {
    double master_bytes; /* 0: no copy */
    unsigned moment_count;
    double moment_bytes[MOMENT_MAX];
};
struct optimizer_state optimizer_state(const struct optimizer *optimizer,
                                       const struct precision *precision,
                                       const struct state_formats *formats);
/* Master copy and moments for each parameter of a model, most of which are in matrices of 4,096
 * rows and columns: for rules of thumb, which know no shapes. */
double optimizer_nominal_bytes(const struct optimizer *optimizer,
                               const struct optimizer_state *state);

/* A block of parameters as one rank holds it. */
struct state_shape {
    double parameters;
    double matrices; /* of them, in weight matrices of layers */
    double sides;    /* rows and columns of all its matrices, the embedding's too */
    double sided;    /* parameters of those matrices */
};
/* Elements of a moment for each parameter of the block. */
double optimizer_extent_ratio(enum moment_extent extent, const struct state_shape *shape);
/* Of a matrix, all steps: 5 (4 m^2 n + 2 m^3) for five of them, m the shorter side. */
double optimizer_orthogonal_flops(unsigned steps, double rows, double columns);

#endif
