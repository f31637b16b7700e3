#include "scenarios/import/reader/protobuf.h"

enum {
    VARINT_BYTES_MAX = 10,
    NUMBER_MAX = (1 << 29) - 1
};

static bool stop(struct protobuf *message, const char *problem)
{
    message->problem = problem;
    return false;
}

bool protobuf_varint(struct protobuf *message, uint64_t *out)
{
    const uint8_t *at = message->at;
    uint64_t value = 0;
    if (message->problem != NULL || at == message->end)
        return false;
    for (unsigned i = 0; i < VARINT_BYTES_MAX; i++) {
        if (at == message->end)
            return stop(message, "a number is cut off");
        const uint8_t byte = *at++;
        if (i == VARINT_BYTES_MAX - 1 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            message->at = at;
            *out = value;
            return true;
        }
    }
    return stop(message, "a number has more than 64 bits");
}

static bool read_fixed(struct protobuf *message, unsigned bytes, uint64_t *out)
{
    *out = 0;
    if ((size_t)(message->end - message->at) < bytes)
        return stop(message, "a number is cut off");
    for (unsigned i = 0; i < bytes; i++)
        *out |= (uint64_t)message->at[i] << (8 * i);
    message->at += bytes;
    return true;
}

static bool read_bytes(struct protobuf *message, struct protobuf_field *out)
{
    if (message->at == message->end || !protobuf_varint(message, &out->value))
        return message->problem == NULL ? stop(message, "a length is missing") : false;
    if (out->value > (uint64_t)(message->end - message->at))
        return stop(message, "a field is longer than what is left");
    out->bytes = message->at;
    message->at += out->value;
    return true;
}

bool protobuf_next(struct protobuf *message, struct protobuf_field *out)
{
    uint64_t key;
    if (!protobuf_varint(message, &key))
        return false;
    if (key >> 3 == 0 || key >> 3 > NUMBER_MAX)
        return stop(message, "the number of a field is out of range");
    *out = (struct protobuf_field){.number = (uint32_t)(key >> 3),
                                   .wire = (enum protobuf_wire)(key & 7)};
    switch ((enum protobuf_wire)(key & 7)) {
    case PROTOBUF_VARINT:
        return protobuf_varint(message, &out->value) ||
               (message->problem == NULL && stop(message, "a number is missing"));
    case PROTOBUF_FIXED64:
        return read_fixed(message, 8, &out->value);
    case PROTOBUF_FIXED32:
        return read_fixed(message, 4, &out->value);
    case PROTOBUF_BYTES:
        return read_bytes(message, out);
    }
    return stop(message, "a field has no kind that is in use");
}

struct protobuf protobuf_within(const struct protobuf_field *field)
{
    return (struct protobuf){.at = field->bytes, .end = field->bytes + field->value};
}
