#include "analysis/record/evidence/model_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/sharding/sharding_kind.h"

static const struct measured_rows measured[] = {
#define ROWS(software, card, kinds, source, rows) {software, card, kinds, source, rows},
#define SPREADS(...)
#define EXPERTS(...)
#include "analysis/record/evidence/residues_list.h"
#undef ROWS
#undef SPREADS
#undef EXPERTS
};

const struct residues residues_shipped = {
    .measured = measured,
    .count = sizeof measured / sizeof measured[0],
#define ROWS(...)
#define SPREADS(layout, card, software, machine, nothing, within, pair, words)                     \
    .log_spread = {layout, card, software, machine, nothing}, .within_log_spread = within,         \
    .pair_log_spread = pair, .from = words,
#define EXPERTS(spread, pair) .experts_log_spread = spread, .experts_pair_log_spread = pair,
#include "analysis/record/evidence/residues_list.h"
#include "sim/check.h"
#undef ROWS
#undef SPREADS
#undef EXPERTS
};

const char *const nearness_names[] = {
    "software, card, layout", "software, card", "software", "card", "neither", NULL};
const char *const layout_kind_names[LAYOUT_KIND_COUNT] = {"tensor parallelism",
                                                          "tensor parallelism across nodes",
                                                          "pipelines",
                                                          "context parallelism",
                                                          "sharded weights",
                                                          "8-bit products",
                                                          "experts"};

unsigned model_error_kinds(const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    return (l->tp > 1 ? LAYOUT_TENSOR : 0U) |
           (l->tp > c->cluster.node.gpus ? LAYOUT_TENSOR_ACROSS : 0U) |
           (l->pp > 1 ? LAYOUT_PIPELINE : 0U) | (l->cp > 1 ? LAYOUT_CONTEXT : 0U) |
           (l->data.sharding->shards_weights && configuration_shards(c) > 1 ? LAYOUT_SHARDED : 0U) |
           (precision_narrow(c->training.precision) ? LAYOUT_FP8 : 0U) |
           (c->model.moe.experts > 0 ? LAYOUT_EXPERTS : 0U);
}

double model_error_shared(const struct model_error *a, const struct model_error *b)
{
    double pair = a->pair_log_spread;
    return fmax(1.0 - 0.5 * pair * pair / (a->log_spread * b->log_spread), 0.0);
}

struct model_error model_error_near(const struct residues *residues, const char *software,
                                    const char *card, unsigned kinds, const char *but)
{
    unsigned rows[NEARNESS_COUNT] = {0}, seen = 0;
    for (size_t i = 0; i < residues->count; i++) {
        const struct measured_rows *m = &residues->measured[i];
        bool same_software = strcmp(m->software, software) == 0, same_card = !strcmp(m->card, card);
        if ((but != NULL && strcmp(m->source, but) == 0) || (m->kinds & ~kinds & LAYOUT_EXPERTS))
            continue; /* experts say nothing of a dense model */
        if (same_software && same_card) {
            rows[NEAR_CARD] += m->rows;
            seen |= m->kinds;
        } else if (same_software) {
            rows[NEAR_SOFTWARE] += m->rows;
        } else if (same_card) {
            rows[NEAR_MACHINE] += m->rows;
        }
    }
    struct model_error out = {.nearness = NEAR_CARD, .kinds_unseen = kinds & ~seen};
    while (out.nearness < NEAR_NOTHING && rows[out.nearness] == 0)
        out.nearness = (enum nearness)(out.nearness + 1);
    out.rows = rows[out.nearness];
    if (out.nearness == NEAR_CARD && out.kinds_unseen == 0)
        out.nearness = NEAR_LAYOUT;
    out.log_spread = residues->log_spread[out.nearness];
    out.pair_log_spread = residues->pair_log_spread;
    if (kinds & LAYOUT_EXPERTS) {
        out.log_spread = fmax(out.log_spread, residues->experts_log_spread);
        out.pair_log_spread = fmax(out.pair_log_spread, residues->experts_pair_log_spread);
    }
    return out;
}

struct model_error model_error_of(const struct residues *residues, const struct configuration *c,
                                  const char *but)
{
    return model_error_near(residues, c->software.name, c->gpu.name, model_error_kinds(c), but);
}

static const char *first_unseen(unsigned kinds)
{
    unsigned bit = 0;
    while (bit + 1 < LAYOUT_KIND_COUNT && !(kinds >> bit & 1U))
        bit++;
    return layout_kind_names[bit];
}

const char *model_error_sentence(const struct model_error *error, char *out, size_t size)
{
    switch (error->nearness) {
    case NEAR_LAYOUT:
        snprintf(out, size, "%u measured steps of this software on this card", error->rows);
        break;
    case NEAR_CARD:
        snprintf(out, size, "no measurement of %s with this software on this card (%u without)",
                 first_unseen(error->kinds_unseen), error->rows);
        break;
    case NEAR_SOFTWARE:
        snprintf(out, size, "no measurement of this software on this card (%u on other cards)",
                 error->rows);
        break;
    case NEAR_MACHINE:
        snprintf(out, size, "no measurement of this software on this card (%u of other software)",
                 error->rows);
        break;
    case NEAR_NOTHING:
        snprintf(out, size,
                 "no measurement of this software on this card, nor of either elsewhere");
        break;
    case NEARNESS_COUNT:
        UNREACHABLE("nearness is an enum nearness");
    }
    return out;
}
