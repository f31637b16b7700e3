#include "tests/fuzz/set_line.h"

#include <string.h>

#include "tests/fuzz/small_read.h"

/* Takes a leading `--set TEXT` line off the input. */
static void take_set(const char **text, size_t *size, char set[SET_MAX + 1])
{
    const char *newline = memchr(*text, '\n', *size);
    set[0] = '\0';
    if (newline == NULL || *size < 6 || memcmp(*text, "--set ", 6) != 0)
        return;
    size_t length = (size_t)(newline - *text) - 6;
    if (length > SET_MAX)
        return;
    memcpy(set, *text + 6, length);
    set[length] = '\0';
    *size -= (size_t)(newline + 1 - *text);
    *text = newline + 1;
}

struct scenario *set_line_scenario(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    char set[SET_MAX + 1];
    take_set(&text, &size, set);
    const char *sets[] = {set};
    struct scenario_options options = {.sets = sets, .set_count = *set ? 1 : 0};
    return small_read(text, size, &options);
}
