#include "analysis/command/exchange/format_write.h"

#include "analysis/command/line/command.h"

int format_done(const struct exporting *e, bool good, const struct error *error)
{
    if (!good)
        fprintf(e->session->notes, "orrery export: %s\n", error->text);
    return good ? EXIT_OK : EXIT_TROUBLE;
}

int format_write(const struct exporting *e, enum output_kind written, const char *path,
                 int (*write)(const struct exporting *e, FILE *out))
{
    struct output output;
    struct error error = {""};
    if (path == NULL)
        return write(e, e->session->out);
    if (!output_begin(&output, e->session, path, written, &error))
        return format_done(e, false, &error);
    const int code = write(e, output.out);
    if (!output_end(&output, e->session, code == EXIT_OK, &error))
        return format_done(e, false, &error);
    return code;
}
