/* job_result.h - what one replication tells: the classes of its time, its interruptions, its sums.
 */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_RESULT_H
#define ORRERY_MODELS_JOB_PARTS_JOB_RESULT_H

#include "models/fleet/fleet.h"
#include "models/job/parts/job_spec.h"

/* Where wall time goes; interface.md names them. */
#define BADPUT_CLASSES(X)                                                                          \
    X(useful, "steps whose result was kept, at full speed")                                        \
    X(checkpoint, "standing still while a checkpoint is taken")                                    \
    X(lost_work, "steps that a failure undid")                                                     \
    X(detect, "until the failure was noticed")                                                     \
    X(restart, "from there to the first step: the chain, loading, warm-up")                        \
    X(wait, "for a spare or a repair")                                                             \
    X(degraded, "what slow parts, missing replicas and background writes added to kept steps")     \
    X(maintenance, "planned")
enum badput_class {
#define X(name, doc) BADPUT_##name,
    BADPUT_CLASSES(X)
#undef X
    BADPUT_COUNT
};
extern const char *const badput_names[BADPUT_COUNT], *const badput_docs[BADPUT_COUNT];

/* Why a replication ended. */
#define JOB_ENDS(X)                                                                                \
    X(done, "the work was done")                                                                   \
    X(time_up, "run.duration was over")                                                            \
    X(stopped, "whoever watched it stopped it")                                                    \
    X(no_nodes, "the job stands for good: nodes are lost, and none is under repair")               \
    X(in_vain, "a limit: 100,000 failures and planned stops in a row kept no further step")        \
    X(failures, "a limit: ten million failures")                                                   \
    X(stops, "a limit: a million planned stops")                                                   \
    X(wall_clock, "a limit: a hundred years of wall clock")                                        \
    X(condition,                                                                                   \
      "a limit: no step can be simulated with the units that are slow or missing by then")
enum job_end {
#define X(name, doc) JOB_END_##name,
    JOB_ENDS(X)
#undef X
    JOB_END_COUNT
};
extern const char *const job_end_names[JOB_END_COUNT], *const job_end_docs[JOB_END_COUNT];

/* One interruption, told when the job runs again (or the run ends). */
struct interruption {
    double at_s;                /* wall clock */
    uint32_t cause, node, unit; /* of job_spec.causes; node UINT32_MAX: none */
    uint64_t step;              /* that it struck */
    uint64_t loaded_step;       /* that the job came back to; where others went on: `step` */
    double lost_s, lost_steps;
    double links_s[RESTART_LINK_COUNT];
    double wait_s, load_s;
    double resumed_at_s; /* < 0: the run ended before */
    unsigned level;      /* of the checkpoint that it came back from; UINT_MAX: from the start */
    uint32_t strikes;    /* further failures that struck the recovery; their links are summed in */
    bool spare_taken, others_went_on;
};
/* Who watches something long: asked now and then with the share of it that is done; false: stop. */
struct job_watch {
    void *context;
    bool (*goes_on)(void *context, double done_ratio);
};
struct saved { /* one durable checkpoint */
    double at_s, stall_s;
    uint64_t step;
    unsigned level;
};
/* Told as it happens, for `run`; any may be NULL. Steps that are fast-forwarded tell no saves
 * unless `saves` is set, which costs their number. */
struct job_observer {
    void *context;
    const struct job_watch *watch;
    /* Every failure that struck, also those during a recovery, in order. `repair_s`: of its node,
     * as drawn or given; 0: a restart mends it. With it a trace of the run can be written that
     * gives the same run (trace_event). */
    void (*failure)(void *context, const struct fleet_event *event, double at_s, double repair_s);
    void (*interruption)(void *context, const struct interruption *interruption);
    void (*saves)(void *context, const struct saved *saved);
    bool worst_hour;   /* to be found: costs the number of saves */
    bool step_by_step; /* every step and save is an event of its own, for the law test */
};
enum {
    JOB_STRETCHES_MAX = 1 << 20 /* times that it stood still, kept for the worst hour */
};
/* Energy at the wall, by what the time went to; NAN: power not known. */
struct job_energy {
    double all_j;                      /* the classes and the spares */
    double class_j[BADPUT_COUNT];      /* of the paid GPUs; of `restart` the sum of ... */
    double link_j[RESTART_LINK_COUNT]; /* ... its links (`detect` is a class of its own) ... */
    double load_j;                     /* ... and the loads */
    double spares_j;                   /* idle, under power */
};
struct job_result {
    double wall_s; /* up to the end, whatever it was: of done work no more than it took */
    double badput_s[BADPUT_COUNT];             /* sums to wall_s */
    double restart_link_s[RESTART_LINK_COUNT]; /* with the loads `detect` and `restart` */
    struct job_parts {
        double load_s;         /* of `restart` */
        double planned_lost_s; /* of `lost_work`: at planned restarts */
    } part;
    double steps_completed; /* kept, in full steps' worth of tokens */
    double tokens_completed;
    uint64_t failures, interruptions, checkpoints, spares_taken, rollbacks_past_corrupt;
    uint64_t copies[CHECKPOINT_LEVEL_MAX]; /* that became durable, by level: `checkpoints` in all */
    struct fleet_skipped skipped;          /* incidents of traces that struck nothing */
    double goodput, ettr;
    /* Lowest share of useful + degraded in any one hour; NAN: the run is shorter, nobody asked, or
     * it stood still more than JOB_STRETCHES_MAX times. */
    double ettr_worst_hour;
    double cost_usd; /* NAN: prices not known */
    struct job_energy energy;
    bool finished; /* the work was done */
    enum job_end end;
};
/* Of `copies` that became durable one after the other, evenly over a run, each kept until `keep`
 * newer ones are: how many are there in the mean over the run. */
double job_copies_held(uint64_t copies, uint64_t keep);
/* What the copies cost to keep while the run lasts: part of cost_usd. */
struct job_spec;
double job_storage_usd(const struct job_spec *spec, const struct job_result *result);
static inline bool job_end_is_limit(enum job_end end)
{
    return end >= JOB_END_in_vain;
}

#endif
