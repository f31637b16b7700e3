/* shell_hear.c - what a listener says of a script beforehand, and what it is told. */
#include <string.h>

#include "scenarios/import/mllog/shell_state.h"
#include "scenarios/language/source.h"
#include "sim/list.h"

bool shell_tell(struct shell_text *at, const struct shell_command *command, unsigned first)
{
    struct shell *shell = at->shell;
    struct shell_value value;
    char *words = NULL;
    uint32_t count = 0, room = 0;
    if (shell->ear == NULL)
        return true;
    for (unsigned i = first; i < command->count; i++) {
        if (!shell_expand(at, command->words[i], &value))
            return false;
        const size_t bytes = strlen(value.text);
        LIST_ROOM(shell->arena, words, count, (uint32_t)bytes + 2, room);
        memcpy(words + count, value.text, bytes);
        memcpy(words + count + bytes, " ", 2);
        count += (uint32_t)bytes + 1;
    }
    if (count > 0)
        shell->ear->command(shell->ear->object, words, at->path, command->line);
    return true;
}

bool shell_fix(struct shell_text *at)
{
    struct shell *shell = at->shell;
    const struct shell_ear *ear = shell->ear;
    for (unsigned i = 0; ear != NULL && i < ear->set_count; i++) {
        const size_t bytes = shell_name_bytes(ear->sets[i]);
        if (bytes == 0 || ear->sets[i][bytes] != '=')
            return error_set(shell->error,
                             "--set %s: a variable of the script and its value, as in "
                             "TP=8",
                             source_quote(shell->arena, ear->sets[i]));
        const char *name = arena_format(shell->arena, "%.*s", (int)bytes, ear->sets[i]);
        if (!shell_set(at, name, (struct shell_value){ear->sets[i] + bytes + 1, NULL}))
            return false;
        for (uint32_t k = 0; k < shell->count; k++)
            if (strcmp(shell->rows[k].name, name) == 0)
                shell->rows[k].fixed = true;
    }
    return true;
}
