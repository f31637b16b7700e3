/* A layer is written into memory that other layers used: its rows of kernels alone stay. */
#include <string.h>

#include "models/workload/transformer.h"
#include "tests/models/workload/layer_rows.h"

static void wipe_rows(struct segment_kernels *k)
{
    memset(k->kernels, 0, sizeof k->kernels);
}

static double kernels_of(const struct segment_kernels *k)
{
    double sum = k->count;
    for (unsigned i = 0; i < k->count; i++)
        sum += k->kernels[i].flops + k->kernels[i].bytes + k->modules[i] + k->repeated[i];
    return sum;
}

static double all_of(const struct layer *layer)
{
    double sum = layer->input_bytes + layer->parameters + layer->expert_parameters +
                 layer->adapter_parameters + layer->narrow_parameters;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        sum += kernels_of(&s->forward) + kernels_of(&s->dgrad) + kernels_of(&s->wgrad) +
               kernels_of(&s->core) + s->memory.output_bytes + s->memory.gradient_bytes +
               s->memory.forward_temporary_bytes + s->memory.backward_temporary_bytes;
        for (unsigned k = 0; k < s->saved.count; k++)
            sum += s->saved.tensors[k].bytes;
    }
    for (unsigned i = 0; i < layer->matrix_count; i++)
        sum += layer->matrices[i].inputs * layer->matrices[i].outputs * layer->matrices[i].count;
    return sum + layer->segment_count + layer->module_count;
}

/* Cleared is all but rows of kernels; and nothing of a layer depends on what its memory held. */
static void test_memory_that_was_used(void **state)
{
    static struct bench b;
    static struct layer used, none;
    memset(&used, 0xa5, sizeof used);
    transformer_clear(&used);
    for (unsigned i = 0; i < LAYER_SEGMENT_MAX; i++) {
        struct segment *s = &used.segments[i];
        wipe_rows(&s->forward);
        wipe_rows(&s->dgrad);
        wipe_rows(&s->wgrad);
        wipe_rows(&s->core);
    }
    assert_memory_equal(&used, &none, sizeof used);
    void (*const writers[])(const struct layer_context *, struct layer *) = {
        transformer_layer, transformer_head, transformer_prediction, transformer_prediction_head};
    for (unsigned i = 0; i < sizeof writers / sizeof *writers; i++) {
        for (uint64_t tp = 1; tp <= 4; tp *= 4) {
            bench_llama(&b);
            b.context.tp = tp;
            b.context.sequence_parallel = tp > 1;
            memset(&used, 0xa5, sizeof used);
            writers[i](&b.context, &used);
            memset(&b.layer, 0, sizeof b.layer);
            writers[i](&b.context, &b.layer);
            assert_true(all_of(&used) == all_of(&b.layer));
        }
    }
    memset(&used, 0xa5, sizeof used);
    transformer_embedding(&b.context, &used.segments[0]);
    memset(&b.layer, 0, sizeof b.layer);
    transformer_embedding(&b.context, &b.layer.segments[0]);
    assert_true(kernels_of(&used.segments[0].dgrad) == kernels_of(&b.layer.segments[0].dgrad));
    assert_true(used.segments[0].saved.count == b.layer.segments[0].saved.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_that_was_used)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
