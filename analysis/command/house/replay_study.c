#include "analysis/command/house/replay_study.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/page/document.h"
#include "analysis/page/words.h"
#include "analysis/study/study_report.h"
#include "analysis/study/study_store.h"
#include "analysis/tell/json/json.h"
#include "sim/memory.h"

static void write_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\":", key);
    words_text(out, text, (unsigned)strlen(text));
}

static const char *unit_of_key(const struct vary *vary)
{
    static const char *const units[PARAM_TEXT + 1] = {
        [PARAM_RATIO] = "1",       [PARAM_TIME] = "s",           [PARAM_BYTES] = "B",
        [PARAM_BANDWIDTH] = "B/s", [PARAM_FLOP_RATE] = "FLOP/s", [PARAM_FREQUENCY] = "Hz",
        [PARAM_POWER] = "W",       [PARAM_MONEY] = "USD"};
    return vary->numeric && units[vary->type] != NULL ? units[vary->type] : "";
}

static void write_key(FILE *out, struct arena *arena, const struct vary *vary)
{
    fputs("{", out);
    write_text(out, "key", vary->key);
    fprintf(out, ",\"numeric\":%s,\"log\":%s,", vary->numeric ? "true" : "false",
            vary->log ? "true" : "false");
    write_text(out, "unit", unit_of_key(vary));
    fputs(",\"values\":[", out);
    for (size_t i = 0; i < vary->count; i++) {
        const struct vary_value *value = &vary->values[i];
        fputs(i > 0 ? ",{" : "{", out);
        write_text(out, "text", study_value_shown(arena, vary, value));
        fputs(",\"number\":", out);
        words_number(out, value->number);
        fputc('}', out);
    }
    fputs("]}", out);
}

/* Those that have a value somewhere. */
static void write_metrics(FILE *out, const struct study *study)
{
    const char *comma = "";
    fputs(",\n\"metrics\":[", out);
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        const struct study_metric_info *info = &study_metrics[m];
        if (!study_measures(study, m) || !study_has(study, (enum study_metric)m))
            continue;
        fprintf(out, "%s{", comma);
        write_text(out, "name", info->name);
        fputc(',', out);
        write_text(out, "unit", info->unit);
        fputc(',', out);
        write_text(out, "text", info->doc);
        fprintf(out, ",\"more\":%s}", info->larger_is_better ? "true" : "false");
        comma = ",";
    }
    fputc(']', out);
}

/* Which value of each key a point has: what the page finds its curves by. */
static void write_places(FILE *out, const struct study *study, const struct study_list *list)
{
    fputs(",\n\"places\":[", out);
    for (size_t i = 0; i < list->count; i++) {
        fputs(i > 0 ? ",[" : "[", out);
        for (unsigned k = 0; k < study->vary_count; k++)
            fprintf(out, "%s%zu", k > 0 ? "," : "",
                    study_vary_index(study->varies, study->vary_count, k, list->points[i]));
        fputc(']', out);
    }
    fputc(']', out);
}

/* The command that plays each point. */
static void write_lines(FILE *out, const struct study *study, const struct study_list *list)
{
    fputs(",\n\"lines\":[", out);
    for (size_t i = 0; i < list->count; i++) {
        const char *line = study_line(study->arena, "run", study, list->points[i]);
        fputs(i > 0 ? ",\n" : "\n", out);
        words_text(out, line, (unsigned)strlen(line));
    }
    fputc(']', out);
}

/* What `study` printed. */
static void write_report(FILE *out, const struct session *session, const struct study *study)
{
    char *text = NULL;
    size_t bytes = 0;
    struct study_list list = {0};
    struct session aside = *session;
    aside.out = open_memstream(&text, &bytes);
    if (aside.out == NULL)
        memory_refused(0);
    aside.colour = false;
    study_optimum(study, &list.optimum);
    list.count = study_order(study, study->options->top, &list.points);
    study_report(&aside, study, &list);
    if (fclose(aside.out) != 0)
        memory_refused(0);
    fputs(",\n", out);
    write_text(out, "report", text);
    free(text);
}

/* Every point that can be played, in the order of the grid; beyond STUDY_POINTS at even distances,
 * the best one among them. */
static size_t choose(const struct study *study, struct study_list *list)
{
    study_optimum(study, &list->optimum);
    const size_t all = study_order(study, 0, &list->points),
                 kept = all < STUDY_POINTS ? all : STUDY_POINTS;
    bool best = false;
    for (size_t i = 0; i < kept; i++) {
        list->points[i] = list->points[i * all / kept];
        best = best || (list->optimum.found && list->points[i] == list->optimum.point);
        if (!best && list->optimum.found && list->points[i] > list->optimum.point) {
            list->points[i] = list->optimum.point;
            best = true;
        }
    }
    if (!best && list->optimum.found && kept > 0)
        list->points[kept - 1] = list->optimum.point; /* behind all of them */
    list->count = kept;
    return all;
}

static void write_study(FILE *out, const struct session *session, const struct study *study)
{
    struct study_list list = {0};
    const size_t all = choose(study, &list);
    fputs(",\n", out);
    write_text(out, "title", study->name);
    fprintf(out, ",\"weeks\":%s,\"single\":%s,\"points\":%zu,\"keys\":[",
            study->weeks ? "true" : "false", study_single(study) ? "true" : "false", all);
    for (unsigned k = 0; k < study->vary_count; k++) {
        fputs(k > 0 ? ",\n" : "\n", out);
        write_key(out, study->arena, &study->varies[k]);
    }
    fputc(']', out);
    write_metrics(out, study);
    write_places(out, study, &list);
    write_lines(out, study, &list);
    write_report(out, session, study);
    fputs(",\n\"told\":", out);
    json_study(study, &list, (double)NAN, out); /* how long it took is not kept */
    fputs("}\n", out);
}

bool replay_study_write(const struct replay_source *source, const struct session *session,
                        FILE *out, struct error *error)
{
    struct arena *arena = arena_create();
    struct study study;
    const bool good = study_store_recall(source->query, arena, &study, error);
    if (good) {
        document_head(out, source->name, "study", query_complete(source->query));
        write_study(out, session, &study);
    }
    arena_destroy(arena);
    return good;
}
