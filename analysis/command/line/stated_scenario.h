/* stated_scenario.h - a scenario that a command line states in a few words (--model, --gpu, --gpus,
 * --sequence, --tokens) in place of a file. */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_STATED_SCENARIO_H
#define ORRERY_ANALYSIS_COMMAND_LINE_STATED_SCENARIO_H

#include "analysis/command/line/load.h"

/* NULL, 0: not said. */
struct stated_arguments {
    const char *model, *gpu;
    uint64_t gpus, sequence, global_batch;
    const char *tokens, *software;
};
/* The options of the line that state one: one table for all commands that take it. */
#define OPTION_STATED_ROWS(stated)                                                                 \
    {"--model",                                                                                    \
     OPTION_TEXT,                                                                                  \
     FIELD(stated.model),                                                                          \
     "NAME",                                                                                       \
     NULL,                                                                                         \
     "a model of the catalogue or a Hugging Face config.json, in place of a file"},                \
        {"--gpu", OPTION_TEXT, FIELD(stated.gpu), "NAME", NULL, "with --model: kind of GPU"},      \
        {"--gpus", OPTION_SOME, FIELD(stated.gpus), "N", NULL, "with --model: GPU count (8)"},     \
        {"--sequence",                                                                             \
         OPTION_SOME,                                                                              \
         FIELD(stated.sequence),                                                                   \
         "N",                                                                                      \
         NULL,                                                                                     \
         "with --model: tokens per sequence (8192, or its positions if fewer)"},                   \
        {"--global-batch",                                                                         \
         OPTION_SOME,                                                                              \
         FIELD(stated.global_batch),                                                               \
         "N",                                                                                      \
         NULL,                                                                                     \
         "with --model: sequences per step (one for each GPU)"},                                   \
        {"--tokens", OPTION_TEXT, FIELD(stated.tokens),                                            \
         "N",        NULL,        "with --model: tokens of the training run, as in 15T"},          \
    {                                                                                              \
        "--software", OPTION_TEXT, FIELD(stated.software), "NAME", NULL,                           \
            "with --model: framework (unnamed: the middle of all)"                                 \
    }

/* Do these words state one scenario? Not none, nor two: a file as well as options. */
bool stated_scenario_sole(const struct arguments *line, const struct stated_arguments *stated,
                          struct error *error);
/* Are these names as the catalogue has them, so that they may go into a text of YAML? */
bool stated_name(const char *name);
/* Does the line state one? */
bool stated_scenario_given(const struct stated_arguments *stated);
/* Reads it as `how` says: a global batch of one sequence for each GPU, all else chosen as for a
 * file that says nothing. EXIT_OK with a scenario (to be destroyed); else the exit code, the
 * problems having been told. */
int stated_scenario(const struct arguments *line, const struct stated_arguments *stated,
                    const struct scenario_arguments *how, struct session *session,
                    struct scenario **out);

#endif
