#include "analysis/json/json.h"
#include "analysis/line/command.h"
#include "analysis/line/load.h"
#include "analysis/report/report.h"
#include "analysis/result/record_run.h"
#include "models/fit/minimum.h"

enum {
    DEFAULT_LIMIT = 16384
};

static const struct option options[] = {
    OPTION_SCENARIO_ROWS,
    {"--limit", OPTION_COUNT, FIELD(limit), "GPUS", NULL,
     "look for the smallest cluster up to this many GPUs (16384)"},
    OPTION_JSON_ROW,
    OPTION_VERBOSE_ROW,
    OPTION_END};

static void tell(const struct arguments *arguments, struct session *session,
                 const struct result *result)
{
    const struct configuration *c = &result->scenario->configuration;
    uint64_t limit = arguments->limit > 0 ? arguments->limit : DEFAULT_LIMIT;
    uint64_t minimum = result->step != NULL ? minimum_gpus(c, limit) : 0;
    struct rule_of_thumb rule;
    rule_of_thumb(c, &rule);
    if (arguments->json) {
        json_memory(result, &rule, minimum, session->out);
        return;
    }
    struct arena *arena = arena_create();
    struct record record;
    record_of_run(arena, result, false, &record);
    report_memory(session, &record, result->advice.helps, &rule, minimum, limit);
    if (arguments->verbose)
        report_defaults(session, &record);
    arena_destroy(arena);
}

static int simulate(const struct arguments *arguments, struct session *session,
                    const struct scenario *scenario)
{
    struct step_options step_options = {.memory_only = true};
    struct step *step;
    struct result result;
    struct error error = {""};
    if (!step_run(&scenario->configuration, &step_options, &step, &error)) {
        fprintf(session->notes, "orrery: %s\n", error.text);
        return EXIT_REJECTED;
    }
    result_gather(scenario, step, &result);
    result_advise(&result);
    tell(arguments, session, &result);
    int code = step->fits ? EXIT_OK : EXIT_NOTHING_FITS;
    step_destroy(step);
    return code;
}

static int run(const struct arguments *arguments, struct session *session)
{
    struct scenario *scenario;
    int code = load_scenario(arguments, session, false, &scenario);
    if (code != EXIT_OK)
        return code;
    code = simulate(arguments, session, scenario);
    scenario_destroy(scenario);
    return code;
}

const struct command command_memory = {
    .head = {.name = "memory",
             .doc =
                 "what fills the memory of each stage, where it ends, and how many GPUs it takes"},
    .positional = "SCENARIO",
    .options = options,
    .details = "exit code: 0 fits (or the model can only be counted), 4 does not fit",
    .example = "orrery memory scenarios/memory-wall-70b-1gpu.yaml",
    .run = run,
};
