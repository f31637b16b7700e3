#include "analysis/tell/report/report_lesson.h"

#include <math.h>
#include <string.h>

#include "analysis/output/text/format.h"

/* The runs side by side: what any of them knows. X(key, head of its column, head) */
#define CELLS(X)                                                                                   \
    X(step_time_s, "       step", "step")                                                          \
    X(tokens_per_s_per_gpu, "  tok/s/GPU", "tok/s/GPU")                                            \
    X(mfu, "        MFU", "MFU")                                                                   \
    X(bubble_ratio, "     bubble", "bubble")                                                       \
    X(peak_reserved_bytes, "     memory", "memory")                                                \
    X(goodput, "    goodput", "goodput")

#define USED "{if row > 9}      {else}     {end}"
static const char lines[] = "{bold}Lesson {order:digits}: {scenario:whole}{plain}\n"
                            "  {wrap shows:whole 2}"
                            "{if .changed}\n  {wrap .changed 2}{end}"
                            "{if look_for}\n{bold}Look for{plain}\n  {wrap look_for:whole 2}{end}"
                            "{if captions}\n{bold}Captions{plain}\n{end}"
                            "{each captions}  at {at_s}: {wrap say:whole}{end}"
                            "\n{bold}The runs{plain}\n"
                            "              "
#define X(key, wide, head) "{if .has_" #key "}" wide "{end}"
    CELLS(X)
#undef X
        "\n"
        "{each runs}  {.name<12}"
#define X(key, wide, head) "{if .has_" #key "} {" #key ">10}{end}"
    CELLS(X)
#undef X
        "{if not fits}  does not fit{if step_time_s}: told as if it did{end}{end}\n{end}"
        "{each runs}{if row > 1}"
        "  {name<12} {wrap shows:whole}  {.blanks} {dim}{wrapped}{set:whole}{end}{plain}"
        "{end}{end}"
        "\n{bold}Questions{plain}\n"
        "{each questions}  {row:digits}. {wrap ask:whole}"
        "{if .answers}" USED "{text}  {dim}{wrapped}= {answer:whole}{end}{plain}" USED
        "{wrap why:whole}{end}{end}"
        "{if next}\n{bold}Next{plain}\n  {wrap next:whole 2}{end}";
const char *const report_lesson_lines[] = {lines, NULL};

static const char markdown[] =
    "## {order:digits}. {scenario:raw}\n\n`orrery lesson {.word:raw}`\n\n{shows:raw}\n\n"
    "**Look for.** {look_for:raw}\n"
    "\n| run | what it is |"
#define X(key, wide, head) "{if .has_" #key "} " head " |{end}"
    CELLS(X)
#undef X
        "\n|---|---|"
#define X(key, wide, head) "{if .has_" #key "}---:|{end}"
    CELLS(X)
#undef X
        "\n"
        "{each runs}| {.name:raw} | {if row > 1}{shows:raw}{end}{if not fits} (does not fit){end} |"
#define X(key, wide, head) "{if .has_" #key "} {" #key "} |{end}"
    CELLS(X)
#undef X
        "\n{end}"
        "{each questions}\n{row:digits}. *{ask:raw}* **{text:raw}** (`{answer:raw}`)  \n   "
        "{why:raw}\n"
        "{end}"
        "{if next}\n**Next.** {next:raw}\n{end}\n";
const char *const report_lesson_markdown[] = {markdown, NULL};

/* A bubble is worth a column where some run has one. */
static void set_worth(struct fact *o, const struct fact *runs)
{
#define X(name, wide, head) ".has_" #name,
    static const char *const keys[] = { CELLS(X) };
#undef X
    const size_t has = strlen(".has_");
    for (unsigned k = 0; k < sizeof keys / sizeof *keys; k++) {
        bool worth = false;
        for (const struct fact *run = runs->value.of.first; run != NULL; run = run->next) {
            const double cell =
                document_find(run, keys[k] + has, strlen(keys[k] + has))->value.real;
            worth = worth || (isfinite(cell) && cell > 0.0);
        }
        document_flag(o, keys[k], worth);
    }
}

static void set_run(struct fact *o, const struct lesson_run_row *row)
{
    const char *name = *row->name != '\0' ? row->name : "this run";
    const size_t length = strlen(format_shown(name).s), least = 12;
    document_columns(o, ROW_lesson_run, row, "name set shows");
    document_flag(o, "fits", row->fits == 1);
    document_columns(o, ROW_lesson_run, row,
                     "step_time_s=step_s tokens_per_s_per_gpu mfu=mfu_ratio bubble_ratio "
                     "peak_reserved_bytes goodput=goodput_ratio");
    document_quote(o, ".name", name);
    document_word(o, ".blanks",
                  arena_format(o->arena, "%*s", (int)(length > least ? length : least), ""));
}

struct fact *report_lesson(const struct record *record, const struct scenario *scenario,
                           const char *word, bool answers)
{
    size_t lessons, run_count, question_count;
    const struct lesson_row *lesson = record_lesson(record, &lessons);
    const struct lesson_run_row *run = record_lesson_run(record, &run_count);
    const struct question_row *question = record_question(record, &question_count);
    struct fact *o = document_begin(record->arena, "orrery.lesson/1", scenario);
    document_columns(o, ROW_lesson, lesson, "order=place shows look_for next");
    struct fact *captions = document_array(o, "captions");
    for (unsigned i = 0; i < scenario->note_count; i++) {
        struct fact *caption = document_object(captions, NULL);
        document_real(caption, "at_s", IN_SECONDS, scenario->notes[i].at_s);
        document_quote(caption, "say", scenario->notes[i].say);
    }
    struct fact *runs = document_array(o, "runs");
    for (size_t i = 0; i < run_count; i++)
        set_run(document_object(runs, NULL), &run[i]);
    struct fact *questions = document_array(o, "questions");
    for (size_t i = 0; i < question_count; i++)
        document_columns(document_object(questions, NULL), ROW_question, &question[i],
                         "ask answer value unit text why");
    set_worth(o, runs);
    document_flag(o, ".answers", answers);
    document_word(
        o, ".changed",
        scenario->file.set_count > 0
            ? "With --set the runs and the formulas of the answers follow; the sentences, "
              "and numbers that stand in a formula, tell of the lesson as it ships."
            : NULL);
    document_quote(o, ".word", word);
    return o;
}
