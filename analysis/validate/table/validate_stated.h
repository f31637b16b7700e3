/* validate_stated.h - facts that a source prints and no column can hold: the column `stated`, keys
 * of the scenario language as `path=value` joined by `;` (layout.dispatch=hybridep).
 *
 * A fact goes before what a column says of the same key. Some keys are of facts that published
 * sources state and that the language has no key for (validate_stated_unheld): they stand in no
 * scenario, and are counted. Any other key that it does not have refuses the row. */
#ifndef ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_STATED_H
#define ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_STATED_H

#include <stdbool.h>

#include "analysis/validate/table/validate_cells.h"

enum {
    STATED_MAX = 32,
    STATED_SIZE = 96
};
struct stated_fact {
    char section[STATED_SIZE], key[STATED_SIZE], value[STATED_SIZE];
    bool known; /* the language has the key; else it is one of validate_stated_unheld */
    bool told;  /* it stands in the scenario */
};
struct validate_stated {
    struct stated_fact facts[STATED_MAX];
    unsigned count;
};
/* Paths of facts without a key; NULL-ended. */
extern const char *const validate_stated_unheld[];
/* Reads the row's cell; refuses the row where the cell is no such list, or a key is neither.
 * No cell: no facts. */
void validate_stated_read(struct cells *cells, struct validate_stated *out);
/* The known fact of this key in this section, NULL: none. */
struct stated_fact *validate_stated_find(struct validate_stated *stated, const char *section,
                                         const char *key);

#endif
