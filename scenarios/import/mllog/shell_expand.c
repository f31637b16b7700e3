/* shell_expand.c - a word as the shell would make it: quotes removed, ${...} and $((...)) replaced
 * (XCU 2.6). Fields are not split and patterns not matched: values of configurations are words. */
#include <ctype.h>
#include <string.h>

#include "scenarios/import/mllog/shell_state.h"
#include "sim/list.h"

struct expansion {
    struct shell_text *at;
    char *bytes;
    uint32_t count, room;
    const char *why;
    bool broken; /* the sentence is set */
};

static void expand(struct expansion *e, const char *text, const char *end, bool quoted);

static void put(struct expansion *e, const char *text, size_t bytes)
{
    struct shell *shell = e->at->shell;
    shell->expanded_bytes += bytes;
    if (shell->expanded_bytes > 16 * (size_t)SHELL_BYTES_MAX) {
        e->broken = true;
        shell_bad(shell, e->at->path, e->at->line,
                  "the values of this file grow past %d MiB: it is no configuration",
                  16 * (SHELL_BYTES_MAX >> 20));
        return;
    }
    LIST_ROOM(shell->arena, e->bytes, e->count, (uint32_t)bytes + 1, e->room);
    memcpy(e->bytes + e->count, text, bytes);
    e->count += (uint32_t)bytes;
    e->bytes[e->count] = '\0';
}

/* For an ear it stands in the text, and is no word of a test. */
static void unknown(struct expansion *e, const char *why)
{
    const struct shell *shell = e->at->shell;
    if (shell->ear == NULL || shell->testing)
        e->why = e->why == NULL ? why : e->why;
    else if (!e->broken) {
        put(e, (const char[]){SHELL_UNKNOWN}, 1);
        put(e, why, strlen(why));
        put(e, (const char[]){SHELL_UNKNOWN_END}, 1);
    }
}

static void put_value(struct expansion *e, struct shell_value value)
{
    const char *mark = value.text != NULL ? strchr(value.text, SHELL_UNKNOWN) : NULL;
    if (mark != NULL && e->at->shell->testing)
        unknown(e, mark + 1);
    else if (value.text == NULL)
        unknown(e, value.why);
    else
        put(e, value.text, strlen(value.text));
}

/* Behind the closer of what is open at `text`; NULL: not closed before `end`. */
static const char *behind(const char *text, const char *end, char open, char close)
{
    unsigned depth = 1;
    char quote = '\0';
    for (const char *c = text; c < end; c++)
        if (*c == '\\' && quote != '\'')
            c++;
        else if (quote != '\0')
            quote = *c == quote ? '\0' : quote;
        else if (*c == '\'' || *c == '"')
            quote = *c;
        else if (*c == close && --depth == 0)
            return c + 1;
        else if (*c == open)
            depth++;
    return NULL;
}

/* A word within the braces of a parameter. */
static struct shell_value expand_piece(struct expansion *e, const char *text, const char *end)
{
    struct expansion inner = {.at = e->at}; /* a word nests SHELL_NEST_MAX deep at most */
    put(&inner, "", 0);
    expand(&inner, text, end, false);
    e->broken = e->broken || inner.broken;
    return inner.why != NULL ? (struct shell_value){NULL, inner.why}
                             : (struct shell_value){inner.bytes, NULL};
}

/* Who listens is also told which variable it is, and what helps. */
static const char *why_not(struct expansion *e, const char *name, const char *why)
{
    struct shell *shell = e->at->shell;
    return shell->ear == NULL
               ? why
               : arena_format(shell->arena, "$%s: %s; --set %s=VALUE says it", name, why, name);
}

/* A name; who listens also has words of the script's own line ($1), which are not there. */
static size_t parameter_bytes(const char *text, const struct shell *shell)
{
    const bool number = shell->ear != NULL && isdigit((unsigned char)*text);
    return number ? strspn(text, "0123456789") : shell_name_bytes(text);
}

/* NAME, and behind it nothing or one of :- - := = :+ + :? ? with a word. */
static void parameter(struct expansion *e, const char *text, const char *end)
{
    char name[128];
    const size_t bytes = parameter_bytes(text, e->at->shell);
    if (bytes == 0 || bytes >= sizeof name) {
        unknown(e, "a parameter that is set when the script runs");
        return;
    }
    memcpy(name, text, bytes);
    name[bytes] = '\0';
    const char *op = text + bytes;
    const bool list = end - op >= 3 && (strncmp(op, "[@]", 3) == 0 || strncmp(op, "[*]", 3) == 0);
    op += list ? 3 : 0;
    const bool colon = op < end && *op == ':';
    const char kind = op + colon < end ? op[colon] : '\0';
    const struct shell_variable *v = shell_find(e->at->shell, name);
    const bool known = v == NULL || v->value != NULL;
    const bool there = v != NULL && (!colon || v->value == NULL || *v->value != '\0');
    if (op == end) {
        if (v != NULL && v->value == NULL)
            unknown(e, why_not(e, name, v->why));
        else if (v != NULL)
            put_value(e, (struct shell_value){v->value, NULL});
        else if (e->at->shell->ear != NULL && !e->at->shell->testing)
            unknown(e, why_not(e, name, "it has no value"));
        return;
    }
    if (kind == '\0' || strchr("-=+?", kind) == NULL) {
        unknown(e, list ? SHELL_UNKNOWN_LIST "that is not followed"
                        : "a parameter with an operator that is not followed");
        return;
    }
    if (!known) {
        unknown(e, why_not(e, name, v->why));
        return;
    }
    if (kind == '+' ? !there : there) {
        if (kind != '+')
            put_value(e, (struct shell_value){v->value, NULL});
        return;
    }
    if (kind == '?') {
        unknown(e, why_not(e, name, "a parameter that the environment must set"));
        return;
    }
    const struct shell_value word = expand_piece(e, op + colon + 1, end);
    if (kind == '=' && !e->broken && !shell_set(e->at, name, word))
        e->broken = true;
    put_value(e, word);
}

/* $((...)): what stands in it is expanded first. */
static void arithmetic(struct expansion *e, const char *text, const char *end)
{
    struct shell_value value = expand_piece(e, text, end);
    if (value.text != NULL && !e->broken && strchr(value.text, SHELL_UNKNOWN) == NULL)
        shell_number(e->at, value.text, &value);
    put_value(e, value);
}

/* What begins with a dollar; returns where it ends. */
static const char *dollar(struct expansion *e, const char *text, const char *end)
{
    const char *next = text + 1 < end ? text + 1 : end;
    const size_t bytes = next < end ? shell_name_bytes(next) : 0;
    const char open = next < end ? *next : '\0';
    if (bytes > 0) {
        parameter(e, next, next + bytes);
        return next + bytes;
    }
    if (open == '{' || open == '(') {
        const char *stop = behind(next + 1, end, open, open == '{' ? '}' : ')');
        if (stop == NULL) {
            unknown(e, "brackets that are not closed");
            return end;
        }
        if (open == '{')
            parameter(e, next + 1, stop - 1);
        else if (next[1] == '(' && stop[-2] == ')')
            arithmetic(e, next + 2, stop - 2);
        else
            unknown(e, "the output of a command");
        return stop;
    }
    if (open != '\0' && (isdigit((unsigned char)open) || strchr("@*#?$!-", open) != NULL)) {
        unknown(e, "a parameter that is set when the script runs");
        return next + 1;
    }
    put(e, "$", 1);
    return next;
}

/* A stretch between double quotes, or outside of any. */
static void expand(struct expansion *e, const char *text, const char *end, bool quoted)
{
    while (text < end && !e->broken && e->why == NULL) {
        const char c = *text;
        if (c == '\\' && end - text > 1) {
            const bool stays = quoted && strchr("$`\"\\\n", text[1]) == NULL;
            if (text[1] != '\n')
                put(e, text + !stays, stays ? 2 : 1);
            text += 2;
        } else if (c == '$') {
            text = dollar(e, text, end);
        } else if (c == '`') {
            const char *stop = memchr(text + 1, '`', (size_t)(end - text - 1));
            unknown(e, "the output of a command");
            text = stop != NULL ? stop + 1 : end;
        } else if (c == '\'' && !quoted) {
            const char *stop = memchr(text + 1, '\'', (size_t)(end - text - 1));
            stop = stop == NULL ? end : stop;
            put(e, text + 1, (size_t)(stop - text - 1));
            text = stop < end ? stop + 1 : end;
        } else if (c == '"') {
            quoted = !quoted;
            text++;
        } else {
            put(e, text++, 1);
        }
    }
}

/* The words of an array: comments among them are left out, and a line's end is a blank. */
static void expand_array(struct expansion *e, const char *text, const char *end)
{
    char *plain = arena_alloc(e->at->shell->arena, (size_t)(end - text) + 1, 1), *to = plain;
    char quote = '\0';
    for (const char *c = text; c < end; c++) {
        const bool first = c == text || strchr(" \t\r\n", c[-1]) != NULL;
        if (quote == '\0' && *c == '#' && first) {
            const char *stop = memchr(c, '\n', (size_t)(end - c));
            c = stop != NULL ? stop - 1 : end - 1;
            continue;
        }
        if (*c == '\\' && quote != '\'' && c + 1 < end)
            *to++ = *c++;
        else if (quote != '\0' ? *c == quote : *c == '\'' || *c == '"')
            quote = quote != '\0' ? '\0' : *c;
        *to++ = *c;
    }
    expand(e, plain, to, false);
}

bool shell_expand(struct shell_text *at, const char *word, struct shell_value *out)
{
    struct expansion e = {.at = at};
    put(&e, "", 0);
    const size_t bytes = strlen(word);
    if (*word == '(' && at->shell->ear == NULL)
        unknown(&e, "an array");
    if (*word == '(' && at->shell->ear != NULL && bytes >= 2)
        expand_array(&e, word + 1, word + bytes - 1);
    else
        expand(&e, word, word + bytes, false);
    *out = e.why != NULL ? (struct shell_value){NULL, e.why} : (struct shell_value){e.bytes, NULL};
    return !e.broken;
}
