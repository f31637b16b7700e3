/* plan_diary.h - the database of a plan: what a search of this line found out before, in this file
 * or in those of shards, and what it finds out now.
 *
 * It holds the words of the line that the result depends on and the text of the scenario, so that
 * shards can be joined, and a plan told, from the files alone (the catalogue and files that the
 * scenario names are read again). Machines of --vary are dealt out to shards one by one; those
 * beyond the last full round, and one machine alone, are cut into n parts. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_DIARY_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_DIARY_H

#include "analysis/command/plan/plan_arguments.h"
#include "analysis/command/plan/plan_line.h"
#include "analysis/output/terminal/shard.h"
#include "analysis/plan/search/search.h"

/* A search that is over, as it is told; all of it is borrowed. */
struct plan_seen {
    const struct search *search;
    const struct scenario *scenario;
    const char *label; /* of several machines: the values that were varied; "": one */
    size_t machines;   /* that are looked at in all */
    struct plan_line line;
};
/* Who looks at each search, in the order of the machines; `look` NULL: nobody. */
struct plan_sight {
    void (*look)(void *context, const struct plan_seen *seen);
    void *context;
};
/* Which part of a plan this process has, and on what it stands. */
struct plan_work {
    struct shard shard;           /* count 0: all of it */
    bool rank;                    /* one of mpirun's: goes on where it was unasked, says nothing */
    const char *const *databases; /* of other shards, or of the whole, to be read */
    unsigned database_count;
    struct plan_sight sight;
};
struct plan_diary;
/* EXIT_OK with a diary (to be closed), or NULL where the line wants none; else the exit code, the
 * problem having been told. `a->text` is there unless the line states its scenario. */
int plan_diary_open(const struct plan_arguments *a, struct session *session,
                    const struct plan_work *work, struct plan_diary **out);
/* Before the search of a machine, of so many: its question gets the diary and the part. False:
 * others search it. `diary` NULL is allowed. */
bool plan_diary_machine(struct plan_diary *diary, size_t machine, size_t count, const char *label,
                        struct search_question *question);
/* Is it of a shard, which tells nothing of the result? */
bool plan_diary_partial(const struct plan_diary *diary);
/* Ends the database, or leaves it to go on from where the search was stopped. `code`, or what went
 * wrong here. Frees; NULL is allowed. */
int plan_diary_close(struct plan_diary *diary, bool stopped, int code);

/* What a file says of the plan that it holds. */
struct plan_held {
    struct arena *arena;
    const char *const *words;
    unsigned word_count;
    const char *text; /* of the scenario; "": the line states it */
    size_t text_bytes;
    const char *files; /* of a machine: what those of its scenario held (inputs.h) */
    struct shard shard;
    bool complete, ours; /* by this version */
};
/* False with a sentence: the file cannot be read, or holds no plan. Lives in the arena. */
bool plan_diary_read(const char *path, struct arena *arena, struct plan_held *out,
                     struct error *error);
/* In what two differ; NULL: they are one plan. */
const char *plan_diary_differs(const struct plan_held *a, const struct plan_held *b);

#endif
