#include "analysis/tell/report/figures.h"

#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"

/* The first figure with the same source as figure `i`. */
static unsigned first_of(const struct json_list_entry *entry, unsigned i)
{
    unsigned first = 0;
    while (strcmp(entry->figures[first].source, entry->figures[i].source) != 0)
        first++;
    return first;
}

/* Number of its source, from 1, in the order in which sources are met; 0: it names none. */
static unsigned source_number(const struct json_list_entry *entry, unsigned i)
{
    unsigned number = 0, first = first_of(entry, i);
    for (unsigned k = 0; k <= first; k++)
        number += first_of(entry, k) == k && entry->figures[k].source[0] != '\0';
    return entry->figures[i].source[0] != '\0' ? number : 0;
}

static int width_of(const struct json_list_entry *entry)
{
    size_t width = 0;
    for (unsigned i = 0; i < entry->figure_count; i++) {
        size_t length = strlen(entry->figures[i].name);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void print_figure(const struct json_list_entry *entry, unsigned i, int width, FILE *out)
{
    const struct stated_figure *f = &entry->figures[i];
    const char *error = f->error_ratio > 0.0 ? format_percent(f->error_ratio).s : "exact";
    fprintf(out, "  %-*s  %14s  %-8s", width, f->name, f->text, f->number ? error : "");
    if (source_number(entry, i) > 0)
        fprintf(out, "  [%u]", source_number(entry, i));
    fputc('\n', out);
}

static void print_sources(const struct json_list_entry *entry, const struct session *session)
{
    for (unsigned i = 0; i < entry->figure_count; i++) {
        const struct stated_figure *f = &entry->figures[i];
        if (first_of(entry, i) != i || f->source[0] == '\0')
            continue;
        int used = fprintf(session->out, "  [%u] %s: ", source_number(entry, i), f->origin);
        wrap_print(session->out, session->width, f->source, used);
    }
}

/* "sets cuda_graphs: full", a line each. */
static void print_words(const struct value *mapping, const char *verb, int indent, FILE *out)
{
    for (const struct value *m = mapping != NULL ? mapping->first : NULL; m != NULL; m = m->next)
        fprintf(out, "%*s%s %s: %s\n", indent, "", verb, m->key, m->text);
}

/* "2025-09  what changed", of which runs, what it sets, what not, how large, and the source. */
static void print_history(const struct json_list_entry *entry, const struct session *session)
{
    FILE *out = session->out;
    fprintf(out, "\nHistory (software.release: a fact holds from its month on)\n");
    for (unsigned i = 0; i < entry->history.count; i++) {
        const struct release_fact *f = &entry->history.facts[i];
        const int used = fprintf(out, "  %s  ", f->since);
        wrap_print(out, session->width, f->what, used);
        print_words(f->when, "where", used, out);
        print_words(f->sets, "sets", used, out);
        if (*f->untaken) {
            const int lead = fprintf(out, "%*sknown, not taken: ", used, "");
            wrap_print(out, session->width, f->untaken, lead);
        }
        if (*f->size) {
            fprintf(out, "%*s", used, "");
            wrap_print(out, session->width, f->size, used);
        }
        fprintf(out, "%*s", used, "");
        wrap_print(out, session->width, f->source, used);
    }
}

void figures_print(const struct json_list_entry *entry, const struct session *session)
{
    int width = width_of(entry);
    fprintf(session->out, "%s%s%s, of %s\n", session_bold(session), entry->name,
            session_plain(session), entry->family);
    wrap_print(session->out, session->width, entry->doc, 0);
    fprintf(session->out, "\n%s  %-*s  %14s  error (relative, one sigma) and source%s\n",
            session_dim(session), width, "key", "value", session_plain(session));
    for (unsigned i = 0; i < entry->figure_count; i++)
        print_figure(entry, i, width, session->out);
    if (entry->history.count > 0)
        print_history(entry, session);
    fprintf(session->out, "\nSources\n");
    print_sources(entry, session);
}
