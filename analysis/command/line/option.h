/* option.h - one row for each option of a command: name, value, sentence, default, and the member
 * of the command's own struct that it fills.
 *
 * A command says `#define ARGUMENTS struct NAME_arguments` and lists its options, ended by
 * OPTION_END; FIELD(member) takes place and type of the member from that struct, so a row whose
 * type is not its member's is seen by a CHECK and by a law over all commands. From the rows come
 * the parser, `--help`, the manual page, the reference, completion and "did you mean". */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_OPTION_H
#define ORRERY_ANALYSIS_COMMAND_LINE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OPTION_MAX = 64,        /* of a command */
    ARGUMENT_SET_MAX = 256, /* of --set */
    ARGUMENT_VARY_MAX = 8,  /* of any other option that may be repeated */
    ARGUMENT_PATH_MAX = 4096,
    OPTION_DOC_BYTES = 512
};
enum option_type {
    OPTION_FLAG,   /* no value; bool */
    OPTION_COUNT,  /* whole number; uint64_t */
    OPTION_SOME,   /* the same, above 0 */
    OPTION_MAYBE,  /* the same, and may be left out: a next word that is no number is not its own */
    OPTION_FACTOR, /* number greater than 1; double */
    OPTION_SIZE,   /* 8, 64k, 8GiB; double bytes */
    OPTION_LIMIT,  /* the same, or 0 */
    OPTION_TEXT,   /* const char * */
    OPTION_INPUT,  /* a file that is read; const char * */
    OPTION_FOLDER, /* one whose files are */
    OPTION_PICTURE,  /* an SVG that is written; const char * */
    OPTION_PAGE,     /* an HTML page that is written */
    OPTION_OUTPUT,   /* another file that is; "-" is standard output, which NULL stands for */
    OPTION_DATABASE, /* a results database that is; struct database_arguments */
    OPTION_CHOICE,   /* one of `choices`; int or enum */
    OPTION_RATIO,    /* 0.5%, 0.005; above 0 and below 1; double */
    OPTION_SHARE,    /* the same, and may be 0 */
    OPTION_TIME,     /* 60d, above 0; double seconds */
    OPTION_MONEY,    /* 5MUSD, above 0; double USD */
    OPTION_POWER,    /* 10MW, above 0; double W */
    OPTION_SET,      /* K=V, may be repeated; struct option_list */
    OPTION_VARY,     /* K=VALUES, likewise */
    OPTION_STEP      /* [SCENARIO:]step=TIME, likewise */
};
/* The values of an option that may be repeated. */
struct option_list {
    const char *words[ARGUMENT_SET_MAX];
    unsigned count;
};
/* The database that a command writes. */
struct database_arguments {
    const char *path;              /* NULL: none */
    char usual[ARGUMENT_PATH_MAX]; /* what `path` is where the line does not name one */
    double max_bytes;              /* 0: no limit */
    bool none;                     /* --no-db */
    bool resume;                   /* goes on with what stands there */
};
/* The type of the member that an option fills. */
enum option_member {
    MEMBER_NONE, /* OPTION_END */
    MEMBER_FLAG,
    MEMBER_COUNT,
    MEMBER_REAL,
    MEMBER_TEXT,
    MEMBER_CHOICE,
    MEMBER_LIST,
    MEMBER_DATABASE
};
#define OPTION_NO_OFFSET SIZE_MAX
struct option {
    const char *name; /* with its dashes: "--json", "-v" */
    enum option_type type;
    size_t offset; /* in the command's struct */
    enum option_member member;
    size_t given_offset; /* bool set when the option was given, or OPTION_NO_OFFSET */
    const char *usual;   /* the value where it is not given, as it would be; NULL: zero */
    const char *value;   /* how --help calls the value; NULL for a flag */
    const char *const *choices;
    const char *doc;
};
/* Two options of a command that say opposite things, or of which one takes the other's meaning
 * away. */
struct option_conflict {
    const char *one, *other; /* names; a table ends with NULL */
    const char *why;         /* a sentence that names both */
};

/* The one of that name, of `length` bytes; NULL: none. */
const struct option *option_find(const struct option *options, const char *name, size_t length);
/* The type of the member that an option of this type fills. */
enum option_member option_member_of(enum option_type type);
/* The sentence of --help and completion, with the default: "number of layouts to list (10)". */
const char *option_doc(const struct option *option, char out[OPTION_DOC_BYTES]);

#define OPTION_MEMBER(member)                                                                      \
    _Generic(((ARGUMENTS *)0)->member,                                                             \
        bool: MEMBER_FLAG,                                                                         \
        uint64_t: MEMBER_COUNT,                                                                    \
        double: MEMBER_REAL,                                                                       \
        const char *: MEMBER_TEXT,                                                                 \
        int: MEMBER_CHOICE,                                                                        \
        unsigned: MEMBER_CHOICE,                                                                   \
        struct option_list: MEMBER_LIST,                                                           \
        struct database_arguments: MEMBER_DATABASE)
#define FIELD_ALL(member, given_offset, usual)                                                     \
    offsetof(ARGUMENTS, member), OPTION_MEMBER(member), given_offset, usual
#define FIELD(member) FIELD_ALL(member, OPTION_NO_OFFSET, NULL)
#define FIELD_USUAL(member, usual) FIELD_ALL(member, OPTION_NO_OFFSET, usual)
#define FIELD_GIVEN(member, given) FIELD_ALL(member, offsetof(ARGUMENTS, given), NULL)
#define FIELD_GIVEN_USUAL(member, given, usual) FIELD_ALL(member, offsetof(ARGUMENTS, given), usual)
#define OPTION_END                                                                                 \
    {"--help", OPTION_FLAG, OPTION_NO_OFFSET,        MEMBER_NONE, OPTION_NO_OFFSET, NULL,          \
     NULL,     NULL,        "show this help (or -h)"},                                             \
    {                                                                                              \
        NULL, OPTION_FLAG, 0, MEMBER_NONE, 0, NULL, NULL, NULL, NULL                               \
    }

/* Options that many commands have: rows of the member that is named. */
#define CONFLICT_NO_DB_ROWS                                                                        \
    {"--no-db", "--db", "--no-db writes no database, and --db names one: give one of them"},       \
    {                                                                                              \
        "--no-db", "--max-db", "--max-db bounds the database that --no-db leaves out"              \
    }
#define OPTION_JSON_ROW(json)                                                                      \
    {                                                                                              \
        "--json", OPTION_FLAG, FIELD(json), NULL, NULL, "print one JSON document instead of text"  \
    }
#define OPTION_CATALOGUE_ROW(catalogue)                                                            \
    {                                                                                              \
        "--catalogue", OPTION_FOLDER, FIELD(catalogue), "DIR", NULL,                               \
            "read hardware, models and software from DIR, instead of the built-in catalogue"       \
    }
#define OPTION_THREADS_ROW(threads, text)                                                          \
    {                                                                                              \
        "--threads", OPTION_SOME, FIELD(threads), "N", NULL, text                                  \
    }
#define OPTION_UNCERTAINTY_ROW(draws, uncertain, text)                                             \
    {                                                                                              \
        "--uncertainty", OPTION_MAYBE, FIELD_GIVEN(draws, uncertain), "[N]", NULL, text            \
    }
#define OPTION_VERBOSE_ROW(verbose)                                                                \
    {                                                                                              \
        "-v", OPTION_FLAG, FIELD(verbose), NULL, NULL, "also list every default that was taken"    \
    }
#define OPTION_MAX_DB_ROW(database)                                                                \
    {                                                                                              \
        "--max-db", OPTION_SIZE, FIELD(database.max_bytes), "SIZE", NULL,                          \
            "stop with exit code 5 when the database would grow past this"                         \
    }
#define OPTION_NO_DB_ROW(database)                                                                 \
    {                                                                                              \
        "--no-db", OPTION_FLAG, FIELD(database.none), NULL, NULL, "write no database"              \
    }
/* A card that a file names, taken for another. */
#define OPTION_OTHER_CARD_ROW(other_card, text)                                                    \
    {                                                                                              \
        "--other-card", OPTION_FLAG, FIELD(other_card), NULL, NULL, text                           \
    }

#endif
