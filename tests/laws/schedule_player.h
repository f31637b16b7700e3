/* schedule_player.h - two small players for the laws of schedules, independent of the engine.
 *
 * passes_play works from the passes alone: a forward needs the forward of the chunk before, a
 * backward the backward of the chunk after (the last chunk: its own forward); each stage runs its
 * passes in order. programs_play works from the ops: streams in order, waits, and messages that
 * meet and take no time, as collectives do. Both give the time at which the last stage is done, or
 * -1 when all wait. */
#ifndef ORRERY_TESTS_LAWS_SCHEDULE_PLAYER_H
#define ORRERY_TESTS_LAWS_SCHEDULE_PLAYER_H

#include "models/lower/stage/lower.h"
#include "models/schedule/schedule_kind.h"

struct order { /* the passes of every stage */
    struct schedule_shape shape;
    struct pass *passes[8];
    uint32_t count[8];
};
double passes_play(const struct order *order, double forward_s, double backward_s);
double programs_play(const struct lowered *lowered);

#endif
