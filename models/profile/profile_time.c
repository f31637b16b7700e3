/* profile_time.c - see profile_time.h.
 *
 * Invariants
 * 1. Points of one family stand together; a family knows its bounds on each coordinate.
 * 2. An answer is positive; without a neighbour in reach there is none. */
#include "models/profile/profile_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

/* In octaves, over the coordinates. Within INSIDE of a measured point and inside the bounds of its
 * family: interpolated. Leaving out one of the 676 rows of tests/validation/operators.csv at a
 * time, the error of those with a neighbour within two octaves is 3.3 % in the median (the model
 * alone, which was fitted to three quarters of them, 4.0), and no larger at two octaves than at
 * half of one. Four, the end of what is answered, is assumed: five rows lie there. */
#define INSIDE_OCTAVES 2.0
#define OUTSIDE_OCTAVES 4.0
#define BOUNDS_OCTAVES 0.5
#define SAME_OCTAVES 1e-9
/* Power of the distance by which a neighbour counts, and how many do: among 1 to 3 and 1 to 20 the
 * same rows tell no two apart that are near these. What a neighbour deviates from its family's
 * median counts for half at OWN_OCTAVES: the library's odd choices are those of one shape. Without
 * it these rows come out .1 % worse in the median; between .25 and 1 there is no difference. */
#define DISTANCE_POWER 2.0
#define OWN_OCTAVES 0.5
enum {
    NEIGHBOURS = 8,
    COORDINATES = 4
};
/* Measured times scatter; the peak is that of a data sheet at boost clock. */
#define BEYOND_PEAK 1.1
#define HALF_BYTES 2.0
#define BLOCK_SCALES "block-scales" /* names of products */
#define SPLIT_SUMS "split-sums"
#define FP32_BYTES 4.0 /* a kept result */

struct profile_neighbour {
    double distance; /* octaves */
    const struct measured_point *point;
};
struct profile_family {
    struct calibrate_point like;
    const struct measured_point *const *points; /* of the whole */
    unsigned first, count;
    double low[COORDINATES], high[COORDINATES];
    double log_ratio; /* median of measured over modelled time, on the card as it was given */
};
struct kernel_profile {
    const struct measured_point **points; /* by family */
    double (*at)[COORDINATES];            /* coordinates of each, in octaves */
    struct profile_family *families;
    unsigned family_count;
    struct calibrate_plan *asked; /* it knows no time, and lists what it is asked for; or NULL */
};

/* What a time depends on smoothly. Batches of attention and heads are blocks alike. */
static void coordinates(const struct calibrate_point *p, double out[COORDINATES])
{
    const double *s = p->size;
    double values[COORDINATES] = {1.0, 1.0, 1.0, 1.0};
    switch (p->kind) {
    case POINT_ATTENTION:
        memcpy(values, (double[]){s[0] * s[3], s[1], s[2], s[5]}, sizeof values);
        break;
    case POINT_COLLECTIVE:
        values[0] = s[1];
        values[1] = s[0];
        values[2] = fmax(s[2], 1.0);
        break;
    case POINT_GEMM:
    case POINT_GROUPED:
    case POINT_MEMORY:
    case POINT_COPY:
    case POINT_LAUNCH:
    case POINT_KIND_COUNT:
        for (unsigned i = 0; i < COORDINATES && i < point_axes(p->kind); i++)
            values[i] = s[i];
        break;
    }
    for (unsigned i = 0; i < COORDINATES; i++)
        out[i] = log2(values[i]);
}

static void name_point(struct calibrate_point *p, const char *name, const char *type)
{
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->type, sizeof p->type, "%s", type);
}

static const char *type_of(const struct kernel *k)
{
    static const char *const types[PEAK_COUNT] = {
        [PEAK_FP32] = "fp32", [PEAK_TF32] = "tf32", [PEAK_BF16] = "bf16",
        [PEAK_FP16] = "fp16", [PEAK_FP8] = "fp8",   [PEAK_FP4] = "fp4",
    };
    return types[k->peak];
}

static bool product_point(const struct kernel *k, struct calibrate_point *out)
{
    double element = point_type_bytes(type_of(k));
    *out = (struct calibrate_point){.kind = k->launches > 1.0 ? POINT_GROUPED : POINT_GEMM};
    name_point(out,
               k->block_scales ? "block-scales"
               : k->split_sums ? "split-sums"
                               : "-",
               type_of(k));
    out->accumulate = out->kind == POINT_GEMM && k->result_bytes > fmax(element, HALF_BYTES);
    memcpy(out->size, (double[]){k->m, k->n, k->k, k->batch}, 4 * sizeof *out->size);
    return true;
}

static bool attention_point(const struct kernel *k, struct calibrate_point *out)
{
    *out = (struct calibrate_point){
        .kind = POINT_ATTENTION, .causal = k->core.causal, .backward = k->core.backward};
    name_point(out, attention_kernel_names[k->core.kind], type_of(k));
    memcpy(out->size,
           (double[]){k->batch, k->core.query_tokens, k->core.key_tokens, k->core.heads,
                      k->core.kv_heads, k->core.head_size,
                      k->core.value_size > 0.0 ? k->core.value_size : k->core.head_size},
           sizeof out->size);
    return k->core.kind != ATTENTION_MATH;
}

/* Operators by the names of the kernels that the workload writes; others stream. */
static const char *operator_of(const char *name)
{
    static const struct {
        const char *part, *name;
    } known[] = {
        {"rope", "rope"},
        {"norm gradient", "norm-gradient"},
        {"gradient norm", "stream"},
        {"norm", "norm"},
        {"activation gradient", "activation-gradient"},
        {"activation", "activation"},
        {"residual", "add"},
        {"softmax", "softmax"},
        {"loss", "cross-entropy"},
        {"embedding", "embedding"},
        {"optimizer", "adam"},
        {"cast", "cast"},
    };
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(name, known[i].part) != NULL)
            return known[i].name;
    return "stream";
}

bool profile_time_point(const struct kernel *k, struct calibrate_point *out)
{
    switch (k->kind) {
    case KERNEL_GEMM:
        return product_point(k, out) && point_problem(out) == NULL;
    case KERNEL_ATTENTION:
        return attention_point(k, out) && point_problem(out) == NULL;
    case KERNEL_MEMORY:
        *out = (struct calibrate_point){.kind = POINT_MEMORY};
        name_point(out, operator_of(k->name), "bf16");
        out->size[0] = k->bytes;
        return point_problem(out) == NULL;
    case KERNEL_SCAN: /* no campaign measures them */
    case KERNEL_SPARSE:
        break;
    }
    return false;
}

/* A kernel like `like` of the size that was measured. */
static struct kernel kernel_at(const struct kernel *like, const struct calibrate_point *p)
{
    const double *s = p->size;
    struct kernel k = *like;
    if (p->kind == POINT_ATTENTION)
        return gpu_kernel_attention(like->name, like->peak,
                                    &(struct attention_shape){.kernel = like->core.kind,
                                                              .causal = p->causal,
                                                              .backward = p->backward,
                                                              .batch = s[0],
                                                              .query_tokens = s[1],
                                                              .key_tokens = s[2],
                                                              .heads = s[3],
                                                              .kv_heads = s[4],
                                                              .head_size = s[5],
                                                              .value_size = s[6]},
                                    like->element_bytes);
    if (p->kind == POINT_MEMORY)
        return gpu_kernel_memory(like->name, s[0], 1.0);
    k = gpu_kernel_gemm(like->name, like->peak, (struct gemm_shape){s[0], s[1], s[2], s[3]},
                        like->element_bytes);
    k.split_sums = like->split_sums;
    k.block_scales = like->block_scales;
    k.launches = p->kind == POINT_GROUPED ? s[3] : 1.0; /* one for each expert */
    if (p->accumulate)
        gpu_kernel_gemm_accumulate(&k, FP32_BYTES);
    return k;
}

static double modelled_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    struct kernel_source none = {0};
    return gpu_kernel_time(gpu, &none, kernel).s;
}

static enum peak_kind peak_of(const char *type)
{
    static const char *const names[PEAK_COUNT] = {
        [PEAK_FP32] = "fp32", [PEAK_TF32] = "tf32", [PEAK_BF16] = "bf16",
        [PEAK_FP16] = "fp16", [PEAK_FP8] = "fp8",   [PEAK_FP4] = "fp4",
    };
    for (unsigned i = 0; i < PEAK_COUNT; i++)
        if (strcmp(names[i], type) == 0)
            return (enum peak_kind)i;
    return PEAK_FP32;
}

/* A kernel of the family, of any size; false: the card has no such kernel. */
static bool like_of(const struct gpu_spec *gpu, const struct calibrate_point *p, struct kernel *out)
{
    double bytes = point_type_bytes(p->type);
    int which = 0;
    *out = (struct kernel){.name = "calibrated", .peak = peak_of(p->type), .element_bytes = bytes};
    out->split_sums = strcmp(p->name, SPLIT_SUMS) == 0;
    out->block_scales = strcmp(p->name, BLOCK_SCALES) == 0;
    if (p->kind == POINT_GEMM || p->kind == POINT_GROUPED)
        return gpu->peak_flops_per_s[out->peak] > 0.0;
    if (p->kind != POINT_ATTENTION)
        return p->kind == POINT_MEMORY;
    while (attention_kernel_names[which] && strcmp(attention_kernel_names[which], p->name) != 0)
        which++;
    out->core.kind = (enum attention_kernel)which;
    return attention_kernel_names[which] != NULL && which != ATTENTION_MATH &&
           gpu_has_attention(gpu, out->core.kind, out->peak);
}

double profile_time_modelled_s(const struct gpu_spec *gpu, const struct calibrate_point *point)
{
    struct kernel like;
    if (!like_of(gpu, point, &like))
        return 0.0;
    struct kernel kernel = kernel_at(&like, point);
    return modelled_s(gpu, &kernel);
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void find_median(struct kernel_profile *p, struct profile_family *family,
                        const struct gpu_spec *gpu, double *ratios)
{
    struct kernel like;
    if (!like_of(gpu, &family->like, &like))
        return;
    for (unsigned i = 0; i < family->count; i++) {
        const struct measured_point *point = p->points[family->first + i];
        struct kernel kernel = kernel_at(&like, &point->point);
        ratios[i] = log(point->measurement.median_s / modelled_s(gpu, &kernel));
    }
    qsort(ratios, family->count, sizeof *ratios, rising);
    family->log_ratio = 0.5 * (ratios[(family->count - 1) / 2] + ratios[family->count / 2]);
}

static void add_to_family(struct kernel_profile *p, struct profile_family *family, unsigned index)
{
    const double *at = p->at[index];
    for (unsigned i = 0; i < COORDINATES; i++) {
        family->low[i] = family->count == 0 ? at[i] : fmin(family->low[i], at[i]);
        family->high[i] = family->count == 0 ? at[i] : fmax(family->high[i], at[i]);
    }
    family->count++;
    CHECK(family->first + family->count == index + 1); /* 1 */
}

const struct kernel_profile *profile_time_open(struct arena *arena,
                                               const struct measured_profile *profile,
                                               const struct gpu_spec *gpu)
{
    struct kernel_profile *p = ARENA_NEW(arena, struct kernel_profile);
    double *ratios = ARENA_ARRAY(arena, double, profile->count);
    bool *taken = ARENA_ARRAY(arena, bool, profile->count);
    unsigned count = 0;
    p->points = ARENA_ARRAY(arena, const struct measured_point *, profile->count);
    p->at = arena_alloc(arena, sizeof *p->at * profile->count, _Alignof(double));
    p->families = ARENA_ARRAY(arena, struct profile_family, profile->count);
    for (unsigned i = 0; i < profile->count; i++) {
        if (taken[i])
            continue;
        struct profile_family *family = &p->families[p->family_count++];
        *family = (struct profile_family){.like = profile->points[i].point, .first = count};
        for (unsigned k = i; k < profile->count; k++) {
            if (taken[k] || !point_alike(&family->like, &profile->points[k].point))
                continue;
            taken[k] = true;
            p->points[count] = &profile->points[k];
            coordinates(&profile->points[k].point, p->at[count]);
            add_to_family(p, family, count++);
        }
        find_median(p, family, gpu, ratios);
    }
    return p;
}

const struct kernel_profile *profile_time_ask(struct arena *arena, struct calibrate_plan *plan)
{
    struct kernel_profile *p = ARENA_NEW(arena, struct kernel_profile);
    p->asked = plan;
    return p;
}

static const struct profile_family *find_family(const struct kernel_profile *p,
                                                const struct calibrate_point *like)
{
    for (unsigned i = 0; i < p->family_count; i++)
        if (point_alike(&p->families[i].like, like))
            return &p->families[i];
    return NULL;
}

static double octaves(const double a[COORDINATES], const double b[COORDINATES])
{
    double sum = 0.0;
    for (unsigned i = 0; i < COORDINATES; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* The nearest points of a family, nearest first; of two as near the earlier one. */
static unsigned nearest(const struct kernel_profile *p, const struct profile_family *family,
                        const double at[COORDINATES], struct profile_neighbour out[NEIGHBOURS])
{
    unsigned count = 0;
    for (unsigned i = family->first; i < family->first + family->count; i++) {
        struct profile_neighbour row = {octaves(at, p->at[i]), p->points[i]};
        unsigned place = count;
        while (place > 0 && out[place - 1].distance > row.distance)
            place--;
        if (place == NEIGHBOURS)
            continue;
        count += count < NEIGHBOURS;
        memmove(&out[place + 1], &out[place], sizeof *out * (count - 1 - place));
        out[place] = row;
    }
    return count;
}

static bool is_inside(const struct profile_family *family, const double at[COORDINATES])
{
    for (unsigned i = 0; i < COORDINATES; i++)
        if (at[i] < family->low[i] - BOUNDS_OCTAVES || at[i] > family->high[i] + BOUNDS_OCTAVES)
            return false;
    return true;
}

/* Modelled time x the geometric mean of measured over modelled times: the family's, and what the
 * neighbours deviate from it by their weights. */
static double scaled_s(const struct gpu_spec *gpu, const struct kernel *kernel,
                       const struct profile_family *family,
                       const struct profile_neighbour *neighbours, unsigned count)
{
    double sum = 0.0, weights = pow(OWN_OCTAVES, -DISTANCE_POWER);
    for (unsigned i = 0; i < count; i++) {
        const struct measured_point *point = neighbours[i].point;
        struct kernel there = kernel_at(kernel, &point->point);
        double weight = pow(fmax(neighbours[i].distance, SAME_OCTAVES), -DISTANCE_POWER);
        double log_ratio = log(point->measurement.median_s / modelled_s(gpu, &there));
        sum += weight * (log_ratio - family->log_ratio);
        weights += weight;
    }
    return modelled_s(gpu, kernel) * exp(family->log_ratio + sum / weights);
}

/* Is it the measured launch and nothing else? */
static bool is_exact(const struct kernel *kernel, double distance)
{
    bool one = kernel->kind != KERNEL_MEMORY || kernel->launches == 1.0;
    return distance <= SAME_OCTAVES && one && kernel->taken_sms == 0.0;
}

static bool by_family(const struct kernel_profile *p, const struct calibrate_point *point,
                      const struct gpu_spec *gpu, const struct kernel *kernel,
                      struct kernel_time *out)
{
    const struct profile_family *family = find_family(p, point);
    struct profile_neighbour neighbours[NEIGHBOURS];
    double at[COORDINATES];
    if (family == NULL)
        return false;
    coordinates(point, at);
    unsigned count = nearest(p, family, at, neighbours);
    double distance = neighbours[0].distance;
    if (distance > OUTSIDE_OCTAVES)
        return false;
    struct calibrate_point own;
    bool exact = is_exact(kernel, distance) && profile_time_point(kernel, &own) &&
                 point_same(&neighbours[0].point->point, &own);
    if (exact) {
        *out = (struct kernel_time){neighbours[0].point->measurement.median_s, KERNEL_MEASURED, 0};
        return true;
    }
    bool inside = distance <= INSIDE_OCTAVES && is_inside(family, at);
    out->s = scaled_s(gpu, kernel, family, neighbours, count);
    out->evidence = inside ? KERNEL_INTERPOLATED : KERNEL_EXTRAPOLATED;
    CHECK(out->s > 0.0); /* 2 */
    return true;
}

/* Families whose ratio of measured to modelled time is likely near: the other 16-bit format, a
 * product that does not add into its result, a plain stream. */
static bool next_family(struct calibrate_point *point, unsigned attempt)
{
    bool half = strcmp(point->type, "bf16") == 0 || strcmp(point->type, "fp16") == 0;
    switch (attempt) {
    case 0:
        if (point->kind != POINT_GEMM || !point->accumulate)
            return next_family(point, 1);
        point->accumulate = false;
        return true;
    case 1:
        if (point->kind == POINT_MEMORY) {
            name_point(point, "stream", "bf16");
            return true;
        }
        if (!half)
            return false;
        snprintf(point->type, sizeof point->type, "%s", point->type[0] == 'b' ? "fp16" : "bf16");
        return true;
    default:
        return false;
    }
}

bool profile_time_lookup(const struct kernel_profile *profile, const struct gpu_spec *gpu,
                         const struct kernel *kernel, struct kernel_time *out)
{
    struct calibrate_point point;
    if (!profile_time_point(kernel, &point))
        return false;
    if (profile->asked != NULL) {
        out->shape = plan_add(profile->asked, &point, 0.0) + 1;
        return false;
    }
    if (by_family(profile, &point, gpu, kernel, out))
        return true;
    for (unsigned attempt = 0; attempt < 2 && next_family(&point, attempt); attempt++) {
        if (by_family(profile, &point, gpu, kernel, out)) {
            out->evidence = KERNEL_EXTRAPOLATED;
            return true;
        }
    }
    return false;
}

const char *profile_time_impossible(struct arena *arena, const struct measured_profile *profile,
                                    const struct gpu_spec *gpu)
{
    for (unsigned i = 0; i < profile->count; i++) {
        const struct measured_point *m = &profile->points[i];
        double peak = gpu->peak_flops_per_s[peak_of(m->point.type)];
        double rate = point_flops(&m->point) / m->measurement.median_s;
        char line[POINT_LINE_BYTES];
        if (peak <= 0.0 || rate <= BEYOND_PEAK * peak)
            continue;
        point_print(&m->point, line);
        return arena_format(arena,
                            "'%s' would run at %.3g FLOP/s, and the peak of %s is %.3g: it is of "
                            "another card, or its times are not in seconds",
                            line, rate, gpu->name, peak);
    }
    return NULL;
}
