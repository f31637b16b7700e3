#include <string.h>

#include "analysis/command/exchange/export_arguments.h"
#include "analysis/command/exchange/export_picture.h"
#include "analysis/command/exchange/format_write.h"
#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/exchange/launch/launch.h"
#include "analysis/output/terminal/output.h"
#include "analysis/output/terminal/session.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/restore.h"
#include "analysis/tell/json/json.h"

/* What an option goes with: formats, by their rows. */
static const char *wants(const char *option, char *out, size_t size)
{
    size_t used = 0;
    if (strcmp(option, "--set") == 0)
        return "--launch and a scenario";
    if (strcmp(option, "--json") == 0)
        return "--launch; --format csv is for programs too";
    if (strcmp(option, "--catalogue") == 0)
        used = (size_t)snprintf(out, size, "--launch");
    for (unsigned i = 0; format_names[i] != NULL && used < size; i++)
        for (const char *const *takes = format_kinds[i]->takes; *takes != NULL; takes++)
            if (strcmp(*takes, option) == 0)
                used += (size_t)snprintf(out + used, size - used, "%s%s",
                                         used > 0 ? " or --format " : "--format ", format_names[i]);
    return used > 0 ? out : "another kind of output";
}

/* The options of a format, and --format itself. */
static const char *stray_of_format(const struct export_arguments *a)
{
    const char *fit[OPTION_MAX] = {"--format"};
    unsigned count = 1;
    for (const char *const *takes = format_kinds[a->format]->takes; *takes != NULL; takes++)
        fit[count++] = *takes;
    return arguments_stray(&a->line, fit);
}

/* Does the line ask for what does not go with the rest of it? Tells on notes. */
static bool sound_line(const struct export_arguments *a, FILE *notes)
{
    static const char *const launch[] = {"--launch", "--set",    "--catalogue",
                                         "--json",   "--output", NULL},
                             *const picture[] = {"--svg", "--output", NULL};
    char formats[OPTION_DOC_BYTES];
    const char *stray = a->has_launch    ? arguments_stray(&a->line, launch)
                        : a->has_picture ? arguments_stray(&a->line, picture)
                                         : stray_of_format(a);
    if (stray != NULL && a->has_launch)
        fprintf(notes, "orrery export: --launch writes a script: leave out %s\n", stray);
    else if (stray != NULL && a->has_picture)
        fprintf(notes, "orrery export: --svg draws one picture: leave out %s\n", stray);
    else if (stray != NULL)
        fprintf(notes, "orrery export: %s goes with %s\n", stray,
                wants(stray, formats, sizeof formats));
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

#define ARGUMENTS struct export_arguments
static const struct option options[] = {
    {"--format", OPTION_CHOICE, FIELD(format), "FORMAT", format_names,
#define X(name, doc) #name ": " doc "; "
#include "analysis/command/exchange/format_list.h"
#undef X
     "chrome unless it is said"},
    {"--svg", OPTION_CHOICE, FIELD_GIVEN(picture, has_picture), "PICTURE", picture_names,
     "a picture: the pipeline, memory of the stages, where the step goes, layouts by memory and "
     "speed (of a study), the curve of a study, kernels under the roof, which hardware matters, "
     "the machine"},
    {"--table", OPTION_TEXT, FIELD(table), "NAME", NULL, "the table or view for csv (slice)"},
    {"--rank", OPTION_COUNT, FIELD_GIVEN(rank, has_rank), "N", NULL,
     "chrome: only this rank, instead of one of each class; kineto, chakra: instead of "
     "all"},
    {"--launch", OPTION_CHOICE, FIELD_GIVEN(launch, has_launch), "FRAMEWORK", launch_names,
     "print the script that starts this layout, with sbatch or by hand; FILE may then be a "
     "scenario"},
    {"--set", OPTION_SET, FIELD(scenario.sets), "K=V", NULL,
     "with --launch: change a key of the scenario, as in --set layout.tp=4; may be repeated"},
    OPTION_CATALOGUE_ROW(scenario.catalogue),
    OPTION_JSON_ROW(json),
    {"--output", OPTION_OUTPUT, FIELD(output), "FILE", NULL, "write to FILE instead of stdout"},
    OPTION_END};

static int write_picture(const struct exporting *e, FILE *out)
{
    struct error error = {""};
    return format_done(
        e, export_picture(e->arguments, e->query, e->arguments->picture, out, &error), &error);
}

static int write_output(const struct exporting *e)
{
    const struct export_arguments *a = e->arguments;
    const struct format_kind *kind = format_kinds[a->format];
    if (a->has_picture)
        return format_write(e, OUTPUT_PICTURE, a->output, write_picture);
    return kind->write_all != NULL ? kind->write_all(e)
                                   : format_write(e, kind->written, a->output, kind->write);
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
    const int code = write_output(&(struct exporting){arguments, session, query});
    query_close(query);
    return code;
}

const struct command command_export = {
    .head = {.name = "export",
             .doc =
                 "writes a results database as traces, a picture, CSV or a failure trace; or its "
                 "layout as a launch script"},
    .positional = "FILE",
    .options = options,
    .bytes = sizeof(struct export_arguments),
    .example = "orrery export llama3-70b-64xh100.db --format chrome --output trace.json",
    .run = run,
};
