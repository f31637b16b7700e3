/* How a study is cut into shards. */
#include "analysis/study/study.h"
#include "tests/test.h"

/* Shards of every small study tile it: each replication of each point is played once, the first one
 * by the shard that tells of refusals, and with a confidence points stay whole. */
static void test_shares_tile_the_study(void **state)
{
    struct study_options options = {0};
    struct study study = {.options = &options};
    for (unsigned n = 1; n <= 9; n++)
        for (study.point_count = 1; study.point_count <= 20; study.point_count++)
            for (options.seeds = 1; options.seeds <= 11; options.seeds++)
                for (size_t p = 0; p < study.point_count; p++) {
                    unsigned played[11] = {0};
                    options.confidence_ratio = options.seeds % 2 == 0 ? 0.0 : 0.1;
                    for (unsigned i = 1; i <= n; i++) {
                        struct study_share s = study_share(&study, (struct shard){i, n}, p);
                        assert_true(s.count == 0 || s.first > 0 || (i - 1) == p % n);
                        assert_true(options.confidence_ratio == 0.0 || s.count == 0 ||
                                    s.count == options.seeds);
                        for (size_t r = s.first; r < s.first + s.count; r++)
                            played[r]++;
                    }
                    for (size_t r = 0; r < options.seeds; r++)
                        assert_int_equal(played[r], 1);
                }
}

/* Without a confidence shards are as large: points that do not come out even are cut among all, to
 * a replication each. */
static void test_shares_are_even(void **state)
{
    struct study_options options = {0};
    struct study study = {.options = &options};
    for (unsigned n = 1; n <= 9; n++)
        for (study.point_count = 1; study.point_count <= 20; study.point_count++)
            for (options.seeds = 1; options.seeds <= 11; options.seeds++) {
                size_t most = 0, least = SIZE_MAX;
                for (unsigned i = 1; i <= n; i++) {
                    size_t played = 0;
                    for (size_t p = 0; p < study.point_count; p++)
                        played += study_share(&study, (struct shard){i, n}, p).count;
                    most = played > most ? played : most;
                    least = played < least ? played : least;
                }
                assert_true(most - least <= study.point_count % n);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_tile_the_study),
        cmocka_unit_test(test_shares_are_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
