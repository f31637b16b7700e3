/* The pipeline of a run as a picture: a row for each stage, a rectangle for each pass.
 *
 * Compute spans of one stage that follow each other in the same phase, microbatch and chunk are
 * drawn as one rectangle from the first start to the last end, so that a pass looks like a pass
 * although communication interrupts it. What stays hatched is time in which the stage had nothing
 * to compute. Captions of the scenario stand below, numbered, at marks of their moments. */
#include <inttypes.h>
#include <string.h>

#include "analysis/export/export.h"
#include "analysis/text/plot.h"
#include "sim/units.h"

enum {
    LEFT = 74,
    TOP = 52,
    ROW_HEIGHT = 34,
    WIDTH = 900,
    STAGE_MAX = 1024,
    LINE = 18,
    NOTE_MAX = 99,
    LABEL_SIZE = 32
};

/* Colours of the plots, by their number; words as the database has them. */
static const struct {
    const char *phase;
    unsigned colour;
} phases[] = {
    {"forward", 0}, {"backward", 4}, {"gradients", 1}, {"optimizer", 2}, {"parameters", 3},
};
enum {
    PHASE_KIND_COUNT = sizeof phases / sizeof *phases
};

struct drawn_pass {
    int64_t stage, microbatch, chunk, begin, end;
    int phase; /* row of phases; -1: none yet */
};
struct pipeline_picture {
    struct plot plot;
    int64_t stage_count, last, note_count;
    struct drawn_pass pass;
    char names[STAGE_MAX][LABEL_SIZE];
    const char *words[STAGE_MAX];
};

static double seconds(int64_t ns)
{
    return (double)ns * NANOSECOND;
}

static int phase_of(const char *text, unsigned bytes)
{
    if (bytes == strlen("recompute") && memcmp(text, "recompute", bytes) == 0)
        return 1; /* part of the backward pass */
    for (int i = 0; i < PHASE_KIND_COUNT; i++)
        if (strlen(phases[i].phase) == bytes && memcmp(phases[i].phase, text, bytes) == 0)
            return i;
    return -1;
}

static void draw_pass(const struct pipeline_picture *p)
{
    const struct drawn_pass *pass = &p->pass;
    char label[LABEL_SIZE];
    if (pass->phase < 0)
        return;
    snprintf(label, sizeof label, "%" PRId64, pass->microbatch);
    plot_box(&p->plot, seconds(pass->begin), seconds(pass->end), (double)pass->stage,
             plot_colour(phases[pass->phase].colour), pass->microbatch >= 0 ? label : NULL);
}

/* Columns: stage, begin, end, phase, microbatch (-1: none), chunk; by stage and time. */
static bool add_span(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct pipeline_picture *p = context;
    unsigned bytes;
    const char *text = query_text(row, 3, &bytes);
    struct drawn_pass next = {
        .stage = query_integer(row, 0),
        .begin = query_integer(row, 1),
        .end = query_integer(row, 2),
        .phase = phase_of(text, bytes),
        .microbatch = query_integer(row, 4),
        .chunk = query_integer(row, 5),
    };
    struct drawn_pass *pass = &p->pass;
    bool same = pass->phase == next.phase && pass->stage == next.stage &&
                pass->microbatch == next.microbatch && pass->chunk == next.chunk &&
                next.microbatch >= 0;
    if (same) {
        pass->end = next.end > pass->end ? next.end : pass->end;
    } else {
        draw_pass(p);
        *pass = next;
    }
    return true;
}

static bool measure(void *context, const struct query_row *row, struct error *error)
{
    struct pipeline_picture *p = context;
    p->last = query_integer(row, 0);
    p->stage_count = query_integer(row, 1) + 1;
    if (p->last <= 0 || p->stage_count < 1 || p->stage_count > STAGE_MAX)
        return error_set(error, "the database has no timeline to draw: run with --detail op");
    return true;
}

static bool count_notes(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct pipeline_picture *p = context;
    int64_t count = query_integer(row, 0);
    p->note_count = count < NOTE_MAX ? count : NOTE_MAX;
    return true;
}

static void set_axes(struct pipeline_picture *p)
{
    for (int64_t stage = 0; stage < p->stage_count; stage++) {
        snprintf(p->names[stage], LABEL_SIZE, "stage %" PRId64, stage);
        p->words[stage] = p->names[stage];
    }
    p->plot.x = (struct plot_axis){.label = "", .high = seconds(p->last), .unit = PLOT_TIME};
    p->plot.y = plot_axis_words("", p->words, (size_t)p->stage_count, true);
    p->plot.left = LEFT;
    p->plot.top = TOP;
    p->plot.width = WIDTH;
    p->plot.height = (double)(ROW_HEIGHT * p->stage_count);
}

static double first_note_y(const struct pipeline_picture *p)
{
    return p->plot.top + p->plot.height + plot_room_below(&p->plot);
}

static void draw_page(const struct pipeline_picture *p)
{
    double x = LEFT;
    plot_page_begin(p->plot.out, LEFT + WIDTH + 26,
                    first_note_y(p) + (double)(LINE * p->note_count));
    for (int i = 0; i < PHASE_KIND_COUNT; i++)
        x = plot_key(p->plot.out, x, 20.0, plot_colour(phases[i].colour), phases[i].phase);
    plot_key(p->plot.out, x, 20.0, NULL, "no compute");
    plot_frame(&p->plot, "");
    for (int64_t stage = 0; stage < p->stage_count; stage++)
        plot_box(&p->plot, 0.0, seconds(p->last), (double)stage, NULL, NULL);
}

/* Columns: number from 1, ts, text. */
static bool draw_note(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    const struct pipeline_picture *p = context;
    int64_t number = query_integer(row, 0);
    unsigned bytes;
    const char *said = query_text(row, 2, &bytes);
    char label[LABEL_SIZE], text[512];
    snprintf(label, sizeof label, "%" PRId64, number);
    snprintf(text, sizeof text, "%" PRId64 "  at %.4g s: %.*s", number,
             seconds(query_integer(row, 1)), (int)(bytes < 400 ? bytes : 400), said);
    plot_mark(&p->plot, seconds(query_integer(row, 1)), "#333333", 0, label);
    plot_text(p->plot.out, LEFT, first_note_y(p) + (double)(LINE * (number - 1)), "start", text);
    return true;
}

/* The first class of each stage stands for it. */
#define FIRST_TRACKS                                                                               \
    "from slice_raw s join track t on t.id = s.track_id join rank_class c on c.id = t.rank_class " \
    "where t.name = 'compute' and s.depth = 0 and c.id in "                                        \
    "(select min(id) from rank_class group by stage) "

bool export_svg(struct query *query, FILE *out, struct error *error)
{
    struct pipeline_picture p = {.plot = {.out = out}, .pass = {.phase = -1}};
    const int64_t most = NOTE_MAX;
    if (!query_run(query,
                   "select coalesce(max(s.ts + s.dur), 0), coalesce(max(c.stage), 0) " FIRST_TRACKS,
                   NULL, measure, &p, error) ||
        !query_run(query, "select count(*) from note", NULL, count_notes, &p, error))
        return false;
    set_axes(&p);
    draw_page(&p);
    if (!query_run(query,
                   "select c.stage, s.ts, s.ts + s.dur, (select text from string where id = "
                   "s.phase), coalesce(s.microbatch, -1), s.chunk " FIRST_TRACKS
                   "order by c.stage, s.ts, s.id",
                   NULL, add_span, &p, error))
        return false;
    draw_pass(&p);
    bool good = query_run(query,
                          "select row_number() over (order by ts, id), ts, text from note "
                          "order by ts, id limit ?1",
                          &(struct query_values){&most, 1}, draw_note, &p, error);
    plot_page_end(out);
    return good;
}
