#include "analysis/command/house/replay_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/house/replay_plan_rows.h"
#include "analysis/command/plan/plan_join.h"
#include "analysis/output/text/shell.h"
#include "analysis/page/document.h"
#include "analysis/page/words.h"
#include "analysis/tell/report/report_layouts.h"
#include "sim/memory.h"

struct plan_document {
    FILE *out, *rows;   /* the machines; the rows of all of them */
    size_t machines;    /* that were seen */
    uint64_t row_count; /* in `rows` */
};

static void write_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":", key);
    words_text(out, text, (unsigned)strlen(text));
}

static void write_number(FILE *out, const char *key, double value)
{
    fprintf(out, ",\"%s\":", key);
    words_number(out, value);
}

static void write_count(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, ",\"%s\":%" PRIu64, key, value);
}

/* Where the rows of a search stand, and how many of each group are among them. */
static void write_groups(FILE *out, const struct replay_rows *rows)
{
    fputs(",\"groups\":[", out);
    for (unsigned i = 0; i < rows->group_count; i++) {
        const struct replay_group *g = &rows->groups[i];
        fprintf(out, "%s{\"fate\":\"%s\"", i > 0 ? "," : "", search_fate_names[g->fate]);
        write_text(out, "words", report_fate_words[g->fate]);
        if (g->rule != NULL)
            write_text(out, "rule", g->rule);
        write_count(out, "count", g->count);
        write_count(out, "drawn", g->drawn);
        fputc('}', out);
    }
    fputc(']', out);
}

static void write_machine(FILE *out, const struct plan_seen *seen, const struct replay_rows *rows)
{
    const struct search *s = seen->search;
    const struct configuration *c = s->base;
    fputs("{\"label\":", out);
    words_text(out, seen->label, (unsigned)strlen(seen->label));
    write_text(out, "title", seen->scenario->name);
    write_text(out, "gpu", c->gpu.name);
    write_count(out, "gpus", configuration_gpus(c));
    write_text(out, "node", c->cluster.node.name);
    write_text(out, "fabric", c->cluster.fabric.name);
    write_text(out, "software", c->software.name);
    write_count(out, "global_batch", c->training.global_batch);
    write_count(out, "sequence", c->training.sequence);
    write_number(out, "usable_bytes", c->gpu.hbm.usable_bytes);
    write_number(out, "headroom_ratio", s->question.headroom_ratio);
    write_count(out, "searched", s->counts.considered);
    write_count(out, "tried_again", s->counts.considered - s->row_count);
    fprintf(out, ",\"stopped\":%s,\"weeks\":%s", s->stopped ? "true" : "false",
            s->question.weeks != NULL ? "true" : "false");
    write_text(out, "line_head", seen->line.head);
    write_text(out, "line_tail", seen->line.tail);
    write_groups(out, rows);
    fputs(",\"leaders\":[", out);
    for (uint32_t i = 0; i < s->leader_count; i++)
        fprintf(out, "%s%" PRIu64, i > 0 ? "," : "", rows->first + rows->leaders[i]);
    fputs("]}", out);
}

static void look(void *context, const struct plan_seen *seen)
{
    struct plan_document *d = context;
    struct arena *arena = arena_create();
    struct replay_rows rows = {.arena = arena, .machine = d->machines, .first = d->row_count};
    const uint64_t of = seen->machines > 0 ? seen->machines : 1;
    replay_rows_choose(&rows, seen->search, PLAN_ROWS_TIMED / of, PLAN_ROWS_REST / of);
    replay_rows_write(&rows, seen, d->rows);
    d->row_count += rows.count;
    fputs(d->machines++ > 0 ? ",\n" : "\n", d->out);
    write_machine(d->out, seen, &rows);
    arena_destroy(arena);
}

static FILE *stream(char **text, size_t *bytes)
{
    FILE *file = open_memstream(text, bytes);
    if (file == NULL)
        memory_refused(0);
    return file;
}

/* Ends a stream and hands its text on. */
static void pour(FILE *from, char **text, FILE *out)
{
    if (fclose(from) != 0)
        memory_refused(0);
    fputs(*text, out);
    free(*text);
}

/* The line of `plan`, for a shell. */
static bool take_word(void *context, const struct query_row *row, struct error *error)
{
    struct arena *arena = arena_create();
    unsigned bytes;
    (void)error;
    fprintf(context, " %s", shell_word(arena, query_text(row, 0, &bytes)));
    arena_destroy(arena);
    return true;
}

static bool write_line(struct query *query, FILE *out, struct error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *line = stream(&text, &bytes);
    fputs("orrery plan", line);
    const bool good = query_run(query, "select word from plan_option order by place", NULL,
                                take_word, line, error);
    if (fclose(line) != 0)
        memory_refused(0);
    write_text(out, "plan_line", text);
    free(text);
    return good;
}

int replay_plan_write(const struct arguments *line, const struct replay_source *source,
                      struct session *session, FILE *out)
{
    char *rows = NULL, *told = NULL;
    size_t row_bytes = 0, told_bytes = 0;
    struct plan_document d = {.out = out, .rows = stream(&rows, &row_bytes)};
    struct session aside = *session; /* what is told is a part of the document */
    struct error error = {""};
    aside.out = stream(&told, &told_bytes);
    document_head(out, source->name, "plan", query_complete(source->query));
    fputs(",\n\"machines\":[", out);
    int code = plan_join_look(line, source->path, &(struct plan_sight){look, &d}, &aside);
    fputs("],\n\"columns\":", out);
    replay_rows_columns(out);
    fputs(",\n\"rows\":[", out);
    pour(d.rows, &rows, out);
    fputs("]", out);
    if (!write_line(source->query, out, &error)) {
        fprintf(session->notes, "orrery replay: %s\n", error.text);
        code = EXIT_TROUBLE;
    }
    fputs(",\n\"told\":", out);
    pour(aside.out, &told, out);
    fputs("}\n", out);
    return code;
}
