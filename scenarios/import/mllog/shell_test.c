/* shell_test.c - [ ... ] and [[ ... ]] with one test: -n A, -z A, A, A op B, and ! before it. */
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/mllog/shell_state.h"

enum {
    OPERANDS = 3,
    UNKNOWN = -1
};

static bool is_pattern(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

static int of_text(const char *a, const char *op, const char *b)
{
    const bool equal = strcmp(a, b) == 0;
    if (strcmp(op, "==") == 0 || strcmp(op, "=") == 0)
        return equal;
    return strcmp(op, "!=") == 0 ? !equal : UNKNOWN;
}

static int of_numbers(struct shell_text *at, const char *a, const char *op, const char *b)
{
    struct shell_value left, right;
    shell_number(at, a, &left);
    shell_number(at, b, &right);
    if (left.text == NULL || right.text == NULL)
        return UNKNOWN;
    const long long x = strtoll(left.text, NULL, 10), y = strtoll(right.text, NULL, 10);
    const struct {
        const char *op;
        bool truth;
    } rows[] = {{"-eq", x == y}, {"-ne", x != y}, {"-lt", x < y},
                {"-le", x <= y}, {"-gt", x > y},  {"-ge", x >= y}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].op, op) == 0)
            return rows[i].truth;
    return UNKNOWN;
}

bool shell_test(struct shell_text *at, const struct shell_command *command, unsigned first,
                int *truth)
{
    struct shell_value value[OPERANDS] = {{0}};
    bool known = true;
    *truth = UNKNOWN;
    const char *open = first < command->count ? command->words[first] : "";
    const char *close = strcmp(open, "[") == 0 ? "]" : strcmp(open, "[[") == 0 ? "]]" : NULL;
    if (close == NULL || strcmp(command->words[command->count - 1], close) != 0)
        return true;
    first++;
    const bool negated = first < command->count && strcmp(command->words[first], "!") == 0;
    first += negated;
    const unsigned count = command->count - 1 - first;
    if (first + 1 >= command->count || count > OPERANDS)
        return true;
    at->shell->testing = true;
    bool sound = true;
    for (unsigned i = 0; i < count && sound; i++) {
        sound = shell_expand(at, command->words[first + i], &value[i]);
        known = known && value[i].text != NULL;
    }
    at->shell->testing = false;
    if (!sound)
        return false;
    int got = UNKNOWN;
    if (known && count == 1)
        got = *value[0].text != '\0';
    else if (known && count == 2 && strcmp(value[0].text, "-n") == 0)
        got = *value[1].text != '\0';
    else if (known && count == 2 && strcmp(value[0].text, "-z") == 0)
        got = *value[1].text == '\0';
    else if (known && count == OPERANDS && value[1].text[0] == '-')
        got = of_numbers(at, value[0].text, value[1].text, value[2].text);
    else if (known && count == OPERANDS && !is_pattern(value[2].text))
        got = of_text(value[0].text, value[1].text, value[2].text);
    *truth = got == UNKNOWN ? UNKNOWN : got != negated;
    return true;
}
