/* Tools with which kinds write the work of a layer. */
#include "models/workload/layer/layer_kind.h"

#include "sim/check.h"

void layer_product_add(struct layer_work *work, struct layer_product product)
{
    CHECK(work->product_count < LAYER_PRODUCT_MAX);
    work->products[work->product_count++] = product;
}

void layer_keep(struct layer_work *work, const char *name, double bytes)
{
    CHECK(work->kept_count < LAYER_KEPT_MAX);
    work->kept[work->kept_count++] = (struct layer_kept){name, bytes, false};
}

void layer_keep_product(struct layer_work *work, const char *name, double bytes)
{
    layer_keep(work, name, bytes);
    work->kept[work->kept_count - 1].products = true;
}

void layer_core(struct layer_work *work, const char *const names[2], const struct scan_shape *shape,
                double gradient_ratio, double gradient_bytes)
{
    struct scan_shape gradient = *shape;
    gradient.flops *= gradient_ratio;
    gradient.cycles *= gradient_ratio;
    gradient.walk_s *= gradient_ratio;
    gradient.bytes = gradient_bytes;
    work->core = gpu_kernel_scan(names[0], shape);
    work->core_gradient = gpu_kernel_scan(names[1], &gradient);
}
