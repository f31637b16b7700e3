/* The tables of fields, precisions and optimizers: every field once, with room in its struct, a
 * sentence, a sane range; rows that add up to the published bytes. */
#include <stdlib.h>
#include <string.h>

#include "models/gpu/gpu.h"
#include "models/workload/optimizer.h"
#include "models/workload/software.h"
#include "models/workload/transformer.h"
#include "tests/test.h"

static size_t size_of(enum param_type type)
{
    switch (type) {
    case PARAM_FLAG:
        return sizeof(bool);
    case PARAM_COUNT:
        return sizeof(uint64_t);
    case PARAM_CHOICE:
        return sizeof(int);
    case PARAM_TEXT:
        return sizeof(char *);
    case PARAM_RATIO:
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
    case PARAM_POWER:
    case PARAM_MONEY:
        break;
    }
    return sizeof(double);
}

static bool fallback_holds(const struct param *p)
{
    if (!p->fallback || p->type == PARAM_TEXT)
        return true;
    if (p->type == PARAM_FLAG)
        return strcmp(p->fallback, "true") == 0 || strcmp(p->fallback, "false") == 0;
    if (p->type != PARAM_CHOICE) {
        char *end;
        double value = strtod(p->fallback, &end);
        return end != p->fallback && value >= 0.0;
    }
    for (int i = 0; p->choices[i]; i++)
        if (strcmp(p->choices[i], p->fallback) == 0)
            return true;
    return false;
}

static bool row_holds(const struct param *p, size_t struct_bytes)
{
    size_t length = strlen(p->doc);
    bool words = p->type == PARAM_FLAG || p->type == PARAM_CHOICE || p->type == PARAM_TEXT;
    bool ranged = words ? p->minimum == 0.0 && p->maximum == 0.0 : p->minimum < p->maximum;
    return p->offset + size_of(p->type) <= struct_bytes && length > 10 &&
           p->doc[length - 1] == '.' && ranged && fallback_holds(p) &&
           (p->type == PARAM_CHOICE) == (p->choices != NULL);
}

enum {
    STRUCT_BYTES_MAX = 4096,
    WORD = 8 /* structs inside a struct are filled up to this or half of it */
};

/* Bytes of a struct that neither its name, which is first, nor a row claims and that no alignment
 * explains; no byte is claimed twice. */
static size_t unclaimed_bytes(const struct param *table, unsigned count, size_t struct_bytes)
{
    static size_t claimed[STRUCT_BYTES_MAX]; /* by the first byte of a field: its size */
    size_t at = sizeof(char *), unclaimed = 0;
    memset(claimed, 0, sizeof claimed);
    assert_true(struct_bytes <= sizeof claimed / sizeof *claimed);
    for (unsigned i = 0; i < count; i++) {
        assert_true(row_holds(&table[i], struct_bytes));
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(table[i].name, table[j].name);
        assert_int_equal(claimed[table[i].offset], 0);
        claimed[table[i].offset] = size_of(table[i].type);
    }
    for (size_t next = at; next <= struct_bytes; next++) {
        const size_t size = next < struct_bytes ? claimed[next] : WORD, gap = next - at;
        if (size == 0)
            continue;
        assert_true(next >= at);
        const bool filled =
            (next % WORD == 0 && gap < WORD) || (next % (WORD / 2) == 0 && gap < WORD / 2);
        if (gap >= size && !filled)
            unclaimed += gap;
        at = next + size;
    }
    return unclaimed;
}

/* Every field has a row but the name, the month of a software's release and what it offers or does
 * not yet (modules, sharded parameters; all three of a scenario, not of a profile), what is read
 * from the text of a pattern, and the curves and head sizes of unfused attention: it has none. */
static void test_every_field_has_a_row(void **state)
{
    assert_int_equal(
        unclaimed_bytes(software_params, software_param_count, sizeof(struct software_profile)),
        WORD + 2 * sizeof(bool));
    const size_t read_of_pattern = sizeof(struct layer_pattern) - sizeof(char *) -
                                   offsetof(struct layer_sizes, full_gate) - sizeof(bool);
    assert_int_equal(unclaimed_bytes(model_params, model_param_count, sizeof(struct model_shape)),
                     read_of_pattern);
    const size_t gpu = unclaimed_bytes(gpu_params, gpu_param_count, sizeof(struct gpu_spec));
    assert_int_equal(gpu / WORD * WORD, 4 * sizeof(struct attention_curve) + 2 * sizeof(double));
}

static void test_a_bad_row_is_noticed(void **state)
{
    struct param p = software_params[0];
    assert_true(row_holds(&p, sizeof(struct software_profile)));
    p.fallback = "often";
    assert_false(row_holds(&p, sizeof(struct software_profile)));
    p = software_params[0];
    p.offset = sizeof(struct software_profile);
    assert_false(row_holds(&p, sizeof(struct software_profile)));
    for (unsigned i = 0; i < model_param_count; i++) {
        p = model_params[i];
        p.minimum = p.maximum = 1.0; /* no range; and words have none at all */
        assert_false(row_holds(&p, sizeof(struct model_shape)));
    }
}

/* arXiv:1910.02054 section 3.1: 2 + 2 + 12 bytes. */
static double state_bytes(const char *precision, const char *optimizer)
{
    const struct precision *p = precision_find(precision);
    const struct optimizer *o = optimizer_find(optimizer);
    const struct optimizer_state s = optimizer_state(o, p, &(struct state_formats){0});
    return p->weight_bytes + p->gradient_bytes + optimizer_nominal_bytes(o, &s);
}

static void test_state_bytes(void **state)
{
    assert_true(state_bytes("bf16", "adam") == 16.0);
    assert_true(state_bytes("fp16", "adamw") == 16.0);
    assert_true(state_bytes("fp32", "adamw") == 16.0);
    assert_true(state_bytes("fp8", "adam8bit") == 1 + 2 + 4 + 2 * (1 + 4 / 256.0));
    assert_true(state_bytes("bf16", "muon") == 12.0);
    assert_true(state_bytes("bf16", "sgd") == 8.0);
    assert_true(state_bytes("bf16", "momentum") == 12.0);
    assert_true(state_bytes("bf16", "adafactor") < 8.01);
    assert_null(precision_find("fp64"));
    assert_null(optimizer_find("lion"));
}

/* Formats of the master copy and of each moment, by their bytes. */
static void test_state_formats(void **state)
{
    static const double masters[] = {4, 4, 2, 2, 0}, moments[] = {4, 4, 2, 2, 1};
    const struct optimizer *adam = optimizer_find("adamw"), *eight = optimizer_find("adam8bit");
    const struct precision *bf16 = precision_find("bf16"), *fp32 = precision_find("fp32");
    for (int m = 0; master_format_names[m] != NULL; m++) {
        for (int k = 0; moment_format_names[k] != NULL; k++) {
            const struct state_formats f = {m, {k, 0}};
            struct optimizer_state s = optimizer_state(adam, bf16, &f);
            assert_int_equal(s.moment_count, 2);
            assert_true(s.master_bytes == masters[m] && s.moment_bytes[0] == moments[k]);
            assert_true(s.moment_bytes[1] == 4.0);
            assert_true(optimizer_state(adam, fp32, &f).master_bytes == 0.0);
            assert_true(optimizer_state(eight, bf16, &f).moment_bytes[0] == 1 + 4 / 256.0);
        }
    }
    for (unsigned i = 0; i < optimizer_count; i++)
        assert_true(strlen(optimizers[i].head.doc) > 10);
}

/* A block of one 3 x 5 matrix and a vector of 4; and of a table alone. */
static void test_moment_extents(void **state)
{
    const struct state_shape block = {19, 15, 8, 15}, table = {15, 0, 8, 15};
    assert_true(optimizer_extent_ratio(EXTENT_ALL, &block) == 1.0);
    assert_true(optimizer_extent_ratio(EXTENT_VECTORS, &block) == 4 / 19.0);
    assert_true(optimizer_extent_ratio(EXTENT_FACTORED, &block) == 12 / 19.0);
    assert_true(optimizer_extent_ratio(EXTENT_VECTORS, &table) == 1.0);
    assert_true(optimizer_extent_ratio(EXTENT_FACTORED, &table) == 8 / 15.0);
    assert_true(optimizer_orthogonal_flops(5, 2, 3) == 5 * (4.0 * 4 * 3 + 2 * 8));
    assert_true(optimizer_orthogonal_flops(1, 3, 2) == 4.0 * 4 * 3 + 2 * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_has_a_row), cmocka_unit_test(test_a_bad_row_is_noticed),
        cmocka_unit_test(test_state_bytes),           cmocka_unit_test(test_state_formats),
        cmocka_unit_test(test_moment_extents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
