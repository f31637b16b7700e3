/* huggingface_types.h - the model types of Hugging Face whose shapes are understood: how each key
 * of ours is found in a config.json, or what it is when the file says nothing. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_TYPES_H
#define ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_TYPES_H

enum {
    HUGGINGFACE_FIXED_MAX = 8,
    HUGGINGFACE_ROW_MAX = 24
};
/* How one key of ours is found: in the file, or by default. */
struct huggingface_row {
    const char *key, *json;
    const char *fallback; /* NULL: must be there; "": left out when it is not */
    const char *yes, *no; /* what true and false stand for; NULL: themselves */
};
struct huggingface_type {
    const char *name;                                 /* its model_type */
    const char *fixed[HUGGINGFACE_FIXED_MAX][2];      /* keys that follow from the type */
    struct huggingface_row rows[HUGGINGFACE_ROW_MAX]; /* ended by a NULL key */
    const char
        *windowed; /* "": with any sliding_window; else the flag that turns it on; NULL: no */
};
extern const struct huggingface_type huggingface_types[];
extern const unsigned huggingface_type_count;

#endif
