#include "analysis/tell/json/json.h"
#include "analysis/tell/json/json_parts.h"

static json_t *run_object(const struct lesson_run_row *row)
{
    json_t *o = json_object();
    json_set(o, "name", json_text(row->name));
    json_set(o, "set", json_text(row->set));
    json_set(o, "shows", json_text(row->shows));
    json_set(o, "fits", json_boolean(row->fits == 1));
    json_set(o, "step_time_s", json_number(row->step_s));
    json_set(o, "tokens_per_s_per_gpu", json_number(row->tokens_per_s_per_gpu));
    json_set(o, "mfu", json_number(row->mfu_ratio));
    json_set(o, "bubble_ratio", json_number(row->bubble_ratio));
    json_set(o, "peak_reserved_bytes", json_number(row->peak_reserved_bytes));
    json_set(o, "goodput", json_number(row->goodput_ratio));
    return o;
}

static json_t *question_object(const struct question_row *row)
{
    json_t *o = json_object();
    json_set(o, "ask", json_text(row->ask));
    json_set(o, "answer", json_text(row->answer));
    json_set(o, "value", json_number(row->value));
    json_set(o, "unit", json_text(row->unit));
    json_set(o, "text", json_text(row->text));
    json_set(o, "why", json_text(row->why));
    return o;
}

void json_lesson(const struct scenario *scenario, const struct record *record, FILE *out)
{
    json_t *o = json_document("orrery.lesson/1", scenario);
    json_t *runs = json_array(), *questions = json_array(), *captions = json_array();
    size_t lesson_count, run_count, question_count;
    const struct lesson_row *lesson = record_lesson(record, &lesson_count);
    const struct lesson_run_row *run = record_lesson_run(record, &run_count);
    const struct question_row *question = record_question(record, &question_count);
    for (size_t i = 0; i < run_count; i++)
        json_append(runs, run_object(&run[i]));
    for (size_t i = 0; i < question_count; i++)
        json_append(questions, question_object(&question[i]));
    for (unsigned i = 0; i < scenario->note_count; i++) {
        json_t *caption = json_object();
        json_set(caption, "at_s", json_number(scenario->notes[i].at_s));
        json_set(caption, "say", json_text(scenario->notes[i].say));
        json_append(captions, caption);
    }
    json_set(o, "order", json_count((uint64_t)lesson->place));
    json_set(o, "shows", json_text(lesson->shows));
    json_set(o, "look_for", json_text(lesson->look_for));
    json_set(o, "next", json_text(lesson->next));
    json_set(o, "captions", captions);
    json_set(o, "runs", runs);
    json_set(o, "questions", questions);
    json_print(o, out);
}
