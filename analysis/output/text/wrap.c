#include "analysis/output/text/wrap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    WIDTH_USUAL = 96,
    WIDTH_MIN = 40,
    WIDTH_MAX = 200
};

/* 0: it does not say. */
static long columns_of(int fd)
{
    const char *said = getenv("COLUMNS");
    struct winsize size = {0};
    long columns = said != NULL ? strtol(said, NULL, 10) : 0;
    if (columns <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    return columns;
}

int wrap_width(int fd)
{
    long columns = isatty(fd) ? columns_of(fd) : 0;
    if (columns <= 0)
        return WIDTH_USUAL;
    return columns < WIDTH_MIN ? WIDTH_MIN : columns > WIDTH_MAX ? WIDTH_MAX : (int)columns;
}

void wrap_print(FILE *out, int width, const char *text, int indent)
{
    int column = indent;
    width = width > 0 ? width : WIDTH_USUAL;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > width) {
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
