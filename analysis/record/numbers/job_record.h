/* job_record.h - one replication of a scenario with `run:`, and all that it told: for the report,
 * the JSON document and the database.
 *
 * job_record_play simulates the ideal step (and every other condition that occurs), completes the
 * job and runs it with the scenario's seed. Borrows the scenario. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_JOB_RECORD_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_JOB_RECORD_H

#include "models/job/player/job.h"
#include "scenarios/assemble/scenario.h"

enum {
    JOB_RECORD_MAX = 1 << 20 /* of each kind of event; what comes after is counted, not kept */
};
struct job_failure {
    double at_s, exposed_s, repair_s; /* wall clock; the fleet's clock; 0: a restart mends it */
    uint32_t cause, unit, node;       /* node UINT32_MAX: none */
};
/* Of the failures of one cause: what is drawn for each goes by its number (fleet_uniform), and a
 * trace of them counts its rows from 0. */
struct job_numbers {
    uint64_t count;
    bool skips; /* they are numbered otherwise: some struck nothing, or there are several streams */
};
struct job_record {
    struct arena *arena;
    struct condition_table *conditions;
    struct job_spec spec;
    struct job_result result;
    struct job_failure *failures;
    struct interruption *interruptions; /* in the order in which they ended */
    struct saved *saves;
    size_t failure_count, interruption_count, save_count;
    uint32_t failure_room, interruption_room, save_room;
    bool cut;                    /* more came than are kept */
    uint64_t *stops;             /* interruptions by cause */
    struct job_numbers *numbers; /* by cause */
    uint64_t of_replicas;        /* interruptions in which the other replicas went on */
    double mean_stall_s;         /* of a checkpoint, over the levels that are not saved each time */
    unsigned step_variants;      /* conditions that were simulated */
};
/* `keep_saves`: also every checkpoint. Watched are the search for an optimal interval, where there
 * is one, and the run; NULL: by nobody. False with a sentence when the step cannot be simulated. */
struct job_watches {
    const struct job_watch *search, *run;
};
bool job_record_play(const struct scenario *scenario, bool keep_saves, struct job_watches watches,
                     struct job_record **out, struct error *error);
void job_record_destroy(struct job_record *record); /* NULL is allowed */
/* Wall time from the failure until the job ran again, or the run ended. */
double job_record_down_s(const struct job_record *record, const struct interruption *one);

#endif
