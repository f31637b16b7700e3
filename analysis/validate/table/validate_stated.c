#include "analysis/validate/table/validate_stated.h"

#include <string.h>

#include "scenarios/language/names.h"
#include "scenarios/schema/schema.h"

/* What a key or a value is made of: no space, quote or bracket, which YAML would read. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/%";

/* As tests/validation/steps.csv has them (documented beside it: versions, modules of Megatron and
 * of Transformer Engine). A key that the language gets is one less here. */
const char *const validate_stated_unheld[] = {"software.transformer_engine",
                                              "software.megatron_core",
                                              "software.pytorch",
                                              "software.moe_a2a_overlap",
                                              "software.delay_wgrad",
                                              "software.te_op_fuser",
                                              "software.grouped_gemm",
                                              "software.permute_fusion",
                                              "software.fp8_granularity",
                                              "software.fp8_output_proj",
                                              "software.fp8_param_gather",
                                              "software.cudnn_attention",
                                              "software.flex_attention",
                                              "software.cudnn_norm",
                                              "software.param_gather_with_optimizer",
                                              "software.defer_embedding_wgrad",
                                              "software.vboost",
                                              "layout.recompute_modules",
                                              "layout.pipeline_layout",
                                              "layout.zero1_group",
                                              NULL};

static bool is_unheld(const char *path)
{
    for (unsigned i = 0; validate_stated_unheld[i] != NULL; i++)
        if (strcmp(validate_stated_unheld[i], path) == 0)
            return true;
    return false;
}

static bool lists(struct name_list names, const char *name)
{
    for (unsigned i = 0; i < names.count; i++)
        if (strcmp(names.names[i], name) == 0)
            return true;
    return false;
}

static struct name_list section_paths(struct arena *arena)
{
    const char **paths = ARENA_ARRAY(arena, const char *, SECTION_COUNT);
    for (unsigned i = 0; i < SECTION_COUNT; i++)
        paths[i] = schema_section((enum section)i)->path;
    return (struct name_list){paths, SECTION_COUNT};
}

/* Has the language this key in this section, for whatever kinds are chosen there? Refuses the row
 * where it has not, and the path is none of a fact without a key. */
static void know(struct cells *cells, const char *path, struct stated_fact *fact)
{
    struct arena *arena = arena_create();
    const struct schema_section *section = schema_find(fact->section);
    const struct name_list names =
        section != NULL ? schema_names(arena, section, schema_options(arena, section))
                        : section_paths(arena);
    fact->known = section != NULL && lists(names, fact->key);
    if (!fact->known && !is_unheld(path))
        validate_row_refuse(
            cells->row, REFUSAL_CELLS, "column stated: %.60s: no %s '%.60s'%s", path,
            section != NULL ? "key" : "section", section != NULL ? fact->key : fact->section,
            names_advice(arena, section != NULL ? fact->key : fact->section, names));
    arena_destroy(arena);
}

static bool copy(char *to, const char *from, size_t length)
{
    if (length == 0 || length >= STATED_SIZE)
        return false;
    memcpy(to, from, length);
    to[length] = '\0';
    return strspn(to, plain) == length;
}

/* "layout.dispatch=hybridep", `length` bytes of it. */
static bool read_fact(struct cells *cells, const char *text, size_t length, struct stated_fact *out)
{
    const char *equals = memchr(text, '=', length);
    char path[STATED_SIZE];
    if (equals == NULL || !copy(path, text, (size_t)(equals - text)) ||
        !copy(out->value, equals + 1, length - (size_t)(equals + 1 - text)))
        return false;
    const char *dot = strrchr(path, '.');
    if (dot == NULL || !copy(out->section, path, (size_t)(dot - path)) ||
        !copy(out->key, dot + 1, strlen(dot + 1)))
        return false;
    know(cells, path, out);
    return true;
}

void validate_stated_read(struct cells *cells, struct validate_stated *out)
{
    const char *cell = csv_cell(cells->csv, cells->record, "stated");
    *out = (struct validate_stated){.count = 0};
    while (*cell != '\0' && !cells->row->refused) {
        const size_t length = strcspn(cell, ";");
        if (out->count == STATED_MAX) {
            validate_row_refuse(cells->row, REFUSAL_CELLS, "stated has more than %d facts",
                                (int)STATED_MAX);
            return;
        }
        struct stated_fact *fact = &out->facts[out->count];
        if (!read_fact(cells, cell, length, fact)) {
            validate_row_refuse(cells->row, REFUSAL_CELLS, "stated '%.*s' is not section.key=value",
                                (int)(length < 60 ? length : 60), cell);
            return;
        }
        if (cells->row->refused)
            return;
        if (validate_stated_find(out, fact->section, fact->key) != NULL && fact->known) {
            validate_row_refuse(cells->row, REFUSAL_CELLS, "stated says %.60s.%.60s twice",
                                fact->section, fact->key);
            return;
        }
        out->count++;
        cell += length + (cell[length] == ';');
    }
}

struct stated_fact *validate_stated_find(struct validate_stated *stated, const char *section,
                                         const char *key)
{
    for (unsigned i = 0; i < stated->count; i++) {
        struct stated_fact *fact = &stated->facts[i];
        if (fact->known && strcmp(fact->section, section) == 0 && strcmp(fact->key, key) == 0)
            return fact;
    }
    return NULL;
}
