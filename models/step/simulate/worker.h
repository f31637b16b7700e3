/* worker.h - the player of programs: every rank class carries out its ops.
 *
 * A rank issues ops in program order (the host), each on its stream; compute advances without the
 * calendar as far as nothing outside is waited for, communication goes to the network. Sensitive
 * compute (beside interfering traffic) is played by events, because its speed changes meanwhile.
 * Records for each op: when it was posted (stream free, waits done, host launched), began (all
 * members had arrived) and finished. It promises: every op of every class finishes, or a CHECK
 * names the ranks that wait for each other. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_WORKER_H
#define ORRERY_MODELS_STEP_SIMULATE_WORKER_H

#include "models/step/simulate/breakdown.h"
#include "models/step/simulate/network.h"

struct op_times {
    double post_s, begin_s, finish_s;
};
struct worker;
struct worker_options {
    double jitter_sigma; /* log-normal, each compute op */
    double excess_ratio; /* all compute takes this much longer than on the mean card */
    uint64_t seed;
    const double *start_s; /* [rank class]: before it nothing of the rank runs; NULL: 0 */
};
struct worker *worker_create(struct sim *sim, const struct symmetry *symmetry,
                             const struct lowered *lowered, const struct layout *layout,
                             const struct worker_options *options);
void worker_start(struct worker *worker);              /* then sim_run */
struct network *worker_network(struct worker *worker); /* the one it made; owned by the sim */
/* Of one op of a rank class, after sim_run. Made on the spot from finishes, and the begins of
 * activities, which are all that is kept: 8 bytes an op, 12 an activity of a group class. */
struct op_times worker_times(const struct worker *worker, uint32_t rank_class, uint32_t op);
/* The same of all its ops, in their order: out has room for one each. */
void worker_read(const struct worker *worker, uint32_t rank_class, struct op_times *out);
/* Do two rank classes play one program at the same times, to the bit? Then worker_read gives the
 * same of both. */
bool worker_alike(const struct worker *worker, uint32_t a, uint32_t b);
double worker_finish_s(const struct worker *worker, uint32_t rank_class);
/* Divides the step of a rank class, until the last rank has finished, into parts that sum to it. */
void worker_breakdown(const struct worker *worker, uint32_t rank_class, double parts[PART_COUNT]);
/* Why the compute stream of a rank class stood still between its ops, until the last rank has
 * finished: spans in order of time that, with the ops of the stream, tile the step but for
 * rounding. Their sums by part are those of worker_breakdown, but for what is inside ops: the work
 * itself, and the share of `straggler` that is the pace of the slowest card
 * (worker_options.excess_ratio). `arena` keeps them; returns the first of `count`. */
struct worker_idle {
    double from_s, until_s;
    enum breakdown_part part;
};
const struct worker_idle *worker_idle(const struct worker *worker, uint32_t rank_class,
                                      struct arena *arena, uint32_t *count);
/* The same with the ops of the stream, each by its phase and the pace behind it: spans that tile
 * the step, and sum to worker_breakdown by part. */
const struct worker_idle *worker_spans(const struct worker *worker, uint32_t rank_class,
                                       struct arena *arena, uint32_t *count);
/* A piece of what the wires carried: `bytes` over each wire of a class, evenly over the time. */
struct worker_load {
    uint32_t link, rank_class; /* class of links; a rank class that takes part */
    double from_s, until_s;
    double bytes;
};
typedef void worker_load_fn(void *context, const struct worker_load *load);
/* After sim_run: everything that was carried, in no order. The rates are those of the play, so at
 * no instant do the pieces of a wire add up to more than its capacity, and over the step they add
 * up to network_link_bytes. Costs what the network's part of the play did. */
void worker_loads(const struct worker *worker, worker_load_fn *take, void *context);
uint64_t worker_op_count(const struct worker *worker); /* ops played, all classes */

#endif
