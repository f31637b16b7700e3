/* nesting.h - is a Chrome trace valid? Parses the JSON and looks at the spans of every track. */
#ifndef ORRERY_TESTS_ANALYSIS_NESTING_H
#define ORRERY_TESTS_ANALYSIS_NESTING_H

/* Number of spans ("X" events), or -1 with a sentence when the document is no JSON object of trace
 * events or two spans of a track overlap without one holding the other. */
long nesting_check(const char *text, char *why, unsigned size);

#endif
