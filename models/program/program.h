/* program.h - what one rank does in one step: plain data, shared by all ranks that do the same.
 *
 * Ops stand in the order in which the host issues them. Each belongs to a stream; a stream is first
 * in, first out. An op starts when its stream is free, both of its waits have finished and the host
 * has launched it. An op is a stretch of kernels with no synchronisation inside; equal stretches
 * share one row of `costs`. Every communication stream of a rank belongs to one communicator (see
 * layout.h), so that the k-th op of a member on that stream meets the k-th op of the others.
 * Ledger entries (allocations, frees) hang on ops, in the order in which the software makes them.
 * Generators write programs, the worker plays them, exporters read them; no clock here. */
#ifndef ORRERY_MODELS_PROGRAM_PROGRAM_H
#define ORRERY_MODELS_PROGRAM_PROGRAM_H

#include <stdint.h>

#include "models/gpu/gpu.h"
#include "models/layout/stream.h"
#include "models/program/ledger_entry.h"
#include "models/workload/transformer.h"
#include "sim/arena.h"

enum op_kind {
    OP_COMPUTE,    /* kernels on STREAM_COMPUTE, copies on the other STREAMS_ALONE */
    OP_COLLECTIVE, /* joins its communicator's next collective */
    OP_SEND,       /* to the one peer of its stream; meets the peer's OP_RECV */
    OP_RECV
};

/* What a stretch of compute counts as in the breakdown of the step. */
enum phase {
    PHASE_FORWARD,
    PHASE_BACKWARD,
    PHASE_RECOMPUTE,
    PHASE_GRADIENTS,
    PHASE_OPTIMIZER,
    PHASE_PARAMETERS,
    PHASE_COUNT
};
extern const char *const phase_names[PHASE_COUNT];

enum op_flag {
    OP_HOST_SYNC = 1, /* the host waits until this op has finished before it issues the next */
    OP_SENSITIVE = 2, /* compute that may run beside interfering communication: see interference */
    OP_JOIN = 4,      /* compute that waits for transfers which ran beside the compute before it */
    OP_RUN = 8 /* compute that stands for the ops of whole blocks: its cost is a row of runs */
};
#define OP_NONE 0u

struct op { /* 32 bytes: hot */
    uint8_t kind, stream, phase, flags;
    uint32_t cost;    /* OP_COMPUTE: row of costs; communication: row of transfers */
    uint32_t wait[2]; /* index + 1 of an earlier op that must have finished; OP_NONE: none */
    uint32_t ledger;  /* first ledger entry of this op; they end where the next op's begin */
    uint16_t microbatch, layer; /* labels; UINT16_MAX: none */
    uint16_t name;              /* row of names */
    uint8_t chunk;
    uint8_t reserved;
    uint32_t host; /* row of hosts: host time before this op is launched */
};
_Static_assert(sizeof(struct op) == 32, "ops are the hot data of a step");

struct op_cost {
    double gpu_s;                        /* on the GPU, undisturbed */
    double peak_s;                       /* the same FLOPs at the dense peak */
    double flops;                        /* done by the hardware */
    double bytes;                        /* of HBM traffic */
    double flop_j, byte_j;               /* beside static power: struct gpu_work's */
    uint32_t kernel_first, kernel_count; /* rows of kernels, for --detail kernel */
};
struct op_kernel { /* one kernel inside an op */
    const char *name;
    double gpu_s, flops, bytes;
    enum kernel_evidence evidence; /* what gpu_s rests on */
    uint32_t shape;                /* struct kernel_time's */
};
struct transfer {
    enum comm_op op;
    /* Full buffer, as nccl-tests counts; a message for send and recv. 0: the members only meet, it
     * takes no time. */
    double bytes;
};
struct piece_list;
/* Pieces of neighbouring blocks played as one op: compute and the transfers that it waits for. It
 * begins with what its op waits for, and ends with a piece of compute that waited for all
 * transfers before it: only the compute stream carries anything out of it. */
struct run {
    const struct piece_list **lists; /* in their order; borrowed of the lowering's blocks */
    uint32_t list_count, last_rows;  /* of the last list so many rows from its start */
    uint64_t key;                    /* the same for the same pieces of one set of blocks */
    double host_s; /* host time of its pieces behind the launch of the first, which the op has */
};
struct run_rows {
    struct run *rows;
    uint32_t count;
};
/* Traffic that an OP_JOIN waits for: of tensor and of context parallelism. */
enum join_kind {
    JOIN_TENSOR,
    JOIN_CONTEXT,
    JOIN_COUNT
};
/* How compute and what runs beside it slow each other. */
struct interference {
    uint32_t streams; /* bit set of those whose activity slows sensitive compute */
    double ratio;     /* share of compute speed lost meanwhile, in [0, 1) */
    /* OP_JOIN takes this x the time that both ran longer, by the traffic beside; >= 0 */
    double join_ratio[JOIN_COUNT];
};
struct program {
    struct op *ops;
    struct op_cost *costs;
    struct op_kernel *kernels;
    struct transfer *transfers;
    double *hosts; /* seconds */
    const char **names;
    struct run_rows runs;        /* lower_runs alone writes any */
    struct ledger_entry *setup;  /* before the first step: weights, optimizer, communicators */
    struct ledger_entry *ledger; /* of the step, by op */
    uint32_t op_count, cost_count, kernel_count, transfer_count, host_count, name_count;
    uint32_t setup_count, ledger_count;
    uint32_t stage; /* pipeline stage, for labels */
    struct interference interference;
    double host_bytes; /* kept in the memory of the node's CPUs, at the fullest moment */
};

/* A writer's tool: grows arrays in `arena`, finds equal rows again. */
struct program_writer;
struct program_writer *program_begin(struct arena *arena, uint32_t stage);
/* Room for so many rows from the start: growing copies, and leaves the old rows in the arena. */
void program_reserve(struct program_writer *w, uint32_t ops, uint32_t ledger);
uint32_t program_cost(struct program_writer *w, const struct op_cost *cost,
                      const struct op_kernel *kernels, uint32_t kernel_count);
uint32_t program_transfer(struct program_writer *w, enum comm_op op, double bytes);
uint32_t program_host(struct program_writer *w, double seconds);
uint32_t program_name(struct program_writer *w, const char *name);     /* a literal */
uint32_t program_run(struct program_writer *w, const struct run *run); /* borrows its lists */
/* Appends; ledger entries given until the next op hang on it. Returns index + 1, fit for `wait`. */
uint32_t program_op(struct program_writer *w, struct op op);
void program_setup(struct program_writer *w, struct ledger_entry entry);
void program_ledger(struct program_writer *w, struct ledger_entry entry); /* on the last op */
struct program *program_end(struct program_writer *w);
/* NULL when the invariants hold, else one sentence: waits point back, rows exist, streams fit
 * kinds, every allocation of the step is freed in it, as it was made, or lives on by flag.
 * program_end CHECKs it for every program; for those with runs, of which a search writes thousands,
 * in checked builds. */
const char *program_problem(const struct program *program);

#endif
