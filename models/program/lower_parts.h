/* lower_parts.h - one stage while it is lowered: its parts, and the functions of the files that
 * compose them.
 *
 * A part is a struct with a header and a file of its own, which alone writes it and never sees the
 * whole; it may use parts that stand to the left of it here:
 *
 *     labels  units <- tensors <- late, ops <- traffic, runs
 *
 * (the rows of units and groups are written by whoever moves a gradient or gathers weights, which
<<<<<<< HEAD
 * are lower_data.c and lower_memory.c). lower.c walks the passes of a stage and writes units;
 * lower_data.c decides when data is sent, lower_update.c what the optimizer does, lower_memory.c
 * what is allocated when. They alone include this. */
=======
 * are lower_data.c and lower_memory.c). lower.c writes the passes of a stage, lower_walk.c the units
 * of a pass and lower_pair.c those of two that take turns; lower_data.c decides when data is sent,
 * lower_memory.c what is allocated when. They alone include this. */
>>>>>>> aa68c09 (Pairs of dualpipe hide exchanges behind each other's products)
#ifndef ORRERY_MODELS_PROGRAM_LOWER_PARTS_H
#define ORRERY_MODELS_PROGRAM_LOWER_PARTS_H

#include "models/program/lower_late.h"
#include "models/program/lower_pair.h"
#include "models/program/lower_runs.h"
#include "models/program/lower_traffic.h"

struct stage {
    struct lowering *l;
    struct program_writer *w;
    uint32_t stage;
    struct pipeline pipeline;
    struct labels labels;
    struct units units;
    struct tensors tensors;
    struct late late;
    struct ops ops;
    struct data_traffic traffic;
    struct runs runs;
};

/* lower_memory.c */
void lower_memory_setup(struct stage *s);
/* What lower_memory_setup takes, and what the first step leaves for good, but for the buffers of
 * communicators. */
double lower_memory_state_bytes(const struct stage *s);
/* What a unit keeps of one microbatch from its forward to its backward. */
double lower_memory_kept_bytes(const struct lowered_unit *unit);
void lower_memory_piece(struct stage *s, const struct lowered_piece *piece,
                        const struct lowered_unit *unit);
void lower_memory_unit_gradient(struct stage *s, struct lowered_unit *unit);
void lower_memory_gather(struct stage *s, struct group_of_units *group);
void lower_memory_arriving(struct stage *s, struct group_of_units *group);
void lower_memory_arrived(struct stage *s, struct group_of_units *group);
void lower_memory_drop(struct stage *s, struct group_of_units *group);
void lower_memory_scratch(struct stage *s, struct group_of_units *group);
/* The group's gradients have left; its flat copy stays until the next call when `overlaps`. */
void lower_memory_scattered(struct stage *s, struct group_of_units *group, bool overlaps);
void lower_memory_update(struct stage *s);
/* lower_update.c */
void lower_update_orthogonal(struct stage *s); /* the steps of weights that are matrices */
void lower_update(struct stage *s, double elements);
/* lower_data.c */
void lower_data_begin(struct stage *s);
/* Is nothing issued and nothing waited for among the units of this pass? */
bool lower_data_quiet(const struct stage *s, const struct pass *pass);
void lower_data_quiet_begin(struct stage *s); /* ... and it begins */
void lower_data_unit_begin(struct stage *s, const struct pass *pass, uint32_t unit);
void lower_data_unit_gradient(struct stage *s, uint32_t unit); /* its backward ops are written */
void lower_data_unit_end(struct stage *s, const struct pass *pass, uint32_t unit);
void lower_data_pass_end(struct stage *s,
                         const struct pass *pass); /* its output has been handed on */
void lower_data_step_end(struct stage *s);

#endif
