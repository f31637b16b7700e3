/* symmetry_fold.c - a partition of the real structure written as classes for the players.
 *
 * A class is described by its first member. The load of a group class on a link class is what the
 * first link of the class carries for all groups of the group class together; the partition being
 * equitable, every link of the class carries as much. Weights are sums of multiples of 2^-24, exact
 * in any order, so folded and unfolded loads are the same numbers. */
#include <math.h>
#include <string.h>

#include "models/symmetry/symmetry_state.h"
#include "sim/check.h"

struct folding {
    struct arena *arena;
    const struct real *real;
    const struct partition *partition;
    struct symmetry *out;
    uint32_t *set_first; /* [group class]: row of its set 0 */
    uint32_t set_count;
    struct share_use *bucket_uses; /* by set row: loads of first links */
    uint32_t *bucket_first;        /* [set row], and the end */
    uint32_t *set_use_first, *set_use_count, *set_own_first, *set_own_count; /* [set row] */
    uint32_t *stamp_rank, *stamp_program; /* last group class (+ 1) that met them */
    uint32_t *row_of_rank, *plan_first_of_program;
    uint32_t plan_capacity, plan_of_count;
};

static void fold_ranks(struct folding *f)
{
    const struct layout *layout = f->real->layout;
    struct symmetry *out = f->out;
    out->rank_count = layout->rank_count;
    out->rank_class_count = f->partition->rank_count;
    out->class_of_rank = ARENA_ARRAY(f->arena, uint32_t, out->rank_count);
    out->ranks = ARENA_ARRAY(f->arena, struct rank_class, out->rank_class_count);
    for (uint32_t r = 0; r < layout->rank_count; r++) {
        const uint32_t row = symmetry_rank_row(f->real, r);
        struct rank_class *class = &out->ranks[f->partition->rank[row]];
        out->class_of_rank[r] = f->partition->rank[row];
        if (class->rank_count++ > 0)
            continue;
        class->program = f->real->lowered->program_of_rank[r];
        class->representative = r;
        class->colour = class->last_colour = f->partition->rank_colour[row];
        class->speed_ratio = f->real->speed[layout->gpu_of_rank[r]];
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            const uint32_t group = layout_group_of(layout, r, s);
            class->group[s] = group == GROUP_NONE
                                  ? GROUP_NONE
                                  : f->partition->group[symmetry_group_row(f->real, group)];
        }
    }
}

static void fold_links(struct folding *f)
{
    const struct real *real = f->real;
    struct symmetry *out = f->out;
    out->link_class_count = f->partition->link_count;
    out->links = ARENA_ARRAY(f->arena, struct link_class, out->link_class_count);
    for (uint32_t l = 0; l < real->used.count; l++) {
        struct link_class *class = &out->links[f->partition->link[l]];
        if (class->link_count == 0) {
            class->representative = real->used.links[l];
            class->bytes_per_s = symmetry_capacity(real, l);
        }
        class->link_count += symmetry_link_copies(real, l);
    }
}

/* Which links a node has: of used ones those of the first node of its kind. */
static void fold_nodes(struct folding *f)
{
    const struct real *real = f->real;
    const struct graph *graph = &real->topology->graph;
    const uint32_t node_count = real->topology->node_count;
    struct symmetry *out = f->out;
    out->node_like = ARENA_ARRAY(f->arena, uint32_t, node_count);
    for (uint32_t node = 0; node < node_count; node++) {
        out->node_like[node] = symmetry_node_like(real, node);
        CHECK(symmetry_node_like(real, out->node_like[node]) == out->node_like[node]);
    }
    out->node_links = ARENA_ARRAY(f->arena, struct node_link, real->used.count);
    for (uint32_t l = 0; l < real->used.count; l++) {
        const struct link_id id = {real->used.links[l]};
        if (id.value < graph_links_of_nodes(graph))
            out->node_links[out->node_link_count++] =
                (struct node_link){.node = graph_place_of(graph, id).node,
                                   .link = f->partition->link[l],
                                   .kind = graph_link_type(graph, id)->kind};
    }
}

static void fold_groups(struct folding *f)
{
    const struct layout *layout = f->real->layout;
    struct symmetry *out = f->out;
    out->group_class_count = f->partition->group_count;
    out->groups = ARENA_ARRAY(f->arena, struct group_class, out->group_class_count);
    f->set_first = ARENA_ARRAY(f->arena, uint32_t, out->group_class_count);
    for (uint32_t row = 0; row < f->real->shift.group_rows; row++) {
        struct group_class *class = &out->groups[f->partition->group[row]];
        const bool first = class->group_count == 0;
        class->group_count += symmetry_group_copies(f->real, row);
        if (!first)
            continue;
        const struct menu *menu = &f->real->menus[f->real->groups[row].menu];
        class->representative = symmetry_group_at(f->real, row);
        class->kind = layout_group(layout, class->representative).kind;
        class->shape = f->real->shapes[f->real->groups[row].shape];
        f->set_first[f->partition->group[row]] = f->set_count;
        f->set_count += menu->set_count;
        f->plan_capacity += menu->entry_count;
    }
}

/* What was measured of the first group of a class. */
static const struct real_group *first_of(const struct folding *f, uint32_t class)
{
    return &f->real->groups[symmetry_group_row(f->real, f->out->groups[class].representative)];
}

/* Is this link the first of its class? */
static bool is_first(const struct folding *f, uint32_t link)
{
    return f->out->links[f->partition->link[link]].representative == f->real->used.links[link];
}

/* Sorts the loads of first links by (group class, set): counts, then places. */
static void fill_buckets(struct folding *f)
{
    const struct real *real = f->real;
    const uint32_t group_count = real->shift.group_rows;
    f->bucket_first = ARENA_ARRAY(f->arena, uint32_t, f->set_count + (size_t)2);
    uint32_t *end = f->bucket_first + 1;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t g = 0; g < group_count; g++) {
            const struct real_group *group = &real->groups[g];
            const uint32_t first = f->set_first[f->partition->group[g]];
            for (uint32_t i = 0; i < group->load_count; i++) {
                const struct wire_load *load = &real->loads.rows[group->load_first + i];
                if (!is_first(f, load->link))
                    continue;
                uint32_t *at = &end[first + load->set];
                if (pass == 1) {
                    f->bucket_uses[*at] = (struct share_use){.link = f->partition->link[load->link],
                                                             .weight = load->weight};
                }
                (*at)++;
            }
        }
        if (pass == 0) { /* counts -> where each bucket starts; placing turns it into its end */
            uint32_t start = 0;
            for (uint32_t s = 0; s < f->set_count; s++) {
                const uint32_t count = end[s];
                end[s] = start;
                start += count;
            }
            f->bucket_uses = ARENA_ARRAY(f->arena, struct share_use, start);
        }
    }
}

/* Loads of a bucket, summed by link class: those shared with other groups first, then own ones. */
static void fold_uses(struct folding *f)
{
    const uint32_t total = f->bucket_first[f->set_count];
    double *sum = ARENA_ARRAY(f->arena, double, f->partition->link_count);
    struct symmetry *out = f->out;
    out->uses = ARENA_ARRAY(f->arena, struct share_use, total);
    bool *own = ARENA_ARRAY(f->arena, bool, f->partition->link_count);
    for (uint32_t l = 0; l < f->real->used.count; l++)
        own[f->partition->link[l]] = f->real->used.own[l];
    for (uint32_t s = 0; s < f->set_count; s++) {
        const uint32_t first = f->bucket_first[s], end = f->bucket_first[s + 1];
        for (uint32_t i = first; i < end; i++)
            sum[f->bucket_uses[i].link] += f->bucket_uses[i].weight;
        for (unsigned want_own = 0; want_own < 2; want_own++) {
            const uint32_t from = out->use_count;
            for (uint32_t i = first; i < end; i++) {
                const uint32_t link = f->bucket_uses[i].link;
                if (sum[link] > 0.0 && own[link] == (want_own == 1)) {
                    out->uses[out->use_count++] =
                        (struct share_use){.link = link, .weight = sum[link]};
                    sum[link] = 0.0;
                }
            }
            (want_own ? f->set_own_first : f->set_use_first)[s] = from;
            (want_own ? f->set_own_count : f->set_use_count)[s] = out->use_count - from;
        }
    }
}

static struct played_plan fold_entry(const struct folding *f, uint32_t class,
                                     const struct menu_entry *entry)
{
    const struct real_group *group = first_of(f, class);
    struct played_plan plan = {
        .tuned = entry->tuned,
        .group = class,
        .bytes = entry->bytes,
        .cap_bytes_per_s = INFINITY,
        .wire_weight = 1.0,
    };
    if (entry->set == ROW_NONE) {
        plan.bytes = 0.0; /* a group of one has nobody to send to */
        return plan;
    }
    const uint32_t set = f->set_first[class] + entry->set;
    plan.latency_s = entry->tuned.latency_s;
    plan.cap_bytes_per_s = entry->tuned.cap_bytes_per_s;
    plan.wire_weight = f->real->wire_weights[group->set_first + entry->set];
    plan.use_first = f->set_use_first[set];
    plan.use_count = f->set_use_count[set];
    plan.own_first = f->set_own_first[set];
    plan.own_count = f->set_own_count[set];
    for (uint32_t i = plan.own_first; i < plan.own_first + plan.own_count; i++) {
        const struct share_use *use = &f->out->uses[i];
        const double weight = plan.wire_weight * use->weight; /* for each payload byte */
        plan.cap_bytes_per_s =
            fmin(plan.cap_bytes_per_s, f->out->links[use->link].bytes_per_s / weight);
    }
    return plan;
}

/* Rows of plan_of for the transfers of one program in a group class, made at its first member. */
static uint32_t fold_transfers(struct folding *f, uint32_t class, uint32_t program,
                               enum stream role, uint32_t plan_first)
{
    const struct real *real = f->real;
    struct symmetry *out = f->out;
    const struct program *source = real->lowered->programs[program];
    const struct transfer_list *list = symmetry_list(real, program, role);
    const uint32_t first = f->plan_of_count;
    const uint32_t menu = first_of(f, class)->menu;
    for (uint32_t t = 0; t < source->transfer_count; t++)
        out->plan_of[first + t] = PLAN_NONE;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct transfer *transfer = &source->transfers[list->rows[i]];
        uint32_t plan = PLAN_NONE;
        for (uint32_t e = 0; e < real->menus[menu].entry_count && plan == PLAN_NONE; e++) {
            const struct menu_entry *entry = &real->menus[menu].entries[e];
            if (entry->op == transfer->op && entry->bytes == transfer->bytes)
                plan = plan_first + e;
        }
        CHECK(plan != PLAN_NONE); /* members of a group agree on what they exchange */
        out->plan_of[first + list->rows[i]] = plan;
    }
    f->plan_of_count += source->transfer_count;
    return first;
}

static void fold_member(struct folding *f, uint32_t class, uint32_t rank_class, enum stream role,
                        uint32_t plan_first)
{
    struct symmetry *out = f->out;
    struct group_class *group = &out->groups[class];
    const bool receiver = role != group->kind; /* of a pair: it may be of its sender's class */
    if (!receiver && f->stamp_rank[rank_class] == class + 1) {
        out->parties[f->row_of_rank[rank_class]].member_count++;
        return;
    }
    const uint32_t program = out->ranks[rank_class].program;
    const uint32_t row = out->party_count++;
    group->party_count++;
    if (receiver || f->stamp_program[program] != class + 1) {
        f->plan_first_of_program[program] = fold_transfers(f, class, program, role, plan_first);
        f->stamp_program[program] = class + 1;
    }
    f->stamp_rank[rank_class] = class + 1;
    f->row_of_rank[rank_class] = row;
    out->parties[row] = (struct party){.rank_class = rank_class,
                                       .member_count = 1,
                                       .stream = role,
                                       .plan_first = f->plan_first_of_program[program]};
    out->ranks[rank_class].party[role] = row - group->party_first;
}

static void fold_parties(struct folding *f)
{
    const struct layout *layout = f->real->layout;
    struct symmetry *out = f->out;
    for (uint32_t class = 0; class < out->group_class_count; class ++) {
        struct group_class *group = &out->groups[class];
        const struct group real = layout_group(layout, group->representative);
        const struct menu *menu = &f->real->menus[first_of(f, class)->menu];
        const uint32_t plan_first = out->plan_count;
        for (uint32_t e = 0; e < menu->entry_count; e++)
            out->plans[out->plan_count++] = fold_entry(f, class, &menu->entries[e]);
        group->party_first = out->party_count;
        for (uint32_t i = 0; i < real.member_count; i++) {
            fold_member(f, class, out->class_of_rank[layout_member(layout, &real, i)],
                        symmetry_role(&real, i), plan_first);
        }
    }
}

/* Rows of parties and plan_of that the classes can need at most. */
static void count_parties(const struct folding *f, size_t *parties, size_t *transfers)
{
    const struct layout *layout = f->real->layout;
    *parties = *transfers = 0;
    for (uint32_t class = 0; class < f->out->group_class_count; class ++) {
        const struct group group = layout_group(layout, f->out->groups[class].representative);
        for (uint32_t i = 0; i < group.member_count; i++) {
            const uint32_t rank = layout_member(layout, &group, i);
            const uint32_t program = f->real->lowered->program_of_rank[rank];
            *parties += 1;
            if (i < 2 || f->stamp_program[program] != class + 1) {
                *transfers += f->real->lowered->programs[program]->transfer_count;
                f->stamp_program[program] = class + 1;
            }
        }
    }
    memset(f->stamp_program, 0, sizeof *f->stamp_program * f->real->lowered->program_count);
}

void symmetry_fold(struct arena *arena, const struct real *real, const struct partition *partition,
                   struct symmetry *out)
{
    const uint32_t program_count = real->lowered->program_count;
    struct folding f = {
        .arena = arena,
        .real = real,
        .partition = partition,
        .out = out,
        .stamp_rank = ARENA_ARRAY(arena, uint32_t, partition->rank_count),
        .row_of_rank = ARENA_ARRAY(arena, uint32_t, partition->rank_count),
        .stamp_program = ARENA_ARRAY(arena, uint32_t, program_count),
        .plan_first_of_program = ARENA_ARRAY(arena, uint32_t, program_count),
    };
    *out = (struct symmetry){0};
    fold_ranks(&f);
    fold_links(&f);
    fold_nodes(&f);
    fold_groups(&f);
    f.set_use_first = ARENA_ARRAY(arena, uint32_t, f.set_count);
    f.set_use_count = ARENA_ARRAY(arena, uint32_t, f.set_count);
    f.set_own_first = ARENA_ARRAY(arena, uint32_t, f.set_count);
    f.set_own_count = ARENA_ARRAY(arena, uint32_t, f.set_count);
    fill_buckets(&f);
    fold_uses(&f);
    size_t parties, transfers;
    count_parties(&f, &parties, &transfers);
    out->parties = ARENA_ARRAY(arena, struct party, parties);
    out->plans = ARENA_ARRAY(arena, struct played_plan, f.plan_capacity);
    out->plan_of = ARENA_ARRAY(arena, uint32_t, transfers);
    fold_parties(&f);
}
