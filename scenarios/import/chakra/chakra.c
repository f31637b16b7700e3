#include "scenarios/import/chakra/chakra.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reader/protobuf.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/random.h"
#include "sim/table.h"

const char *const chakra_type_names[CHAKRA_TYPE_COUNT] = {
    "INVALID",   "METADATA",  "MEM_LOAD", "MEM_STORE", "COMP",      "COMM_SEND",
    "COMM_RECV", "COMM_COLL", "STORAGE",  "BATCH",     "CHECKPOINT"};

/* Numbers of fields in the schema. */
enum {
    METADATA_VERSION = 1,
    NODE_ID = 1,
    NODE_NAME = 2,
    NODE_TYPE = 3,
    NODE_CTRL_DEPS = 4,
    NODE_DATA_DEPS = 5,
    NODE_DURATION = 7,
    NODE_INPUTS = 8,
    NODE_ATTRIBUTE = 10,
    INPUTS_VALUES = 1,
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_INT32 = 7,
    ATTRIBUTE_INT64 = 9,
    ATTRIBUTE_UINT32 = 11,
    ATTRIBUTE_UINT64 = 13,
    ATTRIBUTE_SINT32 = 15,
    ATTRIBUTE_SINT64 = 17,
    ATTRIBUTE_FIXED32 = 19,
    ATTRIBUTE_FIXED64 = 21,
    ATTRIBUTE_SFIXED32 = 23,
    ATTRIBUTE_SFIXED64 = 25,
    ATTRIBUTE_BOOL = 27,
    ATTRIBUTE_TEXT = 29,
    ATTRIBUTE_VALUE_LAST = 32
};

struct reading {
    struct arena *arena;
    const struct import_file *file;
    struct chakra_trace *out;
    struct error *error;
    bool drop_missing;
    struct table texts;
    const char **text_rows;
    uint64_t *waits;              /* ids, by node */
    size_t *places;               /* [node]: byte at which it begins */
    struct protobuf_field inputs; /* of the present node; bytes NULL: none */
    uint32_t node_room, place_room, wait_room, text_room;
};

static bool bad_bytes(const struct reading *r, const uint8_t *at, const char *what)
{
    const size_t offset = (size_t)(at - (const uint8_t *)r->file->text);
    return error_set(r->error,
                     "%s: byte %zu: %s: it is no whole Chakra trace; write or copy it again",
                     r->file->path, offset, what);
}

bool chakra_bad(const struct chakra_trace *trace, const struct chakra_node *node,
                struct error *error, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return error_set(error, "%s: node %" PRIu64 " (%.40s): %s", trace->path, node->id, node->name,
                     sentence);
}

static bool same_text(const void *rows, uint32_t number, const void *key)
{
    return strcmp(((const char *const *)rows)[number], key) == 0;
}

/* A text of the file as messages can carry it; equal ones are kept once. */
static const char *keep_text(struct reading *r, const struct protobuf_field *field)
{
    char text[CHAKRA_NAME_MAX + 1];
    uint64_t hash = 0;
    size_t length = field->value < CHAKRA_NAME_MAX ? (size_t)field->value : CHAKRA_NAME_MAX;
    for (size_t i = 0; i < length; i++) {
        const uint8_t byte = field->bytes[i];
        text[i] = byte >= ' ' && byte <= '~' ? (char)byte : '?';
        hash = random_hash(hash, (uint64_t)text[i]);
    }
    text[length] = '\0';
    const uint32_t count = r->texts.count;
    const uint32_t row = table_number(&r->texts, r->arena, hash, same_text, r->text_rows, text);
    if (row == count) {
        LIST_ROOM(r->arena, r->text_rows, row, 1, r->text_room);
        r->text_rows[row] = arena_text(r->arena, text);
    }
    return r->text_rows[row];
}

struct chakra_attribute {
    char name[16]; /* cut: none that is read is longer */
    struct protobuf_field value;
    bool has_value;
};

static bool read_attribute(struct protobuf message, struct chakra_attribute *out,
                           struct protobuf *broken)
{
    struct protobuf_field field;
    *out = (struct chakra_attribute){.has_value = false};
    while (protobuf_next(&message, &field)) {
        if (field.number == ATTRIBUTE_NAME && field.wire == PROTOBUF_BYTES) {
            const size_t most = sizeof out->name - 1;
            const size_t length = field.value < most ? (size_t)field.value : most;
            memcpy(out->name, field.bytes, length);
            out->name[length] = '\0';
        } else if (field.number > 2 && field.number <= ATTRIBUTE_VALUE_LAST) {
            out->value = field;
            out->has_value = true;
        }
    }
    *broken = message;
    return message.problem == NULL;
}

static bool below_zero(struct protobuf_field field, uint64_t *out)
{
    switch ((int)field.number) { /* of the format */
    case ATTRIBUTE_SINT32:
    case ATTRIBUTE_SINT64: /* zigzag: odd ones are below zero */
        *out = field.value >> 1;
        return (field.value & 1) != 0;
    case ATTRIBUTE_SFIXED32:
        return (int32_t)(uint32_t)field.value < 0;
    default:
        return (int64_t)field.value < 0;
    }
}

/* A whole number from 0 on, whatever type of integer holds it. */
static bool take_count(const struct reading *r, const struct chakra_node *node,
                       const struct chakra_attribute *a, uint64_t *out)
{
    static const uint8_t integers[] = {ATTRIBUTE_INT32,   ATTRIBUTE_INT64,   ATTRIBUTE_UINT32,
                                       ATTRIBUTE_UINT64,  ATTRIBUTE_SINT32,  ATTRIBUTE_SINT64,
                                       ATTRIBUTE_FIXED32, ATTRIBUTE_FIXED64, ATTRIBUTE_SFIXED32,
                                       ATTRIBUTE_SFIXED64};
    bool integer = false;
    for (unsigned i = 0; i < sizeof integers; i++)
        integer = integer || (a->has_value && a->value.number == integers[i]);
    if (!integer || a->value.wire == PROTOBUF_BYTES)
        return chakra_bad(r->out, node, r->error,
                          "attribute %s is no integer; write it as int64_val", a->name);
    *out = a->value.value;
    if (below_zero(a->value, out))
        return chakra_bad(r->out, node, r->error, "attribute %s is below zero, or above 2^63 - 1",
                          a->name);
    return true;
}

static bool take_flag(const struct reading *r, const struct chakra_node *node,
                      const struct chakra_attribute *a, bool *out)
{
    if (!a->has_value || a->value.number != ATTRIBUTE_BOOL || a->value.wire != PROTOBUF_VARINT)
        return chakra_bad(r->out, node, r->error, "attribute %s is no bool; write it as bool_val",
                          a->name);
    *out = a->value.value != 0;
    return true;
}

static bool take_attribute(struct reading *r, struct chakra_node *node,
                           const struct chakra_attribute *a)
{
    const struct {
        const char *name;
        uint64_t *out;
    } counts[] = {{"num_ops", &node->num_ops},     {"tensor_size", &node->tensor_size},
                  {"comm_type", &node->comm_type}, {"comm_size", &node->comm_size},
                  {"comm_src", &node->comm_src},   {"comm_dst", &node->comm_dst},
                  {"comm_tag", &node->comm_tag}};
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (strcmp(a->name, counts[i].name) == 0)
            return take_count(r, node, a, counts[i].out);
    if (strcmp(a->name, "is_cpu_op") == 0)
        return take_flag(r, node, a, &node->is_cpu_op);
    if (strcmp(a->name, "pg_name") != 0)
        return true;
    if (!a->has_value || a->value.number != ATTRIBUTE_TEXT || a->value.wire != PROTOBUF_BYTES)
        return chakra_bad(r->out, node, r->error,
                          "attribute pg_name is no text; write it as string_val");
    if (a->value.value > CHAKRA_NAME_MAX)
        return chakra_bad(r->out, node, r->error, "pg_name has more than %d characters",
                          CHAKRA_NAME_MAX);
    node->pg_name = keep_text(r, &a->value);
    return true;
}

static bool keep_wait(struct reading *r, struct chakra_node *node, uint64_t id)
{
    if (r->out->wait_count == UINT32_MAX / 2)
        return chakra_bad(r->out, node, r->error, "the nodes wait for more than %u others",
                          UINT32_MAX / 2);
    LIST_ROOM(r->arena, r->waits, r->out->wait_count, 1, r->wait_room);
    r->waits[r->out->wait_count++] = id;
    node->wait_count++;
    return true;
}

/* Repeated numbers stand one by one, or packed into one field. */
static bool take_waits(struct reading *r, struct chakra_node *node,
                       const struct protobuf_field *field)
{
    uint64_t id;
    if (field->wire == PROTOBUF_VARINT)
        return keep_wait(r, node, field->value);
    struct protobuf packed = protobuf_within(field);
    while (protobuf_varint(&packed, &id))
        if (!keep_wait(r, node, id))
            return false;
    return packed.problem == NULL || bad_bytes(r, packed.at, packed.problem);
}

static bool take_field(struct reading *r, struct chakra_node *node,
                       const struct protobuf_field *field)
{
    const bool number = field->wire == PROTOBUF_VARINT, bytes = field->wire == PROTOBUF_BYTES;
    struct chakra_attribute attribute;
    struct protobuf broken;
    switch ((int)field->number) { /* of the format, or a later one */
    case NODE_ID:
        node->id = field->value;
        if (node->id > INT64_MAX)
            return chakra_bad(r->out, node, r->error, "its id is above 2^63 - 1");
        return number || chakra_bad(r->out, node, r->error, "its id is no number");
    case NODE_NAME:
        if (!bytes)
            return chakra_bad(r->out, node, r->error, "its name is no text");
        node->name = keep_text(r, field);
        return true;
    case NODE_TYPE:
        if (!number || field->value >= CHAKRA_TYPE_COUNT)
            return chakra_bad(r->out, node, r->error,
                              "type %" PRIu64 " is none of Chakra's (0 to %d)", field->value,
                              CHAKRA_TYPE_COUNT - 1);
        node->type = (enum chakra_type)field->value;
        return true;
    case NODE_CTRL_DEPS:
    case NODE_DATA_DEPS:
        return number || bytes
                   ? take_waits(r, node, field)
                   : chakra_bad(r->out, node, r->error, "what it waits for is no number");
    case NODE_DURATION:
        node->duration_us = field->value;
        return number || chakra_bad(r->out, node, r->error, "its duration is no number");
    case NODE_INPUTS:
        if (bytes)
            r->inputs = *field;
        return true;
    case NODE_ATTRIBUTE:
        if (!bytes)
            return chakra_bad(r->out, node, r->error, "an attribute is no message");
        if (!read_attribute(protobuf_within(field), &attribute, &broken))
            return bad_bytes(r, broken.at, broken.problem);
        return take_attribute(r, node, &attribute);
    default:
        return true;
    }
}

/* The groups that a node's inputs tell of. */
static bool take_groups(struct reading *r, const struct chakra_node *node)
{
    struct protobuf_field field;
    if (r->inputs.bytes == NULL || strstr(node->name, CHAKRA_GROUPS_NODE) == NULL)
        return true;
    struct protobuf inputs = protobuf_within(&r->inputs);
    while (protobuf_next(&inputs, &field))
        if (field.number == INPUTS_VALUES && field.wire == PROTOBUF_BYTES)
            chakra_groups_read(r->arena, (const char *)field.bytes, (size_t)field.value,
                               &r->out->groups);
    return inputs.problem == NULL || bad_bytes(r, inputs.at, inputs.problem);
}

static bool take_node(struct reading *r, struct protobuf message)
{
    struct chakra_trace *out = r->out;
    const size_t place = (size_t)(message.at - (const uint8_t *)r->file->text);
    struct chakra_node node = {
        .name = "",
        .pg_name = "",
        .num_ops = CHAKRA_UNTOLD,
        .tensor_size = CHAKRA_UNTOLD,
        .comm_type = CHAKRA_UNTOLD,
        .comm_size = CHAKRA_UNTOLD,
        .comm_src = CHAKRA_UNTOLD,
        .comm_dst = CHAKRA_UNTOLD,
        .wait_first = out->wait_count,
    };
    struct protobuf_field field;
    r->inputs.bytes = NULL;
    while (protobuf_next(&message, &field))
        if (!take_field(r, &node, &field))
            return false;
    if (message.problem != NULL)
        return bad_bytes(r, message.at, message.problem);
    if (!take_groups(r, &node))
        return false;
    if (out->node_count == CHAKRA_NODES_MAX)
        return error_set(r->error, "%s: more than %d nodes; cut the trace to one step",
                         r->file->path, CHAKRA_NODES_MAX);
    LIST_ROOM(r->arena, out->nodes, out->node_count, 1, r->node_room);
    LIST_ROOM(r->arena, r->places, out->node_count, 1, r->place_room);
    out->nodes[out->node_count] = node;
    r->places[out->node_count++] = place;
    return true;
}

static bool take_metadata(struct reading *r, struct protobuf message)
{
    struct protobuf_field field;
    r->out->version = "";
    while (protobuf_next(&message, &field)) {
        if (field.number != METADATA_VERSION)
            continue;
        if (field.wire != PROTOBUF_BYTES)
            return error_set(r->error,
                             "%s: the first message is a node; a trace of Chakra begins with "
                             "GlobalMetadata (version 0.0.4 and later): convert it again",
                             r->file->path);
        r->out->version = keep_text(r, &field);
    }
    if (message.problem != NULL)
        return bad_bytes(r, message.at, message.problem);
    const char *version = r->out->version;
    if (*version != '\0' && strcmp(version, "0.0.4") != 0 && strncmp(version, "1.", 2) != 0)
        return error_set(r->error,
                         "%s: version %.40s of Chakra's schema; 0.0.4 and 1.x are read: convert "
                         "the trace again",
                         r->file->path, version);
    return true;
}

static bool read_messages(struct reading *r)
{
    const uint8_t *start = (const uint8_t *)r->file->text;
    struct protobuf left = {.at = start, .end = start + r->file->bytes};
    uint64_t length;
    for (bool first = true; protobuf_varint(&left, &length); first = false) {
        if (length > (uint64_t)(left.end - left.at))
            return bad_bytes(r, left.at, "a message is longer than the rest of the file");
        const struct protobuf message = {.at = left.at, .end = left.at + length};
        left.at += length;
        if (first ? !take_metadata(r, message) : length > 0 && !take_node(r, message))
            return false;
        if (!first && length == 0 && left.at < left.end)
            return bad_bytes(r, left.at, "an empty message ends the trace, and more follows");
    }
    return left.problem == NULL || bad_bytes(r, left.at, left.problem);
}

struct numbered {
    uint64_t id;
    uint32_t row;
};

static int compare_ids(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static const struct numbered *find_id(const struct numbered *rows, uint32_t count, uint64_t id)
{
    return bsearch(&(struct numbered){.id = id}, rows, count, sizeof *rows, compare_ids);
}

/* Those of one node, behind those of the nodes before it. */
static bool find_waits(struct reading *r, const struct numbered *order, struct chakra_node *node)
{
    struct chakra_trace *out = r->out;
    const uint32_t first = node->wait_first, end = first + node->wait_count;
    node->wait_first = out->wait_count;
    for (uint32_t w = first; w < end; w++) {
        const struct numbered *other = find_id(order, out->node_count, r->waits[w]);
        if (other == NULL && !r->drop_missing)
            return chakra_bad(r->out, node, r->error,
                              "waits for node %" PRIu64 ", which is not in the file; take the "
                              "whole trace, or drop such dependencies (--drop-missing)",
                              r->waits[w]);
        if (other == NULL)
            out->dropped++;
        else
            out->waits[out->wait_count++] = (uint32_t)(other - order);
    }
    node->wait_count = out->wait_count - node->wait_first;
    return true;
}

/* Nodes in the order of their ids, waits as rows of them. */
static bool sort_nodes(struct reading *r, struct numbered *order)
{
    struct chakra_trace *out = r->out;
    const struct chakra_node *read = out->nodes;
    struct chakra_node *sorted = ARENA_ARRAY(r->arena, struct chakra_node, out->node_count);
    for (uint32_t n = 0; n < out->node_count; n++)
        order[n] = (struct numbered){read[n].id, n};
    qsort(order, out->node_count, sizeof *order, compare_ids);
    for (uint32_t n = 1; n < out->node_count; n++)
        if (order[n].id == order[n - 1].id)
            return chakra_bad(r->out, &read[order[n].row], r->error,
                              "its id is also that of the node at byte %zu; ids must differ",
                              r->places[order[n - 1].row]);
    out->waits = ARENA_ARRAY(r->arena, uint32_t, out->wait_count);
    out->wait_count = 0;
    for (uint32_t n = 0; n < out->node_count; n++) {
        sorted[n] = read[order[n].row];
        if (!find_waits(r, order, &sorted[n]))
            return false;
    }
    out->nodes = sorted;
    return true;
}

bool chakra_read(struct arena *arena, struct import_file file, bool drop_missing,
                 struct chakra_trace *out, struct error *error)
{
    const uint8_t *bytes = (const uint8_t *)file.text;
    struct reading r = {
        .arena = arena, .file = &file, .out = out, .error = error, .drop_missing = drop_missing};
    *out = (struct chakra_trace){.path = file.path};
    if (file.bytes == 0)
        return error_set(error, "%s: is empty; a trace of Chakra has a node at least", file.path);
    if (file.bytes >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return error_set(error, "%s: is compressed: gunzip it first", file.path);
    if (!read_messages(&r))
        return false;
    if (out->node_count == 0)
        return error_set(error, "%s: has no nodes; a trace of Chakra has one at least", file.path);
    struct arena *scratch = arena_create();
    const bool good = sort_nodes(&r, ARENA_ARRAY(scratch, struct numbered, out->node_count));
    arena_destroy(scratch);
    return good;
}
