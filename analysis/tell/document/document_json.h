/* document_json.h - a document for programs: every fact that is not aside, numbers with 17 digits,
 * null for what is not known or no valid UTF-8. */
#ifndef ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_JSON_H
#define ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_JSON_H

#include <stdio.h>

#include "analysis/tell/document/document.h"

/* A failed write stays in the stream; the session reports it. */
void document_json(const struct fact *document, FILE *out);

#endif
