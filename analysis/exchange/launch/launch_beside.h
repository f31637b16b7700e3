/* launch_beside.h - what a script must know of a scenario beside the configuration of a step:
 * whether it fits in memory, what its keys change in the profile of its software, when it saves. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_BESIDE_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_BESIDE_H

#include "analysis/exchange/launch/launch_room.h"
#include "sim/arena.h"

enum launch_saving {
    LAUNCH_SAVES_UNKNOWN, /* no weeks were simulated */
    LAUNCH_SAVES_NOTHING,
    LAUNCH_SAVES_WAITING, /* training waits until a save is written */
    LAUNCH_SAVES_BEHIND   /* it is written while training runs */
};
struct launch_saves {
    enum launch_saving how;
    const char *policy;   /* "peer-memory"; NULL: no weeks */
    uint64_t every_steps; /* between saves to storage; 0: no weeks, no saves, or no step time */
    double step_s;        /* of the undisturbed job; with every_steps */
    bool optimal;         /* the interval was found, not given */
    bool copies;          /* it also keeps copies in memory, and goes back to these first */
};
/* The profile without the keys of the scenario, and what reading it decides of the training. */
struct launch_plain {
    bool known;
    struct software_profile software;
    struct state_formats state_formats;
};
struct launch_beside {
    bool profile_refused; /* with `software` of the framework's name the scenario breaks a rule */
    struct launch_room room;
    struct launch_plain plain;
    struct launch_saves saves;
};
/* Of a sound scenario, whose layout is that of the script. Simulates a step where there are weeks,
 * and searches an optimal interval as `orrery run` does. Lives in `arena`. */
struct scenario;
struct launch_kind;
void launch_beside_find(const struct scenario *scenario, const struct launch_kind *kind,
                        struct arena *arena, struct launch_beside *out);
/* The same of another layout of it, `c`, of which the weeks are not known. */
void launch_beside_step(const struct scenario *scenario, const struct configuration *c,
                        const struct launch_kind *kind, struct arena *arena,
                        struct launch_beside *out);

#endif
