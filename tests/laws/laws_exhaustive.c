/* laws_exhaustive.c - folded equals unfolded for every legal combination of node kind, fabric kind,
 * tp, pp, dp, cp, chunks, schedule and sharding, calm, with a straggler, and with a degraded link
 * too; what else varies (options, recompute, software, order, ...) is drawn by a hash of the case.
 *
 * usage: laws_exhaustive [RANKS [SLICE OF]]    64 ranks by default; slice 0 of 8, 1 of 8, ...
 * Ends with 0 when the law held everywhere. Not a part of ctest: `cmake --build --target
 * laws-exhaustive`. */
#include <stdio.h>
#include <stdlib.h>

#include "models/sharding/sharding_kind.h"
#include "sim/arena.h"
#include "sim/pool.h"
#include "sim/random.h"
#include "tests/laws/law_fold.h"

/* The factors that are walked; the last runs fastest. */
static const enum law_factor walked[] = {LAW_NODE, LAW_FABRIC, LAW_TP,       LAW_PP,      LAW_DP,
                                         LAW_CP,   LAW_VPP,    LAW_SCHEDULE, LAW_SHARDING};
enum {
    WALKED_COUNT = sizeof walked / sizeof walked[0],
    DRAWS = 8, /* of the other factors, until the case is legal */
    BATCH = 4096
};
struct walk {
    unsigned rank_max;
    uint64_t slice, of, index;
    uint8_t level[LAW_FACTOR_COUNT];
    struct law_case *cases;
    struct fold_report *reports;
};

static bool is_walked(unsigned factor)
{
    for (unsigned i = 0; i < WALKED_COUNT; i++)
        if (walked[i] == factor)
            return true;
    return factor == LAW_TROUBLE;
}

static bool advance(struct walk *walk)
{
    for (unsigned i = WALKED_COUNT; i-- > 0;) {
        if (++walk->level[walked[i]] < law_level_count(walked[i], walk->rank_max))
            return true;
        walk->level[walked[i]] = 0;
    }
    return false;
}

/* A legal case with these walked levels; false when none is found. */
static bool complete(const struct walk *walk, enum law_trouble trouble, struct law_case *k)
{
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        struct law_setup setup;
        for (unsigned f = 0; f < LAW_FACTOR_COUNT; f++) {
            const uint64_t hash = random_hash(walk->index, draw * LAW_FACTOR_COUNT + f);
            const unsigned levels = law_level_count((enum law_factor)f, walk->rank_max);
            k->level[f] = (uint8_t)(is_walked(f) ? walk->level[f] : hash % levels);
        }
        k->level[LAW_TROUBLE] = (uint8_t)trouble;
        if (law_configure(k, walk->rank_max, &setup))
            return true;
    }
    return false;
}

/* Too many ranks, whatever else is drawn: most of the walk, and cheap to pass over. */
static bool too_many(const struct walk *walk)
{
    uint64_t ranks = 1;
    for (unsigned f = LAW_TP; f <= LAW_CP; f++)
        ranks *= law_sizes[walk->level[f]];
    return ranks > walk->rank_max;
}

static void play(void *context, size_t index)
{
    struct walk *walk = context;
    law_fold_holds(&walk->cases[index], walk->rank_max, false, &walk->reports[index]);
}

static unsigned play_batch(struct walk *walk, unsigned count)
{
    unsigned faults = 0;
    pool_run(pool_threads_available(), count, play, walk);
    for (unsigned i = 0; i < count; i++) {
        if (walk->reports[i].fault[0] != '\0') {
            printf("%s: %s\n", walk->reports[i].description, walk->reports[i].fault);
            faults++;
        }
    }
    return faults;
}

int main(int argc, char **argv)
{
    struct walk walk = {.rank_max = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 64, .of = 1};
    if (argc > 3) {
        walk.slice = strtoul(argv[2], NULL, 10);
        walk.of = strtoul(argv[3], NULL, 10);
    }
    struct arena *arena = arena_create();
    walk.cases = ARENA_ARRAY(arena, struct law_case, BATCH);
    walk.reports = ARENA_ARRAY(arena, struct fold_report, BATCH);
    unsigned long played = 0, faults = 0;
    unsigned count = 0;
    do {
        walk.index++;
        if (too_many(&walk) || random_hash(walk.index, 0) % walk.of != walk.slice)
            continue;
        static const enum law_trouble troubles[] = {LAW_CALM, LAW_STRAGGLER, LAW_BOTH};
        for (unsigned i = 0; i < sizeof troubles / sizeof troubles[0]; i++)
            count += complete(&walk, troubles[i], &walk.cases[count]);
        if (count + LAW_TROUBLE_COUNT > BATCH) {
            faults += play_batch(&walk, count);
            played += count;
            count = 0;
        }
    } while (advance(&walk));
    faults += play_batch(&walk, count);
    played += count;
    printf("%lu cases, %lu faults\n", played, faults);
    arena_destroy(arena);
    return faults > 0 || played == 0;
}
