#include "tests/laws/law_books.h"
#include "models/memory/ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/laws/law_lone.h"

enum {
    MEMBER_MAX = LONE_RANK_MAX
};

/* The stream on which member i of a group takes part: a pair has a sender and a receiver. */
static enum stream role_of(const struct group *group, uint32_t member)
{
    if (member == 1 && group->kind == STREAM_SEND_NEXT)
        return STREAM_RECV_PREV;
    return member == 1 && group->kind == STREAM_SEND_PREV ? STREAM_RECV_NEXT : group->kind;
}

/* The n-th transfer of this rank on this stream, or NULL. */
static const struct transfer *nth_transfer(const struct program *program, enum stream stream,
                                           uint32_t *from)
{
    for (; *from < program->op_count; ++*from) {
        const struct op *op = &program->ops[*from];
        if (op->stream == stream && op->kind != OP_COMPUTE) {
            ++*from;
            return &program->transfers[op->cost];
        }
    }
    return NULL;
}

static bool partners_agree(const struct law_play *p, const struct group *group, uint32_t member)
{
    const struct program *a = law_program(p, layout_member(&p->layout, group, 0));
    const struct program *b = law_program(p, layout_member(&p->layout, group, member));
    uint32_t at_a = 0, at_b = 0;
    for (;;) {
        const struct transfer *x = nth_transfer(a, role_of(group, 0), &at_a);
        const struct transfer *y = nth_transfer(b, role_of(group, member), &at_b);
        if (x == NULL || y == NULL)
            return x == y;
        if (x->op != y->op || x->bytes != y->bytes)
            return false;
    }
}

const char *law_partners_fault(const struct law_play *p, char text[LAW_TEXT])
{
    for (uint32_t g = 0; g < p->layout.group_count; g++) {
        const struct group given = layout_group(&p->layout, g), *group = &given;
        for (uint32_t i = 1; i < group->member_count; i++) {
            if (!partners_agree(p, group, i)) {
                snprintf(text, LAW_TEXT, "%s group %u: member %u does not do what member 0 does",
                         stream_names[group->kind], g, i);
                return text;
            }
        }
    }
    return NULL;
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmin(fabs(a), fabs(b));
}

const char *law_payload_fault(const struct law_play *p, char text[LAW_TEXT])
{
    double bytes = 0.0;
    for (uint32_t g = 0; g < p->layout.group_count; g++) {
        const struct group given = layout_group(&p->layout, g), *group = &given;
        const struct program *program = law_program(p, layout_member(&p->layout, group, 0));
        const struct transfer *transfer;
        uint32_t at = 0;
        while ((transfer = nth_transfer(program, group->kind, &at)) != NULL)
            bytes += group->member_count > 1 ? transfer->bytes : 0.0;
    }
    uint64_t activities = 0;
    for (uint32_t i = 0; i < p->symmetry.group_class_count; i++) {
        const struct group given = layout_group(&p->layout, p->symmetry.groups[i].representative);
        const struct group *group = &given;
        const struct program *program = law_program(p, layout_member(&p->layout, group, 0));
        for (uint32_t at = 0; nth_transfer(program, group->kind, &at) != NULL;)
            activities++;
    }
    const double posted = network_posted_bytes(p->network), moved = network_moved_bytes(p->network);
    if (posted != moved || !is_close(moved, bytes)) {
        snprintf(text, LAW_TEXT, "programs ask for %.17g bytes, %.17g were posted, %.17g moved",
                 bytes, posted, moved);
        return text;
    }
    if (activities != network_activity_count(p->network)) {
        snprintf(text, LAW_TEXT, "programs ask for %llu activities, %llu were played",
                 (unsigned long long)activities,
                 (unsigned long long)network_activity_count(p->network));
        return text;
    }
    return NULL;
}

struct placed {
    uint32_t gpu, node;
};

static int by_node(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->node != y->node ? (x->node < y->node ? -1 : 1)
                              : (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

/* GPUs of a group, node by node; a pair stays sender first. */
static void gpus_of(const struct law_play *p, const struct group *group, uint32_t *gpus)
{
    struct placed placed[MEMBER_MAX];
    for (uint32_t i = 0; i < group->member_count; i++) {
        placed[i].gpu = p->layout.gpu_of_rank[layout_member(&p->layout, group, i)];
        placed[i].node = topology_node_of(&p->topology, placed[i].gpu);
    }
    if (role_of(group, 1) == group->kind)
        qsort(placed, group->member_count, sizeof placed[0], by_node);
    for (uint32_t i = 0; i < group->member_count; i++)
        gpus[i] = placed[i].gpu;
}

/* Adds what this group moves over each link: the tuner's choice for each transfer, on the wires of
 * that algorithm. */
static void add_traffic(const struct law_play *p, const struct group *group, double *scratch,
                        double *bytes)
{
    uint32_t gpus[MEMBER_MAX], at = 0;
    const struct program *program = law_program(p, layout_member(&p->layout, group, 0));
    const struct transfer *transfer;
    struct group_shape shape;
    struct collective_plan plan;
    gpus_of(p, group, gpus);
    collective_shape(&p->topology, gpus, group->member_count, true, &shape);
    while ((transfer = nth_transfer(program, group->kind, &at)) != NULL) {
        if (transfer->bytes == 0.0 || group->member_count == 1)
            continue;
        collective_tune(transfer->op, &shape, transfer->bytes, &plan);
        const struct law_activity activity = {
            .kind = plan.kind,
            .op = transfer->op,
            .gpus = gpus,
            .gpu_count = group->member_count,
            .flow_seed = configuration_flow_seed(p->c, (uint64_t)group->kind)};
        const struct law_wires wires = law_wire_rate(&p->topology, &activity, &shape, scratch);
        for (uint32_t l = 0; l < p->topology.graph.link_count; l++)
            bytes[l] += scratch[l] * wires.weight * transfer->bytes;
    }
}

const char *law_links_fault(const struct law_play *p, char text[LAW_TEXT])
{
    const char *fault = NULL;
    const struct arena_mark mark = arena_mark(p->arena);
    const uint32_t count = p->topology.graph.link_count;
    double *bytes = ARENA_ARRAY(p->arena, double, count);
    double *scratch = ARENA_ARRAY(p->arena, double, count);
    for (uint32_t g = 0; g < p->layout.group_count; g++) {
        const struct group group = layout_group(&p->layout, g);
        add_traffic(p, &group, scratch, bytes);
    }
    for (uint32_t i = 0; i < p->symmetry.link_class_count && fault == NULL; i++) {
        const double expected = bytes[p->symmetry.links[i].representative];
        const double played = network_link_bytes(p->network, i);
        if (!is_close(played, expected)) {
            snprintf(text, LAW_TEXT, "link %u carries %.17g bytes, the network says %.17g",
                     p->symmetry.links[i].representative, expected, played);
            fault = text;
        }
    }
    arena_rewind(p->arena, mark);
    return fault;
}

static uint32_t tensor_count(const struct program *program)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->setup_count; i++)
        count = program->setup[i].tensor >= count ? program->setup[i].tensor + 1 : count;
    for (uint32_t i = 0; i < program->ledger_count; i++)
        count = program->ledger[i].tensor >= count ? program->ledger[i].tensor + 1 : count;
    return count;
}

/* Live bytes after a step, by tensor; NAN when something is freed that does not live. */
static double live_after(const struct program *program, double *live, uint32_t tensors,
                         bool first_step)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < program->ledger_count; i++) {
        const struct ledger_entry *e = &program->ledger[i];
        if ((e->flags & LEDGER_FIRST_STEP) != 0 && !first_step)
            continue;
        const bool lives = live[e->tensor] >= 0.0;
        if (lives == (e->action == LEDGER_ALLOCATE))
            return NAN;
        live[e->tensor] = e->action == LEDGER_ALLOCATE ? e->bytes : -1.0;
    }
    for (uint32_t t = 0; t < tensors; t++)
        sum += fmax(live[t], 0.0);
    return sum;
}

/* Played with points every pass is played; without, passes that repeat are left out. */
static bool same_peaks(const struct ledger_result *a, const struct ledger_result *b)
{
    bool same = a->peak_allocated_bytes == b->peak_allocated_bytes &&
                a->peak_reserved_bytes == b->peak_reserved_bytes && a->peak_step == b->peak_step &&
                a->peak_op == b->peak_op;
    for (unsigned t = 0; t < TENANT_COUNT; t++)
        same = same && a->tenants[t] == b->tenants[t];
    return same;
}

static const char *allocator_fault(struct arena *arena, const struct program *program)
{
    const struct ledger_limits limits = {.usable_bytes = INFINITY};
    struct ledger_result result;
    ledger_play(arena, program, &limits, true, &result);
    struct ledger_result brief;
    ledger_play(arena, program, &limits, false, &brief);
    if (!same_peaks(&result, &brief))
        return "the peaks differ when repeated passes are left out";
    if (result.failure.failed || result.point_count == 0)
        return program->ledger_count == 0 ? NULL : "the allocator has no timeline";
    double stays = 0.0;
    for (uint32_t i = 0; i < program->ledger_count; i++)
        stays += (program->ledger[i].flags & LEDGER_STAYS) != 0;
    const double left = result.points[result.point_count - 1].allocated_bytes;
    const bool closes = stays > 0.0 ? left > result.allocated_after_setup_bytes
                                    : left == result.allocated_after_setup_bytes;
    return closes ? NULL : "the allocator does not end where it began";
}

const char *law_memory_fault(const struct program *program, char text[LAW_TEXT])
{
    struct arena *arena = arena_create();
    const uint32_t tensors = tensor_count(program);
    double *live = ARENA_ARRAY(arena, double, tensors + 1);
    double expected = 0.0;
    for (uint32_t t = 0; t < tensors; t++)
        live[t] = -1.0;
    for (uint32_t i = 0; i < program->setup_count; i++) {
        live[program->setup[i].tensor] = program->setup[i].bytes;
        expected += program->setup[i].bytes;
    }
    for (uint32_t i = 0; i < program->ledger_count; i++) {
        const struct ledger_entry *e = &program->ledger[i];
        expected += (e->flags & LEDGER_STAYS) != 0 ? e->bytes : 0.0;
    }
    const double first = live_after(program, live, tensors, true);
    const double second = live_after(program, live, tensors, false);
    const char *fault = NULL;
    if (!is_close(first, expected) || first != second) {
        snprintf(text, LAW_TEXT, "%.17g bytes stay, %.17g after one step, %.17g after two",
                 expected, first, second);
        fault = text;
    } else {
        fault = allocator_fault(arena, program);
    }
    arena_destroy(arena);
    return fault;
}

bool law_tiles(const double parts[PART_COUNT], double step_s)
{
    double sum_s = 0.0;
    for (unsigned part = 0; part < PART_COUNT; part++) {
        if (parts[part] < 0.0)
            return false;
        sum_s += parts[part];
    }
    return fabs(sum_s - step_s) <= 1e-12 * step_s;
}

const char *law_tiles_fault(const struct law_play *p, char text[LAW_TEXT])
{
    for (uint32_t i = 0; i < p->symmetry.rank_class_count; i++) {
        double parts[PART_COUNT];
        worker_breakdown(p->worker, i, parts);
        if (!law_tiles(parts, p->step_s)) {
            snprintf(text, LAW_TEXT, "the parts of class %u do not tile the step of %.17g s", i,
                     p->step_s);
            return text;
        }
    }
    return NULL;
}
