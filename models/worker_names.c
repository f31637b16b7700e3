/* worker_names.c - who came last to a meeting, and who finished when: names kept while a step is
 * played, so that the breakdown need not look for them among thousands.
 *
 * Invariants: a row is written once, by the last one's own call; of ranks at one instant the choice
 * does not depend on the order in which they were played (symmetry_named_before). */
#include "models/worker_state.h"

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
    if (--rank->open_streams > 0) {
        return;
    }
    const double end_s = worker_rank_finish_s(rank), first_s = f->earliest_s[program];
    if (first_s < 0.0 || end_s < first_s ||
        (end_s == first_s && symmetry_named_before(symmetry, f->earliest[program], rank_class))) {
        f->earliest_s[program] = end_s;
        f->earliest[program] = rank_class;
    }
}

/* Where several stages meet: the first rank of the last one's stage. */
static void keep_first(struct worker *worker, uint32_t rank_class, uint32_t op, uint32_t last,
                       uint32_t *first)
{
    const struct rank_class *classes = worker->symmetry->ranks;
    if (classes[rank_class].program != classes[last].program) {
        return;
    }
    const struct played_op *played = &worker->ranks[rank_class].program->ops[op];
    const uint32_t other = *first > 0 ? *first - 1 : rank_class;
    const double post_s = worker_post_s(worker->ranks[rank_class].finish_s, played);
    const double other_s = worker_post_s(worker->ranks[other].finish_s, played);
    const bool named = symmetry_named_before(worker->symmetry, other, rank_class);
    *first = 1 + (post_s < other_s || (post_s == other_s && named) ? rank_class : other);
}

void worker_name_latecomer(struct worker *worker, uint32_t rank_class, uint32_t op, uint32_t last)
{
    const struct played_program *program = worker->ranks[rank_class].program;
    const struct played_op *played = &program->ops[op];
    const uint32_t group = worker->symmetry->ranks[rank_class].group[played->stream];
    const uint32_t last_class = worker->symmetry->parties[last].rank_class;
    const uint32_t nth = worker_nth(program, played);
    if (rank_class == last_class) {
        worker->latecomers.rows[worker->latecomers.first[group] + nth] = last;
    }
    if (worker_meets_widely(worker, group)) {
        keep_first(worker, rank_class, op, last_class, worker_first_row(worker, group, nth));
    }
}

void worker_create_names(struct worker *worker, struct arena *arena)
{
    const struct symmetry *symmetry = worker->symmetry;
    const uint32_t programs = worker->lowered->program_count;
    size_t count = 0;
    worker->latecomers.first = ARENA_ARRAY(arena, size_t, symmetry->group_class_count);
    for (uint32_t g = 0; g < symmetry->group_class_count; g++) {
        worker->latecomers.first[g] = count;
        count += worker_activities(worker, g) * (worker_meets_widely(worker, g) ? 2 : 1);
    }
    worker->latecomers.rows = ARENA_ARRAY(arena, uint32_t, count);
    worker->finishers.earliest = ARENA_ARRAY(arena, uint32_t, programs);
    worker->finishers.earliest_s = ARENA_ARRAY(arena, double, programs);
    for (uint32_t p = 0; p < programs; p++) {
        worker->finishers.earliest_s[p] = -1.0;
    }
}
