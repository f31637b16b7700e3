#include <math.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/command/runs/compare_trace.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/record_file.h"
#include "analysis/record/database/restore.h"
#include "analysis/record/evidence/record_run.h"
#include "analysis/record/numbers/job_record.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report_compare.h"
#include "scenarios/language/inputs.h"

#define ARGUMENTS struct compare_arguments
static const struct option options[] = {
    {"--set", OPTION_SET, FIELD(scenario.sets), "K=V", NULL,
     "change a key of the scenario B (with --trace: A), as in --set layout.tp=4; may be repeated"},
    {"--catalogue", OPTION_FOLDER, FIELD(scenario.catalogue), "DIR", NULL,
     "read hardware, models and software of scenarios from DIR, instead of the built-in catalogue"},
    {"--seed", OPTION_COUNT, FIELD_GIVEN(scenario.seed, scenario.has_seed), "N", NULL,
     "seed of every random stream of scenarios"},
    {"--trace", OPTION_INPUT, FIELD(trace), "FILE", NULL,
     "a trace of the PyTorch profiler: compare its step with that of the scenario A, span by span"},
    {"--rank", OPTION_COUNT, FIELD_GIVEN(rank, has_rank), "N", NULL,
     "with --trace: the rank to simulate (that of the trace)"},
    {"--step", OPTION_COUNT, FIELD_GIVEN(step, has_step), "N", NULL,
     "with --trace: its ProfilerStep#N (the last one)"},
    OPTION_OTHER_CARD_ROW(
        other_card, "with --trace: compare although it names another card than the scenario's"),
    {"--csv", OPTION_FLAG, FIELD(csv), NULL, NULL,
     "with --trace: print each pair of spans as a line of CSV"},
    OPTION_JSON_ROW(json),
    OPTION_END};
static const struct option_conflict conflicts[] = {
    {"--csv", "--json", "--csv or --json, not both: they go to the same place"},
    {NULL, NULL, NULL}};

static int trouble(const struct session *session, const char *path, const char *text)
{
    fprintf(session->notes, "orrery compare: %s: %s\n", format_shown(path).s, text);
    return EXIT_TROUBLE;
}

/* `files`: what other files hold that the scenario names (inputs.h). */
static void take_stated(struct arena *arena, const struct value *root, const char *files,
                        struct compared_side *out)
{
    out->told = root != NULL;
    if (root == NULL)
        return;
    value_words(arena, root, &out->stated);
    for (unsigned i = 0; i < out->stated.count; i++) {
        struct stated_word *word = &out->stated.rows[i];
        const char *contents = inputs_of_key(arena, files, word->path);
        const char *text = contents[0] == '\0'
                               ? arena_text(arena, word->text)
                               : arena_format(arena, "%s (contents %s)", word->text, contents);
        *word = (struct stated_word){arena_text(arena, word->path), text};
    }
}

static int read_database(struct session *session, struct arena *arena, struct compared_side *out)
{
    struct query *query;
    struct error error = {""};
    if (!query_open(out->path, &query, &error)) {
        fprintf(session->notes, "orrery compare: %s\n", error.text);
        return EXIT_TROUBLE;
    }
    if (!query_complete(query))
        fprintf(session->notes, "note: %s is incomplete: its writer did not finish\n",
                format_shown(out->path).s);
    const struct value *root = NULL;
    const char *files = "";
    const bool good = record_read(query, arena, &out->record, &error) &&
                      stands_on_read(query, arena, &out->record, &out->constants, &error) &&
                      restore_stated(query, out->path, arena, &root, &files, &error);
    query_close(query);
    if (good)
        take_stated(arena, root, files, out);
    return good ? EXIT_OK : trouble(session, out->path, error.text);
}

static const char *kept(struct arena *arena, const char *text)
{
    return arena_text(arena, text != NULL ? text : "");
}

/* What a database would keep of the figures. */
static void take_figures(struct arena *arena, const struct scenario *s, struct compared_side *out)
{
    struct kept_constant *rows =
        ARENA_ARRAY(arena, struct kept_constant, s->stated.figure_count + 1);
    for (unsigned i = 0; i < s->stated.figure_count; i++) {
        const struct stated_figure *f = &s->stated.figures[i];
        rows[i] =
            (struct kept_constant){kept(arena, f->name), kept(arena, f->text),
                                   kept(arena, f->origin), kept(arena, f->source), f->error_ratio};
    }
    out->constants =
        (struct kept_constants){rows, s->stated.figure_count, record_run(&out->record)};
}

static int simulate(struct session *session, struct arena *arena, const struct scenario *scenario,
                    struct compared_side *out)
{
    const struct step_options how = {.threads = 1};
    struct job_record *job = NULL;
    struct error error = {""};
    struct step *step;
    struct result result;
    if (!step_run(&scenario->configuration, &how, &step, &error)) {
        fprintf(session->notes, "orrery compare: %s: %s\n", format_shown(out->path).s, error.text);
        return EXIT_REJECTED;
    }
    result_gather(scenario, step, &result);
    bool good = !scenario->has_run || !step->fits ||
                job_record_play(scenario, false, (struct job_watches){NULL, NULL}, &job, &error);
    result.job = job;
    if (good) {
        record_of_run(arena, &result, false, &out->record);
        record_keep_texts(&out->record);
        take_figures(arena, scenario, out);
    } else {
        fprintf(session->notes, "orrery compare: %s: %s\n", format_shown(out->path).s, error.text);
    }
    job_record_destroy(job);
    step_destroy(step);
    return good ? EXIT_OK : EXIT_REJECTED;
}

static int read_scenario(const struct compare_arguments *a, struct session *session,
                         struct arena *arena, unsigned which, struct compared_side *out)
{
    const struct scenario_arguments how = which == 1 ? a->scenario : load_unset(&a->scenario);
    struct scenario *scenario;
    int code = load_scenario(&a->line, out->path, &how, session, false, &scenario);
    if (code != EXIT_OK)
        return code;
    code = simulate(session, arena, scenario, out);
    take_stated(arena, scenario->file.root, inputs_lines(arena, scenario->file.inputs), out);
    scenario_destroy(scenario);
    return code;
}

static int read_side(const struct compare_arguments *a, struct session *session,
                     struct arena *arena, unsigned which, struct compared_side *out)
{
    out->path = a->line.positional[which];
    if (query_is_database(out->path))
        return read_database(session, arena, out);
    return read_scenario(a, session, arena, which, out);
}

static int tell(const struct compare_arguments *a, struct session *session, struct arena *arena)
{
    struct compared_side sides[2] = {{.path = ""}, {.path = ""}};
    struct comparison comparison;
    struct error error = {""};
    for (unsigned i = 0; i < 2; i++) {
        const int code = read_side(a, session, arena, i, &sides[i]);
        if (code != EXIT_OK)
            return code;
    }
    if (!comparison_of(arena, sides, &comparison, &error)) {
        fprintf(session->notes, "orrery compare: %s\n", error.text);
        return EXIT_TROUBLE;
    }
    document_print(report_compare(sides, &comparison), report_compare_lines, a->json, session);
    return comparison.timed ? EXIT_OK : EXIT_NOTHING_FITS;
}

/* NULL, or what is wrong with the line. */
static const char *problem(const struct compare_arguments *a)
{
    if (a->trace != NULL) {
        if (a->line.positional_count != 1)
            return "--trace is compared with A alone";
        if (strcmp(a->line.positional[0], "-") == 0 && strcmp(a->trace, "-") == 0)
            return "standard input can be one of the two";
        return query_is_database(a->line.positional[0])
                   ? "--trace is compared with a scenario, which is simulated; A is a database"
                   : NULL;
    }
    if (a->has_rank || a->has_step || a->csv || a->other_card)
        return "--rank, --step, --csv and --other-card go with --trace";
    if (a->line.positional_count < 2)
        return "B is missing: it compares two databases or scenarios";
    if (strcmp(a->line.positional[0], "-") == 0 && strcmp(a->line.positional[1], "-") == 0)
        return "standard input can be one of the two";
    return a->scenario.sets.count > 0 && query_is_database(a->line.positional[1])
               ? "--set changes B where it is a scenario; a database is what was run"
               : NULL;
}

static int run(const void *line, struct session *session)
{
    const struct compare_arguments *a = line;
    const char *wrong = problem(a);
    if (wrong != NULL) {
        fprintf(session->notes, "orrery compare: %s\n", wrong);
        return EXIT_USAGE;
    }
    struct arena *arena = arena_create();
    const int code = a->trace != NULL ? compare_trace(a, session, arena) : tell(a, session, arena);
    arena_destroy(arena);
    return code;
}

const struct command command_compare = {
    .head = {.name = "compare",
             .doc = "explains the difference between two runs or scenarios, term by term"},
    .positional = "A [B]",
    .options = options,
    .bytes = sizeof(struct compare_arguments),
    .conflicts = conflicts,
    .details = "A and B are databases of `run`, or scenarios, which are simulated.\n"
               "With --trace FILE, written by torch.profiler, give A alone: the report has kernels "
               "by kind,\n"
               "exposed communication, the worst spans, and the spans without a counterpart on "
               "either side.\n"
               "exit code: 0 compared, 1 no such file or a damaged one, 3 a scenario or a trace "
               "rejected,\n"
               "4 one does not fit in memory: then memory and settings are compared",
    .example = "orrery compare llama3-70b-64xh100.db scenarios/llama3-70b-64xh100.yaml --set "
               "layout.pp=4",
    .run = run,
};
