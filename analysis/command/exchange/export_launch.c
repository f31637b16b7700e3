#include "analysis/command/exchange/export_launch.h"

#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/exchange/launch/launch.h"
#include "analysis/output/terminal/output.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/restore.h"
#include "analysis/tell/json/json.h"

bool export_launch_line(const struct export_arguments *arguments, FILE *notes)
{
    const bool launch = arguments->has_launch;
    const char *odd = NULL;
    if (!launch && arguments->scenario.sets.count > 0)
        odd = "--set goes with --launch and a scenario";
    else if (!launch && arguments->scenario.catalogue != NULL)
        odd = "--catalogue goes with --launch";
    else if (!launch && arguments->json)
        odd = "--json goes with --launch; --format csv is for programs too";
    else if (arguments->has_picture && (launch || arguments->has_rank || arguments->table != NULL ||
                                        arguments->format != EXPORT_CHROME))
        odd = "--svg draws one picture: leave out --format, --table, --rank and --launch";
    else if (launch && arguments->has_rank)
        odd = "--rank takes a rank of the run, with --format chrome";
    else if (launch && (arguments->table != NULL || arguments->format != EXPORT_CHROME))
        odd = "--launch writes a script: leave out --format and --table";
    if (odd != NULL)
        fprintf(notes, "orrery export: %s\n", odd);
    return odd == NULL;
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
    struct launch_text text;
    struct output output;
    struct error error = {""};
    launch_write(kind, &scenario->configuration, scenario->arena, &text);
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

int export_launch(const struct export_arguments *arguments, struct session *session)
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
