/* load.h - a scenario for a command: read with the options of its line, problems printed to stderr.
 */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_LOAD_H
#define ORRERY_ANALYSIS_COMMAND_LINE_LOAD_H

#include "analysis/command/line/arguments.h"
#include "analysis/output/terminal/session.h"
#include "scenarios/assemble/scenario.h"

/* How a line has its scenario read. */
struct scenario_arguments {
    struct option_list sets;
    const char *catalogue; /* NULL: the built-in one */
    uint64_t seed;
    bool has_seed;
    bool alone;
    bool layout_open; /* of a command that searches the layout */
};
#define OPTION_SET_ROW(sets)                                                                       \
    {                                                                                              \
        "--set", OPTION_SET, FIELD(sets), "K=V", NULL,                                             \
            "change a key of the scenario, as in --set layout.tp=4; may be repeated"               \
    }
#define OPTION_SCENARIO_ROWS(scenario)                                                             \
    OPTION_SET_ROW(scenario.sets), OPTION_CATALOGUE_ROW(scenario.catalogue),                       \
    {                                                                                              \
        "--seed", OPTION_COUNT, FIELD_GIVEN(scenario.seed, scenario.has_seed), "N", NULL,          \
            "seed of every random stream"                                                          \
    }
#define OPTION_ALONE_ROW(scenario)                                                                 \
    {                                                                                              \
        "--alone", OPTION_FLAG, FIELD(scenario.alone), NULL, NULL,                                 \
            "do not trust the scenario: it may name files in its own folder only"                  \
    }

/* For the reader of scenarios; borrows. */
struct scenario_options load_options(const struct scenario_arguments *how);
/* EXIT_OK with a scenario (to be destroyed) whose configuration is valid; else the exit code, the
 * problems having been told. With `keep_rejected` a rejected scenario is handed out too. What it
 * names is none of the outputs of `line`, or it is refused. */
int load_scenario(const struct arguments *line, const char *path,
                  const struct scenario_arguments *how, struct session *session, bool keep_rejected,
                  struct scenario **out);
/* A text that stands for a file, and what messages call it. */
struct load_source {
    const char *name, *text;
    size_t bytes;
};
/* The same of a text; one that is rejected is not handed out. */
int load_text(const struct arguments *line, const struct load_source *source,
              const struct scenario_arguments *how, struct session *session, struct scenario **out);
/* How another scenario of the same line is read: as this one, without its --set. */
struct scenario_arguments load_unset(const struct scenario_arguments *how);

/* The exit code where the file that a line names could not be read as what it should be:
 * EXIT_TROUBLE where it cannot be opened, EXIT_REJECTED where what it holds is wrong. */
int load_refused_code(const char *path);

#endif
