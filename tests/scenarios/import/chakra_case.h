/* chakra_case.h - writes Chakra execution traces for tests: the wire format by hand, so that it
 * can also be written wrongly. */
#ifndef ORRERY_TESTS_CHAKRA_CASE_H
#define ORRERY_TESTS_CHAKRA_CASE_H

#include "scenarios/import/chakra/chakra_tasks.h"

enum {
    CHAKRA_CASE_BYTES = 1 << 16
};
struct chakra_case { /* all zero: nothing is written yet */
    uint8_t bytes[CHAKRA_CASE_BYTES], message[4096];
    size_t count, message_count;
};
void chakra_case_varint(struct chakra_case *c, uint64_t value); /* into the present message */
void chakra_case_number(struct chakra_case *c, unsigned field, uint64_t value);
void chakra_case_text(struct chakra_case *c, unsigned field, const char *text);
void chakra_case_write(struct chakra_case *c); /* its length, the message; then it is empty */
void chakra_case_metadata(struct chakra_case *c, const char *version); /* written */
/* A node is written when the next begins, or by chakra_case_write. */
void chakra_case_node(struct chakra_case *c, uint64_t id, enum chakra_type type,
                      uint64_t duration_us);
void chakra_case_wait(struct chakra_case *c, uint64_t id);                      /* data_deps */
void chakra_case_count(struct chakra_case *c, const char *name, int64_t value); /* int64_val */
/* The same as another integer of the schema: a varint, or `bytes` of fixed ones (4, 8). */
void chakra_case_integer(struct chakra_case *c, const char *name, unsigned field, uint64_t value);
void chakra_case_fixed(struct chakra_case *c, const char *name, unsigned field, unsigned bytes,
                       uint64_t value);
void chakra_case_flag(struct chakra_case *c, const char *name, bool value);
void chakra_case_word(struct chakra_case *c, const char *name, const char *value);
/* A collective of the schema's number among the ranks that name the group. */
void chakra_case_collective(struct chakra_case *c, uint64_t id, int64_t comm_type, int64_t bytes,
                            const char *pg_name);
/* SEND: to `other`; RECV: from it. */
void chakra_case_message(struct chakra_case *c, uint64_t id, enum chakra_type type, int64_t other,
                         int64_t bytes);

#endif
