/* worker_names.c - when activities began, who came last to them, and who finished when: kept while
 * a step is played, so that the breakdown need not look for names among thousands.
 *
 * Invariants: a row of activities is written once, before its parties go on; of ranks at one
 * instant the choice does not depend on the order in which they were played
 * (symmetry_named_before). */
#include "models/step/simulate/worker_state.h"
#include "sim/check.h"

void worker_name_finisher(struct worker *worker, struct rank_state *rank, double finish_s)
{
    struct finishers *f = &worker->finishers;
    const struct symmetry *symmetry = worker->symmetry;
    const uint32_t rank_class = (uint32_t)(rank - worker->ranks);
    const uint32_t program = symmetry->ranks[rank_class].program;
    if (finish_s > f->last_s ||
        (finish_s == f->last_s && symmetry_named_before(symmetry, rank_class, f->last))) {
        f->last_s = finish_s;
        f->last = rank_class;
    }
    if (--rank->open_streams > 0)
        return;
    const double end_s = worker_rank_finish_s(rank), first_s = f->earliest_s[program];
    if (first_s < 0.0 || end_s < first_s ||
        (end_s == first_s && symmetry_named_after(symmetry, rank_class, f->earliest[program]))) {
        f->earliest_s[program] = end_s;
        f->earliest[program] = rank_class;
    }
}

/* Where several stages meet: the first rank of the last one's stage. */
static void keep_first(struct worker *worker, uint32_t rank_class, uint32_t op, uint32_t last,
                       uint32_t *first)
{
    const struct rank_class *classes = worker->symmetry->ranks;
    if (classes[rank_class].program != classes[last].program)
        return;
    const struct played_op *played = &worker->ranks[rank_class].program->ops[op];
    const uint32_t other = *first > 0 ? *first - 1 : rank_class;
    const double post_s = worker_post_s(worker->ranks[rank_class].finish_s, played);
    const double other_s = worker_post_s(worker->ranks[other].finish_s, played);
    const bool named = symmetry_named_after(worker->symmetry, rank_class, other);
    *first = 1 + (post_s < other_s || (post_s == other_s && named) ? rank_class : other);
}

static void keep_firsts(struct worker *worker, const struct attendance *activity)
{
    const struct party *last = &worker->symmetry->parties[activity->last];
    const uint32_t group = worker->symmetry->ranks[last->rank_class].group[last->stream];
    if (!worker_meets_widely(worker, group))
        return;
    const struct attendee *one = activity->attendees;
    const uint32_t nth = worker->ranks[one->rank_class].program->ops[one->op].nth;
    uint32_t *first = worker_first_row(worker, group, nth);
    for (uint32_t i = 0; i < activity->count; i++) {
        const struct attendee *who = &activity->attendees[i];
        keep_first(worker, who->rank_class, who->op, last->rank_class, first);
    }
}

void worker_keep_activity(struct worker *worker, const struct attendance *activity)
{
    const struct attendee *one = activity->attendees;
    const struct rank_state *rank = &worker->ranks[one->rank_class];
    const uint32_t row = worker_activity(rank, &rank->program->ops[one->op]);
    worker->activities.begin_s[row] = activity->begin_s;
    worker->activities.last[row] = activity->last;
    if (activity->count > 2)
        keep_firsts(worker, activity);
}

/* A row for each activity; begins and latecomers stand in one block each, so that the members of a
 * group find the same. */
static void create_activities(struct worker *worker, struct arena *arena)
{
    const struct symmetry *symmetry = worker->symmetry;
    struct activities *a = &worker->activities;
    size_t count = 0;
    a->first = ARENA_ARRAY(arena, uint32_t, symmetry->group_class_count);
    for (uint32_t g = 0; g < symmetry->group_class_count; g++) {
        a->first[g] = (uint32_t)count;
        count += worker_activities(worker, g) * (worker_meets_widely(worker, g) ? 2 : 1);
        CHECK(count <= UINT32_MAX);
        const struct group_class *group = &symmetry->groups[g];
        for (uint32_t i = 0; i < group->party_count; i++) {
            const struct party *party = &symmetry->parties[group->party_first + i];
            worker->ranks[party->rank_class].streams[party->stream].met_first = a->first[g];
        }
    }
    a->begin_s = ARENA_ARRAY(arena, double, count);
    a->last = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t r = 0; r < symmetry->rank_class_count; r++)
        worker->ranks[r].begin_s = a->begin_s;
}

void worker_create_names(struct worker *worker, struct arena *arena)
{
    const uint32_t programs = worker->lowered->program_count;
    create_activities(worker, arena);
    worker->finishers.earliest = ARENA_ARRAY(arena, uint32_t, programs);
    worker->finishers.earliest_s = ARENA_ARRAY(arena, double, programs);
    for (uint32_t p = 0; p < programs; p++)
        worker->finishers.earliest_s[p] = -1.0;
}
