/* A whole step of a drawn scenario under libFuzzer: see small_step.h for what must hold.
 *
 * The bytes of an input choose keys from the schema and values from each key's range, laid over a
 * small sound scenario as --set would, so that most inputs reach the simulation. With FUZZ_SHOW set
 * the keys and values are printed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/catalogue/catalogue.h"
#include "scenarios/language/quantity.h"
#include "scenarios/schema/schema.h"
#include "sim/check.h"
#include "tests/fuzz/small_read.h"
#include "tests/fuzz/small_step.h"

enum {
    SET_MAX = 12,
    TEXT_MAX = 160,
    SMALL_COUNT = 17
};
static const char *const bases[] = {
    "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 512}\n"
    "cluster: {gpu: h100-80gb-sxm, node: {name: dgx-h100, gpus: 4}, nodes: 2, "
    "fabric: {kind: fat_tree, nic: 400Gb/s}}\n"
    "training: {sequence: 64, global_batch: 16}\n",
    "model: {layers: 4, hidden: 64, heads: 4, vocabulary: 512, ffn: gelu, dropout: 10%}\n"
    "cluster: {gpu: a100-80gb-sxm, node: {name: dgx-a100, gpus: 2}, nodes: 4, "
    "fabric: {kind: rail, nic: 200Gb/s}}\n"
    "training: {sequence: 64, global_batch: 16}\n"
    "layout: {tp: 2, pp: 2, sequence_parallel: true, sharding: zero-1}\n"
    "perturbations: {stragglers: [{gpu: 3, speed: 80%}]}\n",
    "model: {layers: 4, hidden: 64, heads: 4, vocabulary: 512}\n"
    "cluster: {gpu: h100-80gb-sxm, node: {name: dgx-h100, gpus: 2}, nodes: 4, "
    "fabric: {kind: torus, x: 4, nic: 400Gb/s}}\n"
    "training: {sequence: 64, global_batch: 8}\n"
    "layout: {pp: 2, vpp: 2, cp: 2, schedule: interleaved}\n"
    "perturbations: {links: [{gpu: 1, capacity: 50%}]}\n",
    "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 512}\n"
    "cluster: {gpu: h100-80gb-sxm, node: {name: dgx-h100, gpus: 4}, nodes: 2, "
    "fabric: ib-ndr-8x400}\n"
    "training: {sequence: 64, global_batch: 16}\n"
    "layout: {sharding: fsdp}\nsoftware: fsdp\n",
    "model: {layers: 2, hidden: 64, heads: 4, vocabulary: 512}\n"
    "cluster: {gpu: h100-80gb-sxm, node: {name: dgx-h100, gpus: 2}, nodes: 8, "
    "fabric: {kind: fat_tree, nic: 400Gb/s}}\n"
    "training: {sequence: 64, global_batch: 16}\nlayout: {tp: 2}\n"
    "run: {duration: 20h}\n"
    "failures: [{cause: a, mtbf: 5d, in_place: 50%}, {cause: b, unit: domain, domain_nodes: 2, "
    "mtbf: 7d}, {cause: c, unit: node, mtbf: 4d, effect: slow, slow: 50%, slow_time: 1h}, "
    "{cause: d, mtbf: 10d, effect: corrupt, detect: 2h}]\n"
    "checkpoint: {policy: async, interval: 10min, keep: 5}\n"
    "recovery: {policy: elastic-shrink, spares: 1, repair: 2h}\n",
};

struct bytes {
    const uint8_t *at;
    size_t left;
    struct arena *arena;
};

/* The next byte; zeros after the end. */
static unsigned take(struct bytes *bytes)
{
    if (bytes->left == 0)
        return 0;
    bytes->left--;
    return *bytes->at++;
}

/* Row `index` of all keys with all options, counted over the sections that are no lists. */
static const struct param *find_row(unsigned index, const char **path)
{
    for (enum section s = 0; s < SECTION_COUNT; s++) {
        const struct schema_section *section = schema_section(s);
        struct params table = schema_table(section);
        *path = section->path;
        if (section->list)
            continue;
        if (index < section->keys.count)
            return &section->keys.rows[index];
        index -= section->keys.count;
        if (index < table.count)
            return &table.rows[index];
        index -= table.count;
    }
    for (enum section i = 0; i < SECTION_COUNT; i++) {
        const struct schema_section *section = schema_section(i);
        const struct schema_choice *choice;
        const struct kind *kind;
        *path = section->path;
        for (unsigned c = 0; !section->list && (choice = schema_choice(section, c)) != NULL; c++) {
            for (unsigned k = 0; (kind = family_at(choice->family, k)) != NULL; k++) {
                if (index < kind->options.count)
                    return &kind->options.rows[index];
                index -= kind->options.count;
            }
        }
    }
    return NULL;
}

static const char *draw_name(struct bytes *bytes, const char *path)
{
    enum family family = schema_family(path);
    struct catalogue catalogue;
    struct name_list names;
    if (family == FAMILY_NONE)
        return "x";
    catalogue_open(&catalogue, bytes->arena, NULL, NULL);
    names = family < FAMILY_CATALOGUE_COUNT ? catalogue_names(&catalogue, family)
                                            : family_kinds(bytes->arena, family);
    return names.names[take(bytes) % names.count];
}

/* Ends of the range, small whole numbers, or anything between by its logarithm. */
static double draw_number(struct bytes *bytes, const struct param *row)
{
    unsigned mode = take(bytes);
    if (mode < 16)
        return row->minimum;
    if (mode < 32)
        return row->maximum;
    double number = take(bytes) % SMALL_COUNT;
    if (row->type != PARAM_COUNT || mode >= 224) {
        double least = row->minimum > 0.0 ? row->minimum : 1e-6 * row->maximum;
        double part = (take(bytes) * 256.0 + take(bytes)) / 65535.0;
        number = least * pow(row->maximum / least, part);
    }
    return fmin(fmax(number, row->minimum), row->maximum);
}

static const char *draw_value(struct bytes *bytes, const struct param *row, const char *path)
{
    char text[TEXT_MAX];
    unsigned count = 0;
    switch (row->type) {
    case PARAM_FLAG:
        return take(bytes) & 1 ? "true" : "false";
    case PARAM_CHOICE:
        while (row->choices[count])
            count++;
        return row->choices[take(bytes) % count];
    case PARAM_TEXT:
        return draw_name(bytes, path);
    case PARAM_COUNT:
        return arena_format(bytes->arena, "%.0f", draw_number(bytes, row));
    case PARAM_RATIO:
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
    case PARAM_POWER:
    case PARAM_MONEY:
        quantity_write(row->type, draw_number(bytes, row), text, sizeof text);
        return arena_text(bytes->arena, text);
    }
    UNREACHABLE("type is an enum param_type");
}

/* "layout.tp=4", or NULL at the end of the bytes. */
static const char *draw_set(struct bytes *bytes)
{
    const char *path;
    unsigned index = take(bytes) << 8;
    const struct param *row = find_row((index | take(bytes)) & 0x3FF, &path);
    if (row == NULL || bytes->left == 0)
        return NULL;
    const char *dot = *path ? "." : "";
    const char *key = arena_format(bytes->arena, "%s%s%s", path, dot, row->name);
    return arena_format(bytes->arena, "%s=%s", key, draw_value(bytes, row, key));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size, arena_create()};
    const char *base = bases[take(&bytes) % (sizeof bases / sizeof bases[0])];
    const char *sets[SET_MAX];
    struct scenario_options options = {.sets = sets};
    while (options.set_count < SET_MAX && (sets[options.set_count] = draw_set(&bytes)) != NULL)
        options.set_count++;
    for (unsigned i = 0; getenv("FUZZ_SHOW") && i < options.set_count; i++)
        fprintf(stderr, "--set '%s'\n", sets[i]);
    if (getenv("FUZZ_SHOW"))
        fputs(base, stderr);
    struct scenario *scenario = small_read(base, strlen(base), &options);
    if (scenario && getenv("FUZZ_SHOW"))
        scenario_print_problems(scenario, stderr, false);
    if (scenario) {
        small_step(scenario);
        scenario_destroy(scenario);
    }
    arena_destroy(bytes.arena);
    return 0;
}
