/* optimizer.c - the table of optimizers.
 *
 * State: Adam keeps two fp32 moments (Kingma and Ba, arXiv:1412.6980, algorithm 1), AdamW the same
 * (Loshchilov and Hutter, arXiv:1711.05101); 8-bit Adam one byte each and an fp32 constant for each
 * block of 256 (Dettmers et al., arXiv:2110.02861; bitsandbytes-foundation/bitsandbytes
 * bitsandbytes/optim/optimizer.py); momentum one fp32 buffer; Adafactor fp32 sums of squares by row
 * and by column (Shazeer and Stern, arXiv:1804.04235, section 3). Muon keeps a momentum of weight
 * matrices and AdamW's two moments of all else (KellerJordan/Muon; Liu et al., arXiv:2502.16982).
 * Names are those of torch.optim, bitsandbytes, transformers and KellerJordan/Muon.
 * Traffic: each state tensor and the master copy are read once and written once; Adafactor reads
 * the gradient a second time, after its sums. FLOPs: additions, products, roots and quotients of
 * the update rule, one each. */
#include "models/workload/optimizer.h"

#include <math.h>
#include <stddef.h>

#include "sim/check.h"

#define MASTER_BYTES 4.0
#define BLOCK_BYTES (1.0 + 4.0 / 256.0) /* of an element quantised by block */
#define NOMINAL_SIDE 4096.0

const struct optimizer optimizers[] = {
    {.head = {.name = "adam", .doc = "Adam, two fp32 moments"},
     .moment_count = 2,
     .moments = {{"exp_avg", 4.0, EXTENT_ALL}, {"exp_avg_sq", 4.0, EXTENT_ALL}},
     .master_bytes = MASTER_BYTES},
    {.head = {.name = "adamw", .doc = "Adam with decoupled weight decay, two fp32 moments"},
     .moment_count = 2,
     .moments = {{"exp_avg", 4.0, EXTENT_ALL}, {"exp_avg_sq", 4.0, EXTENT_ALL}},
     .master_bytes = MASTER_BYTES},
    {.head = {.name = "adam8bit",
              .doc = "Adam with moments quantised to 8 bits by blocks of 256, 2.03 bytes"},
     .moment_count = 2,
     .moments = {{"state1", BLOCK_BYTES, EXTENT_ALL}, {"state2", BLOCK_BYTES, EXTENT_ALL}},
     .master_bytes = MASTER_BYTES,
     .fixed_formats = true},
    {.head = {.name = "sgd", .doc = "stochastic gradient descent, no state"},
     .master_bytes = MASTER_BYTES},
    {.head = {.name = "momentum",
              .doc = "stochastic gradient descent with an fp32 momentum buffer"},
     .moment_count = 1,
     .moments = {{"momentum_buffer", 4.0, EXTENT_ALL}},
     .master_bytes = MASTER_BYTES},
    {.head = {.name = "adafactor",
              .doc = "second moments factored by rows and columns, no first moment"},
     .moment_count = 1,
     .moments = {{"exp_avg_sq_row_col", 4.0, EXTENT_FACTORED}},
     .master_bytes = MASTER_BYTES,
     .more_traffic_bytes = 4.0,
     .fixed_formats = true},
    {.head = {.name = "muon",
              .doc = "orthogonalised momentum for weight matrices of layers, AdamW for all else"},
     .moment_count = 2,
     .moments = {{"momentum_buffer", 4.0, EXTENT_ALL}, {"exp_avg_sq", 4.0, EXTENT_VECTORS}},
     .master_bytes = MASTER_BYTES,
     .orthogonal_steps = 5},
};
const unsigned optimizer_count = sizeof optimizers / sizeof optimizers[0];

const struct kind *optimizer_at(unsigned index)
{
    return index < optimizer_count ? &optimizers[index].head : NULL;
}

const struct optimizer *optimizer_find(const char *name)
{
    return (const struct optimizer *)kind_find(optimizer_at, name);
}

/* In step with the names. */
static const enum state_format masters[] = {STATE_AUTO, STATE_FP32, STATE_BF16, STATE_FP16,
                                            STATE_NONE};
static const enum state_format formats_of_moments[] = {STATE_AUTO, STATE_FP32, STATE_BF16,
                                                       STATE_FP16, STATE_FP8};
const char *const master_format_names[] = {"auto", "fp32", "bf16", "fp16", "none", NULL};
const char *const moment_format_names[] = {"auto", "fp32", "bf16", "fp16", "fp8", NULL};

enum state_format optimizer_master_format(const struct state_formats *formats)
{
    CHECK(formats->master >= 0 && formats->master < (int)(sizeof masters / sizeof *masters));
    return masters[formats->master];
}

enum state_format optimizer_moment_format(const struct state_formats *formats, unsigned moment)
{
    const int choice = formats->moments[moment];
    CHECK(choice >= 0 && choice < (int)(sizeof formats_of_moments / sizeof *formats_of_moments));
    return formats_of_moments[choice];
}

static int index_of(const enum state_format *formats, int count, enum state_format wanted)
{
    int i = 0;
    while (i < count && formats[i] != wanted)
        i++;
    CHECK(i < count);
    return i;
}

struct state_formats optimizer_states_as(enum state_format format, unsigned moments)
{
    struct state_formats out = {
        .master = index_of(masters, (int)(sizeof masters / sizeof *masters), STATE_NONE)};
    CHECK(moments <= MOMENT_MAX);
    for (unsigned i = 0; i < moments; i++)
        out.moments[i] =
            index_of(formats_of_moments,
                     (int)(sizeof formats_of_moments / sizeof *formats_of_moments), format);
    return out;
}

static double format_bytes(enum state_format format, double own_bytes)
{
    static const double bytes[] = {[STATE_FP32] = 4.0,
                                   [STATE_BF16] = 2.0,
                                   [STATE_FP16] = 2.0,
                                   [STATE_FP8] = 1.0,
                                   [STATE_NONE] = 0.0};
    return format == STATE_AUTO ? own_bytes : bytes[format];
}

struct optimizer_state optimizer_state(const struct optimizer *optimizer,
                                       const struct precision *precision,
                                       const struct state_formats *formats)
{
    struct optimizer_state out = {.moment_count = optimizer->moment_count};
    if (precision->master_weights)
        out.master_bytes = format_bytes(optimizer_master_format(formats), optimizer->master_bytes);
    for (unsigned i = 0; i < optimizer->moment_count; i++) {
        const enum state_format format =
            optimizer->fixed_formats ? STATE_AUTO : optimizer_moment_format(formats, i);
        out.moment_bytes[i] = format_bytes(format, optimizer->moments[i].bytes);
    }
    return out;
}

double optimizer_nominal_bytes(const struct optimizer *optimizer,
                               const struct optimizer_state *state)
{
    const double matrix = NOMINAL_SIDE * NOMINAL_SIDE;
    const struct state_shape shape = {matrix, matrix, 2.0 * NOMINAL_SIDE, matrix};
    double bytes = state->master_bytes;
    for (unsigned i = 0; i < state->moment_count; i++)
        bytes +=
            state->moment_bytes[i] * optimizer_extent_ratio(optimizer->moments[i].extent, &shape);
    return bytes;
}

double optimizer_extent_ratio(enum moment_extent extent, const struct state_shape *shape)
{
    CHECK(shape->parameters >= shape->sided && shape->parameters >= shape->matrices);
    if (extent == EXTENT_ALL || !(shape->parameters > 0.0))
        return 1.0;
    const double elements = extent == EXTENT_VECTORS
                                ? shape->parameters - shape->matrices
                                : shape->parameters - shape->sided + shape->sides;
    return elements / shape->parameters;
}

double optimizer_orthogonal_flops(unsigned steps, double rows, double columns)
{
    const double m = fmin(rows, columns), n = fmax(rows, columns);
    return (double)steps * (4.0 * m * m * n + 2.0 * m * m * m);
}
