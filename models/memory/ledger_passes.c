#include "models/memory/ledger_passes.h"

#include <stdbool.h>
#include <string.h>

#include "sim/random.h"

enum {
    CYCLE_MAX = 64 /* passes; interleaved: two for each stage and chunk of a group */
};

static uint64_t add_entry(uint64_t content, const struct ledger_entry *e)
{
    uint64_t bytes;
    memcpy(&bytes, &e->bytes, sizeof bytes);
    uint64_t kind =
        (uint64_t)e->tensor << 24 | (uint64_t)e->action << 16 | (uint64_t)e->tenant << 8 | e->flags;
    return random_hash(content ^ kind, bytes);
}

struct ledger_passes ledger_passes_cut(struct arena *arena, const struct ledger_entry *entries,
                                       uint32_t count)
{
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < count; i++)
        cuts += i == 0 || entries[i].microbatch != entries[i - 1].microbatch;
    struct ledger_passes out = {ARENA_ARRAY(arena, struct ledger_pass, cuts + 1), 0};
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || entries[i].microbatch != entries[i - 1].microbatch)
            out.passes[out.count++] = (struct ledger_pass){.begin = i};
        struct ledger_pass *pass = &out.passes[out.count - 1];
        pass->content = add_entry(pass->content, &entries[i]);
        pass->end = i + 1;
    }
    return out;
}

static bool same_moment(const struct ledger_pass *a, const struct ledger_pass *b)
{
    return a->before.blocks == b->before.blocks && a->before.segments == b->before.segments;
}

/* Do the passes from `at` on do what the `cycle` before it did? */
static bool same_passes(const struct ledger_passes *p, uint32_t at, uint32_t cycle)
{
    for (uint32_t i = at; i < at + cycle; i++)
        if (i == p->count || p->passes[i].content != p->passes[i - cycle].content)
            return false;
    return true;
}

uint32_t ledger_passes_repeat(struct ledger_passes *p, uint32_t at)
{
    for (uint32_t cycle = 1; cycle <= CYCLE_MAX && cycle <= at; cycle++) {
        if (same_moment(&p->passes[at], &p->passes[at - cycle]) && same_passes(p, at, cycle)) {
            for (uint32_t i = at; i < at + cycle; i++)
                p->passes[i].before = p->passes[i - cycle].before;
            if (at + cycle < p->count)
                p->passes[at + cycle].before = p->passes[at].before;
            return cycle;
        }
    }
    return 0;
}
