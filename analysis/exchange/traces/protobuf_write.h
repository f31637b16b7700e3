/* protobuf_write.h - a message in the wire format of Protocol Buffers, field by field
 * (protobuf.dev/programming-guides/encoding); scenarios/import/reader/protobuf.h reads it.
 *
 * A writer holds one message. A message inside another is written on its own and then put in as
 * bytes. Rows of the arena are borrowed; protobuf_write_clear keeps them for the next message. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_TRACES_PROTOBUF_WRITE_H
#define ORRERY_ANALYSIS_EXCHANGE_TRACES_PROTOBUF_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/arena.h"

struct protobuf_write {
    struct arena *arena;
    uint8_t *bytes;
    uint32_t count, room;
};
void protobuf_write_clear(struct protobuf_write *w);
/* Without a tag: an element of a packed field. */
void protobuf_write_varint(struct protobuf_write *w, uint64_t value);
/* A field of an integer type other than sint and fixed, of a bool or of an enum. */
void protobuf_write_number(struct protobuf_write *w, unsigned field, uint64_t value);
/* A field of text, bytes, a message or packed elements. */
void protobuf_write_bytes(struct protobuf_write *w, unsigned field, const void *bytes,
                          size_t count);
void protobuf_write_text(struct protobuf_write *w, unsigned field, const char *text);
void protobuf_write_message(struct protobuf_write *w, unsigned field,
                            const struct protobuf_write *message);
/* The message behind its length, a varint. Errors of `out` stay in it. */
void protobuf_write_out(const struct protobuf_write *w, FILE *out);

#endif
