/* shell_variables.c - the variables of a script: a row a name, in the order of their first setting.
 * There are tens, so that a row is looked for from the first on. */
#include <string.h>

#include "scenarios/import/mllog/shell_state.h"
#include "sim/check.h"
#include "sim/list.h"

size_t shell_element_bytes(const char *word)
{
    const size_t bytes = shell_name_bytes(word);
    const char *close = bytes > 0 && word[bytes] == '[' ? strchr(word + bytes, ']') : NULL;
    return close != NULL && close[1 + (close[1] == '+')] == '=' ? bytes : 0;
}

const struct shell_variable *shell_find(const struct shell *shell, const char *name)
{
    for (uint32_t i = 0; i < shell->count; i++)
        if (strcmp(shell->rows[i].name, name) == 0)
            return shell->rows[i].set ? &shell->rows[i] : NULL;
    return NULL;
}

static struct shell_variable *row_of(struct shell_text *at, const char *name)
{
    struct shell *shell = at->shell;
    for (uint32_t i = 0; i < shell->count; i++)
        if (strcmp(shell->rows[i].name, name) == 0)
            return &shell->rows[i];
    if (shell->count == SHELL_VARIABLES_MAX) {
        shell_bad(shell, at->path, at->line, "more than %d variables: it is no configuration",
                  SHELL_VARIABLES_MAX);
        return NULL;
    }
    LIST_ROOM(shell->arena, shell->rows, shell->count, 1, shell->room);
    struct shell_variable *row = &shell->rows[shell->count++];
    *row = (struct shell_variable){.name = arena_text(shell->arena, name)};
    return row;
}

static bool put(struct shell_text *at, const char *name, struct shell_value value, bool set)
{
    struct shell_variable *row = row_of(at, name);
    if (row == NULL)
        return false;
    if (row->fixed)
        return true;
    row->value = value.text;
    row->why = value.why;
    row->path = at->path;
    row->line = at->line;
    row->set = set;
    CHECK((row->value == NULL) == (row->why != NULL));
    return true;
}

bool shell_set(struct shell_text *at, const char *name, struct shell_value value)
{
    return put(at, name, value, true);
}

bool shell_unset(struct shell_text *at, const char *name)
{
    return put(at, name, (struct shell_value){"", NULL}, false);
}
