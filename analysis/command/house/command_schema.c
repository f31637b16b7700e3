#include "analysis/command/line/command.h"
#include "analysis/tell/contract/contract.h"
#include "analysis/tell/document/document_json.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/describe/describe.h"

struct schema_arguments {
    struct arguments line;
    bool markdown, commands, has_document;
    unsigned document; /* of contract_names */
};
#define ARGUMENTS struct schema_arguments
static const struct option options[] = {
    {"--markdown", OPTION_FLAG, FIELD(markdown), NULL, NULL, "print the reference of every key"},
    {"--commands", OPTION_FLAG, FIELD(commands), NULL, NULL,
     "print the commands and their options as JSON, for programs that call them"},
    {"--of", OPTION_CHOICE, FIELD_GIVEN(document, has_document), "DOCUMENT", contract_names,
     "print the JSON Schema of a document that a command prints with --json"},
    OPTION_END};
static const struct option_conflict conflicts[] = {
    {"--commands", "--markdown",
     "--commands tells of commands, --markdown of keys: give one of them"},
    {"--of", "--markdown", "--of tells of documents, --markdown of keys: give one of them"},
    {"--of", "--commands", "--commands prints a document; --of commands alone prints its schema"},
    {NULL, NULL, NULL}};

static const char *type_word(enum option_type type)
{
    static const char *const words[] = {
        [OPTION_FLAG] = "flag",     [OPTION_COUNT] = "count",       [OPTION_SOME] = "some",
        [OPTION_MAYBE] = "maybe",   [OPTION_FACTOR] = "factor",     [OPTION_SIZE] = "size",
        [OPTION_LIMIT] = "limit",   [OPTION_TEXT] = "text",         [OPTION_INPUT] = "input",
        [OPTION_FOLDER] = "folder", [OPTION_PICTURE] = "picture",   [OPTION_PAGE] = "page",
        [OPTION_OUTPUT] = "output", [OPTION_DATABASE] = "database", [OPTION_CHOICE] = "choice",
        [OPTION_RATIO] = "ratio",   [OPTION_SHARE] = "share",       [OPTION_TIME] = "time",
        [OPTION_MONEY] = "money",   [OPTION_POWER] = "power",       [OPTION_SET] = "set",
        [OPTION_VARY] = "vary",     [OPTION_STEP] = "step"};
    return words[type];
}

static void add_option(struct fact *in, const struct option *option)
{
    struct fact *row = document_object(in, NULL);
    document_word(row, "name", option->name);
    document_word(row, "type", type_word(option->type));
    document_word(row, "value", option->value);
    document_word(row, "usual", option->usual);
    document_word(row, "doc", option->doc);
    document_flag(row, "repeats", option->member == MEMBER_LIST);
    struct fact *choices = document_array_if(option->choices != NULL, row, "choices");
    for (unsigned i = 0; choices != NULL && option->choices[i] != NULL; i++)
        document_word(choices, NULL, option->choices[i]);
}

static void add_command(struct fact *in, const struct command *command)
{
    struct fact *row = document_object(in, NULL);
    document_word(row, "name", command->head.name);
    document_word(row, "doc", command->head.doc);
    document_word(row, "positional", command->positional);
    document_word(row, "details", command->details);
    document_word(row, "example", command->example);
    struct fact *list = document_array(row, "options");
    for (const struct option *o = command->options; o->name != NULL; o++)
        add_option(list, o);
    struct fact *pairs = document_array(row, "conflicts");
    for (const struct option_conflict *c = command->conflicts; c != NULL && c->one != NULL; c++) {
        struct fact *pair = document_object(pairs, NULL);
        document_word(pair, "one", c->one);
        document_word(pair, "other", c->other);
        document_word(pair, "why", c->why);
    }
}

static void tell_commands(FILE *out)
{
    struct arena *arena = arena_create();
    struct fact *document = document_begin(arena, "orrery.commands/1", NULL);
    struct fact *rows = document_array(document, "commands");
    for (unsigned i = 0; i < command_count; i++)
        add_command(rows, commands[i]);
    document_json(document, out);
    arena_destroy(arena);
}

static int run(const void *line, struct session *session)
{
    const struct schema_arguments *a = line;
    if (a->has_document)
        contract_print(contract_names[a->document], session->out);
    else if (a->commands)
        tell_commands(session->out);
    else if (a->markdown)
        describe_reference(session->out);
    else
        describe_schema(session->out);
    return EXIT_OK;
}

const struct command command_schema = {
    .head = {.name = "schema",
             .doc =
                 "prints the JSON Schema of scenarios, for editors, or of a document that --json "
                 "prints; or the reference in Markdown"},
    .options = options,
    .bytes = sizeof(struct schema_arguments),
    .conflicts = conflicts,
    .example = "orrery schema > orrery.schema.json",
    .run = run,
};
