#include "analysis/wrap.h"

#include <string.h>

void wrap_print(FILE *out, const char *text, int indent)
{
    enum {
        WIDTH = 96
    };
    int column = indent;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}
