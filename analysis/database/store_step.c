/* What a record does not hold: meta, cluster, rank classes, ranks, constants. The timeline is in
 * store_timeline.c. */
#include "analysis/database/store_step.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/database/record_file.h"
#include "analysis/database/store_job.h"
#include "analysis/database/store_timeline.h"
#include "analysis/text/version.h"

const char *const detail_names[] = {"summary", "step", "op", "kernel", "flow", NULL};

#define COUNT(values) (sizeof(values) / sizeof(values)[0])

static void write_meta(struct store *store, const char *key, const char *value)
{
    struct store_value row[] = {store_text(key), store_text(value)};
    store_row(store, STORE_meta, row, COUNT(row));
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
    write_meta(store, "text", result->scenario->text);
    write_meta(store, "seed", seed);
    write_meta(store, "detail", detail_names[detail]);
    if (result->timed) {
        write_meta(store, "digest", digest);
    }
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
    for (uint32_t rank = 0; rank < s->rank_count && store_good(store); rank++) {
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

/* Columns 7 .. 18: the finish and the parts of the step; null when nothing was timed. */
static unsigned write_parts(const struct step *step, uint32_t class_index, bool timed,
                            struct store_value *row)
{
    row[0] = timed ? store_real(worker_finish_s(step->worker, class_index)) : store_null();
    for (unsigned part = 0; part < PART_COUNT; part++) {
        row[1 + part] =
            timed ? store_real(step->class_breakdown_s[class_index][part]) : store_null();
    }
    return 1 + PART_COUNT;
}

static void write_class(struct store *store, const struct result *result, uint32_t class_index)
{
    const struct step *s = result->step;
    const struct rank_class *c = result->timed ? &s->symmetry.ranks[class_index] : NULL;
    const uint32_t program = c != NULL ? c->program : class_index;
    const struct stage_memory *m = &s->memory[program];
    const struct ledger_result *needed = &result->stages[program].needed;
    struct store_value row[32];
    unsigned n = 0;
    row[n++] = store_integer(store_class_id(class_index));
    row[n++] = store_integer(STORE_RUN);
    row[n++] = store_integer(c != NULL ? c->representative : m->representative);
    row[n++] = store_integer(c != NULL ? c->rank_count : m->rank_count);
    row[n++] = store_integer(m->stage);
    row[n++] = store_integer(s->lowered.layers_of_stage[m->stage]);
    row[n++] = store_real(c != NULL ? c->speed_ratio : 1.0);
    n += write_parts(s, class_index, result->timed, row + n);
    row[n++] = store_real(needed->peak_allocated_bytes);
    row[n++] = store_real(needed->peak_reserved_bytes);
    for (unsigned tenant = 0; tenant < TENANT_COUNT; tenant++) {
        row[n++] = store_real(needed->tenants[tenant]);
    }
    row[n++] = store_integer(!m->ledger.failure.failed);
    store_row(store, STORE_rank_class, row, n);
}

static void write_constants(struct store *store, const struct scenario *s)
{
    for (unsigned i = 0; i < s->figure_count; i++) {
        const struct stated_figure *f = &s->figures[i];
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
    for (uint32_t i = 0; i < class_count && store_good(store); i++) {
        write_class(store, result, i);
    }
    write_ranks(store, result);
    if (result->timed) {
        for (uint32_t i = 0; i < class_count && store_good(store); i++) {
            store_timeline(store, result, i, detail);
        }
    }
    if (result->job != NULL) {
        store_job(store, result->job, STORE_RUN);
    }
    write_constants(store, result->scenario);
}
