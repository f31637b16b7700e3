/* param.h - a named parameter: how a field of a plain struct is spelt, checked and explained.
 *
 * Every struct that users fill (a GPU, a software profile, the options of a kind) has one table of
 * `struct param`. The parser, its checks, the default, `orrery list`, the generated reference, the
 * JSON Schema and "did you mean" all read that table; nothing else knows the fields by name.
 * A table knows no file format; it promises only that `offset` lies inside the struct. */
#ifndef ORRERY_SIM_PARAM_H
#define ORRERY_SIM_PARAM_H

#include <stdbool.h>
#include <stddef.h>

/* What a value means, and so which units it must carry in text. */
enum param_type {
    PARAM_FLAG,      /* true or false; stored as bool */
    PARAM_COUNT,     /* whole number, may take k/M/B/T; stored as uint64_t */
    PARAM_RATIO,     /* plain number without unit, or a percentage; double */
    PARAM_TIME,      /* s, ms, us, ns, min, h, d, y; double seconds */
    PARAM_BYTES,     /* B, kB, MB, GB, TB, KiB, MiB, GiB, TiB; double bytes */
    PARAM_BANDWIDTH, /* bytes or bits per second; double bytes/s */
    PARAM_FLOP_RATE, /* GFLOP/s, TFLOP/s, PFLOP/s; double FLOP/s */
    PARAM_FREQUENCY, /* MHz, GHz; double 1/s */
    PARAM_POWER,     /* W, kW, MW; double watts */
    PARAM_MONEY,     /* USD, kUSD, MUSD; double */
    PARAM_CHOICE,    /* one of `choices`; stored as int, its index */
    PARAM_TEXT       /* any text; stored as const char *, owned by the reader's arena */
};

struct param {
    const char *name;
    enum param_type type;
    size_t offset;
    double minimum, maximum;    /* inclusive, SI; ignored for flags, choices and text */
    const char *fallback;       /* default as a user would write it; NULL: must be given */
    const char *const *choices; /* NULL-ended, for PARAM_CHOICE */
    const char *doc;            /* one sentence, for the reference */
};

/* A table of them. */
struct params {
    const struct param *rows;
    unsigned count;
};

#endif
