#include "models/workload/layer/layer_kind.h"

#include <stddef.h>

#define HALF_BYTES 2.0

#define X(name) &layer_##name,
const struct layer_kind *const layer_kinds[] = {
#include "models/workload/layer/layer_list.h"
};
#undef X
KIND_TABLE(layer)

struct layer_sizes layer_complete(const struct layer_sizes *sizes)
{
    struct layer_sizes out = *sizes;
    if (out.key_heads == 0)
        out.key_heads = out.heads;
    if (out.key_size == 0)
        out.key_size = out.head_size;
    return out;
}

struct layer_work layer_whole(const struct layer_kind *kind, const struct layer_sizes *sizes,
                              double hidden, double tokens)
{
    const struct layer_share share = {.sizes = sizes,
                                      .hidden = hidden,
                                      .heads = (double)sizes->heads,
                                      .key_heads = (double)sizes->key_heads,
                                      .tokens = tokens,
                                      .element_bytes = HALF_BYTES};
    struct layer_work out;
    kind->write(&share, &out);
    return out;
}

double layer_parameters(const struct layer_work *work, double hidden)
{
    double sum = work->output * hidden + work->split_parameters + work->whole_parameters;
    for (unsigned i = 0; i < work->product_count; i++)
        sum += work->products[i].inputs * work->products[i].outputs * work->products[i].groups;
    return sum;
}

double layer_state_elements(const struct layer_sizes *sizes)
{
    return (double)(sizes->heads * sizes->key_size * sizes->head_size);
}

const char *layer_refuse_split(const struct layer_sizes *sizes, uint64_t tp, uint64_t cp)
{
    if (sizes->key_heads % tp != 0)
        return "heads of keys (linear_key_heads) are not divisible by tp";
    if (sizes->heads % (tp * cp) != 0)
        return "heads (linear_heads) are not divisible by tp x cp";
    const uint64_t keys = sizes->key_heads / tp;
    return keys % cp != 0 && cp % keys != 0
               ? "heads of keys (linear_key_heads) can be neither split over nor repeated on cp"
               : NULL;
}
