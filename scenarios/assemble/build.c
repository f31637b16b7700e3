#include "scenarios/assemble/build.h"

#include <inttypes.h>
#include <string.h>

#include "models/collective/dispatch/dispatch_kind.h"
#include "models/layout/layout.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"

#include "scenarios/assemble/build_parts.h"
#include "scenarios/language/file.h"
#include "scenarios/schema/idle.h"
#include "sim/units.h"

enum {
    BREAK_MAX = 32
};

/* `dp: auto`: what is left of the GPUs. With a remainder the rules refuse the layout,
 * and dp = 1 keeps them from naming what only follows from it. */
static void fill_auto(struct builder *b)
{
    const unsigned axes = 1u << CHOICE_TP | 1u << CHOICE_PP | 1u << CHOICE_CP;
    const struct configuration *c = &b->scenario->configuration;
    struct layout_spec *layout = &b->scenario->configuration.layout;
    uint64_t gpus = configuration_gpus(c);
    double others = (double)layout->tp * (double)layout->pp * (double)layout->cp;
    if (layout->dp != 0) {
        b->open &= ~axes; /* what is left of the GPUs is said */
        return;
    }
    bool whole = others <= (double)gpus && gpus % (uint64_t)others == 0;
    layout->dp = whole ? gpus / (uint64_t)others : 1;
}

static void add_choice(struct builder *b, enum choice_key key, const char *value, const char *why)
{
    struct choices *choices = &b->scenario->choices;
    if (b->open >> key & 1u)
        choices->rows[choices->count++] =
            (struct made_choice){.key = key, .value = value, .why = why};
}

/* "64 of 72 GPUs of each, 32 of the last". */
static const char *filling_of(struct arena *arena, const struct topology_spec *cluster)
{
    const struct node_spec *node = &cluster->node;
    const uint64_t last = cluster->gpus > 0 ? cluster->gpus % node->gpus : 0;
    const char *of = arena_format(arena, "%" PRIu64 " of %" PRIu64 " GPUs of each", node->gpus,
                                  node->installed_gpus);
    return last == 0 ? of : arena_format(arena, "%s, %" PRIu64 " of the last", of, last);
}

/* "what joins nodes of dgx-h100 as a rule, 8 x 400 Gb/s each". */
static const char *fabric_of(struct arena *arena, const struct topology_spec *cluster)
{
    const double share = cluster->node.nic.efficiency_ratio * cluster->fabric.efficiency_ratio;
    const double line_bits = topology_port_bytes_per_s(cluster) / share * BITS_PER_BYTE;
    return arena_format(arena, "what joins nodes of %s as a rule, %" PRIu64 " x %.4g Gb/s each",
                        cluster->node.name, topology_nics(cluster), line_bits / GIGA);
}

enum {
    USUAL_NONE,
    USUAL_DISPATCH,
    USUAL_ALL
};

static bool is_named(const char *text)
{
    return text != NULL && *text != '\0';
}

/* Sets what the model's makers ran, the software has and the scenario leaves open; the keys that
 * were set. */
static unsigned take_usual(struct builder *b, int level)
{
    struct configuration *c = &b->scenario->configuration;
    const struct model_usual *usual = &c->model.usual;
    const bool eight = c->training.precision->gemm_peak == PEAK_FP8;
    const struct dispatch_kind *dispatch =
        is_named(usual->dispatch) ? dispatch_find(usual->dispatch) : NULL;
    const struct schedule_kind *schedule =
        is_named(usual->schedule) ? schedule_find(usual->schedule) : NULL;
    unsigned taken = 0;
    if (level >= USUAL_DISPATCH && dispatch != NULL && !build_release_sets(b, "dispatch") &&
        (b->open >> CHOICE_DISPATCH & 1u) != 0 &&
        software_dispatches(&c->software, dispatch->head.name)) {
        c->layout.experts.dispatch = dispatch;
        taken |= 1u << CHOICE_DISPATCH;
    }
    if (taken != 0 && usual->dispatch_8bit && eight && c->software.offers.narrow_rows &&
        (b->open >> CHOICE_DISPATCH_8BIT & 1u) != 0) {
        c->layout.experts.dispatch_8bit = true;
        taken |= 1u << CHOICE_DISPATCH_8BIT;
    }
    if (level >= USUAL_ALL && schedule != NULL && c->software.pipeline.makers_recipe &&
        (b->open >> CHOICE_SCHEDULE & 1u) != 0) {
        c->layout.pipeline.schedule = schedule;
        taken |= 1u << CHOICE_SCHEDULE;
    }
    return taken;
}

/* Does the layout that was chosen around it keep the rules, and fit? A schedule is not worth a
 * sequence that is split for it. */
static bool can_be_usual(const struct configuration *c, uint64_t cp, unsigned taken)
{
    const bool split = (taken >> CHOICE_SCHEDULE & 1u) != 0 && c->layout.cp != cp;
    return !split && configuration_legal(c) && trial_may_fit(c, c->gpu.hbm.usable_bytes);
}

/* What is open of the layout: with all that the model's makers ran, with their dispatch alone, or
 * with neither, the first that can be; the keys that are theirs. A search chooses schedules. */
static unsigned choose_layout(struct builder *b)
{
    struct configuration *c = &b->scenario->configuration;
    const struct configuration plain = *c;
    const unsigned asked = b->layout_open ? b->open & 1u << CHOICE_ATTENTION : b->open;
    for (int level = b->layout_open ? USUAL_DISPATCH : USUAL_ALL;; level--) {
        *c = plain;
        const unsigned taken = take_usual(b, level);
        choice_make(b->arena, c, asked & ~taken, &b->scenario->choices);
        if (taken == 0 || b->layout_open || can_be_usual(c, plain.layout.cp, taken))
            return taken;
    }
}

/* The keys that are as the model's makers had them. */
static void tell_usual(struct builder *b, unsigned taken)
{
    static const char why[] = "what the model's makers ran";
    const struct configuration *c = &b->scenario->configuration;
    struct choices *choices = &b->scenario->choices;
    if (taken >> CHOICE_SCHEDULE & 1u)
        choices->rows[choices->count++] = (struct made_choice){
            .key = CHOICE_SCHEDULE, .value = c->layout.pipeline.schedule->head.name, .why = why};
    if (taken >> CHOICE_DISPATCH & 1u)
        choices->rows[choices->count++] = (struct made_choice){
            .key = CHOICE_DISPATCH, .value = c->layout.experts.dispatch->head.name, .why = why};
    if (taken >> CHOICE_DISPATCH_8BIT & 1u)
        choices->rows[choices->count++] =
            (struct made_choice){.key = CHOICE_DISPATCH_8BIT, .value = "true", .why = why};
}

static void choose(struct builder *b)
{
    const struct configuration *c = &b->scenario->configuration;
    const unsigned taken = choose_layout(b);
    b->scenario->choices.open = b->open;
    tell_usual(b, taken);
    if ((taken >> CHOICE_DISPATCH & 1u) == 0 && !b->layout_open &&
        !build_release_sets(b, "dispatch") && configuration_expert_ranks(c).ep > 1)
        add_choice(b, CHOICE_DISPATCH, configuration_dispatch(c)->head.name,
                   "the plain exchange, which every framework has");
    add_choice(b, CHOICE_NODE, c->cluster.node.name,
               arena_format(b->arena, "what %s usually comes in", c->gpu.name));
    add_choice(b, CHOICE_FABRIC, c->cluster.fabric.name, fabric_of(b->arena, &c->cluster));
    add_choice(b, CHOICE_NODES, arena_format(b->arena, "%" PRIu64, c->cluster.nodes),
               filling_of(b->arena, &c->cluster));
    if (!b->layout_open && strcmp(layout_order(c), LAYOUT_USUAL_ORDER) != 0 &&
        strcmp(c->layout.order, LAYOUT_ORDER_AUTO) == 0)
        b->open |= 1u << CHOICE_ORDER;
    add_choice(b, CHOICE_ORDER, layout_order(c),
               "the replicas of a stage do not fill whole nodes, those of all stages do");
    add_choice(b, CHOICE_SEQUENCE, arena_format(b->arena, "%" PRIu64, c->training.sequence),
               build_sequence_of(b));
    add_choice(b, CHOICE_PRECISION, c->training.precision->head.name,
               gpu_lacks_bf16(&c->gpu)
                   ? arena_format(b->arena, "%s has no bf16 matrix units", c->gpu.name)
                   : "what the model's makers trained in");
    add_choice(b, CHOICE_PROFILE, c->software.name,
               "no framework is named: the middle of those in use");
    build_release_tell(b);
}

/* Fills what the scenario leaves open, and tells it where the defaults are listed. */
static void fill_open(struct builder *b)
{
    struct choices *choices = &b->scenario->choices;
    struct configuration *c = &b->scenario->configuration;
    build_release_settle(b);
    if (b->chosen != NULL) {
        c->layout = b->chosen->layout;
        c->training.attention = b->chosen->attention;
        *choices = b->chosen->choices;
    } else {
        choose(b);
    }
    choices->made = true;
    for (unsigned i = 0; i < choices->count; i++)
        reader_chose(&b->reader, choice_path(&choices->rows[i]), choices->rows[i].value);
}

struct mark build_place(const struct value *root, const char *key)
{
    const struct value *at = value_deepest(root, key);
    return at->kind == VALUE_WORD ? at->mark : at->key_mark;
}

/* Is the value of this key not the scenario's? */
static bool is_chosen(const struct builder *b, const char *key)
{
    for (unsigned i = 0; i < CHOICE_COUNT; i++)
        if ((b->open >> i & 1u) != 0 && strcmp(choice_key_path((enum choice_key)i), key) == 0)
            return true;
    const struct choices *choices = &b->scenario->choices;
    for (unsigned i = 0; i < choices->count; i++)
        if (choices->rows[i].path != NULL && strcmp(choices->rows[i].path, key) == 0)
            return true;
    return false;
}

/* Of a value that was chosen here no warning is given: it asks for a remedy, and the choice tells
 * what was compared. */
static void check_rules(struct builder *b)
{
    struct rule_break breaks[BREAK_MAX];
    unsigned found = configuration_check(&b->scenario->configuration, breaks, BREAK_MAX);
    for (unsigned i = 0; i < found && i < BREAK_MAX; i++) {
        const struct mark where = build_place(b->root, breaks[i].key);
        if (breaks[i].warning && is_chosen(b, breaks[i].key))
            continue;
        if (breaks[i].warning)
            problems_warning(b->problems, where, "%s: %s", breaks[i].key, breaks[i].text);
        else
            problems_error(b->problems, where, "%s: %s", breaks[i].key, breaks[i].text);
    }
}

static void build_head(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_SCENARIO);
    struct scenario_keys keys = {"", 0};
    reader_fill(&b->reader, b->root, schema->path, schema->keys, &keys);
    bool named = keys.name && *keys.name;
    b->scenario->name = named ? keys.name : file_stem(b->arena, b->path);
    b->scenario->configuration.name = b->scenario->name;
    b->scenario->configuration.seed = keys.seed;
    b->scenario->has_run = value_find(b->root, "run") != NULL;
    if (named && strpbrk(keys.name, "\n\r\t"))
        problems_error(b->problems, section_mark(b->root, "name"), "name: must be one line");
}

void build_scenario(struct builder *b)
{
    build_model(b);
    build_cluster(b);
    build_training(b);
    if (b->problems->error_count == 0) { /* what the parser refused stands for nothing either */
        fill_auto(b);
        fill_open(b);
        if (!b->layout_open)
            check_rules(b);
        b->layout_sound = b->problems->error_count == 0;
        if (b->layout_sound)
            idle_warn(b->root, &b->scenario->configuration, b->layout_open, b->problems);
    }
    build_head(b);
    build_extras(b);
    build_lesson(b);
    build_job(b);
    section_finish(b, SECTION_SCENARIO, b->root, (struct params){NULL, 0}, "");
}
