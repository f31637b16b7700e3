/* arguments.h - the command line as plain data, and the tables of options it is read by.
 *
 * Each command lists its options once (struct option); the parser, `--help`, shell completion and
 * "did you mean" read that table. Options are long, values follow after a space or '='; `--` ends
 * options. Every mistake of the line is reported, not only the first. It knows no command. */
#ifndef ORRERY_ANALYSIS_LINE_ARGUMENTS_H
#define ORRERY_ANALYSIS_LINE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/database/detail.h"

enum {
    ARGUMENT_SET_MAX = 256,
    ARGUMENT_VARY_MAX = 8,
    ARGUMENT_POSITIONAL_MAX = 1024,
    ARGUMENT_PATH_MAX = 4096,
    ARGUMENT_THREADS_MAX = 256
};
enum export_format {
    EXPORT_CHROME,
    EXPORT_CSV,
    EXPORT_SVG,
    EXPORT_FAILURES
};
extern const char *const export_format_names[];

struct option;
/* The command that the line is for, as far as the parser needs it. */
struct argument_rules {
    const char *command;
    const struct option *options; /* ended by a NULL name */
    const char *positional;       /* "SCENARIO", a file; "[FILE]", one that may be left out;
                                   * other brackets, words likewise; "DB...", any number of files;
                                   * NULL: none are taken */
};
/* What a command line can say, all commands together. */
struct arguments {
    struct argument_rules rules; /* that the line was read by */
    const char *positional[ARGUMENT_POSITIONAL_MAX];
    unsigned positional_count;
    const char *sets[ARGUMENT_SET_MAX];
    unsigned set_count;
    const char *varies[ARGUMENT_VARY_MAX];
    unsigned vary_count;
    const char *measured[ARGUMENT_VARY_MAX];
    unsigned measured_count;
    const char *catalogue, *db, *output, *table, *op, *node, *fabric, *gpu, *source, *svg,
        *objective, *where, *against, *explain, *model, *tokens, *bandwidth, *hold, *why, *software,
        *shard, *html, *profile, *beside, *trace;
    uint64_t seed, gpus, rank, limit, threads, worst, seeds, draws, top, sequence, global_batch,
        shards, port, step;
    double max_db_bytes, min_bytes, max_bytes, factor, confidence_ratio, mfu_ratio, headroom_ratio;
    int detail, format, launch, emit, step_detail, picture;
    bool json, unfold, verbose, help, has_seed, has_rank, has_worst, no_db, markdown, csv, resume,
        uncertain, walls, has_launch, has_emit, no_answers, has_picture, replay, has_step;
    uint64_t gpus_max; /* what `plan` is for, and must keep to */
    double deadline_s, budget_usd;
    int best;
    bool has_headroom, has_best, pareto;
    const char *mtbf;
    const char *start, *end; /* moments of the calendar */
    uint64_t gpus_per_node;
    double merge_s;
    const char *text; /* what the scenario's file holds, when a command has read it; NULL */
    size_t text_bytes;
    bool alone;
    bool layout_open; /* set by a command that searches the layout, for the reader of a scenario */
    char default_db[ARGUMENT_PATH_MAX]; /* what `db` is when it was not given */
};

enum option_type {
    OPTION_FLAG,   /* no value; bool */
    OPTION_COUNT,  /* whole number; uint64_t */
    OPTION_SOME,   /* the same, above 0 */
    OPTION_MAYBE,  /* the same, and may be left out: a next word that is no number is not its own */
    OPTION_FACTOR, /* number greater than 1; double */
    OPTION_SIZE,   /* 8, 64k, 8GiB; double bytes */
    OPTION_TEXT,   /* const char * */
    OPTION_INPUT,  /* a file that is read; const char * */
    OPTION_FOLDER, /* one whose files are */
    OPTION_FILE,   /* a file that is written */
    OPTION_OUTPUT, /* the same; "-" is standard output, which NULL stands for */
    OPTION_DATABASE, /* a results database that is written */
    OPTION_CHOICE,   /* one of `choices`; int */
    OPTION_RATIO,    /* 0.5%, 0.005; above 0 and below 1; double */
    OPTION_SHARE,    /* the same, and may be 0 */
    OPTION_TIME,     /* 60d, above 0; double seconds */
    OPTION_MONEY,    /* 5MUSD, above 0; double USD */
    OPTION_SET,      /* K=V, may be repeated; appends to sets */
    OPTION_VARY,     /* K=VALUES, may be repeated; appends to varies */
    OPTION_STEP      /* [SCENARIO:]step=TIME, may be repeated; appends to measured */
};
#define OPTION_NO_OFFSET SIZE_MAX
struct option {
    const char *name; /* with its dashes: "--json", "-v" */
    enum option_type type;
    size_t offset;       /* in struct arguments */
    size_t given_offset; /* bool set when the option was given, or OPTION_NO_OFFSET */
    const char *value;   /* how --help calls the value; NULL for a flag */
    const char *const *choices;
    const char *doc;
};
/* Reads argv[0 .. count). Writes each mistake as a line to `problems`; false when there was one.
 * With --help everything else is ignored. Strings are borrowed from argv. */
bool arguments_read(const struct argument_rules *rules, int count, char **argv,
                    struct arguments *out, FILE *problems);
/* The words of a line that was read, in the order of its table, files last behind "--": to be read
 * again, or printed. Of the options that are `listed` (ended by NULL) alone, or of all others.
 * Returns how many; they live in the arena. */
struct arena;
unsigned arguments_words(const struct arguments *arguments, const char *const *listed, bool alone,
                         struct arena *arena, const char *const **out);
/* Threads as --threads asks, ARGUMENT_THREADS_MAX at most; `usual` when it is not given. */
unsigned arguments_threads(const struct arguments *arguments, unsigned usual);

/* Options that many commands share. */
#define FIELD(member) offsetof(struct arguments, member), OPTION_NO_OFFSET
#define FIELD_GIVEN(member, given)                                                                 \
    offsetof(struct arguments, member), offsetof(struct arguments, given)
#define OPTION_END                                                                                 \
    {"--help", OPTION_FLAG, FIELD(help), NULL, NULL, "show this help (or -h)"},                    \
    {                                                                                              \
        NULL, OPTION_FLAG, 0, 0, NULL, NULL, NULL                                                  \
    }
#define OPTION_ALONE_ROW                                                                           \
    {                                                                                              \
        "--alone", OPTION_FLAG, FIELD(alone), NULL, NULL,                                          \
            "the scenario is a stranger's: it may name files beside it, and none elsewhere"        \
    }
#define OPTION_JSON_ROW                                                                            \
    {                                                                                              \
        "--json", OPTION_FLAG, FIELD(json), NULL, NULL, "print one JSON document instead of text"  \
    }
#define OPTION_CATALOGUE_ROW                                                                       \
    {                                                                                              \
        "--catalogue", OPTION_FOLDER, FIELD(catalogue), "DIR", NULL,                               \
            "read hardware, models and software from DIR, not from the built-in catalogue"         \
    }
#define OPTION_SCENARIO_ROWS                                                                       \
    {                                                                                              \
        "--set",     OPTION_SET,                                                                   \
        FIELD(sets), "K=V",                                                                        \
        NULL,        "change a key of the scenario, as in --set layout.tp=4; may be repeated"},    \
        OPTION_CATALOGUE_ROW,                                                                      \
    {                                                                                              \
        "--seed", OPTION_COUNT, FIELD_GIVEN(seed, has_seed), "N", NULL,                            \
            "seed of every random stream"                                                          \
    }
#define OPTION_THREADS_ROW(text)                                                                   \
    {                                                                                              \
        "--threads", OPTION_SOME, FIELD(threads), "N", NULL, text                                  \
    }
#define OPTION_UNCERTAINTY_ROW(text)                                                               \
    {                                                                                              \
        "--uncertainty", OPTION_MAYBE, FIELD_GIVEN(draws, uncertain), "[N]", NULL, text            \
    }
#define OPTION_VERBOSE_ROW                                                                         \
    {                                                                                              \
        "-v", OPTION_FLAG, FIELD(verbose), NULL, NULL, "also list every default that was taken"    \
    }

#endif
