/* import_arguments.h - what a line of `orrery import` says. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_ARGUMENTS_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_ARGUMENTS_H

#include "analysis/command/line/arguments.h"
#include "analysis/command/line/message_arguments.h"

/* NULL, 0: not said. */
struct import_arguments {
    struct arguments line;
    const char *output, *op;
    const char *config; /* of a run that was logged */
    bool row;           /* of a table of measured steps */
    /* Beside the file, of a training that it does not describe whole. */
    const char *model, *system;
    struct import_card {
        const char *gpu, *catalogue;
        bool other_card;
    } card;
    uint64_t gpus_per_node;
    struct option_list sets; /* variables of a script */
    struct import_watch {    /* of a cluster whose failures were logged */
        uint64_t gpus;
        const char *start, *end; /* moments of the calendar */
        double merge_s;
        const char *host; /* of a log that names none */
    } watch;
    struct message_arguments messages;
};

#endif
