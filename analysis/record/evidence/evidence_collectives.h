/* evidence_collectives.h - the collectives and messages of a step: what each rests on, what of a
 * profile nothing asks for, and what would measure it. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_EVIDENCE_COLLECTIVES_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_EVIDENCE_COLLECTIVES_H

#include <stdio.h>

#include "analysis/record/numbers/record.h"
#include "models/step/simulate/step.h"

struct collective_use { /* of one operation, group and buffer; each as long as with its wires alone
                         */
    enum comm_op op;
    uint32_t ranks, nodes, ranks_per_node;
    double bytes;     /* full buffer, as nccl-tests counts */
    double gpu_s;     /* of all ranks in a step */
    const char *type; /* its elements as nccl-tests calls them: "bfloat16" */
    enum collective_basis basis;
};
/* All of a played step, in the order of its plans. Owned by the arena. */
const struct collective_use *evidence_collective_uses(struct arena *arena,
                                                      const struct configuration *c,
                                                      const struct step *step, uint32_t *count);
/* Messages of severity `profile`: points of the profile that nothing asked for, and what was asked
 * that it lacks. None where it holds no collective. */
void evidence_tell_points(const struct configuration *c, const struct collective_use *uses,
                          uint32_t count, double rank_count, struct record *out);
/* For people, as comments of a list of shapes: each with its seconds of the mean rank's step, then
 * the lines of nccl-tests that measure them. */
void evidence_print_collectives(FILE *out, struct arena *arena, const struct collective_use *uses,
                                uint32_t count, double rank_count);

#endif
