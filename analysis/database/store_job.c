#include "analysis/database/store_job.h"

#include "analysis/result/storage_use.h"

#include <limits.h>
#include <math.h>

#include "sim/units.h"

#define COUNT(values) (sizeof(values) / sizeof(values)[0])

static struct store_value moment(double seconds)
{
    return store_integer(llround(seconds / NANOSECOND));
}

static struct store_value number(double value)
{
    return isfinite(value) ? store_real(value) : store_null();
}

void store_job_columns(const struct job_record *r, struct store_value *row)
{
    for (unsigned i = 0; i < STORE_JOB_COLUMNS; i++) {
        row[i] = store_null();
    }
    if (r == NULL) {
        return;
    }
    const struct job_result *result = &r->result;
    const struct checkpoint_spec *c = &r->spec.checkpoint;
    const struct store_value values[STORE_JOB_COLUMNS] = {
        number(result->wall_s),
        number(result->goodput),
        number(result->ettr),
        number(result->ettr_worst_hour),
        number(result->steps_completed),
        number(result->tokens_completed),
        store_integer((int64_t)result->failures),
        store_integer((int64_t)result->interruptions),
        store_integer((int64_t)result->checkpoints),
        c->interval_s > 0.0 ? store_real(c->interval_s) : store_null(),
        number(c->job_mtbf_s),
        number(result->cost_usd),
        number(result->energy_j),
        store_text(job_end_names[result->end]),
    };
    for (unsigned i = 0; i < STORE_JOB_COLUMNS; i++) {
        row[i] = values[i];
    }
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

static void write_interruption(struct store *store, const struct job_record *r, int64_t run,
                               const struct interruption *one)
{
    const struct failure_cause *cause = &r->spec.causes[one->cause];
    const struct checkpoint_plan *plan = &r->spec.checkpoint.plan;
    bool level = one->level < plan->level_count;
    struct store_value row[19 + RESTART_LINK_COUNT];
    unsigned n = 0;
    row[n++] = store_null();
    row[n++] = store_integer(run);
    row[n++] = moment(one->at_s);
    row[n++] = one->resumed_at_s < 0.0 ? store_null()
                                       : store_integer(llround(one->resumed_at_s / NANOSECOND) -
                                                       llround(one->at_s / NANOSECOND));
    row[n++] = store_text(cause->name);
    row[n++] = store_text(failure_unit_names[cause->unit]);
    row[n++] = store_integer(one->unit);
    row[n++] = one->node == UINT32_MAX ? store_null() : store_integer(one->node);
    row[n++] = store_integer((int64_t)one->step);
    row[n++] = store_real(one->lost_s);
    row[n++] = store_real(one->lost_steps);
    row[n++] = store_real(job_record_down_s(r, one));
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        row[n++] = store_real(one->links_s[link]);
    }
    row[n++] = store_real(one->wait_s);
    row[n++] = store_real(one->load_s);
    row[n++] = level ? store_integer(one->level) : store_null();
    row[n++] = level ? store_text(plan->levels[one->level].tier) : store_null();
    row[n++] = store_integer(one->strikes);
    row[n++] = store_integer(one->spare_taken);
    row[n++] = store_integer(one->others_went_on);
    store_row(store, STORE_interruption, row, n);
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

static void write_class(struct store *store, int64_t run, const char *class, const char *link,
                        double seconds)
{
    struct store_value row[] = {store_integer(run), store_text(class), store_text(link),
                                store_real(seconds)};
    store_row(store, STORE_badput, row, COUNT(row));
}

/* `detect` is one link of the chain; `restart` is split into the others, which sum to it. */
static void write_badput(struct store *store, const struct job_result *result, int64_t run)
{
    for (unsigned i = 0; i < BADPUT_COUNT; i++) {
        if (i != BADPUT_restart) {
            write_class(store, run, badput_names[i], "", result->badput_s[i]);
        }
    }
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        if (link != LINK_DETECT) {
            write_class(store, run, badput_names[BADPUT_restart], restart_link_names[link],
                        result->restart_link_s[link]);
        }
    }
    write_class(store, run, badput_names[BADPUT_restart], "load", result->load_s);
}

static void write_level(struct store *store, const struct job_record *r, int64_t run,
                        unsigned level)
{
    const struct checkpoint_level *l = &r->spec.checkpoint.plan.levels[level];
    struct storage_use storage;
    char text[384];
    storage_use_of(r, level, &storage);
    bool warned = storage_use_warning(r, level, text, sizeof text);
    struct store_value row[] = {store_integer(run),
                                store_integer(level),
                                store_text(l->tier),
                                store_integer((int64_t)l->every),
                                store_real(l->stall_s),
                                store_real(l->persist_s),
                                store_real(l->load_s),
                                store_integer((int64_t)r->result.copies[level]),
                                store_real(l->bytes),
                                store_real(storage.written_bytes),
                                store_real(storage.mean_bytes_per_s),
                                number(storage.peak_bytes_per_s),
                                number(storage.busy_ratio),
                                store_real(storage.kept_bytes),
                                warned ? store_text(arena_text(r->arena, text)) : store_null()};
    store_row(store, STORE_checkpoint_level, row, COUNT(row));
}

void store_job(struct store *store, const struct job_record *r, int64_t run)
{
    for (size_t i = 0; i < r->failure_count && store_good(store); i++) {
        write_failure(store, r, run, &r->failures[i]);
    }
    for (size_t i = 0; i < r->interruption_count && store_good(store); i++) {
        write_interruption(store, r, run, &r->interruptions[i]);
    }
    for (size_t i = 0; i < r->save_count && store_good(store); i++) {
        write_save(store, r, run, &r->saves[i]);
    }
    write_badput(store, &r->result, run);
    for (unsigned i = 0; i < r->spec.checkpoint.plan.level_count; i++) {
        write_level(store, r, run, i);
    }
}
