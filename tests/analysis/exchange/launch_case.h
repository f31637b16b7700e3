/* launch_case.h - layouts for the tests of launch scripts: one by hand, and many drawn. */
#ifndef ORRERY_TESTS_ANALYSIS_LAUNCH_LAUNCH_CASE_H
#define ORRERY_TESTS_ANALYSIS_LAUNCH_LAUNCH_CASE_H

#include "analysis/exchange/launch/launch.h"
#include "scenarios/assemble/scenario.h"

/* Llama 3 70B on 512 H100: tp 8, pp 4, vpp 4, dp 16, sequence 8192, global batch 512, microbatch 1,
 * selective recomputation: the worked layout. */
struct scenario *launch_case_read(void);
/* The same with one chunk a stage under 1F1B, which every framework takes. */
struct scenario *launch_case_plain(void);
/* A layout that breaks none of Orrery's rules, in place of that of `c`; false: this draw does. */
bool launch_case_draw(uint64_t draw, struct configuration *c);
/* The first note of this weight that has these words; NULL: there is none. */
const char *launch_case_note(const struct launch_text *text, enum launch_weight weight,
                             const char *words);

#endif
