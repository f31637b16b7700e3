/* launched_words.h - the options of a launch, out of the file that has them: names and values.
 *
 * Three forms: the block of all arguments that Megatron-LM prints into its log, behind any prefix
 * of ranks; a shell script or a single command line, of which nothing is executed
 * (scenarios/import/mllog/shell.h); and YAML. Of a script the command that has one of the options
 * `marks` is read, or a variable that has. A value that is not known without running the script has
 * SHELL_UNKNOWN in it. */
#ifndef ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_WORDS_H
#define ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_WORDS_H

#include "scenarios/import/reader/import_text.h"

enum {
    LAUNCHED_WORDS_MAX = 16384,
    LAUNCHED_YAML_BYTES_MAX = 1 << 20
};
struct launched_word {
    const char *name;  /* with dashes, without those before it */
    const char *value; /* words with blanks between; "": none */
    const char *own;   /* the end of `name` that stands in the file */
    const char *path;  /* the file, or one that it sources */
    unsigned line;
};
struct launched_words {
    struct arena *arena;
    const char *path;
    struct error *error;
    struct launched_word *rows;
    uint32_t count, capacity;
    const char *from;    /* the file of what is added; NULL: `path` */
    size_t before;       /* bytes of its names that do not stand in it */
    bool whole;          /* a log: all options stand there, whether said or not */
    bool keys;           /* of documents, spelled as there; else options, with dashes */
    const char *program; /* "pretrain_gpt.py"; NULL: it names none */
    const char *open;    /* a variable among the options that is not known: a sentence; NULL */
    const char *another; /* a second launch in the same file: a sentence; NULL */
};
/* What the user and the framework say of a file. */
struct launched_hints {
    const char *const *marks; /* options that any launch has one of; ended by NULL */
    const char *const *sets;  /* "NAME=VALUE" of variables */
    unsigned set_count;
    bool sources;      /* files that a script sources are read */
    const char *model; /* of the catalogue, or a config.json, where a file says none; NULL */
};

/* False with a sentence. The file's text is cut up. */
bool launched_log(const struct import_file *file, struct launched_words *out);
bool launched_script(const struct import_file *file, const struct launched_hints *hints,
                     struct launched_words *out);
/* The members of the mapping `section` of a YAML file; its key `mode` must not be "inference". */
bool launched_yaml(const struct import_file *file, const struct launched_hints *hints,
                   const char *section, struct launched_words *out);
/* Tables of TOML; the mappings of a YAML file within `section`, by dots ("modules.trainer"; "":
 * all of it), as "table.key". */
bool launched_toml(const struct import_file *file, struct launched_words *out);
bool launched_yaml_tables(const struct import_file *file, const struct launched_hints *hints,
                          const char *section, struct launched_words *out);
/* Keys of a JSON or YAML document as they stand there, behind `before` ("model."): those of nested
 * mappings with dots between, of the mappings of a list with their number from 0 between; of any
 * other list its words, also those of lists in it. Several documents may follow each other. */
bool launched_document(const struct import_file *file, const char *before,
                       struct launched_words *out);
bool launched_is_toml(const struct import_file *file);
/* Does a line of the text begin with these words? Of a log anywhere in a line. */
bool launched_is_log(const struct import_file *file);
bool launched_is_yaml(const struct import_file *file, const char *key);

/* Adds an option; `name` may have dashes before it, and underscores. False: there are too many. */
bool launched_add(struct launched_words *words, const char *name, const char *value, unsigned line);
/* Adds the options of a command, whose words have blanks between. */
bool launched_add_command(struct launched_words *words, const char *command, unsigned line);

#endif
