/* The pipeline of a run: a row for each stage, and one for the slowest class of a stage where that
 * is not its first; a rectangle for each pass, hatched by cause where the GPU computes nothing.
 *
 * Every rectangle says what it is made of when pointed at: the waits of a row add up to what its
 * class waits in the breakdown (gantt_marks.h). The legend has the waits of the mean rank. Captions
 * of the scenario stand below, numbered, at marks of their moments. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "analysis/exchange/export/gantt_marks.h"
#include "analysis/exchange/export/picture.h"
#include "analysis/output/plot/palette.h"
#include "analysis/output/plot/plot.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/paced.h"
#include "models/layout/announced.h"
#include "sim/plural.h"
#include "sim/units.h"

enum {
    TOP = 66, /* with one line of keys */
    KEYS_Y = 46,
    TITLE_Y = 22,
    ROW_HEIGHT = 34,
    WIDTH = 630,
    RIGHT = 26,
    ROW_MAX = 1024,
    MARGIN = 12,
    CAUSE_BYTES = 240,
    LINE = 18,
    NOTE_MAX = 32,
    NOTE_COLUMNS = 100, /* of a line of a caption */
    LABEL_SIZE = 48,
    NOTE_BYTES = 440
};

/* A cause of waits of this run. */
struct drawn_cause {
    enum gantt_kind kind;
    char text[CAUSE_BYTES];
};
struct drawn_note {
    int64_t at;
    char text[NOTE_BYTES];
};
struct pipeline_picture {
    struct plot plot;
    struct gantt_marks marks;
    int64_t row_count, last;
    unsigned note_count, cause_count;
    struct drawn_note notes[NOTE_MAX];
    struct drawn_cause causes[GANTT_KIND_COUNT];
    struct plot_hatching hatchings[GANTT_KIND_COUNT];
    char name[320]; /* of the run */
    char announced[ANNOUNCED_WORDS_MAX];
    char names[ROW_MAX][LABEL_SIZE];
    const char *words[ROW_MAX];
    double paced_s; /* of the straggler seconds, inside ops */
};

static double seconds(int64_t ns)
{
    return (double)ns * NANOSECOND;
}

static bool kind_of(const char *text, unsigned bytes, enum gantt_kind *kind)
{
    if (bytes == strlen("recompute") && memcmp(text, "recompute", bytes) == 0) {
        *kind = GANTT_backward; /* a part of it */
        return true;
    }
    for (int i = 0; i < GANTT_KIND_COUNT; i++)
        if (strlen(gantt_kinds[i]) == bytes && memcmp(gantt_kinds[i], text, bytes) == 0) {
            *kind = (enum gantt_kind)i;
            return true;
        }
    return false;
}

static const char *colour_of(const struct pipeline_picture *p, enum gantt_kind kind)
{
    if (kind < GANTT_PHASE_COUNT)
        return palette_colour("phase", gantt_kinds[kind]);
    return p->hatchings[kind].fill[0] != '\0' ? p->hatchings[kind].fill : NULL;
}

/* Appends what fits. */
static void say(char *tip, size_t size, const char *format, ...)
{
    const size_t used = strlen(tip);
    va_list values;
    va_start(values, format);
    vsnprintf(tip + used, size - used, format, values);
    va_end(values);
}

static void tell_mark(const struct pipeline_picture *p, const struct gantt_mark *mark, char *tip,
                      size_t size)
{
    const struct gantt_span *span = &mark->span;
    const char *between = "; waits: ";
    tip[0] = '\0';
    say(tip, size, "%s", p->names[span->row]);
    if (mark->passes == 1 && mark->waits == 0)
        say(tip, size, ", %s", gantt_kinds[span->kind]);
    else if (mark->passes > 0)
        say(tip, size, ", %u pass%s", mark->passes, mark->passes == 1 ? "" : "es");
    if (span->microbatch >= 0)
        say(tip, size, " of microbatch %" PRId64, span->microbatch);
    say(tip, size, ": %" PRId64 " to %" PRId64 " ns", span->begin, span->end);
    for (int k = GANTT_PHASE_COUNT; k < GANTT_KIND_COUNT; k++)
        if (mark->ns[k] > 0) {
            say(tip, size, "%s%s %" PRId64 " ns", between, gantt_kinds[k], mark->ns[k]);
            between = ", ";
        }
}

static void draw_mark(void *context, const struct gantt_mark *mark)
{
    const struct pipeline_picture *p = context;
    const struct gantt_span *span = &mark->span;
    char label[LABEL_SIZE], tip[480];
    snprintf(label, sizeof label, "%" PRId64, span->microbatch);
    tell_mark(p, mark, tip, sizeof tip);
    plot_bar(&p->plot, &(struct plot_bar){seconds(span->begin), seconds(span->end),
                                          (double)span->row, colour_of(p, span->kind),
                                          span->microbatch >= 0 ? label : NULL, tip});
}

static void draw_hole(void *context, const struct gantt_span *hole)
{
    const struct pipeline_picture *p = context;
    plot_box(&p->plot, seconds(hole->begin), seconds(hole->end), (double)hole->row,
             colour_of(p, hole->kind), NULL);
}

/* Columns: row, begin, end, phase or cause, microbatch (-1: none), chunk; by row and time. */
static bool add_span(void *context, const struct query_row *row, struct error *error)
{
    struct pipeline_picture *p = context;
    unsigned bytes;
    const char *text = query_text(row, 3, &bytes);
    struct gantt_span span = {.row = query_integer(row, 0),
                              .begin = query_integer(row, 1),
                              .end = query_integer(row, 2),
                              .microbatch = query_integer(row, 4),
                              .chunk = query_integer(row, 5)};
    if (span.row < 0 || span.row >= p->row_count || span.begin < 0 || span.end < span.begin ||
        span.end > p->last)
        return error_set(error, "the database has a span outside of its timeline");
    if (kind_of(text, bytes, &span.kind))
        gantt_marks_add(&p->marks, &span);
    return true;
}

/* Columns: end of the step. */
static bool measure(void *context, const struct query_row *row, struct error *error)
{
    struct pipeline_picture *p = context;
    p->last = query_integer(row, 0);
    if (p->last <= 0 || p->row_count < 1)
        return error_set(error, "the database has no timeline to draw: run with --detail op");
    return true;
}

/* Columns: stage, first rank, slowest. */
static bool take_row(void *context, const struct query_row *row, struct error *error)
{
    struct pipeline_picture *p = context;
    if (p->row_count == ROW_MAX)
        return error_set(error, "the database has more than %d rows to draw", ROW_MAX);
    char *name = p->names[p->row_count];
    snprintf(name, LABEL_SIZE, "stage %" PRId64, query_integer(row, 0));
    if (query_integer(row, 2) != 0)
        say(name, LABEL_SIZE, ", slowest: rank %" PRId64, query_integer(row, 1));
    p->words[p->row_count++] = name;
    return true;
}

/* Columns: cause, seconds of the mean rank, their share of the step, meaning. What is no wait, but
 * inside ops, is said. */
static bool take_cause(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct pipeline_picture *p = context;
    unsigned bytes, more;
    const char *cause = query_text(row, 0, &bytes), *meaning = query_text(row, 3, &more);
    struct drawn_cause *drawn = &p->causes[p->cause_count];
    if (p->cause_count == GANTT_KIND_COUNT || !kind_of(cause, bytes, &drawn->kind))
        return true;
    snprintf(drawn->text, sizeof drawn->text, "%.*s %s, %.2f %%: %.*s", (int)bytes, cause,
             format_time(query_real(row, 1)).s, query_real(row, 2), (int)(more < 90 ? more : 90),
             meaning);
    if (drawn->kind == GANTT_straggler && p->paced_s > 0.0)
        say(drawn->text, sizeof drawn->text, "; %s of it not hatched: inside ops at its pace",
            format_time(p->paced_s).s);
    p->cause_count++;
    return true;
}

static bool take_name(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct pipeline_picture *p = context;
    unsigned bytes;
    const char *text = query_text(row, 0, &bytes);
    snprintf(p->name, sizeof p->name, "%.*s", (int)bytes, text);
    text = query_text(row, 1, &bytes);
    snprintf(p->announced, sizeof p->announced, "%.*s", (int)bytes, text);
    return true;
}

/* Columns: ts, text. */
static bool take_note(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct pipeline_picture *p = context;
    struct drawn_note *note = &p->notes[p->note_count++];
    unsigned bytes;
    const char *said = query_text(row, 1, &bytes);
    note->at = query_integer(row, 0);
    snprintf(note->text, sizeof note->text, "%u  at %s: %.*s", p->note_count,
             format_time(seconds(note->at)).s, (int)(bytes < 380 ? bytes : 380), said);
    return true;
}

static void set_axes(struct pipeline_picture *p)
{
    double widest = 0.0;
    for (int64_t row = 0; row < p->row_count; row++)
        widest = fmax(widest, plot_text_width(p->words[row]));
    p->plot.x = (struct plot_axis){.label = "", .high = seconds(p->last), .unit = PLOT_TIME};
    p->plot.y = plot_axis_words("", p->words, (size_t)p->row_count, true);
    p->plot.left = MARGIN + widest;
    p->plot.top = TOP + LINE * p->cause_count;
    p->plot.width = WIDTH;
    p->plot.height = (double)(ROW_HEIGHT * p->row_count);
}

/* Captions below the frame, numbered, and their marks; `draw` false: only how far they reach. */
static double draw_notes(const struct pipeline_picture *p, bool draw)
{
    double y = p->plot.top + p->plot.height + plot_room_below(&p->plot);
    for (unsigned i = 0; i < p->note_count; i++) {
        char label[LABEL_SIZE];
        snprintf(label, sizeof label, "%u", i + 1);
        y += LINE * plot_paragraph(draw ? p->plot.out : NULL, p->plot.left, y, NOTE_COLUMNS,
                                   p->notes[i].text);
        if (draw)
            plot_mark(&p->plot, seconds(p->notes[i].at), "#333333", 0, label);
    }
    return y;
}

/* Phases in a line, then a line for each cause. */
static void draw_keys(struct pipeline_picture *p)
{
    const double left = p->plot.left;
    struct plot_legend keys = {p->plot.out, left, left + WIDTH + RIGHT, left, KEYS_Y};
    for (int i = 0; i < GANTT_PHASE_COUNT; i++)
        plot_legend_add(&keys, palette_colour("phase", gantt_kinds[i]), gantt_kinds[i]);
    for (unsigned i = 0; i < p->cause_count; i++) {
        const struct drawn_cause *cause = &p->causes[i];
        const char *colour = palette_colour("part", gantt_kinds[cause->kind]);
        if (colour != NULL)
            p->hatchings[cause->kind] =
                plot_hatching(p->plot.out, gantt_kinds[cause->kind], colour);
        plot_key(p->plot.out, left, KEYS_Y + LINE * (i + 1), colour_of(p, cause->kind),
                 cause->text);
    }
}

static void draw_page(struct pipeline_picture *p)
{
    char description[320];
    snprintf(description, sizeof description,
             "The passes of %" PRId64 " row%s over %s, numbered by microbatch; hatched by cause "
             "where a GPU computes nothing. Waits are those of the mean rank.",
             p->row_count, plural_s((uint64_t)p->row_count), format_time(seconds(p->last)).s);
    plot_page_begin(p->plot.out,
                    &(struct plot_page){p->plot.left + WIDTH + RIGHT, draw_notes(p, false), p->name,
                                        description, p->announced});
    plot_heading(p->plot.out, p->plot.left, TITLE_Y, p->name);
    draw_keys(p);
    plot_frame(&p->plot, "");
}

#define TIMELINE                                                                                   \
    "select track_id, ts, ts + dur as end, phase as kind, coalesce(microbatch, -1) as m, chunk "   \
    "from slice_raw where depth = 0 and dur > 0 union all "                                        \
    "select track_id, ts, ts + dur, cause, -1, -1 from idle_raw"
#define ROWS                                                                                       \
    "with place as (select rank_class, row_number() over (order by stage, rank_class) - 1 as row " \
    "from stage_class where run = (select min(id) from run)) "

bool picture_gantt(struct query *query, FILE *out, struct error *error)
{
    struct pipeline_picture p = {.plot = {.out = out},
                                 .marks = {.draw = draw_mark, .hole = draw_hole, .context = &p}};
    const int64_t most = NOTE_MAX;
    if (!query_run(query,
                   "select stage, first_rank, role = 'slowest' from stage_class "
                   "where run = (select min(id) from run) order by stage, rank_class",
                   NULL, take_row, &p, error) ||
        !query_run(query,
                   "select max((select coalesce(max(ts + dur), 0) from slice_raw), (select "
                   "coalesce(max(ts + dur), 0) from idle_raw))",
                   NULL, measure, &p, error) ||
        !paced_read(query, &p.paced_s, error) ||
        !query_run(
            query,
            "select b.part, b.seconds, b.percent, b.meaning from breakdown b where b.part in "
            "(select text from string where id in (select distinct cause from idle_raw)) "
            "order by b.seconds desc, b.part",
            NULL, take_cause, &p, error) ||
        !query_run(query, "select title, announced_words from run order by id limit 1", NULL,
                   take_name, &p, error) ||
        !query_run(query, "select ts, text from note order by ts, id limit ?1",
                   &(struct query_values){&most, 1}, take_note, &p, error))
        return false;
    set_axes(&p);
    draw_page(&p);
    gantt_marks_begin(&p.marks, p.last / WIDTH);
    if (!query_run(query,
                   ROWS "select p.row, s.ts, s.end, n.text, s.m, s.chunk from (" TIMELINE
                        ") s join track t on t.id = s.track_id join place p on p.rank_class = "
                        "t.rank_class join string n on n.id = s.kind where t.name = 'compute' "
                        "order by p.row, s.ts",
                   NULL, add_span, &p, error))
        return false;
    gantt_marks_end(&p.marks);
    draw_notes(&p, true);
    plot_page_end(out);
    return true;
}
