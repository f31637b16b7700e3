#include <string.h>

#include "analysis/command/export_launch.h"
#include "analysis/command/export_picture.h"
#include "analysis/export/export.h"
#include "analysis/export/launch.h"
#include "analysis/line/command.h"
#include "analysis/terminal/output.h"
#include "analysis/text/format.h"
#include "scenarios/language/names.h"

static const struct option options[] = {
    {"--format", OPTION_CHOICE, FIELD(format), "FORMAT", export_format_names,
     "chrome: trace events for ui.perfetto.dev; csv: one table or view; svg: as --svg "
     "gantt; failures: those of weeks, as `law: trace` reads them"},
    {"--svg", OPTION_CHOICE, FIELD_GIVEN(picture, has_picture), "PICTURE", picture_names,
     "a picture: the pipeline, memory of the stages, where the step goes, layouts by memory and "
     "speed (of a study), the curve of a study, kernels under the roof, which hardware matters, "
     "the machine"},
    {"--table", OPTION_TEXT, FIELD(table), "NAME", NULL, "the table or view for csv (slice)"},
    {"--rank", OPTION_COUNT, FIELD_GIVEN(rank, has_rank), "N", NULL,
     "only this rank in a chrome trace, not one of each class"},
    {"--launch", OPTION_CHOICE, FIELD_GIVEN(launch, has_launch), "FRAMEWORK", launch_names,
     "the script that starts this layout, with sbatch or by hand; FILE may be a scenario then"},
    {"--set", OPTION_SET, FIELD(sets), "K=V", NULL,
     "with --launch: change a key of the scenario, as in --set layout.tp=4; may be repeated"},
    OPTION_CATALOGUE_ROW,
    OPTION_JSON_ROW,
    {"--output", OPTION_OUTPUT, FIELD(output), "FILE", NULL, "write to FILE, not to stdout"},
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

static int write_format(const struct arguments *arguments, struct query *query, FILE *out,
                        FILE *notes)
{
    struct error error = {""};
    bool good;
    if (arguments->has_picture) {
        good = export_picture(arguments, query, (enum picture)arguments->picture, out, &error);
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

static int write_file(const struct arguments *arguments, struct query *query,
                      struct session *session)
{
    struct output output;
    struct error error = {""};
    if (!output_begin(&output, session, arguments->output, &error)) {
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

static int run(const struct arguments *arguments, struct session *session)
{
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
    if (strcmp(arguments->positional[0], "-") == 0) {
        fputs("orrery export: a database cannot be read from a stream; name its file\n",
              session->notes);
        return EXIT_TROUBLE;
    }
    if (!query_open(arguments->positional[0], &query, &error)) {
        const char *dot = strrchr(arguments->positional[0], '.');
        const bool scenario = dot != NULL && strcmp(dot, ".yaml") == 0;
        fprintf(session->notes, "orrery export: %s%s\n", error.text,
                scenario ? "; a scenario goes with --launch" : "");
        return EXIT_TROUBLE;
    }
    if (!query_complete(query)) {
        fprintf(session->notes, "note: %s is incomplete: its writer did not finish\n",
                arguments->positional[0]);
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
    .example = "orrery export llama3-70b-64xh100.db --format chrome --output trace.json",
    .run = run,
};
