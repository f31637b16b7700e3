/* run_measured.h - `--measured [SCENARIO:]step=TIME`: steps that the user has measured. */
#ifndef ORRERY_ANALYSIS_COMMAND_SHARED_RUN_MEASURED_H
#define ORRERY_ANALYSIS_COMMAND_SHARED_RUN_MEASURED_H

#include "analysis/command/line/load.h"
#include "analysis/record/evidence/measured_steps.h"

struct own_step {
    const char *path; /* NULL: the scenario of the line itself */
    double measured_s;
};
/* "mine.yaml:step=3.1s", or "step=3.1s". The path lives in the arena. False with a part of a
 * sentence in `why`, of 256 bytes. */
bool run_measured_read(struct arena *arena, const char *text, struct own_step *out, char *why);
/* The measured steps of a line. */
struct measured_arguments {
    const struct arguments *line;
    const struct option_list *steps;
    const struct scenario_arguments *scenario; /* how others are read, without its --set */
};
/* Are all of them of that form? Tells each that is not. */
bool run_measured_agree(const struct measured_arguments *a, const struct session *session);
/* EXIT_USAGE, told, of a step shorter than its FLOPs at the dense peak. Tells of one outside of P1
 * to P99 of its forecast, with its quantile: it may be one of something else. */
int run_measured_judge(const struct arguments *line, struct session *session, const char *text,
                       const struct measured_step *measured);
/* Tells of each that is outside of P1 to P99 of what the earlier ones of its scenario leave, by the
 * scatter of steps. `texts`: as the line gives them. */
void run_measured_repeats(const struct arguments *line, struct session *session,
                          const char *const *texts, const struct measured_step *measured,
                          uint32_t count);
/* Draws the measured steps as `how` says and lets them speak of the drawn step. Without any the
 * shift has no steps. EXIT_OK, or the exit code after the reason was told. */
int run_measured_apply(const struct measured_arguments *a, struct session *session,
                       struct arena *arena, const struct uncertainty_options *how,
                       struct uncertain_step *step, struct measured_shift *shift);

#endif
