/* Invariants:
 * 1. Ids are given in the order in which nodes are written; a node depends on lower ids alone.
 * 2. owed_ns of a lane is the time of its ops less that of its nodes: at most half a microsecond,
 *    below zero where short ops have a microsecond each.
 * 3. No id stands twice among the dependencies of a node. */
#include "analysis/exchange/traces/chakra_export.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/exchange/traces/protobuf_write.h"
#include "scenarios/import/chakra/chakra.h"
#include "sim/digest.h"

/* Numbers of fields in the schema. */
enum {
    METADATA_VERSION = 1,
    METADATA_ATTRIBUTE = 2,
    NODE_ID = 1,
    NODE_NAME = 2,
    NODE_TYPE = 3,
    NODE_DATA_DEPS = 5,
    NODE_START = 6,
    NODE_DURATION = 7,
    NODE_INPUTS = 8,
    NODE_ATTRIBUTE = 10,
    INPUTS_VALUES = 1,
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_INT32 = 7,
    ATTRIBUTE_INT64 = 9,
    ATTRIBUTE_UINT64 = 13,
    ATTRIBUTE_BOOL = 27,
    ATTRIBUTE_TEXT = 29
};
enum {
    GROUPS_ID = 1,
    LANE_HOST = STREAM_COUNT, /* behind the streams */
    LANES,
    WAITS_MAX = 9, /* stream, two waits and sync, each a ring or not; the host */
    NS_PER_US = 1000,
    BARRIER = 9
};

/* CollectiveCommType of the schema. */
static const uint64_t collective_types[] = {
    [COMM_ALL_REDUCE] = 0,      [COMM_ALL_GATHER] = 2,
    [COMM_BROADCAST] = 5,       [COMM_ALL_TO_ALL] = 6, /* of rows that experts get, too */
    [COMM_EXPERT_EXCHANGE] = 6, [COMM_REDUCE_SCATTER] = 7};

struct chakra_export {
    const struct rank_timeline *t;
    FILE *out;
    struct protobuf_write node, attribute, packed;
    uint64_t next_id;
    uint64_t *ids;               /* [op]: of its first node */
    uint32_t last[STREAM_COUNT]; /* op + 1 of the stream so far; 0: none */
    uint32_t met[STREAM_COUNT];  /* ops of the stream that were messages */
    uint64_t host;               /* node of the host; 0: none yet */
    uint32_t sync;               /* op + 1 that the host waited for; 0: none */
    int64_t owed_ns[LANES];
    uint64_t waits[WAITS_MAX];
    unsigned wait_count;
};

static void attribute(struct chakra_export *e, const char *name)
{
    protobuf_write_clear(&e->attribute);
    protobuf_write_text(&e->attribute, ATTRIBUTE_NAME, name);
}

static void attribute_number(struct chakra_export *e, const char *name, unsigned field,
                             uint64_t value)
{
    attribute(e, name);
    protobuf_write_number(&e->attribute, field, value);
    protobuf_write_message(&e->node, NODE_ATTRIBUTE, &e->attribute);
}

static void attribute_text(struct chakra_export *e, const char *name, const char *value)
{
    attribute(e, name);
    protobuf_write_text(&e->attribute, ATTRIBUTE_TEXT, value);
    protobuf_write_message(&e->node, NODE_ATTRIBUTE, &e->attribute);
}

/* Whole microseconds of a lane's next node. */
static uint64_t take_us(struct chakra_export *e, unsigned lane, int64_t ns, int64_t least_us)
{
    int64_t *owed = &e->owed_ns[lane];
    *owed += ns;
    const int64_t due_us = *owed > 0 ? (*owed + NS_PER_US / 2) / NS_PER_US : 0;
    const int64_t us = due_us < least_us ? least_us : due_us;
    *owed -= us * NS_PER_US;
    CHECK(*owed <= NS_PER_US / 2); /* 2 */
    return (uint64_t)us;
}

static void wait_for(struct chakra_export *e, uint64_t id)
{
    CHECK(id < e->next_id && e->wait_count < WAITS_MAX); /* 1 */
    for (unsigned i = 0; i < e->wait_count; i++)
        if (e->waits[i] == id)
            return; /* 3 */
    e->waits[e->wait_count++] = id;
}

static bool passes_ring(const struct program *p, const struct op *op)
{
    return op->kind == OP_COLLECTIVE && p->transfers[op->cost].op == COMM_RING_EXCHANGE;
}

/* `op` is an index + 1, 0: none. A ring has two nodes. */
static void wait_for_op(struct chakra_export *e, uint32_t op)
{
    if (op == OP_NONE)
        return;
    wait_for(e, e->ids[op - 1]);
    if (passes_ring(e->t->program, &e->t->program->ops[op - 1]))
        wait_for(e, e->ids[op - 1] + 1);
}

static void wait_for_host(struct chakra_export *e)
{
    if (e->host != 0)
        wait_for(e, e->host);
    wait_for_op(e, e->sync);
}

static void begin_node(struct chakra_export *e, enum chakra_type type, const char *name)
{
    char shown[2 * CHAKRA_NAME_MAX];
    snprintf(shown, sizeof shown, "%s_NODE_%s", chakra_type_names[type], name);
    protobuf_write_clear(&e->node);
    protobuf_write_number(&e->node, NODE_ID, e->next_id++);
    protobuf_write_text(&e->node, NODE_NAME, shown);
    protobuf_write_number(&e->node, NODE_TYPE, type);
    if (e->wait_count == 0 && type != CHAKRA_METADATA)
        wait_for(e, GROUPS_ID);
    protobuf_write_clear(&e->packed);
    for (unsigned i = 0; i < e->wait_count; i++)
        protobuf_write_varint(&e->packed, e->waits[i]);
    if (e->wait_count > 0)
        protobuf_write_message(&e->node, NODE_DATA_DEPS, &e->packed);
}

static void set_times(struct chakra_export *e, int64_t start_ns, uint64_t us)
{
    protobuf_write_number(&e->node, NODE_START, (uint64_t)(start_ns / NS_PER_US));
    protobuf_write_number(&e->node, NODE_DURATION, us);
}

static void set_labels(struct chakra_export *e, const struct op *op)
{
    attribute_number(e, "is_cpu_op", ATTRIBUTE_BOOL, false);
    attribute_number(e, "stream", ATTRIBUTE_INT64, op->stream);
    attribute_text(e, "phase", phase_names[op->phase]);
    if (op->microbatch != UINT16_MAX)
        attribute_number(e, "microbatch", ATTRIBUTE_INT64, op->microbatch);
    if (op->layer != UINT16_MAX)
        attribute_number(e, "layer", ATTRIBUTE_INT64, op->layer);
}

static void end_node(struct chakra_export *e)
{
    protobuf_write_out(&e->node, e->out);
}

/* The host's time before it launches an op, where that is not less than what a node can hold. */
static void write_host(struct chakra_export *e, const struct op *op)
{
    const struct program *p = e->t->program;
    const int64_t ns = p->host_count > 0 ? digest_ns(p->hosts[op->host]) : 0;
    const uint64_t us = take_us(e, LANE_HOST, ns, 0);
    if (us == 0)
        return;
    e->wait_count = 0;
    wait_for_host(e);
    e->host = e->next_id;
    begin_node(e, CHAKRA_COMP, "host");
    protobuf_write_number(&e->node, NODE_DURATION, us);
    attribute_number(e, "is_cpu_op", ATTRIBUTE_BOOL, true);
    end_node(e);
}

static enum chakra_type type_of_compute(const struct op *op)
{
    return op->stream == STREAM_TO_HOST     ? CHAKRA_MEM_STORE
           : op->stream == STREAM_FROM_HOST ? CHAKRA_MEM_LOAD
                                            : CHAKRA_COMP;
}

static void write_compute(struct chakra_export *e, const struct op *op, const struct rank_op *at)
{
    const struct op_cost *cost = &e->t->program->costs[op->cost];
    const int64_t ns = at->finish_ns - at->start_ns;
    const uint64_t us = take_us(e, op->stream, ns, ns > 0);
    const enum chakra_type type = type_of_compute(op);
    begin_node(e, type, e->t->program->names[op->name]);
    set_times(e, at->start_ns, us);
    set_labels(e, op);
    if (type == CHAKRA_COMP)
        attribute_number(e, "num_ops", ATTRIBUTE_INT64, (uint64_t)llround(cost->flops));
    attribute_number(e, "tensor_size", ATTRIBUTE_UINT64, (uint64_t)llround(cost->bytes));
    end_node(e);
}

static void write_collective(struct chakra_export *e, const struct op *op, uint32_t group_index,
                             uint64_t us)
{
    const struct transfer *transfer = &e->t->program->transfers[op->cost];
    const struct group group = layout_group(&e->t->layout, group_index);
    const double members = transfer->op == COMM_ALL_GATHER ? group.member_count : 1.0;
    const bool meets = !(transfer->bytes > 0.0);
    char name[16];
    snprintf(name, sizeof name, "%" PRIu32, group_index + 1);
    begin_node(e, CHAKRA_COLL, e->t->program->names[op->name]);
    set_times(e, e->t->ops[op - e->t->program->ops].start_ns, us);
    set_labels(e, op);
    attribute_number(e, "comm_type", ATTRIBUTE_INT64,
                     meets ? BARRIER : collective_types[transfer->op]);
    attribute_number(e, "comm_size", ATTRIBUTE_INT64, (uint64_t)llround(transfer->bytes / members));
    attribute_text(e, "pg_name", name);
    end_node(e);
}

struct chakra_end { /* of a message */
    enum chakra_type type;
    uint32_t from, to, tag;
    double bytes;
};

static void write_end(struct chakra_export *e, const struct op *op, const struct chakra_end *end,
                      uint64_t us)
{
    begin_node(e, end->type, e->t->program->names[op->name]);
    set_times(e, e->t->ops[op - e->t->program->ops].start_ns, us);
    set_labels(e, op);
    attribute_number(e, "comm_src", ATTRIBUTE_INT32, end->from);
    attribute_number(e, "comm_dst", ATTRIBUTE_INT32, end->to);
    attribute_number(e, "comm_tag", ATTRIBUTE_INT32, end->tag);
    attribute_number(e, "comm_size", ATTRIBUTE_INT64, (uint64_t)llround(end->bytes));
    end_node(e);
}

/* The same number at both ends: streams meet in order, and two streams join the same ranks where
 * the last stage sends to the first. */
static uint32_t take_tag(struct chakra_export *e, const struct op *op, enum stream sender)
{
    const uint32_t nth = e->met[op->stream]++;
    CHECK(nth < INT32_MAX / STREAM_COUNT);
    return nth * STREAM_COUNT + sender;
}

static void write_message(struct chakra_export *e, const struct op *op, const struct group *pair,
                          uint64_t us)
{
    const struct layout *layout = &e->t->layout;
    const struct chakra_end end = {
        .type = op->kind == OP_SEND ? CHAKRA_SEND : CHAKRA_RECV,
        .from = layout_member(layout, pair, 0),
        .to = layout_member(layout, pair, 1),
        .tag = take_tag(e, op, pair->kind),
        .bytes = e->t->program->transfers[op->cost].bytes,
    };
    write_end(e, op, &end, us);
}

static uint32_t place_in_group(const struct chakra_export *e, const struct group *group)
{
    uint32_t place = 0;
    while (layout_member(&e->t->layout, group, place) != e->t->rank)
        place++;
    return place;
}

/* Each block visits the n - 1 other members; transfer.bytes are the blocks of all n. */
static void write_ring(struct chakra_export *e, const struct op *op, const struct group *group,
                       uint64_t us)
{
    const struct layout *layout = &e->t->layout;
    const uint32_t n = group->member_count, place = place_in_group(e, group);
    const double all = e->t->program->transfers[op->cost].bytes;
    struct chakra_end end = {.type = CHAKRA_SEND,
                             .from = e->t->rank,
                             .to = layout_member(layout, group, (place + 1) % n),
                             .tag = take_tag(e, op, (enum stream)op->stream),
                             .bytes = all * (n - 1.0) / n};
    write_end(e, op, &end, us);
    end.type = CHAKRA_RECV;
    end.from = layout_member(layout, group, (place + n - 1) % n);
    end.to = e->t->rank;
    write_end(e, op, &end, us);
}

static void write_transfer(struct chakra_export *e, const struct op *op, const struct rank_op *at)
{
    const struct layout *layout = &e->t->layout;
    const uint32_t index = layout_group_of(layout, e->t->rank, (enum stream)op->stream);
    CHECK(index != GROUP_NONE);
    const struct group group = layout_group(layout, index);
    const int64_t ns = at->finish_ns - at->start_ns;
    const uint64_t us = take_us(e, op->stream, ns, ns > 0);
    if (passes_ring(e->t->program, op))
        write_ring(e, op, &group, us);
    else if (op->kind == OP_COLLECTIVE)
        write_collective(e, op, index, us);
    else
        write_message(e, op, &group, us);
}

static void write_op(struct chakra_export *e, uint32_t i)
{
    const struct op *op = &e->t->program->ops[i];
    write_host(e, op);
    e->wait_count = 0;
    wait_for_op(e, e->last[op->stream]);
    wait_for_op(e, op->wait[0]);
    wait_for_op(e, op->wait[1]);
    wait_for_host(e);
    e->ids[i] = e->next_id;
    if (op->kind == OP_COMPUTE)
        write_compute(e, op, &e->t->ops[i]);
    else
        write_transfer(e, op, &e->t->ops[i]);
    e->last[op->stream] = i + 1;
    if ((op->flags & OP_HOST_SYNC) != 0)
        e->sync = i + 1;
}

static void write_head(struct chakra_export *e)
{
    protobuf_write_text(&e->node, METADATA_VERSION, "0.0.4");
    attribute(e, "generator");
    protobuf_write_text(&e->attribute, ATTRIBUTE_TEXT, "orrery");
    protobuf_write_message(&e->node, METADATA_ATTRIBUTE, &e->attribute);
    end_node(e);
}

static void print_ranks(const struct layout *layout, uint32_t index, FILE *out)
{
    const struct group group = layout_group(layout, index);
    fputc('[', out);
    for (uint32_t i = 0; i < group.member_count; i++)
        fprintf(out, "%s%" PRIu32, i > 0 ? ", " : "", layout_member(layout, &group, i));
    fputc(']', out);
}

/* Each group of collectives of the rank once. */
static void print_groups(const struct rank_timeline *t, FILE *out)
{
    uint32_t told[STREAM_COUNT], count = 0;
    fputs("['[", out);
    for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
        const uint32_t index = layout_group_of(&t->layout, t->rank, (enum stream)stream);
        uint32_t before = 0;
        while (before < count && told[before] != index)
            before++;
        if (index == GROUP_NONE || index >= t->layout.collective_count || before < count)
            continue;
        fprintf(out, "%s{\"pg_name\": \"%" PRIu32 "\", \"pg_desc\": \"%s\", \"ranks\": ",
                count > 0 ? ", " : "", index + 1, stream_names[stream]);
        print_ranks(&t->layout, index, out);
        fputc('}', out);
        told[count++] = index;
    }
    fputs("]']", out);
}

static void write_groups(struct chakra_export *e)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(out != NULL);
    print_groups(e->t, out);
    CHECK(fclose(out) == 0);
    CHECK(e->next_id == GROUPS_ID);
    begin_node(e, CHAKRA_METADATA, "process_group:init");
    protobuf_write_clear(&e->packed);
    protobuf_write_bytes(&e->packed, INPUTS_VALUES, text, bytes);
    protobuf_write_message(&e->node, NODE_INPUTS, &e->packed);
    attribute_number(e, "is_cpu_op", ATTRIBUTE_BOOL, true);
    end_node(e);
    free(text);
}

void chakra_export_write(const struct rank_timeline *t, FILE *out)
{
    struct arena *arena = arena_create();
    struct chakra_export e = {
        .t = t,
        .out = out,
        .node = {.arena = arena},
        .attribute = {.arena = arena},
        .packed = {.arena = arena},
        .next_id = GROUPS_ID,
        .ids = ARENA_ARRAY(arena, uint64_t, t->program->op_count),
    };
    write_head(&e);
    write_groups(&e);
    for (uint32_t i = 0; i < t->program->op_count; i++)
        write_op(&e, i);
    arena_destroy(arena);
}

uint32_t chakra_export_group_count(const struct layout *layout)
{
    return layout->collective_count > 0 ? layout->collective_count : 1;
}

void chakra_export_groups(const struct layout *layout, FILE *out)
{
    fputs("{", out);
    if (layout->collective_count == 0) {
        fputs("\n \"1\": [", out);
        for (uint32_t rank = 0; rank < layout->rank_count; rank++)
            fprintf(out, "%s%" PRIu32, rank > 0 ? ", " : "", rank);
        fputc(']', out);
    }
    for (uint32_t index = 0; index < layout->collective_count; index++) {
        fprintf(out, "%s \"%" PRIu32 "\": ", index > 0 ? ",\n" : "\n", index + 1);
        print_ranks(layout, index, out);
    }
    fputs("\n}\n", out);
}
