/* formula.h - small sums over the numbers of runs, as lessons ask them.
 *
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/") factor }
 *   factor  = NUMBER | "(" sum ")" | column
 *   column  = [ table [ "[" row "]" ] "." ] name [ "@" run ]
 *
 * A column alone is one of the table `run`; of any other table the largest value counts, over the
 * rows whose first column is `row` where one is named: stream_use[dp].busy_s,
 * stage_memory.activations_bytes. `@run` asks another run than the first.
 *
 * Units go along: only what has the same unit adds up, and bytes over bytes a second are seconds. A
 * ratio of two like things is a share, shown in per cent below 1, as a multiple above. A number
 * that the run does not have (no step was timed, no weeks were played) makes the result NAN. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_FORMULA_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_FORMULA_H

#include "analysis/output/text/format.h"
#include "analysis/record/numbers/record.h"
#include "sim/error.h"

struct formula_run {
    const char *name;            /* "" of the first */
    const struct record *record; /* NULL: not played; names and units are checked all the same */
};
enum formula_base {
    FORMULA_SECONDS,
    FORMULA_BYTES,
    FORMULA_FLOPS,
    FORMULA_USD,
    FORMULA_TOKENS,
    FORMULA_JOULES,
    FORMULA_BASE_COUNT
};
struct formula_value {
    double number;                 /* SI; NAN: not known */
    int power[FORMULA_BASE_COUNT]; /* of its unit */
    bool share;                    /* a ratio of like things */
};
/* False with a sentence: no formula, no such name, units that do not go together. */
bool formula_find(const char *text, const struct formula_run *runs, unsigned run_count,
                  struct formula_value *out, struct error *error);
/* "12.3 s", "45.6 %", "2.10 times", "8", "not known". */
struct text formula_text(const struct formula_value *value);
/* The unit as tables write it: "s", "B/s", "1" of a share, "" of a number. */
struct text formula_unit(const struct formula_value *value);
/* `text` with each formula between braces replaced by its value. NULL with a sentence. */
const char *formula_fill(struct arena *arena, const char *text, const struct formula_run *runs,
                         unsigned run_count, struct error *error);

#endif
