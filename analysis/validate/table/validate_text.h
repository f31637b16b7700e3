/* validate_text.h - the scenario of a row as it is written: a key on each line, behind it where the
 * value comes from. What `--explain` prints is what the prediction reads. */
#ifndef ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_TEXT_H
#define ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_TEXT_H

#include "analysis/validate/table/validate_stated.h"

enum {
    VALIDATE_TEXT_SIZE = 12288,
    VALIDATE_TEXT_DEPTH = 4,
    VALIDATE_ORIGIN_MAX = 12
};
struct validate_text {
    char s[VALIDATE_TEXT_SIZE];
    size_t length;
    unsigned depth;
    char path[VALIDATE_TEXT_DEPTH][STATED_SIZE]; /* of the open sections: cluster, cluster.fabric */
    /* What the source states goes before what is written of the same key, and what nobody writes
     * stands at the end of its section. NULL: nothing is stated. */
    struct validate_stated *stated;
};
/* `key:`, and the keys that follow stand below it until validate_text_close, which adds what is
 * stated of the section. */
void validate_text_open(struct validate_text *text, const char *key);
void validate_text_close(struct validate_text *text);
/* `key: value  # origin`. */
__attribute__((format(printf, 4, 5))) void validate_text_key(struct validate_text *text,
                                                             const char *key, const char *origin,
                                                             const char *format, ...);
/* Whole lines, as they are. */
__attribute__((format(printf, 2, 3))) void validate_text_add(struct validate_text *text,
                                                             const char *format, ...);

struct validate_origin { /* a sentence for the end of a line */
    char s[160];
};
/* Values that do not stand in the column of their name: what a kind of file says of them. */
struct validate_origins {
    struct {
        const char *column, *origin;
    } of[VALIDATE_ORIGIN_MAX];
    unsigned count;
};
void validate_origins_add(struct validate_origins *origins, const char *column, const char *origin);
/* Is `word` one of the words of `list`, which spaces part? */
bool validate_text_lists(const char *list, const char *word);
/* "column tp", with "assumed by the source" where the row's `assumed` names it; or that the cell is
 * empty; or what `origins` has. */
struct validate_origin validate_origin_of(const struct cells *cells,
                                          const struct validate_origins *origins,
                                          const char *column);

#endif
