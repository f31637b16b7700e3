#include <inttypes.h>
#include <math.h>

#include "analysis/exchange/export/picture.h"
#include "analysis/output/plot/palette.h"
#include "analysis/output/plot/plot.h"
#include "analysis/output/text/format.h"
#include "sim/plural.h"

enum {
    LEFT = 76,
    WIDTH = 560,
    RIGHT = 84,
    ROW_HEIGHT = 34,
    TITLE_Y = 22,
    KEYS_Y = 46,
    STAGE_MAX = 64,
    NAME_BYTES = 64,
    TENANT_ROWS = 9
};
/* From the card up: what is always there, then what comes and goes. */
#define MEMORY_TENANTS(X)                                                                          \
    X(context)                                                                                     \
    X(weights)                                                                                     \
    X(gradients)                                                                                   \
    X(master)                                                                                      \
    X(moments)                                                                                     \
    X(activations)                                                                                 \
    X(temporary)                                                                                   \
    X(communication)                                                                               \
    X(fragmentation)
static const struct {
    const char *name;
    size_t offset; /* in a row of stage_memory */
} tenants[TENANT_ROWS] = {
#define X(name) {#name, offsetof(struct stage_memory_row, name##_bytes)},
    MEMORY_TENANTS(X)
#undef X
};

struct memory_picture {
    struct plot plot;
    const struct run_row *run;
    const struct stage_memory_row *rows;
    size_t count, drawn;
    char names[STAGE_MAX][NAME_BYTES];
    const char *words[STAGE_MAX];
};

static double bytes_of(const struct stage_memory_row *row, unsigned tenant)
{
    return *(const double *)(const void *)((const char *)row + tenants[tenant].offset);
}

static void set_axes(struct memory_picture *p, double top)
{
    double most = p->run->usable_hbm_bytes;
    for (size_t i = 0; i < p->drawn; i++) {
        snprintf(p->names[i], NAME_BYTES, "stage %" PRId64, p->rows[i].stage);
        p->words[i] = p->names[i];
        most = fmax(most, p->rows[i].peak_reserved_bytes);
    }
    p->plot.x = (struct plot_axis){
        .label = "bytes of a card at its peak", .high = 1.04 * most, .unit = PLOT_BYTES};
    p->plot.y = plot_axis_words("", p->words, p->drawn, true);
    p->plot.left = LEFT;
    p->plot.top = top;
    p->plot.width = WIDTH;
    p->plot.height = (double)(ROW_HEIGHT * p->drawn);
}

static void draw_stage(const struct memory_picture *p, size_t i)
{
    const struct stage_memory_row *row = &p->rows[i];
    double begin = 0.0;
    char tip[160], total[96];
    for (unsigned t = 0; t < TENANT_ROWS; t++) {
        const double bytes = bytes_of(row, t);
        if (!(bytes > 0.0))
            continue;
        snprintf(tip, sizeof tip, "stage %" PRId64 ", %s: %.0f bytes (%s)", row->stage,
                 tenants[t].name, bytes, format_bytes(bytes).s);
        plot_bar(&p->plot, &(struct plot_bar){begin, begin + bytes, (double)i,
                                              palette_colour("tenant", tenants[t].name),
                                              tenants[t].name, tip});
        begin += bytes;
    }
    snprintf(total, sizeof total, "%s", format_bytes(row->peak_reserved_bytes).s);
    plot_label(&p->plot, p->plot.x.high, (double)i, total,
               row->fits == 1 ? PLOT_AFTER : PLOT_AFTER_IN_ALARM);
}

/* Names of those that some stage holds. */
static double draw_keys(const struct memory_picture *p, FILE *out)
{
    struct plot_legend keys = {out, LEFT, LEFT + WIDTH + RIGHT, LEFT, KEYS_Y};
    for (unsigned t = 0; t < TENANT_ROWS; t++) {
        double most = 0.0;
        for (size_t i = 0; i < p->drawn; i++)
            most = fmax(most, bytes_of(&p->rows[i], t));
        if (most > 0.0)
            plot_legend_add(&keys, palette_colour("tenant", tenants[t].name), tenants[t].name);
    }
    return keys.y;
}

static void describe(const struct memory_picture *p, char *text, size_t size)
{
    size_t full = 0;
    for (size_t i = 1; i < p->count; i++)
        if (p->rows[i].peak_reserved_bytes > p->rows[full].peak_reserved_bytes)
            full = i;
    snprintf(text, size,
             "Memory at the peak of %zu pipeline stage%s by what holds it. A card gives %s; the "
             "fullest, stage %" PRId64 ", needs %s.",
             p->count, plural_s(p->count), format_bytes(p->run->usable_hbm_bytes).s,
             p->rows[full].stage, format_bytes(p->rows[full].peak_reserved_bytes).s);
}

bool picture_memory(const struct record *record, FILE *out, struct error *error)
{
    struct memory_picture p = {.plot = {.out = out}, .run = record_run(record)};
    char description[320], limit[64], left[96];
    p.rows = record_stage_memory(record, &p.count);
    if (p.count == 0 || !(p.run->usable_hbm_bytes > 0.0))
        return error_set(error,
                         "the database holds no memory of stages: it is not of `orrery run`");
    p.drawn = p.count < STAGE_MAX ? p.count : STAGE_MAX;
    const double keys = draw_keys(&p, NULL), marks = plot_marks_room(1);
    set_axes(&p, keys + 22.0 + marks);
    describe(&p, description, sizeof description);
    const double bottom = p.plot.top + p.plot.height + plot_room_below(&p.plot);
    plot_page_begin(out, &(struct plot_page){LEFT + WIDTH + RIGHT,
                                             bottom + (p.drawn < p.count ? 22.0 : 6.0),
                                             p.run->title, description, p.run->announced_words});
    plot_heading(out, LEFT, TITLE_Y, p.run->title);
    draw_keys(&p, out);
    plot_frame(&p.plot, "");
    plot_region(&p.plot, p.run->usable_hbm_bytes, p.plot.x.high, PALETTE_ALARM, 0.12);
    for (size_t i = 0; i < p.drawn; i++)
        draw_stage(&p, i);
    snprintf(limit, sizeof limit, "a card gives %s", format_bytes(p.run->usable_hbm_bytes).s);
    plot_mark(&p.plot, p.run->usable_hbm_bytes, PALETTE_ALARM, 0, limit);
    snprintf(left, sizeof left, "the first %zu of %zu kinds of ranks", p.drawn, p.count);
    if (p.drawn < p.count)
        plot_text(out, LEFT, bottom + 12.0, "start", left);
    plot_page_end(out);
    return true;
}
