/* event.h - the one enum that orders events of equal time across all players. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_EVENT_H
#define ORRERY_MODELS_STEP_SIMULATE_EVENT_H

enum event_rank {
    EVENT_FLOW_FINISH, /* network: the last byte of an activity has left its wires */
    EVENT_COMM_START,  /* network: the last member has arrived */
    EVENT_COMPUTE,     /* worker: a sensitive compute op starts or finishes */
    EVENT_SETTLE_NETWORK,
    EVENT_SETTLE_WORKER /* after the shares are solved: is anything still to come? */
};

#endif
