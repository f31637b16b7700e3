/* validate_models.h - mixtures of experts of the catalogue, by shape. No column tells latent
 * attention, windows, or groups of experts: a row whose shape one of them has takes them from it.
 * Read once for a file. */
#ifndef ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_MODELS_H
#define ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_MODELS_H

#include "analysis/validate/rows/validate_run.h"
#include "analysis/validate/table/validate_kind.h"

struct validate_models {
    struct alike_model {
        const char *name;
        struct model_shape shape;
    } * rows;
    unsigned count;
};
/* Lives in the validation's arena; empty where no row has experts. NULL with a sentence: the
 * catalogue cannot be read. */
const struct validate_models *validate_models_read(const struct validation *v, struct error *error);
/* The only one with the row's width, heads, experts, and width and number of those that a token
 * visits, however many layers it has; NULL: there is none, or several. */
const struct alike_model *validate_models_alike(const struct validate_models *models,
                                                const struct validate_run *run);

#endif
