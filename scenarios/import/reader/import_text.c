#include "scenarios/import/reader/import_text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/language/source.h"

/* Bytes of a sequence that colours a terminal: ESC [ digits and semicolons, one letter. 0: none. */
static size_t colour_bytes(const char *at, const char *end)
{
    const char *c = at + 2;
    if (end - at < 3 || at[0] != 0x1b || at[1] != '[')
        return 0;
    while (c < end && (isdigit((unsigned char)*c) || *c == ';'))
        c++;
    return c < end && isalpha((unsigned char)*c) ? (size_t)(c + 1 - at) : 0;
}

bool import_text_begin(struct import_text *text, struct arena *arena,
                       const struct import_file *file, struct error *error)
{
    char *to = file->text, *end = file->text + file->bytes;
    *text = (struct import_text){
        .arena = arena, .path = file->path, .at = file->text, .error = error, .line = 1};
    if (file->bytes > IMPORT_BYTES_MAX)
        return error_set(error, "%s: more than %d MiB; cut out what is to be read", file->path,
                         IMPORT_BYTES_MAX >> 20);
    for (const char *c = file->text; c < end; c++) {
        const unsigned char byte = (unsigned char)*c;
        const size_t colour = colour_bytes(c, end);
        if (colour > 0) {
            c += colour - 1;
            continue;
        }
        if ((byte < ' ' && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f)
            return import_text_bad(text, "a control character (0x%02x): this is no text", byte);
        text->line += byte == '\n';
        *to++ = (char)byte;
    }
    *to = '\0';
    text->end = to;
    text->line = 0;
    return to > file->text || error_set(error, "%s: the file is empty", file->path);
}

char *import_text_line(struct import_text *text)
{
    char *line = text->at;
    if (line >= text->end)
        return NULL;
    char *stop = memchr(line, '\n', (size_t)(text->end - line));
    stop = stop == NULL ? text->end : stop;
    text->at = stop < text->end ? stop + 1 : stop;
    if (stop > line && stop[-1] == '\r')
        stop[-1] = '\0';
    *stop = '\0';
    text->line++;
    return line;
}

unsigned import_text_words(char *line, char **words, unsigned most)
{
    unsigned count = 0;
    for (char *at = line + strspn(line, " \t"); *at != '\0'; at += strspn(at, " \t")) {
        if (count < most)
            words[count] = at;
        count++;
        at += strcspn(at, " \t");
        if (*at != '\0' && count <= most)
            *at++ = '\0';
    }
    return count;
}

bool import_text_bad(const struct import_text *text, const char *format, ...)
{
    char sentence[sizeof text->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return error_set(text->error, "%s:%u: %s", text->path, text->line, sentence);
}

const char *import_text_quote(const struct import_text *text, const char *word)
{
    return source_quote(text->arena, word);
}

bool import_text_number(const char *word, double *out)
{
    char *end;
    const char *first = word + (*word == '-' || *word == '+');
    if (!isdigit((unsigned char)*first) && *first != '.')
        return false;
    if (first[0] == '0' && (first[1] == 'x' || first[1] == 'X'))
        return false;
    *out = strtod(word, &end);
    return *end == '\0' && isfinite(*out);
}

bool import_text_is_json(const struct import_text *text)
{
    const char *at = text->at + strspn(text->at, " \t\r\n");
    const char *next = at + 1 + (*at == '[' ? strspn(at + 1, " \t\r\n") : 0);
    return *at == '{' || (*at == '[' && (*next == '{' || *next == ']'));
}
