#include <inttypes.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "scenarios/assemble/build_parts.h"
#include "scenarios/language/names.h"

struct kind_choice {
    const char *key, *name;  /* "schedule", and what is written there: "" for nothing */
    const struct kind *kind; /* of that name, or NULL */
    struct kind_options *options;
};

/* The options of the kind that a key names, which is refused if there is none of that name. */
static struct params take_kind(struct builder *b, enum section section, const struct value *mapping,
                               const struct kind_choice *choice)
{
    const char *section_path = schema_section(section)->path;
    const char *path = reader_path(&b->reader, section_path, choice->key);
    if (*choice->name && choice->kind == NULL)
        section_unknown_name(b, section, mapping, choice->key, choice->name,
                             family_kinds(b->arena, schema_family(path)));
    return section_options(b, mapping, section_path, choice->kind, choice->options);
}

/* A key that the scenario does not give, or gives by the word that leaves it open. */
static void note_open(struct builder *b, const struct value *mapping, struct params params,
                      enum choice_key key)
{
    const char *name = strrchr(choice_key_path(key), '.') + 1;
    for (unsigned i = 0; i < params.count; i++)
        if (strcmp(params.rows[i].name, name) == 0 && !reader_given(mapping, &params.rows[i]))
            b->open |= 1u << key;
}

/* Can this card train the model in the format of its makers? Adapters keep 16 bits. */
static bool trains_as_usual(const struct builder *b, const struct training_keys *keys)
{
    const struct configuration *c = &b->scenario->configuration;
    const char *usual = c->model.usual.precision;
    if (usual == NULL || *usual == '\0' || keys->spec.adapter.kind != ADAPTER_NONE)
        return false;
    const struct precision *precision = precision_find(usual);
    return precision == NULL || c->gpu.peak_flops_per_s[precision->gemm_peak] > 0.0;
}

/* Cards before Ampere have matrix units for fp16 and none for bf16. */
static void choose_precision(struct builder *b, struct training_keys *keys)
{
    const struct configuration *c = &b->scenario->configuration;
    const bool open = (b->open >> CHOICE_PRECISION & 1u) != 0;
    if (open && gpu_lacks_bf16(&c->gpu))
        keys->precision = "fp16";
    else if (open && trains_as_usual(b, keys))
        keys->precision = c->model.usual.precision;
    else
        b->open &= ~(1u << CHOICE_PRECISION);
}

/* Tokens of a sequence where nobody says. */
enum {
    SEQUENCE_USUAL = 8192
};

/* Has the model fewer positions than a sequence usually has tokens? */
static bool positions_short(const struct model_shape *model)
{
    return model->positions_max > 0 && model->positions_max < SEQUENCE_USUAL;
}

const char *build_sequence_of(struct builder *b)
{
    const struct model_shape *model = &b->scenario->configuration.model;
    return positions_short(model) ? arena_format(b->arena, "all positions of %s", model->name)
                                  : "the usual length; a sequence is not stated";
}

/* A table that was learned has no row for what is past its end, which is a rule of
 * configuration_check; of other positions the model has seen no more. */
static void check_positions(struct builder *b, const struct value *mapping)
{
    const struct configuration *c = &b->scenario->configuration;
    const uint64_t positions = c->model.positions_max, sequence = c->training.sequence;
    if (c->model.position != POSITION_LEARNED && positions > 0 && sequence > positions)
        problems_warning(b->problems, section_mark(mapping, "sequence"),
                         "training.sequence: %" PRIu64 " tokens are more than the %" PRIu64
                         " positions that %s was made for (model.positions_max)",
                         sequence, positions, c->model.name);
}

static void build_run(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_TRAINING);
    const struct value *mapping = section_take(b, b->root, SECTION_TRAINING);
    struct training_keys keys = {.precision = "", .optimizer = ""};
    struct training_spec *spec = &keys.spec;
    if (mapping == NULL)
        return;
    reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    note_open(b, mapping, schema->keys, CHOICE_ATTENTION);
    note_open(b, mapping, schema->keys, CHOICE_SEQUENCE);
    if ((b->open >> CHOICE_SEQUENCE & 1u) != 0)
        spec->sequence = positions_short(&b->scenario->configuration.model)
                             ? b->scenario->configuration.model.positions_max
                             : SEQUENCE_USUAL;
    note_open(b, mapping, schema->keys, CHOICE_PRECISION);
    choose_precision(b, &keys);
    spec->tokens = (double)keys.tokens;
    spec->precision = precision_find(keys.precision);
    spec->optimizer = optimizer_find(keys.optimizer);
    struct params of_precision =
        take_kind(b, SECTION_TRAINING, mapping,
                  &(struct kind_choice){"precision", keys.precision,
                                        spec->precision ? &spec->precision->head : NULL,
                                        &spec->precision_options});
    struct params of_optimizer =
        take_kind(b, SECTION_TRAINING, mapping,
                  &(struct kind_choice){"optimizer", keys.optimizer,
                                        spec->optimizer ? &spec->optimizer->head : NULL,
                                        &spec->optimizer_options});
    b->scenario->configuration.training = *spec;
    check_positions(b, mapping);
    section_finish(b, SECTION_TRAINING, mapping, schema_join(b->arena, of_precision, of_optimizer),
                   schema->path);
}

/* Until the choice is made, the plainest stands for what is open. */
static void leave_open(const struct builder *b, struct layout_spec *spec, struct layout_keys *keys)
{
    if ((b->open >> CHOICE_SCHEDULE & 1u) != 0)
        keys->schedule = schedule_one_f_one_b.head.name;
    if ((b->open >> CHOICE_SHARDING & 1u) != 0)
        keys->sharding = sharding_zero_0.head.name;
    if ((b->open >> CHOICE_CHUNKS & 1u) != 0)
        spec->pipeline.vpp = 1;
    if ((b->open >> CHOICE_MICROBATCH & 1u) != 0)
        spec->microbatch = 1;
    if ((b->open >> CHOICE_EP & 1u) != 0)
        spec->ep = 1;
}

static void build_layout(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_LAYOUT);
    const struct value *mapping = section_take(b, b->root, SECTION_LAYOUT);
    struct layout_keys keys = {.schedule = "", .sharding = "", .dispatch = ""};
    struct layout_spec *spec = &keys.spec;
    if (mapping == NULL)
        return;
    reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    for (enum choice_key key = CHOICE_TP; key < CHOICE_LAYOUT_END; key++)
        note_open(b, mapping, schema->keys, key);
    note_open(b, mapping, schema->keys, CHOICE_DISPATCH);
    note_open(b, mapping, schema->keys, CHOICE_DISPATCH_8BIT);
    leave_open(b, spec, &keys);
    spec->pipeline.schedule = schedule_find(keys.schedule);
    spec->data.sharding = sharding_find(keys.sharding);
    spec->experts.dispatch = dispatch_find(keys.dispatch);
    struct params of_schedule = take_kind(
        b, SECTION_LAYOUT, mapping,
        &(struct kind_choice){"schedule", keys.schedule,
                              spec->pipeline.schedule ? &spec->pipeline.schedule->head : NULL,
                              &spec->pipeline.schedule_options});
    struct params of_sharding =
        take_kind(b, SECTION_LAYOUT, mapping,
                  &(struct kind_choice){"sharding", keys.sharding,
                                        spec->data.sharding ? &spec->data.sharding->head : NULL,
                                        &spec->data.sharding_options});
    struct params of_dispatch = take_kind(
        b, SECTION_LAYOUT, mapping,
        &(struct kind_choice){"dispatch", keys.dispatch,
                              spec->experts.dispatch ? &spec->experts.dispatch->head : NULL,
                              &spec->experts.dispatch_options});
    b->scenario->configuration.layout = *spec;
    b->release.layout = mapping;
    b->release.plain_experts = spec->experts;
    section_finish(
        b, SECTION_LAYOUT, mapping,
        schema_join(b->arena, schema_join(b->arena, of_schedule, of_sharding), of_dispatch),
        schema->path);
}

/* A kind of sharding that a profile names; without one nothing could be chosen. */
static void check_sharding(struct builder *b, const struct value *mapping, const char *key,
                           const char *text)
{
    if (sharding_find(text) == NULL)
        problems_misread(b->problems, section_mark(mapping, key),
                         "software.%s: unknown sharding '%s'%s", key, source_quote(b->arena, text),
                         names_advice(b->arena, text, family_kinds(b->arena, FAMILY_SHARDINGS)));
}

/* The month that is asked for, and what its facts have to go by. */
static void date_profile(struct builder *b, const struct value *mapping, const struct value *entry,
                         const char *release)
{
    const struct release_history history = release_history(b->arena, b->problems, entry);
    const bool newest = strcmp(release, READER_AUTO) == 0;
    const unsigned asked = newest ? release_newest(history) : release_month(release);
    if (asked == 0 && !newest)
        problems_misread(b->problems, section_mark(mapping, "release"),
                         "software.release: %s is no month (2025-11) and no container (25.11)",
                         source_quote(b->arena, release));
    b->release.history = history;
    b->release.told = asked > 0 && (!newest || release_sets_any(history));
    b->release.month = b->release.told ? asked : 0;
    b->release.newest = newest;
    b->release.text =
        newest ? release_month_text(b->arena, asked) : source_quote(b->arena, release);
    b->release.software = mapping;
    if (newest && b->release.told)
        b->open |= 1u << CHOICE_RELEASE;
}

static void build_software(struct builder *b)
{
    struct software_profile *software = &b->scenario->configuration.software;
    const struct schema_section *schema = schema_section(SECTION_SOFTWARE);
    const struct value *mapping = section_take(b, b->root, SECTION_SOFTWARE);
    struct software_keys keys = {"", ""};
    if (mapping == NULL || !reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys))
        return;
    note_open(b, mapping, schema->keys, CHOICE_PROFILE);
    const char *refusal = software_not_modelled(keys.profile);
    if (refusal != NULL) {
        problems_misread(b->problems, section_mark(mapping, "profile"), "software.profile: %s %s",
                         source_quote(b->arena, keys.profile), refusal);
        return;
    }
    const struct value *base = section_entry(b, SECTION_SOFTWARE, mapping, "profile", keys.profile);
    if (base == NULL)
        return;
    date_profile(b, mapping, base, keys.release);
    struct value *merged = section_overlay(b, SECTION_SOFTWARE, base, mapping);
    reader_fill(&b->reader, merged, schema->path, schema_table(schema), software);
    section_finish(b, SECTION_SOFTWARE, merged, (struct params){NULL, 0}, schema->path);
    check_sharding(b, mapping, "usual_sharding", software->usual.sharding);
    if (*software->usual.full_sharding != '\0')
        check_sharding(b, mapping, "full_sharding", software->usual.full_sharding);
    software->name = keys.profile;
    software->version.month = b->release.month;
    b->release.plain_software = *software;
    build_release_check(b, section_mark(mapping, "release"));
    struct constant_section of = {SECTION_SOFTWARE, software->name, base, mapping, NULL};
    build_constants(b, &of, schema_table(schema), software);
    build_figures(b, &of, schema_table(schema), merged);
}

/* Software that updates 16-bit weights in place keeps its states in their format, where the
 * scenario leaves all of them open. */
static void take_states(struct configuration *c)
{
    struct training_spec *t = &c->training;
    bool open = t->precision != NULL && t->precision->master_weights && t->optimizer != NULL &&
                !t->optimizer->fixed_formats && c->software.memory.states_as_weights &&
                optimizer_master_format(&t->state_formats) == STATE_AUTO;
    for (unsigned i = 0; i < MOMENT_MAX; i++)
        open = open && optimizer_moment_format(&t->state_formats, i) == STATE_AUTO;
    if (!open)
        return;
    const bool half = t->precision->gemm_peak == PEAK_FP16;
    t->state_formats =
        optimizer_states_as(half ? STATE_FP16 : STATE_BF16, t->optimizer->moment_count);
}

void build_training(struct builder *b)
{
    build_run(b);
    build_layout(b);
    build_software(b);
    take_states(&b->scenario->configuration);
}
