#include "analysis/record/database/store_tasks.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/output/text/version.h"
#include "analysis/record/database/record_file.h"
#include "sim/digest.h"

#define COUNT(values) (sizeof(values) / sizeof(values)[0])

static void write_meta(struct store *store, const char *key, const char *value)
{
    struct store_value row[] = {store_text(key), store_text(value)};
    store_row(store, STORE_meta, row, COUNT(row));
}

static void write_metas(struct store *store, const struct task_outcome *o)
{
    char seed[24], digest[24];
    snprintf(seed, sizeof seed, "%" PRIu64, o->scenario->configuration.seed);
    snprintf(digest, sizeof digest, "%016" PRIx64, o->played->digest);
    write_meta(store, "schema", "orrery.db/2");
    write_meta(store, "version", ORRERY_VERSION);
    write_meta(store, "scenario", o->scenario->name);
    write_meta(store, "path", o->scenario->path);
    write_meta(store, "text", o->scenario->file.text);
    for (unsigned i = 0; i < o->scenario->file.set_count; i++) {
        char key[24];
        snprintf(key, sizeof key, "set.%04u", i + 1);
        write_meta(store, key, o->scenario->file.sets[i]);
    }
    if (o->scenario->file.catalogue != NULL)
        write_meta(store, "catalogue", o->scenario->file.catalogue);
    write_meta(store, "seed", seed);
    write_meta(store, "digest", digest);
}

/* The numbers of names come before the rows that have them: one table is written at a time. */
struct task_names {
    int64_t *of_node, of_lane[TASK_LANES];
};

static bool takes_part(const struct task_node *node)
{
    return node->meeting != TASK_NONE || node->lane != TASK_NO_LANE;
}

static struct task_names write_names(struct store *store, struct arena *arena,
                                     const struct task_graph *g)
{
    static const char *const lanes[TASK_LANES] = {"compute", "memory", "host"};
    struct task_names names = {.of_node = ARENA_ARRAY(arena, int64_t, g->node_count)};
    for (unsigned lane = 0; lane < TASK_LANES; lane++)
        names.of_lane[lane] = store_string(store, lanes[lane]);
    for (uint32_t n = 0; n < g->node_count; n++)
        if (takes_part(&g->nodes[n]))
            names.of_node[n] = store_string(store, g->nodes[n].name);
    return names;
}

static void write_slices(struct store *store, const struct task_outcome *o)
{
    static const char *const columns[] = {"ts",   "dur",        "wait", "rank",
                                          "lane", "task_group", "name", "node"};
    const struct task_graph *g = o->graph;
    struct arena *arena = arena_create();
    const struct task_names names = write_names(store, arena, g);
    store_insert_begin(store, "task_slice", columns, COUNT(columns));
    for (uint32_t rank = 0; rank < g->rank_count; rank++) {
        for (uint32_t n = g->rank_first[rank]; n < g->rank_first[rank + 1] && store_good(store);
             n++) {
            const struct task_node *node = &g->nodes[n];
            const struct task_times *times = &o->played->times[n];
            const bool meets = node->meeting != TASK_NONE;
            const int64_t begin_ns = digest_ns(times->begin_s);
            if (!takes_part(node))
                continue;
            const struct store_value row[] = {
                store_integer(begin_ns),
                store_integer(digest_ns(times->finish_s) - begin_ns),
                store_integer(begin_ns - digest_ns(times->ready_s)),
                store_integer(rank),
                meets ? store_null() : store_integer(names.of_lane[node->lane]),
                meets ? store_integer((int64_t)g->meetings[node->meeting].group + 1) : store_null(),
                store_integer(names.of_node[n]),
                store_integer((int64_t)node->id),
            };
            store_insert_row(store, row, COUNT(row));
        }
    }
    store_insert_end(store);
    arena_destroy(arena);
}

void store_tasks(struct store *store, const struct task_outcome *o, const struct record *record)
{
    write_metas(store, o);
    record_store(store, record);
    write_slices(store, o);
}
