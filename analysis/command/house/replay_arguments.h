/* replay_arguments.h - what a line of `orrery replay` says; a lesson that is shown states one. */
#ifndef ORRERY_ANALYSIS_COMMAND_HOUSE_REPLAY_ARGUMENTS_H
#define ORRERY_ANALYSIS_COMMAND_HOUSE_REPLAY_ARGUMENTS_H

#include "analysis/command/line/arguments.h"

struct replay_arguments {
    struct arguments line;
    const char *html; /* NULL: the page is served */
    uint64_t port;    /* 0: one that is free */
};

#endif
