/* export_arguments.h - what a line of `orrery export` says. */
#ifndef ORRERY_ANALYSIS_COMMAND_EXCHANGE_EXPORT_ARGUMENTS_H
#define ORRERY_ANALYSIS_COMMAND_EXCHANGE_EXPORT_ARGUMENTS_H

#include "analysis/command/line/load.h"
#include "analysis/exchange/export/picture.h"

enum export_format {
#define X(name, doc) EXPORT_##name,
#include "analysis/command/exchange/format_list.h"
#undef X
};
struct export_arguments {
    struct arguments line;
    enum export_format format;
    enum picture picture;
    int launch; /* of launch_kinds */
    struct scenario_arguments scenario;
    const char *table, *output; /* NULL: not said */
    uint64_t rank;
    bool has_picture, has_launch, has_rank, json;
};

#endif
