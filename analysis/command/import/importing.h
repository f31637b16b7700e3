/* importing.h - what a kind of `orrery import` gets, and how it says what is wrong. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORTING_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORTING_H

#include "analysis/command/import/import_arguments.h"
#include "analysis/output/terminal/session.h"
#include "scenarios/catalogue/card.h"
#include "scenarios/import/reader/import_open.h"
#include "sim/kind.h"

struct importing {
    const struct import_arguments *a;
    struct session *session;
    struct arena *arena;
    struct import_file file; /* read whole; of a kind that reads its files itself, the path alone */
    const struct kind *form; /* of the kind's forms, the one that the line names; NULL */
};
/* The sentence on notes; hands `code` on. */
int importing_trouble(const struct importing *i, const struct error *error, int code);
/* Is the file of the card that --gpu names, as far as both tell? If not, that was told; and if the
 * file tells neither name nor size of its card, that --gpu is believed. */
bool importing_agrees(const struct importing *i, struct card_told told);

#endif
