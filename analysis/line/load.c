#include "analysis/line/load.h"

#include "analysis/line/outputs.h"

int load_scenario(const struct arguments *arguments, struct session *session, bool keep_rejected,
                  struct scenario **out)
{
    struct scenario_options options = {
        .catalogue = arguments->catalogue,
        .sets = arguments->sets,
        .set_count = arguments->set_count,
        .has_seed = arguments->has_seed,
        .seed = arguments->seed,
        .layout_open = arguments->layout_open,
    };
    struct error error = {""};
    struct scenario *scenario = scenario_read(arguments->positional[0], NULL, 0, &options, &error);
    *out = NULL;
    if (scenario == NULL) {
        fprintf(session->notes, "orrery: %s\n", error.text);
        return EXIT_TROUBLE;
    }
    scenario_print_problems(scenario, session->notes, session->notes_colour);
    bool rejected = scenario->error_count > 0;
    if (rejected && !keep_rejected) {
        fprintf(session->notes, "%u error%s; nothing was run\n", scenario->error_count,
                scenario->error_count == 1 ? "" : "s");
        scenario_destroy(scenario);
        return EXIT_REJECTED;
    }
    int code = outputs_spare(arguments, scenario->inputs, session->notes);
    if (code != EXIT_OK) {
        scenario_destroy(scenario);
        return code;
    }
    *out = scenario;
    return rejected ? EXIT_REJECTED : EXIT_OK;
}
