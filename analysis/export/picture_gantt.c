/* The pipeline of a run: a row for each stage, a rectangle for each pass.
 *
 * Compute spans of one stage that follow each other in the same phase, microbatch and chunk are
 * drawn as one rectangle from the first start to the last end, so that a pass looks like a pass
 * although communication interrupts it. What stays hatched is time in which the stage had nothing
 * to compute. Captions of the scenario stand below, numbered, at marks of their moments. */
#include <inttypes.h>
#include <string.h>

#include "analysis/export/picture.h"
#include "analysis/plot/palette.h"
#include "analysis/plot/plot.h"
#include "analysis/text/format.h"
#include "sim/units.h"

enum {
    LEFT = 64,
    TOP = 66,
    KEYS_Y = 46,
    TITLE_Y = 22,
    ROW_HEIGHT = 34,
    WIDTH = 630,
    RIGHT = 26,
    STAGE_MAX = 1024,
    LINE = 18,
    NOTE_MAX = 32,
    NOTE_COLUMNS = 100, /* of a line of a caption */
    LABEL_SIZE = 32,
    NOTE_BYTES = 440
};

/* As the database has them. What is computed again is part of the backward pass. */
static const char *const phases[] = {"forward", "backward", "gradients", "optimizer", "parameters"};
enum {
    PHASE_KIND_COUNT = sizeof phases / sizeof *phases
};

struct drawn_pass {
    int64_t stage, microbatch, chunk, begin, end;
    int phase; /* row of phases; -1: none yet */
};
struct drawn_note {
    int64_t at;
    char text[NOTE_BYTES];
};
struct pipeline_picture {
    struct plot plot;
    int64_t stage_count, last;
    unsigned note_count;
    struct drawn_pass pass;
    struct drawn_note notes[NOTE_MAX];
    char name[128]; /* of the scenario */
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
        if (strlen(phases[i]) == bytes && memcmp(phases[i], text, bytes) == 0)
            return i;
    return -1;
}

static void draw_pass(const struct pipeline_picture *p)
{
    const struct drawn_pass *pass = &p->pass;
    char label[LABEL_SIZE], tip[160];
    if (pass->phase < 0)
        return;
    snprintf(label, sizeof label, "%" PRId64, pass->microbatch);
    snprintf(tip, sizeof tip, "stage %" PRId64 ", %s%s%s: %" PRId64 " to %" PRId64 " ns",
             pass->stage, phases[pass->phase], pass->microbatch >= 0 ? " of microbatch " : "",
             pass->microbatch >= 0 ? label : "", pass->begin, pass->end);
    plot_bar(&p->plot,
             &(struct plot_bar){seconds(pass->begin), seconds(pass->end), (double)pass->stage,
                                palette_colour("phase", phases[pass->phase]),
                                pass->microbatch >= 0 ? label : NULL, tip});
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

static bool take_name(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct pipeline_picture *p = context;
    unsigned bytes;
    const char *name = query_text(row, 0, &bytes);
    snprintf(p->name, sizeof p->name, "%.*s", (int)bytes, name);
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

/* Captions below the frame, numbered, and their marks; `draw` false: only how far they reach. */
static double draw_notes(const struct pipeline_picture *p, bool draw)
{
    double y = p->plot.top + p->plot.height + plot_room_below(&p->plot);
    for (unsigned i = 0; i < p->note_count; i++) {
        char label[LABEL_SIZE];
        snprintf(label, sizeof label, "%u", i + 1);
        y += LINE *
             plot_paragraph(draw ? p->plot.out : NULL, LEFT, y, NOTE_COLUMNS, p->notes[i].text);
        if (draw)
            plot_mark(&p->plot, seconds(p->notes[i].at), "#333333", 0, label);
    }
    return y;
}

static void draw_page(const struct pipeline_picture *p)
{
    struct plot_legend keys = {p->plot.out, LEFT, LEFT + WIDTH + RIGHT, LEFT, KEYS_Y};
    char description[320];
    snprintf(description, sizeof description,
             "The passes of %" PRId64 " pipeline stage%s over %s, numbered by microbatch; hatched "
             "where a stage computes nothing.",
             p->stage_count, p->stage_count == 1 ? "" : "s", format_time(seconds(p->last)).s);
    plot_page_begin(p->plot.out, LEFT + WIDTH + RIGHT, draw_notes(p, false), p->name, description);
    plot_heading(p->plot.out, LEFT, TITLE_Y, p->name);
    for (int i = 0; i < PHASE_KIND_COUNT; i++)
        plot_legend_add(&keys, palette_colour("phase", phases[i]), phases[i]);
    plot_legend_add(&keys, NULL, "no compute");
    plot_frame(&p->plot, "");
    for (int64_t stage = 0; stage < p->stage_count; stage++)
        plot_box(&p->plot, 0.0, seconds(p->last), (double)stage, NULL, NULL);
}

/* The first class of each stage stands for it. */
#define FIRST_TRACKS                                                                               \
    "from slice_raw s join track t on t.id = s.track_id join rank_class c on c.id = t.rank_class " \
    "where t.name = 'compute' and s.depth = 0 and s.dur > 0 and c.id in "                          \
    "(select min(id) from rank_class group by stage) "

bool picture_gantt(struct query *query, FILE *out, struct error *error)
{
    struct pipeline_picture p = {.plot = {.out = out}, .pass = {.phase = -1}};
    const int64_t most = NOTE_MAX;
    if (!query_run(query,
                   "select coalesce(max(s.ts + s.dur), 0), coalesce(max(c.stage), 0) " FIRST_TRACKS,
                   NULL, measure, &p, error) ||
        !query_run(query, "select scenario from run order by id limit 1", NULL, take_name, &p,
                   error) ||
        !query_run(query, "select ts, text from note order by ts, id limit ?1",
                   &(struct query_values){&most, 1}, take_note, &p, error))
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
    draw_notes(&p, true);
    plot_page_end(out);
    return true;
}
