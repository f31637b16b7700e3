#include "analysis/output/text/utf8.h"

#include <stdbool.h>

unsigned utf8_length(const unsigned char *s, unsigned left)
{
    unsigned length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > left || s[0] > 0xf4)
        return 0;
    for (unsigned i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool outside = (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90);
    return overlong || outside ? 0 : length;
}

void utf8_write_json(FILE *out, const char *text, unsigned bytes)
{
    fputc('"', out);
    for (unsigned i = 0; i < bytes;) {
        const unsigned char *s = (const unsigned char *)text + i;
        unsigned length = utf8_length(s, bytes - i);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, length, out);
        i += length > 0 ? length : 1;
    }
    fputc('"', out);
}
