/* What a record does not hold: meta, cluster, rank classes, ranks, constants; of weeks, failures
 * and saves. The timeline is in store_timeline.c. */
#include "analysis/record/database/store_step.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/output/text/version.h"
#include "analysis/record/database/record_file.h"
#include "analysis/record/database/store.h"
#include "analysis/record/database/store_timeline.h"
#include "analysis/record/database/store_wires.h"
#include "analysis/record/numbers/job_record.h"
#include "scenarios/language/inputs.h"
#include "sim/units.h"

const char *const detail_names[] = {"summary", "step", "op", "kernel", "flow", NULL};

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

/* Of weeks, what the record does not hold: every failure, every durable copy of a checkpoint. */
static void store_job(struct store *store, const struct job_record *r, int64_t run)
{
    for (size_t i = 0; i < r->failure_count && store_good(store); i++)
        write_failure(store, r, run, &r->failures[i]);
    for (size_t i = 0; i < r->save_count && store_good(store); i++)
        write_save(store, r, run, &r->saves[i]);
}

static void write_meta(struct store *store, const char *key, const char *value)
{
    struct store_value row[] = {store_text(key), store_text(value)};
    store_row(store, STORE_meta, row, COUNT(row));
}

/* So that the scenario can be built again from the file alone (restore.h). */
static void write_options(struct store *store, const struct scenario *scenario)
{
    for (unsigned i = 0; i < scenario->file.set_count; i++) {
        char key[24];
        snprintf(key, sizeof key, "set.%04u", i + 1);
        write_meta(store, key, scenario->file.sets[i]);
    }
    if (scenario->file.catalogue != NULL)
        write_meta(store, "catalogue", scenario->file.catalogue);
}

static void write_metas(struct store *store, const struct result *result, enum detail detail)
{
    char seed[24], digest[24];
    snprintf(seed, sizeof seed, "%" PRIu64, result->scenario->configuration.seed);
    snprintf(digest, sizeof digest, "%016" PRIx64, result->step->digest);
    write_meta(store, "schema", "orrery.db/2");
    write_meta(store, "version", ORRERY_VERSION);
    write_meta(store, "scenario", result->scenario->name);
    write_meta(store, "path", result->scenario->path);
    write_meta(store, "text", result->scenario->file.text);
    write_options(store, result->scenario);
    struct arena *scratch = arena_create();
    write_meta(store, "files", inputs_lines(scratch, result->scenario->file.inputs));
    arena_destroy(scratch);
    write_meta(store, "seed", seed);
    write_meta(store, "detail", detail_names[detail]);
    if (result->timed)
        write_meta(store, "digest", digest);
}

static void write_cluster(struct store *store, const struct result *result)
{
    const struct topology_spec *t = &result->scenario->configuration.cluster;
    for (uint64_t node = 0; node < t->nodes; node++) {
        struct store_value row[] = {store_integer(STORE_RUN), store_integer((int64_t)node),
                                    store_text(t->node.name)};
        store_row(store, STORE_node, row, COUNT(row));
    }
    for (uint64_t gpu = 0; gpu < t->nodes * t->node.gpus; gpu++) {
        struct store_value row[] = {store_integer(STORE_RUN), store_integer((int64_t)gpu),
                                    store_integer((int64_t)(gpu / t->node.gpus)),
                                    store_text(result->scenario->configuration.gpu.name)};
        store_row(store, STORE_gpu, row, COUNT(row));
    }
}

static void write_ranks(struct store *store, const struct result *result)
{
    const struct step *s = result->step;
    for (uint32_t rank = 0; rank < s->counts.ranks && store_good(store); rank++) {
        struct coordinates at = layout_coordinates(&result->scenario->configuration, rank);
        uint32_t class_index =
            result->timed ? s->symmetry.class_of_rank[rank] : s->lowered.program_of_rank[rank];
        struct store_value row[] = {
            store_integer(STORE_RUN),
            store_integer(rank),
            store_integer(store_class_id(class_index)),
            result->timed ? store_integer(s->layout.gpu_of_rank[rank]) : store_null(),
            store_integer(at.tp),
            store_integer(at.cp),
            store_integer(at.dp),
            store_integer(at.pp),
        };
        store_row(store, STORE_rank, row, COUNT(row));
    }
}

/* A row of rank_class on its way: names are the same for every class. */
struct class_row {
    const char *names[STORE_NAMES_MAX];
    struct store_value cells[STORE_NAMES_MAX];
    char words[PART_COUNT + TENANT_COUNT][32];
    unsigned count, word_count;
};

static void put(struct class_row *row, const char *name, struct store_value value)
{
    row->names[row->count] = name;
    row->cells[row->count++] = value;
}

/* A column whose name is that of a list, with its unit. */
static void put_listed(struct class_row *row, const char *name, const char *unit,
                       struct store_value value)
{
    char *word = row->words[row->word_count++];
    snprintf(word, sizeof row->words[0], "%s_%s", name, unit);
    put(row, word, value);
}

static void put_times(struct class_row *row, const struct result *result, uint32_t class_index)
{
    const struct step *s = result->step;
    const bool timed = result->timed;
    put(row, "finish_s",
        timed ? store_real(worker_finish_s(s->worker, class_index)) : store_null());
    for (unsigned part = 0; part < PART_COUNT; part++) {
        put_listed(row, breakdown_names[part], "s",
                   timed ? store_real(s->parts.class_breakdown_s[class_index][part])
                         : store_null());
    }
}

static void put_memory(struct class_row *row, const struct ledger_result *needed)
{
    put(row, "peak_allocated_bytes", store_real(needed->peak_allocated_bytes));
    put(row, "peak_reserved_bytes", store_real(needed->peak_reserved_bytes));
    for (unsigned tenant = 0; tenant < TENANT_COUNT; tenant++)
        put_listed(row, tenant_names[tenant], "bytes", store_real(needed->tenants[tenant]));
}

static void fill_class(const struct result *result, uint32_t class_index, struct class_row *row)
{
    const struct step *s = result->step;
    const struct rank_class *c = result->timed ? &s->symmetry.ranks[class_index] : NULL;
    const uint32_t program = c != NULL ? c->program : class_index;
    const struct stage_memory *m = &s->memory[program];
    row->count = row->word_count = 0;
    put(row, "id", store_integer(store_class_id(class_index)));
    put(row, "run", store_integer(STORE_RUN));
    put(row, "first_rank", store_integer(c != NULL ? c->representative : m->representative));
    put(row, "rank_count", store_integer(c != NULL ? c->rank_count : m->rank_count));
    put(row, "stage", store_integer(m->stage));
    put(row, "layers", store_integer(s->lowered.layers_of_stage[m->stage]));
    put(row, "speed_ratio", store_real(c != NULL ? c->speed_ratio : 1.0));
    put_times(row, result, class_index);
    put_memory(row, &result->stages[program].needed);
    put(row, "fits", store_integer(!m->ledger.failure.failed));
}

static void write_classes(struct store *store, const struct result *result, uint32_t class_count)
{
    struct class_row row;
    fill_class(result, 0, &row);
    store_insert_begin(store, "rank_class", row.names, row.count);
    for (uint32_t i = 0; i < class_count && store_good(store); i++) {
        fill_class(result, i, &row);
        store_insert_row(store, row.cells, row.count);
    }
    store_insert_end(store);
}

static void write_constants(struct store *store, const struct scenario *s)
{
    for (unsigned i = 0; i < s->stated.figure_count; i++) {
        const struct stated_figure *f = &s->stated.figures[i];
        struct store_value row[] = {store_integer(STORE_RUN),
                                    store_text(f->name),
                                    f->number ? store_real(f->value) : store_null(),
                                    store_text(f->text),
                                    store_text(f->unit),
                                    store_real(f->error_ratio),
                                    store_text(f->origin),
                                    store_text(f->source)};
        store_row(store, STORE_constant, row, COUNT(row));
    }
}

void store_step(struct store *store, const struct result *result, const struct record *record,
                enum detail detail)
{
    write_metas(store, result, detail);
    record_store(store, record);
    write_cluster(store, result);
    uint32_t class_count = store_class_count(result->step);
    write_classes(store, result, class_count);
    write_ranks(store, result);
    if (result->timed)
        for (uint32_t i = 0; i < class_count && store_good(store); i++)
            store_timeline(store, result, i, detail);
    if (result->timed && detail >= DETAIL_OP)
        store_wires(store, result->step, store_track_count(result->step) + 1);
    if (result->job != NULL)
        store_job(store, result->job, STORE_RUN);
    write_constants(store, result->scenario);
}
