/* reader.h - fills any plain struct from a mapping by its table of parameters.
 *
 * The only code that goes from words to fields. It collects every problem of every key, with place
 * and remedy, and every default that was taken. A value whose default is one of the words below
 * takes that word and stores 0 (a text the word): who reads it fills in what it stands for. It
 * knows no section and no struct by name. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_READER_H
#define ORRERY_SCENARIOS_LANGUAGE_READER_H

#include "scenarios/language/names.h"
#include "scenarios/language/problems.h"
#include "scenarios/language/value.h"
#include "sim/kind.h"

#define READER_AUTO "auto"
#define READER_OPTIMAL "optimal"
#define READER_BEST "best"
#define READER_LEAST "least"

struct reader {
    struct arena *arena;
    struct problems *problems;
    struct taken_default *defaults;
    unsigned default_count, default_capacity;
    struct params beside; /* the table that is read: what a number in a wrong place was meant for */
};

/* Reads the keys of one table into `object` and marks them used. What is not given takes its
 * default, or is a problem at the mapping's own place. `path` names the section in messages. False
 * when a key was missing or wrong; its field is then zero. */
bool reader_fill(struct reader *reader, const struct value *mapping, const char *path,
                 struct params params, void *object);
/* The same for the options of a kind: every value is stored as a double at its index. */
bool reader_fill_options(struct reader *reader, const struct value *mapping, const char *path,
                         struct params params, struct kind_options *options);
/* One word of the given type; `target` as the type says. For keys that stand in no table. */
bool reader_value(struct reader *reader, const struct value *value, const char *path,
                  const struct param *param, void *target);
/* The default that was noted at `path` as a word stands for this: the list of defaults tells it. */
void reader_chose(struct reader *reader, const char *path, const char *value);
/* Reports every member that no table has used; `known` are the names it might have meant. */
void reader_unknown(struct reader *reader, const struct value *mapping, const char *path,
                    struct name_list known);
/* The mapping itself; an empty word counts as an empty mapping. NULL with a problem when it is
 * something else. */
const struct value *reader_mapping(struct reader *reader, const struct value *value,
                                   const char *path);
/* Does the row take a word that is no value, by its default? */
bool reader_takes_word(const struct param *param);
/* Is `key` given with a value of its own, and not by that word? */
bool reader_given(const struct value *mapping, const struct param *param);
/* "layout" + "tp" = "layout.tp"; "" + "name" = "name". */
const char *reader_path(struct reader *reader, const char *path, const char *key);

#endif
