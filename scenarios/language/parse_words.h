/* parse_words.h - what libyaml says in words of its grammar, said in words of a user. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_PARSE_WORDS_H
#define ORRERY_SCENARIOS_LANGUAGE_PARSE_WORDS_H

#include <stdbool.h>

/* The sentence for a problem of libyaml's scanner or parser; an unlisted one is returned as it is.
 * `inside`: a scanner error is seen best where it was found, not where the broken token began. */
const char *parse_plain_words(const char *problem, bool *inside);

#endif
