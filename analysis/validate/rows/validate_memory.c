/* Model state of a rank in bytes (memory.csv): the sharding table's arithmetic, no simulation. */
#include "analysis/validate/table/validate_cells.h"

#include <stdio.h>

#include "models/gpu/precision.h"
#include "models/sharding/sharding_kind.h"
#include "models/workload/optimizer.h"

static const char *const metrics[] = {"bytes", NULL};
static const char *const columns[] = {"row_id", "params", "dp", "zero", "bytes_per_gpu", NULL};

static double optimizer_bytes(const struct optimizer *optimizer, const struct precision *precision)
{
    const struct optimizer_state state =
        optimizer_state(optimizer, precision, &(struct state_formats){0});
    return optimizer_nominal_bytes(optimizer, &state);
}

/* Mixed precision, as in every row of this kind: 16-bit weights and gradients, fp32 state. */
static void predict(const struct validation *v, struct validate_row *row)
{
    struct cells c = {v->csv, row->record, row};
    const char *given = validate_cells_word(&c, "optimizer");
    const struct optimizer *optimizer = optimizer_find(*given != '\0' ? given : "adam");
    const struct precision *precision = precision_find("bf16");
    char name[32];
    snprintf(name, sizeof name, "zero-%.20g", validate_cells_number(&c, "zero", 0.0));
    const struct sharding_kind *sharding = sharding_find(name);
    double parameters = validate_cells_number(&c, "params", 0.0);
    uint64_t dp = validate_cells_count(&c, "dp", 1);
    validate_cells_measured(&c, "bytes_per_gpu", 1.0, &row->values[0]);
    if (optimizer == NULL || sharding == NULL || dp == 0) {
        validate_row_refuse(row, REFUSAL_CELLS,
                            "optimizer '%s', sharding %s over %llu ranks is not known", given, name,
                            (unsigned long long)dp);
        return;
    }
    double each =
        sharding_bytes_per_parameter(sharding, precision->weight_bytes, precision->gradient_bytes,
                                     optimizer_bytes(optimizer, precision), dp);
    row->values[0].has_predicted = true;
    row->values[0].predicted = parameters * each;
}

const struct validate_kind validate_memory = {
    .head = {.name = "memory", .doc = "bytes of model state of a rank, by ZeRO stage"},
    .columns = columns,
    .metrics = metrics,
    .predict = predict,
    .explained = "no scenario: params times the bytes of each by the sharding table",
};
