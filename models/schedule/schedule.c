#include <stddef.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "sim/check.h"

#define X(name) &schedule_##name,
const struct schedule_kind *const schedule_kinds[] = {
#include "models/schedule/schedule_list.h"
};
#undef X
KIND_TABLE(schedule)

enum {
    PASSES_SPLIT = 3, /* of a microbatch in a chunk */
    PASSES_WHOLE = 2
};

uint32_t schedule_chunks(const struct schedule_kind *kind, const struct schedule_shape *shape)
{
    return kind->placement == PLACED_BOTH_WAYS ? 2 : shape->chunks;
}

uint32_t schedule_parts(const struct schedule_kind *kind, const struct schedule_shape *shape)
{
    return kind->placement == PLACED_BOTH_WAYS ? shape->stages : shape->stages * shape->chunks;
}

uint32_t schedule_part(const struct schedule_kind *kind, const struct schedule_shape *shape,
                       uint32_t stage, uint32_t chunk)
{
    CHECK(stage < shape->stages && chunk < schedule_chunks(kind, shape));
    if (kind->placement == PLACED_ROUND || chunk == 0)
        return chunk * shape->stages + stage;
    return schedule_parts(kind, shape) - 1 - stage;
}

uint32_t schedule_room(const struct schedule_kind *kind, const struct schedule_shape *shape)
{
    return (kind->splits ? PASSES_SPLIT : PASSES_WHOLE) * shape->microbatches *
           schedule_chunks(kind, shape);
}

uint32_t schedule_write(const struct schedule_kind *kind, const struct schedule_shape *shape,
                        const struct pass_costs *costs, uint32_t stage, struct pass *out)
{
    const bool timed = kind->write_timed != NULL && costs != NULL;
    const uint32_t count =
        timed ? kind->write_timed(shape, costs, stage, out) : kind->write(shape, stage, out);
    CHECK(count <= schedule_room(kind, shape));
    return count;
}
