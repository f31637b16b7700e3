#include "analysis/record/evidence/model_error.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/layout/announced.h"
#include "models/sharding/sharding_kind.h"
#include "sim/plural.h"

static const struct measured_row measured[] = {
#define ROW(id, source, software, card, kinds, month, gpus, hidden, native, log_error)             \
    {id, source, {software, card, kinds, month, gpus, hidden, native}, log_error},
#define SPREADS(...)
#define CLASSES(...)
#define REGRET(...)
#include "analysis/record/evidence/residues_list.inc"
#undef ROW
#undef SPREADS
#undef CLASSES
#undef REGRET
};

const struct residues residues_shipped = {
    .measured = measured,
    .count = sizeof measured / sizeof measured[0],
#define ROW(...)
#define SPREADS(run, layout, card, software, machine, nothing, within, pair, words)                \
    .log_spread = {run, layout, card, software, machine, nothing}, .within_log_spread = within,    \
    .pair_log_spread = pair, .from = words,
#define REGRET(groups, median, p90) .regret = {groups, median, p90},
#define CLASSES(native, experts, pair)                                                             \
    .native_log_spread = native, .experts_log_spread = experts, .experts_pair_log_spread = pair,
#include "analysis/record/evidence/residues_list.inc"
#undef ROW
#undef SPREADS
#undef CLASSES
#undef REGRET
};

enum {
    MONTHS_NEAR = 6,
    GPUS_NEAR = 4,
    HIDDEN_NEAR = 2
};
/* Of the distance that tells the nearest of several rows: octaves, kinds of layout, years. */
static const double of_hidden = 2.0, of_unknown_month = 2.0, months_of_year = 12.0;

const char *const nearness_names[] = {"release, card, size",
                                      "software, card, layout",
                                      "software, card",
                                      "software",
                                      "card",
                                      "neither",
                                      NULL};
static const char *const layout_kind_names[LAYOUT_KIND_COUNT] = {"tensor parallelism",
                                                                 "tensor parallelism across nodes",
                                                                 "pipelines",
                                                                 "context parallelism",
                                                                 "sharded weights",
                                                                 "8-bit products",
                                                                 "experts"};

static unsigned kinds_of(const struct configuration *c)
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

struct model_error_step model_error_step(const struct configuration *c)
{
    return (struct model_error_step){.software = c->software.name,
                                     .card = c->gpu.name,
                                     .kinds = kinds_of(c),
                                     .month = c->software.version.month,
                                     .gpus = configuration_ranks(c),
                                     .hidden = c->model.hidden,
                                     .native = c->software.offers.native};
}

static bool within(uint64_t a, uint64_t b, uint64_t factor)
{
    return a <= factor * b && b <= factor * a;
}

static bool same_run(const struct model_error_step *step, const struct model_error_step *row)
{
    return (step->kinds & ~row->kinds) == 0 && step->month > 0 && row->month > 0 &&
           step->month <= row->month + MONTHS_NEAR && row->month <= step->month + MONTHS_NEAR &&
           within(step->gpus, row->gpus, GPUS_NEAR) &&
           within(step->hidden, row->hidden, HIDDEN_NEAR);
}

/* But for layouts, which are counted over all rows: NEAR_RUN, or NEAR_CARD to NEAR_NOTHING. */
static enum nearness nearness_of(const struct model_error_step *step,
                                 const struct model_error_step *row)
{
    const bool same_card = strcmp(step->card, row->card) == 0;
    if (row->kinds & ~step->kinds & LAYOUT_EXPERTS)
        return NEAR_NOTHING; /* experts say nothing of a dense model */
    if (strcmp(step->software, row->software) != 0)
        return same_card ? NEAR_MACHINE : NEAR_NOTHING;
    if (!same_card)
        return NEAR_SOFTWARE;
    return same_run(step, row) ? NEAR_RUN : NEAR_CARD;
}

/* Octaves of GPUs and hidden size, years, kinds of layout that one of both has. */
static double distance(const struct model_error_step *a, const struct model_error_step *b)
{
    const double months = fabs((double)a->month - (double)b->month) / months_of_year;
    double kinds = 0.0;
    for (unsigned bit = 0; bit < LAYOUT_KIND_COUNT; bit++)
        kinds += (a->kinds ^ b->kinds) >> bit & 1U;
    return fabs(log2((double)a->gpus / (double)b->gpus)) +
           of_hidden * fabs(log2((double)a->hidden / (double)b->hidden)) + kinds +
           (a->month > 0 && b->month > 0 ? months : of_unknown_month);
}

static double spread_of(const struct residues *residues, enum nearness nearness, bool native,
                        bool experts)
{
    return hypot(residues->log_spread[nearness],
                 hypot(native ? residues->native_log_spread : 0.0,
                       experts ? residues->experts_log_spread : 0.0));
}

/* The rows at one nearness. */
struct rows_near {
    unsigned rows;
    const struct measured_row *nearest, *largest;
};

static void find(struct rows_near *at, const struct model_error_step *step,
                 const struct measured_row *row)
{
    if (at->rows == 0 || distance(step, &row->step) < distance(step, &at->nearest->step))
        at->nearest = row;
    if (at->rows == 0 || row->step.gpus > at->largest->step.gpus)
        at->largest = row;
    at->rows++;
}

struct model_error model_error_near(const struct residues *residues,
                                    const struct model_error_step *step, const char *but)
{
    struct rows_near at[NEARNESS_COUNT] = {{0}};
    unsigned seen = 0;
    for (size_t i = 0; i < residues->count; i++) {
        const struct measured_row *m = &residues->measured[i];
        const enum nearness its = nearness_of(step, &m->step);
        if (its == NEAR_NOTHING || (but != NULL && strcmp(m->source, but) == 0))
            continue;
        find(&at[its], step, m);
        seen |= its <= NEAR_CARD ? m->step.kinds : 0U;
    }
    struct model_error out = {.nearness = NEAR_RUN, .kinds_unseen = step->kinds & ~seen};
    while (out.nearness < NEAR_NOTHING && at[out.nearness].rows == 0)
        out.nearness = (enum nearness)(out.nearness + 1);
    out.rows = at[out.nearness].rows;
    out.nearest = at[out.nearness].nearest;
    out.largest = at[out.nearness].largest;
    if (out.nearness == NEAR_CARD && out.kinds_unseen == 0)
        out.nearness = NEAR_LAYOUT;
    const bool experts = step->kinds & LAYOUT_EXPERTS;
    out.log_spread = spread_of(residues, out.nearness, step->native, experts);
    out.pair_log_spread =
        fmax(residues->pair_log_spread, experts ? residues->experts_pair_log_spread : 0.0);
    return out;
}

struct model_error model_error_of(const struct residues *residues, const struct configuration *c,
                                  const char *but)
{
    const struct model_error_step step = model_error_step(c);
    struct model_error out = model_error_near(residues, &step, but);
    out.announced_ratio = announced_error_ratio(c);
    out.log_spread = hypot(out.log_spread, out.announced_ratio);
    return out;
}

static const char *first_unseen(unsigned kinds)
{
    unsigned bit = 0;
    while (bit + 1 < LAYOUT_KIND_COUNT && !(kinds >> bit & 1U))
        bit++;
    return layout_kind_names[bit];
}

static int say_nearness(const struct model_error *error, char *out, size_t size)
{
    const char *plural = plural_s(error->rows);
    switch (error->nearness) {
    case NEAR_RUN:
        return snprintf(out, size, "%u measured step%s of this release on this card, of such sizes",
                        error->rows, plural);
    case NEAR_LAYOUT:
        return snprintf(out, size, "%u measured step%s of this software on this card", error->rows,
                        plural);
    case NEAR_CARD:
        return snprintf(out, size,
                        "no measurement of %s with this software on this card (%u without)",
                        first_unseen(error->kinds_unseen), error->rows);
    case NEAR_SOFTWARE:
        return snprintf(out, size,
                        "no measurement of this software on this card (%u on other cards)",
                        error->rows);
    case NEAR_MACHINE:
        return snprintf(out, size,
                        "no measurement of this software on this card (%u of other software)",
                        error->rows);
    case NEAR_NOTHING:
        return snprintf(out, size,
                        "no measurement of this software on this card, nor of either elsewhere");
    case NEARNESS_COUNT:
        break;
    }
    UNREACHABLE("nearness is an enum nearness");
}

const char *model_error_sentence(const struct model_error *error, char *out, size_t size)
{
    int length = say_nearness(error, out, size);
    const struct measured_row *m = error->nearest;
    if (m != NULL && length > 0 && (size_t)length < size)
        length += snprintf(
            out + length, size - (size_t)length,
            "; the nearest, %s (%" PRIu64 " GPU%s), is predicted %.0f %% %s; the largest has "
            "%" PRIu64 " GPU%s",
            m->id, m->step.gpus, plural_s(m->step.gpus), 100.0 * fabs(expm1(-m->log_error)),
            m->log_error > 0.0 ? "too fast" : "too slow", error->largest->step.gpus,
            plural_s(error->largest->step.gpus));
    if (error->announced_ratio > 0.0 && length > 0 && (size_t)length < size)
        snprintf(out + length, size - (size_t)length,
                 "; the hardware is announced, nothing was measured on it: %.0f %% in addition",
                 100.0 * error->announced_ratio);
    return out;
}
