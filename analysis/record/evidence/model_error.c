#include "analysis/record/evidence/model_error.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "models/layout/announced.h"
#include "models/sharding/sharding_kind.h"
#include "sim/plural.h"

static const struct measured_row measured[] = {
#define ROW(id, source, software, framework, card, generation, maker, precision, kinds, layers,    \
            month, gpus, hidden, native, log_error)                                                \
    {id,                                                                                           \
     source,                                                                                       \
     {software, framework, card, generation, maker, precision, kinds, layers, month, gpus, hidden, \
      native},                                                                                     \
     log_error},
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
#define CLASSES(native, experts, framework, generation, precision, pair)                           \
    .class_log_spread = {[CLASS_NATIVE] = native,                                                  \
                         [CLASS_EXPERTS] = experts,                                                \
                         [CLASS_FRAMEWORK] = framework,                                            \
                         [CLASS_GENERATION] = generation,                                          \
                         [CLASS_PRECISION] = precision},                                           \
    .experts_pair_log_spread = pair,
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
/* Of the distance that tells the nearest of several rows: octaves, kinds, years. */
static const double of_hidden = 2.0, of_unknown_month = 2.0, months_of_year = 12.0;

const char *const nearness_names[] = {"release, card, size",
                                      "software, card, layout",
                                      "software, card",
                                      "software",
                                      "card",
                                      "neither",
                                      NULL};
const char *const error_class_names[CLASS_COUNT] = {
    "PyTorch's own stack", "experts",        "unmeasured framework", "generation of cards",
    "precision",           "maker of cards", "kind of layer"};
static const char *const layout_kind_names[LAYOUT_KIND_COUNT] = {
    "tensor parallelism", "tensor parallelism across nodes",
    "pipelines",          "context parallelism",
    "sharded weights",    "experts"};
static const char *const attention_names[LAYERS_ATTENTION_COUNT] = {
    "attention to all positions", "attention within a window", "latent attention",
    "sparse attention with an indexer"};

static unsigned kinds_of(const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    return (l->tp > 1 ? LAYOUT_TENSOR : 0U) |
           (l->tp > c->cluster.node.gpus ? LAYOUT_TENSOR_ACROSS : 0U) |
           (l->pp > 1 ? LAYOUT_PIPELINE : 0U) | (l->cp > 1 ? LAYOUT_CONTEXT : 0U) |
           (l->data.sharding->shards_weights && configuration_shards(c) > 1 ? LAYOUT_SHARDED : 0U) |
           (c->model.moe.experts > 0 ? LAYOUT_EXPERTS : 0U);
}

/* A kind of recurrent layer; 0 of none. */
static unsigned recurrent_bit(const struct layer_kind *kind)
{
    for (unsigned i = 0; kind != NULL && i < layer_kind_count; i++)
        if (layer_kinds[i] == kind)
            return (unsigned)LAYERS_RECURRENT << i;
    return 0;
}

static unsigned layers_of(const struct configuration *c)
{
    const struct model_shape *m = &c->model;
    const unsigned latent = m->latent.kv_rank > 0 ? LAYERS_LATENT : 0U;
    unsigned found = 0;
    for (uint64_t layer = 0; layer < m->layers; layer++) {
        const enum layer_form form = transformer_form(m, layer);
        if (layer_form_mixes(form))
            found |= recurrent_bit(m->pattern.kind);
        if (!layer_form_attends(form))
            continue;
        const bool spans = transformer_span(m, layer, c->training.sequence) > 0;
        found |= m->latent.indexer.heads > 0 ? latent | LAYERS_SPARSE
                 : spans                     ? latent | LAYERS_WINDOW
                 : latent > 0                ? latent
                                             : LAYERS_FULL;
    }
    return found;
}

static const char *said(const char *name)
{
    return name != NULL ? name : "";
}

double model_error_shared(const struct model_error *a, const struct model_error *b)
{
    double pair = a->pair_log_spread;
    return fmax(1.0 - 0.5 * pair * pair / (a->log_spread * b->log_spread), 0.0);
}

struct model_error_step model_error_step(const struct configuration *c)
{
    return (struct model_error_step){.software = c->software.name,
                                     .framework = software_framework(&c->software),
                                     .card = c->gpu.name,
                                     .generation = said(c->gpu.generation),
                                     .maker = said(c->gpu.maker),
                                     .precision = c->training.precision->head.name,
                                     .kinds = kinds_of(c),
                                     .layers = layers_of(c),
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
    return (step->kinds & ~row->kinds) == 0 && (step->layers & ~row->layers) == 0 &&
           strcmp(step->precision, row->precision) == 0 && step->month > 0 &&
           step->month <= row->month + MONTHS_NEAR && row->month <= step->month + MONTHS_NEAR &&
           within(step->gpus, row->gpus, GPUS_NEAR) &&
           within(step->hidden, row->hidden, HIDDEN_NEAR);
}

/* Experts say nothing of a dense model. */
static bool speaks(const struct model_error_step *step, const struct model_error_step *row)
{
    return (row->kinds & ~step->kinds & LAYOUT_EXPERTS) == 0;
}

/* But for layouts, layers and precisions, which are counted over all rows: NEAR_RUN, or NEAR_CARD
 * to NEAR_NOTHING. */
static enum nearness nearness_of(const struct model_error_step *step,
                                 const struct model_error_step *row)
{
    const bool same_card = strcmp(step->card, row->card) == 0;
    if (strcmp(step->software, row->software) != 0)
        return same_card ? NEAR_MACHINE : NEAR_NOTHING;
    if (!same_card)
        return NEAR_SOFTWARE;
    return same_run(step, row) ? NEAR_RUN : NEAR_CARD;
}

static unsigned bits_of(unsigned set)
{
    unsigned count = 0;
    for (; set != 0; set &= set - 1)
        count++;
    return count;
}

/* In how many kinds of layers, experts among them, do they differ? */
static unsigned unlike(const struct model_error_step *a, const struct model_error_step *b)
{
    return bits_of(a->layers ^ b->layers) + bits_of((a->kinds ^ b->kinds) & LAYOUT_EXPERTS);
}

/* Octaves of GPUs and hidden size, years, kinds of layout that one of both has, and one for each of
 * framework, maker, generation and precision that is another. */
static double distance(const struct model_error_step *a, const struct model_error_step *b)
{
    const double months = fabs((double)a->month - (double)b->month) / months_of_year;
    const double others =
        (strcmp(a->framework, b->framework) != 0) + (strcmp(a->maker, b->maker) != 0) +
        (strcmp(a->generation, b->generation) != 0) + (strcmp(a->precision, b->precision) != 0);
    return fabs(log2((double)a->gpus / (double)b->gpus)) +
           of_hidden * fabs(log2((double)a->hidden / (double)b->hidden)) +
           bits_of(a->kinds ^ b->kinds) + others +
           (a->month > 0 && b->month > 0 ? months : of_unknown_month);
}

/* First in what their layers are, then in all else. */
static bool nearer(const struct model_error_step *step, const struct model_error_step *a,
                   const struct model_error_step *b)
{
    const unsigned unlike_a = unlike(step, a), unlike_b = unlike(step, b);
    return unlike_a != unlike_b ? unlike_a < unlike_b : distance(step, a) < distance(step, b);
}

double model_error_of_class(const double learned[CLASS_LEARNED], enum error_class of)
{
    double widest = 0.0;
    if (of < CLASS_LEARNED)
        return learned[of];
    for (int k = 0; k < CLASS_LEARNED; k++)
        widest = fmax(widest, learned[k]);
    return widest;
}

static double spread_of(const struct residues *residues, const struct model_error *error)
{
    double out = residues->log_spread[error->nearness];
    for (int k = 0; k < CLASS_COUNT; k++)
        if (error->is[k])
            out = hypot(out, model_error_of_class(residues->class_log_spread, (enum error_class)k));
    return out;
}

/* The rows at one nearness. */
struct rows_near {
    unsigned rows, alike;
    const struct measured_row *nearest, *largest;
};

static void find(struct rows_near *at, const struct model_error_step *step,
                 const struct measured_row *row)
{
    if (at->rows == 0 || nearer(step, &row->step, &at->nearest->step))
        at->nearest = row;
    if (at->rows == 0 || row->step.gpus > at->largest->step.gpus)
        at->largest = row;
    at->alike += unlike(step, &row->step) == 0;
    at->rows++;
}

/* What rows show of a step's properties: all of them, and those of this software on this card. */
struct seen {
    bool framework, maker, generation, precision, precision_here;
    unsigned layers, layers_here, kinds_here;
};

static void see(struct seen *seen, const struct model_error_step *step,
                const struct model_error_step *row, bool here)
{
    const bool precision = strcmp(step->precision, row->precision) == 0;
    seen->framework |= strcmp(step->framework, row->framework) == 0;
    seen->maker |= strcmp(step->maker, row->maker) == 0;
    seen->generation |=
        strcmp(step->generation, row->generation) == 0 && strcmp(step->maker, row->maker) == 0;
    seen->precision |= precision;
    seen->layers |= row->layers;
    seen->precision_here |= here && precision;
    seen->layers_here |= here ? row->layers : 0U;
    seen->kinds_here |= here ? row->kinds : 0U;
}

/* A framework that was not measured may be as PyTorch's own stack is, so it is of its own class. */
static void take_classes(const struct seen *seen, struct model_error *out)
{
    const struct model_error_step *step = &out->step;
    out->layers_unmeasured = step->layers & ~seen->layers;
    out->is[CLASS_NATIVE] = step->native && seen->framework;
    out->is[CLASS_EXPERTS] = step->kinds & LAYOUT_EXPERTS;
    out->is[CLASS_FRAMEWORK] = !seen->framework;
    out->is[CLASS_GENERATION] = seen->maker && !seen->generation;
    out->is[CLASS_PRECISION] = !seen->precision;
    out->is[CLASS_MAKER] = !seen->maker;
    out->is[CLASS_LAYERS] = out->layers_unmeasured != 0;
}

struct model_error model_error_near(const struct residues *residues,
                                    const struct model_error_step *step, const char *but)
{
    struct rows_near at[NEARNESS_COUNT] = {{0}};
    struct seen seen = {0};
    for (size_t i = 0; i < residues->count; i++) {
        const struct measured_row *m = &residues->measured[i];
        if (!speaks(step, &m->step) || (but != NULL && strcmp(m->source, but) == 0))
            continue;
        const enum nearness its = nearness_of(step, &m->step);
        see(&seen, step, &m->step, its <= NEAR_CARD);
        if (its < NEAR_NOTHING)
            find(&at[its], step, m);
    }
    struct model_error out = {.nearness = NEAR_RUN,
                              .step = *step,
                              .kinds_unseen = step->kinds & ~seen.kinds_here,
                              .layers_unseen = step->layers & ~seen.layers_here,
                              .precision_unseen = !seen.precision_here};
    while (out.nearness < NEAR_NOTHING && at[out.nearness].rows == 0)
        out.nearness = (enum nearness)(out.nearness + 1);
    out.rows = at[out.nearness].rows;
    out.alike = at[out.nearness].alike;
    out.nearest = at[out.nearness].nearest;
    out.largest = at[out.nearness].largest;
    if (out.nearness == NEAR_CARD && out.kinds_unseen == 0 && out.layers_unseen == 0 &&
        !out.precision_unseen)
        out.nearness = NEAR_LAYOUT;
    take_classes(&seen, &out);
    out.log_spread = spread_of(residues, &out);
    out.pair_log_spread = fmax(residues->pair_log_spread,
                               out.is[CLASS_EXPERTS] ? residues->experts_pair_log_spread : 0.0);
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

/* Adds to a sentence of `size` bytes; what does not fit is cut off. */
struct sentence {
    char *text;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(s->text + s->length, s->size - s->length, format, arguments);
    va_end(arguments);
    if (length > 0)
        s->length = s->length + (size_t)length < s->size ? s->length + (size_t)length : s->size - 1;
}

/* The first of a set that is not empty. */
static unsigned first_of(unsigned set)
{
    unsigned bit = 0;
    while (!(set >> bit & 1U))
        bit++;
    return bit;
}

static void say_layers(struct sentence *s, unsigned bit)
{
    if (bit < LAYERS_ATTENTION_COUNT)
        say(s, "%s", attention_names[bit]);
    else
        say(s, "%s layers", layer_at(bit - LAYERS_ATTENTION_COUNT)->name);
}

static const char *known(const char *name)
{
    return *name != '\0' ? name : "not said";
}

static void say_unmeasured(struct sentence *s, const struct model_error *e)
{
    const struct model_error_step *step = &e->step;
    if (e->is[CLASS_LAYERS]) {
        say(s, "no measured step has layers of this kind (");
        say_layers(s, first_of(e->layers_unmeasured));
        say(s, "); ");
    }
    if (e->is[CLASS_MAKER] || e->is[CLASS_GENERATION])
        say(s, "no measured step is on a card of this %s (%s); ",
            e->is[CLASS_MAKER] ? "maker" : "generation",
            known(e->is[CLASS_MAKER] ? step->maker : step->generation));
    if (e->is[CLASS_FRAMEWORK])
        say(s, "no measured step is of this framework (%s); ", step->framework);
    if (e->is[CLASS_PRECISION])
        say(s, "no measured step is in this precision (%s); ", step->precision);
}

/* What rows of this software on this card have not: layers, layouts, the precision. */
static void say_unseen(struct sentence *s, const struct model_error *e)
{
    if (e->layers_unseen != 0)
        say_layers(s, first_of(e->layers_unseen));
    else
        say(s, "%s",
            e->kinds_unseen != 0 ? layout_kind_names[first_of(e->kinds_unseen)]
                                 : e->step.precision);
}

static void say_nearness(struct sentence *s, const struct model_error *e)
{
    const char *plural = plural_s(e->rows);
    switch (e->nearness) {
    case NEAR_RUN:
        say(s, "%u measured step%s of this release on this card, of such sizes", e->rows, plural);
        return;
    case NEAR_LAYOUT:
        say(s, "%u measured step%s of this software on this card", e->rows, plural);
        if (e->alike < e->rows)
            say(s, ", %u of them with such layers", e->alike);
        return;
    case NEAR_CARD:
        say(s, "no measurement of ");
        say_unseen(s, e);
        say(s, " with this software on this card (%u without)", e->rows);
        return;
    case NEAR_SOFTWARE:
        say(s, "no measurement of this software on this card (%u on other cards)", e->rows);
        return;
    case NEAR_MACHINE:
        say(s, "no measurement of this software on this card (%u of other software)", e->rows);
        return;
    case NEAR_NOTHING:
        say(s, "no measurement of this software on this card, nor of either elsewhere");
        return;
    case NEARNESS_COUNT:
        break;
    }
    UNREACHABLE("nearness is an enum nearness");
}

/* ", of another kind: without experts, without latent attention" */
static void say_unlike(struct sentence *s, const struct model_error_step *step,
                       const struct model_error_step *row)
{
    const char *before = ", of another kind: ";
    if (step->kinds & ~row->kinds & LAYOUT_EXPERTS) { /* mixtures speak for mixtures alone */
        say(s, "%swithout experts", before);
        before = ", ";
    }
    for (unsigned set = step->layers ^ row->layers; set != 0; set &= set - 1) {
        const unsigned bit = first_of(set);
        say(s, "%s%s ", before, step->layers >> bit & 1U ? "without" : "with");
        say_layers(s, bit);
        before = ", ";
    }
}

const char *model_error_sentence(const struct model_error *error, char *out, size_t size)
{
    struct sentence s = {out, size, 0};
    const struct measured_row *m = error->nearest;
    say_unmeasured(&s, error);
    say_nearness(&s, error);
    if (m != NULL) {
        say(&s, "; the nearest, %s (%" PRIu64 " GPU%s", m->id, m->step.gpus,
            plural_s(m->step.gpus));
        say_unlike(&s, &error->step, &m->step);
        say(&s, "), is predicted %.0f %% %s; the largest has %" PRIu64 " GPU%s",
            100.0 * fabs(expm1(-m->log_error)), m->log_error > 0.0 ? "too fast" : "too slow",
            error->largest->step.gpus, plural_s(error->largest->step.gpus));
    }
    if (error->announced_ratio > 0.0)
        say(&s, "; the hardware is announced, nothing was measured on it: %.0f %% in addition",
            100.0 * error->announced_ratio);
    return out;
}
