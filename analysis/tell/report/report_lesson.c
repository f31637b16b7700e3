#include "analysis/tell/report/report_lesson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/tell/report/report_parts.h"
#include "scenarios/language/source.h"

enum {
    NAME_WIDTH = 12,
    CELL_WIDTH = 10,
    SHOWN_COLUMNS = 6
};
/* The runs side by side: what any of them knows. */
struct lesson_column {
    const char *head;
    size_t offset; /* in struct lesson_run_row */
    struct text (*write)(double value);
};
static const struct lesson_column columns[SHOWN_COLUMNS] = {
    {"step", offsetof(struct lesson_run_row, step_s), format_time},
    {"tok/s/GPU", offsetof(struct lesson_run_row, tokens_per_s_per_gpu), format_quantity},
    {"MFU", offsetof(struct lesson_run_row, mfu_ratio), format_percent},
    {"bubble", offsetof(struct lesson_run_row, bubble_ratio), format_percent},
    {"memory", offsetof(struct lesson_run_row, peak_reserved_bytes), format_bytes},
    {"goodput", offsetof(struct lesson_run_row, goodput_ratio), format_percent},
};

static double cell_of(const struct lesson_run_row *run, const struct lesson_column *column)
{
    return *(const double *)(const void *)((const char *)run + column->offset);
}

/* A bubble is worth a column where some run has one. */
static bool worth(const struct lesson_run_row *runs, size_t count,
                  const struct lesson_column *column)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(cell_of(&runs[i], column)) && cell_of(&runs[i], column) > 0.0)
            return true;
    return false;
}

static const char *name_of(const struct lesson_run_row *run)
{
    return *run->name != '\0' ? run->name : "this run";
}

static void print_paragraph(const struct session *s, const struct record *record, const char *head,
                            const char *text)
{
    if (*text == '\0')
        return;
    report_heading(s, head);
    fputs("  ", s->out);
    wrap_print(s->out, s->width, source_whole(record->arena, text), 2);
}

static void print_captions(const struct session *s, const struct record *record)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].severity, "note") != 0)
            continue;
        if (!any)
            report_heading(s, "Captions");
        any = true;
        const int used = fprintf(s->out, "  at %s: ", format_time(strtod(rows[i].key, NULL)).s);
        wrap_print(s->out, s->width, source_whole(record->arena, rows[i].text), used);
    }
}

/* What the runs are, below their numbers. */
static void print_meanings(const struct session *s, const struct record *record,
                           const struct lesson_run_row *runs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const int used = fprintf(s->out, "  %-*s ", NAME_WIDTH, format_shown(runs[i].name).s);
        wrap_print(s->out, s->width, source_whole(record->arena, runs[i].shows), used);
        fprintf(s->out, "%*s%s", used, "", session_dim(s));
        wrap_print(s->out, s->width, source_whole(record->arena, runs[i].set), used);
        fputs(session_plain(s), s->out);
    }
}

static void print_runs(const struct session *s, const struct record *record)
{
    size_t count;
    const struct lesson_run_row *runs = record_lesson_run(record, &count);
    report_heading(s, "The runs");
    fprintf(s->out, "  %-*s", NAME_WIDTH, "");
    for (unsigned k = 0; k < SHOWN_COLUMNS; k++)
        if (worth(runs, count, &columns[k]))
            fprintf(s->out, " %*s", CELL_WIDTH, columns[k].head);
    fputc('\n', s->out);
    for (size_t i = 0; i < count; i++) {
        fprintf(s->out, "  %-*s", NAME_WIDTH, format_shown(name_of(&runs[i])).s);
        for (unsigned k = 0; k < SHOWN_COLUMNS; k++)
            if (worth(runs, count, &columns[k]))
                fprintf(s->out, " %*s", CELL_WIDTH,
                        columns[k].write(cell_of(&runs[i], &columns[k])).s);
        fputs(runs[i].fits == 1 ? "\n" : "  does not fit\n", s->out);
    }
    print_meanings(s, record, runs, count);
}

static void print_questions(const struct session *s, const struct record *record, bool answers)
{
    size_t count;
    const struct question_row *rows = record_question(record, &count);
    report_heading(s, "Questions");
    for (size_t i = 0; i < count; i++) {
        const int used = fprintf(s->out, "  %zu. ", i + 1);
        wrap_print(s->out, s->width, source_whole(record->arena, rows[i].ask), used);
        if (!answers)
            continue;
        const int answer = fprintf(s->out, "%*s%s  ", used, "", format_shown(rows[i].text).s);
        fputs(session_dim(s), s->out);
        wrap_print(s->out, s->width,
                   arena_format(record->arena, "= %s", source_whole(record->arena, rows[i].answer)),
                   answer);
        fprintf(s->out, "%s%*s", session_plain(s), used, "");
        wrap_print(s->out, s->width, source_whole(record->arena, rows[i].why), used);
    }
}

void report_lesson(const struct session *s, const struct record *record, bool answers)
{
    size_t count;
    const struct lesson_row *lesson = record_lesson(record, &count);
    const struct run_row *run = record_run(record);
    fprintf(s->out, "%sLesson %lld: %s%s\n  ", session_bold(s), (long long)lesson->place,
            source_whole(record->arena, run->scenario), session_plain(s));
    wrap_print(s->out, s->width, source_whole(record->arena, lesson->shows), 2);
    print_paragraph(s, record, "Look for", lesson->look_for);
    print_captions(s, record);
    print_runs(s, record);
    print_questions(s, record, answers);
    print_paragraph(s, record, "Next", lesson->next);
}

static void markdown_runs(const struct record *record, FILE *out)
{
    size_t count;
    const struct lesson_run_row *runs = record_lesson_run(record, &count);
    const char *rule = "|---|---|";
    fputs("\n| run | what it is |", out);
    for (unsigned k = 0; k < SHOWN_COLUMNS; k++)
        if (worth(runs, count, &columns[k]))
            fprintf(out, " %s |", columns[k].head);
    fprintf(out, "\n%s", rule);
    for (unsigned k = 0; k < SHOWN_COLUMNS; k++)
        if (worth(runs, count, &columns[k]))
            fputs("---:|", out);
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "| %s | %s%s |", name_of(&runs[i]), i == 0 ? "" : runs[i].shows,
                runs[i].fits == 1 ? "" : " (does not fit)");
        for (unsigned k = 0; k < SHOWN_COLUMNS; k++)
            if (worth(runs, count, &columns[k]))
                fprintf(out, " %s |", columns[k].write(cell_of(&runs[i], &columns[k])).s);
        fputc('\n', out);
    }
}

void report_lesson_markdown(const struct record *record, const char *name, FILE *out)
{
    size_t count, question_count;
    const struct lesson_row *lesson = record_lesson(record, &count);
    const struct question_row *rows = record_question(record, &question_count);
    fprintf(out, "## %lld. %s\n\n`orrery lesson %s`\n\n%s\n\n**Look for.** %s\n",
            (long long)lesson->place, record_run(record)->scenario, name, lesson->shows,
            lesson->look_for);
    markdown_runs(record, out);
    for (size_t i = 0; i < question_count; i++)
        fprintf(out, "\n%zu. *%s* **%s** (`%s`)  \n   %s\n", i + 1, rows[i].ask, rows[i].text,
                rows[i].answer, rows[i].why);
    if (*lesson->next != '\0')
        fprintf(out, "\n**Next.** %s\n", lesson->next);
    fputc('\n', out);
}
