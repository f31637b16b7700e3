#include "scenarios/language/problems.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/check.h"

static const char *format_text(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    size_t room = length > 0 ? (size_t)length + 1 : 1;
    char *text = arena_alloc(arena, room, 1);
    *text = '\0';
    vsnprintf(text, room, format, again);
    va_end(again);
    return text;
}

enum severity {
    WARNING,
    ERROR,
    MISREAD
};

static struct problem *add(struct problems *p, enum severity severity, struct mark where,
                           const char *text)
{
    bool warning = severity == WARNING;
    unsigned count = warning ? p->warning_count++ : p->error_count++;
    if (count >= PROBLEM_MAX)
        return NULL;
    struct problem *out = &p->kept[p->kept_count];
    p->order[p->kept_count++] = where.source->order;
    *out = (struct problem){
        .warning = warning,
        .misread = severity == MISREAD,
        .file = where.source->name,
        .line = where.line,
        .column = where.column,
        .text = text,
        .source = source_line(p->arena, where),
        .width = where.width,
    };
    return out;
}

void problems_error(struct problems *problems, struct mark where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, ERROR, where, format_text(problems->arena, format, arguments));
    va_end(arguments);
}

void problems_misread(struct problems *problems, struct mark where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, MISREAD, where, format_text(problems->arena, format, arguments));
    va_end(arguments);
}

void problems_warning(struct problems *problems, struct mark where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, WARNING, where, format_text(problems->arena, format, arguments));
    va_end(arguments);
}

void problems_idle(struct problems *problems, struct mark where, const char *key, const char *why,
                   ...)
{
    va_list arguments;
    va_start(arguments, why);
    const char *rest = format_text(problems->arena, why, arguments);
    va_end(arguments);
    struct problem *out = add(problems, WARNING, where,
                              arena_format(problems->arena, "%s has no effect %s", key, rest));
    if (out != NULL)
        out->idle = arena_text(problems->arena, key);
}

void problems_late(struct problems *problems, const struct mark *where, const char *text)
{
    CHECK(problems->late_count < PROBLEM_LATE_MAX);
    problems->late_count++;
    problems->warning_count++;
    struct problem *out = &problems->kept[problems->kept_count++];
    *out = (struct problem){.warning = true, .text = text};
    if (where == NULL)
        return;
    out->file = where->source->name;
    out->line = where->line;
    out->column = where->column;
    out->source = source_line(problems->arena, *where);
    out->width = where->width;
}

static bool before(const struct problems *p, unsigned a, unsigned b)
{
    if (p->order[a] != p->order[b])
        return p->order[a] < p->order[b];
    if (p->kept[a].line != p->kept[b].line)
        return p->kept[a].line < p->kept[b].line;
    return p->kept[a].column < p->kept[b].column;
}

static void swap(struct problems *p, unsigned a, unsigned b)
{
    struct problem problem = p->kept[a];
    unsigned order = p->order[a];
    p->kept[a] = p->kept[b];
    p->order[a] = p->order[b];
    p->kept[b] = problem;
    p->order[b] = order;
}

void problems_sort(struct problems *problems)
{
    for (unsigned i = 1; i < problems->kept_count; i++)
        for (unsigned at = i; at > 0 && before(problems, at, at - 1); at--)
            swap(problems, at, at - 1);
}
