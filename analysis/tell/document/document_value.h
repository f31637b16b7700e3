/* document_value.h - what an expression of document_lines.h comes to, and how it is shown. */
#ifndef ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_VALUE_H
#define ORRERY_ANALYSIS_TELL_DOCUMENT_DOCUMENT_VALUE_H

#include "analysis/tell/document/document.h"

/* Objects around each other, the outermost first, each with the number of its row. */
struct document_scope {
    const struct fact *object[8];
    size_t row[8];
    unsigned depth;
    bool blind; /* inside an {each} of no items: names are not looked up */
};
/* Reads an expression from `*at`, and leaves it behind. */
struct fact document_value(const struct document_scope *scope, const char **at);
/* A number; NAN for anything else. */
double document_number(const struct fact *value);
/* Known, and neither false nor an empty word. */
bool document_holds(const struct fact *value);
/* As `format` (of `length` bytes; 0: that of its unit) shows it, in the arena. */
const char *document_shown(struct arena *arena, const struct fact *value, const char *format,
                           size_t length);

#endif
