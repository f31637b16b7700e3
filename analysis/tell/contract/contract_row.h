/* contract_row.h - rows that say what an object of a document holds. */
#ifndef ORRERY_ANALYSIS_TELL_CONTRACT_CONTRACT_ROW_H
#define ORRERY_ANALYSIS_TELL_CONTRACT_CONTRACT_ROW_H

#include <stdbool.h>

#include "analysis/record/numbers/rows.h"
#include "scenarios/catalogue/family.h"

/* Types, and what may be added to one. */
enum contract_type {
    CONTRACT_FLAG,
    CONTRACT_COUNT,   /* an integer, not negative */
    CONTRACT_INTEGER, /* of any sign */
    CONTRACT_REAL,
    CONTRACT_SHARE, /* 0 to 1 */
    CONTRACT_WORD,
    CONTRACT_SCALAR,  /* a number or a word */
    CONTRACT_CELL,    /* one of these, or a flag; null: not known */
    CONTRACT_OBJECT,  /* of `of` */
    CONTRACT_SUMS,    /* a number for each of `words` */
    CONTRACT_NAMES,   /* any keys: numbers where there is a unit, else counts */
    CONTRACT_KIND,    /* the name of a kind of `family` */
    CONTRACT_REST,    /* the rows of `of` stand here, too */
    CONTRACT_COLUMNS, /* `columns` of the table `table`, as document_columns takes them */
    CONTRACT_METRICS, /* the numbers of metrics.h; those of studies as objects of `of` */
    CONTRACT_TYPES = 0xff,
    CONTRACT_OR_NULL = 0x100,
    CONTRACT_LIST = 0x200,     /* any number of them */
    CONTRACT_PAIR = 0x400,     /* two of them */
    CONTRACT_SOMETIMES = 0x800 /* the key may be missing */
};
struct contract_object;
struct contract_row {
    const char *name;
    unsigned type;
    const char *doc, *unit; /* unit: NULL or "": none */
    const struct contract_object *of;
    const char *const *words; /* the only ones that a word may be */
    unsigned word_count;      /* 0: `words` ends with NULL */
    enum row_table_index table;
    const char *columns;
    enum family family;
};
struct contract_object {
    const char *name; /* of its definition in the schema */
    const struct contract_row *rows;
    unsigned row_count;
};
struct contract_document {
    const char *schema, *title; /* "orrery.run/1" */
    bool of_scenario;           /* it tells what was chosen for a scenario: `choices` */
    const struct contract_object *object;
};

#define CONTRACT(object, ...)                                                                      \
    static const struct contract_row object##_keys[] = {__VA_ARGS__};                              \
    static const struct contract_object object = {#object, object##_keys,                          \
                                                  sizeof object##_keys / sizeof *object##_keys}
#define ROW(key, kind, says)                                                                       \
    {                                                                                              \
        .name = key, .type = CONTRACT_##kind, .doc = says                                          \
    }
#define NULL_ROW(key, kind, says)                                                                  \
    {                                                                                              \
        .name = key, .type = CONTRACT_##kind | CONTRACT_OR_NULL, .doc = says                       \
    }
#define LIST_ROW(key, kind, says)                                                                  \
    {                                                                                              \
        .name = key, .type = CONTRACT_##kind | CONTRACT_LIST, .doc = says                          \
    }
#define IN_ROW(key, kind, in, says)                                                                \
    {                                                                                              \
        .name = key, .type = CONTRACT_##kind, .doc = says, .unit = in                              \
    }
#define IN_NULL_ROW(key, kind, in, says)                                                           \
    {                                                                                              \
        .name = key, .type = CONTRACT_##kind | CONTRACT_OR_NULL, .doc = says, .unit = in           \
    }
#define OF_ROW(key, object, says)                                                                  \
    {                                                                                              \
        .name = key, .type = CONTRACT_OBJECT, .doc = says, .of = &(object)                         \
    }
#define OF_NULL_ROW(key, object, says)                                                             \
    {                                                                                              \
        .name = key, .type = CONTRACT_OBJECT | CONTRACT_OR_NULL, .doc = says, .of = &(object)      \
    }
#define OF_LIST_ROW(key, object, says)                                                             \
    {                                                                                              \
        .name = key, .type = CONTRACT_OBJECT | CONTRACT_LIST, .doc = says, .of = &(object)         \
    }
#define WORDS_ROW(key, list, says)                                                                 \
    {                                                                                              \
        .name = key, .type = CONTRACT_WORD, .doc = says, .words = list                             \
    }
#define SUMS_ROW(key, list, count, in, says)                                                       \
    {                                                                                              \
        .name = key, .type = CONTRACT_SUMS, .doc = says, .unit = in, .words = list,                \
        .word_count = count                                                                        \
    }
#define NAMES_ROW(key, in, says)                                                                   \
    {                                                                                              \
        .name = key, .type = CONTRACT_NAMES, .doc = says, .unit = in                               \
    }
#define REST_ROW(object)                                                                           \
    {                                                                                              \
        .type = CONTRACT_REST, .of = &(object)                                                     \
    }
#define COLUMNS_ROW(of_table, keys)                                                                \
    {                                                                                              \
        .type = CONTRACT_COLUMNS, .table = ROW_##of_table, .columns = keys                         \
    }
#define ANNOUNCED_ROWS                                                                             \
    ROW("announced", FLAG, "Is a figure that it stands on only announced by its maker?"),          \
        ROW("announced_words", WORD, "which figures those are; empty: none")

/* Objects that several documents hold. */
extern const struct contract_object contract_layout, contract_choice, contract_advice,
    contract_stage, contract_note;
/* The documents, by groups of commands. */
extern const struct contract_document contract_run, contract_check, contract_memory, contract_plan,
    contract_plan_machines, contract_study, contract_lesson, contract_collective, contract_chakra,
    contract_explain, contract_walls, contract_compare, contract_compare_trace, contract_watch,
    contract_launch, contract_validate, contract_profile, contract_list, contract_doctor,
    contract_commands;

#endif
