/* document.h - what a command found, as a tree of facts that two printers read: JSON for programs
 * (document_json.h), lines for people (document_lines.h).
 *
 * A fact has a key and a value: a number in SI with its full precision and its unit, a word, a
 * flag, or further facts: an object (by key) or an array (of rows). Facts keep the order in which
 * they are set; a key that is set again keeps its place. A number that is not finite, and NULL for
 * a word, are null: not known.
 *
 * A key that begins with a dot is for the lines alone and stands in no JSON document. Its number is
 * one that the document has under another key, or tests/analysis/tell/test_documents.c names it.
 *
 * Everything lives in the arena of the document; words are borrowed. Knows no command. */
#ifndef ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_H
#define ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/record/numbers/record.h"
#include "sim/arena.h"

/* How lines show a number of this unit: X(enumerator, name of the format, function of format.h). */
#define DOCUMENT_UNITS(X)                                                                          \
    X(IN_COUNT, "count", document_count_text)                                                      \
    X(IN_DIGITS, "digits", document_digits)                                                        \
    X(IN_QUANTITY, "quantity", format_quantity)                                                    \
    X(IN_SECONDS, "time", format_time)                                                             \
    X(IN_BYTES, "bytes", format_bytes)                                                             \
    X(IN_DECIMAL_BYTES, "decimal", format_bytes_decimal)                                           \
    X(IN_BYTES_PER_S, "rate", format_rate)                                                         \
    X(IN_FLOPS, "flops", format_flops)                                                             \
    X(IN_RATIO, "percent", format_percent)                                                         \
    X(IN_USD, "money", format_money)                                                               \
    X(IN_JOULES, "energy", format_energy)                                                          \
    X(IN_WATTS, "power", format_power)                                                             \
    X(IN_MOMENT, "moment", format_moment)
enum document_unit {
#define X(unit, name, format) unit,
    DOCUMENT_UNITS(X)
#undef X
    DOCUMENT_UNIT_COUNT
};
enum fact_kind {
    FACT_NULL,
    FACT_FLAG,
    FACT_INTEGER,
    FACT_REAL,
    FACT_WORD,  /* of the program: printed as it is */
    FACT_QUOTE, /* of a file, which may hold anything: lines show it as format_shown does */
    FACT_OBJECT,
    FACT_ARRAY
};
struct fact {
    struct arena *arena;
    const char *key; /* NULL: an item of an array */
    bool aside;      /* for the lines alone */
    bool names;      /* an object whose keys are names of the world: none is aside */
    enum fact_kind kind;
    enum document_unit unit;
    union {
        bool flag;
        int64_t integer;
        double real;
        const char *word;
        struct {
            struct fact *first, *last;
            size_t count;
        } of; /* an object or an array */
    } value;
    struct fact *next;
};

/* An object of which nothing is said yet. */
struct fact *document_root(struct arena *arena);
/* An object with the head of every document: schema, version, scenario, seed, choices, digest.
 * `scenario` NULL: null, and no choices. */
struct scenario;
struct fact *document_begin(struct arena *arena, const char *schema,
                            const struct scenario *scenario);
/* Below: `in` is an object, or an array and `key` NULL. */
struct fact *document_object(struct fact *in, const char *key);
struct fact *document_array(struct fact *in, const char *key);
/* An object whose keys come from a file, and may begin with a dot. */
struct fact *document_names(struct fact *in, const char *key);
void document_null(struct fact *in, const char *key);
void document_flag(struct fact *in, const char *key, bool value);
void document_count(struct fact *in, const char *key, uint64_t value);
void document_real(struct fact *in, const char *key, enum document_unit unit, double value);
void document_word(struct fact *in, const char *key, const char *value);
void document_quote(struct fact *in, const char *key, const char *value);
/* An object or an array, or null where there is nothing to say (then what is returned is NULL). */
struct fact *document_object_if(bool known, struct fact *in, const char *key);
struct fact *document_array_if(bool known, struct fact *in, const char *key);
/* All columns of a row of a record. Those that `keys` names ("stage ranks=rank_count": a column, or
 * another key for it) come first, in that order; the others are for the lines, as ".column". */
void document_columns(struct fact *in, enum row_table_index table, const void *row,
                      const char *keys);
/* The numbers of metrics.h under their keys of JSON; those of weeks where the run has weeks. */
void document_metrics(struct fact *in, const struct run_row *run);

/* What `key` names: of this object. NULL: nothing. */
const struct fact *document_find(const struct fact *object, const char *key, size_t length);

#endif
