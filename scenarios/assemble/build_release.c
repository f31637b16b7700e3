/* build_release.c - what the recipes of a month set of what the scenario does not say.
 *
 * A key that no fact sets for such a run stays as the profile and the schema have it. The dispatch
 * of experts and the scaling of eight bits are asked by other facts, so these two come first. Where
 * what a fact sets breaks a rule beside what the scenario says, the fact is left out, and told. */
#include <string.h>

#include "models/collective/dispatch/dispatch_kind.h"
#include "models/plan/choice_attention.h"
#include "scenarios/assemble/build_parts.h"
#include "scenarios/language/names.h"
#include "sim/check.h"

enum {
    MONTHS = 12,
    AHEAD_MAX = 12, /* months after the newest fact in which nothing need have changed */
    BREAKS_MAX = 32
};

static const struct param *row_of(struct params params, const char *key)
{
    for (unsigned i = 0; i < params.count; i++)
        if (strcmp(params.rows[i].name, key) == 0)
            return &params.rows[i];
    return NULL;
}

/* A key that facts set: of the software, of the layout, or of the dispatch that they set. */
struct fact_key {
    enum section section;
    const struct param *param;
    bool option;
};

static bool find_key(const char *key, struct fact_key *out)
{
    const struct schema_section *layout = schema_section(SECTION_LAYOUT);
    const struct param *software = row_of(schema_table(schema_section(SECTION_SOFTWARE)), key);
    *out = (struct fact_key){SECTION_SOFTWARE, software, false};
    if (software != NULL)
        return true;
    *out = (struct fact_key){SECTION_LAYOUT, row_of(layout->keys, key), false};
    for (unsigned i = 0; out->param == NULL && dispatch_at(i) != NULL; i++)
        *out = (struct fact_key){SECTION_LAYOUT, row_of(dispatch_at(i)->options, key), true};
    return out->param != NULL;
}

static const char *path_of(struct builder *b, const char *key)
{
    struct fact_key found;
    CHECK(find_key(key, &found));
    return reader_path(&b->reader, schema_section(found.section)->path, key);
}

static bool is_said(const struct builder *b, const char *key)
{
    struct fact_key found;
    if (!find_key(key, &found))
        return false;
    const struct value *mapping =
        found.section == SECTION_SOFTWARE ? b->release.software : b->release.layout;
    return reader_given(mapping, found.param);
}

static struct release_run run_of(const struct builder *b, const struct configuration *c)
{
    const bool eight = c->training.precision->gemm_peak == PEAK_FP8;
    return (struct release_run){
        .experts = c->model.moe.experts > 0,
        .latent = c->model.latent.kv_rank > 0,
        .recurrent = transformer_recurrent_layers(&c->model) > 0,
        .image = release_is_image(b->release.text),
        .card = c->gpu.name,
        .precision = c->training.precision->head.name,
        .scaling = eight ? fp8_recipe_names[configuration_fp8_recipe(c)] : "",
        .dispatch = configuration_dispatch(c)->head.name,
        .gpus = configuration_gpus(c),
    };
}

static bool is_set(const struct release_sets *sets, const char *key)
{
    for (unsigned i = 0; i < sets->count; i++)
        if (strcmp(sets->rows[i].key, key) == 0)
            return true;
    return false;
}

static const char *take_key(const struct builder *b, unsigned month, const char *key,
                            const struct release_run *run, uint64_t skip, struct release_sets *out)
{
    if (is_set(out, key) || is_said(b, key) || out->count == RELEASE_SETS_MAX)
        return NULL;
    const struct release_fact *fact = release_setter(b->release.history, month, key, run, skip);
    if (fact == NULL)
        return NULL;
    const struct value *word = value_find(fact->sets, key);
    out->rows[out->count++] = (struct release_set){word->key, word, fact};
    return word->text;
}

/* What the recipes of that month set of such a run, and the scenario does not say. */
static void collect(const struct builder *b, unsigned month, uint64_t skip,
                    struct release_sets *out)
{
    struct configuration plain = b->scenario->configuration;
    plain.software = b->release.plain_software;
    plain.layout.experts = b->release.plain_experts;
    struct release_run run = run_of(b, &plain);
    out->count = 0;
    const char *scaling = take_key(b, month, "fp8_recipe", &run, skip, out);
    if (scaling != NULL && *run.scaling != '\0')
        run.scaling = scaling;
    const char *dispatch = take_key(b, month, "dispatch", &run, skip, out);
    if (dispatch != NULL)
        run.dispatch = dispatch;
    for (unsigned i = 0; i < b->release.history.count; i++) {
        const struct value *sets = b->release.history.facts[i].sets;
        for (const struct value *m = sets ? sets->first : NULL; m != NULL; m = m->next)
            take_key(b, month, m->key, &run, skip, out);
    }
}

static void apply_one(struct builder *b, const struct release_set *set)
{
    struct configuration *c = &b->scenario->configuration;
    struct fact_key at;
    double number = 0.0;
    CHECK(find_key(set->key, &at));
    const char *path = path_of(b, set->key);
    if (at.option) {
        if (reader_value(&b->reader, set->word, path, at.param, &number))
            c->layout.experts.dispatch_options.value[at.param->offset] = number;
    } else if (at.section == SECTION_SOFTWARE) {
        reader_value(&b->reader, set->word, path, at.param,
                     (char *)&c->software + at.param->offset);
    } else {
        c->layout.experts.dispatch = dispatch_find(set->word->text);
    }
}

static void apply(struct builder *b, const struct release_sets *sets)
{
    struct configuration *c = &b->scenario->configuration;
    c->software = b->release.plain_software;
    c->layout.experts = b->release.plain_experts;
    for (unsigned i = 0; i < sets->count; i++)
        apply_one(b, &sets->rows[i]);
}

/* Rules that are broken whatever is chosen of what is open. */
static unsigned errors_of(const struct builder *b)
{
    struct configuration c = b->scenario->configuration;
    struct rule_break breaks[BREAKS_MAX];
    unsigned errors = 0;
    if ((b->open >> CHOICE_ATTENTION & 1u) != 0)
        c.training.attention = (int)choice_attention(&c);
    if ((b->open >> CHOICE_ETP & 1u) != 0)
        c.layout.etp = 1;
    const unsigned found = configuration_check(&c, breaks, BREAKS_MAX);
    for (unsigned i = 0; i < found && i < BREAKS_MAX; i++)
        errors += breaks[i].warning ? 0 : 1;
    return errors;
}

static uint64_t bit_of(const struct builder *b, const struct release_fact *fact)
{
    return UINT64_C(1) << (fact - b->release.history.facts);
}

/* The month's facts without `skip` set no rule against what the scenario says. */
static bool is_sound(struct builder *b, uint64_t skip, unsigned errors, struct release_sets *sets)
{
    collect(b, b->release.month, skip, sets);
    apply(b, sets);
    return errors_of(b) <= errors;
}

/* Of the facts that set something, the one without which what is left is sound and most is set; 0:
 * it is with none. */
static uint64_t one_left_out(struct builder *b, uint64_t skip, unsigned errors,
                             const struct release_sets *all)
{
    unsigned most = 0;
    uint64_t best = 0;
    for (unsigned i = 0; i < all->count; i++) {
        const uint64_t bit = bit_of(b, all->rows[i].fact);
        struct release_sets left;
        if (is_sound(b, skip | bit, errors, &left) && left.count >= most) {
            most = left.count;
            best = bit;
        }
    }
    return best;
}

/* The facts that must be left out: one, if one is enough, else the newest until one is. */
static uint64_t left_out(struct builder *b, unsigned errors, struct release_sets *sets)
{
    uint64_t skip = 0;
    while (!is_sound(b, skip, errors, sets) && sets->count > 0) {
        uint64_t next = one_left_out(b, skip, errors, sets);
        const struct release_fact *newest = sets->rows[0].fact;
        for (unsigned i = 1; i < sets->count; i++)
            if (sets->rows[i].fact->month >= newest->month)
                newest = sets->rows[i].fact;
        next = next != 0 ? next : bit_of(b, newest);
        skip |= next;
    }
    return skip;
}

static const char *join(struct arena *arena, const char *list, const char *between,
                        const char *item)
{
    return *list ? arena_format(arena, "%s%s%s", list, between, item) : item;
}

static const struct release_set *same_key(const struct release_sets *sets, const char *key)
{
    for (unsigned i = 0; i < sets->count; i++)
        if (strcmp(sets->rows[i].key, key) == 0)
            return &sets->rows[i];
    return NULL;
}

/* What differs: "cuda_graphs: attn, and not rank_capacity"; "": nothing. */
static const char *difference(struct arena *arena, const struct release_sets *before,
                              const struct release_sets *now)
{
    const char *other = "", *none = "";
    for (unsigned i = 0; i < before->count; i++) {
        const struct release_set *was = &before->rows[i], *is = same_key(now, was->key);
        if (is == NULL || strcmp(is->word->text, was->word->text) != 0)
            other =
                join(arena, other, ", ", arena_format(arena, "%s: %s", was->key, was->word->text));
    }
    for (unsigned i = 0; i < now->count; i++)
        if (same_key(before, now->rows[i].key) == NULL)
            none = join(arena, none, ", ", now->rows[i].key);
    return arena_format(arena, "%s%s%s%s", other, *other && *none ? ", and " : "",
                        *none ? "not " : "", none);
}

/* "; 2026-04 would set cuda_graphs: attn, and not rank_capacity": the last month with another
 * recipe of such a run. */
static const char *before_of(struct builder *b, uint64_t skip, const struct release_sets *now)
{
    unsigned month = b->release.month;
    while ((month = release_before(b->release.history, month)) > 0) {
        struct release_sets before;
        collect(b, month, skip, &before);
        const char *differs = difference(b->arena, &before, now);
        if (*differs != '\0')
            return arena_format(b->arena, "; %s would set %s", release_month_text(b->arena, month),
                                differs);
    }
    return "";
}

/* "; known, not taken: ..." of the facts until then that hold of such a run, and "; left out ..."
 * of those that what the scenario says does not go with. */
static const char *untaken_of(struct builder *b, uint64_t skip)
{
    const struct release_run run = run_of(b, &b->scenario->configuration);
    const char *known = "", *out = "";
    for (unsigned i = 0; i < b->release.history.count; i++) {
        const struct release_fact *fact = &b->release.history.facts[i];
        if (*fact->untaken && release_holds(fact, b->release.month, &run))
            known = join(b->arena, known, "; ",
                         arena_format(b->arena, "%s %s", fact->since, fact->untaken));
        if ((skip & bit_of(b, fact)) != 0)
            for (const struct value *m = fact->sets->first; m != NULL; m = m->next)
                out = join(b->arena, out, ", ", arena_format(b->arena, "%s: %s", m->key, m->text));
    }
    return arena_format(b->arena, "%s%s%s%s", *known ? "; known, not taken: " : "", known,
                        *out ? "; left out beside what the scenario says: " : "", out);
}

/* A key that apply_one() can set, with a value that it can take. */
static bool is_known(const struct value *word)
{
    struct fact_key at;
    if (!find_key(word->key, &at))
        return false;
    return at.option || at.section == SECTION_SOFTWARE ||
           (strcmp(word->key, "dispatch") == 0 && dispatch_find(word->text) != NULL);
}

/* Facts come from catalogues of the user's, too. */
static bool check_sets(struct builder *b)
{
    bool good = true;
    for (unsigned i = 0; i < b->release.history.count; i++) {
        const struct value *sets = b->release.history.facts[i].sets;
        for (const struct value *m = sets ? sets->first : NULL; m != NULL; m = m->next) {
            if (is_known(m))
                continue;
            good = false;
            problems_error(b->problems, m->mark,
                           "history: a fact sets keys of software, a dispatch or an option of one, "
                           "not %s: %s",
                           source_quote(b->arena, m->key), source_quote(b->arena, m->text));
        }
    }
    return good;
}

static void settle_sets(struct builder *b)
{
    if (!b->release.told || !check_sets(b))
        return;
    if (b->release.history.count == 0) {
        b->release.why = "no dated facts of this software: the release changes nothing";
        return;
    }
    if (!release_sets_any(b->release.history)) {
        b->release.why =
            "no dated fact of this software sets a key; `plan` searches what had come by then";
        return;
    }
    const uint64_t skip = left_out(b, errors_of(b), &b->release.sets);
    b->release.why = arena_format(b->arena, "%s%s%s",
                                  b->release.newest ? "the newest facts of this software"
                                                    : "as the scenario says",
                                  before_of(b, skip, &b->release.sets), untaken_of(b, skip));
}

/* Has the release what this fact brought? */
static bool has_come(const struct builder *b, const struct release_fact *fact)
{
    return b->release.newest || fact->month <= b->release.month;
}

/* What no key says, and a fact brings. Where no fact says since when parameters are sharded, they
 * always were. */
static void settle_offers(struct builder *b)
{
    const struct release_history history = b->release.history;
    const struct release_fact *modules =
        release_bringer(history, "recompute", recompute_names[RECOMPUTE_MODULES]);
    const struct release_fact *shards = release_bringer(history, "sharding", "fsdp");
    struct software_offers *offers = &b->scenario->configuration.software.offers;
    offers->module_recompute = modules != NULL && has_come(b, modules);
    offers->whole_parameters = shards != NULL && !has_come(b, shards);
}

/* What is offered comes last: facts are taken on the software as it was read. */
void build_release_settle(struct builder *b)
{
    settle_sets(b);
    settle_offers(b);
}

bool build_release_sets(const struct builder *b, const char *key)
{
    return is_set(&b->release.sets, key);
}

void build_release_tell(struct builder *b)
{
    struct choices *choices = &b->scenario->choices;
    if (b->release.told)
        choices->rows[choices->count++] = (struct made_choice){
            .key = CHOICE_RELEASE, .value = b->release.text, .why = b->release.why};
    for (unsigned i = 0; i < b->release.sets.count; i++) {
        const struct release_set *set = &b->release.sets.rows[i];
        choices->rows[choices->count++] = (struct made_choice){
            .key = CHOICE_RECIPE,
            .value = set->word->text,
            .why = arena_format(b->arena, "release %s: %s", set->fact->since, set->fact->what),
            .path = path_of(b, set->key)};
    }
}

/* A word of a value that none before `month` took, and the fact that brought it; NULL: none. */
static const struct release_fact *too_new(struct builder *b, const char *key, const char *text)
{
    const struct release_fact *latest = NULL;
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, "+");
        const char *word = arena_format(b->arena, "%.*s", (int)length, at);
        const struct release_fact *fact = release_bringer(b->release.history, key, word);
        if (fact != NULL && fact->month > b->release.month &&
            (latest == NULL || fact->month > latest->month))
            latest = fact;
        at += length + (at[length] == '+' ? 1 : 0);
    }
    return latest;
}

static void check_key(struct builder *b, const char *key)
{
    struct fact_key at;
    if (!find_key(key, &at) || !is_said(b, key))
        return;
    const struct value *said =
        value_find(at.section == SECTION_SOFTWARE ? b->release.software : b->release.layout, key);
    static const char *const off[] = {"false", "none", "0"};
    for (unsigned i = 0; i < sizeof off / sizeof off[0]; i++)
        if (strcmp(said->text, off[i]) == 0)
            return;
    const struct release_fact *fact = too_new(b, key, said->text);
    if (fact != NULL)
        problems_warning(b->problems, said->mark,
                         "%s: %s came to this software with %s (%s), after software.release %s: "
                         "state %s or later, or leave %s out",
                         path_of(b, key), source_quote(b->arena, said->text), fact->since,
                         fact->source, b->release.text, fact->since, key);
}

/* A release that is older than the card, or younger than all that is known. */
static void check_month(struct builder *b, struct mark where)
{
    const struct gpu_spec *gpu = &b->scenario->configuration.gpu;
    const unsigned newest = release_newest(b->release.history), month = b->release.month;
    const unsigned year = month / MONTHS;
    const unsigned card = (unsigned)gpu->release;
    const char *say = arena_format(b->arena,
                                   "software.release: %s is before %u, the year of %s: state a "
                                   "release of %u or later, or an older card",
                                   b->release.text, card, gpu->name, card);
    if (card > year + 1)
        problems_error(b->problems, where, "%s", say);
    else if (card > year)
        problems_warning(b->problems, where, "%s", say);
    const unsigned profile = (unsigned)b->scenario->configuration.software.version.year;
    if (year < profile)
        problems_warning(b->problems, where,
                         "software.release: %s is before %u, the first year of profile %s: state a "
                         "release of %u or later, or an older profile ('orrery list software')",
                         b->release.text, profile, b->scenario->configuration.software.name,
                         profile);
    if (newest > 0 && month > newest + AHEAD_MAX)
        problems_warning(b->problems, where,
                         "software.release: %s is more than a year after the newest fact that is "
                         "known of this software (%s), which stands for it: state %s or leave it "
                         "out",
                         b->release.text, release_month_text(b->arena, newest),
                         release_month_text(b->arena, newest));
}

/* Does a fact before that one bring this key too? */
static bool brought_before(const struct release_history *history, unsigned fact, const char *key)
{
    for (unsigned i = 0; i < fact; i++)
        if (value_find(history->facts[i].brings, key) != NULL)
            return true;
    return false;
}

void build_release_check(struct builder *b, struct mark where)
{
    const struct release_history *history = &b->release.history;
    if (b->release.newest || b->release.month == 0)
        return;
    check_month(b, where);
    for (unsigned i = 0; i < history->count; i++) {
        const struct value *brings = history->facts[i].brings;
        for (const struct value *m = brings ? brings->first : NULL; m != NULL; m = m->next)
            if (!brought_before(history, i, m->key))
                check_key(b, m->key);
    }
}
