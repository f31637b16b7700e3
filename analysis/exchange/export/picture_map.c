#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/exchange/export/picture.h"
#include "analysis/output/plot/palette.h"
#include "analysis/output/plot/plot.h"
#include "analysis/output/text/format.h"
#include "sim/plural.h"
#include "sim/units.h"

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
    STRIP = 6,         /* height of the wires of a node, of one kind */
    GPUS_SHOWN = 1024, /* more: a square for each node */
    KIND_MAX = 8,
    STAGE_COLOURS = 8,
    WORD_BYTES = 32,
    STRIP_BYTES = 64
};
/* Of pipeline stages in turn, from dark to light and back. */
static const char *const stage_colours[STAGE_COLOURS] = {
    PALETTE_BLUE,   PALETTE_AMBER, PALETTE_TEAL, PALETTE_PINK,
    PALETTE_PURPLE, PALETTE_BRICK, PALETTE_MINT, PALETTE_LAVENDER};

struct map_picture {
    FILE *out;
    const struct run_row *run;
    int64_t gpus, nodes, gpus_a_node;
    int64_t drawn_node; /* of squares for nodes */
    double size;        /* of a square */
    struct plot wires, times;
    char names[KIND_MAX][WORD_BYTES];
    const char *words[KIND_MAX];
    double counts[KIND_MAX], drawn[KIND_MAX], most[KIND_MAX]; /* wires; busiest share */
    size_t kinds;
    unsigned strips; /* kinds of wires that nodes have */
    char strip_words[STRIP_BYTES + WORD_BYTES];
    struct box { /* of one kind: not yet drawn, as its colour goes on */
        double begin, finish, carried_s;
        const char *colour;
        size_t kind;
    } box;
};

static bool by_gpu(const struct map_picture *p)
{
    return p->gpus <= GPUS_SHOWN;
}

static double strip_height(const struct map_picture *p)
{
    return by_gpu(p) ? STRIP : fmax(1.0, floor(p->size / 4.0));
}

static double strips_height(const struct map_picture *p)
{
    return p->strips * strip_height(p);
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

/* From the top of a row of nodes to that of the next: GPUs, then the wires of each kind. */
static double node_pitch(const struct map_picture *p)
{
    if (!by_gpu(p))
        return p->size;
    return (p->gpus_a_node > 2 ? 2 : 1) * GPU_SIZE + strips_height(p) + NODE_GAP;
}

static double node_top(const struct map_picture *p, int64_t node)
{
    return TOP + (double)(node / nodes_a_row(p)) * node_pitch(p);
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
        const int64_t columns = columns_a_node(p);
        const int64_t place = query_integer(row, 0) % p->gpus_a_node;
        cell.width = cell.height = GPU_SIZE;
        cell.x = LEFT + (double)(node % a_row * (columns * GPU_SIZE + NODE_GAP) +
                                 place % columns * GPU_SIZE);
        cell.y = node_top(p, node) + (double)(place / columns * GPU_SIZE);
    } else {
        cell.width = p->size;
        cell.height = p->size - strips_height(p);
        cell.label = NULL;
        cell.x = LEFT + (double)(node % a_row) * p->size;
        cell.y = node_top(p, node);
    }
    plot_cell(p->out, &cell);
    return true;
}

static double squares_bottom(const struct map_picture *p)
{
    const int64_t rows = (p->nodes + nodes_a_row(p) - 1) / nodes_a_row(p);
    return TOP + (double)rows * node_pitch(p);
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

/* Columns: node, kind, share of its capacity, slot of the kind. Below the GPUs of the node. */
static bool draw_node_wire(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct map_picture *p = context;
    const int64_t node = query_integer(row, 0), a_row = nodes_a_row(p),
                  slot = query_integer(row, 3);
    const double share = query_real(row, 2), high = strip_height(p);
    unsigned bytes;
    const char *kind = query_text(row, 1, &bytes);
    char tip[160];
    if (node < 0 || node >= p->nodes || slot < 0 || slot >= p->strips)
        return true;
    const bool each = by_gpu(p);
    const double pitch = each ? (double)(columns_a_node(p) * GPU_SIZE + NODE_GAP) : p->size;
    const double below =
        each ? (p->gpus_a_node > 2 ? 2 : 1) * GPU_SIZE : p->size - strips_height(p);
    snprintf(tip, sizeof tip, "node %" PRId64 ": its busiest %.*s carries %.17g of its capacity",
             node, (int)(bytes < WORD_BYTES ? bytes : WORD_BYTES), kind, share);
    plot_cell(p->out, &(struct plot_cell){.x = LEFT + (double)(node % a_row) * pitch,
                                          .y = node_top(p, node) + below + (double)slot * high,
                                          .width = each ? pitch - NODE_GAP : pitch,
                                          .height = high,
                                          .colour = load_colour(share),
                                          .tip = tip});
    return true;
}

static bool count_strips(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct map_picture *p = context;
    const int64_t kinds = query_integer(row, 0);
    unsigned bytes = 0;
    const char *words = query_type(row, 1) == QUERY_NULL ? "" : query_text(row, 1, &bytes);
    p->strips = kinds > 0 && kinds < KIND_MAX ? (unsigned)kinds : 0;
    snprintf(p->strip_words, sizeof p->strip_words, "bars below each node: %.*s",
             (int)(bytes < STRIP_BYTES ? bytes : STRIP_BYTES), words);
    return true;
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

static void draw_box(struct map_picture *p)
{
    const struct box *b = &p->box;
    char tip[160];
    if (b->finish <= b->begin)
        return;
    snprintf(tip, sizeof tip, "%s, %.0f to %.0f ns: %.17g of its capacity", p->names[b->kind],
             b->begin * GIGA, b->finish * GIGA, b->carried_s / (b->finish - b->begin));
    plot_bar(&p->times,
             &(struct plot_bar){b->begin, b->finish, (double)b->kind, b->colour, NULL, tip});
}

/* Columns: kind, from when, until when, share of its capacity; by kind and time. */
static bool draw_moment(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    struct map_picture *p = context;
    struct box *b = &p->box;
    const size_t kind = kind_of(p, row);
    const double begin = query_real(row, 1), finish = query_real(row, 2);
    const double share = query_real(row, 3);
    const char *colour = load_colour(share);
    if (b->kind != kind || b->colour != colour || b->finish != begin) {
        draw_box(p);
        *b = (struct box){.begin = begin, .finish = begin, .kind = kind, .colour = colour};
    }
    b->carried_s += share * (finish - begin);
    b->finish = finish;
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
    if (p->strips > 0)
        plot_text(p->out, LEFT, squares_bottom(p) + 14.0, "start", p->strip_words);
    for (unsigned i = 0; p->kinds > 0 && i < sizeof loads / sizeof *loads; i++)
        plot_legend_add(&wires, load_colour(((double)i + 0.5) / 5.0), loads[i]);
}

static const char wires_sql[] =
    "select l.kind, cast(l.link_count as real), l.moved_bytes / (l.bytes_per_s * u.step_s) "
    "from link l join run u on u.id = l.run where u.step_s > 0 "
    "order by 3 desc, l.id";

/* The busiest wire of each kind has the lowest of the tracks of its kind (store_wires.h). */
static const char moments_sql[] =
    "with w as (select l.kind as kind, min(t.id) as id, l.bytes_per_s as bytes_per_s "
    "from track t join link l on l.kind || ', ' || l.\"from\" || ' to ' || l.\"to\" = t.name "
    "where t.kind = 'wire' group by l.kind) "
    "select w.kind, v.ts / 1e9, coalesce(lead(v.ts) over (partition by v.track_id order by v.ts), "
    "(select round(step_s * 1e9) from run)) / 1e9, v.value / w.bytes_per_s "
    "from w join counter_raw v on v.track_id = w.id order by w.kind, v.ts";

static const char node_wires_sql[] =
    "select n.node, n.kind, l.moved_bytes / (l.bytes_per_s * u.step_s), "
    "dense_rank() over (order by n.kind desc) - 1 from node_wire n join run u on u.id = n.run "
    "join track t on t.id = n.track_id "
    "join link l on l.kind || ', ' || l.\"from\" || ' to ' || l.\"to\" = t.name order by n.node";

static const char strips_sql[] = "select count(*), group_concat(kind, ', ') "
                                 "from (select distinct kind from node_wire order by kind desc)";

static void place_wires(struct map_picture *p)
{
    p->wires.out = p->out;
    p->wires.left = LEFT;
    p->wires.top = squares_bottom(p) + (p->strips > 0 ? 60.0 : 40.0);
    p->wires.width = WIDTH;
    p->wires.height = (double)(ROW_HEIGHT * p->kinds);
    p->wires.x = (struct plot_axis){.label = "share of the wires of a kind, the busiest first",
                                    .high = 1.0,
                                    .unit = PLOT_SHARE};
    p->wires.y = plot_axis_words("", p->words, p->kinds, true);
    p->times = p->wires;
    p->times.x = (struct plot_axis){.label = "load of the busiest wire of each kind over the step",
                                    .high = p->run->step_s,
                                    .unit = PLOT_TIME};
    p->times.top = p->wires.top + p->wires.height + plot_room_below(&p->wires) + 14.0;
}

static void describe(const struct map_picture *p, char *text, size_t size)
{
    size_t used = (size_t)snprintf(
        text, size, "%" PRId64 " GPU%s in %" PRId64 " node%s, coloured by pipeline stage%s.",
        p->gpus, plural_s((uint64_t)p->gpus), p->nodes, plural_s((uint64_t)p->nodes),
        p->strips > 0 ? "; below them what their busiest wires carry" : "");
    for (size_t i = 0; i < p->kinds && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " The busiest %s used %s.", p->names[i],
                                 format_percent(p->most[i]).s);
}

static bool draw_all(struct query *query, struct map_picture *p, struct error *error)
{
    if (!query_run(query,
                   "select g.id, g.node, r.rank, r.pp, r.tp, r.dp from gpu g left join rank r on "
                   "r.run = g.run and r.gpu = g.id order by g.id",
                   NULL, draw_gpu, p, error) ||
        (p->strips > 0 && !query_run(query, node_wires_sql, NULL, draw_node_wire, p, error)))
        return false;
    if (p->kinds == 0)
        return true;
    plot_frame(&p->wires, "");
    bool good = query_run(query, wires_sql, NULL, draw_wires, p, error);
    for (size_t i = 0; good && i < p->kinds; i++)
        plot_label(&p->wires, 1.0, (double)i, format_percent(p->most[i]).s, PLOT_AFTER);
    if (!good || p->strips == 0)
        return good;
    plot_frame(&p->times, "");
    good = query_run(query, moments_sql, NULL, draw_moment, p, error);
    draw_box(p);
    return good;
}

bool picture_map(struct query *query, const struct record *record, FILE *out, struct error *error)
{
    struct map_picture p = {.out = out, .run = record_run(record), .drawn_node = -1};
    char description[640];
    if (!query_run(query, "select (select count(*) from gpu), (select count(*) from node)", NULL,
                   measure, &p, error) ||
        !query_run(query, strips_sql, NULL, count_strips, &p, error) ||
        !query_run(query, wires_sql, NULL, count_wires, &p, error))
        return false;
    place_wires(&p);
    describe(&p, description, sizeof description);
    const struct plot *last = p.strips > 0 ? &p.times : &p.wires;
    const double bottom =
        p.kinds > 0 ? last->top + last->height + plot_room_below(last) : squares_bottom(&p);
    plot_page_begin(out, &(struct plot_page){LEFT + WIDTH + RIGHT, bottom + 8.0, p.run->title,
                                             description, p.run->announced_words});
    plot_heading(out, LEFT, TITLE_Y, p.run->title);
    draw_keys(&p);
    const bool good = draw_all(query, &p, error);
    plot_page_end(out);
    return good;
}
