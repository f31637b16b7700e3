/* shell_number.c - $((...)): integers of 64 bits with + - * / % and parentheses.
 *
 *     sum     = product {(+|-) product}
 *     product = factor {(*|/|%) factor}
 *     factor  = [-|+] (digits | name | ( sum ))
 *
 * A name is its variable, an unset one 0. Anything else, an overflow and a division by zero have no
 * known value. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/mllog/shell_state.h"

struct sum {
    const struct shell *shell;
    const char *at;
    unsigned depth;
    const char *why; /* NULL: known so far */
};

static int64_t read_sum(struct sum *s);

static int64_t unknown(struct sum *s, const char *why)
{
    if (s->why == NULL)
        s->why = why;
    return 0;
}

static void skip(struct sum *s)
{
    while (isspace((unsigned char)*s->at))
        s->at++;
}

static int64_t whole(struct sum *s, const char *text)
{
    char *end;
    while (isspace((unsigned char)*text))
        text++;
    if (*text == '\0')
        return 0;
    /* A leading 0 is octal in a shell; nobody means it. */
    const char *digits = text + (*text == '-' || *text == '+');
    const bool octal = digits[0] == '0' && digits[1] != '\0';
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || octal || strlen(digits) > 18)
        return unknown(s, "an expression with what is no whole number");
    return value;
}

static int64_t read_name(struct sum *s)
{
    char name[128];
    const size_t bytes = shell_name_bytes(s->at);
    if (bytes >= sizeof name)
        return unknown(s, "an expression with a name of more than 127 letters");
    memcpy(name, s->at, bytes);
    name[bytes] = '\0';
    s->at += bytes;
    const struct shell_variable *v = shell_find(s->shell, name);
    if (v == NULL)
        return 0;
    return v->value != NULL ? whole(s, v->value) : unknown(s, v->why);
}

static int64_t read_factor(struct sum *s)
{
    char digits[24];
    size_t bytes = 0;
    int64_t value;
    skip(s);
    if (++s->depth > SHELL_NEST_MAX)
        return unknown(s, "an expression nested too deeply");
    if (*s->at == '-' || *s->at == '+') {
        const bool minus = *s->at++ == '-';
        value = read_factor(s);
        value = minus ? -value : value;
    } else if (*s->at == '(') {
        s->at++;
        value = read_sum(s);
        skip(s);
        if (*s->at++ != ')')
            value = (s->at--, unknown(s, "an expression that is not understood"));
    } else if (isdigit((unsigned char)*s->at)) {
        while (isdigit((unsigned char)*s->at) && bytes + 1 < sizeof digits)
            digits[bytes++] = *s->at++;
        digits[bytes] = '\0';
        value = whole(s, digits);
    } else if (shell_name_bytes(s->at) > 0) {
        value = read_name(s);
    } else {
        value = unknown(s, "an expression that is not understood");
    }
    s->depth--;
    return value;
}

static int64_t read_product(struct sum *s)
{
    int64_t value = read_factor(s);
    for (skip(s); s->why == NULL && (*s->at == '*' || *s->at == '/' || *s->at == '%'); skip(s)) {
        const char op = *s->at++;
        const int64_t by = read_factor(s);
        if (op == '*' && __builtin_mul_overflow(value, by, &value))
            return unknown(s, "an expression past 64 bits");
        if (op != '*' && by == 0)
            return unknown(s, "a division by zero");
        value = op == '/' ? value / by : op == '%' ? value % by : value;
    }
    return value;
}

static int64_t read_sum(struct sum *s)
{
    int64_t value = read_product(s);
    for (skip(s); s->why == NULL && (*s->at == '+' || *s->at == '-'); skip(s)) {
        const bool minus = *s->at++ == '-';
        const int64_t by = read_product(s);
        if (minus ? __builtin_sub_overflow(value, by, &value)
                  : __builtin_add_overflow(value, by, &value))
            return unknown(s, "an expression past 64 bits");
    }
    return value;
}

void shell_number(struct shell_text *at, const char *expression, struct shell_value *out)
{
    struct sum s = {.shell = at->shell, .at = expression};
    const int64_t value = read_sum(&s);
    skip(&s);
    if (*s.at != '\0')
        unknown(&s, "an expression that is not understood");
    *out = s.why != NULL
               ? (struct shell_value){NULL, s.why}
               : (struct shell_value){arena_format(at->shell->arena, "%" PRId64, value), NULL};
}
