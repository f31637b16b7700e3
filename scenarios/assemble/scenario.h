/* scenario.h - the input language: a YAML file becomes a checked configuration, or every problem at
 * once with file, line, column, caret and remedy.
 *
 * One table (schema.c) of keys makes parser, checks, defaults, `--set`, `orrery list`, the
 * reference and the JSON Schema. The catalogue is embedded in the binary (or read from a folder). A
 * file is hostile until checked: depth, size, duplicate keys, aliases and the number of errors are
 * bounded. After scenario_read succeeds nothing in the models returns an error that a file could
 * cause, except what topology_build says of the fabric's numbers, which is asked here too. */
#ifndef ORRERY_SCENARIOS_ASSEMBLE_SCENARIO_H
#define ORRERY_SCENARIOS_ASSEMBLE_SCENARIO_H

#include <stdio.h>

#include "models/checkpoint/storage.h"
#include "models/job/parts/job_spec.h"
#include "models/layout/configuration.h"
#include "models/plan/change.h"
#include "models/plan/choice.h"
#include "models/step/simulate/condition.h"
#include "scenarios/catalogue/figure.h"
#include "scenarios/language/inputs.h"
#include "scenarios/language/problem.h"
#include "scenarios/language/source.h"
#include "scenarios/language/taken_default.h"
#include "sim/error.h"

struct scenario_file {
    const char *text; /* the file, for the database */
    size_t text_bytes;
    const char *const *sets; /* that were applied to it, likewise */
    unsigned set_count;
    const char *catalogue; /* NULL: the built-in one */
    const struct scenario_input *inputs;
    const struct value *root; /* of the text */
};
struct scenario_diagnostics {
    const struct problem *problems;
    unsigned problem_count; /* that are kept; late warnings are the last */
    unsigned error_count, warning_count;
    struct problems *found; /* where more can be added: scenario_warn */
};
struct scenario_stated {
    const struct taken_default *defaults;
    unsigned default_count;
    const struct constant *constants; /* of the catalogue, that are not exact */
    unsigned constant_count;
    const struct stated_figure
        *figures; /* all that the step or the weeks stand on, whoever gave them */
    unsigned figure_count;
};
struct scenario {
    struct arena *arena;
    const char *path, *name;
    const char *title; /* the name, and the first two sets that were said: heads of reports */
    struct configuration configuration;
    struct choices choices; /* taken where the scenario said nothing, or asked for it */
    bool has_run;           /* a `run:` section: weeks, not one step */
    struct job_spec job;    /* with `run:`; scenario_job makes it complete */
    double work_s;          /* of undisturbed steps, in place of job.steps; 0: not said */
    struct job_storage {
        struct storage_tier tiers[CHECKPOINT_LEVEL_MAX];
        unsigned tier_count;
        double stall_s, persist_s, load_s; /* < 0: as the storage player finds */
    } storage;
    double storage_tb_month_usd; /* price of 10^12 bytes kept for 30 days; 0: not said */
    const struct note {
        double at_s;
        const char *say;
    } * notes;
    unsigned note_count;
    const struct lesson *lesson; /* lesson.h; NULL: it is none */
    const struct value *expect;  /* a mapping of words, by names of results; NULL: nothing */
    struct scenario_file file;
    struct scenario_diagnostics diagnostics;
    struct scenario_stated stated;
};
/* What was chosen for a scenario, for another reading of it in which nothing differs that a step
 * depends on: trials are not made again. */
struct scenario_chosen {
    struct layout_spec layout;
    int attention;
    struct choices choices;
};
struct scenario_options {
    const char *catalogue;   /* folder that overrides the embedded one; NULL */
    const char *const *sets; /* "layout.tp=4" */
    unsigned set_count;
    unsigned chosen_count; /* of the sets, the last that nobody said: no part of the title */
    bool has_seed;
    uint64_t seed;
    const struct scenario_chosen *chosen; /* NULL: to be chosen */
    /* Somebody searches the layout: what the scenario does not say of it stays at the plainest, and
     * no rule of it is asked. scenario->choices.open tells what was not said. */
    bool layout_open;
    bool alone; /* it is a stranger's: it may name files beside it, and none elsewhere */
};
/* Reads a file, "-" being standard input (or `text` when not NULL, called `path` in messages).
 * Returns a scenario, to be freed by scenario_destroy, whose configuration is valid exactly when
 * error_count is 0; NULL with a sentence when the file cannot be read at all. */
struct scenario *scenario_read(const char *path, const char *text, size_t text_bytes,
                               const struct scenario_options *options, struct error *error);
/* Reads it once more as it was read, with these sets after its own. */
struct scenario *scenario_read_again(const struct scenario *scenario, const char *const *sets,
                                     unsigned set_count, struct error *error);
/* The same with its layout open (scenario_options). */
struct scenario *scenario_read_open(const struct scenario *scenario, const char *const *sets,
                                    unsigned set_count, struct error *error);
void scenario_destroy(struct scenario *scenario);
/* Keeps what was chosen, in an arena of the caller's. */
void scenario_keep_chosen(const struct scenario *scenario, struct arena *arena,
                          struct scenario_chosen *out);
void scenario_print_problems(const struct scenario *scenario, FILE *out, bool colour);
void scenario_print_problem(const struct problem *problem, FILE *out, bool colour);
/* Errors and warnings beyond those that were kept. */
unsigned scenario_errors_left(const struct scenario *scenario);
unsigned scenario_warnings_left(const struct scenario *scenario);
/* Prints those from the problem with this index on: of late warnings, what was found since. */
void scenario_print_since(const struct scenario *scenario, unsigned first, FILE *out, bool colour);
/* Adds a late warning (problems_late) to a sound scenario, about a key, at its place or that of the
 * section that it would stand in; or about the whole (NULL). */
void scenario_warn(struct scenario *scenario, const char *key, const char *text);
/* Adds an error about a key, which a scenario so far sound then has; or at a place of its text. */
void scenario_reject(struct scenario *scenario, const char *key, const char *text);
void scenario_reject_at(struct scenario *scenario, struct mark where, const char *text);
/* The job of a scenario with `run:`, ready for job_run: adds to scenario->job what depends on the
 * time of a step: the steps of its work, its power, the plan of its checkpoints, an optimal
 * interval, whose search is watched (NULL: by nobody). */
struct job_watch;
void scenario_job(const struct scenario *scenario, struct condition_table *conditions,
                  const struct job_watch *watch, struct job_spec *out);
/* The warning about what job_starts_anew found; lives in `arena`. */
const char *scenario_anew_sentence(struct arena *arena, const struct job_spec *job,
                                   const struct job_anew *anew);
/* Does this key ("checkpoint.interval") change weeks, but no step of them? */
bool scenario_key_of_weeks(const char *key);

/* A scenario read again with more of it stated, as models/plan/change.h asks: what it leaves open
 * is chosen anew by the path of any reading, so what is tried of a change is what its user gets.
 * One reading is kept at a time. */
struct scenario_change {
    const struct scenario *scenario; /* sound; borrowed */
    struct scenario *last;           /* reading of it */
    struct change_reader reader;
    struct change_question question; /* about its changes; valid until the end */
};
void scenario_change_begin(struct scenario_change *change, const struct scenario *scenario);
void scenario_change_end(struct scenario_change *change);

#endif
