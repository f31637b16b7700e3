/* search_store.h - the book of a search as rows of the results database, and back.
 *
 * A database may hold several machines (`plan --vary`), each with a book of its own. Findings go in
 * as they are made, one row each, and are never changed. The file is hostile when read back. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_STORE_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_STORE_H

#include "analysis/plan/search/search_book.h"
#include "analysis/record/database/query.h"
#include "analysis/record/database/store.h"

/* A machine, before its findings; nothing when the file knows it. `label`: its values of --vary, or
 * "". */
void search_store_machine(struct store *store, int64_t machine, const char *label,
                          const struct search_book *book);
/* Writes what was asked for and is not kept yet, and commits. */
void search_store_keep(struct store *store, int64_t machine, struct search_book *book);
/* Takes in what a file holds of a machine; `kept`: it is the file that is written. False with a
 * sentence where the file cannot be read, or was made for another space of layouts. */
bool search_store_recall(struct query *query, int64_t machine, bool kept, struct search_book *book,
                         struct error *error);

#endif
