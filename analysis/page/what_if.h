/* what_if.h - the scenario of a run with something changed: checked, or simulated again, by this
 * program as a child.
 *
 * The child has its own memory, a limit of processor time, of wall time and of the size of its
 * files, and gets what was asked for as arguments and files in a folder of its own, which is
 * removed afterwards: no shell, no name of the user's. Thread-safe: knows no server and no loop; it
 * blocks until the child has ended. */
#ifndef ORRERY_ANALYSIS_PAGE_WHAT_IF_H
#define ORRERY_ANALYSIS_PAGE_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/record/database/query.h"

enum what_if_kind {
    WHAT_IF_SCHEMA, /* the keys of scenarios: `orrery schema` */
    WHAT_IF_CHECK,  /* the document orrery.check/1 */
    WHAT_IF_RUN     /* a database */
};
struct what_if_ask {
    enum what_if_kind kind;
    /* JSON: {"text": scenario, "sets": ["K=V", ...], "strike": {"at_s", "node"}}; the last two may
     * be left out. A strike adds the failure of a node to those of `path`, at exposed time `at_s`.
     */
    const char *body;
    size_t size;
    const char *path; /* of the database that is changed */
};
struct what_if {
    char *text; /* a document, or why there is none; to be freed */
    size_t size;
    struct query *run; /* of WHAT_IF_RUN: the new database, whose file is gone already */
};
/* False when what was asked is refused or failed; `text` says why. */
bool what_if(const struct what_if_ask *ask, struct what_if *out);

#endif
