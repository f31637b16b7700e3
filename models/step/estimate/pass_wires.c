/* pass_wires.c
 *
 * Invariants
 * 1. A ceiling is kept for each operation and algorithm that a group was seen to use: wires do not
 *    depend on the size of a transfer (collective_kind.h).
 * 2. What is answered was learnt: no transfer has a time without a route. */
#include "models/step/estimate/pass_wires.h"

#include <math.h>
#include <string.h>

#include "models/lower/plan/lower_plan.h"
#include "models/symmetry/symmetry.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/random.h"
#include "sim/table.h"

#define ROUNDING 1e-9

struct ceiling { /* 1 */
    enum comm_op op;
    const struct collective_kind *kind;
    double bytes_per_s;       /* payload; by wires, without the protocol's */
    double alone_bytes_per_s; /* were no other group of the stage on them */
};
struct known_group { /* groups of one stage and stream that are alike */
    struct group_shape shape;
    struct ceiling *ceilings;
    uint32_t ceiling_count, ceiling_room;
    uint32_t next; /* of the same stage and stream, + 1; 0: none */
};
struct inquiry {
    uint32_t stage;
    enum stream stream;
    struct transfer transfer;
};
struct pass_wires {
    struct arena *arena;
    struct configuration c;
    const struct topology *topology;
    struct known_group *groups;
    uint32_t group_count, group_room;
    uint32_t *first;    /* [stage x streams] row of groups + 1; 0: none */
    struct table times; /* of inquiries */
    struct pass_transfer *rows;
    uint32_t row_room;
};

struct pass_wires *pass_wires_create(struct arena *arena, const struct configuration *c,
                                     const struct topology *topology)
{
    struct pass_wires *w = ARENA_NEW(arena, struct pass_wires);
    *w = (struct pass_wires){.arena = arena, .c = *c, .topology = topology};
    w->first = ARENA_ARRAY(arena, uint32_t, c->layout.pp * STREAM_COUNT);
    return w;
}

static const struct ceiling *find_ceiling(const struct known_group *g, enum comm_op op,
                                          const struct collective_kind *kind)
{
    for (uint32_t i = 0; i < g->ceiling_count; i++)
        if (g->ceilings[i].op == op && g->ceilings[i].kind == kind)
            return &g->ceilings[i];
    return NULL;
}

static const struct pass_transfer not_known = {INFINITY, INFINITY, INFINITY, INFINITY};

static struct pass_transfer group_time(const struct pass_wires *w, const struct known_group *g,
                                       struct transfer t)
{
    struct collective_plan plan;
    if (g->shape.ranks <= 1 || t.bytes <= 0.0)
        return (struct pass_transfer){.wire_s = 0.0};
    collective_choose(&w->c.collectives, t.op, &g->shape, t.bytes, &plan);
    const struct ceiling *ceiling = find_ceiling(g, t.op, plan.kind);
    if (ceiling == NULL)
        return not_known;
    return (struct pass_transfer){
        .wire_s = t.bytes / fmin(plan.cap_bytes_per_s, ceiling->bytes_per_s),
        .latency_s = plan.latency_s,
        .busy_s = t.bytes / ceiling->bytes_per_s,
        .alone_s = t.bytes / fmin(plan.cap_bytes_per_s, ceiling->alone_bytes_per_s)};
}

static struct pass_transfer work_out(const struct pass_wires *w, struct inquiry a)
{
    uint32_t row = w->first[a.stage * STREAM_COUNT + a.stream];
    struct pass_transfer slowest = {.wire_s = 0.0};
    double alone_s = 0.0; /* with the latency, which differs by group */
    if (row == 0)
        return not_known;
    for (; row != 0; row = w->groups[row - 1].next) {
        const struct pass_transfer time = group_time(w, &w->groups[row - 1], a.transfer);
        alone_s = fmax(alone_s, time.alone_s + time.latency_s);
        if (time.wire_s + time.latency_s > slowest.wire_s + slowest.latency_s)
            slowest = time;
    }
    slowest.alone_s = fmin(alone_s - slowest.latency_s, slowest.wire_s); /* rounding */
    return slowest;
}

static uint64_t hash_asked(struct inquiry a)
{
    uint64_t bits;
    memcpy(&bits, &a.transfer.bytes, sizeof bits);
    return random_hash(random_hash(a.stage * STREAM_COUNT + a.stream, (uint64_t)a.transfer.op),
                       bits);
}

static struct pass_transfer recall(struct pass_wires *w, struct inquiry a)
{
    const uint64_t hash = hash_asked(a);
    uint32_t row = table_find(&w->times, hash, NULL, NULL, NULL);
    if (row != TABLE_NONE)
        return w->rows[row];
    const struct pass_transfer time = work_out(w, a);
    if (isinf(time.wire_s))
        return time;
    row = table_number(&w->times, w->arena, hash, NULL, NULL, NULL);
    LIST_ROOM(w->arena, w->rows, row, 1, w->row_room);
    w->rows[row] = time;
    return time;
}

struct pass_transfer pass_wires_time(struct pass_wires *w, uint32_t stage, enum stream stream,
                                     struct transfer transfer)
{
    const struct pass_transfer time = recall(w, (struct inquiry){stage, stream, transfer});
    CHECK(isfinite(time.wire_s)); /* 2 */
    return time;
}

double pass_wires_slowest_s(struct pass_wires *w, enum stream stream, struct transfer transfer)
{
    double time_s = 0.0;
    for (uint32_t stage = 0; stage < w->c.layout.pp; stage++) {
        const struct pass_transfer time = pass_wires_time(w, stage, stream, transfer);
        time_s = fmax(time_s, time.wire_s + time.latency_s);
    }
    return time_s;
}

/* Programs of transfers alone: what is asked of the symmetry. */
struct probe {
    struct arena *arena;
    struct program_writer **writers; /* [stage]; NULL: only what is not known is looked for */
    uint32_t streams;                /* of which something is not known */
    bool loose;                      /* something known is */
};

static void look_up(struct pass_wires *w, struct probe *p, struct inquiry a)
{
    const struct pass_transfer time = recall(w, a);
    if (isinf(time.wire_s))
        p->streams |= 1u << a.stream;
    p->loose = p->loose || ((STREAMS_OF_BLOCKS >> a.stream & 1u) != 0 &&
                            time.wire_s > time.alone_s * (1.0 + ROUNDING));
}

static void probe_op(struct probe *p, uint32_t stage, enum op_kind kind, enum stream stream,
                     struct transfer t)
{
    if (p->writers == NULL || (p->streams >> stream & 1u) == 0)
        return;
    struct program_writer *w = p->writers[stage];
    program_op(w, (struct op){.kind = (uint8_t)kind,
                              .stream = (uint8_t)stream,
                              .cost = program_transfer(w, t.op, t.bytes),
                              .host = program_host(w, 0.0),
                              .name = (uint16_t)program_name(w, "probe"),
                              .microbatch = UINT16_MAX,
                              .layer = UINT16_MAX});
}

static void probe_list(struct pass_wires *w, struct probe *p, const struct piece_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct lowered_piece *piece = &list->rows[i];
        if (piece->kind == OP_COMPUTE)
            continue;
        for (uint32_t stage = 0; stage < w->c.layout.pp; stage++) {
            const struct inquiry a = {stage, (enum stream)piece->stream, piece->transfer};
            look_up(w, p, a);
            probe_op(p, stage, OP_COLLECTIVE, a.stream, a.transfer);
        }
    }
}

/* A message is known at its sender. */
static void probe_program(struct pass_wires *w, struct probe *p, uint32_t stage,
                          const struct program *program)
{
    uint32_t *seen = ARENA_ARRAY(p->arena, uint32_t, program->transfer_count);
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct op *op = &program->ops[i];
        if (op->kind == OP_COMPUTE || (seen[op->cost] >> op->stream & 1u) != 0)
            continue;
        seen[op->cost] |= 1u << op->stream;
        const struct inquiry a = {stage, (enum stream)op->stream, program->transfers[op->cost]};
        if (op->kind != OP_RECV)
            look_up(w, p, a);
        probe_op(p, stage, (enum op_kind)op->kind, a.stream, a.transfer);
    }
}

static const struct share_use *nth_use(const struct symmetry *y, const struct played_plan *plan,
                                       uint32_t i)
{
    return &y->uses[i < plan->use_count ? plan->use_first + i
                                        : plan->own_first + i - plan->use_count];
}

/* The stage of a group's first member: of a message, the sender. */
static uint32_t stage_of(const struct symmetry *y, const struct lowered *probes, uint32_t group)
{
    const struct party *party = &y->parties[y->groups[group].party_first];
    return probes->programs[y->ranks[party->rank_class].program]->stage;
}

/* Do the groups of another class do the same at the same time? Ranks of a stage do. */
static bool alike(const struct symmetry *y, const struct lowered *probes,
                  const struct played_plan *a, const struct played_plan *b)
{
    if (a->group == b->group)
        return a == b;
    return a->tuned.kind == b->tuned.kind && a->bytes == b->bytes &&
           y->groups[a->group].kind == y->groups[b->group].kind &&
           stage_of(y, probes, a->group) == stage_of(y, probes, b->group);
}

/* Payload rate by wires: each link is shared by all groups that do the same. */
static struct ceiling wire_ceiling(const struct symmetry *y, const struct lowered *probes,
                                   const struct played_plan *plan, double *load)
{
    double rate = INFINITY, alone = INFINITY;
    uint32_t counted = GROUP_NONE;
    for (uint32_t k = 0; k < y->plan_count; k++) {
        const struct played_plan *other = &y->plans[k];
        if (other->group == counted || !alike(y, probes, plan, other))
            continue;
        counted = other->group; /* its plans stand together */
        for (uint32_t i = 0; i < other->use_count; i++)
            load[nth_use(y, other, i)->link] += other->wire_weight * nth_use(y, other, i)->weight;
    }
    for (uint32_t i = 0; i < plan->use_count + plan->own_count; i++) {
        const struct share_use *use = nth_use(y, plan, i);
        const double own = plan->wire_weight * use->weight;
        const double all = i < plan->use_count ? load[use->link] : own;
        rate = fmin(rate, y->links[use->link].bytes_per_s / all);
        alone = fmin(alone, y->links[use->link].bytes_per_s / own);
    }
    for (uint32_t i = 0; i < y->link_class_count; i++)
        load[i] = 0.0;
    return (struct ceiling){
        .kind = plan->tuned.kind, .bytes_per_s = rate, .alone_bytes_per_s = alone};
}

struct found { /* what a probe gave */
    const struct symmetry *y;
    const struct lowered *probes;
    double *load; /* [link class] zero */
};

static void keep_ceiling(struct pass_wires *w, struct known_group *g, const struct found *f,
                         const struct played_plan *plan, enum comm_op op)
{
    if (plan->tuned.kind == NULL || !(plan->bytes > 0.0))
        return;
    struct ceiling found = wire_ceiling(f->y, f->probes, plan, f->load);
    struct ceiling *known = (struct ceiling *)find_ceiling(g, op, plan->tuned.kind);
    if (known != NULL) {
        known->bytes_per_s = fmin(known->bytes_per_s, found.bytes_per_s);
        known->alone_bytes_per_s = fmin(known->alone_bytes_per_s, found.alone_bytes_per_s);
        return;
    }
    found.op = op;
    LIST_ROOM(w->arena, g->ceilings, g->ceiling_count, 1, g->ceiling_room);
    g->ceilings[g->ceiling_count++] = found;
}

/* Field by field: between them lies whatever lay there. */
static bool same_shape(const struct group_shape *a, const struct group_shape *b)
{
    const struct group_paths *x = &a->paths, *y = &b->paths;
    bool same = a->ranks == b->ranks && a->nodes == b->nodes && a->rails == b->rails &&
                a->ranks_per_node == b->ranks_per_node && a->even == b->even &&
                a->nvls == b->nvls && a->nvls_ratio == b->nvls_ratio &&
                a->nvls_channels == b->nvls_channels && a->exchange_ratio == b->exchange_ratio &&
                a->start_s == b->start_s && a->inside.bytes_per_s == b->inside.bytes_per_s &&
                a->inside.extra_links == b->inside.extra_links &&
                a->inside.latency_s == b->inside.latency_s &&
                a->inside.one_node_s == b->inside.one_node_s &&
                a->outside_bytes_per_s == b->outside_bytes_per_s &&
                a->outside_latency_s == b->outside_latency_s &&
                a->transport_latency_s == b->transport_latency_s &&
                a->transport_bulk_s == b->transport_bulk_s &&
                a->inside.nvlink == b->inside.nvlink && a->dispatch == b->dispatch &&
                x->tier_count == y->tier_count && x->flows == y->flows &&
                x->sending_ratio == y->sending_ratio;
    for (uint32_t i = 0; same && i < x->tier_count; i++)
        same = x->tiers[i].cables == y->tiers[i].cables && x->tiers[i].ports == y->tiers[i].ports &&
               x->tiers[i].switches == y->tiers[i].switches;
    return same;
}

/* Groups of one shape are one row: the narrowest wires count. */
static struct known_group *keep_group(struct pass_wires *w, uint32_t stage, enum stream stream,
                                      const struct group_shape *shape)
{
    uint32_t *first = &w->first[stage * STREAM_COUNT + stream];
    for (uint32_t row = *first; row != 0; row = w->groups[row - 1].next)
        if (same_shape(&w->groups[row - 1].shape, shape))
            return &w->groups[row - 1];
    LIST_ROOM(w->arena, w->groups, w->group_count, 1, w->group_room);
    w->groups[w->group_count] = (struct known_group){.shape = *shape, .next = *first};
    *first = ++w->group_count;
    return &w->groups[w->group_count - 1];
}

static void keep_party(struct pass_wires *w, const struct found *f, const struct group_class *group,
                       const struct party *party)
{
    const struct symmetry *y = f->y;
    const struct program *program = f->probes->programs[y->ranks[party->rank_class].program];
    struct known_group *g = keep_group(w, program->stage, party->stream, &group->shape);
    for (uint32_t t = 0; t < program->transfer_count; t++) {
        const uint32_t plan = y->plan_of[party->plan_first + t];
        if (plan != PLAN_NONE)
            keep_ceiling(w, g, f, &y->plans[plan], program->transfers[t].op);
    }
}

static void keep_all(struct pass_wires *w, const struct found *f)
{
    for (uint32_t i = 0; i < f->y->group_class_count; i++) {
        const struct group_class *group = &f->y->groups[i];
        for (uint32_t k = 0; k < group->party_count; k++)
            keep_party(w, f, group, &f->y->parties[group->party_first + k]);
    }
}

static void ask(struct pass_wires *w, struct probe *p)
{
    const uint32_t stages = (uint32_t)w->c.layout.pp;
    struct lowered probes = {.program_count = stages, .streams = p->streams};
    probes.rank_count = (uint32_t)configuration_ranks(&w->c);
    probes.programs = ARENA_ARRAY(p->arena, struct program *, stages);
    probes.program_of_rank = ARENA_ARRAY(p->arena, uint32_t, probes.rank_count);
    for (uint32_t stage = 0; stage < stages; stage++)
        probes.programs[stage] = program_end(p->writers[stage]);
    for (uint32_t rank = 0; rank < probes.rank_count; rank++)
        probes.program_of_rank[rank] = layout_coordinates(&w->c, rank).pp;
    struct layout layout;
    struct symmetry symmetry;
    layout_build(p->arena, &w->c, p->streams, &layout);
    symmetry_build(p->arena, &(struct symmetry_input){&w->c, w->topology, &layout, &probes}, false,
                   &symmetry);
    keep_all(w, &(struct found){&symmetry, &probes,
                                ARENA_ARRAY(p->arena, double, symmetry.link_class_count)});
}

static void probe_all(struct pass_wires *w, struct probe *p, const struct lowered *lowered,
                      const struct lowering *plan)
{
    for (unsigned b = 0; b < lower_plan_block_count(plan); b++)
        for (unsigned i = 0; i < PIECES_PAIRED_FORWARD; i++)
            probe_list(w, p, &plan->blocks[b].lists[i]);
    for (uint32_t i = 0; i < lowered->program_count; i++)
        probe_program(w, p, lowered->programs[i]->stage, lowered->programs[i]);
}

bool pass_wires_learn(struct pass_wires *w, struct arena *scratch, const struct lowered *lowered,
                      const struct lowering *plan)
{
    struct probe p = {.arena = scratch};
    probe_all(w, &p, lowered, plan);
    if (p.streams == 0) /* most layouts of a split: nothing is written */
        return p.loose;
    p.writers = ARENA_ARRAY(scratch, struct program_writer *, w->c.layout.pp);
    for (uint32_t stage = 0; stage < w->c.layout.pp; stage++)
        p.writers[stage] = program_begin(scratch, stage);
    probe_all(w, &p, lowered, plan);
    ask(w, &p);
    struct probe again = {.arena = scratch};
    probe_all(w, &again, lowered, plan);
    return again.loose;
}
