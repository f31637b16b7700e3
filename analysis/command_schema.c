#include "analysis/command.h"
#include "scenarios/scenario.h"

static const struct option options[] = {OPTION_END};

static int run(const struct arguments *arguments, struct session *session)
{
    (void)arguments;
    scenario_print_schema(session->out);
    return EXIT_OK;
}

const struct command command_schema = {
    .name = "schema",
    .doc = "prints the JSON Schema of scenarios, for editors",
    .options = options,
    .example = "orrery schema > orrery.schema.json",
    .run = run,
};
