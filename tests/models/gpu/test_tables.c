/* The tables of fields, precisions and optimizers: every field once, with room in its struct, a
 * sentence, a sane range; rows that add up to the published bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/gpu.h"
#include "models/workload/optimizer.h"
#include "models/workload/software.h"
#include "models/workload/transformer.h"

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
    default:
        return sizeof(double);
    }
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

/* The bytes of the struct that rows claim, none twice; returns how many. */
static size_t table_bytes(const struct param *table, unsigned count, size_t struct_bytes)
{
    static bool taken[4096];
    size_t sum = 0;
    memset(taken, 0, sizeof taken);
    assert_true(struct_bytes <= sizeof taken);
    for (unsigned i = 0; i < count; i++) {
        assert_true(row_holds(&table[i], struct_bytes));
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(table[i].name, table[j].name);
        for (size_t b = 0; b < size_of(table[i].type); b++) {
            assert_false(taken[table[i].offset + b]);
            taken[table[i].offset + b] = true;
            sum++;
        }
    }
    return sum;
}

/* Every field but the name has a row: what no row claims is padding, the name, and the curves and
 * head sizes of unfused attention, which has none. */
static void test_every_field_has_a_row(void **state)
{
    (void)state;
    size_t software =
        table_bytes(software_params, software_param_count, sizeof(struct software_profile));
    assert_true(sizeof(struct software_profile) - software < sizeof(char *) + 64);
    size_t model = table_bytes(model_params, model_param_count, sizeof(struct model_shape));
    assert_true(sizeof(struct model_shape) - model < sizeof(char *) + 16);
    size_t gpu = table_bytes(gpu_params, gpu_param_count, sizeof(struct gpu_spec));
    size_t math = 4 * sizeof(struct attention_curve) + 2 * sizeof(double);
    assert_true(sizeof(struct gpu_spec) - gpu - sizeof(char *) - math < sizeof(double));
}

static void test_a_bad_row_is_noticed(void **state)
{
    (void)state;
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

/* arXiv:1910.02054 section 3.1: 2 + 2 + 12 bytes; 8-bit moments with fp8 weights: 9. */
static double state_bytes(const char *precision, const char *optimizer)
{
    const struct precision *p = precision_find(precision);
    const struct optimizer *o = optimizer_find(optimizer);
    double sum = p->weight_bytes + p->gradient_bytes + (p->master_weights ? o->master_bytes : 0.0);
    for (unsigned i = 0; i < o->moment_count; i++)
        sum += o->moments[i].bytes;
    return sum;
}

static void test_state_bytes(void **state)
{
    (void)state;
    assert_true(state_bytes("bf16", "adam") == 16.0);
    assert_true(state_bytes("fp16", "adamw") == 16.0);
    assert_true(state_bytes("fp32", "adamw") == 16.0);
    assert_true(state_bytes("fp8", "adam8bit") == 9.0);
    assert_true(state_bytes("bf16", "sgd") == 8.0);
    assert_true(state_bytes("bf16", "momentum") == 12.0);
    assert_true(state_bytes("bf16", "adafactor") < 8.01);
    assert_null(precision_find("fp64"));
    assert_null(optimizer_find("lion"));
}

/* An update reads and writes its own state and the master copy: traffic is at least twice that. */
static void test_update_traffic(void **state)
{
    (void)state;
    for (unsigned i = 0; i < optimizer_count; i++) {
        const struct optimizer *o = &optimizers[i];
        double held = o->master_bytes;
        for (unsigned j = 0; j < o->moment_count; j++)
            held += o->moments[j].bytes;
        assert_true(o->update_traffic_bytes >= 2.0 * held);
        assert_true(o->update_flops > 0.0 && strlen(o->head.doc) > 10);
    }
    assert_true(optimizer_find("adam")->update_traffic_bytes == 24.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_has_a_row),
        cmocka_unit_test(test_a_bad_row_is_noticed),
        cmocka_unit_test(test_state_bytes),
        cmocka_unit_test(test_update_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
