/* announced.h - hardware that its vendor has announced and nobody has measured.
 *
 * An entry of the catalogue, or a scenario, says so by `announced_error` of a card, of a node
 * or of a fabric: the relative error (one standard deviation, of the logarithm) that every
 * prediction on it has beside those of its figures. 0: it is sold, and its figures have the errors
 * that they state. A fabric counts where a job has several nodes: one alone does not use it.
 * docs/models/catalogue.md says where the error comes from. */
#ifndef ORRERY_MODELS_LAYOUT_ANNOUNCED_H
#define ORRERY_MODELS_LAYOUT_ANNOUNCED_H

#include <stddef.h>

struct configuration;
enum {
    ANNOUNCED_WORDS_MAX = 320
};

/* The largest of the errors of what the job uses; 0: none of it is announced. */
double announced_error_ratio(const struct configuration *c);
/* "vr200-288gb is announced: ..." into `out`, which is returned; NULL: nothing is. */
const char *announced_words(const struct configuration *c, char *out, size_t size);

#endif
