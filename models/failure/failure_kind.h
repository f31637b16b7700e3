/* failure_kind.h - the contract of a failure law: when units of one cause fail.
 *
 * Adding one: a file, a row in failure_list.h, a line in models/failure/CMakeLists.txt. A law is a
 * pure writer: it tells the life of one unit; the fleet (models/fleet/fleet.h) keeps ages and
 * draws. */
#ifndef ORRERY_MODELS_FAILURE_FAILURE_KIND_H
#define ORRERY_MODELS_FAILURE_FAILURE_KIND_H

#include <stdbool.h>

#include "models/duration/duration.h"
#include "sim/kind.h"

struct failure_kind {
    struct kind head;
    /* Failures come from a list of moments, not from a law (see failure_cause.trace). */
    bool replays;
    /* The rate of a unit does not depend on its age: `life` is not asked. */
    bool memoryless;
    /* The law of the life of a unit; the fleet asks for lives of new units, and for what is left of
     * those met at a random moment. */
    struct duration (*life)(const struct kind_options *options, double mtbf_s);
    /* Lemons: a share of the nodes whose units of this cause fail `factor` times as often (0, 1
     * where there are none). NULL: none. The mtbf is that of the other nodes. */
    void (*lemons)(const struct kind_options *options, double *share_ratio, double *factor);
    /* Probability that a node of the struck domain goes down with it, 1 where NULL. */
    double (*hit_ratio)(const struct kind_options *options);
};

#define X(name) extern const struct failure_kind failure_##name;
#include "models/failure/failure_list.h"
#undef X
KIND_FAMILY(failure)

#endif
