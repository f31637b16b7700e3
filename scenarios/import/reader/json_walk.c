#include "scenarios/import/reader/json_walk.h"

#include <string.h>

static void skip_blanks(struct json_walk *w)
{
    for (; w->at < w->end && strchr(" \t\r\n", *w->at) != NULL && *w->at != '\0'; w->at++)
        w->line += *w->at == '\n';
}

static bool take(struct json_walk *w, char character)
{
    skip_blanks(w);
    if (w->at == w->end || *w->at != character)
        return false;
    w->at++;
    return true;
}

/* Over a string, from its first quote to behind its last. */
static bool take_string(struct json_walk *w)
{
    if (w->at == w->end || *w->at != '"')
        return false;
    for (w->at++; w->at < w->end && *w->at != '"'; w->at++) {
        w->line += *w->at == '\n';
        if (*w->at == '\\' && w->at + 1 < w->end)
            w->at++;
    }
    if (w->at == w->end)
        return false;
    w->at++;
    return true;
}

/* Over a bracket with all that is in it. */
static bool take_bracket(struct json_walk *w)
{
    size_t depth = 0;
    while (w->at < w->end) {
        const char c = *w->at;
        if (c == '"') {
            if (!take_string(w))
                return false;
            continue;
        }
        w->line += c == '\n';
        w->at++;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (depth == 0)
            return true;
    }
    return false;
}

static bool take_value(struct json_walk *w, struct json_piece *out)
{
    skip_blanks(w);
    *out = (struct json_piece){.text = w->at, .line = w->line};
    if (w->at == w->end)
        return false;
    if (*w->at == '"') {
        if (!take_string(w))
            return false;
    } else if (*w->at == '{' || *w->at == '[') {
        if (!take_bracket(w))
            return false;
    } else {
        while (w->at < w->end && (*w->at == '\0' || strchr(",:]} \t\r\n", *w->at) == NULL))
            w->at++;
    }
    out->bytes = (size_t)(w->at - out->text);
    return out->bytes > 0;
}

bool json_walk_enter(struct json_walk *w, struct json_piece whole)
{
    *w = (struct json_walk){.at = whole.text, .end = whole.text + whole.bytes, .line = whole.line};
    skip_blanks(w);
    if (w->at == w->end || (*w->at != '{' && *w->at != '['))
        return false;
    w->close = *w->at == '{' ? '}' : ']';
    w->at++;
    return true;
}

enum json_step json_walk_next(struct json_walk *w, struct json_piece *name,
                              struct json_piece *value)
{
    if (take(w, w->close))
        return JSON_WALK_END;
    if (w->begun && !take(w, ','))
        return JSON_WALK_BROKEN;
    w->begun = true;
    if (w->close == '}') {
        skip_blanks(w);
        *name = (struct json_piece){.text = w->at, .line = w->line};
        if (!take_string(w))
            return JSON_WALK_BROKEN;
        name->bytes = (size_t)(w->at - name->text);
        if (!take(w, ':'))
            return JSON_WALK_BROKEN;
    }
    return take_value(w, value) ? JSON_WALK_PIECE : JSON_WALK_BROKEN;
}

bool json_walk_done(struct json_walk *w)
{
    skip_blanks(w);
    return w->at == w->end;
}
