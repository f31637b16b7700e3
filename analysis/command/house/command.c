#include "analysis/command/line/command.h"

#include <string.h>

#include "scenarios/language/names.h"

const struct command *const commands[] = {
#define X(name) &command_##name,
#include "analysis/command/line/command_list.h"
#undef X
};
const unsigned command_count = sizeof commands / sizeof commands[0];

static const struct kind *command_at(unsigned index)
{
    return index < command_count ? &commands[index]->head : NULL;
}

const struct command *command_find(const char *name)
{
    return (const struct command *)kind_find(command_at, name);
}

const char *command_nearest(const char *name)
{
    const char *known[sizeof commands / sizeof commands[0]];
    for (unsigned i = 0; i < command_count; i++)
        known[i] = commands[i]->head.name;
    return names_nearest(name, (struct name_list){known, command_count});
}
