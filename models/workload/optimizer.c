/* optimizer.c - the table of optimizers.
 *
 * State: Adam keeps two fp32 moments (Kingma and Ba, arXiv:1412.6980, algorithm 1), AdamW the same
 * (Loshchilov and Hutter, arXiv:1711.05101); 8-bit Adam one byte each (Dettmers et al.,
 * arXiv:2110.02861; its fp32 constant for each block of 2,048 is .002 bytes and left out); momentum
 * one fp32 buffer; Adafactor sums of squares by row and by column (Shazeer and Stern,
 * arXiv:1804.04235, section 3), 2 x 4 bytes for each 4,096 elements of a 4,096 wide matrix: wider
 * matrices keep less. Names are those of torch.optim, bitsandbytes and transformers.
 * Traffic: each state tensor and the master copy are read once and written once; Adafactor reads
 * the gradient a second time, after its sums. FLOPs: additions, products, roots and quotients of
 * the update rule, one each. */
#include "models/workload/optimizer.h"

#include <stddef.h>

#define MASTER_BYTES 4.0
#define MASTER_TRAFFIC (2.0 * MASTER_BYTES)
#define FACTORED_BYTES (2.0 * 4.0 / 4096.0)

const struct optimizer optimizers[] = {
    {{.name = "adam", .doc = "Adam, two fp32 moments"},
     2,
     {{"exp_avg", 4.0}, {"exp_avg_sq", 4.0}},
     MASTER_BYTES,
     MASTER_TRAFFIC + 16.0,
     12.0},
    {{.name = "adamw", .doc = "Adam with decoupled weight decay, two fp32 moments"},
     2,
     {{"exp_avg", 4.0}, {"exp_avg_sq", 4.0}},
     MASTER_BYTES,
     MASTER_TRAFFIC + 16.0,
     14.0},
    {{.name = "adam8bit", .doc = "Adam with moments quantised by block to 8 bits"},
     2,
     {{"state1", 1.0}, {"state2", 1.0}},
     MASTER_BYTES,
     MASTER_TRAFFIC + 4.0,
     20.0},
    {{.name = "sgd", .doc = "stochastic gradient descent, no state"},
     0,
     {{NULL, 0.0}},
     MASTER_BYTES,
     MASTER_TRAFFIC,
     2.0},
    {{.name = "momentum", .doc = "stochastic gradient descent with an fp32 momentum buffer"},
     1,
     {{"momentum_buffer", 4.0}},
     MASTER_BYTES,
     MASTER_TRAFFIC + 8.0,
     4.0},
    {{.name = "adafactor", .doc = "second moments factored by rows and columns, no first moment"},
     1,
     {{"exp_avg_sq_row_col", FACTORED_BYTES}},
     MASTER_BYTES,
     MASTER_TRAFFIC + 2.0 * FACTORED_BYTES + 4.0,
     10.0},
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
