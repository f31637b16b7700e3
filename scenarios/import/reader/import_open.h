/* import_open.h - a whole file of another program, unpacked where gzip has packed it.
 *
 * torch.profiler writes .json.gz where it is asked to, and logs are rotated into .gz. What other
 * packers have packed is refused with the command that unpacks it. */
#ifndef ORRERY_SCENARIOS_IMPORT_READER_IMPORT_OPEN_H
#define ORRERY_SCENARIOS_IMPORT_READER_IMPORT_OPEN_H

#include "scenarios/import/reader/import_text.h"

/* Reads `path` ("-": standard input). At most `most` + 1 bytes, also of what a packed file holds,
 * so that a reader can see that there were more. The text lives in the arena. False with a
 * sentence. */
bool import_open(struct arena *arena, const char *path, size_t most, struct import_file *out,
                 struct error *error);
/* The same of bytes that are there. */
bool import_unpack(struct arena *arena, size_t most, struct import_file *file, struct error *error);

#endif
