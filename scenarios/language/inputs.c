#include "scenarios/language/inputs.h"

#include <inttypes.h>
#include <string.h>

#include "scenarios/language/file.h"

void inputs_add(struct arena *arena, const struct scenario_input **inputs, const char *key,
                const char *path)
{
    struct scenario_input *input = ARENA_NEW(arena, struct scenario_input);
    *input = (struct scenario_input){path, *inputs, key, file_contents(path)};
    *inputs = input;
}

const char *inputs_lines(struct arena *arena, const struct scenario_input *inputs)
{
    const char *lines = "";
    for (; inputs != NULL; inputs = inputs->next)
        lines = arena_format(arena, "%s %016" PRIx64 "\n%s", inputs->key, inputs->contents, lines);
    return lines;
}

const char *inputs_of_key(struct arena *arena, const char *lines, const char *key)
{
    const size_t length = strlen(key);
    for (size_t end; *lines != '\0'; lines += end + (lines[end] == '\n')) {
        end = strcspn(lines, "\n");
        if (end > length && strncmp(lines, key, length) == 0 && lines[length] == ' ')
            return arena_format(arena, "%.*s", (int)(end - length - 1), lines + length + 1);
    }
    return "";
}

const char *inputs_changed(struct arena *arena, const char *then, const char *now)
{
    for (size_t end; *then != '\0'; then += end + (then[end] == '\n')) {
        end = strcspn(then, "\n");
        const size_t length = strcspn(then, " \n"), gap = then[length] == ' ';
        const char *key = arena_format(arena, "%.*s", (int)length, then);
        const char *held = inputs_of_key(arena, now, key);
        if (gap == 0 || strlen(held) != end - length - gap ||
            strncmp(held, then + length + gap, strlen(held)) != 0)
            return key;
    }
    return NULL;
}
