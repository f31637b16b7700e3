/* sample.h - a small results database made by hand: two stages of two ranks, three slices, a memory
 * curve. For the tests of store, query and exports; it needs no simulation. */
#ifndef ORRERY_TESTS_ANALYSIS_SAMPLE_H
#define ORRERY_TESTS_ANALYSIS_SAMPLE_H

#include "analysis/record/database/store.h"

/* A fresh folder below $TMPDIR; sample_path names a file in it (valid until the next call). */
void sample_folder(char *folder, unsigned size);
void sample_remove(const char *folder);
/* A name in the folder whose path has so many characters: most of them are slashes. */
void sample_long_path(const char *folder, char *path, unsigned length);
void sample_rows(struct store *store);
/* Writes the sample to `path`, complete. */
void sample_database(const char *path);
/* State of a test: a fresh folder with the sample in `path`; for cmocka. */
struct sample_place {
    char folder[256], path[300];
};
int sample_set_up(void **state);
int sample_tear_down(void **state);
/* Runs SQL on the file as anyone with an SQLite could. */
void sample_tamper(const char *path, const char *sql);
/* First column of the first row, as text ("" for null). */
void sample_ask(const char *path, const char *sql, char *answer, unsigned size);

#endif
