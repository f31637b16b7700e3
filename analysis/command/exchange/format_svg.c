/* format_svg.c - `--format svg`: the picture that --svg gantt draws. */
#include "analysis/command/exchange/export_picture.h"
#include "analysis/command/exchange/format_write.h"

static int write(const struct exporting *e, FILE *out)
{
    struct error error = {""};
    return format_done(e, export_picture(e->arguments, e->query, PICTURE_gantt, out, &error),
                       &error);
}

static const char *const takes[] = {"--output", NULL};

const struct format_kind format_svg = {
    .name = "svg",
    .takes = takes,
    .written = OUTPUT_PICTURE,
    .write = write,
};
