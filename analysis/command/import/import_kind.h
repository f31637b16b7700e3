/* import_kind.h - the importers: one file and one row of import_list.h each.
 *
 * `orrery import KIND FILE` finds the kind by its name, refuses options that say nothing to it,
 * opens the file, unpacks it and has the kind run: it reads the text, writes what --output names,
 * prints on the session's `out` what a scenario takes, and returns an exit code (0 read, 1 --output
 * cannot be written, 2 wrong usage, 3 the file is not as its kind says). From the rows come
 * dispatch, the list in `orrery import --help` and "did you mean". Readers themselves stand in
 * scenarios/import: they know no command, and return false with a sentence. Formats of failure logs
 * are rows of their own (scenarios/import/failures/failure_format_kind.h), and names of the kind
 * `failures`. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_KIND_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_KIND_H

#include "analysis/command/import/importing.h"

struct import_kind {
    struct kind head;         /* its name, and what --help says; '\n' where a line ends */
    const char *file;         /* what stands behind the name: "FILE" */
    kind_at_fn *forms;        /* each has a name and a sentence of its own; NULL: `head` has them */
    const char *const *takes; /* options of `orrery import`, beside --help; ended by NULL */
    /* One that only some forms take; NULL: none. */
    bool (*form_takes)(const struct kind *form, const char *option);
    size_t bytes_max; /* of the file; 0: it reads files itself, and one name stands for several */
    int (*run)(struct importing *importing);
};
/* The options of a file of a card that may be told. */
#define IMPORT_TAKES_CARD "--gpu", "--catalogue", "--other-card"
#define X(name) extern const struct import_kind import_##name;
#include "analysis/command/import/import_list.h"
#undef X
extern const struct import_kind *const import_kinds[];
extern const unsigned import_kind_count;

/* What a line may name: a kind, or a form of one. */
struct import_name {
    const struct import_kind *kind;
    const struct kind *form; /* NULL: the kind itself */
    const struct kind *head; /* of either */
};
/* Number `index`, in the order of the lists; false past the last. */
bool import_name_at(unsigned index, struct import_name *out);
bool import_name_takes(const struct import_name *name, const char *option);
/* The list of --help: "topo FILE   ...". */
void import_print_names(FILE *out);

#endif
