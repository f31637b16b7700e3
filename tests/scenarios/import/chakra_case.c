#include "tests/scenarios/import/chakra_case.h"

#include <string.h>

#include "sim/check.h"

static void put(struct chakra_case *c, uint8_t byte)
{
    CHECK(c->message_count < sizeof c->message);
    c->message[c->message_count++] = byte;
}

void chakra_case_varint(struct chakra_case *c, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put(c, (uint8_t)(value | 0x80));
    put(c, (uint8_t)value);
}

void chakra_case_number(struct chakra_case *c, unsigned field, uint64_t value)
{
    chakra_case_varint(c, field << 3);
    chakra_case_varint(c, value);
}

void chakra_case_text(struct chakra_case *c, unsigned field, const char *text)
{
    chakra_case_varint(c, field << 3 | 2);
    chakra_case_varint(c, strlen(text));
    for (; *text != '\0'; text++)
        put(c, (uint8_t)*text);
}

void chakra_case_write(struct chakra_case *c)
{
    CHECK(c->count + c->message_count + 10 < sizeof c->bytes);
    size_t length = c->message_count;
    for (; length >= 0x80; length >>= 7)
        c->bytes[c->count++] = (uint8_t)(length | 0x80);
    c->bytes[c->count++] = (uint8_t)length;
    memcpy(c->bytes + c->count, c->message, c->message_count);
    c->count += c->message_count;
    c->message_count = 0;
}

void chakra_case_metadata(struct chakra_case *c, const char *version)
{
    if (version != NULL)
        chakra_case_text(c, 1, version);
    chakra_case_write(c);
}

void chakra_case_node(struct chakra_case *c, uint64_t id, enum chakra_type type,
                      uint64_t duration_us)
{
    if (c->count == 0)
        chakra_case_metadata(c, "0.0.4");
    if (c->message_count > 0)
        chakra_case_write(c);
    chakra_case_number(c, 1, id);
    chakra_case_text(c, 2, "node");
    chakra_case_number(c, 3, (uint64_t)type);
    if (duration_us > 0)
        chakra_case_number(c, 7, duration_us);
}

void chakra_case_wait(struct chakra_case *c, uint64_t id)
{
    chakra_case_number(c, 5, id);
}

static void put_attribute(struct chakra_case *c, const struct chakra_case *inner)
{
    chakra_case_varint(c, 10 << 3 | 2);
    chakra_case_varint(c, inner->message_count);
    for (size_t i = 0; i < inner->message_count; i++)
        put(c, inner->message[i]);
}

void chakra_case_integer(struct chakra_case *c, const char *name, unsigned field, uint64_t value)
{
    struct chakra_case inner = {.count = 0};
    chakra_case_text(&inner, 1, name);
    chakra_case_number(&inner, field, value);
    put_attribute(c, &inner);
}

void chakra_case_fixed(struct chakra_case *c, const char *name, unsigned field, unsigned bytes,
                       uint64_t value)
{
    struct chakra_case inner = {.count = 0};
    chakra_case_text(&inner, 1, name);
    chakra_case_varint(&inner, field << 3 | (bytes == 8 ? 1 : 5));
    for (unsigned i = 0; i < bytes; i++)
        put(&inner, (uint8_t)(value >> 8 * i));
    put_attribute(c, &inner);
}

void chakra_case_count(struct chakra_case *c, const char *name, int64_t value)
{
    chakra_case_integer(c, name, 9, (uint64_t)value);
}

void chakra_case_flag(struct chakra_case *c, const char *name, bool value)
{
    chakra_case_integer(c, name, 27, value);
}

void chakra_case_word(struct chakra_case *c, const char *name, const char *value)
{
    struct chakra_case inner = {.count = 0};
    chakra_case_text(&inner, 1, name);
    chakra_case_text(&inner, 29, value);
    put_attribute(c, &inner);
}

void chakra_case_collective(struct chakra_case *c, uint64_t id, int64_t comm_type, int64_t bytes,
                            const char *pg_name)
{
    chakra_case_node(c, id, CHAKRA_COLL, 0);
    chakra_case_count(c, "comm_type", comm_type);
    chakra_case_count(c, "comm_size", bytes);
    if (pg_name != NULL)
        chakra_case_word(c, "pg_name", pg_name);
}

void chakra_case_message(struct chakra_case *c, uint64_t id, enum chakra_type type, int64_t other,
                         int64_t bytes)
{
    chakra_case_node(c, id, type, 0);
    chakra_case_count(c, type == CHAKRA_SEND ? "comm_dst" : "comm_src", other);
    chakra_case_count(c, "comm_size", bytes);
}
