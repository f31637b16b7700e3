/* inputs.h - what the files held that a scenario was read from, beside its own text.
 *
 * A result stands on them as on the text: two runs of one text differ where a profile or a trace
 * was written anew between them. So a database keeps a line "KEY CONTENTS" for each
 * ("cluster.profile 61baf8d791e17e4e"), and whoever reads the scenario again asks whether they are
 * still the same. Paths are left out: a folder may move. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_INPUTS_H
#define ORRERY_SCENARIOS_LANGUAGE_INPUTS_H

#include <stdint.h>

#include "sim/arena.h"

/* Another file that is read: one that the scenario names, or of the folder of a catalogue. */
struct scenario_input {
    const char *path;
    const struct scenario_input *next; /* that was read before */
    const char *key;                   /* that names it, "model.hf"; "catalogue.gpus" of a folder */
    uint64_t contents;                 /* hash of its bytes (file_contents) */
};
/* Puts a file before those that were read. `path` and `key` are borrowed. */
void inputs_add(struct arena *arena, const struct scenario_input **inputs, const char *key,
                const char *path);
/* The lines, in the order of reading, in the arena; "": the text stands alone. */
const char *inputs_lines(struct arena *arena, const struct scenario_input *inputs);
/* What such lines say of a key, in the arena; "": nothing. */
const char *inputs_of_key(struct arena *arena, const char *lines, const char *key);
/* The first key of `then` of which `now` says something else, or nothing; NULL: there is none. */
const char *inputs_changed(struct arena *arena, const char *then, const char *now);

#endif
