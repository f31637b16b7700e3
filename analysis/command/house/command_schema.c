#include "analysis/command/line/command.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/describe/describe.h"

struct schema_arguments {
    struct arguments line;
    bool markdown;
};
#define ARGUMENTS struct schema_arguments
static const struct option options[] = {
    {"--markdown", OPTION_FLAG, FIELD(markdown), NULL, NULL, "print the reference of every key"},
    OPTION_END};

static int run(const void *line, struct session *session)
{
    const struct schema_arguments *a = line;
    if (a->markdown)
        describe_reference(session->out);
    else
        describe_schema(session->out);
    return EXIT_OK;
}

const struct command command_schema = {
    .head = {.name = "schema",
             .doc =
                 "prints the JSON Schema of scenarios for editors, or their reference in Markdown"},
    .options = options,
    .bytes = sizeof(struct schema_arguments),
    .example = "orrery schema > orrery.schema.json",
    .run = run,
};
