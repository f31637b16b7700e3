/* lower_runs.c - blocks as runs.
 *
 * A piece of compute *settles* when no transfer that was sent before it is unfinished after it:
 * those it has waited for, and none was sent beside it. A run ends behind the last piece that
 * settles. Units in which the host waits are no run: what it issues behind depends on when it went
 * on, and a run tells its end alone.
 *
 * Invariants
 * 1. A run and what is written behind it are the pieces of its units, in their order.
 * 2. The host time of a run and of its tail is that of its pieces. */
#include "models/lower/stage/lower_runs.h"

#include "sim/check.h"
#include "sim/random.h"

void lower_runs_begin(struct runs *r, const struct lowering *l, struct ops *ops)
{
    *r = (struct runs){.l = l, .ops = ops};
    r->pass = ARENA_ARRAY(l->arena, struct written_run *, PASS_KIND_COUNT * (size_t)l->chunks);
}

struct span_of_units {
    uint32_t first, count;
};

/* Rows of a list up to the last piece that settles; 0: none does. *beside: was something sent
 * beside the compute to come? Before the list, and after it. */
static uint32_t settled_rows(const struct piece_list *list, bool *beside)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct lowered_piece *p = &list->rows[i];
        if (p->kind != OP_COMPUTE) {
            *beside = *beside || p->beside;
            continue;
        }
        if (!*beside)
            rows = i + 1;
        *beside = false;
    }
    return rows;
}

static bool host_waits(const struct written_run *w)
{
    for (uint32_t i = 0; i < w->list_count; i++)
        for (uint32_t k = 0; k < w->lists[i]->count; k++)
            if (w->lists[i]->rows[k].host_waits)
                return true;
    return false;
}

static void find_run(struct written_run *w)
{
    const struct piece_list **lists = w->lists;
    bool beside = false;
    w->run = (struct run){.lists = lists};
    for (uint32_t i = 0; i < w->list_count; i++) {
        const uint32_t rows = settled_rows(lists[i], &beside);
        if (rows > 0) {
            w->run.list_count = i + 1;
            w->run.last_rows = rows;
        }
    }
    w->none = w->run.list_count == 0 || host_waits(w);
    if (w->none)
        return;
    for (uint32_t i = 0; i < w->run.list_count; i++) {
        const struct piece_list *list = lists[i];
        const bool last = i + 1 == w->run.list_count;
        const uint32_t end = last ? w->run.last_rows : list->count;
        for (uint32_t k = 0; k < end; k++)
            *(i > 0 || k > 0 ? &w->run.host_s : &w->host_s) += list->rows[k].host_s;
        w->run.host_s += last ? 0.0 : list->host_left_s;
    }
    w->op = (struct op){.kind = OP_COMPUTE,
                        .stream = STREAM_COMPUTE,
                        .phase = w->none ? PHASE_FORWARD : lists[0]->rows[0].phase,
                        .flags = OP_RUN};
}

/* Lists of so many units. A unit of which a group is computed again has its blocks' forwards before
 * its backward, in their order. */
static uint32_t list_units(const struct runs *r, const struct units *units, struct span_of_units of,
                           enum pass_kind kind, const struct piece_list **out)
{
    const struct block *blocks = r->l->blocks;
    const bool forward = kind == PASS_FORWARD || kind == PASS_FORWARD_PAIRED;
    const bool rebuilds = kind == PASS_BACKWARD || kind == PASS_BACKWARD_INPUT;
    uint32_t n = 0;
    for (uint32_t i = 0; i < of.count; i++) {
        const uint32_t index = forward ? of.first + i : of.first + of.count - 1 - i;
        const struct lowered_unit *u = &units->rows[index];
        for (uint32_t k = rebuilds ? u->again : 0; k-- > 0;) {
            const struct block *each = &blocks[units->rows[index - k].kind];
            const struct piece_list *list =
                k > 0 ? &each->lists[PIECES_WHOLE] : &each->lists[PIECES_RECOMPUTE];
            if (list->count > 0)
                out[n++] = list;
        }
        const struct piece_list *list = &blocks[u->kind].lists[lower_block_pieces(kind)];
        if (list->count > 0)
            out[n++] = list;
    }
    return n;
}

static uint64_t key_of(const struct lowering *l, const struct piece_list *const *lists,
                       uint32_t count)
{
    const char *base = (const char *)l->blocks;
    uint64_t key = count;
    for (uint32_t i = 0; i < count; i++)
        key = random_hash(key, (uint64_t)((const char *)lists[i] - base));
    return key;
}

static struct written_run *find(struct runs *r, const struct units *units, struct span_of_units of,
                                enum pass_kind kind)
{
    const struct arena_mark mark = arena_mark(r->l->arena);
    const uint32_t room = of.count + units->count; /* no unit runs again twice */
    const struct piece_list **lists = ARENA_ARRAY(r->l->arena, const struct piece_list *, room);
    const uint32_t n = list_units(r, units, of, kind, lists);
    CHECK(n <= room);
    const uint64_t key = key_of(r->l, lists, n);
    for (struct written_run *w = r->first; w != NULL; w = w->later) {
        if (w->run.key == key) {
            arena_rewind(r->l->arena, mark);
            return w;
        }
    }
    struct written_run *w = ARENA_NEW(r->l->arena, struct written_run);
    *w = (struct written_run){.lists = lists, .list_count = n, .later = r->first};
    find_run(w);
    w->run.key = key;
    r->first = w;
    return w;
}

static void write_pieces(struct runs *r, const struct piece_list *list, uint32_t from)
{
    for (uint32_t i = from; i < list->count; i++)
        lower_ops_new_piece(r->ops, &list->rows[i]);
    lower_ops_host(r->ops, list->host_left_s);
}

static void add_rows(struct program_writer *writer, struct written_run *w)
{
    w->written = true;
    w->op.cost = program_run(writer, &w->run);
    w->op.host = program_host(writer, w->host_s);
    w->op.name = (uint16_t)program_name(writer, "run");
}

static void write(struct runs *r, struct written_run *w)
{
    const bool whole = w->none || !lower_ops_settled(r->ops);
    if (!whole) {
        if (!w->written)
            add_rows(r->ops->w, w);
        lower_ops_run(r->ops, &w->op, w->host_s);
    }
    const uint32_t first = whole ? 0 : w->run.list_count - 1;
    for (uint32_t i = first; i < w->list_count; i++) /* 1, 2 */
        write_pieces(r, w->lists[i], !whole && i == first ? w->run.last_rows : 0);
}

void lower_runs_units(struct runs *r, const struct units *units, uint32_t first, uint32_t count,
                      enum pass_kind kind)
{
    if (count > 0)
        write(r, find(r, units, (struct span_of_units){first, count}, kind));
}

void lower_runs_pass(struct runs *r, const struct units *units, const struct pass *pass)
{
    const uint32_t first = units->chunk_first[pass->chunk];
    const uint32_t count = units->chunk_first[pass->chunk + 1] - first;
    struct written_run **known = &r->pass[PASS_KIND_COUNT * pass->chunk + pass->kind];
    if (count == 0)
        return;
    if (*known == NULL)
        *known = find(r, units, (struct span_of_units){first, count}, (enum pass_kind)pass->kind);
    write(r, *known);
}
