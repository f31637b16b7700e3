/* figure.h - a figure as a user may ask for it: its value and unit, its source, its error.
 *
 * A figure of the catalogue has the source and the error of its entry; one that a scenario gives
 * itself, and a default of the tables, say so and are exact. `sources` and `errors` of an entry
 * hold for every key that begins with one of their names, the longest; without such a name the
 * source is the entry's `default`, and the error the usual one of the source's origin. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_FIGURE_H
#define ORRERY_SCENARIOS_CATALOGUE_FIGURE_H

#include "scenarios/catalogue/constant.h"

struct value;
struct stated_figure {
    const char *name;   /* "hbm", or "gpu.h100-80gb-sxm.hbm" of a scenario */
    const char *text;   /* as it was written: "80GiB" */
    bool number;        /* it has a value; false: a word */
    double value;       /* SI */
    const char *unit;   /* "B/s"; "" for what is counted and for words */
    double error_ratio; /* relative standard error; 0: exact */
    const char *origin; /* constant_origin_names, "scenario" or "default" */
    const char *source;
};
#define FIGURE_OF_SCENARIO "scenario"
#define FIGURE_OF_DEFAULT "default"

/* The word of a source that the entry states for this key, or NULL. */
const char *figure_source(const struct value *entry, const char *key);
/* The member of the entry's `errors` for this key, or NULL. */
const struct value *figure_stated_error(const struct value *entry, const char *key);
/* Does an error of this key change a step? Prices, powers, counts and words do not. */
bool figure_counts(const struct param *param);
/* What `text` says by this row, without source or error. */
struct stated_figure figure_read(const struct param *param, const char *name, const char *text);
/* The figure that a catalogue entry gives for this row; `word` is its value there. */
struct stated_figure figure_of_entry(const struct value *entry, const struct param *param,
                                     const char *name, const struct value *word);

#endif
