/* fit_draws.h - in which of many draws of the figures of memory a layout fits.
 *
 * Few figures of the catalogue decide what a ledger holds (FIT_FIGURES); all others are of time. To
 * lower and play each draw would cost more than to find the layout, so:
 * 1. What fits with every figure at its worst is taken to fit in all draws: one ledger.
 * 2. Else the stages are lowered as they are, and once more for each drawn figure that sizes
 *    tensors. Between the two the bytes of a tensor are linear in the figure, so one walk over the
 *    entries of a stage gives the peak of allocated bytes in all draws at once, and the margin that
 *    each leaves. Below 0 it does not fit.
 * 3. Beside that peak the allocator needs a rest (fragmentation), which no formula gives. Of the
 *    other draws, in the order of their margins, one in fit_draws_step() is played through it,
 *    and between two that differ all that bisection asks; those between two that agree are as they
 *    are. Of a draw the fullest stage is played, and each other one unless it fitted with no more
 *    margin in another draw.
 * The share that fits is off by 2.5 % of the draws in the mean square and by 9 % at most (seven
 * layouts, each on cards with .98 to 1.12 of what it reserves), where 64 draws have a standard
 * error of 6 %; tests/analysis/plan/test_plan_fitting.c. Were every draw of a stage played: .7 and
 * 1.6 %, at twice the cost. */
#ifndef ORRERY_MODELS_PLAN_FIT_DRAWS_H
#define ORRERY_MODELS_PLAN_FIT_DRAWS_H

#include "models/layout/configuration.h"
#include "sim/arena.h"

/* X(name, member of a configuration, does less of it leave less room?, does it size tensors?). The
 * less the loss holds in the backward pass alone, the more stays from the forward pass to it. */
#define FIT_FIGURES(X)                                                                             \
    X(usable, gpu.hbm.usable_bytes, true, false)                                                   \
    X(context, gpu.hbm.context_bytes, false, false)                                                \
    X(communicator, software.memory.communicator_bytes, false, false)                              \
    X(workspace, software.memory.workspace_bytes, false, true)                                     \
    X(gradient, software.data.gradient_kept_bytes, false, true)                                    \
    X(loss, software.head.memory_bytes, false, true)                                               \
    X(loss_gradient, software.head.gradient_bytes, true, true)                                     \
    X(activation, software.layer.activation_saved_factor, false, true)                             \
    X(host, cluster.node.host.memory_bytes, true, false)
enum fit_figure {
#define X(name, member, less, sizes) FIT_##name,
    FIT_FIGURES(X)
#undef X
    FIT_FIGURE_COUNT
};
struct fit_draws {
    uint32_t count;                     /* 0: no figure of memory is uncertain */
    double (*values)[FIT_FIGURE_COUNT]; /* [draw] */
};
/* The figure of this member; FIT_FIGURE_COUNT: it is none of memory. */
enum fit_figure fit_draws_figure(size_t offset);
double fit_draws_value(const struct configuration *c, enum fit_figure figure);

/* A layout that fits in so many of the draws is sure enough (search_prefer.h): the share that must
 * be told. */
#define FIT_DRAWS_SURE_RATIO 0.9
/* From one draw that is played to the next: those in between, which are not, are no more than one
 * standard error of that share of `count` draws: sqrt(count x .9 x .1). */
uint32_t fit_draws_step(uint32_t count);

/* Of a legal configuration: sets fits[draw], and returns how many fit. `scratch` is left as it was.
 */
uint32_t fit_draws_count(struct arena *scratch, const struct configuration *c,
                         const struct fit_draws *draws, bool *fits);

#endif
