#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/record/evidence/record_run.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report.h"
#include "models/plan/minimum.h"

struct memory_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    uint64_t limit;
    bool json, verbose;
};
#define ARGUMENTS struct memory_arguments
static const struct option options[] = {
    OPTION_SCENARIO_ROWS(scenario),
    {"--limit", OPTION_SOME, FIELD_USUAL(limit, "16384"), "GPUS", NULL,
     "search for the smallest cluster of at most this many GPUs"},
    OPTION_JSON_ROW(json),
    OPTION_VERBOSE_ROW(verbose),
    OPTION_END};

static void tell(const struct memory_arguments *arguments, struct session *session,
                 const struct result *result)
{
    const struct configuration *c = &result->scenario->configuration;
    const uint64_t limit = arguments->limit;
    const unsigned open = result->scenario->choices.open, held = minimum_held(c, open);
    struct configuration smallest;
    uint64_t minimum = result->step != NULL ? minimum_layout(c, open, limit, &smallest) : 0;
    uint64_t fewer = minimum > 0 && minimum != MINIMUM_UNKNOWN ? minimum - 1 : limit;
    uint64_t opened = result->step != NULL && held != 0 ? minimum_gpus(c, open | held, fewer) : 0;
    struct rule_of_thumb rule;
    rule_of_thumb(c, &rule);
    struct arena *arena = arena_create();
    struct record record;
    record_of_run(arena, result, false, &record);
    const struct memory_told told = {.scenario = result->scenario,
                                     .rule = &rule,
                                     .helps = result->advice.helps,
                                     .minimum_gpus = minimum,
                                     .minimum = &smallest,
                                     .opened_gpus = opened != MINIMUM_UNKNOWN ? opened : 0,
                                     .held = held,
                                     .limit = limit,
                                     .all = arguments->verbose};
    document_print(report_memory(&record, &told), report_memory_lines, arguments->json, session);
    arena_destroy(arena);
}

static int simulate(const struct memory_arguments *arguments, struct session *session,
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

static int run(const void *line, struct session *session)
{
    const struct memory_arguments *a = line;
    struct scenario *scenario;
    int code =
        load_scenario(&a->line, a->line.positional[0], &a->scenario, session, false, &scenario);
    if (code != EXIT_OK)
        return code;
    code = simulate(a, session, scenario);
    scenario_destroy(scenario);
    return code;
}

const struct command command_memory = {
    .head = {.name = "memory",
             .doc = "shows what fills the memory of each stage, where it runs out, and how many "
                    "GPUs are needed"},
    .positional = "SCENARIO",
    .options = options,
    .bytes = sizeof(struct memory_arguments),
    .details = "exit code: 0 fits (or the model can only be counted), 4 does not fit",
    .example = "orrery memory scenarios/memory/memory-wall-70b-1gpu.yaml",
    .run = run,
};
