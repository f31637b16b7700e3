/* layer_rows.h - two small models, and checks of a layer against rows written out by hand: every
 * kernel, saved tensor, segment and transfer, in order, and none besides.
 *
 * Two sequences of 8 tokens, hidden 8, 4 heads of 2. The first is a Llama (2 key heads, gated block
 * of 16, flash kernel) on one rank; the second a GPT (block of 32, unfused attention, dropout) over
 * two tensor ranks with sequence parallelism. */
#ifndef ORRERY_TESTS_LAYER_ROWS_H
#define ORRERY_TESTS_LAYER_ROWS_H

#include <string.h>

#include "models/workload/transformer.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

struct bench {
    struct model_shape model;
    struct software_profile software;
    struct layer_context context;
    struct layer layer;
};

static inline void bench_llama(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->model = (struct model_shape){.layers = 3,
                                    .hidden = 8,
                                    .attention.heads = 4,
                                    .attention.kv_heads = 2,
                                    .attention.head_size = 2,
                                    .ffn_hidden = 16,
                                    .vocabulary = 10,
                                    .ffn = FFN_SWIGLU,
                                    .norm.kind = NORM_RMS,
                                    .position = POSITION_ROPE};
    b->software = profile_fused();
    b->context = (struct layer_context){.model = &b->model,
                                        .software = &b->software,
                                        .precision = precision_find("bf16"),
                                        .attention = ATTENTION_FLASH2,
                                        .microbatch = 2,
                                        .sequence = 8,
                                        .tp = 1,
                                        .cp = 1,
                                        .causal = true};
}

static inline void bench_gpt(struct bench *b)
{
    bench_llama(b);
    b->model.attention.kv_heads = 4;
    b->model.ffn_hidden = 32;
    b->model.ffn = FFN_GELU;
    b->model.norm.kind = NORM_LAYERNORM;
    b->model.position = POSITION_LEARNED;
    b->model.biases = true;
    b->model.dropout_ratio = 0.1;
    b->context.attention = ATTENTION_MATH;
    b->context.tp = 2;
    b->context.sequence_parallel = true;
}

struct kernel_row {
    unsigned segment;
    const char *name;
    double flops, bytes, launches;
};

static inline void check_kernel(const struct kernel *found, const struct kernel_row *row)
{
    assert_string_equal(found->name, row->name);
    if (found->flops != row->flops || found->bytes != row->bytes ||
        found->launches != row->launches) {
        fail_msg("%s: %g FLOPs, %g bytes, %g launches", found->name, found->flops, found->bytes,
                 found->launches);
    }
}

/* All rows, in order, and no other kernel. */
#define CHECK_KERNELS(layer, list, rows)                                                           \
    do {                                                                                           \
        unsigned at = 0;                                                                           \
        for (unsigned i = 0; i < (layer)->segment_count; i++) {                                    \
            for (unsigned k = 0; k < (layer)->segments[i].list.count; k++, at++) {                 \
                assert_true(at < sizeof(rows) / sizeof *(rows));                                   \
                assert_int_equal((rows)[at].segment, i);                                           \
                check_kernel(&(layer)->segments[i].list.kernels[k], &(rows)[at]);                  \
            }                                                                                      \
        }                                                                                          \
        assert_int_equal(at, sizeof(rows) / sizeof *(rows));                                       \
    } while (0)

struct saved_row {
    unsigned segment;
    const char *name;
    double bytes;
    bool core;
};

static inline void check_saved(const struct layer *layer, const struct saved_row *rows,
                               unsigned count)
{
    unsigned at = 0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++, at++) {
            const struct saved_tensor *found = &layer->segments[i].saved.tensors[k];
            assert_true(at < count);
            assert_int_equal(rows[at].segment, i);
            assert_string_equal(found->name, rows[at].name);
            if (found->bytes != rows[at].bytes)
                fail_msg("%s: %g bytes", found->name, found->bytes);
            assert_int_equal(found->attention_core, rows[at].core);
        }
    }
    assert_int_equal(at, count);
}

struct segment_row {
    const char *name;
    double forward_temporary_bytes, backward_temporary_bytes, output_bytes;
    unsigned core_kernels;
};

static inline void check_segments(const struct layer *layer, const struct segment_row *rows,
                                  unsigned count)
{
    assert_int_equal(layer->segment_count, count);
    for (unsigned i = 0; i < count; i++) {
        const struct segment *s = &layer->segments[i];
        assert_string_equal(s->name, rows[i].name);
        assert_true(s->memory.forward_temporary_bytes == rows[i].forward_temporary_bytes);
        assert_true(s->memory.backward_temporary_bytes == rows[i].backward_temporary_bytes);
        assert_true(s->memory.output_bytes == rows[i].output_bytes);
        assert_int_equal(s->core.count, rows[i].core_kernels);
        assert_int_equal(s->attention_core, rows[i].core_kernels > 0);
    }
}

static inline void check_transfer(const struct segment_transfer *t, enum segment_comm comm,
                                  enum comm_op op, double bytes)
{
    assert_int_equal(t->comm, comm);
    if (comm != SEGMENT_NONE) {
        assert_int_equal(t->op, op);
        assert_true(t->bytes == bytes);
    }
}

#define NOTHING SEGMENT_NONE, COMM_SEND, 0
#define GATHER(c, bytes) SEGMENT_##c, COMM_ALL_GATHER, bytes
#define SCATTER(c, bytes) SEGMENT_##c, COMM_REDUCE_SCATTER, bytes
#define REDUCE(c, bytes) SEGMENT_##c, COMM_ALL_REDUCE, bytes
#define EXCHANGE(bytes) SEGMENT_CP, COMM_RING_EXCHANGE, bytes
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

#endif
