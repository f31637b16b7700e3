/* job_copies.c - checkpoints kept, level by level, and the way back to them.
 *
 * Invariants
 * 1. The copies of a shelf are in the order of their progress; there are at most `keep`, and one
 *    more that is being written. The same level is not written twice at a time. Those of a leap are
 *    one series, of which a copy is worked out when it is asked for: most never are.
 * 2. A copy becomes durable without an event: whoever looks calls job_settle first.
 * 3. What is dropped never comes back: a copy in host memory that lost one node is lost. */
#include <limits.h>
#include <math.h>

#include "models/job/job_state.h"
#include "sim/check.h"

/* Copies before the newest are asked for only where one may be unreadable or tainted; a failure
 * that takes the newest of a level takes them all. */
static bool falls_back(const struct job_spec *spec)
{
    bool corrupts = spec->checkpoint.corrupt_ratio > 0.0;
    for (uint32_t i = 0; i < spec->cause_count; i++) {
        corrupts |= spec->causes[i].effect == EFFECT_CORRUPT;
    }
    return corrupts;
}

static struct series *series_at(const struct shelf *shelf, uint64_t index)
{
    uint64_t place = shelf->first + index;
    return &shelf->series[place < shelf->size ? place : place - shelf->size];
}

void job_shelves_create(struct job *job)
{
    const struct checkpoint_spec *checkpoint = &job->spec->checkpoint;
    double written_s = 0.0;
    job->keep = falls_back(job->spec) ? checkpoint->keep : 1;
    for (unsigned level = 0; level < checkpoint->plan.level_count; level++) {
        const struct checkpoint_level *of = &checkpoint->plan.levels[level];
        struct shelf *shelf = &job->shelves[level];
        shelf->write_s = greater(of->persist_s - written_s, 0.0);
        shelf->loss_ratio = 1.0 - 1.0 / of->slowdown_ratio;
        job->slows |= shelf->loss_ratio > 0.0 && shelf->write_s > 0.0;
        written_s += shelf->write_s;
    }
}

bool job_saves_level(const struct job *job, unsigned level, uint64_t save)
{
    return save % job->spec->checkpoint.plan.levels[level].every == 0;
}

static const struct copy *newest(const struct job *job, unsigned level)
{
    const struct shelf *shelf = &job->shelves[level];
    if (shelf->count == 0) {
        return NULL;
    }
    struct series *last = series_at(shelf, shelf->count - 1);
    if (!last->known) {
        last->newest = job_segments_copy(&last->leap, level, last->save);
        last->known = true;
    }
    return &last->newest;
}

static void drop_newest(struct job *job, unsigned level)
{
    struct shelf *shelf = &job->shelves[level];
    struct series *last = series_at(shelf, shelf->count - 1);
    shelf->kept--;
    last->save -= job->spec->checkpoint.plan.levels[level].every;
    last->known = false;
    if (--last->count == 0) {
        shelf->count--;
    }
}

static void drop_oldest(struct shelf *shelf, uint64_t copies)
{
    while (copies > 0) {
        struct series *oldest = series_at(shelf, 0);
        uint64_t dropped = oldest->count < copies ? oldest->count : copies;
        oldest->count -= dropped;
        shelf->kept -= dropped;
        copies -= dropped;
        if (oldest->count == 0) {
            shelf->first = shelf->first + 1 < shelf->size ? shelf->first + 1 : 0;
            shelf->count--;
        }
    }
}

static void grow(struct job *job, struct shelf *shelf)
{
    uint64_t size = shelf->size == 0 ? 4 : 2 * shelf->size;
    struct series *series = ARENA_ARRAY(job->arena, struct series, size);
    for (uint64_t i = 0; i < shelf->count; i++) {
        series[i] = *series_at(shelf, i);
    }
    shelf->series = series;
    shelf->size = size;
    shelf->first = 0;
}

/* A place for a series of so many copies, at most `keep`; those beyond it go. */
static struct series *push(struct job *job, unsigned level, uint64_t count)
{
    struct shelf *shelf = &job->shelves[level];
    if (shelf->kept + count > job->keep) {
        drop_oldest(shelf, shelf->kept + count - job->keep);
    }
    if (shelf->count == shelf->size) {
        grow(job, shelf);
    }
    shelf->kept += count;
    struct series *last = series_at(shelf, shelf->count++);
    last->count = count;
    return last;
}

/* The copies of a leap that are durable, the newest of save number `save` of it. */
void job_shelf_push(struct job *job, unsigned level, const struct leap *leap, uint64_t save,
                    uint64_t count)
{
    job->account.result->checkpoints += count;
    job->account.result->copies[level] += count;
    struct series *last = push(job, level, count < job->keep ? count : job->keep);
    last->known = false;
    last->save = save;
    last->leap = *leap;
}

static void commit(struct job *job, unsigned level)
{
    struct shelf *shelf = &job->shelves[level];
    const struct copy *copy = &shelf->pending;
    shelf->is_pending = false;
    struct series *last = push(job, level, 1);
    last->newest = *copy;
    last->known = true;
    job->account.result->checkpoints++;
    job->account.result->copies[level]++;
    if (job->observer->saves != NULL) {
        struct saved saved = {copy->durable_s, copy->stall_s, copy->reached.steps, level};
        job->observer->saves(job->observer->context, &saved);
    }
}

static void learn_first_durable(struct job *job)
{
    job->first_durable_s = INFINITY;
    for (unsigned level = 0; level < job->spec->checkpoint.plan.level_count; level++) {
        const struct shelf *shelf = &job->shelves[level];
        if (shelf->is_pending) {
            job->first_durable_s = lesser(job->first_durable_s, shelf->pending.durable_s);
        }
    }
}

/* A copy on this level is being written from now on. */
void job_shelf_write(struct job *job, unsigned level, const struct copy *copy)
{
    job->shelves[level].pending = *copy;
    job->shelves[level].is_pending = true;
    job->first_durable_s = lesser(job->first_durable_s, copy->durable_s);
}

/* In the order in which they became durable, for the observer. */
void job_settle(struct job *job, double now_s)
{
    unsigned levels = job->spec->checkpoint.plan.level_count;
    while (now_s >= job->first_durable_s) {
        unsigned first = UINT_MAX;
        for (unsigned level = 0; level < levels; level++) {
            const struct shelf *shelf = &job->shelves[level];
            if (shelf->is_pending && shelf->pending.durable_s <= now_s &&
                (first == UINT_MAX ||
                 shelf->pending.durable_s < job->shelves[first].pending.durable_s)) {
                first = level;
            }
        }
        if (first < levels) {
            commit(job, first);
        }
        learn_first_durable(job);
    }
}

/* When all that is being written will be durable; -INFINITY: nothing is. */
double job_last_durable_s(const struct job *job)
{
    double last = -INFINITY;
    for (unsigned level = 0; level < job->spec->checkpoint.plan.level_count; level++) {
        if (job->shelves[level].is_pending) {
            last = greater(last, job->shelves[level].pending.durable_s);
        }
    }
    return last;
}

/* All that was reached stands on the safest level. */
bool job_is_saved(struct job *job)
{
    job_settle(job, job->clock.at_s);
    unsigned levels = job->spec->checkpoint.plan.level_count;
    const struct copy *copy = levels == 0 ? NULL : newest(job, levels - 1);
    return copy != NULL && copy->reached.progress == job->now.progress;
}

/* The copy to come back from: the newest, on the fastest of its levels. */
static unsigned best_level(const struct job *job)
{
    unsigned best = UINT_MAX;
    for (unsigned level = 0; level < job->spec->checkpoint.plan.level_count; level++) {
        const struct copy *copy = newest(job, level);
        if (copy != NULL &&
            (best == UINT_MAX || copy->reached.progress > newest(job, best)->reached.progress)) {
            best = level;
        }
    }
    return best;
}

static void drop_lost(struct job *job, int scope, double taint_s)
{
    job->first_durable_s = INFINITY;
    for (unsigned level = 0; level < job->spec->checkpoint.plan.level_count; level++) {
        struct shelf *shelf = &job->shelves[level];
        shelf->is_pending = false;
        if (job->spec->checkpoint.plan.levels[level].survival < scope) {
            drop_oldest(shelf, shelf->kept);
        }
        while (shelf->count > 0 && newest(job, level)->began_s > taint_s) {
            drop_newest(job, level);
            job->account.result->rollbacks_past_corrupt++;
        }
    }
}

static void go_back(struct job *job, double now_s)
{
    struct ledger_mark start = {0};
    job->load_level = best_level(job);
    const struct ledger_mark *to =
        job->load_level == UINT_MAX ? &start : &newest(job, job->load_level)->reached;
    CHECK(to->progress <= job->now.progress);
    double lost = (job->now.useful_s - to->useful_s) + (job->now.degraded_s - to->degraded_s);
    double steps = (double)(job->now.progress - to->progress) / (double)job->spec->replicas;
    job->now = *to;
    job->loaded_began_s = job->load_level == UINT_MAX ? 0.0 : newest(job, job->load_level)->began_s;
    job_account_lost(&job->account, lost, steps, job->loaded_began_s, now_s);
}

/* A failure of this scope at `now_s`: what is being written is lost, and every copy that does not
 * survive it or whose save began after `taint_s` (INFINITY: none). */
void job_roll_back(struct job *job, double now_s, int scope, double taint_s)
{
    job_settle(job, now_s);
    drop_lost(job, scope, taint_s);
    go_back(job, now_s);
}

/* The copy at hand could not be read. */
void job_drop_loaded(struct job *job)
{
    CHECK(job->load_level != UINT_MAX);
    drop_newest(job, job->load_level);
    job->account.result->rollbacks_past_corrupt++;
    go_back(job, job->clock.at_s);
}

double job_load_s(const struct job *job)
{
    return job->load_level == UINT_MAX ? 0.0
                                       : job->spec->checkpoint.plan.levels[job->load_level].load_s;
}
