/* stated_scenario.h - a scenario that a command line states in a few words (--model, --gpu, --gpus,
 * --sequence, --tokens) in place of a file. */
#ifndef ORRERY_ANALYSIS_LINE_STATED_SCENARIO_H
#define ORRERY_ANALYSIS_LINE_STATED_SCENARIO_H

#include "analysis/line/arguments.h"
#include "analysis/terminal/session.h"
#include "scenarios/build/scenario.h"

/* The options of the line that state one: one table for all commands that take it. */
#define OPTION_STATED_ROWS                                                                         \
    {"--model",    OPTION_TEXT,                                                                    \
     FIELD(model), "NAME",                                                                         \
     NULL,         "a model of the catalogue, or a Hugging Face config.json, in place of a file"}, \
        {"--gpu", OPTION_TEXT, FIELD(gpu), "NAME", NULL, "with --model: kind of GPU"},             \
        {"--gpus", OPTION_SOME, FIELD(gpus), "N", NULL, "with --model: how many (8)"},             \
        {"--sequence",                                                                             \
         OPTION_SOME,                                                                              \
         FIELD(sequence),                                                                          \
         "N",                                                                                      \
         NULL,                                                                                     \
         "with --model: tokens of a sequence (8192, or all of its positions)"},                    \
        {"--global-batch",                                                                         \
         OPTION_SOME,                                                                              \
         FIELD(global_batch),                                                                      \
         "N",                                                                                      \
         NULL,                                                                                     \
         "with --model: sequences of a step (one for each GPU)"},                                  \
        {"--tokens", OPTION_TEXT, FIELD(tokens),                                                   \
         "N",        NULL,        "with --model: tokens of the whole training, as in 15T"},        \
    {                                                                                              \
        "--software", OPTION_TEXT, FIELD(software), "NAME", NULL,                                  \
            "with --model: the framework (megatron)"                                               \
    }

/* Why these words state no scenario, or two: a file as well as options; NULL: they state one. */
const char *stated_scenario_fault(const struct arguments *arguments);
/* Are these names as the catalogue has them, so that they may go into a text of YAML? */
bool stated_name(const char *name);
/* Does the line state one? */
bool stated_scenario_given(const struct arguments *arguments);
/* Reads it, with --set, --catalogue and --seed: a global batch of one sequence for each GPU, all
 * else chosen as for a file that says nothing. EXIT_OK with a scenario (to be destroyed); else the
 * exit code, the problems having been told. */
int stated_scenario(const struct arguments *arguments, struct session *session,
                    struct scenario **out);

#endif
