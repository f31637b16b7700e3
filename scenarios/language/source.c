#include "scenarios/language/source.h"

#include <stdint.h>
#include <string.h>

enum {
    QUOTE_MAX = 40,
    CLEAN_MAX = 400,
    WHOLE_MAX = 8000
};

/* Length of the sequence that a lead byte announces; 0: no lead byte. */
static unsigned sequence_length(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return 2;
    if (lead >= 0xE0 && lead <= 0xEF)
        return 3;
    if (lead >= 0xF0 && lead <= 0xF4)
        return 4;
    return 0;
}

/* One character (RFC 3629: shortest form only, no surrogates); returns its bytes, 0 when broken. */
static unsigned decode(const char *text, size_t left, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)text[0];
    unsigned length = sequence_length(lead);
    if (length == 0 || length > left)
        return 0;
    uint32_t value = length == 1 ? lead : lead & (0xFFu >> (length + 1));
    for (unsigned i = 1; i < length; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (next & 0x3F);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *character = value;
    return length;
}

unsigned source_sequence(const char *text, size_t left)
{
    uint32_t character;
    return left > 0 ? decode(text, left, &character) : 0;
}

/* The characters that YAML 1.1 section 5.1 admits, less the line breaks that editors do not count.
 */
static const char *character_fault(uint32_t character)
{
    if (character == 0)
        return "a NUL byte; a scenario is plain UTF-8 text";
    if (character == '\t' || character == '\n' || character == '\r')
        return NULL;
    if (character < 0x20 || (character >= 0x7F && character < 0xA0 && character != 0x85))
        return "a control character; a scenario is plain text";
    if (character == 0x85 || character == 0x2028 || character == 0x2029)
        return "an exotic line break (U+0085, U+2028 or U+2029); end lines with a newline";
    if (character == 0xFEFF)
        return "a byte order mark in the middle of the text; remove it";
    if (character == 0xFFFE || character == 0xFFFF)
        return "a character that is none (U+FFFE or U+FFFF); remove it";
    return NULL;
}

unsigned source_first_line(const struct source *source)
{
    return source->fixed_line ? source->fixed_line : source->lines_before + 1;
}

static void advance(struct mark *where, const char *text, uint32_t character)
{
    bool carriage = character == '\r' && text[1] != '\n';
    if (character != '\n' && !carriage) {
        where->column++;
    } else if (where->source->fixed_line == 0) {
        where->line++;
        where->column = 1;
    }
}

/* Steps over plain ASCII, which nearly all text is. */
static size_t skip_plain(const struct source *source, size_t at, struct mark *where)
{
    size_t start = at;
    while (at < source->bytes && source->text[at] >= 0x20 && source->text[at] < 0x7F)
        at++;
    where->column += (unsigned)(at - start);
    return at;
}

bool source_check(const struct source *source, struct mark *where, const char **why)
{
    *where = (struct mark){source, source_first_line(source), 1, 1};
    size_t at = skip_plain(source, 0, where);
    while (at < source->bytes) {
        uint32_t character = 0;
        unsigned length = decode(source->text + at, source->bytes - at, &character);
        *why = length == 0 ? "a byte that is not UTF-8; save the file as UTF-8"
                           : character_fault(character);
        if (*why == NULL && source->fixed_line && (character == '\n' || character == '\r'))
            *why = "a line break; --set takes one line";
        if (*why)
            return false;
        advance(where, source->text + at, character);
        at = skip_plain(source, at + length, where);
    }
    return true;
}

/* The start of line `line`; lines end as in YAML: \n, \r\n, or \r alone. */
static size_t line_start(const struct source *source, unsigned line)
{
    size_t at = 0;
    if (source->fixed_line)
        return 0;
    unsigned current = source_first_line(source);
    for (; current < line && at < source->bytes; at++) {
        bool carriage = source->text[at] == '\r' && source->text[at + 1] != '\n';
        if (source->text[at] == '\n' || carriage)
            current++;
    }
    return at;
}

/* Copies what can be shown: a tab becomes a blank, what is broken or invisible a '?'. Returns the
 * bytes of `text` that at most `characters` took; `out` is zeroed and has room for as many and a
 * NUL. */
static size_t copy_clean(char *out, const char *text, size_t bytes, unsigned characters)
{
    size_t at = 0;
    for (unsigned i = 0; at < bytes && i < characters; i++) {
        uint32_t character = 0;
        unsigned size = decode(text + at, bytes - at, &character);
        bool shown = size && character >= 0x20 && character_fault(character) == NULL;
        if (shown) {
            memcpy(out, text + at, size);
            out += size;
        } else {
            *out++ = character == '\t' ? ' ' : '?';
        }
        at += size ? size : 1;
    }
    return at;
}

const char *source_line(struct arena *arena, struct mark where)
{
    const struct source *source = where.source;
    size_t start = line_start(source, where.line), end = start;
    while (end < source->bytes && source->text[end] != '\n' && source->text[end] != '\r')
        end++;
    char *line = arena_alloc(arena, end - start + 1, 1);
    copy_clean(line, source->text + start, end - start, SOURCE_BYTES_MAX);
    return line;
}

static const char *copy_cut(struct arena *arena, const char *text, unsigned characters)
{
    size_t length = strlen(text);
    size_t room = length < (size_t)characters * 4 ? length : (size_t)characters * 4;
    char *copy = arena_alloc(arena, room + 1, 1);
    bool cut = copy_clean(copy, text, length, characters) < length;
    return cut ? arena_format(arena, "%s...", copy) : copy;
}

const char *source_quote(struct arena *arena, const char *text)
{
    return copy_cut(arena, text, QUOTE_MAX);
}

const char *source_clean(struct arena *arena, const char *text)
{
    return copy_cut(arena, text, CLEAN_MAX);
}

const char *source_whole(struct arena *arena, const char *text)
{
    return copy_cut(arena, text, WHOLE_MAX);
}
