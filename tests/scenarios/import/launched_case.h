/* launched_case.h - a launch as a text, read, and the scenario that it makes. */
#ifndef ORRERY_TESTS_SCENARIOS_IMPORT_LAUNCHED_CASE_H
#define ORRERY_TESTS_SCENARIOS_IMPORT_LAUNCHED_CASE_H

#include "scenarios/assemble/scenario.h"
#include "scenarios/import/launched/launched.h"

typedef bool launched_reader_fn(struct arena *arena, const struct import_file *file,
                                const struct launched_hints *hints, uint64_t gpus,
                                struct launched *out, struct error *error);
/* Reads `text` under the name "run.sh", with `set` ("TP=8"; NULL: none) from outside. */
void launched_case_read(launched_reader_fn *reader, const char *text, const char *set,
                        uint64_t gpus);
/* The scenario has the line, whatever stands behind "#"; or the words, in a warning or comment. */
void launched_case_has(const char *line);
void launched_case_lacks(const char *line);
void launched_case_warns(const char *words);
/* The line, and the place that says it. */
void launched_case_place(const char *line, const char *place);
void launched_case_quiet(const char *words); /* of this nothing is warned */
/* Nothing is warned of. */
void launched_case_silent(void);
/* It was refused with these words. */
void launched_case_refused(const char *words);
/* The scenario that was read, which must have no error; the caller frees it. */
struct scenario *launched_case_scenario(void);
/* The card that is named from outside from now on; NULL: none. */
void launched_case_named(const char *gpu);
void launched_case_end(void);
/* One of these numbers, drawn; the state goes on. */
uint64_t launched_case_pick(uint64_t *state, const uint64_t *values, unsigned count);
#define LAUNCHED_CASE_PICK(state, ...)                                                             \
    launched_case_pick((state), (const uint64_t[]){__VA_ARGS__},                                   \
                       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

#endif
