/* pass.h - a step at pass detail: what a search plays thousands of.
 *
 * The engine's programs are written with whole blocks as one op (lower_runs); what a block, and a
 * pass of blocks, takes is played once, op by op with its transfers, and remembered (pass_blocks);
 * a layout is then played pass by pass, with its messages, the traffic of data parallelism and the
 * optimizer as ops (pass_play). Microbatches beyond those that fill the pipeline repeat what was:
 * with each turn of them the step grows by what the last turn took that was played.
 *
 * It is the step of the engine (step_run) where no two transfers share a wire and no kernel runs
 * beside traffic that slows it; docs/models/pass.md says how far it is off where they do, and
 * tests/laws hold it to that. Memory is not looked at. */
#ifndef ORRERY_MODELS_STEP_ESTIMATE_PASS_H
#define ORRERY_MODELS_STEP_ESTIMATE_PASS_H

#include "models/step/estimate/pass_play.h"
#include "sim/error.h"

/* Layouts that place ranks alike: tp, pp, cp, ep, etp, dp and the order of ranks are those of `c`,
 * and so are shard groups, and whether stages are cut in chunks. */
struct pass_split;
/* The topology is borrowed. */
struct pass_split *pass_split_create(const struct configuration *c,
                                     const struct topology *topology);
void pass_split_destroy(struct pass_split *split);
void pass_split_give(struct pass_split *split); /* as pass_memory_give */
void pass_split_claim(struct pass_split *split);
struct pass_wires *pass_split_wires(struct pass_split *split);

/* One step; the configuration is legal, of the split's axes, and its cluster as it should be: no
 * slow card, no weak link, no noise (CHECKed). The result is a function of the configuration alone,
 * whatever memory and split were asked before. */
void pass_step(struct pass_memory *memory, struct pass_split *split, const struct configuration *c,
               struct pass_played *out);
/* The same step by itself, on a topology and with a memory of its own. False with a sentence when
 * the cluster cannot be built. */
bool pass_alone(const struct configuration *c, struct pass_played *out, struct error *error);
/* A bound that costs as much: pass_step, but for what is sent between passes (weights, gradients,
 * messages), which takes what groups that are alike take alone, not one behind the other and not
 * beside other groups. Op by op they share their wires, so that none is sooner there; where the
 * bound is `loose` (pass_wires.h) one may be. It is no shorter than the step less what was
 * `queued`, unless that was repeated. */
double pass_apart_s(struct pass_memory *memory, struct pass_split *split,
                    const struct configuration *c, bool *loose);
/* A bound that costs little: no step of this configuration takes less. Every stage computes its
 * passes one after the other, each at least as long as its kernels; a stage begins when those
 * before it have passed it a microbatch on, and these end when it has passed the last gradient
 * back.
 */
double pass_least_s(struct pass_memory *memory, const struct configuration *c);
/* Mean power of the cards of a step that takes step_s, W: what its forward, backward and recomputed
 * kernels cost (step_power.h), at most what the cap leaves in their own time; else static power.
 * Op by op a step of that length draws no less: the update is left out, and kernels that traffic
 * slows have more time. It costs as little as the bound above. */
double pass_least_card_w(struct pass_memory *memory, const struct configuration *c, double step_s);
/* Bytes that the fullest rank has allocated at least: the state and the kept activations of the
 * first stage and of the last. */
double pass_least_bytes(struct pass_memory *memory, const struct configuration *c);
/* Microbatches that are played of so many at first: more where these do not end steady. */
uint64_t pass_microbatches_played(const struct configuration *c);

#endif
