#include "tests/scenarios/import/chakra_bench.h"

#include <string.h>

#include "tests/test.h"

void chakra_bench_begin(struct chakra_bench *b, uint32_t ranks)
{
    memset(b, 0, sizeof *b);
    task_case_begin(&b->tasks, ranks);
    b->ranks = ranks;
}

void chakra_bench_end(struct chakra_bench *b)
{
    task_case_end(&b->tasks);
}

static bool read_rank(struct chakra_bench *b, uint32_t rank)
{
    struct chakra_case *c = &b->files[rank];
    if (c->message_count > 0)
        chakra_case_write(c);
    char *bytes = arena_alloc(b->tasks.arena, c->count + 1, 1);
    memcpy(bytes, c->bytes, c->count);
    const struct import_file file = {arena_format(b->tasks.arena, "t.%u.et", rank), bytes,
                                     c->count};
    const bool good =
        chakra_read(b->tasks.arena, file, b->drop_missing, &b->traces[rank], &b->error);
    memset(bytes, 0xA5, c->count); /* nothing is borrowed of the bytes */
    return good;
}

bool chakra_bench_join(struct chakra_bench *b)
{
    const struct chakra_job job = {b->traces, b->ranks};
    const struct chakra_rates rates = {&b->tasks.c.gpu, b->tasks.c.training.precision->gemm_peak};
    for (uint32_t r = 0; r < b->ranks; r++)
        if (!read_rank(b, r))
            return false;
    const bool good =
        chakra_tasks(b->tasks.arena, &job, &rates, &b->tasks.graph, &b->counts, &b->error);
    if (good)
        task_set_eager(&b->tasks.graph, b->eager_bytes);
    return good;
}

struct task_played *chakra_bench_play(struct chakra_bench *b)
{
    if (!chakra_bench_join(b))
        fail_msg("refused: %s", b->error.text);
    return task_case_play(&b->tasks);
}

void chakra_bench_refused(struct chakra_bench *b, const char *place, const char *why)
{
    const bool good = chakra_bench_join(b);
    if (good || strstr(b->error.text, why) == NULL ||
        strncmp(b->error.text, place, strlen(place)) != 0)
        fail_msg("'%s' does not say '%s' of '%s'", b->error.text, why, place);
    task_case_end(&b->tasks);
}
