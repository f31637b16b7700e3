/* mllog_case.h - a result log of MLPerf Training that a test writes line by line, and what is read
 * from it. One log at a time. */
#ifndef ORRERY_TESTS_SCENARIOS_IMPORT_MLLOG_CASE_H
#define ORRERY_TESTS_SCENARIOS_IMPORT_MLLOG_CASE_H

#include "scenarios/import/mllog/mllog.h"

struct mllog_case {
    struct arena *arena;
    char text[1 << 14]; /* the log as written so far */
    struct mllog log;
    struct mllog_step steps[MLLOG_SOURCES];
};
extern struct mllog_case mllog_case;
/* Set-up and tear-down of a test: the arena. */
int mllog_case_begin(void **state);
int mllog_case_end(void **state);
/* An event `at_s` after the beginning; value and metadata as JSON. */
void mllog_case_event(double at_s, const char *key, const char *value, const char *metadata);
void mllog_case_line(const char *line);
/* A run that begins after 300 s: init_start at 0, init_stop and run_start at 300. Eight lines. */
void mllog_case_begin_run(const char *benchmark, const char *batch);
/* The log and its steps, of a file "result.txt". */
bool mllog_case_read(struct error *error);
/* Fails the test unless it is read. */
void mllog_case_sound(void);
/* Fails the test unless it is refused with these words. */
void mllog_case_refused(const char *why);
/* Fails the test unless the source tells this step by so many values. */
void mllog_case_step_is(enum mllog_source source, double step_s, unsigned samples);

#endif
