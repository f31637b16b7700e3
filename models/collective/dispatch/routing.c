/* routing.c
 *
 * Of the groups, a place holds `whole` ones and a part of one more at either end. Which of them are
 * chosen is drawn without replacement, as are the experts among them. */
#include "models/collective/dispatch/routing.h"

#include <stdbool.h>

#include "sim/check.h"

enum {
    ENDS = 2
};
struct held { /* of a place, by groups */
    uint32_t whole, end[ENDS];
};

/* The chance that none of `held` among `all` is chosen, `visits` times without replacement. */
static double missed(uint32_t all, uint32_t held, uint32_t visits)
{
    double chance = 1.0;
    if (all < held + visits)
        return 0.0;
    for (uint32_t i = 0; i < visits; i++)
        chance *= (double)(all - held - i) / (double)(all - i);
    return chance;
}

/* "n choose k"; 0 where k is more than n. */
static double choose(uint32_t n, uint32_t k)
{
    double ways = 1.0;
    if (k > n)
        return 0.0;
    for (uint32_t i = 0; i < k; i++)
        ways *= (double)(n - i) / (double)(i + 1);
    return ways;
}

static struct held held_by(uint32_t size, uint32_t first, uint32_t count)
{
    struct held out = {0};
    const uint32_t end = first + count, head = first % size == 0 ? 0 : size - first % size;
    if (head >= count)
        return count == size ? (struct held){.whole = 1} : (struct held){.end = {count}};
    out.end[0] = head;
    out.whole = (end - end % size - (first + head)) / size;
    out.end[1] = end % size;
    return out;
}

/* Over all choices of groups: how many of the whole ones, which of the ends. */
static double missed_by_groups(const struct routing *r, uint32_t size, const struct held *held)
{
    const uint32_t chosen = r->groups_per_token,
                   ends = (held->end[0] > 0 ? 1u : 0u) + (held->end[1] > 0 ? 1u : 0u);
    double sum = 0.0;
    for (uint32_t ends_taken = 0; ends_taken < 1u << ENDS; ends_taken++) {
        uint32_t experts = 0, taken = 0;
        bool there = true;
        for (uint32_t i = 0; i < ENDS; i++) {
            if ((ends_taken >> i & 1u) == 0)
                continue;
            there = there && held->end[i] > 0;
            experts += held->end[i];
            taken++;
        }
        for (uint32_t whole = 0; there && whole + taken <= chosen && whole <= held->whole; whole++)
            sum += choose(held->whole, whole) *
                   choose(r->groups - held->whole - ends, chosen - whole - taken) *
                   missed(chosen * size, experts + whole * size, r->per_token);
    }
    return sum / choose(r->groups, chosen);
}

double routing_reach(const struct routing *r, uint32_t first, uint32_t count)
{
    CHECK(r->experts > 0 && first + count <= r->experts && r->per_token <= r->experts);
    if (r->groups <= 1 || r->groups_per_token >= r->groups)
        return 1.0 - missed(r->experts, count, r->per_token);
    const uint32_t size = r->experts / r->groups;
    const struct held held = held_by(size, first, count);
    CHECK(r->experts % r->groups == 0 && r->per_token <= size * r->groups_per_token);
    return 1.0 - missed_by_groups(r, size, &held);
}

double routing_places(const struct routing *r, uint32_t places)
{
    const uint32_t each = r->experts / places;
    double sum = 0.0;
    CHECK(places > 0 && r->experts % places == 0);
    for (uint32_t i = 0; i < places; i++)
        sum += routing_reach(r, i * each, each);
    return sum;
}
