/* launched.h - somebody's launch of a training framework: its options, and the scenario that they
 * make.
 *
 * A file becomes words (launched_words.h); launched_take sorts them by a framework's table of
 * options, and the framework's own file asks for them one by one and writes keys, each with the
 * place that says it. What moves no time is listed as a comment, what moves time and has no key,
 * and what is not known, is a warning: nothing is dropped in silence. The first thing that is wrong
 * sets the sentence and `broken`; what is asked after that is of no use. Knows no model and no GPU
 * of the catalogue. */
#ifndef ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_H
#define ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/import/launched/launched_words.h"

enum launched_type {
    LAUNCHED_VALUE,
    LAUNCHED_SET,  /* alone it says true */
    LAUNCHED_CLEAR /* alone it makes `dest` false */
};
/* A row of a framework's table; names have dashes, also where a file has underscores. */
struct launched_option {
    const char *name;
    const char *dest; /* as a log of all options calls it; NULL: the same */
    enum launched_type type;
};
/* Options that make no key: NAME, or NAME* for all that begin so. */
struct launched_other {
    const char *name;
    const char *why; /* what it changes that is not simulated; NULL: no time */
};
struct launched_table {
    const struct launched_option *options;
    unsigned count;
    const struct launched_other *others;
    unsigned other_count;
};
struct launched_said {
    const char *name;  /* as messages call it */
    const char *value; /* of a flag "true" or "false"; NULL: not said */
    const char *path;
    unsigned line;
};
enum launched_section {
    LAUNCHED_MODEL,
    LAUNCHED_CLUSTER,
    LAUNCHED_GPU, /* of a card that is described; no keys: it is named */
    LAUNCHED_NODE,
    LAUNCHED_FABRIC,
    LAUNCHED_TRAINING,
    LAUNCHED_LAYOUT,
    LAUNCHED_SOFTWARE,
    LAUNCHED_SECTIONS
};
struct launched_lines {
    const char **rows;
    uint32_t count, capacity;
};
struct launched {
    struct arena *arena;
    const char *path; /* as messages call the file */
    struct error *error;
    const struct launched_table *table;
    struct launched_said *said; /* of each option of the table */
    struct launched_lines keys[LAUNCHED_SECTIONS];
    struct launched_lines warnings, comments;
    const char *profile; /* of the software */
    uint64_t gpus;       /* of the job; 0: not said */
    bool whole;          /* a log: the file is of a run on so many */
    bool document;       /* keys of documents; else options, which messages give their dashes */
    bool broken;
};
enum {
    LAUNCHED_NOTHING = -1 /* no option says it */
};

/* Sorts the words; `out` lives in their arena. */
void launched_take(const struct launched_words *words, const struct launched_table *table,
                   struct launched *out);

bool launched_has(const struct launched *l, int option);
bool launched_on(const struct launched *l, int option);
/* The first word of the value, without quotes, brackets and what stands before a dot of a Python
 * name (torch.bfloat16, AttnBackend.flash); `usual` where it is not said. */
const char *launched_text(struct launched *l, int option, const char *usual);
/* The words of a value that may have several, at most `most`; returns how many there are. */
unsigned launched_list(struct launched *l, int option, const char **words, unsigned most);
/* The value as it stands; NULL: not said. */
const char *launched_raw(struct launched *l, int option);
/* A whole number above 0, or a number from 0 on. */
uint64_t launched_count(struct launched *l, int option, uint64_t usual);
double launched_number(struct launched *l, int option, double usual);
/* true or false, and nothing else. */
bool launched_truth(struct launched *l, int option, bool usual);
/* The row of `names`, ended by NULL, that is the value; `usual` where it is not said. */
int launched_choice(struct launched *l, int option, const char *const *names, int usual);

/* The ranks that a layout divides its GPUs into. */
struct launched_ranks {
    uint64_t tp, pp, cp, dp; /* dp 0: the GPUs are not said */
};
/* Options that say how many GPUs there are, each of a host of torchrun's or Slurm's. */
struct launched_hosts {
    int world; /* LAUNCHED_NOTHING: there is none */
    int ranks, hosts, slurm_hosts, slurm_gpus, slurm_tasks;
};
/* An option without which there is no scenario. */
uint64_t launched_needed(struct launched *l, int option, const char *name);
/* Finds the GPUs, of a log, of `gpus` (0: not said from outside), of torchrun or of Slurm, and dp;
 * writes their keys. */
void launched_replicas(struct launched *l, const struct launched_hosts *hosts, uint64_t gpus,
                       struct launched_ranks *ranks);
/* Layers of the chunks of a pipeline as keys; are all equal? */
bool launched_spread(struct launched *l, int option, const unsigned *chunks, unsigned count);

/* Sets the sentence, with the option's place before it. Returns 0. */
__attribute__((format(printf, 3, 4))) int launched_bad(struct launched *l, int option,
                                                       const char *format, ...);
/* "key: value" with the place of an option behind it. */
__attribute__((format(printf, 4, 5))) void launched_key(struct launched *l,
                                                        enum launched_section section, int option,
                                                        const char *format, ...);
/* Something that is simulated otherwise, with its place. */
__attribute__((format(printf, 3, 4))) void launched_warn(struct launched *l, int option,
                                                         const char *format, ...);
__attribute__((format(printf, 2, 3))) void launched_comment(struct launched *l, const char *format,
                                                            ...);

#endif
