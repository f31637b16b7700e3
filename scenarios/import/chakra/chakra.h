/* chakra.h - one rank's Chakra execution trace, as plain data (mlcommons/chakra
 * schema/protobuf/et_def.proto; messages behind each other, each after its length as a varint:
 * src/third_party/utils/protolib.py).
 *
 * The first message is GlobalMetadata, the others are nodes: an id, a name, a type, nodes that it
 * waits for (ctrl_deps and data_deps alike), a duration, attributes. Read are those that say what a
 * node does, and the process groups (chakra_groups.h); others (inputs, shapes, streams) are
 * skipped. Nodes come out in the order of their ids, each with its waits as rows. What is cut, of
 * another format or version, has an id twice, waits for what is not there or gives an attribute a
 * value that cannot be, is refused with file, byte or node. It knows no other rank. */
#ifndef ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_H
#define ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_H

#include "scenarios/import/chakra/chakra_groups.h"
#include "scenarios/import/reader/import_text.h"

enum {
    CHAKRA_NODES_MAX = 1 << 24, /* of one rank, and of all together */
    CHAKRA_NAME_MAX = 120       /* characters that are kept of a name */
};
#define CHAKRA_UNTOLD UINT64_MAX

enum chakra_type { /* as the schema numbers them */
    CHAKRA_INVALID = 0,
    CHAKRA_METADATA = 1,
    CHAKRA_MEM_LOAD = 2,
    CHAKRA_MEM_STORE = 3,
    CHAKRA_COMP = 4,
    CHAKRA_SEND = 5,
    CHAKRA_RECV = 6,
    CHAKRA_COLL = 7,
    CHAKRA_STORAGE = 8,
    CHAKRA_BATCH = 9,
    CHAKRA_CHECKPOINT = 10,
    CHAKRA_TYPE_COUNT
};
extern const char *const chakra_type_names[CHAKRA_TYPE_COUNT];

struct chakra_node {
    uint64_t id;
    const char *name;    /* printable ASCII, others as '?'; cut */
    const char *pg_name; /* the same; "": not told */
    enum chakra_type type;
    uint32_t wait_first, wait_count; /* rows of waits */
    uint64_t duration_us;
    bool is_cpu_op;
    uint64_t num_ops, tensor_size, comm_type, comm_size, comm_src, comm_dst; /* or UNTOLD */
    uint64_t comm_tag;                                                       /* 0: not told */
};
struct chakra_trace {
    const char *path;
    const char *version; /* "": not told */
    struct chakra_node *nodes;
    uint32_t *waits; /* rows of nodes */
    uint32_t node_count, wait_count;
    struct chakra_group_list groups; /* that it tells of */
    uint32_t dropped;                /* waits for nodes that are not there, left out */
};
struct chakra_job {
    const struct chakra_trace *traces; /* by rank */
    uint32_t rank_count;
};
/* `drop_missing`: a wait for a node that is not in the file is left out and counted, as in traces
 * that a converter cut holes into; else it is refused. The bytes may go: texts are copied
 * into the arena. False with a sentence. */
bool chakra_read(struct arena *arena, struct import_file file, bool drop_missing,
                 struct chakra_trace *out, struct error *error);
/* "FILE: node 17 (name): sentence": sets the error and returns false. */
__attribute__((format(printf, 4, 5))) bool chakra_bad(const struct chakra_trace *trace,
                                                      const struct chakra_node *node,
                                                      struct error *error, const char *format, ...);

#endif
