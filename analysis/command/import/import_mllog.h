/* import_mllog.h - what `orrery import mllog` has read. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_MLLOG_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_MLLOG_H

#include "scenarios/import/mllog/mllog_layout.h"

struct mllog_measured {
    struct mllog log;
    struct mllog_step steps[MLLOG_SOURCES];
    double step_s;              /* of the first source that is there */
    const struct shell *config; /* NULL: none was given */
    struct mllog_layout layout;
};

#endif
