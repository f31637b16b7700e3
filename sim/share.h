/* share.h - weighted max-min fair sharing of links by activities.
 *
 * An activity (a flow, or a whole collective) moves `work` units at rate r and loads each link l
 * that it uses with r x weight_l. Rates are max-min fair in r / fairness, under sum of loads <=
 * capacity on every link and r <= cap. Rates change only when an activity starts or ends; only the
 * component around the change is solved again.
 *
 * Exact under symmetry: the same set of rates comes out bit for bit whether n alike activities are
 * given one by one, or as one activity with the summed weights (weights are rounded to multiples of
 * 2^-24 by share_weight, so that their sums are exact, and loads are subtracted by fill level).
 *
 * Levels (r / fairness) that differ by less than 2^-40 of them on one link are taken as the same:
 * so much for rounding. Then rates depend on what is there, not on the history that led to it.
 *
 * Use: start/finish any number at one instant, then share_solve once, then read what changed.
 * It knows no clock: `now_s` is given. Sources: Bertsekas & Gallager, Data Networks, 6.5.2
 * (progressive filling). */
#ifndef ORRERY_SIM_SHARE_H
#define ORRERY_SIM_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/arena.h"

struct share;
struct share_use {
    uint32_t link;
    double weight; /* load on the link for each unit of rate; > 0, from share_weight */
};
struct share_demand { /* of an activity */
    double work;      /* units */
    double cap;       /* units/s: its own ceiling */
    double fairness;
};

struct share *share_create(struct arena *arena, uint32_t link_count, const double *capacity);
double share_weight(double weight); /* rounded to a multiple of 2^-24, at least 2^-24 */

/* Starts an activity; `uses` is copied (several uses of one link add up). `cap` > 0 is its own
 * ceiling in units/s (INFINITY: none; an activity without links must have a finite cap). `fairness`
 * > 0; where it is not 1, fairness x weight is rounded as by share_weight, so take whole numbers.
 * The weights on one link must add up to less than 2^28. Its rate is 0 until the next share_solve.
 * Returns its id (ids are reused). */
uint32_t share_start(struct share *share, double now_s, struct share_demand demand,
                     const struct share_use *uses, size_t use_count);
void share_finish(struct share *share, double now_s, uint32_t activity);

/* Solves what changed since the last call. Returns how many activities have a new finish time and
 * points `changed` at their ids (valid until the next call), in ascending order. */
size_t share_solve(struct share *share, double now_s, const uint32_t **changed);
double share_rate(const struct share *share, uint32_t activity);
double share_finish_s(const struct share *share, uint32_t activity); /* INFINITY at rate zero */
/* After share_solve, what an activity has its rate from: its own ceiling; or this link alone, which
 * would give it the same to the bit if it used no other (filled anew, which changes nothing). */
bool share_at_cap(const struct share *share, uint32_t activity);
bool share_held_by(struct share *share, uint32_t activity, uint32_t link);
/* Load moved so far: sum of work done x weight. Not bit for bit the same under symmetry, as rates
 * are: it is a sum over activities. */
double share_moved(const struct share *share, uint32_t link, double now_s);
double share_busy_s(const struct share *share, uint32_t link, double now_s); /* time with load */

#endif
