#include "analysis/tell/json/json_explain.h"
#include "analysis/tell/json/json_parts.h"

static json_t *rows_array(const struct walls *walls)
{
    struct walls_row rows[WALLS_ROW_COUNT];
    json_t *array = json_array();
    walls_rows(walls, rows);
    for (unsigned i = 0; i < WALLS_ROW_COUNT; i++) {
        json_t *one = json_object();
        json_set(one, "key", json_text(rows[i].key));
        json_set(one, "unit", json_text(walls_unit_names[rows[i].unit]));
        json_set(one, "envelope", json_number(rows[i].envelope));
        json_set(one, "simulated", json_number(rows[i].simulated));
        json_set(one, "formula", json_text(rows[i].formula));
        json_append(array, one);
    }
    return array;
}

static json_t *kernels_array(const struct walls *walls)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < walls->kernel_count; i++) {
        const struct walls_kernel *k = &walls->kernels[i];
        json_t *one = json_object();
        json_set(one, "block", json_text(k->block));
        json_set(one, "name", json_text(k->name));
        json_set(one, "flops", json_number(k->flops));
        json_set(one, "bytes", json_number(k->bytes));
        json_set(one, "bound_by", json_text(k->by_arithmetic ? "arithmetic" : "memory"));
        json_set(one, "precision", json_text(k->flops > 0.0 ? peak_names[k->peak] : NULL));
        json_set(one, "peak_flops_per_s", json_number_if(k->flops > 0.0, k->peak_flops_per_s));
        json_set(one, "roofline_s", json_number(k->roofline_s));
        json_set(one, "modelled_s", json_number(k->modelled_s));
        json_append(array, one);
    }
    return array;
}

void json_walls(const struct scenario *scenario, const struct walls *walls, FILE *out)
{
    const struct walls_simulated *s = &walls->simulated;
    const struct walls_envelope *e = &walls->envelope;
    json_t *o = json_document("orrery.walls/1", scenario);
    json_set(o, "walls", rows_array(walls));
    json_set(o, "binding", json_text(walls_wall_names[walls->binding]));
    json_set(o, "moves", json_text(walls_wall_moves[walls->binding]));
    json_set(o, "fits", json_boolean(s->fits));
    json_set(o, "largest_part", json_text(s->most));
    json_set(o, "largest_part_ratio", json_number_if(s->timed, s->most_ratio));
    json_set(o, "balance_flop_per_byte",
             json_number(walls_balance(e->peak_flops_per_s, e->hbm_bytes_per_s)));
    json_set(o, "kernels", kernels_array(walls));
    json_print(o, out);
}
