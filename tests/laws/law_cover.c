/* law_cover.c - pairwise covering: for each pair of levels not met yet, random completions until a
 * legal case holds it; the one of several that meets most new pairs is kept. */
#include <stdio.h>
#include <string.h>

#include "sim/random.h"
#include "tests/laws/law_case.h"

enum {
    LEVEL_MAX = 16,
    TRIALS = 200, /* completions tried for a pair before it counts as impossible */
    CHOICES = 4   /* legal completions to choose the best from */
};
struct covering {
    struct law_cover *out;
    unsigned rank_max, capacity;
    unsigned levels[LAW_FACTOR_COUNT];
    uint64_t draws;
    bool met[LAW_FACTOR_COUNT][LAW_FACTOR_COUNT][LEVEL_MAX][LEVEL_MAX];
};

static uint8_t draw(struct covering *v, unsigned factor)
{
    return (uint8_t)(random_hash(v->draws++, factor) % v->levels[factor]);
}

static unsigned new_pairs(const struct covering *v, const struct law_case *k)
{
    unsigned count = 0;
    for (unsigned a = 0; a < LAW_FACTOR_COUNT; a++)
        for (unsigned b = a + 1; b < LAW_FACTOR_COUNT; b++)
            count += !v->met[a][b][k->level[a]][k->level[b]];
    return count;
}

static void keep(struct covering *v, const struct law_case *k)
{
    v->out->cases[v->out->count++] = *k;
    for (unsigned a = 0; a < LAW_FACTOR_COUNT; a++)
        for (unsigned b = a + 1; b < LAW_FACTOR_COUNT; b++)
            v->met[a][b][k->level[a]][k->level[b]] = true;
}

/* Ranks multiply fast: most draws of degrees are 1, or nothing would be legal. */
static uint8_t draw_level(struct covering *v, unsigned factor)
{
    const bool degree =
        factor == LAW_TP || factor == LAW_PP || factor == LAW_DP || factor == LAW_CP;
    const uint8_t level = draw(v, factor);
    return degree && random_hash(v->draws++, 1) % 2 == 0 ? 0 : level;
}

static bool cover_pair(struct covering *v, unsigned a, unsigned b, unsigned i, unsigned j)
{
    struct law_case best = {{0}};
    unsigned most = 0, found = 0;
    for (unsigned trial = 0; trial < TRIALS && found < CHOICES; trial++) {
        struct law_case k;
        struct law_setup setup;
        for (unsigned f = 0; f < LAW_FACTOR_COUNT; f++)
            k.level[f] = draw_level(v, f);
        k.level[a] = (uint8_t)i;
        k.level[b] = (uint8_t)j;
        if (law_configure(&k, v->rank_max, &setup)) {
            const unsigned count = new_pairs(v, &k);
            best = count > most ? k : best;
            most = count > most ? count : most;
            found++;
        }
    }
    if (found > 0)
        keep(v, &best);
    return found > 0;
}

void law_cover(struct arena *arena, unsigned rank_max, struct law_cover *out)
{
    struct covering *v = ARENA_NEW(arena, struct covering);
    unsigned pairs = 0;
    *out = (struct law_cover){0};
    *v = (struct covering){.out = out, .rank_max = rank_max};
    for (unsigned f = 0; f < LAW_FACTOR_COUNT; f++) {
        v->levels[f] = law_level_count((enum law_factor)f, rank_max);
        for (unsigned g = 0; g < f; g++)
            pairs += v->levels[f] * v->levels[g];
    }
    out->cases = ARENA_ARRAY(arena, struct law_case, pairs);
    for (unsigned a = 0; a < LAW_FACTOR_COUNT; a++) {
        for (unsigned b = a + 1; b < LAW_FACTOR_COUNT; b++) {
            for (unsigned n = 0; n < v->levels[a] * v->levels[b]; n++) {
                const unsigned i = n / v->levels[b], j = n % v->levels[b];
                if (!v->met[a][b][i][j] && !cover_pair(v, a, b, i, j))
                    out->impossible++;
            }
        }
    }
    out->pairs = pairs - out->impossible;
}
