/* contract.h - what the documents that commands print with --json hold: of each document its keys,
 * with type, unit and meaning, and the JSON Schema (draft 2020-12) that says so.
 *
 * A document is a list of rows (contract_list.h). Rows that a writer takes from a table of numbers
 * (metrics.h, rows.h) are taken from the same table here; tests/cli/documents.bats holds the others
 * to what the commands print. Objects are closed: a key that is not listed is no valid one, except
 * where a row says that keys are names of the world. */
#ifndef ORRERY_ANALYSIS_TELL_CONTRACT_CONTRACT_H
#define ORRERY_ANALYSIS_TELL_CONTRACT_CONTRACT_H

#include <stdio.h>

extern const char *const contract_names[]; /* NULL-ended: "run", "plan", ... */
/* Prints the JSON Schema of one of them, which must be there. Its `$id` holds the version of the
 * document, the key `schema` of a document the same. */
void contract_print(const char *name, FILE *out);

#endif
