/* completion_words.h - the words that shells complete, and what completion for each shell shares.
 */
#ifndef ORRERY_ANALYSIS_COMMAND_HOUSE_COMPLETION_WORDS_H
#define ORRERY_ANALYSIS_COMMAND_HOUSE_COMPLETION_WORDS_H

#include "analysis/command/line/command.h"
#include "analysis/tell/report/listing.h"
#include "scenarios/schema/keys.h"

struct completion_words {
    struct arena *arena;
    struct name_list keys;     /* of --set and --vary */
    struct name_list families; /* of `orrery list`; NULL-ended */
    struct listing *listing;
};
void completion_words(struct arena *arena, struct completion_words *out);
/* The family of the catalogue whose names an option or argument takes, or NULL. */
const char *completion_family(const struct option *option);
bool completion_takes_key(const struct option *option);
void completion_print_family(const struct completion_words *words, const char *family, FILE *out);
/* The lessons of the course, blanks between. */
void completion_print_lessons(FILE *out);
/* What the first argument of the command chooses from (command->word), blanks between. */
void completion_print_first(const struct command *command, FILE *out);
void completion_print_list(const char *const *names, FILE *out); /* NULL-ended, blanks between */
/* Quotes in texts would end the shell's: what stands in `leave_out` is left out. */
void completion_print_plain(FILE *out, const char *text, const char *leave_out);

void completion_print_zsh(const struct completion_words *words, FILE *out);
void completion_print_fish(const struct completion_words *words, FILE *out);

#endif
