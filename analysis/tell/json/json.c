#include "analysis/tell/json/json.h"

#include "analysis/tell/json/json_parts.h"

static json_t *figures_of(const struct json_list_entry *entry)
{
    json_t *rows = json_array();
    for (unsigned i = 0; i < entry->figure_count; i++) {
        const struct stated_figure *f = &entry->figures[i];
        json_t *row = json_object();
        json_set(row, "name", json_text(f->name));
        json_set(row, "text", json_text(f->text));
        json_set(row, "value", json_number_if(f->number, f->value));
        json_set(row, "unit", json_text(f->unit));
        json_set(row, "error_ratio", json_number(f->error_ratio));
        json_set(row, "origin", json_text(f->origin));
        json_set(row, "source", json_text(f->source));
        json_append(rows, row);
    }
    return rows;
}

static json_t *words_of(const struct value *mapping)
{
    json_t *words = json_object();
    for (const struct value *m = mapping != NULL ? mapping->first : NULL; m != NULL; m = m->next)
        json_set(words, m->key, json_text(m->text));
    return words;
}

/* Dated facts: of which runs, and the keys that each sets. */
static json_t *history_of(const struct json_list_entry *entry)
{
    json_t *rows = json_array();
    for (unsigned i = 0; i < entry->history.count; i++) {
        const struct release_fact *f = &entry->history.facts[i];
        json_t *row = json_object();
        json_set(row, "since", json_text(f->since));
        json_set(row, "what", json_text(f->what));
        json_set(row, "when", words_of(f->when));
        json_set(row, "sets", words_of(f->sets));
        json_set(row, "untaken", *f->untaken ? json_text(f->untaken) : json_null());
        json_set(row, "size", *f->size ? json_text(f->size) : json_null());
        json_set(row, "source", json_text(f->source));
        json_append(rows, row);
    }
    return rows;
}

void json_list(const struct json_list_entry *entries, unsigned entry_count, FILE *out)
{
    json_t *o = json_document("orrery.list/1", NULL);
    json_t *rows = json_array();
    for (unsigned i = 0; i < entry_count; i++) {
        json_t *row = json_object();
        json_set(row, "family", json_text(entries[i].family));
        json_set(row, "name", json_text(entries[i].name));
        json_set(row, "doc", json_text(entries[i].doc));
        if (entries[i].figures != NULL)
            json_set(row, "figures", figures_of(&entries[i]));
        if (entries[i].history.count > 0)
            json_set(row, "history", history_of(&entries[i]));
        json_append(rows, row);
    }
    json_set(o, "rows", rows);
    json_print(o, out);
}

void json_check(const struct scenario *scenario, const char *refusal, bool fits, FILE *out)
{
    json_t *o = json_document("orrery.check/1", scenario);
    json_t *problems = json_array();
    for (unsigned i = 0; i < scenario->diagnostics.problem_count; i++) {
        const struct problem *p = &scenario->diagnostics.problems[i];
        json_t *row = json_object();
        json_set(row, "severity", json_text(p->warning ? "warning" : "error"));
        json_set(row, "file", json_text(p->file));
        json_set(row, "line", json_count(p->line));
        json_set(row, "column", json_count(p->column));
        json_set(row, "text", json_text(p->text));
        json_append(problems, row);
    }
    json_set(o, "valid", json_boolean(scenario->diagnostics.error_count == 0 && refusal == NULL));
    json_set(o, "refusal", refusal != NULL ? json_text(refusal) : json_null());
    json_set(o, "fits", json_boolean(fits));
    json_set(o, "errors", json_count(scenario->diagnostics.error_count));
    json_set(o, "warnings", json_count(scenario->diagnostics.warning_count));
    json_set(o, "problems", problems);
    json_set(o, "more_errors", json_count(scenario_errors_left(scenario)));
    json_set(o, "more_warnings", json_count(scenario_warnings_left(scenario)));
    json_print(o, out);
}
