#include "analysis/record/database/store_timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/step/simulate/power_curve.h"
#include "sim/check.h"
#include "sim/digest.h"

#define COUNT(values) (sizeof(values) / sizeof(values)[0])
enum {
    TRACK_ALLOCATED = STREAM_COUNT,
    TRACK_RESERVED,
    TRACKS_OF_CLASS,
    TRACK_TENANTS = TENANT_FRAGMENTATION, /* one for each that entries name */
    TRACK_POWER = TRACKS_OF_CLASS + TRACK_TENANTS,
    KINDS_MAX = 256, /* names x phases of a stream: a dozen */
    HOW_BYTES = 160
};

/* One class being written. */
struct timeline {
    struct store *store;
    const struct step *step;
    const struct program *program;
    uint32_t rank_class;
    enum detail detail;
};

uint32_t store_class_count(const struct step *step)
{
    return step->worker != NULL ? step->symmetry.rank_class_count : step->memory_count;
}

int64_t store_class_id(uint32_t class_index)
{
    return (int64_t)class_index + 1;
}

int64_t store_track_count(const struct step *step)
{
    return (int64_t)store_class_count(step) * (TRACKS_OF_CLASS + TRACK_TENANTS + 1);
}

/* Tracks of tenants come after those of all classes, and those of power after them. */
static int64_t track_id(const struct timeline *t, unsigned track)
{
    const int64_t rank_class = t->rank_class, classes = store_class_count(t->step);
    if (track < TRACKS_OF_CLASS)
        return rank_class * TRACKS_OF_CLASS + track + 1;
    if (track == TRACK_POWER)
        return classes * (TRACKS_OF_CLASS + TRACK_TENANTS) + rank_class + 1;
    return classes * TRACKS_OF_CLASS + rank_class * TRACK_TENANTS + (track - TRACKS_OF_CLASS) + 1;
}

static void write_track(const struct timeline *t, unsigned track, const char *kind,
                        const char *name, const struct result_stream *stream)
{
    struct store_value row[] = {
        store_integer(track_id(t, track)),
        store_integer(STORE_RUN),
        store_integer(store_class_id(t->rank_class)),
        store_text(kind),
        store_text(name),
        store_integer((int64_t)stream->op_count),
        store_real(stream->busy_s),
        store_real(stream->hidden_s),
        store_real(stream->waited_s),
    };
    store_row(t->store, STORE_track, row, COUNT(row));
}

struct slice {
    int64_t begin_ns, finish_ns, wait_ns;
    const char *name, *phase;
    uint16_t microbatch, layer;
    uint8_t chunk, depth;
};

static struct store_value label(uint16_t value)
{
    return value == UINT16_MAX ? store_null() : store_integer(value);
}

static int64_t write_slice(const struct timeline *t, unsigned track, const struct slice *s)
{
    int64_t name = store_string(t->store, s->name);
    int64_t phase = store_string(t->store, s->phase);
    struct store_value row[] = {
        store_null(),
        store_integer(s->begin_ns),
        store_integer(s->finish_ns - s->begin_ns),
        store_integer(s->wait_ns),
        store_integer(track_id(t, track)),
        store_integer(name),
        store_integer(phase),
        label(s->microbatch),
        label(s->layer),
        store_integer(s->chunk),
        store_integer(s->depth),
    };
    return store_row(t->store, STORE_slice_raw, row, COUNT(row));
}

static void write_kernels(const struct timeline *t, const struct op *op, const struct slice *whole,
                          double begin_s, double finish_s)
{
    const struct op_cost *cost = &t->program->costs[op->cost];
    const struct op_kernel *kernels = &t->program->kernels[cost->kernel_first];
    double sum_s = 0.0, done_s = 0.0;
    for (uint32_t i = 0; i < cost->kernel_count; i++)
        sum_s += kernels[i].gpu_s;
    for (uint32_t i = 0; sum_s > 0.0 && i < cost->kernel_count; i++) {
        struct slice s = *whole;
        double from = done_s / sum_s;
        done_s += kernels[i].gpu_s;
        s.begin_ns = digest_ns(begin_s + from * (finish_s - begin_s));
        s.finish_ns = i + 1 == cost->kernel_count
                          ? whole->finish_ns
                          : digest_ns(begin_s + done_s / sum_s * (finish_s - begin_s));
        s.wait_ns = 0;
        s.name = kernels[i].name;
        s.depth = 1;
        write_slice(t, op->stream, &s);
    }
}

static const struct played_plan *plan_of(const struct timeline *t, const struct op *op)
{
    const struct symmetry *sym = &t->step->symmetry;
    const struct rank_class *mine = &sym->ranks[t->rank_class];
    if (mine->group[op->stream] == GROUP_NONE)
        return NULL;
    const struct group_class *group = &sym->groups[mine->group[op->stream]];
    const struct party *party = &sym->parties[group->party_first + mine->party[op->stream]];
    uint32_t plan = sym->plan_of[party->plan_first + op->cost];
    return plan == PLAN_NONE ? NULL : &sym->plans[plan];
}

static void write_transfer(const struct timeline *t, const struct op *op, const struct slice *s,
                           int64_t slice_id)
{
    const struct played_plan *plan = plan_of(t, op);
    if (plan == NULL)
        return;
    const struct symmetry *sym = &t->step->symmetry;
    const struct group_shape *shape =
        &sym->groups[sym->ranks[t->rank_class].group[op->stream]].shape;
    double cap = plan->cap_bytes_per_s;
    struct store_value row[] = {
        store_null(),
        store_integer(STORE_RUN),
        store_integer(slice_id),
        store_integer(store_class_id(t->rank_class)),
        store_text(comm_op_names[t->program->transfers[op->cost].op]),
        store_text(plan->tuned.kind != NULL ? plan->tuned.kind->head.name : "none"),
        store_text(protocol_names[plan->tuned.protocol]),
        store_integer(shape->ranks),
        store_integer(shape->nodes),
        store_real(plan->bytes),
        store_real(plan->latency_s),
        isfinite(cap) ? store_real(cap) : store_null(),
        store_integer(s->begin_ns),
        store_integer(s->finish_ns),
    };
    store_row(t->store, STORE_transfer, row, COUNT(row));
}

static void write_op(const struct timeline *t, uint32_t index)
{
    const struct op *op = &t->program->ops[index];
    const struct op_times times = worker_times(t->step->worker, t->rank_class, index);
    const struct op_times *at = &times;
    struct slice s = {
        .begin_ns = digest_ns(at->begin_s),
        .finish_ns = digest_ns(at->finish_s),
        .wait_ns = digest_ns(at->begin_s) - digest_ns(at->post_s),
        .name = t->program->names[op->name],
        .phase = phase_names[op->phase],
        .microbatch = op->microbatch,
        .layer = op->layer,
        .chunk = op->chunk,
    };
    int64_t slice_id = write_slice(t, op->stream, &s);
    if (op->kind == OP_COMPUTE) {
        if (t->detail >= DETAIL_KERNEL)
            write_kernels(t, op, &s, at->begin_s, at->finish_s);
    } else if (t->detail >= DETAIL_FLOW) {
        write_transfer(t, op, &s, slice_id);
    }
}

/* What ops of one name and phase do in all. */
struct kind_sum {
    const struct op *first;
    int64_t ops;
    double flops, hbm_bytes, message_bytes;
};

static struct kind_sum *sum_of(struct kind_sum *sums, unsigned *count, const struct op *op)
{
    for (unsigned i = 0; i < *count; i++)
        if (sums[i].first->name == op->name && sums[i].first->phase == op->phase)
            return &sums[i];
    CHECK(*count < KINDS_MAX);
    sums[*count] = (struct kind_sum){.first = op};
    return &sums[(*count)++];
}

static void add_op(const struct timeline *t, struct kind_sum *sum, const struct op *op)
{
    sum->ops++;
    if (op->kind != OP_COMPUTE) {
        sum->message_bytes += t->program->transfers[op->cost].bytes;
        return;
    }
    const struct op_cost *cost = &t->program->costs[op->cost];
    sum->flops += cost->flops;
    sum->hbm_bytes += cost->bytes;
}

/* Kernels, each once; or operation, algorithm and protocol. */
static void say_how(const struct timeline *t, const struct op *op, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    if (op->kind != OP_COMPUTE) {
        const struct played_plan *plan = plan_of(t, op);
        const bool tuned = plan != NULL && plan->tuned.kind != NULL;
        snprintf(out, size, "%s%s%s%s%s", comm_op_names[t->program->transfers[op->cost].op],
                 tuned ? ", " : "", tuned ? plan->tuned.kind->head.name : "", tuned ? ", " : "",
                 tuned ? protocol_names[plan->tuned.protocol] : "");
        return;
    }
    const struct op_cost *cost = &t->program->costs[op->cost];
    for (uint32_t i = 0; i < cost->kernel_count && used < size; i++) {
        const char *name = t->program->kernels[cost->kernel_first + i].name;
        if (strstr(out, name) == NULL)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", name);
    }
}

static void write_kinds(const struct timeline *t, unsigned stream)
{
    struct kind_sum sums[KINDS_MAX];
    unsigned count = 0;
    for (uint32_t i = 0; i < t->program->op_count; i++)
        if (t->program->ops[i].stream == stream)
            add_op(t, sum_of(sums, &count, &t->program->ops[i]), &t->program->ops[i]);
    for (unsigned i = 0; i < count; i++) {
        char how[HOW_BYTES];
        say_how(t, sums[i].first, how, sizeof how);
        struct store_value row[] = {
            store_integer(track_id(t, stream)),
            store_integer(store_string(t->store, t->program->names[sums[i].first->name])),
            store_integer(store_string(t->store, phase_names[sums[i].first->phase])),
            store_integer(sums[i].ops),
            store_real(sums[i].flops),
            store_real(sums[i].hbm_bytes),
            store_real(sums[i].message_bytes),
            store_text(how),
        };
        store_row(t->store, STORE_op_kind, row, COUNT(row));
    }
}

/* One memory curve being written: a point only where it changes. */
struct ledger_curve {
    unsigned track;
    double last, highest; /* written last; of the present instant */
};

static void write_counter(const struct timeline *t, struct ledger_curve *curve, int64_t at_ns,
                          double value)
{
    if (value == curve->last)
        return;
    curve->last = value;
    struct store_value row[] = {store_integer(track_id(t, curve->track)), store_integer(at_ns),
                                store_real(value)};
    store_row(t->store, STORE_counter_raw, row, COUNT(row));
}

/* When an entry of the ledger takes place: as the op that it hangs on begins. */
static int64_t entry_ns(const struct timeline *t, uint32_t entry)
{
    uint32_t op = t->program->ledger[entry].op;
    return op == 0 ? 0 : digest_ns(worker_times(t->step->worker, t->rank_class, op - 1).begin_s);
}

/* The end of an instant. What is allocated and freed within it is part of the peak, so the highest
 * point comes before the one that stays. */
static void write_instant(const struct timeline *t, struct ledger_curve *curve, int64_t at_ns,
                          double value)
{
    if (curve->highest > fmax(curve->last, value))
        write_counter(t, curve, at_ns, curve->highest);
    write_counter(t, curve, at_ns, value);
    curve->highest = 0.0;
}

/* Ranks of one program hold the same: the first class of it speaks for all. */
static bool is_first_of_program(const struct timeline *t)
{
    const struct rank_class *ranks = t->step->symmetry.ranks;
    uint32_t first = 0;
    while (ranks[first].program != ranks[t->rank_class].program)
        first++;
    return first == t->rank_class;
}

/* What each tenant holds when an instant has passed: of one that holds nothing all the time there
 * is no track. Their sum is then what is allocated. */
static void write_tenants(const struct timeline *t, const struct ledger_result *ledger)
{
    static const struct result_stream none = {0};
    double held[TRACK_TENANTS], allocated = 0.0;
    struct ledger_curve curves[TRACK_TENANTS];
    bool used[TRACK_TENANTS];
    for (unsigned i = 0; i < TRACK_TENANTS; i++) {
        held[i] = ledger->before[i];
        allocated += held[i];
        curves[i] = (struct ledger_curve){TRACKS_OF_CLASS + i, -1.0, 0.0};
        used[i] = held[i] > 0.0;
    }
    for (uint32_t i = 0; i < ledger->point_count; i++)
        used[ledger->points[i].tenant] = true;
    for (unsigned i = 0; i < TRACK_TENANTS; i++)
        if (used[i])
            write_track(t, curves[i].track, "ledger", tenant_names[i], &none);
    int64_t now_ns = entry_ns(t, ledger->points[0].entry);
    for (uint32_t i = 0; i < ledger->point_count; i++) {
        const struct ledger_point *point = &ledger->points[i];
        const bool last = i + 1 == ledger->point_count;
        const int64_t next_ns = last ? INT64_MAX : entry_ns(t, ledger->points[i + 1].entry);
        held[point->tenant] += point->allocated_bytes - allocated;
        allocated = point->allocated_bytes;
        for (unsigned k = 0; next_ns > now_ns && k < TRACK_TENANTS; k++)
            if (used[k])
                write_counter(t, &curves[k], now_ns, held[k]);
        now_ns = next_ns > now_ns ? next_ns : now_ns;
    }
}

/* The curve follows the host's order of allocations, so a point is never before an earlier one. */
static void write_memory(const struct timeline *t)
{
    uint32_t program = t->step->symmetry.ranks[t->rank_class].program;
    const struct ledger_result *ledger = &t->step->memory[program].ledger;
    struct result_stream none = {0};
    struct ledger_curve allocated = {TRACK_ALLOCATED, -1.0, 0.0},
                        reserved = {TRACK_RESERVED, -1.0, 0.0};
    if (ledger->points == NULL || ledger->point_count == 0)
        return;
    write_track(t, TRACK_ALLOCATED, "ledger", "allocated", &none);
    write_track(t, TRACK_RESERVED, "ledger", "reserved", &none);
    int64_t now_ns = entry_ns(t, ledger->points[0].entry);
    for (uint32_t i = 0; i < ledger->point_count; i++) {
        const struct ledger_point *point = &ledger->points[i];
        bool last = i + 1 == ledger->point_count;
        int64_t next_ns = last ? INT64_MAX : entry_ns(t, ledger->points[i + 1].entry);
        allocated.highest = fmax(allocated.highest, point->allocated_bytes);
        reserved.highest = fmax(reserved.highest, point->reserved_bytes);
        if (next_ns > now_ns) {
            write_instant(t, &allocated, now_ns, point->allocated_bytes);
            write_instant(t, &reserved, now_ns, point->reserved_bytes);
            now_ns = next_ns;
        }
    }
    if (is_first_of_program(t))
        write_tenants(t, ledger);
}

/* Neighbours of one cause are one span; ends are rounded as those of ops, so spans tile with them.
 */
static void write_idle(const struct timeline *t)
{
    struct arena *arena = arena_create();
    uint32_t count;
    const struct worker_idle *spans = worker_idle(t->step->worker, t->rank_class, arena, &count);
    for (uint32_t i = 0; i < count && store_good(t->store);) {
        const enum breakdown_part cause = spans[i].part;
        const int64_t begin_ns = digest_ns(spans[i].from_s);
        int64_t end_ns = digest_ns(spans[i++].until_s);
        while (i < count && spans[i].part == cause && digest_ns(spans[i].from_s) == end_ns)
            end_ns = digest_ns(spans[i++].until_s);
        struct store_value row[] = {store_integer(track_id(t, STREAM_COMPUTE)),
                                    store_integer(begin_ns), store_integer(end_ns - begin_ns),
                                    store_integer(store_string(t->store, breakdown_names[cause]))};
        if (end_ns > begin_ns)
            store_row(t->store, STORE_idle_raw, row, COUNT(row));
    }
    arena_destroy(arena);
}

/* What a card of the class draws; where nobody stated what nodes draw there is no power. */
static void write_power(const struct timeline *t, const struct configuration *c)
{
    static const struct result_stream none = {0};
    struct ledger_curve curve = {TRACK_POWER, -1.0, 0.0};
    struct arena *arena = arena_create();
    uint32_t count;
    if (isfinite(t->step->power.card_w)) {
        const struct power_point *points = power_curve(c, t->step, t->rank_class, arena, &count);
        write_track(t, TRACK_POWER, "power", "card power", &none);
        for (uint32_t i = 0; i < count && store_good(t->store); i++)
            write_counter(t, &curve, digest_ns(points[i].at_s), points[i].card_w);
    }
    arena_destroy(arena);
}

static void write_whole_step(const struct timeline *t)
{
    struct slice s = {
        .finish_ns = digest_ns(worker_finish_s(t->step->worker, t->rank_class)),
        .name = "step",
        .phase = "step",
        .microbatch = UINT16_MAX,
        .layer = UINT16_MAX,
    };
    write_slice(t, STREAM_COMPUTE, &s);
}

void store_timeline(struct store *store, const struct result *result, uint32_t rank_class,
                    enum detail detail)
{
    const struct step *step = result->step;
    struct timeline t = {
        .store = store,
        .step = step,
        .program = step->lowered.programs[step->symmetry.ranks[rank_class].program],
        .rank_class = rank_class,
        .detail = detail,
    };
    for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
        const struct result_stream *sums =
            &result->class_streams[(size_t)rank_class * STREAM_COUNT + stream];
        if (sums->op_count == 0)
            continue;
        write_track(&t, stream, "stream", stream_names[stream], sums);
        for (uint32_t i = 0; detail >= DETAIL_OP && i < t.program->op_count; i++)
            if (t.program->ops[i].stream == stream && store_good(store))
                write_op(&t, i);
        if (detail >= DETAIL_OP)
            write_kinds(&t, stream);
    }
    if (detail == DETAIL_STEP)
        write_whole_step(&t);
    if (detail < DETAIL_OP)
        return;
    write_memory(&t);
    write_idle(&t);
    write_power(&t, &result->scenario->configuration);
}
