#include "sim/nearest.h"

#include <string.h>

enum {
    WORD_MAX = 63
};

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned nearest_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > WORD_MAX || columns > WORD_MAX) {
        return (unsigned)-1;
    }
    unsigned cost[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t i = 0; i <= rows; i++) {
        cost[i][0] = (unsigned)i;
    }
    for (size_t j = 0; j <= columns; j++) {
        cost[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            unsigned change = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            unsigned best = smaller(change, smaller(cost[i - 1][j], cost[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = smaller(best, cost[i - 2][j - 2] + 1);
            }
            cost[i][j] = best;
        }
    }
    return cost[rows][columns];
}

struct nearest nearest_begin(const char *word)
{
    /* One edit for each three characters, and always one: "tpp" finds "tp". */
    unsigned allowed = (unsigned)(strlen(word) / 3);
    return (struct nearest){.word = word, .distance = (allowed > 0 ? allowed : 1) + 1};
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    unsigned distance = nearest_distance(nearest->word, candidate);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->best = candidate;
    }
}
