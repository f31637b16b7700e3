#include "analysis/exchange/traces/protobuf_write.h"

#include <string.h>

#include "sim/list.h"

enum {
    WIRE_VARINT = 0,
    WIRE_BYTES = 2,
    VARINT_MAX = 10 /* bytes of 64 bits, seven in each */
};

static unsigned encode(uint64_t value, uint8_t out[VARINT_MAX])
{
    unsigned count = 0;
    for (; value >= 0x80; value >>= 7)
        out[count++] = (uint8_t)(value | 0x80);
    out[count++] = (uint8_t)value;
    return count;
}

static void append(struct protobuf_write *w, const void *bytes, size_t count)
{
    CHECK(count <= UINT32_MAX / 2 - w->count);
    if (count == 0)
        return;
    LIST_ROOM(w->arena, w->bytes, w->count, (uint32_t)count, w->room);
    memcpy(&w->bytes[w->count], bytes, count);
    w->count += (uint32_t)count;
}

void protobuf_write_clear(struct protobuf_write *w)
{
    w->count = 0;
}

void protobuf_write_varint(struct protobuf_write *w, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];
    append(w, bytes, encode(value, bytes));
}

static void write_tag(struct protobuf_write *w, unsigned field, unsigned wire)
{
    protobuf_write_varint(w, (uint64_t)field << 3 | wire);
}

void protobuf_write_number(struct protobuf_write *w, unsigned field, uint64_t value)
{
    write_tag(w, field, WIRE_VARINT);
    protobuf_write_varint(w, value);
}

void protobuf_write_bytes(struct protobuf_write *w, unsigned field, const void *bytes, size_t count)
{
    write_tag(w, field, WIRE_BYTES);
    protobuf_write_varint(w, count);
    append(w, bytes, count);
}

void protobuf_write_text(struct protobuf_write *w, unsigned field, const char *text)
{
    protobuf_write_bytes(w, field, text, strlen(text));
}

void protobuf_write_message(struct protobuf_write *w, unsigned field,
                            const struct protobuf_write *message)
{
    protobuf_write_bytes(w, field, message->bytes, message->count);
}

void protobuf_write_out(const struct protobuf_write *w, FILE *out)
{
    uint8_t length[VARINT_MAX];
    fwrite(length, 1, encode(w->count, length), out);
    fwrite(w->bytes, 1, w->count, out);
}
