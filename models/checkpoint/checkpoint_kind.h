/* checkpoint_kind.h - the contract of a checkpoint policy: what a save blocks, when it is durable,
 * what it survives, and how long it takes to come back from it.
 *
 * Adding one: a file, a row in checkpoint_list.h, a line in models/checkpoint/CMakeLists.txt. A
 * policy is a pure writer of levels; the player `job` saves, commits, loses and loads them. */
#ifndef ORRERY_MODELS_CHECKPOINT_CHECKPOINT_KIND_H
#define ORRERY_MODELS_CHECKPOINT_CHECKPOINT_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/error.h"
#include "sim/kind.h"
#include "sim/units.h"

/* What a stored copy outlives, each including the ones before. */
enum survival {
    SURVIVES_PROCESS, /* host memory: gone with its node */
    SURVIVES_NODE,    /* peer memory, replicated: gone when a domain of nodes goes */
    SURVIVES_DOMAIN   /* storage of its own */
};
extern const char *const survival_names[]; /* NULL-ended: process, node, domain */

/* One place that checkpoints are kept in, with the times that the player `storage` found. */
struct checkpoint_tier {
    const char *name;
    int survival;
    bool host_memory;      /* a snapshot ends there: no write follows it */
    double write_s;        /* of the slowest rank, from HBM (see storage.h) */
    double load_s;         /* back into HBM, of the slowest rank */
    double slowdown_ratio; /* of a step while a write goes on in the background; 1: none */
    bool memory;           /* of nodes: nothing wears out */
    double bytes;          /* moved by a write, every copy counted */
    double transfer_s;     /* of write_s, without the latency */
};
enum {
    CHECKPOINT_LEVEL_MAX = 4
};
/* At checkpoint number n, from 1, the levels whose `every` divides n are saved, with the state of
 * the moment at which the save begins. Training stands still for the sum of their stalls; the copy
 * of a level is durable persist_s after that. */
struct checkpoint_level {
    const char *tier;
    int survival;
    uint64_t every;        /* N: saved at every Nth checkpoint, from 1 */
    double stall_s;        /* training stands still so long */
    double persist_s;      /* after the stall, until the copy is durable; 0: durable at its end */
    double slowdown_ratio; /* of steps during persist_s, >= 1 */
    double load_s;
    bool memory;
    double bytes;      /* that a save moves there; 0: not known */
    double transfer_s; /* how long they flow; 0: not known */
    double wear_s;     /* how long they would at the tier's own rate: what drives wear by */
};
struct checkpoint_plan {
    struct checkpoint_level levels[CHECKPOINT_LEVEL_MAX]; /* from the fastest to the safest */
    unsigned level_count; /* 0: nothing is saved, a failure loses all */
    bool every_step;      /* the interval is one step, whatever is asked */
};
struct checkpoint_pace {
    double snapshot_s; /* HBM to host memory, of the slowest rank */
    double step_s;     /* of the undisturbed job */
};
struct checkpoint_kind {
    struct kind head;
    unsigned tiers_min, tiers_max;
    const char *default_storage; /* tiers joined by '+': "host+pfs"; "" for none */
    bool background;             /* it writes while training runs */
    /* `tiers` in the user's order, as many as tiers_min and tiers_max allow. */
    void (*plan)(const struct kind_options *options, const struct checkpoint_pace *pace,
                 const struct checkpoint_tier *tiers, unsigned tier_count,
                 struct checkpoint_plan *out);
    /* The interval that minimises the expected time has a closed form, as long as every level is
     * saved each time. */
    bool closed_optimum;
};

#define X(name) extern const struct checkpoint_kind checkpoint_##name;
#include "models/checkpoint/checkpoint_list.h"
#undef X
KIND_FAMILY(checkpoint)

/* Optimal work between two saves, in seconds (reliability.md; J. T. Daly, Future Generation
 * Computer Systems 22, 2006): exact by Lambert W, and the two classical approximations. `stall_s`
 * is what a save blocks, `mtbf_s` of the job (INFINITY: no failures, and so no saves). A save that
 * blocks nothing is best taken all the time: 0. What a save does in the background moves the
 * expected time by a factor and leaves the optimum where it is. */
double checkpoint_optimum_s(double stall_s, double mtbf_s);
/* The same where failures strike work alone, not saves, and take `restart_s` each [s]: the expected
 * time of a segment is d + (M + R)(e^(tau/M) - 1) (docs/models/jobs.md), least for its work at
 * e^x (x - 1) + 1 = d/(M + R), x = tau/M. */
double checkpoint_sheltered_optimum_s(double stall_s, double mtbf_s, double restart_s);
double checkpoint_young_s(double stall_s, double mtbf_s);
double checkpoint_daly_s(double stall_s, double mtbf_s);

/* Drives of the class that read-intensive flash storage is made of (Samsung PM9A3, Kioxia CM6; 3.84
 * TB) write 4.0 to 4.1 GB/s and are warranted for one drive write a day over five years: 1.1 % of
 * the time. */
#define CHECKPOINT_WEAR_RATIO 0.011
#define CHECKPOINT_WARRANTY_S (5.0 * YEAR)

/* The shortest interval between saves in which drives are written, at their own rate, no longer
 * than `share_ratio` of the time, by the level that asks for most; 0: all is kept in memory. */
double checkpoint_floor_s(const struct checkpoint_plan *plan, double share_ratio);

/* For kinds that write in the background. A save takes a snapshot of the state: a copy to host
 * memory, or what the caps of a tier in host memory make of it. Of that, the part `hidden_ratio`
 * runs beside the forward and backward passes of the next step, which leave the state as it is, as
 * far as it fits into one step; the rest blocks. Tiers are then written one after the other, the
 * safer ones last. Writes levels in that order, each for every checkpoint; where the kind changes
 * `every`, the first stays 1 and each is a multiple of the one before. */
void checkpoint_write_behind(const struct checkpoint_pace *pace, double hidden_ratio,
                             const struct checkpoint_tier *tiers, unsigned tier_count,
                             struct checkpoint_plan *out);

#endif
