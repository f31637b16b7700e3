#include "analysis/page/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/output/text/utf8.h"

enum {
    DIGITS_LEAST = 15,
    DIGITS_MOST = 17,
    NUMBER_BYTES = 40
};

static uint64_t put(FILE *out, const char *text)
{
    return (uint64_t)fprintf(out, "%s", text);
}

/* U+2028 and U+2029 end a line in old JavaScript. */
static bool ends_line(const unsigned char *s, unsigned length)
{
    return length == 3 && s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9);
}

uint64_t words_text(FILE *out, const char *text, unsigned bytes)
{
    uint64_t written = put(out, "\"");
    for (unsigned i = 0; i < bytes;) {
        const unsigned char *s = (const unsigned char *)text + i;
        const unsigned length = utf8_length(s, bytes - i);
        if (length == 0 || ends_line(s, length))
            written += put(out, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            written += (uint64_t)fprintf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f || *s == '<' || *s == '>' || *s == '&')
            written += (uint64_t)fprintf(out, "\\u%04x", *s);
        else
            written += fwrite(s, 1, length, out);
        i += length > 0 ? length : 1;
    }
    return written + put(out, "\"");
}

uint64_t words_number(FILE *out, double value)
{
    char text[NUMBER_BYTES];
    if (!isfinite(value))
        return put(out, "null");
    for (int digits = DIGITS_LEAST; digits <= DIGITS_MOST; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return put(out, text);
}

uint64_t words_cell(FILE *out, const struct query_row *row, unsigned column)
{
    unsigned bytes;
    switch (query_type(row, column)) {
    case QUERY_INTEGER:
        return (uint64_t)fprintf(out, "%" PRId64, query_integer(row, column));
    case QUERY_REAL:
        return words_number(out, query_real(row, column));
    case QUERY_TEXT: {
        const char *text = query_text(row, column, &bytes);
        return words_text(out, text, bytes);
    }
    case QUERY_NULL:
        break;
    }
    return put(out, "null");
}
