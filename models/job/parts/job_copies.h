/* job_copies.h - a part of the player `job`: checkpoints that are being written, those that are
 * kept, level by level, and the one that the job comes back from.
 *
 * A save begins copies on some levels; each becomes durable at its moment without an event: whoever
 * asks says what time it is. Those of a leap over many saves are worked out when they are asked
 * for: most never are. Knows what a copy holds (job_ledger.h), not what has become of it since. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_COPIES_H
#define ORRERY_MODELS_JOB_PARTS_JOB_COPIES_H

#include "models/job/parts/job_result.h"
#include "models/job/parts/job_segments.h"

struct series { /* copies of a level, one after the other: of one save, or of a leap */
    uint64_t count;
    struct copy newest; /* valid when known */
    bool known;
    uint64_t save; /* of the newest, counted from where the leap began */
    struct leap leap;
};
struct shelf {             /* the copies of one level */
    struct series *series; /* ring */
    uint64_t size, first, count;
    uint64_t kept;       /* copies of all series: at most `keep` */
    uint64_t last_save;  /* number of the last one that became durable */
    struct copy pending; /* being written */
    bool is_pending;
};
struct job_copies {
    struct arena *arena;
    const struct job_segments *segments;
    const struct job_observer *observer;
    struct shelf shelves[CHECKPOINT_LEVEL_MAX];
    unsigned level_count;
    uint64_t keep;          /* copies of each level that can matter */
    uint64_t saves;         /* begun so far */
    double first_durable_s; /* of what is being written; INFINITY: nothing is */
    unsigned load_level;    /* of the copy that was come back to; UINT_MAX: the start */
    double loaded_began_s;  /* when the save of that copy began */
    uint64_t durable[CHECKPOINT_LEVEL_MAX]; /* copies that became so, by level */
    uint64_t dropped;                       /* as tainted, or unreadable */
};

/* Borrows all of it. */
void job_copies_create(struct job_copies *copies, struct arena *arena, const struct job_spec *spec,
                       const struct job_segments *segments, const struct job_observer *observer);

/* When the levels of the next save (or all) will be free, and when all that is being written will
 * be durable; -INFINITY: they are, nothing is. */
double job_copies_free_s(const struct job_copies *copies, bool all_levels);
double job_copies_last_durable_s(const struct job_copies *copies);
/* A save begins, of the levels whose turn it is or of all, which are free: for how long training
 * stands still. */
double job_copies_begin(struct job_copies *copies, const struct ledger_mark *now, double at_s,
                        bool all_levels);
/* So many saves of a leap: what the last of them reached. */
struct ledger_mark job_copies_leap(struct job_copies *copies, const struct leap *leap,
                                   uint64_t saves);
/* What is durable by then is kept, in that order. */
void job_copies_settle(struct job_copies *copies, double now_s);
/* So much progress stands on the safest level. */
bool job_copies_is_saved(struct job_copies *copies, double now_s, uint64_t progress);

/* A failure of this scope: what is being written is lost, and every copy that does not survive it
 * or whose save began after `taint_s` (INFINITY: none). The job comes back to the newest left. */
void job_copies_lose(struct job_copies *copies, double now_s, int scope, double taint_s);
/* The copy that was come back to cannot be read: to the one before. */
void job_copies_drop_loaded(struct job_copies *copies);
/* What the copy that was come back to holds, and how long it loads. */
const struct ledger_mark *job_copies_loaded(const struct job_copies *copies);
double job_copies_load_s(const struct job_copies *copies);

#endif
