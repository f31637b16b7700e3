/* point.h - one thing that a calibration measures: a kernel, a copy, a launch or a collective, with
 * everything that its time depends on.
 *
 * A point has a kind, a name inside the kind (the operator of a memory-bound kernel, the library of
 * an attention, the operation of a collective), a number format, three flags and up to POINT_AXES
 * sizes, whose names, by kind, stand in point_kinds. As text it is one line:
 *
 *     gemm - bf16 accumulate m=8192 n=8192 k=4096 batch=1
 *     attention cudnn bf16 causal,backward batch=1 query_tokens=8192 ...
 *
 * which point_print writes and point_parse reads: the list of shapes of a scenario is such lines,
 * each behind its weight. Sizes are counts; bytes are those that the model counts for the kernel.
 * Plain data, also for C++; it knows no card and no model. */
#ifndef ORRERY_MODELS_PROFILE_POINT_H
#define ORRERY_MODELS_PROFILE_POINT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum calibrate_kind {
    POINT_GEMM,       /* batch products of m x k by k x n, strided in one launch */
    POINT_GROUPED,    /* batch products of m x k by k x n, of as many experts */
    POINT_ATTENTION,  /* fused */
    POINT_MEMORY,     /* an operator that streams */
    POINT_COPY,       /* over PCIe or between cards */
    POINT_LAUNCH,     /* empty kernels in a row */
    POINT_COLLECTIVE, /* full buffer, as nccl-tests counts; nodes 0: all ranks in one */
    POINT_KIND_COUNT
};
enum {
    POINT_AXES = 7,
    POINT_NAME_BYTES = 24,
    POINT_TYPE_BYTES = 8,
    POINT_LINE_BYTES = 256
};
struct calibrate_point {
    enum calibrate_kind kind;
    char name[POINT_NAME_BYTES]; /* "-": the kind has no names */
    char type[POINT_TYPE_BYTES]; /* bf16, fp16, fp8, tf32, fp32 */
    bool causal, backward;       /* attention */
    bool accumulate;             /* gemm: adds into a kept fp32 result */
    double size[POINT_AXES];     /* by axis; 0 past the last */
};
struct point_kind {
    const char *name;
    const char *axes[POINT_AXES]; /* NULL past the last */
};
extern const struct point_kind point_kinds[POINT_KIND_COUNT];
/* Names of memory points: operators that a transformer streams through, NULL-ended. "stream" is a
 * plain copy inside the card. */
extern const char *const point_operators[];

unsigned point_axes(enum calibrate_kind kind);
/* The size of a point on the axis of that name; 0: it has none such. */
double point_size(const struct calibrate_point *point, const char *axis);
/* FLOPs that it does (attention: done, half under a mask) and bytes that its operands and results
 * take; 0 where that has no meaning. */
double point_flops(const struct calibrate_point *point);
double point_bytes(const struct calibrate_point *point);
double point_type_bytes(const char *type); /* of an element; 0: no such format */
/* Do both stand for the same measurement? And with any sizes: are they of one family, between whose
 * members times can be interpolated? */
bool point_same(const struct calibrate_point *a, const struct calibrate_point *b);
bool point_alike(const struct calibrate_point *a, const struct calibrate_point *b);
/* NULL, or one sentence that says what is wrong with it. */
const char *point_problem(const struct calibrate_point *point);
void point_print(const struct calibrate_point *point, char out[POINT_LINE_BYTES]);
/* Reads one line; false with a sentence. Every size of the kind must be there, once. */
bool point_parse(const char *line, struct calibrate_point *out, struct error *error);

#ifdef __cplusplus
}
#endif

#endif
