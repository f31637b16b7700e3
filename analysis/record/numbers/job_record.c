#include "analysis/record/numbers/job_record.h"

#include "sim/list.h"

static bool room(struct job_record *r, size_t count)
{
    r->cut = r->cut || count == JOB_RECORD_MAX;
    return count < JOB_RECORD_MAX;
}

static void note_failure(void *context, const struct fleet_event *event, double at_s,
                         double repair_s)
{
    struct job_record *r = context;
    struct job_numbers *numbers = &r->numbers[event->cause];
    numbers->skips |= event->number != numbers->count++;
    if (!room(r, r->failure_count))
        return;
    LIST_ROOM(r->arena, r->failures, (uint32_t)r->failure_count, 1, r->failure_room);
    r->failures[r->failure_count++] =
        (struct job_failure){at_s, event->at_s, repair_s, event->cause, event->unit, event->node};
}

static void note_interruption(void *context, const struct interruption *one)
{
    struct job_record *r = context;
    r->stops[one->cause]++;
    r->of_replicas += one->others_went_on;
    if (!room(r, r->interruption_count))
        return;
    LIST_ROOM(r->arena, r->interruptions, (uint32_t)r->interruption_count, 1, r->interruption_room);
    r->interruptions[r->interruption_count++] = *one;
}

static void note_save(void *context, const struct saved *saved)
{
    struct job_record *r = context;
    if (!room(r, r->save_count))
        return;
    LIST_ROOM(r->arena, r->saves, (uint32_t)r->save_count, 1, r->save_room);
    r->saves[r->save_count++] = *saved;
}

static double mean_stall_s(const struct checkpoint_plan *plan)
{
    double stall_s = 0.0;
    for (unsigned i = 0; i < plan->level_count; i++)
        stall_s += plan->levels[i].stall_s / (double)plan->levels[i].every;
    return stall_s;
}

bool job_record_play(const struct scenario *scenario, bool keep_saves, struct job_watches watches,
                     struct job_record **out, struct error *error)
{
    struct arena *arena = arena_create();
    struct job_record *r = ARENA_NEW(arena, struct job_record);
    r->arena = arena;
    r->conditions = condition_create(&scenario->configuration, error);
    if (r->conditions == NULL) {
        arena_destroy(arena);
        return false;
    }
    scenario_job(scenario, r->conditions, watches.search, &r->spec);
    r->stops = ARENA_ARRAY(arena, uint64_t, r->spec.cause_count + 1);
    r->numbers = ARENA_ARRAY(arena, struct job_numbers, r->spec.cause_count + 1);
    struct job_observer observer = {.context = r,
                                    .watch = watches.run,
                                    .failure = note_failure,
                                    .interruption = note_interruption,
                                    .saves = keep_saves ? note_save : NULL,
                                    .worst_hour = true};
    job_run(&r->spec, r->conditions, scenario->configuration.seed, &observer, &r->result);
    r->mean_stall_s = mean_stall_s(&r->spec.checkpoint.plan);
    r->step_variants = condition_count(r->conditions);
    *out = r;
    return true;
}

void job_record_destroy(struct job_record *record)
{
    if (record != NULL) {
        condition_destroy(record->conditions);
        arena_destroy(record->arena);
    }
}

double job_record_down_s(const struct job_record *record, const struct interruption *one)
{
    return (one->resumed_at_s < 0.0 ? record->result.wall_s : one->resumed_at_s) - one->at_s;
}
