/* chakra_bench.h - traces of a few ranks that a test writes, read, joined and played. */
#ifndef ORRERY_TESTS_CHAKRA_BENCH_H
#define ORRERY_TESTS_CHAKRA_BENCH_H

#include "tests/models/step/task_case.h"
#include "tests/scenarios/import/chakra_case.h"

enum {
    CHAKRA_BENCH_RANKS = 8
};
struct chakra_bench {
    struct task_case tasks;                       /* its graph is the traces' */
    struct chakra_case files[CHAKRA_BENCH_RANKS]; /* called t.0.et and so on */
    struct chakra_trace traces[CHAKRA_BENCH_RANKS];
    struct chakra_counts counts;
    uint32_t ranks;
    bool drop_missing;
    double eager_bytes; /* 0: each message waits for its receiver */
    struct error error;
};
void chakra_bench_begin(struct chakra_bench *b, uint32_t ranks);
void chakra_bench_end(struct chakra_bench *b);
bool chakra_bench_join(struct chakra_bench *b); /* reads all and joins them */
struct task_played *chakra_bench_play(struct chakra_bench *b);
/* Joined, it is refused with a sentence that begins with the place and says why; then it ends. */
void chakra_bench_refused(struct chakra_bench *b, const char *place, const char *why);

#endif
