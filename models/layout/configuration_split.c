/* Layers over the chunks of a pipeline.
 *
 * Evenly: each chunk gets layers / chunks, the first ones one more when it does not divide
 * (deepspeed/runtime/utils.py, partition_uniform). With a given first or last stage the rest is
 * spread evenly. With ends that count, embedding and head are layers too. By cost: chunk k ends
 * with the block that lifts the sum of costs over (k + 1) / n of the whole; a layer costs 4 h a d +
 * 3 h f, the head V h (huggingface/nanotron src/nanotron/parallel/pipeline_parallel/utils.py and
 * models/llama.py, get_block_compute_costs).
 */
#include "models/layout/configuration_split.h"

#include "sim/check.h"

static void spread(uint64_t layers, uint32_t *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = (uint32_t)(layers / count + (i < layers % count ? 1 : 0));
}

static void split_even(const struct configuration *c, uint32_t *layers, uint32_t chunks)
{
    uint64_t first = c->layout.pipeline.first_layers, last = c->layout.pipeline.last_layers;
    uint32_t begin = first > 0 ? 1 : 0, end = last > 0 && chunks > begin ? chunks - 1 : chunks;
    uint64_t rest = c->model.layers - first - (end < chunks ? last : 0);
    if (begin > 0)
        layers[0] = (uint32_t)first;
    if (end < chunks)
        layers[end] = (uint32_t)last;
    if (end > begin)
        spread(rest, layers + begin, end - begin);
}

/* Embedding and head stand for a layer each (NVIDIA/Megatron-LM megatron/training/arguments.py,
 * --account-for-embedding-in-pipeline-split and --account-for-loss-in-pipeline-split). */
static void split_with_ends(const struct configuration *c, uint32_t *layers, uint32_t chunks)
{
    spread(c->model.layers + 2, layers, chunks);
    layers[0]--;
    layers[chunks - 1]--;
}

static void split_by_cost(const struct configuration *c, uint32_t *layers, uint32_t chunks)
{
    const struct model_shape *m = &c->model;
    double width = (double)m->hidden;
    double layer = 4.0 * width * (double)(m->attention.heads * m->attention.head_size) +
                   3.0 * width * (double)m->ffn_hidden;
    double total = layer * (double)m->layers + width * (double)m->vocabulary;
    uint32_t chunk = 0;
    for (uint32_t i = 0; i < chunks; i++)
        layers[i] = 0;
    for (uint64_t i = 0; i < m->layers; i++) {
        layers[chunk]++;
        double sum = layer * (double)(i + 1);
        double threshold = total * (double)(chunk + 1) / (double)chunks;
        if (sum > threshold && chunk + 1 < chunks)
            chunk++;
    }
}

void configuration_split(const struct configuration *c, uint32_t *layers)
{
    uint32_t chunks = (uint32_t)(c->layout.pp * c->layout.pipeline.vpp);
    bool given = c->layout.pipeline.first_layers > 0 || c->layout.pipeline.last_layers > 0;
    if (c->layout.pipeline.ends_count)
        split_with_ends(c, layers, chunks);
    else if (c->software.pipeline.split == SPLIT_COST && !given)
        split_by_cost(c, layers, chunks);
    else
        split_even(c, layers, chunks);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < chunks; i++)
        sum += layers[i];
    CHECK(sum == c->model.layers);
}
