/* critical_path.c - the walk backwards.
 *
 * Invariants
 * 1. The walk's moment falls with every stretch and gap, so it ends.
 * 2. Stretches and gaps tile [0, end of the last op]. */
#include "analysis/explain/critical_path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/database/query.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/units.h"

/* Over which wires the traffic of a stream goes, by where the ranks of its communicators stand: the
 * network where one of them stands on several nodes, else NVLink where the node has it, else PCIe.
 * For the words of reports: what each transfer used, `--detail flow` keeps. */
enum wires_group {
    WIRES_TP,
    WIRES_CP,
    WIRES_DP, /* replicas, context ranks among them */
    WIRES_PP,
    WIRES_ALL,
    WIRES_GROUP_COUNT
};
struct wires {
    bool across[WIRES_GROUP_COUNT]; /* a communicator stands on several nodes */
    bool nvlink;
    bool split; /* hsdp: gathers stay in groups of replicas that the database does not name */
};

static bool take_number(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

static bool ask(struct query *query, const char *sql, bool *out, struct error *error)
{
    int64_t number = 0;
    const bool good = query_run(query, sql, NULL, take_number, &number, error);
    *out = number != 0;
    return good;
}

/* Does a group of ranks, alike in these coordinates, stand on several nodes? */
#define ACROSS(columns)                                                                            \
    "select coalesce(max(n), 0) > 1 from (select count(distinct g.node) as n from rank r "         \
    "join gpu g on g.id = r.gpu and g.run = r.run where r.run = 1 group by " columns ")"

/* Of run 1. */
static bool wires_read(struct query *query, struct wires *out, struct error *error)
{
    static const char *const questions[WIRES_GROUP_COUNT] = {
        [WIRES_TP] = ACROSS("r.cp, r.dp, r.pp"), [WIRES_CP] = ACROSS("r.tp, r.dp, r.pp"),
        [WIRES_DP] = ACROSS("r.tp, r.pp"),       [WIRES_PP] = ACROSS("r.tp, r.cp, r.dp"),
        [WIRES_ALL] = ACROSS("r.run"),
    };
    *out = (struct wires){.nvlink = false};
    for (unsigned i = 0; i < WIRES_GROUP_COUNT; i++)
        if (!ask(query, questions[i], &out->across[i], error))
            return false;
    return ask(query, "select count(*) from link where run = 1 and kind = 'nvlink'", &out->nvlink,
               error) &&
           ask(query, "select count(*) from run where id = 1 and sharding = 'hsdp'", &out->split,
               error);
}

/* "network", "nvlink", "pcie"; "": no traffic, or not known. */
static const char *wires_of(const struct wires *wires, const char *stream)
{
    static const struct {
        const char *stream;
        enum wires_group group;
    } groups[] = {{"tp", WIRES_TP},        {"cp", WIRES_CP},        {"dp", WIRES_DP},
                  {"gather", WIRES_DP},    {"replicate", WIRES_DP}, {"embed", WIRES_ALL},
                  {"world", WIRES_ALL},    {"send_next", WIRES_PP}, {"recv_prev", WIRES_PP},
                  {"send_prev", WIRES_PP}, {"recv_next", WIRES_PP}};
    for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strcmp(stream, groups[i].stream) != 0)
            continue;
        const bool across = wires->across[groups[i].group];
        if (wires->split && groups[i].group == WIRES_DP && across)
            return "";
        return across ? "network" : wires->nvlink ? "nvlink" : "pcie";
    }
    return "";
}

enum {
    OPS_MAX = 1 << 24,
    CLASSES_MAX = 1 << 16,
    ROUNDING_NS = 1, /* both ends of a span are rounded */
    PARTS_MAX = 512,
    STREAMS_MAX = 64
};

struct path_op {
    int64_t begin, finish, wait; /* ns */
    uint32_t rank_class, stream, name, phase;
};
struct path_word {
    int64_t id;
    const char *text;
};
/* The ops by class and end. */
struct path_walk {
    struct arena *arena;
    struct path_op *ops;
    uint32_t op_count, op_room;
    struct path_word *words; /* of the table string, by id */
    uint32_t word_count, word_room;
    const char **streams; /* names of tracks met, by number */
    uint32_t stream_count, stream_room;
    uint32_t *by_begin; /* ops by begin and stream, for those who wait for peers */
    struct path_part *parts;
    uint32_t part_count;
    struct critical_path *out;
};

static uint32_t stream_number(struct path_walk *w, const char *name, unsigned bytes)
{
    for (uint32_t i = 0; i < w->stream_count; i++)
        if (strlen(w->streams[i]) == bytes && memcmp(w->streams[i], name, bytes) == 0)
            return i;
    LIST_ROOM(w->arena, w->streams, w->stream_count, 1, w->stream_room);
    w->streams[w->stream_count] = arena_format(w->arena, "%.*s", (int)bytes, name);
    return w->stream_count++;
}

static bool take_word(void *context, const struct query_row *row, struct error *error)
{
    struct path_walk *w = context;
    unsigned bytes;
    if (w->word_count == OPS_MAX)
        return error_set(error, "the table string has too many rows");
    const char *text = query_text(row, 1, &bytes);
    LIST_ROOM(w->arena, w->words, w->word_count, 1, w->word_room);
    w->words[w->word_count++] =
        (struct path_word){query_integer(row, 0), arena_format(w->arena, "%.*s", (int)bytes, text)};
    return true;
}

/* Columns: class, stream, ts, dur, wait, name, phase. */
static bool take_op(void *context, const struct query_row *row, struct error *error)
{
    struct path_walk *w = context;
    unsigned bytes;
    const int64_t rank_class = query_integer(row, 0), ts = query_integer(row, 2);
    const int64_t dur = query_integer(row, 3), wait = query_integer(row, 4);
    const int64_t last = INT64_MAX / 4;
    if (w->op_count == OPS_MAX)
        return error_set(error, "the timeline has too many ops to walk through");
    if (rank_class < 1 || rank_class > CLASSES_MAX || ts < 0 || dur < 0 || ts > last ||
        dur > last || wait < 0 || wait > ts)
        return error_set(error, "the table slice_raw is damaged: an op outside of the step");
    if (w->stream_count == STREAMS_MAX)
        return error_set(error, "the table track is damaged: too many streams");
    const char *stream = query_text(row, 1, &bytes);
    LIST_ROOM(w->arena, w->ops, w->op_count, 1, w->op_room);
    w->ops[w->op_count++] = (struct path_op){
        .begin = ts,
        .finish = ts + dur,
        .wait = wait,
        .rank_class = (uint32_t)rank_class,
        .stream = stream_number(w, stream, bytes),
        .name = (uint32_t)query_integer(row, 5),
        .phase = (uint32_t)query_integer(row, 6),
    };
    return true;
}

static int by_class_and_finish(const void *a, const void *b)
{
    const struct path_op *x = a, *y = b;
    if (x->rank_class != y->rank_class)
        return x->rank_class < y->rank_class ? -1 : 1;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->stream > y->stream) - (x->stream < y->stream);
}

/* The first op of the class that ends after this moment, or where it would stand. */
static uint32_t first_after(const struct path_walk *w, uint32_t rank_class, int64_t moment)
{
    uint32_t low = 0, high = w->op_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct path_op *op = &w->ops[middle];
        const bool before =
            op->rank_class < rank_class || (op->rank_class == rank_class && op->finish <= moment);
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The op of the class that ends last, no later than this moment, and takes time; NULL: none. */
static const struct path_op *latest(const struct path_walk *w, uint32_t rank_class, int64_t moment)
{
    for (uint32_t i = first_after(w, rank_class, moment + ROUNDING_NS); i > 0; i--) {
        const struct path_op *op = &w->ops[i - 1];
        if (op->rank_class != rank_class)
            return NULL;
        if (op->begin < moment && op->finish > op->begin)
            return op;
    }
    return NULL;
}

static const char *partner(const char *stream)
{
    static const char *const pairs[][2] = {{"send_next", "recv_prev"}, {"send_prev", "recv_next"}};
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(stream, pairs[i][0]) == 0)
            return pairs[i][1];
        if (strcmp(stream, pairs[i][1]) == 0)
            return pairs[i][0];
    }
    return stream;
}

/* The peer that came last: another op of the matching stream that began at the same moment and
 * waited for nobody. NULL: none is recorded. */
static const struct path_op *last_to_come(const struct path_walk *w, const struct path_op *op)
{
    const char *wanted = partner(w->streams[op->stream]);
    uint32_t low = 0, high = w->op_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (w->ops[w->by_begin[middle]].begin < op->begin - ROUNDING_NS)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < w->op_count; low++) {
        const struct path_op *other = &w->ops[w->by_begin[low]];
        if (other->begin > op->begin + ROUNDING_NS)
            break;
        if (other != op && other->rank_class != op->rank_class && other->wait <= ROUNDING_NS &&
            strcmp(w->streams[other->stream], wanted) == 0)
            return other;
    }
    return NULL;
}

static const char *word(const struct path_walk *w, uint32_t id)
{
    uint32_t low = 0, high = w->word_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (w->words[middle].id < (int64_t)id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->word_count && w->words[low].id == (int64_t)id ? w->words[low].text : "";
}

static void add_part(struct path_walk *w, const struct path_op *op, double seconds)
{
    const char *stream = w->streams[op->stream], *name = word(w, op->name);
    const char *phase = word(w, op->phase);
    uint32_t i = 0;
    while (i < w->part_count &&
           (w->parts[i].stream != stream || w->parts[i].name != name || w->parts[i].phase != phase))
        i++;
    if (i == PARTS_MAX)
        i--; /* a run has tens of them; what a strange file has more is counted with the last */
    if (i == w->part_count)
        w->parts[w->part_count++] = (struct path_part){stream, name, phase, "", 0.0, 0};
    w->parts[i].seconds += seconds;
    w->parts[i].count++;
}

static void walk(struct path_walk *w)
{
    const struct path_op *op = &w->ops[0];
    for (uint32_t i = 1; i < w->op_count; i++)
        if (w->ops[i].finish > op->finish && w->ops[i].finish > w->ops[i].begin)
            op = &w->ops[i];
    int64_t moment = op->finish;
    w->out->step_s = (double)moment * NANOSECOND;
    while (op != NULL) {
        const int64_t ended = op->finish < moment ? op->finish : moment;
        CHECK(op->begin < moment); /* 1 */
        w->out->host_s += (double)(moment - ended) * NANOSECOND;
        add_part(w, op, (double)(ended - op->begin) * NANOSECOND);
        w->out->stretches++;
        const struct path_op *peer = op->wait > ROUNDING_NS ? last_to_come(w, op) : NULL;
        w->out->crossings += peer != NULL;
        moment = op->begin;
        op = latest(w, peer != NULL ? peer->rank_class : op->rank_class, moment);
    }
    w->out->host_s += (double)moment * NANOSECOND; /* 2 */
}

struct begin_order {
    int64_t begin;
    uint32_t op;
};

static int by_begin(const void *a, const void *b)
{
    const struct begin_order *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static void order(struct path_walk *w)
{
    struct begin_order *rows = ARENA_ARRAY(w->arena, struct begin_order, w->op_count);
    qsort(w->ops, w->op_count, sizeof *w->ops, by_class_and_finish);
    for (uint32_t i = 0; i < w->op_count; i++)
        rows[i] = (struct begin_order){w->ops[i].begin, i};
    qsort(rows, w->op_count, sizeof *rows, by_begin);
    w->by_begin = ARENA_ARRAY(w->arena, uint32_t, w->op_count);
    for (uint32_t i = 0; i < w->op_count; i++)
        w->by_begin[i] = rows[i].op;
}

static int by_length(const void *a, const void *b)
{
    const struct path_part *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return strcmp(x->name, y->name);
}

bool critical_path_find(struct query *query, struct arena *arena, struct critical_path *out,
                        struct error *error)
{
    struct path_walk w = {.arena = arena, .out = out};
    struct wires wires;
    *out = (struct critical_path){.known = false};
    if (!query_run(query, "select id, text from string order by id", NULL, take_word, &w, error) ||
        !query_run(query,
                   "select t.rank_class, t.name, s.ts, s.dur, s.wait, s.name, s.phase from "
                   "slice_raw s join track t on t.id = s.track_id where t.kind = 'stream' and "
                   "s.depth = 0 and t.run = 1 order by s.id",
                   NULL, take_op, &w, error) ||
        !wires_read(query, &wires, error))
        return false;
    if (w.op_count == 0)
        return true;
    out->known = true;
    order(&w);
    w.parts = ARENA_ARRAY(arena, struct path_part, PARTS_MAX);
    walk(&w);
    for (uint32_t i = 0; i < w.part_count; i++)
        w.parts[i].wire = wires_of(&wires, w.parts[i].stream);
    qsort(w.parts, w.part_count, sizeof *w.parts, by_length);
    out->parts = w.parts;
    out->count = w.part_count;
    return true;
}
