#include "analysis/search/search_why.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/search/search_lead.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"

enum {
    BREAKS_READ = 16,
    WORD_MAX = 40,
    TRIED_MAX = 12 /* rows that turn out not to fit */
};

static bool known_key(const char *key)
{
    bool known = strcmp(key, "dp") == 0 || strcmp(key, "recompute_layers") == 0;
    for (unsigned i = 0; i < SEARCH_KEY_COUNT; i++)
        known = known || strcmp(key, search_key_names[i]) == 0;
    return known;
}

/* What a layout has for a key, as a scenario spells it. */
static void value_of(const struct search_layout *l, const char *key, char text[WORD_MAX])
{
    const struct {
        const char *key;
        uint32_t value;
    } counts[] = {{"tp", l->tp},
                  {"pp", l->pp},
                  {"cp", l->cp},
                  {"dp", l->dp},
                  {"vpp", l->vpp},
                  {"microbatch", l->microbatch},
                  {"recompute_layers", l->recompute_layers}};
    const char *word = strcmp(key, "schedule") == 0    ? l->schedule->head.name
                       : strcmp(key, "sharding") == 0  ? l->sharding->head.name
                       : strcmp(key, "recompute") == 0 ? recompute_names[l->recompute]
                                                       : (l->sequence_parallel ? "true" : "false");
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (strcmp(counts[i].key, key) == 0) {
            snprintf(text, WORD_MAX, "%" PRIu32, counts[i].value);
            return;
        }
    }
    snprintf(text, WORD_MAX, "%s", word);
}

bool search_filter_read(struct arena *arena, const char *text, struct search_filter *out,
                        struct error *error)
{
    char *rest = arena_text(arena, text);
    *out = (struct search_filter){.count = 0};
    while (rest != NULL && *rest != '\0') {
        char *word = rest, *comma = strchr(rest, ',');
        rest = comma != NULL ? comma + 1 : NULL;
        if (comma != NULL)
            *comma = '\0';
        char *equals = strchr(word, '=');
        if (equals == NULL || equals[1] == '\0')
            return error_set(error, "expected KEY=VALUE, as in tp=4,pp=4");
        *equals = '\0';
        if (!known_key(word))
            return error_set(error,
                             "%.40s is no key of a layout; they are tp, pp, cp, dp, vpp, "
                             "microbatch, schedule, recompute, recompute_layers, sharding and "
                             "sequence_parallel",
                             word);
        if (out->count == WHY_KEY_MAX)
            return error_set(error, "more than %d keys", WHY_KEY_MAX);
        out->wanted[out->count++] = (struct search_wanted){word, equals + 1};
    }
    return out->count > 0 || error_set(error, "expected KEY=VALUE, as in tp=4,pp=4");
}

static bool takes(const struct search_filter *filter, const struct search_layout *layout)
{
    char text[WORD_MAX];
    for (unsigned i = 0; i < filter->count; i++) {
        value_of(layout, filter->wanted[i].key, text);
        if (strcmp(text, filter->wanted[i].value) != 0)
            return false;
    }
    return true;
}

/* How far a row came; of two that came as far the faster, by what is known of it. */
static bool further(const struct search_row *a, const struct search_row *b)
{
    static const unsigned char order[FATE_COUNT] = {
        [FATE_RULE] = 0,  [FATE_MEMORY] = 1, [FATE_LEDGER] = 2, [FATE_OPEN] = 3,
        [FATE_BOUND] = 3, [FATE_TIMED] = 4,  [FATE_LEADER] = 5,
    };
    if (order[a->fate] != order[b->fate])
        return order[a->fate] > order[b->fate];
    if (a->pass_s != b->pass_s)
        return a->pass_s < b->pass_s;
    return a->fate == FATE_MEMORY ? a->least_bytes < b->least_bytes : a->least_s < b->least_s;
}

static void say_rule(struct search_verdict *v)
{
    struct rule_break breaks[BREAKS_READ];
    const unsigned count = configuration_check(&v->c, breaks, BREAKS_READ);
    for (unsigned i = 0; i < count && i < BREAKS_READ && v->rule[0] == '\0'; i++)
        if (!breaks[i].warning)
            snprintf(v->rule, sizeof v->rule, "%s", breaks[i].text);
}

static void find_overflow(const struct search *s, struct search_verdict *v)
{
    struct step_options options = {.memory_only = true};
    struct step *step = NULL;
    struct error error;
    struct configuration c = v->c;
    c.gpu.usable_hbm_bytes *= 1.0 - s->question.headroom_ratio;
    if (!step_run(&c, &options, &step, &error))
        return;
    if (!step->fits) {
        const struct stage_memory *m = &step->memory[step->failed_program];
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
        };
    }
    step_destroy(step);
}

static void compare(const struct search *s, struct search_verdict *v)
{
    const struct search_leader *first = s->leader_count > 0 ? &s->leaders[0] : &v->leader;
    search_lead_price(s->base, first, &v->leader);
    for (unsigned part = 0; part < PART_COUNT; part++)
        v->lost_s[part] = v->leader.breakdown_s[part] - first->breakdown_s[part];
}

/* The one that came furthest of those that match and were not tried. */
static const struct search_row *next_row(const struct search *s, const struct search_filter *filter,
                                         const struct search_row *const *tried, unsigned count)
{
    const struct search_row *best = NULL;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const struct search_row *row = &s->rows[i];
        bool known = !takes(filter, &row->layout);
        for (unsigned k = 0; k < count; k++)
            known = known || tried[k] == row;
        if (!known && (best == NULL || further(row, best)))
            best = row;
    }
    return best;
}

static bool timed_or_bound(const struct search_row *row)
{
    return row->fate != FATE_RULE && row->fate != FATE_MEMORY && row->fate != FATE_LEDGER;
}

/* Rows behind the leaders were not asked whether they fit: the first that does. */
static void play_first(const struct search *s, const struct search_filter *filter,
                       struct search_verdict *v)
{
    const double usable_bytes = s->base->gpu.usable_hbm_bytes * (1.0 - s->question.headroom_ratio);
    const struct search_row *tried[TRIED_MAX] = {v->row};
    for (unsigned count = 1; count <= TRIED_MAX; count++) {
        const struct search_row *row = tried[count - 1];
        if (row == NULL || !timed_or_bound(row))
            return;
        v->played = search_lead_play(s->base, row, usable_bytes, &v->leader);
        if (v->played) {
            v->row = row;
            search_apply(s->base, &row->layout, &v->c);
            compare(s, v);
            return;
        }
        v->too_large = count;
        if (count < TRIED_MAX)
            tried[count] = next_row(s, filter, tried, count);
    }
}

void search_why(const struct search *s, const struct search_filter *filter,
                struct search_verdict *out)
{
    *out = (struct search_verdict){.count = 0};
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (takes(filter, &s->rows[i].layout)) {
            out->count++;
            out->fates[s->rows[i].fate]++;
        }
    }
    out->row = next_row(s, filter, NULL, 0);
    if (out->row == NULL)
        return;
    search_apply(s->base, &out->row->layout, &out->c);
    if (out->row->fate == FATE_RULE)
        say_rule(out);
    else if (timed_or_bound(out->row))
        play_first(s, filter, out);
    if (out->row->fate != FATE_RULE && !out->played)
        find_overflow(s, out);
}
