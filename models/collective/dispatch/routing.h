/* routing.h - to how many places a token goes that visits k of E experts.
 *
 * A place (a rank, a node) holds some consecutive experts. A token chooses k experts at random, all
 * alike; where routing is limited it first chooses so many of the groups into which the experts are
 * split evenly, and its k experts among those (arXiv:2412.19437 section 2.1.2). The sum of the
 * chances over all places is the number of places that a token goes to. Pure functions; they know
 * no rank and no wire. */
#ifndef ORRERY_MODELS_COLLECTIVE_DISPATCH_ROUTING_H
#define ORRERY_MODELS_COLLECTIVE_DISPATCH_ROUTING_H

#include <stdint.h>

struct routing {
    uint32_t experts, per_token;       /* 0 experts: a dense model */
    uint32_t groups, groups_per_token; /* 0 or 1 groups: all experts may be chosen */
};
/* The chance, from 0 to 1, that a token visits any of the experts first .. first + count - 1.
 * Without groups 1 - C(E - count, k) / C(E, k) (deepseek-ai/DeepEP deep_ep/buffers/elastic.py);
 * with them the mean of the same over the groups that are chosen. Exact for a uniform choice. */
double routing_reach(const struct routing *routing, uint32_t first, uint32_t count);
/* Places that a token goes to, in the mean, of `places` that hold as many experts each: at most k.
 * `places` divides the experts. */
double routing_places(const struct routing *routing, uint32_t places);

#endif
