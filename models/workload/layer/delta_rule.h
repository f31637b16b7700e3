/* delta_rule.h - what the kinds with a delta rule share: the convolution and gates before the core,
 * the core by chunks, the norm and gate behind it.
 *
 * Times of the core: QwenLM/FlashQLA benchmark/benchmark_results_H200.txt, FLA 0.5.1, one sequence
 * of 32,768, heads of 128: forward 3.331 ms with 64 heads and 1.885 with 32: 13.4 ns a token and
 * 1.379 ns a token and head; backward 5.697 with 32. Of those 1.379 ns, products at half of the
 * peak take .364; the rest is 245 SM-cycles. Not used: 16 and 8 heads (7 and 13 % longer than this
 * says), GB200 (8 to 10 % longer forward, 20 % backward), KDA on H20. */
#ifndef ORRERY_MODELS_WORKLOAD_LAYER_DELTA_RULE_H
#define ORRERY_MODELS_WORKLOAD_LAYER_DELTA_RULE_H

#include "models/workload/layer/layer_kind.h"

#define DELTA_CHUNK 64.0 /* positions (fla/ops/gated_delta_rule/chunk.py) */
#define DELTA_FP32_BYTES 4.0

struct delta_rule {
    const struct layer_sizes *sizes;
    double tokens, heads;
    double flops_ratio; /* of the products of a chunk over those of one gate a head */
    double read_bytes;  /* of a token: queries, keys, values, gates */
    double inverse_bytes, output_bytes;
};

/* Elements of the convolution with its activation, of q and k that are normed by head, of gates. */
void delta_rule_before(struct layer_work *out, double convolved, double normed, double gates);
/* Norm by head and gate of the output. */
void delta_rule_after(struct layer_work *out, double values);
void delta_rule_core(struct layer_work *out, const char *const names[2],
                     const struct delta_rule *rule);

#endif
