/* launched_toml.c - a configuration in TOML as options "section.key" (toml.io, v1.0.0).
 *
 * Read are comments, tables, dotted keys, strings of one line, numbers, booleans and arrays of
 * those, also over several lines. Arrays of tables, inline tables and strings of several lines are
 * refused: configurations of trainers have none. */
#include <ctype.h>
#include <string.h>

#include "scenarios/import/launched/launched_words.h"

enum {
    SECTION_BYTES_MAX = 256,
    VALUE_BYTES_MAX = 8192
};

/* Where a comment begins, outside of strings; the end, where none does. */
static char *comment_of(char *line)
{
    char quote = '\0';
    for (; *line != '\0'; line++) {
        if (quote == '\0' && *line == '#')
            return line;
        if (quote == '"' && *line == '\\' && line[1] != '\0')
            line++;
        else if (quote != '\0' ? *line == quote : *line == '"' || *line == '\'')
            quote = quote != '\0' ? '\0' : *line;
    }
    return line;
}

static char *trimmed(char *line)
{
    char *end = comment_of(line);
    line += strspn(line, " \t");
    while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    if (end < line)
        end = line;
    *end = '\0';
    return line;
}

/* Brackets that are open behind a stretch. */
static int opened(const char *text)
{
    int depth = 0;
    for (char quote = '\0'; *text != '\0'; text++)
        if (quote == '"' && *text == '\\' && text[1] != '\0')
            text++;
        else if (quote != '\0')
            quote = *text == quote ? '\0' : quote;
        else if (*text == '"' || *text == '\'')
            quote = *text;
        else
            depth += (*text == '[') - (*text == ']');
    return depth;
}

/* Quotes, brackets and commas away: a value is words. */
static void plain(char *value)
{
    for (; *value != '\0'; value++)
        if (strchr("[]\"',", *value) != NULL)
            *value = ' ';
}

/* 2_000 is 2000. */
static void without_underscores(char *value)
{
    char *to = value;
    if (value[strspn(value, "+-0123456789_")] != '\0')
        return;
    for (; *value != '\0'; value++)
        if (*value != '_')
            *to++ = *value;
    *to = '\0';
}

static bool read_section(struct import_text *text, char *line, const char **section)
{
    const size_t bytes = strlen(line);
    if (line[1] == '[')
        return import_text_bad(text, "arrays of tables are not read");
    if (line[bytes - 1] != ']' || bytes > SECTION_BYTES_MAX)
        return import_text_bad(text, "no table such as [parallelism]");
    *section = arena_format(text->arena, "%.*s.", (int)bytes - 2, line + 1);
    return true;
}

/* "key = value", whose array may go on in the lines that follow. */
static bool read_key(struct import_text *text, char *line, const char *section,
                     struct launched_words *out)
{
    char *equals = strchr(line, '=');
    const unsigned at = text->line;
    if (equals == NULL || equals == line)
        return import_text_bad(text, "no line such as key = value: %s",
                               import_text_quote(text, line));
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    while (equals > line && (equals[-1] == ' ' || equals[-1] == '\t'))
        equals--;
    *equals = '\0';
    if (*value == '{' || strncmp(value, "\"\"\"", 3) == 0 || strncmp(value, "'''", 3) == 0)
        return import_text_bad(text,
                               "%s: tables within a line and texts of several lines are not "
                               "read",
                               import_text_quote(text, line));
    while (opened(value) > 0) {
        char *next = import_text_line(text);
        if (next == NULL || strlen(value) > VALUE_BYTES_MAX)
            return import_text_bad(text, "the array of %s has no end",
                                   import_text_quote(text, line));
        value = arena_format(text->arena, "%s %s", value, trimmed(next));
    }
    char *words = arena_text(text->arena, value);
    plain(words);
    without_underscores(words);
    return launched_add(out, arena_format(text->arena, "%s%s", section, line), words, at);
}

bool launched_toml(const struct import_file *file, struct launched_words *out)
{
    struct import_text text;
    const char *section = "";
    if (!import_text_begin(&text, out->arena, file, out->error))
        return false;
    for (char *line = import_text_line(&text); line != NULL; line = import_text_line(&text)) {
        line = trimmed(line);
        if (*line != '\0' && (*line == '[' ? !read_section(&text, line, &section)
                                           : !read_key(&text, line, section, out)))
            return false;
    }
    return out->count > 0 || error_set(out->error, "%s: no key = value in it", out->path);
}

bool launched_is_toml(const struct import_file *file)
{
    for (const char *at = file->text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        at += strspn(at, " \t");
        const size_t name =
            *at == '[' ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789_.") : 0;
        if (name > 0 && at[1 + name] == ']')
            return true;
    }
    return false;
}
