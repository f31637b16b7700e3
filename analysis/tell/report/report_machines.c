#include "analysis/tell/report/report_machines.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"
#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_layouts.h"
#include "analysis/tell/report/report_plan.h"
#include "sim/units.h"

/* Of a machine without a layout nothing stands in the columns of one. */
#define TABLE                                                                                      \
    "{table}<\t<{if .has_gpus}\tGPUs{end}\t<layout{if .has_step}\tstep{end}\ttokens/s"             \
    "{if .has_mfu}\tMFU{end}{if .has_goodput}\tgoodput{end}\tfree"                                 \
    "{if .has_fits}\tfits{end}{if .has_cost}\t10^9 tok.{end}"                                      \
    "{if .has_energy}\tat the wall\tJ/token{end}"                                                  \
    "{if .has_training}\ttraining{end}{if .has_price}\tUSD{end}{if .has_missed}\t<misses{end}\n"   \
    "{each .rows}{.mark}\t{.values<0.40}{if .has_gpus}\t{.gpus}{end}\t{.layout}"                   \
    "{if .has_step}\t{if .leader}{.leader.step_time_s}{end}{end}"                                  \
    "\t{if .leader}{.leader..told_tokens_per_s}{end}"                                              \
    "{if .has_mfu}\t{if .leader}{.leader.mfu}{end}{end}"                                           \
    "{if .has_goodput}\t{if .leader}{.leader.weeks.goodput}{end}{end}"                             \
    "\t{if .leader}{.leader..free}{end}"                                                           \
    "{if .has_fits}\t{if .leader}{.leader.fits_ratio}{end}{end}"                                   \
    "{if .has_cost}\t{if .leader}{.leader.cost_usd_per_1e9_tokens}{end}{end}"                      \
    "{if .has_energy}\t{if .leader}{.leader.wall_w}{end}\t{if .leader}"                            \
    "{.leader.energy_j_per_token:.3f}{end}{end}"                                                   \
    "{if .has_training}\t{if .leader}{.leader..training_s}{end}{end}"                              \
    "{if .has_price}\t{if .leader}{.leader.training_usd:quantity}{end}{end}"                       \
    "{if .has_missed}\t{.missed<0.40}{end}\n{end}{end}"

static const char lines[] =
    "The best layout of each machine, by {.keys:raw}\n"
    "{each machines}"
    "{if announced}  {values}: {wrap announced_words:whole 2}{end}"
    "{end}"
    "{if .stopped}  stopped: {.whole} of {asked} machines are searched to the end\n{end}"
    "{each .table}" TABLE "{end}"
    "{if .found}"
    "  1: {.best_doc}{if .stopped} of those searched{end}{if .bounded}, and it keeps the "
    "terms{end}; "
    "asked alone, `plan` tells all of it\n"
    "{if .surer}  {wrap .surer 2}{end}"
    "{end}" REPORT_POWER_LINES
    "  *: no other that keeps the terms is as fast and as cheap a token\n"
    "  layout: keys of `layout` (mb: microbatch), last the sharding\n"
    "{if .table..has_step}  step: of the whole batch; tokens/s: of all GPUs\n"
    "{else}  tokens/s: of all GPUs\n{end}"
    "{if .table..has_mfu}"
    "  MFU: the model's FLOPs over the peak of the cards; `run` tells their formula\n{end}"
    "  free: of the memory of the fullest card\n"
    "{if .table..has_fits}"
    "  fits: share of draws of the figures of memory, as 'run --uncertainty' draws them\n{end}"
    "{if .table..has_cost}  10^9 tok.: price of 10^9 tokens\n{end}"
    "{if .table..has_training}"
    "  training{if .table..has_price}, USD: time and price{else}: time{end} of training.tokens, "
    "with{if not .with_weeks}out{end} failures\n{end}"
    "{if .table..has_missed}  misses: the terms that it does not keep\n{end}"
    "{if .with_weeks}"
    "  tokens/s that are kept; goodput of the leaders of each machine alone, all by the same "
    "failures\n"
    "{end}";
static const char front_lines[] =
    "{each .front}"
    "\n{bold}The front: no layout of these machines beats one in time, cost and free memory{plain}"
    "\n" TABLE "{end}";
const char *const report_machines_lines[] = {lines, front_lines, NULL};

static void set_leader(struct fact *in, const char *key, const struct search_leader *l,
                       uint32_t rank)
{
    struct fact *o = document_object_if(l != NULL, in, key);
    if (o != NULL)
        report_leader_facts(o, l, l->row, rank);
}

static void set_machine(struct fact *o, const struct search_machine *m)
{
    document_quote(o, "values", m->label);
    document_word(o, "gpu", m->gpu);
    report_announced_facts(o, m->announced);
    document_count(o, "gpus", m->gpus);
    document_count(o, "searched", m->searched);
    document_flag(o, "stopped", m->stopped);
    document_flag(o, "best", m->unbeaten);
    document_flag(o, "first", m->first);
    document_word(o, "missed", search_machine_missed(m));
    set_leader(o, "layout", m->found ? &m->leader : NULL, 1);
    set_leader(o, "nearest", m->near ? &m->leader : NULL, 0);
    document_real(o, "training_days", IN_QUANTITY,
                  m->found ? m->leader.training_s / DAY : (double)NAN);
    document_real(o, "training_usd", IN_USD, m->found ? m->leader.training_usd : (double)NAN);
}

/* A row of a table; `leader` NULL: `otherwise` stands where its layout would. */
static struct fact *show_row(struct fact *rows, const struct search_machine *m,
                             const struct search_leader *leader, double free_ratio,
                             const char *otherwise)
{
    struct fact *o = document_object(rows, NULL);
    document_quote(o, ".values", m->label);
    document_count(o, ".gpus", m->gpus);
    document_word(o, ".mark", "");
    document_word(o, ".missed", "");
    document_word(o, ".layout",
                  leader != NULL ? report_layout_short(o->arena, &leader->row->layout) : otherwise);
    struct fact *told = document_object_if(leader != NULL, o, ".leader");
    if (told == NULL)
        return o;
    report_leader_facts(told, leader, leader->row, 0);
    document_real(told, ".told_tokens_per_s", IN_QUANTITY, search_weeks_tokens_per_s(leader));
    document_real(told, ".free", IN_RATIO, free_ratio);
    return o;
}

static void show_machine(struct fact *rows, const struct search_machine *m)
{
    const char *missed = search_machine_missed(m);
    struct fact *o =
        show_row(rows, m, m->found || m->near ? &m->leader : NULL,
                 1.0 - m->leader.peak_reserved_bytes / m->card_bytes,
                 m->too_many       ? "not searched"
                 : m->rule != NULL ? arena_format(rows->arena, "breaks a rule (%s)", m->rule)
                                   : "nothing fits");
    document_word(o, ".mark", m->first ? "1" : m->unbeaten ? "*" : "");
    document_word(o, ".missed", missed != NULL ? missed : "");
}

/* Does the number of GPUs say nothing: is it the same in all rows, or what was varied? */
static bool gpus_said(const struct search_machines *all)
{
    bool same = true, said = true;
    for (size_t i = 0; i < all->count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, all->rows[i].gpus);
        same = same && all->rows[i].gpus == all->rows[0].gpus;
        said = said && strcmp(text, all->rows[i].label) == 0;
    }
    return same || said;
}

static bool any_weeks(const struct search_machines *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i].leader.weeks != NULL)
            return true;
    return false;
}

/* Is any layout not sure to fit? */
static bool any_unsure(const struct search_machines *all)
{
    bool any = false;
    for (size_t i = 0; i < all->count; i++) {
        const struct search_machine *m = &all->rows[i];
        any = any || (m->leader.fit.known && m->leader.fit.ratio < 1.0);
        for (uint32_t k = 0; k < m->front.count; k++)
            any = any || (m->front.leaders[k].fit.known && m->front.leaders[k].fit.ratio < 1.0);
    }
    return any;
}

/* Columns that say something here: not all empty, not all alike, not of one machine's steps alone.
 */
static void choose_columns(struct fact *o, const struct search_machines *all)
{
    const enum search_best best = all->question.terms.best;
    bool tokens = false, priced = false, missed = false, weeks = any_weeks(all);
    for (size_t i = 0; i < all->count; i++) {
        tokens = tokens || isfinite(all->rows[i].leader.training_s);
        priced = priced || isfinite(all->rows[i].leader.usd_per_1e9_tokens);
        missed = missed || search_machine_missed(&all->rows[i]) != NULL;
    }
    document_flag(o, ".has_gpus", !gpus_said(all));
    document_flag(o, ".has_goodput", weeks);
    document_flag(o, ".has_fits", any_unsure(all));
    document_flag(o, ".has_mfu", !weeks);
    document_flag(o, ".has_step", !weeks && best == BEST_STEP);
    document_flag(o, ".has_training", tokens);
    document_flag(o, ".has_price", tokens && priced);
    document_flag(o, ".has_cost", priced && (best == BEST_COST || !(tokens && priced)));
    document_flag(o, ".has_energy", search_terms_draws(&all->question.terms));
    document_flag(o, ".has_missed", missed);
}

/* Of which machines the layout is not what the objective puts first; NULL: of none. */
static const char *surer_words(struct arena *arena, const struct search_machines *all)
{
    const char *labels = "";
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i].surer)
            labels = arena_format(arena, "%s%s%s", labels, *labels != '\0' ? ", " : "",
                                  all->rows[i].label);
    return *labels == '\0'
               ? NULL
               : arena_format(arena,
                              "%s: shown is a layout that fits more surely than the best and is "
                              "no worse within the model's own error; `plan` of that "
                              "machine alone lists both",
                              labels);
}

static void set_front(struct fact *in, const struct search_machines *all)
{
    struct fact *array = document_array_if(all->has_front, in, "front");
    const bool any = all->has_front && all->front_count > 0;
    struct fact *table = document_object_if(any, in, ".front");
    if (!any)
        return;
    choose_columns(table, all);
    document_flag(table, ".has_missed", false);
    struct fact *rows = document_array(table, ".rows");
    for (size_t i = 0; i < all->front_count; i++) {
        const struct search_point *p = &all->front[i];
        struct fact *one = document_object(array, NULL);
        report_leader_facts(one, p->leader, p->leader->row, 0);
        document_quote(one, "values", p->machine->label);
        document_real(one, "free_ratio", IN_RATIO, p->free_ratio);
        show_row(rows, p->machine, p->leader, p->free_ratio, "");
    }
}

static void set_power(struct fact *o, const struct search_machines *all)
{
    struct report_power power = {.watts = {.smallest_w = NAN}};
    for (size_t i = 0; i < all->count; i++) {
        const struct search_machine *m = &all->rows[i];
        if (m->first)
            power.first = &m->leader;
        power.watts.smallest_w = fmin(power.watts.smallest_w, m->watts.smallest_w);
        power.watts.of_played = power.watts.of_played || m->watts.of_played;
        power.refused = power.refused || m->refused;
    }
    if (all->more != NULL) {
        power.more = &all->more->more;
        power.label = all->more->label;
    }
    report_power_facts(o, &all->question.terms, &power);
}

/* A search that was stopped is that of the last machine: no other was begun. */
static bool last_stopped(const struct search_machines *all)
{
    return all->count > 0 && all->rows[all->count - 1].stopped;
}

struct fact *report_machines(struct arena *arena, const struct search_machines *all,
                             const char *keys)
{
    const struct search_terms *terms = &all->question.terms;
    struct fact *o = document_begin(arena, "orrery.plan-machines/1", NULL);
    report_terms_facts(o, &all->question);
    struct fact *machines = document_array(o, "machines"), *table = document_object(o, ".table");
    struct fact *rows = document_array(table, ".rows");
    bool found = false;
    for (size_t i = 0; i < all->count; i++) {
        set_machine(document_object(machines, NULL), &all->rows[i]);
        show_machine(rows, &all->rows[i]);
        found = found || all->rows[i].found;
    }
    choose_columns(table, all);
    set_front(o, all);
    const size_t whole = all->count - (last_stopped(all) ? 1 : 0);
    document_count(o, "asked", all->asked);
    document_count(o, ".whole", whole);
    document_flag(o, ".stopped", whole < all->asked);
    document_word(o, ".keys", keys);
    document_flag(o, ".found", found);
    document_word(o, ".surer", surer_words(o->arena, all));
    set_power(o, all);
    document_word(o, ".best_doc", search_best_docs[terms->best]);
    document_flag(o, ".bounded",
                  terms->deadline_s > 0.0 || terms->budget_usd > 0.0 ||
                      search_terms_limited(terms));
    document_flag(o, ".with_weeks", any_weeks(all));
    return o;
}
