/* iteration_log.c - a log line by line, as each format reads it. */
#include "scenarios/import/iterations/iteration_log.h"

#include <math.h>
#include <string.h>

#include "scenarios/import/iterations/iteration_row.h"

/* Behind an escape sequence of a terminal: "ESC [ ... letter", "ESC ] ... BEL", "ESC letter". */
static const char *escape_end(const char *at, const char *end)
{
    const char *c = at + 1;
    if (c < end && *c == '[')
        for (c++; c < end && *c >= 0x20 && *c < 0x40;)
            c++;
    else if (c < end && *c == ']')
        while (c < end && *c != '\a' && *c != '\n' && *c != 0x1b)
            c++;
    return c < end && *c != '\n' ? c + 1 : c;
}

/* A log that a node lost power over has NULs in it, one of a terminal what moves its cursor: blanks
 * stand for them, and colours are left out. */
static void clean(struct import_file *file)
{
    const char *end = file->text + file->bytes;
    char *to = file->text;
    for (const char *c = file->text; c < end;) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == 0x1b) {
            c = escape_end(c, end);
            continue;
        }
        const bool control = byte == 0x7f || (byte < ' ' && strchr("\n\r\t", byte) == NULL);
        *to++ = control || byte == '\0' ? ' ' : *c;
        c++;
    }
    *to = '\0';
    file->bytes = (size_t)(to - file->text);
}

static bool look_at(struct iteration_reading *r, char *line)
{
    for (char *piece = line, *next; piece != NULL; piece = next) {
        next = strchr(piece, '\r');
        if (next != NULL)
            *next++ = '\0';
        const struct iteration_line one = iteration_line_of(piece);
        if (isnan(r->out->begin_s))
            r->out->begin_s = one.at_s;
        if (!r->out->format->look(r, &one))
            return false;
    }
    return true;
}

/* `file`: cleaned, and cut up here. */
static bool read_as(struct arena *arena, const struct import_file *file,
                    const struct iteration_format_kind *format, struct iteration_log *out,
                    struct error *error)
{
    struct iteration_reading r = {
        .file = file, .out = out, .rank = ITERATION_NO_RANK, .loaded = NAN};
    *out = (struct iteration_log){
        .path = file->path, .format = format, .begin_s = NAN, .sequence = NAN};
    r.mllog.batch = r.mllog.evaluation_since_s = r.mllog.block_since_s = r.mllog.block_number = NAN;
    if (!import_text_begin(&r.text, arena, file, error))
        return false;
    if (format->table != NULL)
        return format->table(&r);
    for (char *line = import_text_line(&r.text); line != NULL; line = import_text_line(&r.text))
        if (!look_at(&r, line))
            return false;
    return true;
}

static struct import_file copy_of(struct arena *arena, const struct import_file *file)
{
    struct import_file copy = {file->path, arena_room(arena, file->bytes + 1, 1), file->bytes};
    memcpy(copy.text, file->text, file->bytes + 1);
    return copy;
}

/* "a, b or c". */
static const char *format_names(struct arena *arena)
{
    const char *text = "";
    for (unsigned i = 0; i < iteration_format_kind_count; i++)
        text = arena_format(arena, "%s%s%s", text,
                            i == 0                                ? ""
                            : i + 1 < iteration_format_kind_count ? ", "
                                                                  : " or ",
                            iteration_format_kinds[i]->head.name);
    return text;
}

/* The format that reads the most. What one cannot read is told where none can. */
static bool read_best(struct arena *arena, const struct import_file *file,
                      struct iteration_log *out, struct error *error)
{
    struct error why = {""};
    out->count = 0;
    for (unsigned i = 0; i < iteration_format_kind_count; i++) {
        struct iteration_log log;
        struct error wrong = {""};
        const struct arena_mark mark = arena_mark(arena);
        const struct import_file copy = copy_of(arena, file);
        const bool good = read_as(arena, &copy, iteration_format_kinds[i], &log, &wrong);
        /* It knew some of it as its own. */
        if (!good && (log.count > 0 || log.format->table != NULL) && why.text[0] == '\0')
            why = wrong;
        if (good && log.count > out->count)
            *out = log;
        else
            arena_rewind(arena, mark);
    }
    return out->count > 0 || error_set(error, "%s", why.text);
}

bool iteration_log_read(struct arena *arena, const struct import_file *file,
                        const struct iteration_format_kind *format, struct iteration_log *out,
                        struct error *error)
{
    struct import_file cleaned = *file;
    *error = (struct error){""};
    if (file->bytes > IMPORT_BYTES_MAX)
        return error_set(error,
                         "%s: more than %d MiB; give the lines of its steps, as in "
                         "grep -a 'iteration ' LOG | orrery watch SCENARIO -",
                         file->path, IMPORT_BYTES_MAX >> 20);
    clean(&cleaned);
    const bool good = format != NULL ? read_as(arena, &cleaned, format, out, error)
                                     : read_best(arena, &cleaned, out, error);
    if (good && out->count > 0) {
        out->rows[0].first = true;
        return true;
    }
    if (error->text[0] != '\0')
        return false;
    if (format != NULL)
        return error_set(error, "%s: no iteration in the form of %s: %s", file->path,
                         format->head.name, format->form);
    return error_set(error,
                     "%s: no line tells an iteration with its time, in the form of %s; "
                     "--format NAME says what the lines of NAME must have",
                     file->path, format_names(arena));
}
