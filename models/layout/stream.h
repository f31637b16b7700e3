/* stream.h - the streams of a GPU that a step uses: one for kernels, one for each kind of traffic.
 *
 * A stream is first in, first out. Programs name the stream of each op, the layout the communicator
 * that serves a stream of a rank. */
#ifndef ORRERY_MODELS_LAYOUT_STREAM_H
#define ORRERY_MODELS_LAYOUT_STREAM_H

enum stream {
    STREAM_COMPUTE,
    STREAM_TP,
    STREAM_CP,
    STREAM_EP,
    STREAM_DP,        /* gradients; parameters after the update */
    STREAM_GATHER,    /* parameters of ZeRO-3 and FSDP units */
    STREAM_REPLICATE, /* hsdp: gradients across the shard groups */
    STREAM_EMBED,     /* tied embedding: first and last stage */
    STREAM_WORLD,     /* gradient norm, over every rank that holds a part of the model */
    STREAM_SEND_NEXT, /* pipeline: each direction its own stream */
    STREAM_RECV_PREV,
    STREAM_SEND_PREV,
    STREAM_RECV_NEXT,
    STREAM_COPY,
    STREAM_EP_DATA,   /* gradients of experts, among the ranks that hold the same; parameters after
                         the   update */
    STREAM_EP_GATHER, /* parameters of experts of ZeRO-3 and FSDP units */
    STREAM_EP_REPLICATE, /* hsdp: gradients of experts across the shard groups */
    STREAM_TO_HOST,      /* copies of activations to the memory of the CPUs */
    STREAM_FROM_HOST,    /* ... and back */
    STREAM_CP_HEADS,     /* all_to_all_ring: heads, inside the groups that pass keys round */
    STREAM_COUNT
};
extern const char *const stream_names[STREAM_COUNT];
/* Streams of one card alone: what runs on them meets no other rank. */
#define STREAMS_ALONE                                                                              \
    (1u << STREAM_COMPUTE | 1u << STREAM_COPY | 1u << STREAM_TO_HOST | 1u << STREAM_FROM_HOST)
/* Of them, those that the card's own speed has no part in. */
#define STREAMS_OF_HOST (1u << STREAM_TO_HOST | 1u << STREAM_FROM_HOST)
/* What blocks of layers send inside a pass. */
#define STREAMS_OF_BLOCKS                                                                          \
    (1u << STREAM_TP | 1u << STREAM_CP | 1u << STREAM_EP | 1u << STREAM_CP_HEADS)
/* Gathers and reductions of weights and gradients: of one rank they share its wires. */
#define STREAMS_OF_WEIGHTS                                                                         \
    (1u << STREAM_DP | 1u << STREAM_GATHER | 1u << STREAM_EP_DATA | 1u << STREAM_EP_GATHER)

#endif
