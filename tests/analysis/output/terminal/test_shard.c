/* shard: what a line states, and what Slurm, Kubernetes and Open MPI tell in the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/terminal/shard.h"
#include "tests/test.h"

/* `environment` is NAME=value, cut by blanks; nothing else of the three engines is set. */
static bool read_in(const char *environment, const char *text, struct shard *out,
                    struct error *error)
{
    static const char *const names[] = {"SLURM_ARRAY_TASK_ID",    "SLURM_ARRAY_TASK_MIN",
                                        "SLURM_ARRAY_TASK_MAX",   "SLURM_ARRAY_TASK_STEP",
                                        "SLURM_ARRAY_TASK_COUNT", "JOB_COMPLETION_INDEX",
                                        "OMPI_COMM_WORLD_RANK",   "OMPI_COMM_WORLD_SIZE"};
    char words[512];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    snprintf(words, sizeof words, "%s", environment);
    char *rest = words;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        char *is = strchr(word, '=');
        assert_non_null(is);
        *is = '\0';
        assert_int_equal(setenv(word, is + 1, 1), 0);
    }
    *out = (struct shard){0, 0};
    return shard_read(text, out, error);
}

#define SLURM(id, least, most, step, count)                                                        \
    "SLURM_ARRAY_TASK_ID=" id " SLURM_ARRAY_TASK_MIN=" least " SLURM_ARRAY_TASK_MAX=" most         \
    " SLURM_ARRAY_TASK_STEP=" step " SLURM_ARRAY_TASK_COUNT=" count

static void told(void **state)
{
    static const struct {
        const char *environment, *text;
        unsigned index, count;
    } cases[] = {
        {"", "2/8", 2, 8},
        {"", "1/1", 1, 1},
        {"", "1000/1000", 1000, 1000},
        {SLURM("3", "1", "8", "1", "8"), "auto", 3, 8},
        {SLURM("7", "1", "7", "2", "4"), "auto", 4, 4},
        {SLURM("0", "0", "4", "1", "5"), "auto", 1, 5},
        {"SLURM_ARRAY_TASK_ID=3", "auto/9", 3, 9},
        {"JOB_COMPLETION_INDEX=0", "auto/4", 1, 4},
        {"JOB_COMPLETION_INDEX=3", "auto/4", 4, 4},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "auto", 2, 2},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "auto/2", 2, 2},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "3/4", 3, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct shard shard;
        struct error error = {""};
        assert_true(read_in(cases[i].environment, cases[i].text, &shard, &error));
        assert_int_equal(shard.index, cases[i].index);
        assert_int_equal(shard.count, cases[i].count);
    }
}

static void refused(void **state)
{
    static const struct {
        const char *environment, *text, *says;
    } cases[] = {
        {"", "", "is no shard"},
        {"", "2", "is no shard"},
        {"", "/8", "is no shard"},
        {"", "2/", "is no shard"},
        {"", "2/8x", "is no shard"},
        {"", "-1/8", "is no shard"},
        {"", "0/8", "shards are counted from 1 to n"},
        {"", "9/8", "shards are counted from 1 to n"},
        {"", "1/0", "from 1 to 1000 are possible"},
        {"", "1/1001", "from 1 to 1000 are possible"},
        {"", "1000000001/8", "is no shard"},
        {"", "auto", "neither a Slurm array"},
        {"", "auto/", "write auto, or auto/n"},
        {"", "auto/0", "write auto, or auto/n"},
        {"", "autox", "write auto, or auto/n"},
        {"SLURM_ARRAY_TASK_ID=1", "auto", "SLURM_ARRAY_TASK_MIN is not set"},
        {"SLURM_ARRAY_TASK_ID=x", "auto/2", "SLURM_ARRAY_TASK_ID is 'x', no whole number"},
        {"SLURM_ARRAY_TASK_ID=", "auto/2", "no whole number"},
        {SLURM("2", "1", "7", "2", "4"), "auto", "no whole range"},
        {SLURM("9", "1", "7", "2", "4"), "auto", "no whole range"},
        {SLURM("0", "1", "7", "2", "4"), "auto", "no whole range"},
        {SLURM("3", "1", "7", "2", "3"), "auto", "no whole range"},
        {SLURM("3", "1", "7", "0", "4"), "auto", "no whole range"},
        {"JOB_COMPLETION_INDEX=0", "auto", "write --shard auto/n"},
        {"JOB_COMPLETION_INDEX=4", "auto/4", "shard 5 of 4"},
        {"OMPI_COMM_WORLD_RANK=1", "auto", "OMPI_COMM_WORLD_SIZE is not set"},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "auto/3", "mpirun started 2 ranks"},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 JOB_COMPLETION_INDEX=0", "auto/2",
         "both JOB_COMPLETION_INDEX and OMPI_COMM_WORLD_RANK are set"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct shard shard;
        struct error error = {""};
        assert_false(read_in(cases[i].environment, cases[i].text, &shard, &error));
        if (strstr(error.text, cases[i].says) == NULL)
            fail_msg("%s: '%s' lacks '%s'", cases[i].text, error.text, cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
