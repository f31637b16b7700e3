/* page.h - the page itself: one HTML file, built from analysis/page/web/ and part of the program.
 *
 * It holds its script and style and a policy that lets nothing else run; data stands inside as a
 * JSON document that is no script, in a file packed (packed.h). Where there was no Node at build
 * time there is no page. */
#ifndef ORRERY_ANALYSIS_PAGE_PAGE_H
#define ORRERY_ANALYSIS_PAGE_PAGE_H

#include <stdio.h>

#include "analysis/page/document.h"
#include "analysis/record/database/query.h"

/* NULL, or why this build has no page and what to do instead. */
const char *page_missing(void);
struct page_run {
    struct query *query;
    const char *name; /* of the file, for the page */
    const char *path; /* of the file; NULL: there is none any more */
    const char *many; /* of a search or a study: its document; NULL: a run */
};
/* What is asked of one of them, as document_write; a search or a study has one document, which is
 * its `run`. */
bool page_document(const struct page_run *run, const struct document_ask *ask, FILE *out,
                   struct error *error);
/* The page with its data inside: one file for a class, without server or network. */
bool page_write_whole(const struct page_run *runs, unsigned count, FILE *out, struct error *error);
/* The page that asks a server for the data of `count` runs. */
void page_write(unsigned count, FILE *out);
/* Its content security policy, as a header says it: nobody may frame the page, either. */
void page_policy(char *out, unsigned size);

#endif
