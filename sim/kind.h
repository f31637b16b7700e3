/* kind.h - what every kind of every family begins with, be it a fabric, a schedule or a command.
 *
 * The contract of a family F is a const struct whose first member is `struct kind head`. Its kinds
 * are the rows of a list; KIND_FAMILY(F) declares their table F_kinds, F_kind_count, F_find and
 * F_at, and KIND_TABLE(F) behind the table defines the other three:
 *
 *     #define X(name) &schedule_##name,
 *     const struct schedule_kind *const schedule_kinds[] = {
 *     #include "models/schedule/schedule_list.h"
 *     };
 *     #undef X
 *     KIND_TABLE(schedule)
 *
 * Who knows no family reads heads through F_at: the keys of scenarios and their checks, `orrery
 * list`, the reference, completion, "did you mean" (scenarios/catalogue/family.h has all of them).
 */
#ifndef ORRERY_SIM_KIND_H
#define ORRERY_SIM_KIND_H

#include "sim/param.h"

struct kind {
    const char *name;      /* as scenarios spell it */
    const char *doc;       /* one sentence */
    struct params options; /* into kind_options, by index; empty: it has none */
};

/* A kind stores every option as a double in this array, at index `offset` of its row, so that a new
 * kind touches no struct. Types TEXT and CHOICE are not allowed. */
enum {
    KIND_OPTION_MAX = 8
};
struct kind_options {
    double value[KIND_OPTION_MAX];
};

/* The head of kind number `index` of a family, in the order of its list; NULL past the last. */
typedef const struct kind *kind_at_fn(unsigned index);

/* The one of that name, or NULL. */
const struct kind *kind_find(kind_at_fn *at, const char *name);

#define KIND_FAMILY(family)                                                                        \
    extern const struct family##_kind *const family##_kinds[];                                     \
    extern const unsigned family##_kind_count;                                                     \
    kind_at_fn family##_at;                                                                        \
    const struct family##_kind *family##_find(const char *name); /* or NULL */

#define KIND_TABLE(family)                                                                         \
    const unsigned family##_kind_count = sizeof family##_kinds / sizeof *family##_kinds;           \
    const struct kind *family##_at(unsigned index)                                                 \
    {                                                                                              \
        return index < family##_kind_count ? &family##_kinds[index]->head : NULL;                  \
    }                                                                                              \
    const struct family##_kind *family##_find(const char *name)                                    \
    {                                                                                              \
        return (const struct family##_kind *)kind_find(family##_at, name);                         \
    }

#endif
