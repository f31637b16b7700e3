/* iteration_row.h - what the readers of training logs share. */
#ifndef ORRERY_SCENARIOS_IMPORT_ITERATIONS_ITERATION_ROW_H
#define ORRERY_SCENARIOS_IMPORT_ITERATIONS_ITERATION_ROW_H

#include "scenarios/import/iterations/iteration.h"
#include "scenarios/import/reader/import_text.h"

enum {
    ITERATION_NO_RANK = -1
};
/* A line, or what stands between two carriage returns. */
struct iteration_line {
    const char *text;
    int64_t rank; /* that a launcher put before it; ITERATION_NO_RANK: none */
    double at_s;  /* NAN: no stamp */
    bool dated;   /* the stamp is a date, not plain seconds */
};
struct iteration_reading {
    struct import_text text;
    const struct import_file *file; /* cleaned */
    struct iteration_log *out;
    int64_t rank;                     /* of the last row */
    bool loads;                       /* since the last row */
    double loaded;                    /* NAN: not told */
    double waits_s[ITERATION_PAUSES]; /* since the last row */
    struct {                          /* of MLPerf's events */
        double batch, evaluation_since_s, block_since_s, block_pause_s, block_number;
        uint64_t counted;
        bool begun;
    } mllog;
};
/* A row as a format sees it. */
struct iteration_seen {
    double number;
    double step_s, tokens_per_s_per_gpu, batch; /* NAN: not told */
};
/* Adds a row, or leaves out one that stands twice. False with a sentence: no number of an
 * iteration, no time, too many rows. */
bool iteration_row_see(struct iteration_reading *r, const struct iteration_line *line,
                       const struct iteration_seen *seen);
/* A pause since the last row; one of no length, or that is no number, is left out. */
void iteration_row_wait(struct iteration_reading *r, enum iteration_pause pause, double seconds);
/* States were loaded; `number`: of that iteration, NAN: not told. */
void iteration_row_load(struct iteration_reading *r, double number);

/* Reads rank and stamp of a line's head. */
struct iteration_line iteration_line_of(const char *text);
/* Behind `key`, blanks, and a colon or an equals sign with blanks, or NULL. */
const char *iteration_line_after(const char *text, const char *key);
/* The decimal number that `at` begins with, after blanks, with commas between its digits or not.
 * NAN: none, also of NULL. */
double iteration_line_number(const char *at);

#endif
