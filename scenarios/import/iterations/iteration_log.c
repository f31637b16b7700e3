/* iteration_log.c - a log line by line, as each format reads it.
 *
 * A row begins a start when its number is not above that of the row before, or states were loaded
 * in between. A row whose number is not above, but that another rank printed, or that tells the
 * same iteration with the same time at the same moment again (of a progress bar: the same
 * iteration), is a repetition of what was read. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "scenarios/import/iterations/iteration_log_state.h"
#include "sim/list.h"
#include "sim/units.h"

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

void iteration_log_wait(struct iteration_reading *r, enum iteration_pause pause, double seconds)
{
    if (!(seconds > 0.0) || seconds > ITERATION_MAX)
        return;
    r->waits_s[pause] += seconds;
    r->out->told_pauses[pause]++;
}

void iteration_log_load(struct iteration_reading *r, double number)
{
    r->loads = true;
    if (number >= 0.0 && number <= ITERATION_MAX)
        r->loaded = floor(number);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool repeats(const struct iteration_reading *r, const struct iteration_line *line,
                    const struct iteration_seen *seen)
{
    const struct iteration_log *log = r->out;
    if (log->count == 0)
        return false;
    const struct iteration *last = &log->rows[log->count - 1];
    if ((uint64_t)seen->number > last->number || r->loads)
        return false;
    return line->rank != r->rank || ((uint64_t)seen->number == last->number &&
                                     (log->format->redraws || (same(seen->step_s, last->step_s) &&
                                                               same(seen->tokens_per_s_per_gpu,
                                                                    last->tokens_per_s_per_gpu) &&
                                                               same(line->at_s, last->at_s))));
}

/* Not told, or neither nothing nor beyond all measure. */
static bool possible(double value)
{
    return isnan(value) || (value >= NANOSECOND && value <= ITERATION_MAX);
}

bool iteration_log_see(struct iteration_reading *r, const struct iteration_line *line,
                       const struct iteration_seen *seen)
{
    struct iteration_log *log = r->out;
    if (!(seen->number >= 0.0) || seen->number > ITERATION_MAX)
        return import_text_bad(&r->text, "the number of the iteration is none from 0 to %g",
                               ITERATION_MAX);
    if (!possible(seen->step_s) || !possible(seen->tokens_per_s_per_gpu))
        return import_text_bad(&r->text, "the time or the rate of an iteration must be above 0");
    if (fabs(line->at_s) > ITERATION_MAX)
        return import_text_bad(&r->text, "its moment is none in seconds since 1970");
    if (repeats(r, line, seen)) {
        log->repeated++;
        return true;
    }
    if (log->count == ITERATION_ROWS_MAX)
        return import_text_bad(&r->text, "more than %d iterations; cut out what is to be read",
                               ITERATION_ROWS_MAX);
    LIST_ROOM(r->text.arena, log->rows, log->count, 1, log->room);
    struct iteration *row = &log->rows[log->count];
    *row = (struct iteration){.number = (uint64_t)seen->number,
                              .step_s = seen->step_s,
                              .tokens_per_s_per_gpu = seen->tokens_per_s_per_gpu,
                              .at_s = line->at_s,
                              .loaded = r->loaded,
                              .line = r->text.line};
    row->first = log->count == 0 || r->loads || row->number <= row[-1].number;
    memcpy(row->pauses_s, r->waits_s, sizeof row->pauses_s);
    memset(r->waits_s, 0, sizeof r->waits_s);
    log->count++;
    r->rank = line->rank;
    r->loads = false;
    r->loaded = NAN;
    return true;
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
    *out = (struct iteration_log){.path = file->path, .format = format, .begin_s = NAN};
    r.mllog.evaluation_since_s = r.mllog.block_since_s = r.mllog.block_number = NAN;
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
