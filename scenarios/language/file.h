/* file.h - reads a whole small file that a user named, and refuses what is none. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_FILE_H
#define ORRERY_SCENARIOS_LANGUAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/arena.h"
#include "sim/error.h"

struct file_text {
    char *text; /* NUL-ended, owned by the arena */
    size_t bytes;
};
/* At most `limit` + 1 bytes are read, so that the caller can see that there were more. With
 * `regular` a pipe or a device is refused without being opened for reading; without it, "-" is
 * standard input. */
bool file_read(struct arena *arena, const char *path, size_t limit, bool regular,
               struct file_text *out, struct error *error);
/* Writes "BEFOREPATH: why", with why from errno, and returns false. Of a file that is not there the
 * message goes on with files of its name in the folders next to where it should be: "a/x.yaml: No
 * such file or directory; a/weeks/x.yaml has that name". `before` may be "". */
bool file_unreadable(struct error *error, const char *before, const char *path);
/* Hash of the bytes of an ordinary file of at most 256 MiB, which is read once for it: equal bytes,
 * equal hash. 0 where there is no such file: whoever reads it tells why. */
uint64_t file_contents(const char *path);
/* Can this file be opened for reading: is it there, no folder, and allowed? "-" can. A command
 * whose reader failed asks it, to tell a file that is not there from one with something wrong in
 * it. */
bool file_opens(const char *path);
/* `path` as seen from the folder of `beside`; absolute paths stay. */
const char *file_beside(struct arena *arena, const char *beside, const char *path);
/* "scenarios/llama.yaml" -> "llama". */
const char *file_stem(struct arena *arena, const char *path);

#endif
