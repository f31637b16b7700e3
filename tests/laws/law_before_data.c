/* Rules of data parallelism: gathers of units, reductions of gradients, the update, flags. */
#include <math.h>
#include <string.h>

#include "law_before.h"
#include "models/sharding/sharding_kind.h"

struct data {
    struct before *b;
    const struct before_plan *plan;
    const struct program *p;
    bool scatters, gathers, reshards;
    bool once; /* a pipeline: gathered before the first forward, reduced after the last backward */
    double replicas, shards, reducers, mean_bytes, kept_bytes, wire_bytes;
    uint32_t *ops; /* scratch */
};

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmin(fabs(a), fabs(b));
}

static double bytes_of(const struct program *p, uint32_t op)
{
    return p->transfers[p->ops[op].cost].bytes;
}

/* Behind a transfer stands the copy out of its buffer, where the software makes one. */
static uint32_t arrived(const struct data *d, uint32_t op)
{
    bool copies = d->b->c->software.data.copy_bytes_per_s > 0.0;
    if (!copies)
        return op;
    uint32_t copy = op + 1;
    while (copy < d->p->op_count && d->p->ops[copy].stream != STREAM_COPY)
        copy++;
    before_must(d->b, copy < d->p->op_count && before_holds(d->b, op, copy), "reduce", op,
                "is copied out of its buffer when it has arrived");
    return copy < d->p->op_count ? copy : op;
}

static uint32_t next_on(const struct data *d, uint32_t from, enum stream stream, enum phase phase)
{
    uint32_t i = from;
    while (i < d->p->op_count &&
           (d->p->ops[i].stream != stream || d->p->ops[i].phase != (unsigned)phase))
        i++;
    return i;
}

/* Embedding and head are as wide as the attention, whatever the layers are. */
static double bytes_of_unit(const struct configuration *c, const struct before_unit *u)
{
    const bool eight = c->training.precision->gemm_peak == PEAK_FP8;
    if (u->block != UNIT_LAYER && eight)
        return 2.0;
    return c->training.precision->weight_bytes;
}

/* Buckets do not tell which units are in them. */
static double mean_bytes(const struct configuration *c, const struct before_plan *plan)
{
    double bytes = 0.0, held = 0.0;
    for (uint32_t u = 0; u < plan->unit_count; u++) {
        bytes += plan->units[u].held * bytes_of_unit(c, &plan->units[u]);
        held += plan->units[u].held;
    }
    return bytes / held;
}

static struct data describe(struct before *b, const struct before_plan *plan)
{
    const struct configuration *c = b->c;
    const struct sharding_kind *k = c->layout.data.sharding;
    struct data d = {.b = b, .plan = plan, .p = b->program};
    d.replicas = (double)(c->layout.dp * c->layout.cp);
    d.shards = (double)configuration_shards(c);
    d.reducers = k->hybrid ? d.shards : d.replicas;
    d.once = c->layout.pp > 1;
    d.scatters = k->reduce == REDUCE_EACH_MICROBATCH && d.replicas > 1.0 && !d.once;
    d.gathers = k->gather == GATHER_UNITS && d.shards > 1.0;
    d.reshards = !k->units || c->software.shards.reshard;
    d.mean_bytes = mean_bytes(c, plan);
    d.kept_bytes = c->training.gradient_bytes > 0.0 ? c->training.gradient_bytes
                                                    : c->software.data.gradient_kept_bytes;
    d.wire_bytes = c->software.data.gradient_reduce_bytes > 0.0
                       ? c->software.data.gradient_reduce_bytes
                       : d.kept_bytes;
    d.ops = ARENA_ARRAY(b->arena, uint32_t, b->program->op_count + 1);
    return d;
}

/* First and last compute of a unit in a pass. */
static bool works_of(const struct data *d, const struct before_pass *pass,
                     const struct before_unit *unit, uint32_t *first, uint32_t *last)
{
    uint32_t count = before_ops(d->b, d->plan, pass, unit, d->ops);
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        if (before_works(d->p, d->ops[i])) {
            *first = found ? *first : d->ops[i];
            *last = d->ops[i];
            found = true;
        }
    }
    before_must(d->b, found, "pass", pass->first, "computes every unit");
    return found;
}

/* Groups of a pass in the order in which they are computed: first and last unit, index of group. */
struct turn {
    uint32_t group, first_unit, last_unit;
    double gathered_bytes, held;
};
static uint32_t turns_of(const struct data *d, const struct before_pass *pass, struct turn *turns)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < d->plan->unit_count; k++) {
        uint32_t i = pass->forward ? k : d->plan->unit_count - 1 - k;
        const struct before_unit *u = &d->plan->units[i];
        if (u->chunk != pass->chunk)
            continue;
        if (count == 0 || turns[count - 1].group != u->group)
            turns[count++] = (struct turn){.group = u->group, .first_unit = i, .last_unit = i};
        turns[count - 1].last_unit = i;
        turns[count - 1].gathered_bytes += u->gathered * bytes_of_unit(d->b->c, u);
        turns[count - 1].held += u->held;
    }
    return count;
}

/* d->ops: the ops of the first unit; a transfer too is issued behind the wait for the weights. */
static void check_gather(const struct data *d, const struct turn *turn, uint32_t ops,
                         uint32_t gather, const uint32_t *done, uint32_t step)
{
    uint32_t ahead = (uint32_t)d->b->c->software.shards.prefetch;
    before_must(d->b, gather < d->p->op_count, "gather", d->ops[0], "of its weights");
    if (gather >= d->p->op_count)
        return;
    before_must(d->b, near(bytes_of(d->p, gather), turn->gathered_bytes), "gather", gather,
                "is of a whole group");
    before_must(d->b, d->p->transfers[d->p->ops[gather].cost].op == COMM_ALL_GATHER, "gather",
                gather, "is an all-gather");
    uint32_t there = arrived(d, gather);
    for (uint32_t i = 0; i < ops; i++) {
        before_must(d->b, before_holds(d->b, there, d->ops[i]), "gather", d->ops[i],
                    "waits for its weights");
    }
    if (step > ahead) {
        before_must(d->b, before_holds(d->b, done[step - 1 - ahead], gather), "gather", gather,
                    "is no more groups ahead than stated");
    }
}

/* Each group that is not there is gathered, in the order of need; kept groups stay until their
 * backward has passed. */
static void check_gathers(struct data *d)
{
    uint32_t rooms = d->plan->pass_count * d->plan->unit_count + 1, step = 0, from = 0;
    uint32_t *done = ARENA_ARRAY(d->b->arena, uint32_t, rooms);
    bool *there = ARENA_ARRAY(d->b->arena, bool, d->plan->unit_count);
    struct turn *turns = ARENA_ARRAY(d->b->arena, struct turn, d->plan->unit_count);
    for (uint32_t i = 0; i < d->plan->pass_count; i++) {
        const struct before_pass *pass = &d->plan->passes[i];
        uint32_t count = turns_of(d, pass, turns);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t last = 0, unused = 0;
            works_of(d, pass, &d->plan->units[turns[k].last_unit], &unused, &last);
            uint32_t ops =
                before_ops(d->b, d->plan, pass, &d->plan->units[turns[k].first_unit], d->ops);
            if (d->gathers && !there[turns[k].group]) {
                uint32_t gather = next_on(d, from, STREAM_GATHER, PHASE_PARAMETERS);
                check_gather(d, &turns[k], ops, gather, done, step);
                from = gather + 1;
            }
            there[turns[k].group] = d->once || (pass->forward && !d->reshards);
            done[step++] = last;
        }
    }
    before_must(d->b, next_on(d, from, STREAM_GATHER, PHASE_PARAMETERS) == d->p->op_count, "gather",
                from, "once for each group that is needed");
}

/* A reduction and, for hybrid sharding, its all-reduce across the groups; returns what ends it. */
static uint32_t check_reduction(const struct data *d, uint32_t *from, double elements)
{
    uint32_t op = UINT32_MAX, end = UINT32_MAX;
    if (d->reducers > 1.0) {
        op = next_on(d, *from, STREAM_DP, PHASE_GRADIENTS);
        before_must(d->b, op < d->p->op_count, "reduce", *from, "every gradient");
        if (op >= d->p->op_count)
            return op;
        before_must(d->b, elements < 0.0 || near(bytes_of(d->p, op), elements * d->wire_bytes),
                    "reduce", op, "as many bytes as its gradients have");
        bool scatter = d->b->c->layout.data.sharding->reduce_scatter;
        before_must(d->b,
                    (d->p->transfers[d->p->ops[op].cost].op == COMM_REDUCE_SCATTER) == scatter,
                    "reduce", op, "by the collective of the sharding");
        end = arrived(d, op);
    }
    if (d->replicas > d->reducers) {
        uint32_t across = next_on(d, *from, STREAM_REPLICATE, PHASE_GRADIENTS);
        before_must(d->b, across < d->p->op_count, "reduce", *from, "across the groups too");
        if (across >= d->p->op_count)
            return across;
        before_must(d->b, op == UINT32_MAX || before_holds(d->b, end, across), "reduce", across,
                    "across the groups what is scattered in them");
        double whole = elements >= 0.0    ? elements * d->wire_bytes
                       : op != UINT32_MAX ? bytes_of(d->p, op)
                                          : bytes_of(d->p, across);
        before_must(d->b, near(bytes_of(d->p, across), whole / d->reducers), "reduce", across,
                    "the shard across the groups");
        end = across;
        *from = op == UINT32_MAX || across > op ? across : op;
    }
    *from = end + 1;
    return op == UINT32_MAX ? end : op;
}

/* Without overlap nothing that is issued behind a reduction begins before its end. */
static void check_alone(const struct data *d, uint32_t reduced)
{
    bool done = false;
    for (uint32_t i = reduced + 1; i < d->p->op_count && !done; i++) {
        const struct op *op = &d->p->ops[i];
        done = before_works(d->p, i);
        bool behind = done || op->stream == STREAM_TP || op->stream == STREAM_CP;
        behind |= op->kind == OP_SEND && op->phase == PHASE_BACKWARD; /* of this very pass */
        before_must(d->b, !behind || before_holds(d->b, reduced, i), "reduce", i,
                    "is not overlapped by this software");
    }
}

/* Shards accumulate: each backward scatters each group behind its compute. */
static void check_scatters(struct data *d)
{
    struct turn *turns = ARENA_ARRAY(d->b->arena, struct turn, d->plan->unit_count);
    uint32_t from = 0;
    for (uint32_t i = 0; i < d->plan->pass_count; i++) {
        const struct before_pass *pass = &d->plan->passes[i];
        uint32_t count = pass->forward ? 0 : turns_of(d, pass, turns);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t unused = 0, last = 0;
            works_of(d, pass, &d->plan->units[turns[k].last_unit], &unused, &last);
            uint32_t op = check_reduction(d, &from, turns[k].held), end = from - 1;
            before_must(d->b, op < d->p->op_count && before_holds(d->b, last, op), "reduce", op,
                        "waits for its gradients");
            if (!d->b->c->software.data.overlap_gradients)
                check_alone(d, end);
        }
    }
    before_must(d->b, next_on(d, from, STREAM_DP, PHASE_GRADIENTS) == d->p->op_count, "reduce",
                from, "once");
}

/* When each unit's last gradient is there: the last compute of its last backward. */
struct ready {
    uint32_t op;
    double held;
};
static uint32_t ready_units(const struct data *d, struct ready *ready)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->plan->pass_count; i++) {
        const struct before_pass *pass = &d->plan->passes[i];
        bool last = !pass->forward;
        for (uint32_t k = i + 1; k < d->plan->pass_count; k++)
            last &= d->plan->passes[k].forward || d->plan->passes[k].chunk != pass->chunk;
        for (uint32_t u = d->plan->unit_count; last && u-- > 0;) {
            uint32_t unused = 0;
            if (d->plan->units[u].chunk == pass->chunk) {
                works_of(d, pass, &d->plan->units[u], &unused, &ready[count].op);
                ready[count++].held = d->plan->units[u].held;
            }
        }
    }
    return count;
}

/* Buckets leave in the order in which gradients become ready; each waits for all that is in it. */
static void check_buckets(struct data *d)
{
    struct ready *ready = ARENA_ARRAY(d->b->arena, struct ready, d->plan->unit_count);
    uint32_t units = ready_units(d, ready), unit = 0, from = 0, op;
    double gone = 0.0, begun = 0.0, all = 0.0;
    for (uint32_t u = 0; u < units; u++)
        all += ready[u].held * d->wire_bytes;
    const enum stream first = d->reducers > 1.0 ? STREAM_DP : STREAM_REPLICATE;
    while ((op = next_on(d, from, first, PHASE_GRADIENTS)) < d->p->op_count) {
        gone += bytes_of(d->p, op);
        check_reduction(d, &from, -1.0);
        for (; unit < units && begun < gone * (1.0 - 1e-12); unit++) {
            begun += ready[unit].held * d->wire_bytes;
            before_must(d->b, before_holds(d->b, ready[unit].op, op), "reduce", op,
                        "waits for its gradients");
        }
        bool alone = !d->b->c->software.data.overlap_gradients;
        before_must(d->b, !alone || near(gone, all), "reduce", op, "is one without overlap");
    }
    before_must(d->b, near(gone, d->replicas > 1.0 ? all : 0.0), "reduce", from,
                "all that is owed");
}

static bool named(const struct program *p, uint32_t op, const char *name)
{
    return strcmp(p->names[p->ops[op].name], name) == 0;
}

static uint32_t find_named(const struct program *p, const char *name)
{
    uint32_t i = 0;
    while (i < p->op_count && !named(p, i, name))
        i++;
    return i;
}

static void check_update(struct data *d)
{
    const struct program *p = d->p;
    uint32_t update = find_named(p, "optimizer update"), norm = find_named(p, "gradient norm");
    bool clips = d->b->c->software.memory.clip_gradients;
    before_must(d->b, update < p->op_count, "update", 0, "is made");
    before_must(d->b, (norm < p->op_count) == clips, "update", 0, "clips where the software does");
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        bool gradient = op->phase == PHASE_GRADIENTS || op->phase == PHASE_BACKWARD;
        bool reads = gradient && op->stream != STREAM_SEND_PREV && op->stream != STREAM_RECV_NEXT &&
                     op->stream != STREAM_TP && op->stream != STREAM_CP &&
                     (op->kind != OP_COMPUTE || before_works(p, i) || op->stream == STREAM_COPY);
        if (reads && clips && norm < p->op_count)
            before_must(d->b, before_holds(d->b, i, norm), "update", i, "the norm waits for it");
        if (reads || op->stream == STREAM_WORLD) {
            before_must(d->b, before_holds(d->b, i, update), "update", i,
                        "the update waits for it");
        }
        if (op->stream == STREAM_WORLD && norm < p->op_count)
            before_must(d->b, before_holds(d->b, norm, i), "update", i, "waits for the norm");
    }
}

/* Weights that were updated arrive before the first forward that reads them, bucket by bucket. */
static void check_early_gathers(struct data *d)
{
    uint32_t gather = next_on(d, 0, STREAM_DP, PHASE_PARAMETERS);
    double begun = 0.0, gone = 0.0;
    for (uint32_t u = 0; u < d->plan->unit_count; u++) {
        const struct before_unit *unit = &d->plan->units[u];
        uint32_t first = 0, unused = 0, i = 0;
        while (i < d->plan->pass_count &&
               (!d->plan->passes[i].forward || d->plan->passes[i].chunk != unit->chunk))
            i++;
        works_of(d, &d->plan->passes[i], unit, &first, &unused);
        begun += unit->held * d->mean_bytes;
        while (gather < d->p->op_count && gone < begun * (1.0 - 1e-12)) {
            gone += bytes_of(d->p, gather);
            before_must(d->b, before_holds(d->b, arrived(d, gather), first), "update", first,
                        "waits for its updated weights");
            gather = next_on(d, gather + 1, STREAM_DP, PHASE_PARAMETERS);
        }
    }
    before_must(d->b, near(gone, begun), "update", 0, "all weights are gathered");
}

static void check_late_gather(struct data *d)
{
    uint32_t update = find_named(d->p, "optimizer update");
    uint32_t gather = next_on(d, 0, STREAM_DP, PHASE_PARAMETERS);
    double all = 0.0;
    for (uint32_t u = 0; u < d->plan->unit_count; u++)
        all += d->plan->units[u].held * d->mean_bytes;
    before_must(d->b, gather < d->p->op_count, "update", update, "weights are gathered after it");
    if (gather < d->p->op_count && update < d->p->op_count) {
        before_must(d->b, before_holds(d->b, update, gather), "update", gather, "gathers after it");
        before_must(d->b, near(bytes_of(d->p, gather), all), "update", gather, "gathers all");
        arrived(d, gather);
    }
}

static void check_tied(struct data *d)
{
    const struct model_shape *m = &d->b->c->model;
    bool end = d->plan->stage == 0 || d->plan->stage + 1 == d->plan->stages;
    bool tied = m->tied_embeddings && d->plan->stages > 1 && end;
    uint32_t op = next_on(d, 0, STREAM_EMBED, PHASE_GRADIENTS);
    before_must(d->b, (op < d->p->op_count) == tied, "reduce", 0, "the tied embedding");
    if (!tied || op >= d->p->op_count)
        return;
    double elements = (double)(m->vocabulary * m->hidden) / (double)d->b->c->layout.tp;
    elements /= d->b->c->layout.data.sharding->shards_gradients ? d->shards : 1.0;
    before_must(d->b, near(bytes_of(d->p, op), elements * d->kept_bytes), "reduce", op,
                "the tied embedding's bytes");
    for (uint32_t i = 0; i < d->p->op_count; i++) {
        bool makes = before_works(d->p, i) && d->p->ops[i].phase == PHASE_BACKWARD &&
                     d->p->ops[i].layer == UINT16_MAX;
        makes |= d->p->ops[i].phase == PHASE_GRADIENTS && d->p->ops[i].stream != STREAM_EMBED;
        before_must(d->b, !makes || before_holds(d->b, i, op), "reduce", op,
                    "the tied embedding waits for its gradients");
    }
}

/* Compute that data-parallel traffic can run beside is marked where it slows it down. */
static void check_flags(struct data *d)
{
    const struct program *p = d->p;
    if (d->b->c->software.data.interference_ratio <= 0.0)
        return;
    for (uint32_t i = 0; i < p->op_count; i++) {
        bool beside = false, pass = before_works(p, i) && p->ops[i].phase <= PHASE_RECOMPUTE;
        for (uint32_t k = 0; pass && k < p->op_count && !beside; k++) {
            const unsigned s = p->ops[k].stream;
            bool slows = s == STREAM_DP || s == STREAM_GATHER || s == STREAM_REPLICATE;
            beside = slows && !before_holds(d->b, i, k) && !before_holds(d->b, k, i);
        }
        before_must(d->b, !beside || p->ops[i].flags & OP_SENSITIVE, "flag", i, "is sensitive");
    }
}

void before_data(struct before *b, const struct before_plan *plan)
{
    struct data d = describe(b, plan);
    const struct configuration *c = b->c;
    check_gathers(&d);
    if (d.scatters)
        check_scatters(&d);
    else
        check_buckets(&d);
    check_update(&d);
    if (c->layout.data.sharding->gather == GATHER_AFTER_UPDATE && d.replicas > 1.0) {
        if (c->software.data.overlap_parameters)
            check_early_gathers(&d);
        else
            check_late_gather(&d);
    } else {
        before_must(b, next_on(&d, 0, STREAM_DP, PHASE_PARAMETERS) == d.p->op_count, "update", 0,
                    "nothing is gathered");
    }
    check_tied(&d);
    check_flags(&d);
}
