#include "analysis/record/evidence/evidence_collectives.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "sim/plural.h"
#include "sim/units.h"

enum {
    LACKING_SHOWN = 6,
    SIZE_BYTES = 24
};
/* nccl-tests takes sizes with K, M and G. */
static const struct {
    double bytes;
    char letter;
} size_units[] = {{GIB, 'G'}, {MIB, 'M'}, {KIB, 'K'}};

/* The program of nccl-tests that measures an operation; NULL: none does. */
static const char *program_of(enum comm_op op)
{
    switch (op) {
    case COMM_ALL_REDUCE:
        return "all_reduce_perf";
    case COMM_ALL_GATHER:
        return "all_gather_perf";
    case COMM_REDUCE_SCATTER:
        return "reduce_scatter_perf";
    case COMM_BROADCAST:
        return "broadcast_perf";
    case COMM_ALL_TO_ALL:
        return "alltoall_perf";
    case COMM_SEND:
        return "sendrecv_perf";
    case COMM_RING_EXCHANGE:
    case COMM_EXPERT_EXCHANGE:
        break;
    }
    return NULL;
}

/* Gradients go over the wire in a format of their own (models/lower/plan/lower_data_plan.c). */
static const char *type_of(const struct configuration *c, enum comm_op op, enum stream stream)
{
    const unsigned gradients = STREAMS_OF_WEIGHTS | 1u << STREAM_REPLICATE |
                               1u << STREAM_EP_REPLICATE | 1u << STREAM_EMBED;
    const bool reduces = op == COMM_ALL_REDUCE || op == COMM_REDUCE_SCATTER;
    const double wire = c->software.data.gradient_reduce_bytes > 0.0
                            ? c->software.data.gradient_reduce_bytes
                            : configuration_gradient_bytes(c);
    const char *precision = c->training.precision->head.name;
    if (reduces && (gradients >> stream & 1) != 0 && wire == 4.0)
        return "float";
    return strcmp(precision, "fp16") == 0   ? "half"
           : strcmp(precision, "fp32") == 0 ? "float"
                                            : "bfloat16";
}

/* The number of the plan by which the ranks of a class play an op; PLAN_NONE: nothing is sent. */
static uint32_t plan_of(const struct symmetry *y, const struct rank_class *ranks,
                        const struct op *op)
{
    if (op->kind == OP_COMPUTE || ranks->group[op->stream] == GROUP_NONE)
        return PLAN_NONE;
    const struct group_class *group = &y->groups[ranks->group[op->stream]];
    const struct party *party = &y->parties[group->party_first + ranks->party[op->stream]];
    const uint32_t plan = y->plan_of[party->plan_first + op->cost];
    return plan != PLAN_NONE && y->plans[plan].bytes > 0.0 ? plan : PLAN_NONE;
}

const struct collective_use *evidence_collective_uses(struct arena *arena,
                                                      const struct configuration *c,
                                                      const struct step *step, uint32_t *count)
{
    const struct symmetry *y = &step->symmetry;
    struct collective_use *all = ARENA_ARRAY(arena, struct collective_use, y->plan_count + 1);
    double *times = ARENA_ARRAY(arena, double, y->plan_count + 1); /* of all ranks */
    for (uint32_t r = 0; r < y->rank_class_count; r++) {
        const struct program *p = step->lowered.programs[y->ranks[r].program];
        for (uint32_t i = 0; i < p->op_count; i++) {
            const struct op *op = &p->ops[i];
            const uint32_t plan = plan_of(y, &y->ranks[r], op);
            if (plan == PLAN_NONE)
                continue;
            times[plan] += y->ranks[r].rank_count;
            all[plan].op = p->transfers[op->cost].op;
            all[plan].type = type_of(c, all[plan].op, op->stream);
        }
    }
    *count = 0;
    for (uint32_t i = 0; i < y->plan_count; i++) {
        const struct played_plan *plan = &y->plans[i];
        const struct group_shape *shape = &y->groups[plan->group].shape;
        if (times[i] == 0.0)
            continue;
        all[*count] = (struct collective_use){
            all[i].op,    shape->ranks,
            shape->nodes, shape->ranks_per_node,
            plan->bytes,  times[i] * (plan->latency_s + plan->bytes / plan->cap_bytes_per_s),
            all[i].type,  plan->tuned.basis};
        (*count)++;
    }
    return all;
}

static int by_group(const void *left, const void *right)
{
    const struct collective_use *a = left, *b = right;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    if (a->ranks != b->ranks)
        return a->ranks < b->ranks ? -1 : 1;
    if (a->nodes != b->nodes)
        return a->nodes < b->nodes ? -1 : 1;
    const int types = strcmp(a->type, b->type);
    return types != 0 ? types : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static bool same_group(const struct collective_use *a, const struct collective_use *b)
{
    return a->op == b->op && a->ranks == b->ranks && a->nodes == b->nodes &&
           strcmp(a->type, b->type) == 0;
}

static const char *group_text(struct arena *arena, enum comm_op op, uint32_t ranks, uint32_t nodes)
{
    return arena_format(arena, "%s among %" PRIu32 " rank%s of %" PRIu32 " node%s",
                        comm_op_names[op], ranks, plural_s(ranks), nodes, plural_s(nodes));
}

static bool asked_for(const struct collective_point *point, const struct collective_use *uses,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (uses[i].op == point->op && uses[i].ranks == point->ranks &&
            uses[i].nodes == point->nodes && uses[i].basis != COLLECTIVE_MODELLED)
            return true;
    return false;
}

static void tell(struct record *out, const char *key, const char *text)
{
    struct message_row *row = record_add(out, ROW_message, 1);
    *row = (struct message_row){"profile", key, text, NULL};
}

/* Points stand group by group. */
static void tell_unused(const struct collective_points *points, const struct collective_use *uses,
                        uint32_t count, struct record *out)
{
    for (uint32_t i = 0, next; i < points->count; i = next) {
        const struct collective_point *p = &points->rows[i];
        for (next = i; next < points->count && points->rows[next].op == p->op &&
                       points->rows[next].ranks == p->ranks &&
                       points->rows[next].nodes == p->nodes;)
            next++;
        if (!asked_for(p, uses, count))
            tell(out, "unused",
                 arena_format(out->arena,
                              "%" PRIu32 " point%s of %s unused: the step asks for no "
                              "such collective near these sizes",
                              next - i, plural_s(next - i),
                              group_text(out->arena, p->op, p->ranks, p->nodes)));
    }
}

static int longest_first(const void *left, const void *right)
{
    const struct collective_use *a = left, *b = right;
    if (a->gpu_s != b->gpu_s)
        return a->gpu_s < b->gpu_s ? 1 : -1;
    return by_group(left, right);
}

static const char *range_text(struct arena *arena, double least, double most)
{
    if (least == most)
        return arena_text(arena, format_bytes(least).s);
    return arena_format(arena, "%s to %s", format_bytes(least).s, format_bytes(most).s);
}

/* Sums of one operation and group, the longest first; `bytes` of a sum is its smallest buffer. */
static uint32_t sum_groups(struct arena *arena, const struct collective_use *uses, uint32_t count,
                           bool modelled_alone, struct collective_use **out, double **most_bytes)
{
    struct collective_use *rows = ARENA_ARRAY(arena, struct collective_use, count + 1);
    struct collective_use *sums = ARENA_ARRAY(arena, struct collective_use, count + 1);
    double *most = ARENA_ARRAY(arena, double, count + 1);
    uint32_t row_count = 0, sum_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!modelled_alone || (uses[i].basis == COLLECTIVE_MODELLED && program_of(uses[i].op)))
            rows[row_count++] = uses[i];
    qsort(rows, row_count, sizeof *rows, by_group);
    for (uint32_t i = 0; i < row_count; i++) {
        if (sum_count == 0 || !same_group(&sums[sum_count - 1], &rows[i]))
            sums[sum_count++] = rows[i];
        else
            sums[sum_count - 1].gpu_s += rows[i].gpu_s;
        most[sum_count - 1] = rows[i].bytes;
    }
    *out = sums;
    *most_bytes = most;
    return sum_count;
}

void evidence_tell_points(const struct configuration *c, const struct collective_use *uses,
                          uint32_t count, double rank_count, struct record *out)
{
    struct collective_use *sums;
    double *most;
    if (c->collectives.count == 0)
        return;
    tell_unused(&c->collectives, uses, count, out);
    uint32_t sum_count = sum_groups(out->arena, uses, count, true, &sums, &most);
    for (uint32_t i = 0; i < sum_count; i++) { /* carried along by the sort */
        const double largest = most[i];
        sums[i].type = range_text(out->arena, sums[i].bytes, largest);
    }
    qsort(sums, sum_count, sizeof *sums, longest_first);
    for (uint32_t i = 0; i < sum_count && i < LACKING_SHOWN; i++)
        tell(out, "lacking",
             arena_format(out->arena, "it lacks %s, %s: %s of the step",
                          group_text(out->arena, sums[i].op, sums[i].ranks, sums[i].nodes),
                          sums[i].type, format_time(sums[i].gpu_s / rank_count).s));
    if (sum_count > LACKING_SHOWN)
        tell(out, "lacking",
             arena_format(out->arena, "and %" PRIu32 " more", sum_count - LACKING_SHOWN));
}

/* The power of two at or below, or at or above, as nccl-tests takes it: "128M". */
static const char *power_text(double bytes, bool above, char out[SIZE_BYTES])
{
    int power;
    const double mantissa = frexp(bytes, &power); /* bytes = mantissa 2^power, in [.5, 1) */
    const double whole = ldexp(1.0, above && mantissa > 0.5 ? power : power - 1);
    for (unsigned i = 0; i < sizeof size_units / sizeof size_units[0]; i++)
        if (whole >= size_units[i].bytes) {
            snprintf(out, SIZE_BYTES, "%.0f%c", whole / size_units[i].bytes, size_units[i].letter);
            return out;
        }
    snprintf(out, SIZE_BYTES, "%.0f", whole);
    return out;
}

static void print_command(FILE *out, const struct collective_use *use, double most, double gpu_s)
{
    char low[SIZE_BYTES], high[SIZE_BYTES];
    const char *program = program_of(use->op);
    if (program == NULL) {
        fprintf(out, "#   no program of nccl-tests measures %s\n", comm_op_names[use->op]);
        return;
    }
    fputs("#   ", out);
    if (use->nodes > 1)
        fprintf(out, "mpirun -np %" PRIu32 " -N %" PRIu32 " ", use->ranks, use->ranks_per_node);
    fprintf(out, "%s -b %s -e %s -f 2 -g %" PRIu32 " -d %s   # %s of a step\n", program,
            power_text(use->bytes, false, low), power_text(most, true, high),
            use->nodes > 1 ? 1 : use->ranks, use->type, format_time(gpu_s).s);
}

void evidence_print_collectives(FILE *out, struct arena *arena, const struct collective_use *uses,
                                uint32_t count, double rank_count)
{
    struct collective_use *rows = ARENA_ARRAY(arena, struct collective_use, count + 1), *sums;
    double *most;
    if (count == 0)
        return;
    memcpy(rows, uses, count * sizeof *rows);
    qsort(rows, count, sizeof *rows, by_group);
    fputs("# Collectives: seconds of a step, operation, ranks, nodes, bytes, elements.\n", out);
    for (uint32_t i = 0, next; i < count; i = next) {
        double gpu_s = 0.0;
        for (next = i; next < count && by_group(&rows[i], &rows[next]) == 0; next++)
            gpu_s += rows[next].gpu_s;
        fprintf(out, "# %.6g %s ranks=%" PRIu32 " nodes=%" PRIu32 " bytes=%.0f %s\n",
                gpu_s / rank_count, comm_op_names[rows[i].op], rows[i].ranks, rows[i].nodes,
                rows[i].bytes, rows[i].type);
    }
    fputs("# They are measured by nccl-tests (then: orrery import nccl-tests OUTPUT --gpu NAME "
          "--output PROFILE):\n",
          out);
    const uint32_t sum_count = sum_groups(arena, uses, count, false, &sums, &most);
    for (uint32_t i = 0; i < sum_count; i++)
        print_command(out, &sums[i], most[i], sums[i].gpu_s / rank_count);
}
