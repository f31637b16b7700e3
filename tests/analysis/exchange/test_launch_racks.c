/* Racks of several hosts: Slurm is asked for segments that each lie in one NVLink domain, as the
 * step was simulated. */
#include <stdio.h>
#include <string.h>

#include "tests/analysis/exchange/launch_case.h"
#include "tests/test.h"

static const struct launch_kind *const kinds[] = {&launch_megatron, &launch_nemo,
                                                  &launch_torchtitan, &launch_deepspeed};

static const char *line_of(const struct launch_text *text, const char *words)
{
    for (uint32_t i = 0; i < text->line_count; i++)
        if (strncmp(text->lines[i], words, strlen(words)) == 0)
            return text->lines[i];
    return "";
}

/* Hosts have four GPUs; a rack has 18, of which a job may take fewer. */
static void segments(void **state)
{
    static const struct {
        uint64_t rack_gpus, racks, tp, dp;
        const char *segment;
        bool differs;
    } rows[] = {
        {64, 2, 8, 16, "#SBATCH --segment=16", false},
        {72, 2, 8, 18, "#SBATCH --segment=18", false},
        {64, 3, 8, 20, "#SBATCH --segment=10", true}, /* 40 hosts: the last rack is half full */
        {64, 3, 16, 10, "#SBATCH --segment=8", true}, /* a tensor group has four hosts */
        {40, 1, 8, 5, "#SBATCH --segment=10", false},
        {72, 3, 2, 74, "", true}, /* 37 hosts */
        {4, 2, 4, 2, "", false},  /* one host is all there is of a domain */
    };
    struct scenario *base = launch_case_plain();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct configuration c = base->configuration;
        c.layout.pp = 1;
        c.layout.tp = rows[i].tp;
        c.layout.dp = rows[i].dp;
        c.training.global_batch = rows[i].dp;
        c.cluster.nodes = rows[i].racks;
        c.cluster.node.gpus = rows[i].rack_gpus;
        c.cluster.node.chassis_gpus = 4;
        for (unsigned k = 0; k < (rows[i].tp > 8 ? 1 : 4); k++) {
            struct launch_text text;
            launch_write(kinds[k], &c, NULL, base->arena, &text);
            if (text.refused)
                fail_msg("row %u: %s refuses: %s", i, kinds[k]->head.name,
                         launch_case_note(&text, LAUNCH_REFUSED, ""));
            assert_string_equal(line_of(&text, "#SBATCH --segment"), rows[i].segment);
            assert_int_equal(launch_case_note(&text, LAUNCH_DIFFERS, "segments have one") != NULL,
                             rows[i].differs);
            assert_int_equal(launch_case_note(&text, LAUNCH_YOURS, "topology/block") != NULL,
                             *rows[i].segment != '\0');
        }
        c.cluster.node.chassis_gpus = 0; /* each node is one host */
        struct launch_text text;
        launch_write(&launch_megatron, &c, NULL, base->arena, &text);
        assert_string_equal(line_of(&text, "#SBATCH --segment"), "");
    }
    scenario_destroy(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(segments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
