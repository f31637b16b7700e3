/* comm_op.h - the operations that ranks carry out together: collectives, messages, the exchange of
 * keys and values round a ring, and that of rows of tokens with their experts by relays. */
#ifndef ORRERY_MODELS_COLLECTIVE_COMM_OP_H
#define ORRERY_MODELS_COLLECTIVE_COMM_OP_H

enum comm_op {
    COMM_ALL_REDUCE,
    COMM_ALL_GATHER,
    COMM_REDUCE_SCATTER,
    COMM_BROADCAST,
    COMM_ALL_TO_ALL,
    COMM_SEND,
    COMM_RING_EXCHANGE,
    COMM_EXPERT_EXCHANGE
};
extern const char *const comm_op_names[]; /* NULL-ended: all_reduce, all_gather, ... */

#endif
