#include "analysis/record/database/store_job.h"

#include <math.h>

#include "sim/units.h"

#define COUNT(values) (sizeof(values) / sizeof(values)[0])

static struct store_value moment(double seconds)
{
    return store_integer(llround(seconds / NANOSECOND));
}

static void write_failure(struct store *store, const struct job_record *r, int64_t run,
                          const struct job_failure *f)
{
    const struct failure_cause *cause = &r->spec.causes[f->cause];
    struct store_value row[] = {store_null(),
                                store_integer(run),
                                moment(f->at_s),
                                store_real(f->exposed_s),
                                store_text(cause->name),
                                store_text(failure_unit_names[cause->unit]),
                                store_integer(f->unit),
                                f->node == UINT32_MAX ? store_null() : store_integer(f->node),
                                store_real(f->repair_s)};
    store_row(store, STORE_failure, row, COUNT(row));
}

static void write_save(struct store *store, const struct job_record *r, int64_t run,
                       const struct saved *saved)
{
    struct store_value row[] = {store_null(),
                                store_integer(run),
                                moment(saved->at_s),
                                moment(saved->stall_s),
                                store_integer((int64_t)saved->step),
                                store_integer(saved->level),
                                store_text(r->spec.checkpoint.plan.levels[saved->level].tier)};
    store_row(store, STORE_checkpoint, row, COUNT(row));
}

void store_job(struct store *store, const struct job_record *r, int64_t run)
{
    for (size_t i = 0; i < r->failure_count && store_good(store); i++)
        write_failure(store, r, run, &r->failures[i]);
    for (size_t i = 0; i < r->save_count && store_good(store); i++)
        write_save(store, r, run, &r->saves[i]);
}
