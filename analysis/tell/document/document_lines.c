/* A reader of lines that prints while it reads. Invariants:
 * 1. the scopes are those of the {each} that are open, the document outermost
 * 2. `column` counts the bytes since the last end of a line, colours left out
 * 3. a body ends at its own {end} or {else}, or with the text */
#include "analysis/tell/document/document_lines.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/tell/document/document_json.h"
#include "analysis/tell/document/document_table.h"
#include "analysis/tell/document/document_value.h"
#include "sim/check.h"

struct printer {
    const struct session *session;
    FILE *out;
    struct arena *arena;
    struct document_scope scope;
    int column;
};

static void put(struct printer *p, const char *text, size_t length)
{
    fwrite(text, 1, length, p->out);
    for (size_t i = 0; i < length; i++)
        p->column = text[i] == '\n' ? 0 : p->column + 1;
}

static void put_blanks(struct printer *p, int count)
{
    for (; count > 0; count--)
        put(p, " ", 1);
}

/* Is `word` what stands at `*at`? Then it is passed over, with the blank behind it. */
static bool word(const char **at, const char *which)
{
    const size_t length = strlen(which);
    if (strncmp(*at, which, length) != 0 || strchr(" }", (*at)[length]) == NULL)
        return false;
    *at += length + ((*at)[length] == ' ');
    return true;
}

/* A whole number, if one stands there; else `usual`. */
static int number(const char **at, int usual)
{
    char *end;
    *at += strspn(*at, " ");
    const long value = strtol(*at, &end, 10);
    if (end == *at)
        return usual;
    *at = end;
    return (int)value;
}

/* The name of a format behind a colon, its length. */
static const char *format_name(const char **at, size_t *length)
{
    *length = 0;
    if (**at != ':')
        return NULL;
    const char *name = ++*at;
    *length = strcspn(name, "<> }");
    *at += *length;
    return name;
}

/* Does one of these signs stand there? Then it is passed over. */
static bool passed(const char **at, const char *signs)
{
    const bool there = **at != '\0' && strchr(signs, **at) != NULL;
    *at += there;
    return there;
}

/* A value with its format, in its places. */
static void show(struct printer *p, const char **at, bool on)
{
    const struct fact value = document_value(&p->scope, at);
    size_t length;
    const char *format = format_name(at, &length);
    const char side = **at;
    const int places = passed(at, "<>") ? number(at, 0) : 0;
    const int most = passed(at, ".") ? number(at, 0) : INT16_MAX;
    if (!on || p->scope.blind)
        return;
    const char *text = document_shown(p->arena, &value, format, length);
    const size_t shown = strnlen(text, (size_t)most);
    put_blanks(p, side == '>' ? places - (int)shown : 0);
    put(p, text, shown);
    put_blanks(p, side == '<' ? places - (int)shown : 0);
}

static void wrap(struct printer *p, const char **at, bool on)
{
    const struct fact value = document_value(&p->scope, at);
    size_t length;
    const char *format = format_name(at, &length);
    const int indent = number(at, p->column);
    if (!on || p->scope.blind)
        return;
    wrap_print(p->out, p->session->width,
               value.kind == FACT_NULL ? "" : document_shown(p->arena, &value, format, length),
               indent);
    p->column = 0;
}

static void bar(struct printer *p, const char **at, bool on)
{
    const struct fact value = document_value(&p->scope, at);
    const int cells = number(at, 0);
    const struct bar shown = format_bar(document_number(&value), (unsigned)cells, p->session->utf8);
    if (on)
        put(p, shown.s, strlen(shown.s));
}

static bool style(struct printer *p, const char **at, bool on)
{
    const struct session *s = p->session;
    const char *code = word(at, "bold")    ? session_bold(s)
                       : word(at, "dim")   ? session_dim(s)
                       : word(at, "red")   ? session_red(s)
                       : word(at, "plain") ? session_plain(s)
                                           : NULL;
    if (code != NULL && on)
        fputs(code, p->out);
    return code != NULL;
}

/* What stands in braces and is no block; `*at` behind the first of them, and then the last. */
static void tag(struct printer *p, const char **at, bool on)
{
    const struct arena_mark mark = arena_mark(p->arena);
    if (word(at, "wrap")) {
        wrap(p, at, on);
    } else if (word(at, "bar")) {
        bar(p, at, on);
    } else if (word(at, "to")) {
        const int column = number(at, 0);
        if (on)
            put_blanks(p, p->column < column ? column - p->column : 1);
    } else if (!style(p, at, on)) {
        show(p, at, on);
    }
    arena_rewind(p->arena, mark);
    CHECK(**at == '}');
    ++*at;
}

static bool compared(const struct fact *value, char sign, const char *with, size_t length)
{
    char *end;
    const double limit = strtod(with, &end);
    CHECK(end != with || sign == '=');
    if (end == with)
        return (value->kind == FACT_WORD || value->kind == FACT_QUOTE) &&
               strncmp(value->value.word, with, length) == 0 && value->value.word[length] == '\0';
    const double own = document_number(value);
    return sign == '>' ? own > limit : sign == '<' ? own < limit : own == limit;
}

static bool condition(const struct printer *p, const char **at)
{
    const bool negated = word(at, "not");
    const struct fact value = document_value(&p->scope, at);
    bool holds = document_holds(&value);
    if (**at == ' ') {
        const char sign = (*at)[1];
        CHECK(strchr("<>=", sign) != NULL && (*at)[2] == ' ');
        const char *with = *at + 3;
        const size_t length = strcspn(with, "}");
        holds = compared(&value, sign, with, length);
        *at = with + length;
    }
    CHECK(**at == '}');
    ++*at;
    return holds != negated;
}

static const char *body(struct printer *p, const char *at, bool on);

/* Behind {if: both branches are read, one of them prints. */
static const char *branches(struct printer *p, const char *at, bool on)
{
    const bool holds = condition(p, &at);
    at = body(p, at, on && holds);
    if (word(&at, "else"))
        at = body(p, at + 1, on && !holds);
    CHECK(word(&at, "end"));
    return at + 1;
}

static const char *item(struct printer *p, const struct fact *fact, size_t row, const char *at,
                        bool on)
{
    struct document_scope *scope = &p->scope;
    CHECK(scope->depth < sizeof scope->object / sizeof *scope->object);
    scope->object[scope->depth] = fact;
    scope->row[scope->depth++] = row;
    at = body(p, at, on);
    scope->depth--;
    return at;
}

/* Behind {each: the body once for each item; of none it is read all the same. */
static const char *items(struct printer *p, const char *at, bool on)
{
    struct fact value = document_value(&p->scope, &at);
    const struct fact *one = value.kind == FACT_ARRAY    ? value.value.of.first
                             : value.kind == FACT_OBJECT ? &value
                                                         : NULL;
    const size_t limit = (size_t)number(&at, INT32_MAX);
    const bool blind = p->scope.blind;
    CHECK(*at == '}');
    const char *begin = at + 1;
    value.next = NULL;
    p->scope.blind = blind || one == NULL;
    if (one == NULL || !on)
        at = item(p, one != NULL ? one : &value, 1, begin, false);
    for (size_t row = 1; on && one != NULL && row <= limit; row++, one = one->next)
        at = item(p, one, row, begin, true);
    p->scope.blind = blind;
    CHECK(word(&at, "end"));
    return at + 1;
}

/* A body that is printed apart, and then laid out: as a table, or (`indent` 0 or more) wrapped. */
static const char *apart(struct printer *p, const char *at, int indent, bool on)
{
    const struct arena_mark mark = arena_mark(p->arena);
    FILE *out = p->out;
    char *text = NULL;
    size_t size = 0;
    CHECK(*at == '}');
    p->out = open_memstream(&text, &size);
    CHECK(p->out != NULL);
    at = body(p, at + 1, on);
    fclose(p->out);
    p->out = out;
    if (on && indent >= 0)
        wrap_print(out, p->session->width, text, indent);
    else if (on)
        document_table(p->arena, text, out);
    p->column = on ? 0 : p->column;
    free(text);
    arena_rewind(p->arena, mark);
    CHECK(word(&at, "end"));
    return at + 1;
}

static const char *wrapped(struct printer *p, const char *at, bool on)
{
    const int indent = number(&at, p->column);
    return apart(p, at, indent, on);
}

/* Up to the word `end` or `else` that ends it, or the end of the text. */
static const char *body(struct printer *p, const char *at, bool on)
{
    while (*at != '\0') {
        const size_t plain = strcspn(at, "{");
        if (on)
            put(p, at, plain);
        at += plain;
        if (*at == '\0')
            break;
        const char *name = ++at;
        if (word(&name, "end") || word(&name, "else"))
            break;
        if (word(&at, "if"))
            at = branches(p, at, on);
        else if (word(&at, "each"))
            at = items(p, at, on);
        else if (word(&at, "table"))
            at = apart(p, at, -1, on);
        else if (word(&at, "wrapped"))
            at = wrapped(p, at, on);
        else
            tag(p, &at, on);
    }
    return at;
}

void document_lines(const struct fact *document, const char *lines, const struct session *session)
{
    struct printer p = {.session = session,
                        .out = session->out,
                        .arena = document->arena,
                        .scope = {.object = {document}, .row = {1}, .depth = 1}};
    CHECK(*body(&p, lines, true) == '\0');
}

const char *document_text(const struct fact *document, const char *lines)
{
    char *text = NULL;
    size_t size = 0;
    const struct session session = {.out = open_memstream(&text, &size)};
    CHECK(session.out != NULL);
    document_lines(document, lines, &session);
    fclose(session.out);
    const char *kept = arena_text(document->arena, text);
    free(text);
    return kept;
}

void document_print(const struct fact *document, const char *const *lines, bool json,
                    const struct session *session)
{
    if (json)
        document_json(document, session->out);
    for (; !json && *lines != NULL; lines++)
        document_lines(document, *lines, session);
}
