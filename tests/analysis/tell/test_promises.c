/* What a warning or an advice promises is what its user gets: scenarios drawn by seed, half
 * of their keys missing, are played and told as `orrery run` does; every change that stands in the
 * document is made to the scenario, which then fits and takes the time that was said.
 * usage: test_promises [COUNT [FIRST]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/record/evidence/late_warnings.h"
#include "analysis/record/evidence/record_run.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report.h"
#include "sim/random.h"
#include "tests/sanitized.h"
#include "tests/test.h"

enum {
    SEEDS = 96,
    TEXT = 1024,
    SETS_MAX = 32
};
static uint64_t seed_count = SEEDS / SANITIZED_EVERY(4), first_seed;

struct draw {
    uint64_t key, index;
};
struct key_values {
    const char *key, *values[6];
};

static unsigned below(struct draw *d, unsigned count)
{
    return (unsigned)(random_at(d->key, d->index++) * count);
}

static const char *one_of(struct draw *d, const char *const *words)
{
    unsigned count = 0;
    while (words[count] != NULL)
        count++;
    return words[below(d, count)];
}

static const struct key_values any_keys[] = {
    {"tp", {"1", "2", "4", "8", NULL}},
    {"pp", {"1", "2", "4", NULL}},
    {"cp", {"1", "2", "4", NULL}},
    {"sharding", {"zero-0", "zero-1", "zero-2", "zero-3", NULL}},
    {"microbatch", {"1", "1", "2", "4", NULL}},
    {"recompute", {"none", "selective", "full", NULL}},
    {"schedule", {"1f1b", "interleaved", "gpipe", NULL}},
    {"sequence_parallel", {"true", "false", NULL}},
};
/* What holds much. */
static const struct key_values heavy_keys[] = {
    {"sharding", {"zero-0", "zero-0", "zero-1", NULL}},
    {"microbatch", {"2", "4", "8", NULL}},
    {"tp", {"1", "1", "2", NULL}},
    {"pp", {"1", NULL}},
    {"recompute", {"none", NULL}},
};

/* Up to three of them. */
static void draw_layout(struct draw *d, char *out, size_t room)
{
    const bool heavy = below(d, 3) == 0;
    const struct key_values *keys = heavy ? heavy_keys : any_keys;
    const unsigned count = (unsigned)(heavy ? sizeof heavy_keys / sizeof *heavy_keys
                                            : sizeof any_keys / sizeof *any_keys);
    unsigned at = below(d, count);
    *out = '\0';
    for (unsigned left = 1 + below(d, 3); left > 0; left--, at = (at + 3) % count) {
        const size_t used = strlen(out);
        snprintf(out + used, room - used, "%s%s: %s", used > 0 ? ", " : "", keys[at].key,
                 one_of(d, keys[at].values));
    }
}

static void draw_scenario(uint64_t seed, char out[TEXT])
{
    static const char *const models[] = {"gpt3-2.7b",   "llama3-8b",   "olmo2-13b",
                                         "gemma3-12b",  "qwen3-14b",   "qwen3-30b-a3b",
                                         "gpt-oss-20b", "qwen2.5-32b", NULL};
    static const char *const cards[] = {"a100-40gb-sxm", "h100-80gb-sxm",  "b200-180gb-sxm",
                                        "mi300x-192gb",  "l40s-48gb-pcie", NULL};
    static const char *const software[] = {"megatron",  "fsdp",     "torchtitan", "deepspeed",
                                           "automodel", "nanotron", "unnamed",    NULL};
    static const char *const gpus[] = {"8", "16", "24", "32", "64", NULL};
    static const char *const batches[] = {"16", "32", "48", "64", "96", NULL};
    static const char *const others[] = {"",
                                         "",
                                         "",
                                         "",
                                         "perturbations: {jitter: 0.02}\n",
                                         "perturbations: {stragglers: [{gpu: 1, speed: 0.9}]}\n",
                                         NULL};
    struct draw d = {random_key(seed, "promises"), 0};
    char layout[TEXT / 2];
    draw_layout(&d, layout, sizeof layout);
    snprintf(out, TEXT,
             "model: %s\ncluster: {gpu: %s, gpus: %s}\n"
             "training: {sequence: %u, global_batch: %s}\nsoftware: %s\nlayout: {%s}\n%s",
             one_of(&d, models), one_of(&d, cards), one_of(&d, gpus), 1024u << below(&d, 4),
             one_of(&d, batches), one_of(&d, software), layout, one_of(&d, others));
}

/* NULL: it is refused. */
static struct scenario *read_with(const char *text, const char *changes)
{
    char copy[TEXT];
    const char *sets[SETS_MAX];
    struct scenario_options options = {.sets = sets};
    struct error error = {""};
    snprintf(copy, sizeof copy, "%s", changes);
    for (char *word = copy; *word != '\0'; options.set_count++) {
        char *end = word + strcspn(word, " ");
        sets[options.set_count] = word;
        word = *end == ' ' ? end + 1 : end;
        *end = '\0';
    }
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), &options, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count == 0)
        return s;
    scenario_destroy(s);
    return NULL;
}

static struct step *play(const struct scenario *s)
{
    const struct step_options options = {.threads = 1};
    struct step *step = NULL;
    struct error error;
    return step_run(&s->configuration, &options, &step, &error) ? step : NULL;
}

struct promises {
    const char *text; /* of the scenario */
    unsigned warned, advised, keys, false_ones;
};

/* `said`: a time as it is told, or NULL for one that is not known. */
static void hold(struct promises *p, const char *changes, const char *said)
{
    struct scenario *s = read_with(p->text, changes);
    struct step *step = s != NULL ? play(s) : NULL;
    for (const char *is = changes; (is = strchr(is, '=')) != NULL; is++)
        p->keys++;
    const bool fits = step != NULL && step->fits;
    const char *got = s == NULL ? "refused" : !fits ? "out of memory" : "";
    struct text took = {""};
    if (fits && said != NULL) {
        took = format_time(step->step_s);
        got = strcmp(took.s, said) != 0 ? took.s : "";
    }
    if (*got != '\0') {
        print_message("%s%s: %s promised, %s\n", p->text, changes, said ? said : "to fit", got);
        p->false_ones++;
    }
    if (step != NULL)
        step_destroy(step);
    scenario_destroy(s);
}

static const struct fact *find(const struct fact *in, const char *key)
{
    return document_find(in, key, strlen(key));
}

/* "... with CHANGES, which fits, a step takes TIME in place of ...": the others promise nothing. */
static void hold_warning(struct promises *p, const char *words)
{
    static const char with[] = ": with ", fits[] = ", which fits, a step takes ",
                      place[] = " in place of ";
    char changes[TEXT], time[TEXT];
    const char *from = strstr(words, with), *middle = strstr(words, fits),
               *end = strstr(words, place);
    if (from == NULL || middle == NULL || end == NULL)
        return;
    from += strlen(with);
    snprintf(changes, sizeof changes, "%.*s", (int)(middle - from), from);
    middle += strlen(fits);
    snprintf(time, sizeof time, "%.*s", (int)(end - middle), middle);
    hold(p, changes, time);
    p->warned++;
}

static void hold_document(struct promises *p, const struct fact *o)
{
    const struct fact *warnings = find(o, "warnings"), *advice = find(o, "advice");
    for (const struct fact *one = warnings->value.of.first; one != NULL; one = one->next)
        hold_warning(p, one->value.word);
    if (advice->kind != FACT_OBJECT)
        return;
    for (const struct fact *one = find(advice, "fitting")->value.of.first; one != NULL;
         one = one->next) {
        const struct fact *time = find(one, "step_time_s");
        const bool timed = time->kind == FACT_REAL && isfinite(time->value.real);
        hold(p, find(one, "set")->value.word, timed ? format_time(time->value.real).s : NULL);
        p->advised++;
    }
}

/* As `orrery run` tells it. */
static void hold_scenario(struct promises *p)
{
    struct scenario *s = read_with(p->text, "");
    struct step *step = s != NULL ? play(s) : NULL;
    if (step != NULL) {
        struct arena *arena = arena_create();
        struct result result;
        struct record record;
        result_gather(s, step, &result);
        late_warnings_of_step(s, step, LATE_OF_RUN, NULL);
        result_advise(&result);
        record_of_run(arena, &result, false, &record);
        const struct run_told told = {.result = &result};
        hold_document(p, report_run(&record, &told));
        arena_destroy(arena);
        step_destroy(step);
    }
    scenario_destroy(s);
}

static void a_promise_is_what_its_user_gets(void **state)
{
    struct promises p = {0};
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        char text[TEXT];
        draw_scenario(seed, text);
        p.text = text;
        hold_scenario(&p);
    }
    print_message("%u warnings, %u advices of %u keys, %u false\n", p.warned, p.advised, p.keys,
                  p.false_ones);
    assert_int_equal(p.false_ones, 0);
    if (seed_count < SEEDS)
        return; /* too few to count */
    assert_true(12 * p.warned >= seed_count && 12 * p.advised >= seed_count);
    assert_true(p.keys < 2 * (p.warned + p.advised)); /* not all that is open */
}

int main(int argc, char **argv)
{
    seed_count = argc > 1 ? strtoull(argv[1], NULL, 10) : seed_count;
    first_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_promise_is_what_its_user_gets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
