/* Invariants:
 * 1. A tensor number names at most one live block at a time.
 * 2. held = sum of rounded bytes of live blocks by tenant; their sum is the allocated curve.
 * 3. After a failure nothing more is played.
 * 4. blocks = sum of the hashes of live blocks: equal sums, equal blocks under equal tensors. */
#include "models/memory/ledger.h"

#include <string.h>

#include "models/memory/allocator.h"
#include "models/memory/ledger_passes.h"
#include "models/program/program.h"
#include "sim/check.h"
#include "sim/random.h"

const char *const tenant_names[TENANT_COUNT] = {
    "weights",   "gradients",     "master",  "moments",       "activations",
    "temporary", "communication", "context", "fragmentation",
};

enum ledger_step {
    STEP_SETUP,
    STEP_FIRST,
    STEP_LATER
};
struct live {
    uint32_t block; /* of the allocator; ALLOCATOR_FAILED: none */
    uint8_t tenant;
    bool outside, alive;
    double bytes;
    uint64_t hash;
};
struct ledger_player {
    struct allocator *allocator;
    struct live *live; /* [tensor] */
    double held[TENANT_COUNT];
    struct ledger_result *out;
    double outside_bytes;
    uint64_t blocks;
    struct ledger_point *points;
    uint32_t point_count;
    double allocated_at_peak_bytes;
};

static uint32_t tensor_bound(const struct program *program)
{
    uint32_t bound = 0;
    for (uint32_t i = 0; i < program->setup_count; i++) {
        uint32_t t = program->setup[i].tensor + 1;
        bound = t > bound ? t : bound;
    }
    for (uint32_t i = 0; i < program->ledger_count; i++) {
        uint32_t t = program->ledger[i].tensor + 1;
        bound = t > bound ? t : bound;
    }
    return bound;
}

static uint64_t live_hash(const struct ledger_player *p, const struct ledger_entry *e)
{
    const struct live *live = &p->live[e->tensor];
    uint64_t address = live->outside ? 1 : allocator_block_address(p->allocator, live->block);
    return random_hash((uint64_t)e->tensor << 32 ^ (uint64_t)live->bytes, address);
}

static bool allocate(struct ledger_player *p, const struct ledger_entry *e)
{
    struct live *live = &p->live[e->tensor];
    CHECK(!live->alive);
    live->tenant = e->tenant;
    live->outside = (e->flags & LEDGER_OUTSIDE) != 0;
    if (live->outside) {
        if (!allocator_take_outside(p->allocator, e->bytes))
            return false;
        live->bytes = e->bytes;
        p->outside_bytes += e->bytes;
    } else {
        live->block = allocator_take_on(p->allocator, e->bytes, (e->flags & LEDGER_SIDE) != 0);
        if (live->block == ALLOCATOR_FAILED)
            return false;
        live->bytes = allocator_block_bytes(p->allocator, live->block);
    }
    live->alive = true;
    p->held[live->tenant] += live->bytes;
    live->hash = live_hash(p, e);
    p->blocks += live->hash;
    return true;
}

static void release(struct ledger_player *p, const struct ledger_entry *e)
{
    struct live *live = &p->live[e->tensor];
    CHECK(live->alive);
    live->alive = false;
    p->held[live->tenant] -= live->bytes;
    p->blocks -= live->hash;
    if (live->outside) {
        allocator_give_outside(p->allocator, live->bytes);
        p->outside_bytes -= live->bytes;
    } else {
        allocator_give(p->allocator, live->block);
    }
}

/* Keeps the peaks; the tenants are those of the fullest moment at the reserved peak. */
static void note_peak(struct ledger_player *p, const struct ledger_entry *e, uint32_t step)
{
    struct ledger_result *out = p->out;
    double allocated = allocator_allocated_bytes(p->allocator);
    double reserved = allocator_reserved_bytes(p->allocator);
    if (allocated > out->peak_allocated_bytes)
        out->peak_allocated_bytes = allocated;
    bool higher = reserved > out->peak_reserved_bytes;
    if (!higher && (reserved < out->peak_reserved_bytes || allocated <= p->allocated_at_peak_bytes))
        return;
    if (higher) {
        out->peak_step = step;
        out->peak_op = e->op;
    }
    out->peak_reserved_bytes = reserved;
    p->allocated_at_peak_bytes = allocated;
    memcpy(out->tenants, p->held, sizeof p->held);
    out->tenants[TENANT_FRAGMENTATION] = reserved - allocated;
}

static void note_failure(struct ledger_player *p, const struct ledger_entry *e, uint32_t step)
{
    struct ledger_failure *f = &p->out->failure;
    f->failed = true;
    f->entry = *e;
    f->step = step;
    f->allocated_bytes = allocator_allocated_bytes(p->allocator);
    f->reserved_bytes = allocator_reserved_bytes(p->allocator);
    f->short_bytes = allocator_short_bytes(p->allocator);
    memcpy(p->out->tenants, p->held, sizeof p->held);
    p->out->tenants[TENANT_FRAGMENTATION] = f->reserved_bytes - f->allocated_bytes;
}

static bool play(struct ledger_player *p, const struct ledger_entry *entries, uint32_t begin,
                 uint32_t end, uint32_t step)
{
    for (uint32_t i = begin; i < end; i++) {
        const struct ledger_entry *e = &entries[i];
        if ((e->flags & LEDGER_FIRST_STEP) && step != STEP_FIRST)
            continue;
        if (e->action == LEDGER_FREE) {
            release(p, e);
        } else if (!allocate(p, e)) {
            note_failure(p, e, step);
            return false;
        }
        note_peak(p, e, step);
        if (p->points != NULL && step != STEP_SETUP) {
            p->points[p->point_count++] = (struct ledger_point){
                i, p->live[e->tensor].tenant, allocator_allocated_bytes(p->allocator),
                allocator_reserved_bytes(p->allocator)};
        }
    }
    return true;
}

/* Without points, passes that repeat what has just been played change nothing and are left out. */
static bool play_step(struct ledger_player *p, const struct ledger_entry *entries,
                      struct ledger_passes *passes, uint32_t step)
{
    p->point_count = 0;
    memcpy(p->out->before, p->held, sizeof p->held);
    for (uint32_t i = 0; i < passes->count;) {
        struct ledger_pass *pass = &passes->passes[i];
        pass->before = (struct ledger_moment){p->blocks, allocator_changes(p->allocator)};
        uint32_t repeated = p->points == NULL ? ledger_passes_repeat(passes, i) : 0;
        if (repeated == 0 && !play(p, entries, pass->begin, pass->end, step))
            return false;
        i += repeated > 0 ? repeated : 1;
    }
    return true;
}

static void play_all(struct ledger_player *p, struct arena *arena, const struct program *program)
{
    if (!play(p, program->setup, 0, program->setup_count, STEP_SETUP))
        return;
    p->out->allocated_after_setup_bytes = allocator_allocated_bytes(p->allocator);
    struct ledger_passes passes = ledger_passes_cut(arena, program->ledger, program->ledger_count);
    if (play_step(p, program->ledger, &passes, STEP_FIRST))
        play_step(p, program->ledger, &passes, STEP_LATER);
}

void ledger_play(struct arena *arena, const struct program *program,
                 const struct ledger_limits *limits, bool points, struct ledger_result *out)
{
    *out = (struct ledger_result){0};
    struct ledger_player p = {.out = out};
    if (points)
        p.points = ARENA_ARRAY(arena, struct ledger_point, program->ledger_count + 1);
    struct arena_mark mark = arena_mark(arena);
    p.allocator = allocator_create(arena, limits->usable_bytes, limits->expandable_segments);
    p.live = ARENA_ARRAY(arena, struct live, tensor_bound(program) + 1);
    play_all(&p, arena, program);
    out->outside_bytes = p.outside_bytes;
    out->points = p.points;
    out->point_count = p.point_count;
    arena_rewind(arena, mark);
}
