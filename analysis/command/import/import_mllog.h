/* import_mllog.h - what `orrery import mllog` has read. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_MLLOG_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_MLLOG_H

#include "analysis/command/import/importing.h"
#include "scenarios/import/mllog/mllog_layout.h"

struct mllog_measured {
    struct mllog log;
    struct mllog_step steps[MLLOG_SOURCES];
    double step_s;              /* of the first source that is there */
    const struct shell *config; /* NULL: none was given */
    struct mllog_layout layout;
};
/* Prints it as a header and a row of the columns of tests/validation/steps.csv. An exit code. */
int import_mllog_row(const struct importing *i, const struct mllog_measured *m);

#endif
