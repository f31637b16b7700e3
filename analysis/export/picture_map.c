#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/export/picture.h"
#include "analysis/plot/palette.h"
#include "analysis/plot/plot.h"
#include "analysis/text/format.h"

enum {
    LEFT = 64,
    WIDTH = 630,
    RIGHT = 66,
    TITLE_Y = 22,
    KEYS_Y = 46,
    TOP = 64,
    ROW_HEIGHT = 30,
    GPU_SIZE = 15,
    NODE_GAP = 8,
    GPUS_SHOWN = 1024, /* more: a square for each node */
    KIND_MAX = 8,
    STAGE_COLOURS = 8,
    WORD_BYTES = 32
};
/* Of pipeline stages in turn, from dark to light and back. */
static const char *const stage_colours[STAGE_COLOURS] = {
    PALETTE_BLUE,   PALETTE_AMBER, PALETTE_TEAL, PALETTE_PINK,
    PALETTE_PURPLE, PALETTE_BRICK, PALETTE_MINT, PALETTE_LAVENDER};

struct map_picture {
    FILE *out;
    const struct run_row *run;
    int64_t gpus, nodes, gpus_a_node;
    int64_t drawn_node;  /* of squares for nodes */
    double size, bottom; /* of a square; of the last one */
    struct plot wires;
    char names[KIND_MAX][WORD_BYTES];
    const char *words[KIND_MAX];
    double counts[KIND_MAX], drawn[KIND_MAX], most[KIND_MAX]; /* wires; busiest share */
    size_t kinds;
};

static bool by_gpu(const struct map_picture *p)
{
    return p->gpus <= GPUS_SHOWN;
}

/* GPUs of a node stand in two rows. */
static int64_t columns_a_node(const struct map_picture *p)
{
    return p->gpus_a_node > 2 ? (p->gpus_a_node + 1) / 2 : p->gpus_a_node;
}

static int64_t nodes_a_row(const struct map_picture *p)
{
    if (by_gpu(p)) {
        const int64_t wide = columns_a_node(p) * GPU_SIZE + NODE_GAP;
        return WIDTH / wide > 0 ? WIDTH / wide : 1;
    }
    return (int64_t)(WIDTH / p->size);
}

static bool measure(void *context, const struct query_row *row, struct error *error)
{
    struct map_picture *p = context;
    p->gpus = query_integer(row, 0);
    p->nodes = query_integer(row, 1);
    if (p->gpus < 1 || p->nodes < 1 || p->gpus > INT32_MAX)
        return error_set(error, "the database holds no cluster: it is not of `orrery run`");
    p->gpus_a_node = (p->gpus + p->nodes - 1) / p->nodes;
    /* squares that fill about a third of the page's height */
    p->size = fmin(fmax(floor(sqrt(WIDTH * 240.0 / (double)p->nodes)), 2.0), 18.0);
    return true;
}

static void describe_place(const struct query_row *row, char *tip, size_t size)
{
    if (query_type(row, 2) == QUERY_NULL)
        snprintf(tip, size, "gpu %" PRId64 " of node %" PRId64 ": no rank", query_integer(row, 0),
                 query_integer(row, 1));
    else
        snprintf(tip, size,
                 "gpu %" PRId64 " of node %" PRId64 ": rank %" PRId64 ", stage %" PRId64
                 ", tensor rank %" PRId64 ", replica %" PRId64,
                 query_integer(row, 0), query_integer(row, 1), query_integer(row, 2),
                 query_integer(row, 3), query_integer(row, 4), query_integer(row, 5));
}

/* Columns: gpu, node, rank or null, stage, tp, dp; by gpu. */
static bool draw_gpu(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct map_picture *p = context;
    const int64_t node = query_integer(row, 1), a_row = nodes_a_row(p);
    const bool idle = query_type(row, 2) == QUERY_NULL;
    const int64_t stage = idle ? 0 : query_integer(row, 3);
    char tip[160], label[24];
    struct plot_cell cell = {.tip = tip, .label = p->run->pp > 1 ? label : NULL};
    if (node < 0 || node >= p->nodes || stage < 0 || (!by_gpu(p) && node == p->drawn_node))
        return true;
    p->drawn_node = node;
    cell.colour = idle ? NULL : stage_colours[stage % STAGE_COLOURS];
    snprintf(label, sizeof label, "%" PRId64, stage);
    describe_place(row, tip, sizeof tip);
    if (by_gpu(p)) {
        const int64_t columns = columns_a_node(p), rows = p->gpus_a_node > 2 ? 2 : 1;
        const int64_t place = query_integer(row, 0) % p->gpus_a_node;
        cell.width = cell.height = GPU_SIZE;
        cell.x = LEFT + (double)(node % a_row * (columns * GPU_SIZE + NODE_GAP) +
                                 place % columns * GPU_SIZE);
        cell.y = TOP +
                 (double)(node / a_row * (rows * GPU_SIZE + NODE_GAP) + place / columns * GPU_SIZE);
    } else {
        cell.width = cell.height = p->size;
        cell.label = NULL;
        cell.x = LEFT + (double)(node % a_row) * p->size;
        cell.y = TOP + (double)(node / a_row) * p->size;
    }
    p->bottom = fmax(p->bottom, cell.y + cell.height);
    plot_cell(p->out, &cell);
    return true;
}

static double squares_bottom(const struct map_picture *p)
{
    const int64_t rows = (p->nodes + nodes_a_row(p) - 1) / nodes_a_row(p);
    const int64_t high = (p->gpus_a_node > 2 ? 2 : 1) * GPU_SIZE + NODE_GAP;
    return TOP + (by_gpu(p) ? (double)(rows * high) : (double)rows * p->size);
}

static size_t kind_of(struct map_picture *p, const struct query_row *row)
{
    unsigned bytes;
    const char *kind = query_text(row, 0, &bytes);
    const int length = bytes < WORD_BYTES - 1 ? (int)bytes : WORD_BYTES - 1;
    for (size_t i = 0; i < p->kinds; i++)
        if (strncmp(p->names[i], kind, (size_t)length) == 0 && p->names[i][length] == '\0')
            return i;
    if (p->kinds < KIND_MAX) {
        snprintf(p->names[p->kinds], WORD_BYTES, "%.*s", length, kind);
        p->words[p->kinds] = p->names[p->kinds];
        p->kinds++;
    }
    return p->kinds - 1;
}

/* Columns: kind, wires of the class, share of their capacity; the busiest first. */
static bool count_wires(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct map_picture *p = context;
    const size_t kind = kind_of(p, row);
    p->counts[kind] += query_real(row, 1);
    p->most[kind] = fmax(p->most[kind], query_real(row, 2));
    return true;
}

static const char *load_colour(double share)
{
    static const char *const words[] = {"fifth", "two_fifths", "three_fifths", "four_fifths",
                                        "full"};
    const double at = fmin(fmax(share * 5.0, 0.0), 4.0);
    return palette_colour("load", words[(unsigned)at]);
}

static bool draw_wires(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct map_picture *p = context;
    const size_t kind = kind_of(p, row);
    const double count = query_real(row, 1), share = query_real(row, 2);
    const double begin = p->drawn[kind] / p->counts[kind];
    char tip[160];
    p->drawn[kind] += count;
    snprintf(tip, sizeof tip, "%s: %.0f wires alike, %.17g of their capacity", p->names[kind],
             count, share);
    plot_bar(&p->wires, &(struct plot_bar){begin, p->drawn[kind] / p->counts[kind], (double)kind,
                                           load_colour(share), NULL, tip});
    return true;
}

static void draw_keys(const struct map_picture *p)
{
    static const char *const loads[] = {"up to 20 % of capacity", "40 %", "60 %", "80 %", "more"};
    struct plot_legend keys = {p->out, LEFT, LEFT + WIDTH + RIGHT, LEFT, KEYS_Y};
    struct plot_legend wires = {p->out, LEFT, LEFT + WIDTH + RIGHT, LEFT, p->wires.top - 12.0};
    char label[48];
    for (int64_t stage = 0; stage < p->run->pp && stage < STAGE_COLOURS; stage++) {
        const bool more = p->run->pp > STAGE_COLOURS;
        snprintf(label, sizeof label, "%s %" PRId64 "%s", "stage", stage,
                 more && stage == STAGE_COLOURS - 1 ? " and so on" : "");
        plot_legend_add(&keys, stage_colours[stage], label);
    }
    for (unsigned i = 0; p->kinds > 0 && i < sizeof loads / sizeof *loads; i++)
        plot_legend_add(&wires, load_colour(((double)i + 0.5) / 5.0), loads[i]);
}

static const char wires_sql[] =
    "select l.kind, cast(l.link_count as real), l.moved_bytes / (l.bytes_per_s * u.step_s) "
    "from link l join run u on u.id = l.run where u.step_s > 0 "
    "order by 3 desc, l.id";

static void place_wires(struct map_picture *p)
{
    p->wires.out = p->out;
    p->wires.left = LEFT;
    p->wires.top = squares_bottom(p) + 40.0;
    p->wires.width = WIDTH;
    p->wires.height = (double)(ROW_HEIGHT * p->kinds);
    p->wires.x = (struct plot_axis){.label = "share of the wires of a kind, the busiest first",
                                    .high = 1.0,
                                    .unit = PLOT_SHARE};
    p->wires.y = plot_axis_words("", p->words, p->kinds, true);
}

static void describe(const struct map_picture *p, char *text, size_t size)
{
    size_t used = (size_t)snprintf(
        text, size, "%" PRId64 " GPUs in %" PRId64 " nodes, coloured by pipeline stage.", p->gpus,
        p->nodes);
    for (size_t i = 0; i < p->kinds && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " The busiest %s used %s.", p->names[i],
                                 format_percent(p->most[i]).s);
}

bool picture_map(struct query *query, const struct record *record, FILE *out, struct error *error)
{
    struct map_picture p = {.out = out, .run = record_run(record), .drawn_node = -1};
    char description[640];
    if (!query_run(query, "select (select count(*) from gpu), (select count(*) from node)", NULL,
                   measure, &p, error) ||
        !query_run(query, wires_sql, NULL, count_wires, &p, error))
        return false;
    place_wires(&p);
    describe(&p, description, sizeof description);
    const double bottom =
        p.kinds > 0 ? p.wires.top + p.wires.height + plot_room_below(&p.wires) : squares_bottom(&p);
    plot_page_begin(out, LEFT + WIDTH + RIGHT, bottom + 8.0, p.run->scenario, description);
    plot_heading(out, LEFT, TITLE_Y, p.run->scenario);
    draw_keys(&p);
    if (!query_run(query,
                   "select g.id, g.node, r.rank, r.pp, r.tp, r.dp from gpu g left join rank r on "
                   "r.run = g.run and r.gpu = g.id order by g.id",
                   NULL, draw_gpu, &p, error))
        return false;
    if (p.kinds > 0)
        plot_frame(&p.wires, "");
    bool good = p.kinds == 0 || query_run(query, wires_sql, NULL, draw_wires, &p, error);
    for (size_t i = 0; good && i < p.kinds; i++)
        plot_label(&p.wires, 1.0, (double)i, format_percent(p.most[i]).s, PLOT_AFTER);
    plot_page_end(out);
    return good;
}
