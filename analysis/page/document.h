/* document.h - what the page asks of a database, and what it gets: JSON documents (docs/replay.md).
 *
 *   run      names, numbers and units of the run, classes, streams, wires, seats of the cluster,
 *            captions, choices, constants with their sources, the palette
 *   slices   the timeline of a window (slices.h)
 *   memory   the memory curves (curves.h)
 *   weeks    failures, interruptions, checkpoints (saves.h), badput; empty for a single step
 *   saves    the checkpoints of a window alone (saves.h)
 *
 * Numbers go through as they are, to the last bit: the page adds nothing that it could read. The
 * database alone is read; no model is known here, so last year's file still plays. */
#ifndef ORRERY_ANALYSIS_PAGE_DOCUMENT_H
#define ORRERY_ANALYSIS_PAGE_DOCUMENT_H

#include <stdio.h>

#include "analysis/page/slices.h"

enum document_kind {
    DOCUMENT_RUN,
    DOCUMENT_SLICES,
    DOCUMENT_MEMORY,
    DOCUMENT_WEEKS,
    DOCUMENT_SAVES,
    DOCUMENT_KIND_COUNT
};
struct document_ask {
    enum document_kind kind;
    struct slices_ask slices; /* of DOCUMENT_SLICES; its window of DOCUMENT_SAVES */
};
/* The head of any document about a file, left open: `kind` is what the page takes it for, "plan" or
 * "study"; NULL: a run. */
void document_head(FILE *out, const char *name, const char *kind, bool complete);
/* `name`: of the file, for the page. False with a sentence; what was written by then is no
 * document. Errors of the stream stay in it. */
bool document_write(struct query *query, const char *name, const struct document_ask *ask,
                    FILE *out, struct error *error);
/* All that a page needs without a server: {"run","passes","ops","memory","weeks"}. */
bool document_write_whole(struct query *query, const char *name, FILE *out, struct error *error);

#endif
