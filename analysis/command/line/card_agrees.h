/* card_agrees.h - may a file of that card be taken for the card that is meant? */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_CARD_AGREES_H
#define ORRERY_ANALYSIS_COMMAND_LINE_CARD_AGREES_H

#include "analysis/command/line/arguments.h"
#include "analysis/output/terminal/session.h"
#include "scenarios/catalogue/card.h"

/* What a line says of cards. */
struct card_arguments {
    const char *catalogue; /* NULL: the built-in one */
    bool other_card;       /* --other-card: takes another card for the one that is meant */
};
/* Compares `told` of the file `path` with the card `gpu` of the catalogue. False: it is another
 * card and --other-card was not given; the sentence is printed. What is taken although it differs,
 * and a name that no card has, are noted, too. */
bool card_agrees(const struct arguments *line, struct card_arguments how, struct session *session,
                 const char *path, const char *gpu, const struct card_told *told);
/* Is `name`, as a driver prints it, that of the card `gpu`? `folder` NULL: the built-in catalogue.
 */
bool card_fits(const char *folder, const char *gpu, const char *name);
/* card_chip_within, copied into `arena`; NULL: no chip of the catalogue stands there. */
const char *card_chip_of(struct arena *arena, const char *folder, const char *text,
                         const char *gpu);

#endif
