/* launch_expect.h - what a framework must say of one layout: it takes it, refuses it, or tells. */
#ifndef ORRERY_TESTS_ANALYSIS_LAUNCH_LAUNCH_EXPECT_H
#define ORRERY_TESTS_ANALYSIS_LAUNCH_LAUNCH_EXPECT_H

#include "tests/analysis/exchange/launch_case.h"

extern struct scenario *expect_base; /* of launch_case_read, between these two */
int expect_open(void **state);
int expect_close(void **state);
/* The script of a layout that must be taken or not, with everything that was said. */
struct launch_text expect_written(const struct launch_kind *kind, const struct configuration *c);
void expect_refuses(const struct launch_kind *kind, const struct configuration *c,
                    const char *words);
void expect_takes(const struct launch_kind *kind, const struct configuration *c);
/* That something differs. */
void expect_says(const struct launch_kind *kind, const struct configuration *c, const char *words);
/* Is there a line that begins so? */
bool expect_has_line(const struct launch_kind *kind, const struct configuration *c,
                     const char *words);

#endif
