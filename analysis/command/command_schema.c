#include "analysis/line/command.h"
#include "scenarios/build/scenario.h"

static const struct option options[] = {
    {"--markdown", OPTION_FLAG, FIELD(markdown), NULL, NULL, "print the reference of every key"},
    OPTION_END};

static int run(const struct arguments *arguments, struct session *session)
{
    if (arguments->markdown)
        scenario_print_reference(session->out);
    else
        scenario_print_schema(session->out);
    return EXIT_OK;
}

const struct command command_schema = {
    .head = {.name = "schema",
             .doc =
                 "prints the JSON Schema of scenarios for editors, or their reference in Markdown"},
    .options = options,
    .example = "orrery schema > orrery.schema.json",
    .run = run,
};
