#include "analysis/plan/search/search_broken.h"

#include <stdio.h>
#include <string.h>

#include "models/plan/plan_layout.h"
#include "sim/check.h"

enum {
    BREAKS_READ = 64, /* warnings among them */
    KEYS_MAX = 64
};
struct rule_tally {
    const char *key;
    uint32_t count;
};
struct row_breaks {
    struct rule_break all[BREAKS_READ];
    unsigned count;
};

/* What a row breaks, without warnings, one of each key. */
static void read_breaks(const struct search *s, const struct search_row *row,
                        struct row_breaks *out)
{
    struct configuration c;
    plan_layout_apply(s->base, &row->layout, &c);
    const unsigned count = configuration_check(&c, out->all, BREAKS_READ);
    CHECK(count <= BREAKS_READ);
    out->count = 0;
    for (unsigned i = 0; i < count; i++) {
        bool kept = !out->all[i].warning;
        for (unsigned k = 0; k < out->count && kept; k++)
            kept = strcmp(out->all[k].key, out->all[i].key) != 0;
        if (kept)
            out->all[out->count++] = out->all[i];
    }
}

static void add(struct rule_tally tallies[KEYS_MAX], const char *key)
{
    unsigned i = 0;
    while (tallies[i].key != NULL && strcmp(tallies[i].key, key) != 0)
        i++;
    CHECK(i + 1 < KEYS_MAX);
    tallies[i].key = key;
    tallies[i].count++;
}

/* The row that breaks fewest beside this key, and whether all break it in the same words. */
static void choose_row(const struct search *s, struct row_breaks *breaks, struct search_broken *out)
{
    unsigned fewest = BREAKS_READ + 1;
    out->same = true;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const struct rule_break *found = NULL;
        read_breaks(s, &s->rows[i], breaks);
        for (unsigned k = 0; k < breaks->count && found == NULL; k++)
            if (strcmp(breaks->all[k].key, out->key) == 0)
                found = &breaks->all[k];
        out->same = out->same && found != NULL &&
                    (out->row == NULL || strcmp(found->text, out->sentence) == 0);
        if (found == NULL || breaks->count >= fewest)
            continue;
        fewest = breaks->count;
        out->row = &s->rows[i];
        snprintf(out->sentence, sizeof out->sentence, "%s", found->text);
    }
}

void search_broken_find(const struct search *s, struct search_broken *out)
{
    struct rule_tally tallies[KEYS_MAX] = {{NULL, 0}};
    struct row_breaks breaks;
    *out = (struct search_broken){.known = s->row_count > 0 &&
                                           s->counts.fates[FATE_RULE] == s->row_count};
    if (!out->known)
        return;
    for (uint32_t i = 0; i < s->row_count; i++) {
        read_breaks(s, &s->rows[i], &breaks);
        for (unsigned k = 0; k < breaks.count; k++)
            add(tallies, breaks.all[k].key);
    }
    for (const struct rule_tally *t = tallies; t->key != NULL; t++)
        if (t->count > out->count) {
            out->key = t->key;
            out->count = t->count;
        }
    choose_row(s, &breaks, out);
}
