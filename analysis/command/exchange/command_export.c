#include <string.h>

#include "analysis/command/exchange/export_arguments.h"
#include "analysis/command/exchange/export_picture.h"
#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/exchange/export/export.h"
#include "analysis/exchange/launch/launch.h"
#include "analysis/output/terminal/output.h"
#include "analysis/output/terminal/session.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/restore.h"
#include "analysis/tell/json/json.h"
#include "scenarios/language/names.h"

/* What each option goes with. */
static const char *wants(const char *option)
{
    static const char *const rows[][2] = {{"--set", "--launch and a scenario"},
                                          {"--catalogue", "--launch"},
                                          {"--json", "--launch; --format csv is for programs too"},
                                          {"--rank", "--format chrome"},
                                          {"--table", "--format csv"}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], option) == 0)
            return rows[i][1];
    return "another kind of output";
}

/* Does the line ask for what does not go with the rest of it? Tells on notes. */
static bool sound_line(const struct export_arguments *a, FILE *notes)
{
    static const char *const launch[] = {"--launch", "--set",    "--catalogue",
                                         "--json",   "--output", NULL},
                             *const picture[] = {"--svg", "--output", NULL},
                             *const of_formats[][4] = {
                                 [EXPORT_CHROME] = {"--format", "--output", "--rank", NULL},
                                 [EXPORT_CSV] = {"--format", "--output", "--table", NULL},
                                 [EXPORT_SVG] = {"--format", "--output", NULL},
                                 [EXPORT_FAILURES] = {"--format", "--output", NULL}};
    const char *stray = arguments_stray(&a->line, a->has_launch    ? launch
                                                  : a->has_picture ? picture
                                                                   : of_formats[a->format]);
    if (stray != NULL && a->has_launch)
        fprintf(notes, "orrery export: --launch writes a script: leave out %s\n", stray);
    else if (stray != NULL && a->has_picture)
        fprintf(notes, "orrery export: --svg draws one picture: leave out %s\n", stray);
    else if (stray != NULL)
        fprintf(notes, "orrery export: %s goes with %s\n", stray, wants(stray));
    return stray == NULL;
}

static int restore(const struct export_arguments *arguments, struct session *session,
                   struct scenario **out)
{
    const char *path = arguments->line.positional[0];
    struct query *query;
    struct error error = {""};
    if (arguments->scenario.sets.count > 0) {
        fprintf(session->notes,
                "orrery export: --set changes a scenario; %s is what was run: name its scenario\n",
                format_shown(path).s);
        return EXIT_USAGE;
    }
    if (query_open(path, &query, &error)) {
        if (!query_complete(query))
            fprintf(session->notes, "note: %s is incomplete: its writer did not finish\n", path);
        *out = restore_scenario(query, path, arguments->scenario.catalogue, &error);
        query_close(query);
    }
    if (*out == NULL)
        fprintf(session->notes, "orrery export: %s\n", error.text);
    return *out != NULL ? EXIT_OK : EXIT_TROUBLE;
}

static void tell(const struct launch_kind *kind, const struct launch_text *text, FILE *notes)
{
    for (uint32_t i = 0; i < text->note_count; i++) {
        const struct launch_note *note = &text->notes[i];
        if (note->weight == LAUNCH_REFUSED)
            fprintf(notes, "orrery export: %s refuses this layout: %s\n", kind->head.name,
                    note->text);
        else
            fprintf(notes, "note: %s: %s\n", kind->head.name, note->text);
    }
}

static void print(const struct export_arguments *arguments, const struct scenario *scenario,
                  const struct launch_kind *kind, const struct launch_text *text, FILE *out)
{
    if (arguments->json) {
        json_launch(scenario, kind, text, out);
        return;
    }
    for (uint32_t i = 0; i < text->line_count; i++)
        fprintf(out, "%s\n", text->lines[i]);
}

static int write(const struct export_arguments *arguments, struct session *session,
                 const struct scenario *scenario)
{
    const struct launch_kind *kind = launch_kinds[arguments->launch];
    struct launch_beside beside;
    struct launch_text text;
    struct output output;
    struct error error = {""};
    launch_beside_find(scenario, kind, scenario->arena, &beside);
    launch_write(kind, &scenario->configuration, &beside, scenario->arena, &text);
    tell(kind, &text, session->notes);
    const int code = text.refused ? EXIT_REJECTED : EXIT_OK;
    if (arguments->output == NULL) {
        print(arguments, scenario, kind, &text, session->out);
        return code;
    }
    if (text.refused && !arguments->json) /* there is nothing to write */
        return code;
    const enum output_kind written = arguments->json ? OUTPUT_DOCUMENT : OUTPUT_SCRIPT;
    bool good = output_begin(&output, session, arguments->output, written, &error);
    if (good) {
        print(arguments, scenario, kind, &text, output.out);
        good = output_end(&output, session, true, &error);
    }
    if (!good)
        fprintf(session->notes, "orrery export: %s\n", error.text);
    return good ? code : EXIT_TROUBLE;
}

/* The script that starts the layout of a database or of a scenario. The exit code: EXIT_REJECTED
 * where the framework refuses the layout. */
static int export_launch(const struct export_arguments *arguments, struct session *session)
{
    struct scenario *scenario = NULL;
    const char *path = arguments->line.positional[0];
    int code = query_is_database(path) ? restore(arguments, session, &scenario)
                                       : load_scenario(&arguments->line, path, &arguments->scenario,
                                                       session, false, &scenario);
    if (code == EXIT_OK)
        code = write(arguments, session, scenario);
    scenario_destroy(scenario);
    return code;
}

static const char *const format_names[] = {"chrome", "csv", "svg", "failures", NULL};

#define ARGUMENTS struct export_arguments
static const struct option options[] = {
    {"--format", OPTION_CHOICE, FIELD(format), "FORMAT", format_names,
     "chrome: trace events for ui.perfetto.dev; csv: one table or view; svg: as --svg gantt; "
     "failures: the failures of weeks, as `law: trace` reads them; what must stand beside the "
     "trace is said on stderr"},
    {"--svg", OPTION_CHOICE, FIELD_GIVEN(picture, has_picture), "PICTURE", picture_names,
     "a picture: the pipeline, memory of the stages, where the step goes, layouts by memory and "
     "speed (of a study), the curve of a study, kernels under the roof, which hardware matters, "
     "the machine"},
    {"--table", OPTION_TEXT, FIELD(table), "NAME", NULL, "the table or view for csv (slice)"},
    {"--rank", OPTION_COUNT, FIELD_GIVEN(rank, has_rank), "N", NULL,
     "only this rank in a chrome trace, instead of one of each class"},
    {"--launch", OPTION_CHOICE, FIELD_GIVEN(launch, has_launch), "FRAMEWORK", launch_names,
     "print the script that starts this layout, with sbatch or by hand; FILE may then be a "
     "scenario"},
    {"--set", OPTION_SET, FIELD(scenario.sets), "K=V", NULL,
     "with --launch: change a key of the scenario, as in --set layout.tp=4; may be repeated"},
    OPTION_CATALOGUE_ROW(scenario.catalogue),
    OPTION_JSON_ROW(json),
    {"--output", OPTION_OUTPUT, FIELD(output), "FILE", NULL, "write to FILE instead of stdout"},
    OPTION_END};

static bool known_table(struct query *query, const char *table, FILE *notes)
{
    if (query_knows(query, table))
        return true;
    const char *nearest = names_nearest(table, query_objects(query));
    fprintf(notes, "orrery export: no table or view '%s'", format_shown(table).s);
    if (nearest != NULL) {
        fprintf(notes, "; did you mean '%s'?\n", nearest);
        return false;
    }
    fputs("; there are:", notes);
    for (unsigned i = 0; i < query_objects(query).count; i++)
        fprintf(notes, " %s", query_objects(query).names[i]);
    fputc('\n', notes);
    return false;
}

static int write_format(const struct export_arguments *arguments, struct query *query, FILE *out,
                        FILE *notes)
{
    struct error error = {""};
    bool good;
    if (arguments->has_picture) {
        good = export_picture(arguments, query, arguments->picture, out, &error);
    } else if (arguments->format == EXPORT_CSV) {
        const char *table = arguments->table != NULL ? arguments->table : "slice";
        if (!known_table(query, table, notes))
            return EXIT_USAGE;
        good = export_csv(query, table, out, &error);
    } else if (arguments->format == EXPORT_SVG) {
        good = export_picture(arguments, query, PICTURE_gantt, out, &error);
    } else if (arguments->format == EXPORT_FAILURES) {
        good = export_trace(query, out, &error) && export_trace_beside(query, notes, &error);
    } else {
        good =
            export_chrome(query, arguments->has_rank ? (int64_t)arguments->rank : -1, out, &error);
    }
    if (!good)
        fprintf(notes, "orrery export: %s\n", error.text);
    return good ? EXIT_OK : EXIT_TROUBLE;
}

static enum output_kind kind_of(const struct export_arguments *arguments)
{
    static const enum output_kind of_formats[] = {[EXPORT_CHROME] = OUTPUT_CHROME,
                                                  [EXPORT_CSV] = OUTPUT_CSV,
                                                  [EXPORT_SVG] = OUTPUT_PICTURE,
                                                  [EXPORT_FAILURES] = OUTPUT_CSV};
    return arguments->has_picture ? OUTPUT_PICTURE : of_formats[arguments->format];
}

static int write_file(const struct export_arguments *arguments, struct query *query,
                      struct session *session)
{
    struct output output;
    struct error error = {""};
    if (!output_begin(&output, session, arguments->output, kind_of(arguments), &error)) {
        fprintf(session->notes, "orrery export: %s\n", error.text);
        return EXIT_TROUBLE;
    }
    int code = write_format(arguments, query, output.out, session->notes);
    if (!output_end(&output, session, code == EXIT_OK, &error)) {
        fprintf(session->notes, "orrery export: %s\n", error.text);
        return EXIT_TROUBLE;
    }
    return code;
}

static bool take_unfit(void *context, const struct query_row *row, struct error *error)
{
    bool *unfit = context;
    (void)error;
    *unfit = *unfit || query_integer(row, 0) > 0;
    return true;
}

/* Pictures and tables of what does not fit do not show it. */
static void note_unfit(struct query *query, const char *path, FILE *notes)
{
    bool unfit = false;
    struct error error = {""};
    if (query_knows(query, "run") &&
        query_run(query, "select count(*) from run where fits = 0", NULL, take_unfit, &unfit,
                  &error) &&
        unfit)
        fprintf(notes,
                "note: %s does not fit in memory: its times are of cards that were large enough\n",
                format_shown(path).s);
}

static int run(const void *line, struct session *session)
{
    const struct export_arguments *arguments = line;
    struct query *query;
    struct error error = {""};
    if (!sound_line(arguments, session->notes))
        return EXIT_USAGE;
    if (arguments->has_launch)
        return export_launch(arguments, session);
    if (arguments->has_rank && arguments->rank > INT32_MAX) {
        fputs("orrery export: --rank takes a rank of the run\n", session->notes);
        return EXIT_USAGE;
    }
    if (strcmp(arguments->line.positional[0], "-") == 0) {
        fputs("orrery export: a database cannot be read from a stream; name its file\n",
              session->notes);
        return EXIT_TROUBLE;
    }
    if (!query_open(arguments->line.positional[0], &query, &error)) {
        const char *dot = strrchr(arguments->line.positional[0], '.');
        const bool scenario = dot != NULL && strcmp(dot, ".yaml") == 0;
        fprintf(session->notes, "orrery export: %s%s\n", error.text,
                scenario ? "; a scenario goes with --launch" : "");
        return EXIT_TROUBLE;
    }
    if (!query_complete(query)) {
        fprintf(session->notes, "note: %s is incomplete: its writer did not finish\n",
                arguments->line.positional[0]);
    }
    note_unfit(query, arguments->line.positional[0], session->notes);
    int code = arguments->output != NULL
                   ? write_file(arguments, query, session)
                   : write_format(arguments, query, session->out, session->notes);
    query_close(query);
    return code;
}

const struct command command_export = {
    .head = {.name = "export",
             .doc =
                 "writes a results database as a Chrome trace, a picture, CSV or a failure trace; "
                 "or its layout as a launch script"},
    .positional = "FILE",
    .options = options,
    .bytes = sizeof(struct export_arguments),
    .example = "orrery export llama3-70b-64xh100.db --format chrome --output trace.json",
    .run = run,
};
