#include "analysis/command.h"
#include "analysis/json.h"
#include "analysis/load.h"

static const struct option options[] = {OPTION_SCENARIO_ROWS, OPTION_JSON_ROW, OPTION_END};

static int run(const struct arguments *arguments, struct session *session)
{
    struct scenario *scenario;
    int code = load_scenario(arguments, session, true, &scenario);
    if (scenario == NULL) {
        return code;
    }
    unsigned warnings = scenario->problem_count - scenario->error_count;
    if (arguments->json) {
        json_check(scenario, session->out);
    } else if (code == EXIT_OK) {
        fprintf(session->out, "%s: no errors, %u warning%s\n", scenario->path, warnings,
                warnings == 1 ? "" : "s");
    } else {
        fprintf(session->out, "%s: %u error%s, %u warning%s\n", arguments->positional[0],
                scenario->error_count, scenario->error_count == 1 ? "" : "s", warnings,
                warnings == 1 ? "" : "s");
    }
    scenario_destroy(scenario);
    return code;
}

const struct command command_check = {
    .name = "check",
    .doc = "tells every problem of a scenario in one pass",
    .positional = "SCENARIO",
    .options = options,
    .details = "exit code: 0 no errors (warnings may stand), 3 errors",
    .example = "orrery check scenarios/llama3-70b-64xh100.yaml --set layout.tp=6",
    .run = run,
};
