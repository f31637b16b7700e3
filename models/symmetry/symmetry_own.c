/* symmetry_own.c - links that never carry two activities at once.
 *
 * A communicator has one activity at a time. Two communicators never meet on a wire when some rank
 * is in both and its program puts each op on the one stream wholly before or after each op on the
 * other: the later is posted only when the earlier has finished, and an activity lies between its
 * members' posts and finishes. (A gradient norm after the backward pass uses the NVLinks of the
 * tensor-parallel groups, but never beside them.) If that holds for every two communicators that
 * use a link, it has nothing to share: to each it is a ceiling, not a contended wire. */
#include <string.h>

#include "models/symmetry/symmetry_state.h"
#include "sim/check.h"

enum {
    GROUP_PAIR_MAX = 16
}; /* groups on a link beyond which it is not tried: trunks of a fabric */

struct serial {
    uint32_t together[STREAM_COUNT]; /* bit set of streams that may be busy at once with this one */
};

/* What has finished before an op is posted: the last such op of each stream, numbered from 1. */
struct known {
    uint32_t op[STREAM_COUNT];
};

static void learn(struct known *into, const struct known *knowns, const struct program *program,
                  uint32_t op)
{
    if (op == 0)
        return;
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        const uint32_t other = knowns[op].op[s];
        into->op[s] = other > into->op[s] ? other : into->op[s];
    }
    const unsigned stream = program->ops[op - 1].stream;
    into->op[stream] = op > into->op[stream] ? op : into->op[stream];
}

/* For each op: are the ops before it on the other streams known to have finished? `out` is empty.
 */
static void find_serial(struct arena *arena, const struct program *program, struct serial *out)
{
    struct known *knowns = ARENA_ARRAY(arena, struct known, program->op_count + (size_t)1);
    uint32_t last[STREAM_COUNT] = {0};
    uint32_t last_sync = 0;
    for (uint32_t i = 1; i <= program->op_count; i++) {
        const struct op *op = &program->ops[i - 1];
        struct known *known = &knowns[i];
        learn(known, knowns, program, op->wait[0]);
        learn(known, knowns, program, op->wait[1]);
        learn(known, knowns, program, last_sync);
        learn(known, knowns, program, last[op->stream]);
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            if (known->op[s] < last[s]) {
                out->together[op->stream] |= 1u << s;
                out->together[s] |= 1u << op->stream;
            }
        }
        last[op->stream] = i;
        last_sync = (op->flags & OP_HOST_SYNC) != 0 ? i : last_sync;
    }
}

/* Is some rank of group `a` in group `b` as well, and keeps them apart? */
static bool kept_apart(const struct real *real, const struct serial *serials, uint32_t a,
                       uint32_t b)
{
    const struct layout *layout = real->layout;
    const bool swap = layout_group(layout, a).member_count > layout_group(layout, b).member_count;
    const uint32_t target = swap ? a : b;
    const struct group small = layout_group(layout, swap ? b : a);
    const struct group large = layout_group(layout, target);
    const enum stream roles[] = {symmetry_role(&large, 0), symmetry_role(&large, 1)};
    for (uint32_t i = 0; i < small.member_count; i++) {
        const uint32_t rank = layout_member(layout, &small, i);
        const struct serial *serial = &serials[real->lowered->program_of_rank[rank]];
        const enum stream mine = symmetry_role(&small, i);
        for (unsigned r = 0; r < 2; r++) {
            const bool in_both = layout_group_of(layout, rank, roles[r]) == target;
            if (in_both && (serial->together[mine] >> roles[r] & 1u) == 0)
                return true;
        }
    }
    return false;
}

struct users {                /* groups that load each link, each once */
    uint32_t *first, *groups; /* [used link], and the end */
};

static struct users list_users(struct arena *arena, const struct real *real)
{
    const uint32_t group_count = real->shift.group_rows;
    struct users users = {.first = ARENA_ARRAY(arena, uint32_t, real->used.count + (size_t)2),
                          .groups = ARENA_ARRAY(arena, uint32_t, real->loads.count)};
    uint32_t *seen = ARENA_ARRAY(arena, uint32_t, real->used.count);
    uint32_t *end = users.first + 1;
    for (unsigned pass = 0; pass < 2; pass++) {
        memset(seen, 0, sizeof *seen * real->used.count);
        for (uint32_t g = 0; g < group_count; g++) {
            const struct real_group *group = &real->groups[g];
            for (uint32_t i = 0; i < group->load_count; i++) {
                const uint32_t load = group->load_first + i, link = real->loads.rows[load].link;
                const uint32_t user = symmetry_group_at(real, g);
                if (seen[link] == user + 1)
                    continue;
                seen[link] = user + 1;
                if (pass == 1)
                    users.groups[end[link]] = user;
                end[link]++;
            }
        }
        uint32_t start = 0; /* counts -> where each list starts; placing turns it into its end */
        for (uint32_t l = 0; pass == 0 && l < real->used.count; l++) {
            const uint32_t count = end[l];
            end[l] = start;
            start += count;
        }
    }
    return users;
}

void symmetry_find_own(struct arena *arena, struct real *real)
{
    const uint32_t program_count = real->lowered->program_count;
    real->used.own = ARENA_ARRAY(arena, bool, real->used.count);
    struct serial *serials = ARENA_ARRAY(arena, struct serial, program_count);
    const struct arena_mark mark = arena_mark(arena);
    for (uint32_t p = 0; p < program_count; p++) {
        const struct arena_mark scratch = arena_mark(arena);
        find_serial(arena, real->lowered->programs[p], &serials[p]);
        arena_rewind(arena, scratch);
    }
    const struct users users = list_users(arena, real);
    for (uint32_t l = 0; l < real->used.count; l++) {
        const uint32_t *groups = &users.groups[users.first[l]];
        const uint32_t count = users.first[l + 1] - users.first[l];
        bool own = count <= GROUP_PAIR_MAX;
        for (uint32_t i = 1; own && i < count; i++)
            for (uint32_t j = 0; own && j < i; j++)
                own = kept_apart(real, serials, groups[i], groups[j]);
        real->used.own[l] = own;
    }
    arena_rewind(arena, mark);
}
