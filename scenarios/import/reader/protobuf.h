/* protobuf.h - the fields of a message in the wire format of Protocol Buffers, from bytes that
 * nobody checked (protobuf.dev/programming-guides/encoding).
 *
 * A message is cut into fields where it stands: a number, and a value that is a varint, 4 or 8
 * bytes little-endian, or a stretch of bytes (text, a message, packed numbers). Groups, numbers
 * outside 1 to 2^29 - 1, varints above 64 bits and stretches behind the end are problems, with
 * their place. It knows no schema and keeps nothing. */
#ifndef ORRERY_SCENARIOS_IMPORT_READER_PROTOBUF_H
#define ORRERY_SCENARIOS_IMPORT_READER_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum protobuf_wire {
    PROTOBUF_VARINT = 0,
    PROTOBUF_FIXED64 = 1,
    PROTOBUF_BYTES = 2,
    PROTOBUF_FIXED32 = 5
};
struct protobuf { /* what is left of a message */
    const uint8_t *at, *end;
    const char *problem; /* NULL, or why it cannot be read on at `at`: half a sentence */
};
struct protobuf_field {
    uint32_t number;
    enum protobuf_wire wire;
    uint64_t value;       /* of a varint or of fixed bytes; else how many bytes */
    const uint8_t *bytes; /* of PROTOBUF_BYTES */
};
/* The next varint; false at the end, and with a problem. */
bool protobuf_varint(struct protobuf *message, uint64_t *out);
/* The next field; false at the end, and with a problem. */
bool protobuf_next(struct protobuf *message, struct protobuf_field *out);
/* The message, or the packed numbers, that a field of bytes holds. */
struct protobuf protobuf_within(const struct protobuf_field *field);

#endif
