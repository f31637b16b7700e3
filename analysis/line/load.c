#include "analysis/line/load.h"

#include "analysis/line/command.h"
#include "analysis/line/outputs.h"
#include "analysis/result/lesson_record.h"

static struct scenario_options options_of(const struct arguments *arguments)
{
    return (struct scenario_options){
        .catalogue = arguments->catalogue,
        .sets = arguments->sets,
        .set_count = arguments->set_count,
        .has_seed = arguments->has_seed,
        .seed = arguments->seed,
        .layout_open = arguments->layout_open,
        .alone = arguments->alone,
    };
}

/* What the reader found, told; `scenario` NULL: `error` says why. */
static int settle(const struct arguments *arguments, struct session *session, bool keep_rejected,
                  struct scenario *scenario, const struct error *error)
{
    if (scenario == NULL) {
        fprintf(session->notes, "orrery: %s\n", error->text);
        return EXIT_TROUBLE;
    }
    lesson_record_check(scenario);
    scenario_print_problems(scenario, session->notes, session->notes_colour);
    bool rejected = scenario->error_count > 0;
    if (rejected && !keep_rejected) {
        fprintf(session->notes, "%u error%s; nothing was run\n", scenario->error_count,
                scenario->error_count == 1 ? "" : "s");
        return EXIT_REJECTED;
    }
    int code = outputs_spare(arguments, scenario->inputs, session->notes);
    return code == EXIT_OK && rejected ? EXIT_REJECTED : code;
}

int load_scenario(const struct arguments *arguments, struct session *session, bool keep_rejected,
                  struct scenario **out)
{
    const struct scenario_options options = options_of(arguments);
    struct error error = {""};
    struct scenario *scenario = scenario_read(arguments->positional[0], NULL, 0, &options, &error);
    int code = settle(arguments, session, keep_rejected, scenario, &error);
    bool kept = code == EXIT_OK || (code == EXIT_REJECTED && keep_rejected);
    *out = kept ? scenario : NULL;
    if (!kept)
        scenario_destroy(scenario);
    return code;
}

int load_text(const struct arguments *arguments, struct session *session, const char *name,
              const char *text, size_t bytes, struct scenario **out)
{
    const struct scenario_options options = options_of(arguments);
    struct error error = {""};
    struct scenario *scenario = scenario_read(name, text, bytes, &options, &error);
    int code = settle(arguments, session, false, scenario, &error);
    *out = code == EXIT_OK ? scenario : NULL;
    if (code != EXIT_OK)
        scenario_destroy(scenario);
    return code;
}
