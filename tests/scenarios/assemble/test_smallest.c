/* The smallest cluster of half-filled scenarios, by minimum_gpus and by choice_make, which search
 * apart from each other: it does not depend on the GPUs that the scenario has; what is chosen for
 * so many fits; and what is chosen for fewer does not. */
#include <stdio.h>

#include "models/plan/minimum.h"
#include "models/step/simulate/step.h"
#include "tests/scenarios/assemble/choice.h"
#include "tests/test.h"

enum {
    LIMIT = 1024,
    TEXT = 512
};
struct asked {
    const char *model, *card, *software;
    unsigned sequence, node; /* GPUs of a whole node */
};

static struct scenario *half_filled(const struct asked *a, uint64_t gpus)
{
    char text[TEXT];
    snprintf(text, sizeof text,
             "model: %s\ncluster: {gpu: %s, gpus: %llu}\n"
             "training: {sequence: %u, global_batch: %llu}\nsoftware: %s\n",
             a->model, a->card, (unsigned long long)gpus, a->sequence,
             (unsigned long long)gpus * 32, a->software);
    return choice_sound(text);
}

static uint64_t smallest_from(const struct asked *a, uint64_t gpus)
{
    struct scenario *s = half_filled(a, gpus);
    const uint64_t smallest = minimum_gpus(&s->configuration, s->choices.open, LIMIT);
    scenario_destroy(s);
    return smallest;
}

static bool chosen_fits(const struct asked *a, uint64_t gpus)
{
    bool fits;
    struct scenario *s = half_filled(a, gpus);
    choice_step_s(&s->configuration, &fits);
    scenario_destroy(s);
    return fits;
}

static void test_two_searches_agree(void **state)
{
    static const struct asked rows[] = {
        {"llama3-8b", "h100-80gb-sxm", "unnamed", 8192, 8},
        {"llama3-70b", "h100-80gb-sxm", "megatron", 8192, 8},
        {"llama3-70b", "h100-80gb-sxm", "torchtitan", 8192, 8},
        {"llama3-8b", "h100-80gb-sxm", "megatron", 524288, 8}, /* a sequence for many ranks */
        {"mixtral-8x7b", "a100-40gb-sxm", "megatron", 4096, 8},
        {"qwen3-30b-a3b", "h100-80gb-sxm", "nemo", 4096, 8},
        {"gpt-oss-20b", "h200-141gb-sxm", "deepspeed", 8192, 8},
        {"mixtral-8x22b", "mi300x-192gb", "unnamed", 4096, 8},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct asked *a = &rows[i];
        const uint64_t smallest = smallest_from(a, 64);
        assert_true(smallest > 0 && smallest <= LIMIT);
        if (smallest != smallest_from(a, 8) || smallest != smallest_from(a, 128))
            fail_msg("row %u: %llu from 64 GPUs, %llu from 8, %llu from 128", i,
                     (unsigned long long)smallest, (unsigned long long)smallest_from(a, 8),
                     (unsigned long long)smallest_from(a, 128));
        if (!chosen_fits(a, smallest))
            fail_msg("row %u: nothing is found for %llu GPUs", i, (unsigned long long)smallest);
        const uint64_t less = smallest > a->node ? smallest - a->node : smallest / 2;
        if (less > 0 && chosen_fits(a, less))
            fail_msg("row %u: %llu GPUs do, too", i, (unsigned long long)less);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_searches_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
