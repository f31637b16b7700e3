#include "analysis/command/line/load.h"

#include "analysis/command/line/command.h"
#include "analysis/command/line/outputs.h"
#include "analysis/record/evidence/expectation.h"
#include "analysis/record/evidence/lesson_record.h"
#include "scenarios/language/file.h"
#include "sim/plural.h"

struct scenario_options load_options(const struct scenario_arguments *how)
{
    return (struct scenario_options){
        .catalogue = how->catalogue,
        .sets = how->sets.words,
        .set_count = how->sets.count,
        .has_seed = how->has_seed,
        .seed = how->seed,
        .layout_open = how->layout_open,
        .alone = how->alone,
    };
}

struct scenario_arguments load_unset(const struct scenario_arguments *how)
{
    struct scenario_arguments other = *how;
    other.sets.count = 0;
    return other;
}

/* What the reader found, told; `scenario` NULL: `error` says why. */
static int settle(const struct arguments *line, struct session *session, bool keep_rejected,
                  struct scenario *scenario, const struct error *error)
{
    if (scenario == NULL) {
        fprintf(session->notes, "orrery: %s\n", error->text);
        return EXIT_TROUBLE;
    }
    lesson_record_check(scenario);
    expectation_check(scenario);
    scenario_print_problems(scenario, session->notes, session->notes_colour);
    bool rejected = scenario->diagnostics.error_count > 0;
    if (rejected && !keep_rejected) {
        fprintf(session->notes, "%u error%s; nothing was run\n", scenario->diagnostics.error_count,
                plural_s(scenario->diagnostics.error_count));
        return EXIT_REJECTED;
    }
    int code = outputs_spare(line, scenario->file.inputs, session);
    return code == EXIT_OK && rejected ? EXIT_REJECTED : code;
}

int load_scenario(const struct arguments *line, const char *path,
                  const struct scenario_arguments *how, struct session *session, bool keep_rejected,
                  struct scenario **out)
{
    const struct scenario_options options = load_options(how);
    struct error error = {""};
    struct scenario *scenario = scenario_read(path, NULL, 0, &options, &error);
    int code = settle(line, session, keep_rejected, scenario, &error);
    bool kept = code == EXIT_OK || (code == EXIT_REJECTED && keep_rejected);
    *out = kept ? scenario : NULL;
    if (!kept)
        scenario_destroy(scenario);
    return code;
}

int load_text(const struct arguments *line, const struct load_source *source,
              const struct scenario_arguments *how, struct session *session, struct scenario **out)
{
    const struct scenario_options options = load_options(how);
    struct error error = {""};
    struct scenario *scenario =
        scenario_read(source->name, source->text, source->bytes, &options, &error);
    int code = settle(line, session, false, scenario, &error);
    *out = code == EXIT_OK ? scenario : NULL;
    if (code != EXIT_OK)
        scenario_destroy(scenario);
    return code;
}

int load_refused_code(const char *path)
{
    return file_opens(path) ? EXIT_REJECTED : EXIT_TROUBLE;
}
