/* store_file.h - the file under a results database that is being written: its names, who holds it,
 * and how it comes under its final name. It knows no SQL. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_STORE_FILE_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_STORE_FILE_H

#include <stdbool.h>

#include "sim/error.h"

enum {
    STORE_PAGE_BYTES = 8192,
    STORE_PATH_MAX = 4096
};
struct store_file {
    int lock_fd;                  /* of `partial`; -1: not claimed */
    bool replaces;                /* something of ours stands under the final name */
    char path[STORE_PATH_MAX];    /* the final name */
    char partial[STORE_PATH_MAX]; /* while it is written */
    char whole[STORE_PATH_MAX];   /* a copy on its way to the final name */
};
/* Takes the partial file for this process, making it when there is none. Refuses to take the place
 * of a file that is not a results database of Orrery, to empty one beside it that no writer of
 * Orrery began, and a file that another process writes. */
bool store_file_claim(struct store_file *file, const char *path, struct error *error);
/* How much the claimed file holds; 0 when it was just made. */
double store_file_bytes(const struct store_file *file);
/* Empties it, and removes what a stopped writer left beside it. */
bool store_file_empty(struct store_file *file, struct error *error);
/* Puts `from` (the partial file or the copy) under the final name, durably. */
bool store_file_publish(struct store_file *file, const char *from, struct error *error);
/* Removes the partial file and what stands beside it. */
void store_file_remove(struct store_file *file);
void store_file_release(struct store_file *file); /* ends the claim; the files stay */

#endif
