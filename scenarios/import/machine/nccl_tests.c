#include "scenarios/import/machine/nccl_tests.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/machine/nccl_tests_state.h"
#include "scenarios/language/source.h"
#include "sim/plural.h"

enum {
    WORDS_MAX = 40,
    HOSTS_MAX = 4096,
    RANKS_MAX = 1 << 20,
    GUESS_LINES = 256 /* of a table that are looked at for its collective */
};
enum nccl_column {
    NCCL_COLUMN_SIZE,
    NCCL_COLUMN_TYPE,
    NCCL_COLUMN_TIME,
    NCCL_COLUMN_ALGBW,
    NCCL_COLUMN_BUSBW,
    NCCL_COLUMN_WRONG,
    NCCL_COLUMN_COUNT
};
static const char *const nccl_columns[NCCL_COLUMN_COUNT] = {"size",  "type",  "time",
                                                            "algbw", "busbw", "#wrong"};
struct places { /* of one of the two halves of a table; index + 1, 0: no such column */
    unsigned of[NCCL_COLUMN_COUNT];
};
struct nccl_text {
    struct nccl_reading *r;
    const char *hosts[HOSTS_MAX];
    struct places halves[2]; /* out of place, in place */
    unsigned half_count, width;
    unsigned redop, root; /* columns + 1; 0: not there */
    bool in_table;
    bool named;         /* the output says its collective */
    const char *prefix; /* that each line of the output begins with */
};

static char *skip_blanks(char *line)
{
    return line + strspn(line, " \t");
}

/* Does the line begin so? 'd' is a digit, 'D' one or a blank, 'w' a letter. */
static bool has_form(const char *line, const char *form)
{
    for (; *form != '\0'; form++, line++) {
        const unsigned char c = (unsigned char)*line;
        if (*form == 'w'   ? !isalpha(c)
            : *form == 'd' ? !isdigit(c)
            : *form == 'D' ? !isdigit(c) && c != ' '
                           : c != (unsigned char)*form)
            return false;
    }
    return true;
}

/* Behind "2026-11-03T04:05:06.789Z ", which `kubectl logs --timestamps` writes before a line, and
 * "Tue Nov  3 04:05:06 2026", mpirun --timestamp-output. */
static char *skip_stamp(char *line)
{
    static const char clock[] = "www www Dd dd:dd:dd dddd";
    line = skip_blanks(line);
    if (has_form(line, clock))
        return skip_blanks(line + strlen(clock));
    return has_form(line, "dddd-dd-ddT") ? skip_blanks(line + strcspn(line, " \t")) : line;
}

/* The '#' of a table's header in a line, wherever it stands; NULL: it is none. */
static const char *header_in(const char *line)
{
    for (const char *at = strchr(line, '#'); at != NULL; at = strchr(at + 1, '#')) {
        const char *word = at + 1 + strspn(at + 1, " \t");
        if (strncmp(word, "size", 4) == 0 && (word[4] == ' ' || word[4] == '\t'))
            return at;
    }
    return NULL;
}

/* Cuts a moment off the end, and the blanks before it. */
static void cut_stamp(char *text)
{
    char *word = text + strlen(text);
    while (word > text && isblank((unsigned char)word[-1]))
        *--word = '\0';
    while (word > text && !isblank((unsigned char)word[-1]))
        word--;
    if (*word == '\0' || *skip_stamp(word) != '\0')
        return;
    do
        *word = '\0';
    while (word > text && isblank((unsigned char)*--word));
}

/* What a launcher writes before each line: "0: " (srun -l), "[1,0]<stdout>:" (mpirun --tag-output),
 * "[pod/name/container] " (kubectl logs --prefix), a name. It is what stands before the first
 * header, moments aside. */
static const char *find_prefix(const struct import_text *text)
{
    for (const char *at = text->at, *stop; at < text->end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(text->end - at));
        stop = stop != NULL ? stop : text->end;
        if (memchr(at, '#', (size_t)(stop - at)) == NULL)
            continue;
        char *line = arena_format(text->arena, "%.*s", (int)(stop - at), at);
        const char *header = header_in(line);
        char *from = skip_stamp(line);
        if (header == NULL || header < from)
            continue;
        from[header - from] = '\0';
        cut_stamp(from);
        return from;
    }
    return "";
}

/* A line without what the launcher wrote before it; NULL: another process wrote it. */
static char *bare_line(const struct nccl_text *t, char *line)
{
    const size_t length = strlen(t->prefix);
    line = skip_stamp(line);
    if (strncmp(line, t->prefix, length) != 0)
        return NULL;
    return length > 0 ? skip_stamp(line + length) : line;
}

static unsigned host_number(const struct nccl_text *t, const char *host)
{
    unsigned i = 0;
    while (i < t->r->host_count && strcmp(t->hosts[i], host) != 0)
        i++;
    return i;
}

/* "Rank  0 Group  0 Pid 123 on host device  0 [0x07] NVIDIA H100": words behind the '#'. */
static bool read_rank(struct nccl_text *t, char **words, unsigned count)
{
    struct nccl_reading *r = t->r;
    double rank = -1.0;
    unsigned on = 2, device = 0;
    if (!import_text_number(words[1], &rank) || rank < 0.0 || rank >= RANKS_MAX)
        return import_text_bad(&r->text, "the number of a rank is no number");
    if (rank == 0.0) {
        r->rank_count = r->host_count = 0;
        t->in_table = false;
    }
    if (rank != r->rank_count)
        return import_text_bad(&r->text, "rank %g behind %u ranks: outputs are mixed, or cut", rank,
                               r->rank_count);
    for (; on + 1 < count && strcmp(words[on], "on") != 0; on++)
        if (strcmp(words[on], "Group") == 0 && strcmp(words[on + 1], "0") != 0)
            return import_text_bad(&r->text, "several groups at once: their wires are shared, and "
                                             "no time is that of a group alone");
    for (device = on; device < count && words[device][0] != '['; device++)
        ;
    if (on + 1 >= count || device + 1 >= count)
        return import_text_bad(&r->text, "a 'Rank' line names host and device");
    unsigned host = host_number(t, words[on + 1]);
    if (host == HOSTS_MAX)
        return import_text_bad(&r->text, "more than %d hosts", HOSTS_MAX);
    t->hosts[host] = words[on + 1];
    r->host_count += host == r->host_count;
    r->rank_count++;
    char name[DEVICE_TEXT_BYTES] = "";
    for (unsigned i = device + 1; i < count; i++) {
        const size_t used = strlen(name);
        snprintf(name + used, sizeof name - used, "%s%s", used > 0 ? " " : "", words[i]);
    }
    if (r->out->device[0] == '\0')
        snprintf(r->out->device, sizeof r->out->device, "%s", name);
    return strcmp(r->out->device, name) == 0 ||
           import_text_bad(&r->text, "a rank on %s after one on %s: a profile is of one card",
                           import_text_quote(&r->text, name),
                           import_text_quote(&r->text, r->out->device));
}

/* The figures of one half of a row. False: they are none. */
static bool read_times(const struct places *places, char **words, struct nccl_times *out)
{
    const char *wrong =
        places->of[NCCL_COLUMN_WRONG] != 0 ? words[places->of[NCCL_COLUMN_WRONG] - 1] : "0";
    if (!import_text_number(wrong, &out->wrong))
        out->wrong = 0.0;
    return import_text_number(words[places->of[NCCL_COLUMN_TIME] - 1], &out->time_us) &&
           import_text_number(words[places->of[NCCL_COLUMN_ALGBW] - 1], &out->algbw) &&
           import_text_number(words[places->of[NCCL_COLUMN_BUSBW] - 1], &out->busbw) &&
           out->time_us >= 0.0 && out->algbw >= 0.0 && out->busbw >= 0.0;
}

/* What a row says of its collective beside its figures. */
static struct nccl_hints hints_of(const struct nccl_text *t, char **words)
{
    const unsigned out = t->halves[0].of[NCCL_COLUMN_WRONG],
                   in = t->halves[1].of[NCCL_COLUMN_WRONG];
    double wrong;
    return (struct nccl_hints){
        .redop = t->redop != 0 ? words[t->redop - 1] : NULL,
        .root = t->root != 0 ? words[t->root - 1] : NULL,
        .in_place_unchecked = out != 0 && in != 0 && import_text_number(words[out - 1], &wrong) &&
                              strcmp(words[in - 1], "N/A") == 0,
    };
}

/* What the rows that follow tell of the collective, by the one with the largest bandwidth: there
 * two decimals say most. */
static const char *guess_op(const struct nccl_text *t)
{
    struct nccl_times best = {0.0, 0.0, 0.0, 0.0, 0.0}, times = best;
    struct nccl_hints hints = {NULL, NULL, false};
    struct import_text ahead = t->r->text;
    for (unsigned i = 0; i < GUESS_LINES && ahead.at < ahead.end; i++) {
        char *words[WORDS_MAX];
        const char *stop = memchr(ahead.at, '\n', (size_t)(ahead.end - ahead.at));
        const size_t length = (size_t)((stop != NULL ? stop : ahead.end) - ahead.at);
        char *line = bare_line(t, arena_format(ahead.arena, "%.*s", (int)length, ahead.at));
        ahead.at += length + (stop != NULL);
        if (line != NULL && header_in(line) != NULL)
            break;
        if (line == NULL || !isdigit((unsigned char)*line))
            continue;
        const unsigned count = import_text_words(line, words, WORDS_MAX);
        if (count < t->width || count > WORDS_MAX || !read_times(&t->halves[0], words, &times) ||
            times.algbw <= best.algbw)
            continue;
        best = times;
        hints = hints_of(t, words);
    }
    return nccl_tests_guess(t->r->rank_count, &best, &hints);
}

/* Which columns a header has. */
static bool read_columns(struct nccl_text *t, char **words, unsigned count, struct places *common)
{
    struct nccl_reading *r = t->r;
    for (unsigned i = 0; i < count; i++) {
        unsigned column = 0;
        const char *name = strcmp(words[i], "error") == 0 ? "#wrong" : words[i];
        t->redop = strcmp(name, "redop") == 0 ? i + 1 : t->redop;
        t->root = strcmp(name, "root") == 0 ? i + 1 : t->root;
        if (strcmp(words[i], "cputime") == 0)
            return import_text_bad(&r->text, "these are times of the CPU: run without -C 1");
        while (column < NCCL_COLUMN_COUNT && strcmp(nccl_columns[column], name) != 0)
            column++;
        if (column == NCCL_COLUMN_COUNT)
            continue;
        if (column == NCCL_COLUMN_TIME && ++t->half_count > 2)
            return import_text_bad(&r->text, "more than two columns 'time'");
        struct places *places = column < NCCL_COLUMN_TIME ? common : NULL;
        if (places == NULL && t->half_count > 0)
            places = &t->halves[t->half_count - 1];
        if (places == NULL || places->of[column] != 0)
            return import_text_bad(&r->text, "the column '%s' stands twice, or before its 'time'",
                                   nccl_columns[column]);
        places->of[column] = i + 1;
    }
    return true;
}

/* The header of a table: words behind the '#'. */
static bool read_header(struct nccl_text *t, char **words, unsigned count)
{
    struct nccl_reading *r = t->r;
    struct places common = {{0}};
    t->half_count = t->redop = t->root = 0;
    t->width = count;
    memset(t->halves, 0, sizeof t->halves);
    if (!read_columns(t, words, count, &common))
        return false;
    for (unsigned h = 0; h < t->half_count; h++) {
        t->halves[h].of[NCCL_COLUMN_SIZE] = common.of[NCCL_COLUMN_SIZE];
        t->halves[h].of[NCCL_COLUMN_TYPE] = common.of[NCCL_COLUMN_TYPE];
        if (t->halves[h].of[NCCL_COLUMN_ALGBW] == 0 || t->halves[h].of[NCCL_COLUMN_BUSBW] == 0)
            return import_text_bad(&r->text, "a column 'time' without algbw and busbw behind it");
    }
    if (t->half_count == 0 || common.of[NCCL_COLUMN_TYPE] == 0)
        return import_text_bad(&r->text, "this header has no columns 'type' and 'time'");
    if (r->rank_count < 2)
        return import_text_bad(&r->text, "no 'Rank' lines above say how many GPUs took part: keep "
                                         "the head of the output");
    r->op = t->named ? r->op : r->given_op;
    if (r->op == NULL && (r->op = guess_op(t)) == NULL)
        return nccl_tests_question(r);
    t->in_table = true;
    r->out->table_count++;
    return true;
}

/* The units of a table: "(B) (elements) (us) (GB/s) (GB/s) ...". */
static bool read_units(struct nccl_reading *r, char **words, unsigned count)
{
    static const char *const known[] = {"(B)", "(elements)", "(us)", "(GB/s)", "(%)"};
    for (unsigned i = 0; i < count; i++) {
        unsigned k = 0;
        while (k < sizeof known / sizeof known[0] && strcmp(known[k], words[i]) != 0)
            k++;
        if (words[i][0] == '(' && k == sizeof known / sizeof known[0])
            return import_text_bad(&r->text, "the unit %s: nccl-tests prints B, us and GB/s",
                                   import_text_quote(&r->text, words[i]));
    }
    return true;
}

/* "Collective test starting: all_reduce_perf": a new output, whose ranks follow. */
static bool read_start(struct nccl_text *t, char **words, unsigned count)
{
    t->in_table = false;
    t->r->rank_count = t->r->host_count = 0;
    t->named = count >= 4;
    return !t->named || nccl_tests_take_op(t->r, words[3]);
}

static bool read_comment(struct nccl_text *t, char *line)
{
    struct nccl_reading *r = t->r;
    char *words[WORDS_MAX];
    unsigned count = import_text_words(line + 1, words, WORDS_MAX);
    if (count > WORDS_MAX)
        return true;
    if (count >= 2 && strcmp(words[0], "Rank") == 0)
        return read_rank(t, words, count);
    if (count >= 2 && strcmp(words[0], "size") == 0)
        return read_header(t, words, count);
    if (count >= 1 && words[0][0] == '(' && t->in_table)
        return read_units(r, words, count);
    if (count >= 3 && strcmp(words[0], "Collective") == 0 && strcmp(words[1], "test") == 0 &&
        strcmp(words[2], "starting:") == 0)
        return read_start(t, words, count);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(words[0], "Out") == 0 && strcmp(words[i], "FAILED") == 0)
            return import_text_bad(&r->text, "values came out wrong: these runs measured nothing");
    return true;
}

/* Names the first of the figures that read_times did not take. */
static bool bad_figure(const struct nccl_text *t, const struct places *places, char **words)
{
    for (unsigned c = NCCL_COLUMN_TIME; c <= NCCL_COLUMN_BUSBW; c++) {
        double figure;
        const char *word = words[places->of[c] - 1];
        if (!import_text_number(word, &figure) || figure < 0.0)
            return import_text_bad(&t->r->text, "%s: '%s' is no number from 0 up", nccl_columns[c],
                                   import_text_quote(&t->r->text, word));
    }
    return false;
}

static bool read_row(struct nccl_text *t, char *line)
{
    struct nccl_reading *r = t->r;
    char *words[WORDS_MAX];
    unsigned count = import_text_words(line, words, WORDS_MAX);
    struct nccl_times times = {.bytes = 0.0};
    /* -S 1 adds a timestamp of one or two words at the end */
    if (count < t->width || count > t->width + 2 || count > WORDS_MAX)
        return import_text_bad(&r->text,
                               "%u word%s, and the header has %u columns: the row is cut "
                               "or mixed with another output",
                               count, plural_s(count), t->width);
    const char *size = words[t->halves[0].of[NCCL_COLUMN_SIZE] - 1];
    const char *word = words[t->halves[0].of[NCCL_COLUMN_TYPE] - 1], *type = nccl_tests_type(word);
    if (!import_text_number(size, &times.bytes) || times.bytes < 0.0 ||
        times.bytes != floor(times.bytes))
        return import_text_bad(&r->text, "size: '%s' is no count of bytes",
                               import_text_quote(&r->text, size));
    if (type == NULL)
        return import_text_bad(&r->text, "type: '%s' is none of nccl-tests'",
                               import_text_quote(&r->text, word));
    if (times.bytes == 0.0 || *type == '\0') {
        r->out->left_out++;
        return true;
    }
    const struct nccl_hints hints = hints_of(t, words);
    for (unsigned h = 0; h < t->half_count; h++) {
        if (!read_times(&t->halves[h], words, &times))
            return bad_figure(t, &t->halves[h], words);
        if (!nccl_tests_keep(r, type, &times, &hints))
            return false;
    }
    return true;
}

static bool read_lines(struct nccl_reading *r)
{
    struct nccl_text *t = ARENA_NEW(r->arena, struct nccl_text);
    *t = (struct nccl_text){.r = r, .prefix = find_prefix(&r->text)};
    for (char *whole = import_text_line(&r->text); whole != NULL;
         whole = import_text_line(&r->text)) {
        char *line = bare_line(t, whole);
        if ((line == NULL || *line != '#') && header_in(whole) != NULL)
            return import_text_bad(&r->text,
                                   "outputs of two processes: the lines of the first table begin "
                                   "with '%s', and this one does not; keep one of them",
                                   import_text_quote(&r->text, t->prefix));
        if (line == NULL)
            continue;
        const bool row =
            t->in_table && *line >= '0' && *line <= '9' && strstr(line, "NCCL") == NULL;
        if (*line == '#' ? !read_comment(t, line) : row && !read_row(t, line))
            return false;
    }
    return true;
}

bool nccl_tests_read(struct arena *arena, struct import_file file, const char *op,
                     struct nccl_tests *out, struct error *error)
{
    struct nccl_reading *r = ARENA_NEW(arena, struct nccl_reading);
    *out = (struct nccl_tests){.points = NULL};
    *r = (struct nccl_reading){.arena = arena, .out = out};
    if (op != NULL && (r->given_op = nccl_tests_op(op)) == NULL)
        return error_set(error,
                         "no collective '%s'; one of all_reduce, all_gather, reduce_scatter, "
                         "broadcast, all_to_all, send",
                         source_quote(arena, op));
    if (!import_text_begin(&r->text, arena, &file, error) ||
        !(import_text_is_json(&r->text) ? nccl_tests_json(r) : read_lines(r)))
        return false;
    if (out->table_count == 0)
        return error_set(error,
                         "%s: no table of nccl-tests: no line has the header '# size count type "
                         "...', and it is no JSON of nccl-tests (-J) or rccl-tests (-Z json)",
                         file.path);
    if (r->sample_count == 0)
        return error_set(error, "%s: no row that a step can use: the output is cut, or of integers",
                         file.path);
    nccl_tests_points(r);
    return true;
}
