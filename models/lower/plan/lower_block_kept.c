/* What a block keeps of a microbatch from its forward to its backward. */
#include "models/lower/plan/lower_block.h"

uint32_t lower_block_tensors(const struct layer *layer, bool splits)
{
    /* The layer's input, kept by full recomputation; gradients of outputs, kept for the weights. */
    uint32_t count = 1 + (splits ? layer->segment_count : 0);
    for (unsigned i = 0; i < layer->segment_count; i++)
        count += layer->segments[i].saved.count;
    return count;
}

bool lower_block_drops(int recompute, const struct segment *g, unsigned k)
{
    return g->saved.tensors[k].rebuilt ||
           (recompute == RECOMPUTE_SELECTIVE && g->saved.tensors[k].attention_core);
}

double lower_block_kept_bytes(const struct block_spec *spec)
{
    const struct layer *layer = spec->layer;
    double bytes = 0.0;
    if (spec->full_recompute)
        return layer->input_bytes;
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++)
            if (!lower_block_drops(spec->c->layout.recompute, &layer->segments[i], k))
                bytes += layer->segments[i].saved.tensors[k].bytes;
    return bytes;
}

uint32_t lower_block_kept_count(const struct block_spec *spec)
{
    uint32_t count = 0;
    if (spec->full_recompute)
        return 1;
    for (unsigned i = 0; i < spec->layer->segment_count; i++)
        for (unsigned k = 0; k < spec->layer->segments[i].saved.count; k++)
            count += !lower_block_drops(spec->c->layout.recompute, &spec->layer->segments[i], k);
    return count;
}

double lower_block_late_bytes(const struct layer *layer)
{
    double bytes = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        bytes += layer->segments[i].memory.gradient_bytes;
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++)
            bytes += layer->segments[i].saved.tensors[k].weights
                         ? layer->segments[i].saved.tensors[k].bytes
                         : 0.0;
    }
    return bytes;
}
