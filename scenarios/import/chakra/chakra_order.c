#include "scenarios/import/chakra/chakra_order.h"

#include <inttypes.h>

#include "sim/list.h"

static inline bool row_before(const uint32_t *a, const uint32_t *b)
{
    return *a < *b;
}
HEAP_DEFINE(ready_rows, uint32_t, row_before, 2)

struct followers {
    uint32_t *first, *rows; /* [node], and the end: who waits for it */
};

static struct followers list_followers(struct arena *arena, const struct chakra_trace *t)
{
    struct followers f = {.first = ARENA_ARRAY(arena, uint32_t, (size_t)t->node_count + 2),
                          .rows = ARENA_ARRAY(arena, uint32_t, t->wait_count)};
    uint32_t start = 0;
    for (uint32_t w = 0; w < t->wait_count; w++)
        f.first[t->waits[w] + 1]++;
    for (uint32_t n = 1; n <= t->node_count; n++) { /* counts -> starts, which placing moves on */
        const uint32_t count = f.first[n];
        f.first[n] = start;
        start += count;
    }
    for (uint32_t n = 0; n < t->node_count; n++) {
        const struct chakra_node *node = &t->nodes[n];
        for (uint32_t w = node->wait_first; w < node->wait_first + node->wait_count; w++)
            f.rows[f.first[t->waits[w] + 1]++] = n;
    }
    return f;
}

/* A node that is left waits for one that is left: walking on, one comes again. */
static bool tell_circle(struct arena *arena, const struct chakra_trace *t, const uint32_t *left,
                        struct error *error)
{
    bool *walked = ARENA_ARRAY(arena, bool, t->node_count);
    uint32_t at = 0, next = 0;
    while (left[at] == 0)
        at++;
    for (next = at; !walked[next];) {
        const struct chakra_node *node = &t->nodes[next];
        uint32_t w = node->wait_first;
        walked[next] = true;
        while (left[t->waits[w]] == 0)
            w++;
        at = next;
        next = t->waits[w];
    }
    return error_set(error,
                     "%s: node %" PRIu64 " (%.40s) waits for node %" PRIu64
                     " (%.40s), which waits for it, perhaps by way of others: no order plays them",
                     t->path, t->nodes[at].id, t->nodes[at].name, t->nodes[next].id,
                     t->nodes[next].name);
}

bool chakra_order(const struct chakra_trace *t, uint32_t *out, struct error *error)
{
    struct arena *arena = arena_create();
    const struct followers f = list_followers(arena, t);
    uint32_t *left = ARENA_ARRAY(arena, uint32_t, t->node_count), count = 0;
    struct ready_rows ready = {0};
    for (uint32_t n = 0; n < t->node_count; n++) {
        left[n] = t->nodes[n].wait_count;
        if (left[n] == 0)
            ready_rows_push(&ready, arena, n);
    }
    while (ready.count > 0) {
        const uint32_t node = ready.items[0];
        ready_rows_pop(&ready);
        out[count++] = node;
        for (uint32_t i = f.first[node]; i < f.first[node + 1]; i++)
            if (--left[f.rows[i]] == 0)
                ready_rows_push(&ready, arena, f.rows[i]);
    }
    const bool good = count == t->node_count || tell_circle(arena, t, left, error);
    arena_destroy(arena);
    return good;
}
