#include <string.h>

#include "analysis/command/exchange/export_launch.h"
#include "analysis/command/exchange/export_picture.h"
#include "analysis/command/line/command.h"
#include "analysis/exchange/export/export.h"
#include "analysis/exchange/launch/launch.h"
#include "analysis/output/terminal/output.h"
#include "analysis/output/text/format.h"
#include "scenarios/language/names.h"

static const char *const format_names[] = {"chrome", "csv", "svg", "failures", NULL};

#define ARGUMENTS struct export_arguments
static const struct option options[] = {
    {"--format", OPTION_CHOICE, FIELD(format), "FORMAT", format_names,
     "chrome: trace events for ui.perfetto.dev; csv: one table or view; svg: as --svg gantt; "
     "failures: the failures of weeks, as `law: trace` reads them"},
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
        good = export_trace(query, out, &error);
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

static int run(const void *line, struct session *session)
{
    const struct export_arguments *arguments = line;
    struct query *query;
    struct error error = {""};
    if (!export_launch_line(arguments, session->notes))
        return EXIT_USAGE;
    if (arguments->has_launch)
        return export_launch(arguments, session);
    if (arguments->has_rank &&
        (arguments->format != EXPORT_CHROME || arguments->rank > INT32_MAX)) {
        fputs("orrery export: --rank takes a rank of the run, with --format chrome\n",
              session->notes);
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
