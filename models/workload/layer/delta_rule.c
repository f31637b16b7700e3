#include "models/workload/layer/delta_rule.h"

#define WALK_S 13.4e-9       /* of a token */
#define CYCLES 245.0         /* of a token and head of 128 by 128 */
#define CYCLES_STATE 16384.0 /* elements of such a head */
#define BACKWARD_RATIO 3.0   /* 3.02, 2.98, 3.04 with 32, 16, 8 heads */
#define STATE_BYTES 2.0      /* of chunks' states, between kernels */

/* 16 bits: read and written; back, input and gradient read, one written. Norms as those of the
 * residual, fused with nothing. Gates in fp32: two read, two written. */
#define CONV_FORWARD_BYTES 4.0
#define CONV_BACKWARD_BYTES 6.0
#define NORM_FORWARD_BYTES 4.0
#define NORM_BACKWARD_BYTES 6.0
#define GATE_FORWARD_BYTES 10.0
#define GATE_BACKWARD_BYTES 14.0
#define BEFORE_LAUNCHES 4.0 /* convolution, norms of q and k, gates */
/* Output and its gate read, one written; back, three read and two written. */
#define AFTER_FORWARD_BYTES 6.0
#define AFTER_BACKWARD_BYTES 10.0

/* Of a token and head by chunks: k k^T, the inverse on keys and on values, q k^T and its product
 * with the values, each C wide, and three with the state. */
static double chunk_flops(const struct layer_sizes *sizes)
{
    const double key = (double)sizes->key_size, value = (double)sizes->head_size;
    return 2.0 * (DELTA_CHUNK * (3.0 * key + 2.0 * value) + 3.0 * key * value);
}

void delta_rule_before(struct layer_work *out, double convolved, double normed, double gates)
{
    out->before = (struct layer_stream){
        "convolution", "convolution gradient",
        convolved * CONV_FORWARD_BYTES + normed * NORM_FORWARD_BYTES + gates * GATE_FORWARD_BYTES,
        convolved * CONV_BACKWARD_BYTES + normed * NORM_BACKWARD_BYTES +
            gates * GATE_BACKWARD_BYTES,
        BEFORE_LAUNCHES};
}

void delta_rule_after(struct layer_work *out, double values)
{
    out->after =
        (struct layer_stream){"output norm and gate", "output norm and gate gradient",
                              values * AFTER_FORWARD_BYTES, values * AFTER_BACKWARD_BYTES, 1.0};
}

/* Forward reads what comes, writes output, inverse and the state of each chunk, and reads these two
 * again; backward reads all of it and the gradient, makes the states again, and writes gradients of
 * what came. */
void delta_rule_core(struct layer_work *out, const char *const names[2],
                     const struct delta_rule *rule)
{
    const double state = (double)(rule->sizes->key_size * rule->sizes->head_size);
    const double states = 2.0 * rule->heads * state / DELTA_CHUNK * STATE_BYTES;
    const double forward =
        rule->read_bytes + rule->output_bytes + 2.0 * rule->inverse_bytes + states;
    const double backward =
        2.0 * rule->read_bytes + rule->output_bytes + rule->inverse_bytes + 2.0 * states;
    const struct scan_shape shape = {
        .flops = rule->tokens * rule->heads * chunk_flops(rule->sizes) * rule->flops_ratio,
        .bytes = rule->tokens * forward,
        .cycles = rule->tokens * rule->heads * CYCLES * state / CYCLES_STATE,
        .walk_s = rule->tokens * WALK_S,
        .stream_ratio = 1.0,
    };
    layer_core(out, names, &shape, BACKWARD_RATIO, rule->tokens * backward);
}
