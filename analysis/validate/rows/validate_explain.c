#include <stdio.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/record/evidence/published_mfu.h"
#include "analysis/validate/rows/validate_report.h"
#include "analysis/validate/table/validate_text.h"
#include "scenarios/language/names.h"

static struct validate_row *find(const struct validation *v, const char *id, struct error *error)
{
    const char **ids = ARENA_ARRAY(v->arena, const char *, v->row_count + 1);
    for (size_t i = 0; i < v->row_count; i++) {
        ids[i] = v->rows[i].id;
        if (strcmp(ids[i], id) == 0)
            return &v->rows[i];
    }
    const char *nearest = names_nearest(id, (struct name_list){ids, (unsigned)v->row_count});
    error_set(error, "%s: no row '%s'%s%s%s", v->csv->path, format_shown(id).s,
              nearest != NULL ? "; did you mean '" : "",
              nearest != NULL ? format_shown(nearest).s : "", nearest != NULL ? "'?" : "");
    return NULL;
}

static void print_values(const struct validation *v, const struct validate_row *row, FILE *out)
{
    for (unsigned m = 0; m < validate_metric_count(v->kind); m++) {
        const char *metric = v->kind->metrics[m];
        const struct validate_value *value = &row->values[m];
        bool predicted = value->has_predicted && !row->refused;
        double error;
        if (!predicted && !value->has_measured)
            continue;
        fprintf(out, "# %s: predicted %s", metric,
                validate_value_text(metric, predicted, value->predicted).s);
        fprintf(out, ", measured %s",
                validate_value_text(metric, value->has_measured, value->measured).s);
        if (validate_row_error(row, m, &error))
            fprintf(out, ", error %+.1f %%", 100.0 * error);
        fputc('\n', out);
    }
    if (row->measured != VERDICT_NONE && !row->refused)
        fprintf(out, "# memory: predicted %s, measured %s\n",
                row->predicted == VERDICT_OOM ? "out of it" : "to fit",
                row->measured == VERDICT_OOM ? "out of it" : "to fit");
    if (row->reached != NULL && !row->refused)
        fprintf(out,
                "# MFU %.1f %%, above every clean row of the card, precision and kind of model: "
                "at most %.1f %% (row %s)\n",
                100.0 * row->mfu_ratio, 100.0 * row->reached->mfu_ratio, row->reached->row);
    if (*row->note != '\0')
        fprintf(out, "# %s%s\n", row->refused ? "refused: " : "", format_shown(row->note).s);
}

/* Of what becomes no scenario: every column that is filled. */
static void print_columns(const struct validation *v, const struct validate_row *row, FILE *out)
{
    for (unsigned i = 0; i < v->csv->column_count; i++) {
        const char *cell = csv_cell(v->csv, row->record, v->csv->names[i]);
        if (*cell != '\0')
            fprintf(out, "#   %s: %s\n", format_shown(v->csv->names[i]).s, format_shown(cell).s);
    }
}

bool validate_explain(const struct validation *v, const char *id, FILE *out, struct error *error)
{
    struct validate_row *row = find(v, id, error);
    if (row == NULL)
        return false;
    if (!row->refused)
        v->kind->predict(v, row);
    struct validate_row asked = {.record = row->record, .id = row->id, .source = row->source};
    struct validate_text *text = ARENA_NEW(v->arena, struct validate_text);
    bool written = v->kind->write != NULL && v->kind->write(v, &asked, text);
    fprintf(out, "# row %s of %s, %s\n", format_shown(row->id).s, format_shown(v->csv->path).s,
            quality_names[row->quality]);
    print_values(v, row, out);
    if (written || v->kind->write == NULL)
        fprintf(out, "# %s\n", v->kind->explained);
    else
        fputs("# no scenario: the row was refused before there was one\n", out);
    if (written)
        fputs(text->s, out);
    else
        print_columns(v, row, out);
    return true;
}
