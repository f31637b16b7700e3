#include "analysis/record/evidence/lesson_record.h"

#include <math.h>
#include <stdio.h>

#include "models/plan/rule_of_thumb.h"

/* Its own run and all others, unplayed. */
static unsigned unplayed(const struct lesson *lesson, struct formula_run runs[LESSON_RUN_MAX + 1])
{
    runs[0] = (struct formula_run){"", NULL};
    for (unsigned i = 0; i < lesson->run_count; i++)
        runs[1 + i] = (struct formula_run){lesson->runs[i].name, NULL};
    return 1 + lesson->run_count;
}

static void check_question(struct scenario *scenario, unsigned index)
{
    const struct lesson_question *question = &scenario->lesson->questions[index];
    struct formula_run runs[LESSON_RUN_MAX + 1];
    const unsigned count = unplayed(scenario->lesson, runs);
    struct formula_value value;
    struct error error = {""};
    if (!formula_find(question->answer, runs, count, &value, &error))
        scenario_reject(scenario,
                        arena_format(scenario->arena, "lesson.questions[%u].answer", index),
                        error.text);
    if (formula_fill(scenario->arena, question->why, runs, count, &error) == NULL)
        scenario_reject(scenario, arena_format(scenario->arena, "lesson.questions[%u].why", index),
                        error.text);
}

struct scenario *lesson_record_read(const struct scenario *scenario, unsigned index,
                                    struct error *error)
{
    const struct lesson_run *run = &scenario->lesson->runs[index];
    return scenario_read_again(scenario, run->sets, run->set_count, error);
}

static void check_run(struct scenario *scenario, unsigned index)
{
    const char *key = arena_format(scenario->arena, "lesson.runs[%u].set", index);
    struct error error = {""};
    struct scenario *other = lesson_record_read(scenario, index, &error);
    for (unsigned i = 0; other != NULL && i < other->diagnostics.problem_count; i++) {
        if (other->diagnostics.error_count > 0 && !other->diagnostics.problems[i].warning) {
            scenario_reject(scenario, key, other->diagnostics.problems[i].text);
            break;
        }
    }
    if (other == NULL)
        scenario_reject(scenario, key, error.text);
    scenario_destroy(other);
}

void lesson_record_check(struct scenario *scenario)
{
    if (scenario->lesson == NULL || scenario->diagnostics.error_count > 0)
        return;
    for (unsigned i = 0; i < scenario->lesson->question_count; i++)
        check_question(scenario, i);
    for (unsigned i = 0; scenario->file.set_count == 0 && i < scenario->lesson->run_count; i++)
        check_run(scenario, i);
}

/* Every precision with every optimizer. */
static void record_recipes(struct record *out)
{
    struct memory_recipe_row *row =
        record_add(out, ROW_memory_recipe, (size_t)precision_count * optimizer_count);
    for (unsigned i = 0; i < precision_count * optimizer_count; i++) {
        const struct precision *precision = &precisions[i / optimizer_count];
        const struct optimizer *optimizer = &optimizers[i % optimizer_count];
        struct rule_of_thumb_recipe recipe;
        rule_of_thumb_recipe(
            &(struct training_spec){.precision = precision, .optimizer = optimizer}, &recipe);
        row[i] = (struct memory_recipe_row){
            .precision = precision->head.name,
            .optimizer = optimizer->head.name,
            .weights_bytes = recipe.weights_bytes,
            .gradients_bytes = recipe.gradients_bytes,
            .master_bytes = recipe.master_bytes,
            .moments_bytes = recipe.moments_bytes,
            .activations_bytes = recipe.activations_bytes,
        };
    }
}

void lesson_record_ask(const struct scenario *scenario, struct record *out)
{
    const struct lesson *lesson = scenario->lesson;
    if (lesson == NULL)
        return;
    *(struct lesson_row *)record_add(out, ROW_lesson, 1) =
        (struct lesson_row){(int64_t)lesson->order, lesson->shows, lesson->look_for, lesson->next};
    struct lesson_run_row *run = record_add(out, ROW_lesson_run, 1 + lesson->run_count);
    run->name = run->set = "";
    run->shows = scenario->name;
    for (unsigned i = 0; i < lesson->run_count; i++) {
        run[1 + i].name = lesson->runs[i].name;
        run[1 + i].set = lesson->runs[i].set;
        run[1 + i].shows = lesson->runs[i].shows;
    }
    record_recipes(out);
    struct question_row *question = record_add(out, ROW_question, lesson->question_count);
    for (unsigned i = 0; i < lesson->question_count; i++) {
        question[i].ask = lesson->questions[i].ask;
        question[i].answer = lesson->questions[i].answer;
    }
}

static void fill_run(const struct record *record, struct lesson_run_row *row)
{
    const struct run_row *run = record_run(record);
    row->fits = run->fits;
    row->step_s = run->step_s;
    row->tokens_per_s_per_gpu = run->tokens_per_s_per_gpu;
    row->mfu_ratio = run->mfu_ratio;
    row->bubble_ratio = run->bubble_ratio;
    row->peak_reserved_bytes = run->peak_reserved_bytes;
    row->goodput_ratio = run->goodput_ratio;
}

bool lesson_record_answer(const struct lesson *lesson, const struct formula_run *runs,
                          struct record *inout, struct error *error)
{
    const unsigned run_count = 1 + lesson->run_count;
    struct lesson_run_row *run = inout->of[ROW_lesson_run].rows;
    struct question_row *question = inout->of[ROW_question].rows;
    for (unsigned i = 0; i < run_count; i++)
        fill_run(runs[i].record, &run[i]);
    for (unsigned i = 0; i < lesson->question_count; i++) {
        const struct lesson_question *asked = &lesson->questions[i];
        struct formula_value value;
        question[i].why = formula_fill(inout->arena, asked->why, runs, run_count, error);
        if (question[i].why == NULL || !formula_find(asked->answer, runs, run_count, &value, error))
            return false;
        question[i].value = value.number;
        question[i].unit = arena_text(inout->arena, formula_unit(&value).s);
        question[i].text = arena_text(inout->arena, formula_text(&value).s);
    }
    return true;
}
