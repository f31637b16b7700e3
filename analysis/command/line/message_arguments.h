/* message_arguments.h - how messages of Chakra traces are taken: what both commands that read them
 * ask. */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_MESSAGE_ARGUMENTS_H
#define ORRERY_ANALYSIS_COMMAND_LINE_MESSAGE_ARGUMENTS_H

#include "analysis/command/line/option.h"

struct message_arguments {
    double eager_bytes; /* of a message that does not wait for its receiver; has_eager */
    bool has_eager, drop_missing;
};
#define OPTION_CHAKRA_ROWS(messages)                                                               \
    {"--eager",                                                                                    \
     OPTION_LIMIT,                                                                                 \
     FIELD_GIVEN(messages.eager_bytes, messages.has_eager),                                        \
     "BYTES",                                                                                      \
     NULL,                                                                                         \
     "messages of at most so many bytes do not wait for the receiver (4MiB, "                      \
     "NCCL's buffer; 0: all wait)"},                                                               \
    {                                                                                              \
        "--drop-missing", OPTION_FLAG, FIELD(messages.drop_missing), NULL, NULL,                   \
            "leave out and count dependencies on nodes that are not in the traces"                 \
    }

#endif
