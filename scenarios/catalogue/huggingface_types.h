/* huggingface_types.h - the model types of Hugging Face whose shapes are understood: how each key
 * of ours is found in a config.json, or what it is when the file says nothing.
 *
 * A type states what differs from the type it is `like`, and in the end from a plain decoder
 * (`common` in huggingface_types.c); huggingface_whole puts the two together. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_TYPES_H
#define ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_TYPES_H

#include <stdbool.h>

enum {
    HUGGINGFACE_FIXED_MAX = 12,
    HUGGINGFACE_ROW_MAX = 32,
    HUGGINGFACE_MUST_MAX = 12
};
/* How one key of ours is found: in the file, or by default. */
struct huggingface_row {
    const char *key, *json; /* `json` may be "outer.inner"; NULL: this type has no such key */
    const char *fallback;   /* NULL: must be there; "": left out when it is not */
    const char *yes, *no;   /* what true and false stand for; NULL: themselves */
    const char *per;        /* the number is divided by that of this member; NULL: by 1 */
};
struct huggingface_type {
    const char *name;                                 /* its model_type */
    const char *like;                                 /* another type; NULL: a plain decoder */
    const char *fixed[HUGGINGFACE_FIXED_MAX][2];      /* keys that follow from the type */
    struct huggingface_row rows[HUGGINGFACE_ROW_MAX]; /* ended by a NULL key */
    /* Members that have this value where the file has them and no row reads them, as compact JSON;
     * "=x": that of x. Any other value is of a model that the rows do not describe. */
    const char *must[HUGGINGFACE_MUST_MAX][2];
    const char *mixer; /* kind of its recurrent layers, which the file lists; NULL: it has none */
    const char
        *windowed; /* "": with any sliding_window; else the flag that turns it on; NULL: no */
    /* Attention and feed-forward side by side: "": always; else the flag that tells, and what it is
     * where the file has it not. NULL: never. */
    const char *beside;
    bool beside_default;
    bool stretched; /* max_position_embeddings is what rope_scaling reaches, whatever its type */
};
extern const struct huggingface_type huggingface_types[];
extern const unsigned huggingface_type_count;

/* NULL: not known. */
const struct huggingface_type *huggingface_find(const char *name);
/* With everything that it shares with the type it is like; `like` is NULL. */
struct huggingface_type huggingface_whole(const struct huggingface_type *type);
/* Has the whole type a row or a fixed value for this key of ours? */
bool huggingface_tells(const struct huggingface_type *whole, const char *key);

#endif
