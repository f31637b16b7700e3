#include "analysis/plan/search/search_why.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_terms.h"
#include "models/plan/trial.h"
#include "sim/check.h"

enum {
    BREAKS_READ = 16,
    WORD_MAX = 64,
    COUNT_MOST = 1 << 22,
    WHY_LEADERS = 3 /* so that op detail finds the best */
};

struct word { /* KEY=VALUE */
    char key[WORD_MAX], value[WORD_MAX];
};

/* Takes the next word off the text. */
static bool next_word(const char **text, struct word *out, struct error *error)
{
    const size_t length = strcspn(*text, ","), key = strcspn(*text, "=");
    if (key == 0 || key + 1 >= length || key >= WORD_MAX || length - key > WORD_MAX)
        return error_set(error, "expected KEY=VALUE, as in tp=4,pp=4");
    snprintf(out->key, sizeof out->key, "%.*s", (int)key, *text);
    snprintf(out->value, sizeof out->value, "%.*s", (int)(length - key - 1), *text + key + 1);
    *text += length + ((*text)[length] == ',');
    return true;
}

/* A value of another type than the key takes. */
static bool say_value(const struct word *word, enum plan_axis key, struct error *error)
{
    if (key == PLAN_SCHEDULE || key == PLAN_SHARDING)
        return error_set(error, "no %s %s; see 'orrery list'", word->key, word->value);
    if (key == PLAN_RECOMPUTE)
        return error_set(error,
                         "recompute takes none, selective, per_operator, modules, "
                         "every_other_layer, block, uniform or full, not %s",
                         word->value);
    if (key == PLAN_SEQUENCE_PARALLEL)
        return error_set(error, "%s takes true or false, not %s", word->key, word->value);
    return error_set(error, "%s takes a whole number above 0, not %s", word->key, word->value);
}

static bool read_value(const struct word *word, enum plan_axis key, struct plan_layout *out,
                       struct error *error)
{
    return plan_layout_read(out, key, word->value) || say_value(word, key, error);
}

/* PLAN_KEY_COUNT: it is none that can be asked for. */
static unsigned find_key(const char *name)
{
    static const char *const heads[PLAN_AXIS_COUNT] = {
        [PLAN_MICROBATCH] = "mb", [PLAN_SHARDING] = "shards", [PLAN_SEQUENCE_PARALLEL] = "sp"};
    for (unsigned i = 0; i < PLAN_KEY_COUNT; i++)
        if (i <= PLAN_RECOMPUTE_LAYERS &&
            (strcmp(plan_axis_names[i], name) == 0 ||
             (i < PLAN_AXIS_COUNT && heads[i] != NULL && strcmp(heads[i], name) == 0)))
            return i;
    return PLAN_KEY_COUNT;
}

static bool read_word(const struct word *word, struct search_wish *w, struct error *error)
{
    const unsigned key = find_key(word->key);
    if (key == PLAN_KEY_COUNT)
        return error_set(error,
                         "%s is no key of a layout; they are tp, pp, cp, ep, etp, dp, vpp, "
                         "microbatch, schedule, recompute, recompute_layers, sharding and "
                         "sequence_parallel",
                         word->key);
    if ((w->held >> key & 1u) != 0 && key != PLAN_RECOMPUTE_LAYERS)
        return error_set(error, "%s is said twice", word->key);
    w->held |= 1u << key;
    return read_value(word, (enum plan_axis)key, &w->layout, error);
}

bool search_wish_read(const char *text, struct search_wish *out, struct error *error)
{
    struct word word;
    *out = (struct search_wish){.held = 0};
    do {
        if (!next_word(&text, &word, error) || !read_word(&word, out, error))
            return false;
    } while (*text != '\0');
    const bool layers = out->layout.recompute_layers > 0;
    const int kind = out->layout.recompute;
    if (layers != (kind == RECOMPUTE_BLOCK || kind == RECOMPUTE_UNIFORM))
        return error_set(error, "recompute_layers goes with recompute=block or uniform, and they "
                                "with it");
    return true;
}

/* The base of a search, with these values. */
static void grant(const struct search_wish *w, struct configuration *c)
{
    const struct configuration base = *c;
    struct plan_layout layout = plan_layout_of(c);
    for (unsigned key = 0; key < PLAN_AXIS_COUNT; key++)
        if ((w->held >> key & 1u) != 0)
            plan_layout_copy(&layout, &w->layout, (enum plan_axis)key);
    if ((w->held >> PLAN_RECOMPUTE & 1u) != 0)
        layout.recompute_layers = w->layout.recompute_layers;
    layout.ends_count = false;
    plan_layout_apply(&base, &layout, c);
    if ((w->held >> PLAN_EP & 1u) != 0) /* of a dense model too, which a rule forbids */
        c->layout.ep = w->layout.ep;
    if ((w->held >> PLAN_ETP & 1u) != 0)
        c->layout.etp = w->layout.etp;
}

/* How far a row came; of two that came as far the leaner, or the faster. */
static bool further(const struct search_row *a, const struct search_row *b)
{
    static const unsigned char order[FATE_COUNT] = {
        [FATE_RULE] = 0,  [FATE_MEMORY] = 1,   [FATE_HEADROOM] = 2, [FATE_LEDGER] = 3,
        [FATE_OPEN] = 4,  [FATE_DEADLINE] = 4, [FATE_BUDGET] = 4,   [FATE_BOUND] = 4,
        [FATE_POWER] = 5, [FATE_TIMED] = 5,    [FATE_LEADER] = 6,
    };
    if (order[a->fate] != order[b->fate])
        return order[a->fate] > order[b->fate];
    const bool held = a->fate >= FATE_MEMORY && a->fate <= FATE_HEADROOM;
    return held || a->fate == FATE_LEDGER ? a->least_bytes < b->least_bytes : a->pass_s < b->pass_s;
}

/* Is it about one of the keys that were named? */
static bool named(const struct search_wish *w, const char *key)
{
    for (unsigned i = 0; i < PLAN_KEY_COUNT; i++)
        if ((w->held >> i & 1u) != 0 && strcmp(strrchr(key, '.') + 1, plan_axis_names[i]) == 0)
            return true;
    return false;
}

/* The first rule that it breaks, and the first warning about a key that was named. */
static void say_rules(const struct search_wish *w, struct search_verdict *v)
{
    struct rule_break breaks[BREAKS_READ];
    const unsigned count = configuration_check(&v->c, breaks, BREAKS_READ);
    for (unsigned i = 0; i < count && i < BREAKS_READ; i++) {
        const struct rule_break *b = &breaks[i];
        if (!b->warning && v->rule[0] == '\0')
            snprintf(v->rule, sizeof v->rule, "%s", b->text);
        if (b->warning && v->warning[0] == '\0' && named(w, b->key))
            snprintf(v->warning, sizeof v->warning, "%s", b->text);
    }
}

/* A ledger of all stages on a card with so much memory; NULL: it cannot be played. */
static struct step *play_ledger(const struct configuration *c, double usable_bytes)
{
    struct step_options options = {.memory_only = true, .usable_bytes = usable_bytes};
    struct step *step = NULL;
    struct error error;
    return step_run(c, &options, &step, &error) ? step : NULL;
}

static void find_overflow(struct search_verdict *v)
{
    const struct search *s = v->found;
    const double usable_bytes = trial_usable_bytes(s->base, s->question.headroom_ratio);
    const double endless_bytes = 1e18;
    struct step *step = play_ledger(&v->c, usable_bytes);
    if (step != NULL && !step->fits && step->failed.program == UINT32_MAX) {
        const struct host_memory *host = &step->host;
        v->overflow = (struct search_overflow){
            .known = true,
            .on_host = true,
            .stage = step->memory[step->lowered.program_of_rank[host->rank]].stage,
            .rank = host->rank,
            .tensor = "what its node keeps",
            .tenant = "host",
            .call_site = "memory of the node's CPUs",
            .bytes = host->bytes,
            .short_bytes = host->bytes - host->room_bytes,
            .allocated_bytes = host->room_bytes,
            .needed_bytes = host->bytes,
            .usable_bytes = host->room_bytes,
        };
    } else if (step != NULL && !step->fits) {
        const struct stage_memory *m = &step->memory[step->failed.program];
        const struct ledger_failure *f = &m->ledger.failure;
        v->overflow = (struct search_overflow){
            .known = true,
            .stage = m->stage,
            .rank = m->representative,
            .tensor = arena_text(s->arena, f->entry.name),
            .tenant = tenant_names[f->entry.tenant],
            .call_site = arena_text(s->arena, f->entry.call_site),
            .bytes = f->entry.bytes,
            .short_bytes = f->short_bytes,
            .allocated_bytes = f->allocated_bytes,
            .needed_bytes = NAN,
            .usable_bytes = usable_bytes,
        };
    }
    step_destroy(step);
    if (!v->overflow.known || v->overflow.on_host)
        return;
    step = play_ledger(&v->c, endless_bytes);
    if (step != NULL)
        v->overflow.needed_bytes = step->peak.reserved_bytes;
    step_destroy(step);
}

static void compare(const struct search *s, struct search_verdict *v)
{
    const struct search_leader *first = s->leader_count > 0 ? &s->leaders[0] : &v->leader;
    search_lead_price(s->base, first, search_terms_weeks(&s->question.terms), &v->leader);
    for (unsigned part = 0; part < PART_COUNT; part++)
        v->lost_s[part] = v->leader.breakdown_s[part] - first->breakdown_s[part];
}

static void explain(const struct search *s, const struct search_wish *w, struct search_verdict *v)
{
    const struct search *found = v->found;
    for (uint32_t i = 0; i < found->row_count; i++)
        if (v->row == NULL || further(&found->rows[i], v->row))
            v->row = &found->rows[i];
    if (found->leader_count > 0 && found->leaders[0].played) {
        v->leader = found->leaders[0];
        v->row = v->leader.row;
        v->played = true;
        compare(s, v);
    }
    if (v->row == NULL)
        return;
    plan_layout_apply(found->base, &v->row->layout, &v->c);
    if (v->played)
        v->missed = search_terms_broken(&s->question.terms, &v->leader);
    say_rules(w, v);
    CHECK((v->row->fate == FATE_RULE) == (v->rule[0] != '\0'));
    if (v->row->fate != FATE_RULE && !v->played)
        find_overflow(v);
}

bool search_why(const struct search *s, const struct search_wish *wish, struct search_verdict *out,
                struct error *error)
{
    struct configuration base = *s->base;
    struct search_question question = s->question;
    grant(wish, &base);
    question.base = &base;
    question.held |= wish->held; /* what was held stays, unless the wish names it */
    question.dp = wish->layout.dp;
    question.leaders = WHY_LEADERS;
    question.terms =
        (struct search_terms){/* they are told apart */
                              .best = question.terms.best,
                              .power_w = question.terms.power_w > 0.0 ? (double)INFINITY : 0.0};
    question.told = NULL;
    *out = (struct search_verdict){.found = NULL};
    if (!search_run(&question, &out->found, error))
        return false;
    explain(s, wish, out);
    return true;
}

void search_why_end(struct search_verdict *verdict)
{
    search_destroy(verdict->found);
    verdict->found = NULL;
}
