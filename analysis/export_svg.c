/* The pipeline of a run as a picture: a row for each stage, a rectangle for each pass.
 *
 * Compute spans of one stage that follow each other in the same phase, microbatch and chunk are
 * drawn as one rectangle from the first start to the last end, so that a pass looks like a pass
 * although communication interrupts it. What stays hatched is time in which the stage had nothing
 * to compute. */
#include <inttypes.h>
#include <string.h>

#include "analysis/export.h"
#include "sim/units.h"

enum {
    MARGIN_LEFT = 74,
    MARGIN_TOP = 34,
    ROW_HEIGHT = 26,
    ROW_GAP = 8,
    PLOT_WIDTH = 900,
    LABEL_MIN_WIDTH = 16,
    TICK_COUNT = 8
};

/* Okabe and Ito's colours, which colour-blind readers can tell apart. */
static const struct {
    const char *phase, *fill;
} phases[] = {
    {"forward", "#56b4e9"},   {"backward", "#0072b2"},   {"gradients", "#e69f00"},
    {"optimizer", "#009e73"}, {"parameters", "#d55e00"},
};
enum {
    PHASE_KIND_COUNT = sizeof phases / sizeof *phases
};

struct pass {
    int64_t stage, microbatch, chunk, begin, end;
    int phase; /* row of phases; -1: none yet */
};
struct picture {
    FILE *out;
    int64_t stage_count, last;
    struct pass pass;
};

static double x_of(const struct picture *p, int64_t ns)
{
    double whole = p->last > 0 ? (double)p->last : 1.0;
    return MARGIN_LEFT + PLOT_WIDTH * ((double)ns / whole);
}

static double y_of(int64_t stage)
{
    return MARGIN_TOP + (double)stage * (ROW_HEIGHT + ROW_GAP);
}

static int phase_of(const char *text, unsigned bytes)
{
    if (bytes == strlen("recompute") && memcmp(text, "recompute", bytes) == 0) {
        return 1; /* part of the backward pass */
    }
    for (int i = 0; i < PHASE_KIND_COUNT; i++) {
        if (strlen(phases[i].phase) == bytes && memcmp(phases[i].phase, text, bytes) == 0) {
            return i;
        }
    }
    return -1;
}

static void draw_pass(const struct picture *p)
{
    const struct pass *pass = &p->pass;
    if (pass->phase < 0) {
        return;
    }
    double x = x_of(p, pass->begin), width = x_of(p, pass->end) - x;
    fprintf(p->out,
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
            "stroke=\"#fff\" stroke-width=\".3\"/>\n",
            x, y_of(pass->stage), width, ROW_HEIGHT, phases[pass->phase].fill);
    if (width >= LABEL_MIN_WIDTH && pass->microbatch >= 0) {
        fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"#fff\">%" PRId64 "</text>\n",
                x + width / 2.0, y_of(pass->stage) + ROW_HEIGHT / 2.0 + 4.0, pass->microbatch);
    }
}

/* Columns: stage, begin, end, phase, microbatch (-1: none), chunk; by stage and time. */
static bool add_span(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct picture *p = context;
    unsigned bytes;
    const char *text = query_text(row, 3, &bytes);
    struct pass next = {
        .stage = query_integer(row, 0),
        .begin = query_integer(row, 1),
        .end = query_integer(row, 2),
        .phase = phase_of(text, bytes),
        .microbatch = query_integer(row, 4),
        .chunk = query_integer(row, 5),
    };
    struct pass *pass = &p->pass;
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
    struct picture *p = context;
    const int64_t stage_limit = 1024;
    p->last = query_integer(row, 0);
    p->stage_count = query_integer(row, 1) + 1;
    if (p->last <= 0 || p->stage_count > stage_limit) {
        return error_set(error, "the database has no timeline to draw: run with --detail op");
    }
    return true;
}

static void draw_frame(const struct picture *p)
{
    int height = MARGIN_TOP + (int)p->stage_count * (ROW_HEIGHT + ROW_GAP) + 44;
    fprintf(p->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"11\" text-anchor=\"middle\">\n"
            "<defs><pattern id=\"idle\" width=\"6\" height=\"6\" "
            "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
            "<rect width=\"6\" height=\"6\" fill=\"#f4f4f4\"/>"
            "<path d=\"M0 0V6\" stroke=\"#bbb\" stroke-width=\"2\"/></pattern></defs>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            MARGIN_LEFT + PLOT_WIDTH + 20, height);
    for (int64_t stage = 0; stage < p->stage_count; stage++) {
        fprintf(p->out,
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#333\">stage %" PRId64
                "</text>\n<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
                "fill=\"url(#idle)\"/>\n",
                MARGIN_LEFT - 8, y_of(stage) + ROW_HEIGHT / 2.0 + 4.0, stage, MARGIN_LEFT,
                y_of(stage), PLOT_WIDTH, ROW_HEIGHT);
    }
}

static void draw_axis(const struct picture *p)
{
    double y = y_of(p->stage_count) + 8.0;
    for (int i = 0; i <= TICK_COUNT; i++) {
        int64_t ns = p->last / TICK_COUNT * i;
        fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"#333\">%.3g s</text>\n", x_of(p, ns), y,
                (double)ns * NANOSECOND);
    }
    double x = MARGIN_LEFT;
    for (int i = 0; i < PHASE_KIND_COUNT; i++) {
        fprintf(p->out,
                "<rect x=\"%.0f\" y=\"10\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                "<text x=\"%.0f\" y=\"20\" text-anchor=\"start\" fill=\"#333\">%s</text>\n",
                x, phases[i].fill, x + 17.0, phases[i].phase);
        x += 104.0;
    }
    fprintf(p->out,
            "<rect x=\"%.0f\" y=\"10\" width=\"12\" height=\"12\" fill=\"url(#idle)\"/>"
            "<text x=\"%.0f\" y=\"20\" text-anchor=\"start\" fill=\"#333\">no compute</text>\n",
            x, x + 17.0);
    fprintf(p->out, "</svg>\n");
}

/* The first class of each stage stands for it. */
static const char *const first_tracks =
    "from slice_raw s join track t on t.id = s.track_id join rank_class c on c.id = t.rank_class "
    "where t.name = 'compute' and s.depth = 0 and c.id in "
    "(select min(id) from rank_class group by stage) ";

bool export_svg(struct query *query, FILE *out, struct error *error)
{
    struct picture p = {.out = out, .pass = {.phase = -1}};
    char sql[1024];
    snprintf(sql, sizeof sql, "select coalesce(max(s.ts + s.dur), 0), coalesce(max(c.stage), 0) %s",
             first_tracks);
    if (!query_run(query, sql, NULL, 0, measure, &p, error)) {
        return false;
    }
    draw_frame(&p);
    snprintf(sql, sizeof sql,
             "select c.stage, s.ts, s.ts + s.dur, (select text from string where id = s.phase), "
             "coalesce(s.microbatch, -1), s.chunk %s order by c.stage, s.ts, s.id",
             first_tracks);
    if (!query_run(query, sql, NULL, 0, add_span, &p, error)) {
        return false;
    }
    draw_pass(&p);
    draw_axis(&p);
    return true;
}
