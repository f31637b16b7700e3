/* job_copies.c - checkpoints kept, level by level, and the way back to them.
 *
 * Invariants
 * 1. The copies of a shelf are in the order of their saves; there are at most `keep`, and one more
 *    that is being written. Those of a leap are one series.
 * 2. The same level is not written twice at a time.
 * 3. A copy becomes durable without an event: whoever looks settles first. first_durable_s is the
 *    first such moment of what is being written.
 * 4. What is dropped never comes back: a copy in host memory that lost one node is lost. None that
 *    is left is tainted. */
#include "models/job/parts/job_copies.h"

#include <limits.h>
#include <math.h>

#include "sim/check.h"

/* Copies before the newest are asked for only where one may be unreadable or tainted; a failure
 * that takes the newest of a level takes them all. */
void job_copies_create(struct job_copies *copies, struct arena *arena, const struct job_spec *spec,
                       const struct job_segments *segments, const struct job_observer *observer)
{
    *copies = (struct job_copies){.arena = arena,
                                  .segments = segments,
                                  .observer = observer,
                                  .level_count = segments->plan->level_count,
                                  .keep = job_falls_back(spec) ? spec->checkpoint.keep : 1,
                                  .first_durable_s = INFINITY,
                                  .load_level = UINT_MAX};
    CHECK(copies->level_count <= CHECKPOINT_LEVEL_MAX && copies->keep > 0);
}

static const struct checkpoint_level *level_of(const struct job_copies *copies, unsigned level)
{
    return &copies->segments->plan->levels[level];
}

static struct series *series_at(const struct shelf *shelf, uint64_t index)
{
    uint64_t place = shelf->first + index;
    return &shelf->series[place < shelf->size ? place : place - shelf->size];
}

static const struct copy *newest(const struct job_copies *copies, unsigned level)
{
    const struct shelf *shelf = &copies->shelves[level];
    if (shelf->count == 0)
        return NULL;
    struct series *last = series_at(shelf, shelf->count - 1);
    if (!last->known) {
        last->newest = job_segments_copy(&last->leap, level, last->save);
        last->known = true;
    }
    return &last->newest;
}

static void drop_newest(struct job_copies *copies, unsigned level)
{
    struct shelf *shelf = &copies->shelves[level];
    CHECK(shelf->count > 0 && shelf->kept >= shelf->count); /* 1 */
    struct series *last = series_at(shelf, shelf->count - 1);
    shelf->kept--;
    last->save -= level_of(copies, level)->every;
    last->known = false;
    if (--last->count == 0)
        shelf->count--;
    copies->dropped++;
}

static void drop_oldest(struct shelf *shelf, uint64_t count)
{
    CHECK(count <= shelf->kept);
    while (count > 0) {
        struct series *oldest = series_at(shelf, 0);
        uint64_t dropped = oldest->count < count ? oldest->count : count;
        oldest->count -= dropped;
        shelf->kept -= dropped;
        count -= dropped;
        if (oldest->count == 0) {
            shelf->first = shelf->first + 1 < shelf->size ? shelf->first + 1 : 0;
            shelf->count--;
        }
    }
}

static void grow(struct shelf *shelf, struct arena *arena)
{
    uint64_t size = shelf->size == 0 ? 4 : 2 * shelf->size;
    struct series *series = ARENA_ARRAY(arena, struct series, size);
    for (uint64_t i = 0; i < shelf->count; i++)
        series[i] = *series_at(shelf, i);
    shelf->series = series;
    shelf->size = size;
    shelf->first = 0;
}

/* A place for a series of so many copies, at most `keep`, up to this save; those beyond it go. */
static struct series *push(struct job_copies *copies, unsigned level, uint64_t count, uint64_t save)
{
    struct shelf *shelf = &copies->shelves[level];
    CHECK(count > 0 && count <= copies->keep && save > shelf->last_save); /* 1 */
    shelf->last_save = save;
    if (shelf->kept + count > copies->keep)
        drop_oldest(shelf, shelf->kept + count - copies->keep);
    if (shelf->count == shelf->size)
        grow(shelf, copies->arena);
    shelf->kept += count;
    struct series *last = series_at(shelf, shelf->count++);
    last->count = count;
    CHECK(shelf->kept <= copies->keep && shelf->count <= shelf->kept); /* 1 */
    return last;
}

static void commit(struct job_copies *copies, unsigned level)
{
    struct shelf *shelf = &copies->shelves[level];
    const struct copy *copy = &shelf->pending;
    shelf->is_pending = false;
    struct series *last = push(copies, level, 1, copy->save);
    last->newest = *copy;
    last->known = true;
    copies->durable[level]++;
    if (copies->observer->saves != NULL) {
        struct saved saved = {copy->durable_s, copy->stall_s, copy->reached.steps, level};
        copies->observer->saves(copies->observer->context, &saved);
    }
}

static void learn_first_durable(struct job_copies *copies)
{
    copies->first_durable_s = INFINITY;
    for (unsigned level = 0; level < copies->level_count; level++) {
        const struct shelf *shelf = &copies->shelves[level];
        if (shelf->is_pending)
            copies->first_durable_s = job_lesser(copies->first_durable_s, shelf->pending.durable_s);
    }
}

/* A copy on this level is being written from now on. */
static void write_copy(struct job_copies *copies, unsigned level, const struct copy *copy)
{
    struct shelf *shelf = &copies->shelves[level];
    CHECK(!shelf->is_pending && copy->durable_s >= copy->began_s); /* 2 */
    shelf->pending = *copy;
    shelf->is_pending = true;
    copies->first_durable_s = job_lesser(copies->first_durable_s, copy->durable_s);
}

void job_copies_settle(struct job_copies *copies, double now_s)
{
    while (now_s >= copies->first_durable_s) {
        unsigned first = UINT_MAX;
        for (unsigned level = 0; level < copies->level_count; level++) {
            const struct shelf *shelf = &copies->shelves[level];
            if (shelf->is_pending && shelf->pending.durable_s <= now_s &&
                (first == UINT_MAX ||
                 shelf->pending.durable_s < copies->shelves[first].pending.durable_s))
                first = level;
        }
        CHECK(first < copies->level_count); /* 3 */
        commit(copies, first);
        learn_first_durable(copies);
    }
}

double job_copies_last_durable_s(const struct job_copies *copies)
{
    double last = -INFINITY;
    for (unsigned level = 0; level < copies->level_count; level++)
        if (copies->shelves[level].is_pending)
            last = job_greater(last, copies->shelves[level].pending.durable_s);
    return last;
}

double job_copies_free_s(const struct job_copies *copies, bool all_levels)
{
    double free_s = -INFINITY;
    for (unsigned level = 0; level < copies->level_count; level++)
        if (copies->shelves[level].is_pending &&
            (all_levels || job_segments_saves_level(copies->segments, level, copies->saves + 1)))
            free_s = job_greater(free_s, copies->shelves[level].pending.durable_s);
    return free_s;
}

/* What goes on in the background begins after the sum of the stalls. */
double job_copies_begin(struct job_copies *copies, const struct ledger_mark *now, double at_s,
                        bool all_levels)
{
    double stall_s = 0.0;
    bool saves[CHECKPOINT_LEVEL_MAX] = {false};
    copies->saves++;
    for (unsigned level = 0; level < copies->level_count; level++) {
        saves[level] =
            all_levels || job_segments_saves_level(copies->segments, level, copies->saves);
        stall_s += saves[level] ? level_of(copies, level)->stall_s : 0.0;
    }
    for (unsigned level = 0; level < copies->level_count; level++) {
        if (saves[level]) {
            double durable_s = at_s + stall_s + level_of(copies, level)->persist_s;
            struct copy copy = {*now, copies->saves, at_s, durable_s, stall_s};
            write_copy(copies, level, &copy);
        }
    }
    return stall_s;
}

/* The copies that are still kept of one level; that of the last save is being written. */
static void leap_level(struct job_copies *copies, const struct leap *leap, unsigned level,
                       uint64_t saves, const struct copy *last)
{
    const struct checkpoint_level *of = level_of(copies, level);
    uint64_t every = of->every, made = job_segments_saves(leap, level, saves);
    uint64_t newest_save = every == 1 ? last->save : last->save / every * every;
    if (made == 0)
        return;
    uint64_t pending = newest_save == last->save ? 1 : 0, durable = made - pending;
    if (durable > 0) {
        uint64_t save = newest_save - pending * every;
        struct series *series =
            push(copies, level, durable < copies->keep ? durable : copies->keep, save);
        series->known = false;
        series->save = save - leap->saves;
        series->leap = *leap;
        copies->durable[level] += durable;
    }
    if (pending > 0) {
        struct copy copy = *last;
        copy.durable_s = copy.began_s + copy.stall_s + of->persist_s;
        write_copy(copies, level, &copy);
    }
}

struct ledger_mark job_copies_leap(struct job_copies *copies, const struct leap *leap,
                                   uint64_t saves)
{
    CHECK(leap->saves == copies->saves);
    struct copy last = job_segments_copy(leap, 0, saves);
    job_copies_settle(copies, leap->first_s);
    for (unsigned level = 0; level < copies->level_count; level++)
        leap_level(copies, leap, level, saves, &last);
    copies->saves += saves;
    return last.reached;
}

bool job_copies_is_saved(struct job_copies *copies, double now_s, uint64_t progress)
{
    job_copies_settle(copies, now_s);
    const struct copy *copy =
        copies->level_count == 0 ? NULL : newest(copies, copies->level_count - 1);
    return copy != NULL && copy->reached.progress == progress;
}

/* The copy to come back from: the newest, on the fastest of its levels. */
static void come_back(struct job_copies *copies)
{
    unsigned best = UINT_MAX;
    for (unsigned level = 0; level < copies->level_count; level++) {
        const struct copy *copy = newest(copies, level);
        if (copy != NULL &&
            (best == UINT_MAX || copy->reached.progress > newest(copies, best)->reached.progress))
            best = level;
    }
    copies->load_level = best;
    copies->loaded_began_s = best == UINT_MAX ? 0.0 : newest(copies, best)->began_s;
}

void job_copies_lose(struct job_copies *copies, double now_s, int scope, double taint_s)
{
    job_copies_settle(copies, now_s);
    copies->first_durable_s = INFINITY;
    for (unsigned level = 0; level < copies->level_count; level++) {
        struct shelf *shelf = &copies->shelves[level];
        shelf->is_pending = false;
        if (level_of(copies, level)->survival < scope)
            drop_oldest(shelf, shelf->kept);
        while (shelf->count > 0 && newest(copies, level)->began_s > taint_s)
            drop_newest(copies, level);
    }
    come_back(copies);
    CHECK(copies->loaded_began_s <= job_lesser(now_s, job_greater(taint_s, 0.0))); /* 4 */
}

void job_copies_drop_loaded(struct job_copies *copies)
{
    CHECK(copies->load_level != UINT_MAX);
    drop_newest(copies, copies->load_level);
    come_back(copies);
}

const struct ledger_mark *job_copies_loaded(const struct job_copies *copies)
{
    static const struct ledger_mark start;
    return copies->load_level == UINT_MAX ? &start : &newest(copies, copies->load_level)->reached;
}

double job_copies_load_s(const struct job_copies *copies)
{
    return copies->load_level == UINT_MAX ? 0.0 : level_of(copies, copies->load_level)->load_s;
}
