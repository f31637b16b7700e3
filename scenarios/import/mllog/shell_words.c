/* shell_words.c - a text of shell cut into commands and words. Quotes, ${...}, $(...) and
 * backquotes hold a word together; a comment, a line's end behind a backslash and the text of a
 * here-document belong to none. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/mllog/shell_state.h"

bool shell_bad(struct shell *shell, const char *path, unsigned line, const char *format, ...)
{
    char sentence[sizeof shell->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return error_set(shell->error, "%s:%u: %s", path, line, sentence);
}

size_t shell_name_bytes(const char *text)
{
    size_t bytes = 0;
    if (!isalpha((unsigned char)*text) && *text != '_')
        return 0;
    while (isalnum((unsigned char)text[bytes]) || text[bytes] == '_')
        bytes++;
    return bytes;
}

/* Past blanks, escaped line ends and a comment. */
static void skip_blanks(struct shell_text *t)
{
    for (;;) {
        if (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\r')) {
            t->at++;
        } else if (t->end - t->at >= 2 && t->at[0] == '\\' && t->at[1] == '\n') {
            t->at += 2;
            t->line++;
        } else {
            break;
        }
    }
    if (t->at < t->end && *t->at == '#')
        while (t->at < t->end && *t->at != '\n')
            t->at++;
}

/* What closes the nesting that `at` opens, in a word; 0: it opens none. */
static char closer_of(const char *at)
{
    if (*at == '\'' || *at == '"' || *at == '`')
        return *at;
    if (at[0] == '$' && (at[1] == '{' || at[1] == '('))
        return at[1] == '{' ? '}' : ')';
    return '\0';
}

struct nest {
    const char *start; /* of the word */
    char close[SHELL_NEST_MAX];
    unsigned depth;
};

/* Does a comment begin here, among the words of an array? */
static bool begins_comment(const struct shell_text *t, char inside)
{
    return inside == ')' && *t->at == '#' && strchr(" \t\r\n(", t->at[-1]) != NULL;
}

/* One character of a word, or the two that open a nesting. False: nested too deeply. */
static bool step(struct shell_text *t, struct nest *n)
{
    const char inside = n->depth > 0 ? n->close[n->depth - 1] : '\0';
    char close = inside == '\'' ? '\0' : closer_of(t->at);
    t->line += *t->at == '\n';
    if (begins_comment(t, inside)) {
        const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
        t->at = stop != NULL ? stop : t->end;
        return true;
    }
    if (*t->at == '\\' && inside != '\'' && t->end - t->at > 1) {
        t->line += t->at[1] == '\n';
        t->at += 2;
        return true;
    }
    if (inside != '\0' && *t->at == inside) {
        n->depth--;
        t->at++;
        return true;
    }
    if (inside == '"' && close == '\'')
        close = '\0';
    if (close == '\0' && *t->at == '(' &&
        (inside == ')' || (inside == '\0' && t->at > n->start && t->at[-1] == '=')))
        close = ')';
    t->at += *t->at == '$' && close != '\0' ? 2 : 1;
    if (close != '\0' && n->depth == SHELL_NEST_MAX)
        return false;
    if (close != '\0')
        n->close[n->depth++] = close;
    return true;
}

static bool ends_word(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ';' || c == '&' || c == '|';
}

static bool next_word(struct shell_text *t, char **word)
{
    struct nest nest = {.start = t->at};
    const char *start = t->at;
    const unsigned line = t->line;
    while (t->at < t->end && (nest.depth > 0 || !ends_word(*t->at)))
        if (!step(t, &nest))
            return shell_bad(t->shell, t->path, t->line, "more than %d quotes and brackets nested",
                             SHELL_NEST_MAX);
    if (nest.depth > 0)
        return shell_bad(t->shell, t->path, line,
                         "what opens here is not closed by %c: the file is cut, or no shell script",
                         nest.close[nest.depth - 1]);
    *word = arena_format(t->shell->arena, "%.*s", (int)(t->at - start), start);
    return true;
}

/* The lines of a here-document, behind the line that asks for it. */
static void skip_document(struct shell_text *t, const char *word)
{
    char name[64];
    size_t bytes = 0;
    for (const char *c = word; *c != '\0' && bytes + 1 < sizeof name; c++)
        if (isalnum((unsigned char)*c) || *c == '_')
            name[bytes++] = *c;
    name[bytes] = '\0';
    while (t->at < t->end) {
        const char *line = t->at;
        const char *stop = memchr(line, '\n', (size_t)(t->end - line));
        stop = stop == NULL ? t->end : stop;
        t->at = stop < t->end ? stop + 1 : stop;
        t->line += stop < t->end;
        while (line < stop && *line == '\t')
            line++;
        if ((size_t)(stop - line) == bytes && memcmp(line, name, bytes) == 0)
            return;
    }
}

/* The separator at `at`, a line's end with the documents that the command asked for. */
static void take_stop(struct shell_text *t, struct shell_command *out)
{
    const char c = *t->at++;
    out->stop = SHELL_SEPARATOR;
    if ((c == '&' || c == '|') && t->at < t->end && *t->at == c) {
        t->at++;
        out->stop = SHELL_CONNECTOR;
        out->either = c == '|';
    }
    if (c != '\n')
        return;
    t->line++;
    for (unsigned i = 0; i < out->count; i++) {
        const char *word = out->words[i];
        if (strncmp(word, "<<", 2) == 0 && word[2] != '<')
            skip_document(t, word[2] != '\0' && strcmp(word, "<<-") != 0 ? word
                             : i + 1 < out->count                        ? out->words[i + 1]
                                                                         : word);
    }
}

bool shell_next(struct shell_text *t, struct shell_command *out)
{
    out->count = 0;
    out->stop = SHELL_END;
    out->either = false;
    skip_blanks(t);
    out->line = t->line;
    for (; t->at < t->end; skip_blanks(t)) {
        if (ends_word(*t->at)) {
            take_stop(t, out);
            return true;
        }
        char *word = NULL;
        if (!next_word(t, &word))
            return false;
        if (out->count == SHELL_WORDS_MAX)
            return shell_bad(t->shell, t->path, out->line, "a command of more than %d words",
                             SHELL_WORDS_MAX);
        out->words[out->count++] = word;
    }
    return true;
}
