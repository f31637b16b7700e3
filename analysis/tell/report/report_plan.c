#include "analysis/tell/report/report_plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/plan/search/search_prefer.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/record/evidence/published_mfu.h"
#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_layouts.h"
#include "analysis/tell/report/report_why.h"
#include "sim/units.h"

enum {
    PARTS_SHOWN = 4
};
static const char head_lines[] =
    "{bold}{.title:clean}{plain}\n"
    "  model     {.parameters} parameters; sequence {.sequence}, {.precision}, {.attention} "
    "attention\n"
    "  cluster   {.gpus} x {.gpu} in {.nodes} x {.node}{if .nodes > 1} over "
    "{.fabric}{end}\n" REPORT_ANNOUNCED
    "  batch     {.global_batch} sequence{if not .global_batch = 1}s{end} a step; software "
    "{.software}\n"
    "{each choices}"
    "  {if row = 1}chosen    {else}          {end}{key}: {value:raw} ({why})\n"
    "{end}"
    "\n{searched} layout{if not searched = 1}s{end}{if stopped} of a search that was stopped{end}\n"
    "{each .fates}  {.count>10} {.what}\n{end}";

static const char leader_lines[] =
    "{each .leaders}\n{bold}Leaders{plain}\n" REPORT_LAYOUTS_LINES
    "  P(1): probability that it is no {if .with_weeks}worse{else}slower{end} than the first, by "
    "the model's own error{if .with_weeks} and the seeds{end}\n  seen: steps of this kind of "
    "layout have been measured with this software on this card\n  fits: {if .draws > 0}share of "
    "{.draws:digits} draws of the figures of memory, as 'run --uncertainty' draws them{else}no "
    "figure of memory is uncertain here{end}\n{if .preferred}  {wrap .preferred 2}{end}{if "
    "own_steps}  yours: the step corrected by your measurements; {.order}\n{end}{if .guessed}  ~ "
    "at pass detail: slower than the first by more than that may be off, or not played op by "
    "op\n{end}{if unplayed > 0}  {unplayed:digits} more may be as fast as the last of these: at "
    "pass detail they are slower, and there are too many to play op by op\n{end}{if .own_words}  "
    "{wrap .own_words 2}{end}{if .own_unfit}  the scenario's own layout does not fit, or breaks a "
    "rule: 'orrery check' says why\n{end}{if .weeks_error}  weeks that could not be simulated: "
    "{.weeks_error}\n{end}{if needed_goodput}  goodput is known for these only: {if "
    "needed_goodput > 1}no slower layout can lead\n{else}a slower layout would lead only with "
    "goodput above {needed_goodput} (--top simulates more)\n{end}{end}{if .joules}  J/token: at "
    "the wall, without failures{if needed_w}; a slower layout would lead only if the job drew "
    "less than\n  {needed_w}, where the first draws {.first_w} (--top simulates "
    "more){end}\n{end}{if .pareto}  no other of these {if .by_energy}takes both less energy and "
    "less memory{else}is both faster and leaner{end} than {.pareto}; --pareto finds "
    "all\n{end}{end}";

static const char front_lines[] =
    "{each .front}\n{bold}The Pareto front: no layout beats one of these in both time and free "
    "memory{plain}\n" REPORT_LAYOUTS_LINES
    "  to {.front_ratio} of the card{if .front_stopped}; it was stopped{end}\n"
    "{end}";

#define TRAINING                                                                                   \
    "{if .training_s}"                                                                             \
    "  training  {.training_s}{if not weeks} of such steps{end} for {.tokens} tokens"              \
    "{if training_usd}, {training_usd}{end}, with{if not weeks}out{end} failures\n"                \
    "{end}"
#define MORE                                                                                       \
    "\n            A larger batch can use more, or replicas of more GPUs: --vary "                 \
    "cluster.gpus=... searches\n"
static const char first_lines[] =
    "{each .first}\n{bold}The first{plain}\n  step      {if own_steps}{forecast_step_time_s}"
    "{else}{step_time_s}{end}; 80 % of steps between {p10} and {p90}\n            {dim}{if "
    "own_steps}{if .itself}the scatter of such steps alone, as this one was measured{else}if the "
    "catalogue's figures are exact{end}{else}with the errors of the catalogue's figures, and the "
    "model's own{end}{plain}\n            {dim}{wrap model_error 12}{plain}            {dim}in "
    "{regret.groups:digits} published groups of layouts the predicted fastest took "
    "{regret.median_ratio} longer\n            than the best, P90 {regret.p90_ratio} (means of "
    "sources){plain}\n{if own_steps}  measured  {own_steps.steps:digits} step{if not "
    "own_steps.steps = 1}s{end} by you: the model's {step_time_s} becomes {forecast_step_time_s} "
    "({.forecast_change:+.1%}); what follows is\n            the model's\n{end}  tokens    "
    "{tokens_per_s} a second\n" REPORT_POWER_LINES
    "{if .above_published}  MFU       {wrap .above_published "
    "12}{end}" REPORT_WEEKS_LINES TRAINING
    "{each .largest}  {if row = 1}time     {else}         {end} {.part<13} {.seconds>9} "
    "{.seconds/step_time_s>7}\n{end}\nTo run it: {.line:raw}\n{end}{if "
    ".nothing}\n{wrap .nothing 0}{end}";
static const char near_lines[] =
    "{each .near}\nNo layout that fits meets the terms. The fastest that fits takes "
    "{step_time_s} a step:\n  {wrap .words 2}" REPORT_WEEKS_LINES TRAINING REPORT_POWER_LINES
    "{each .larger}  deadline  {.deadline_s}: "
    "{if .keeps}{.gpus:digits} GPUs keep it ({.nodes:digits} x {.node}; {.training_s}"
    "{if .with_failures} with failures{end}, steps of {.step_s}{if .usd}; {.usd}{end})"
    "{if .dear}, over the budget{end}:\n"
    "            {wrap .words 12}            the fewest with this tp, pp and cp; another split may "
    "do with fewer: --vary cluster.gpus=... tells\n"
    "{else}{if .later}more GPUs are no sooner with tp {.tp}, pp {.pp} and cp {.cp}: of those that "
    "divide this\n            batch the soonest, {.gpus:digits}, take {.training_s}{if "
    ".with_failures} with failures{end}.\n{if .with_failures}            Failures grow with the "
    "GPUs: spares, repairs and checkpoints buy more here.\n{end}{else}{if .gpus > 0}with tp "
    "{.tp}, pp {.pp} and cp {.cp} no number of GPUs that divides this batch keeps it;\n"
    "            the soonest, {.gpus:digits}, take {.training_s}{if .with_failures} with "
    "failures{end}." MORE "{else}with tp {.tp}, pp {.pp} and cp {.cp} "
    "no more GPUs divide this batch in whole nodes." MORE "{end}{end}{end}{end}"
    "{if .tokens_bought}  budget    {terms.budget_usd}: it buys "
    "{.tokens_bought} tokens\n{end}{end}{each better_batch}\nA batch of {global_batch} divides "
    "better than {.global_batch}: {layouts} layout{if layouts = 1} keeps{else}s keep{end} the "
    "rules instead of {own_layouts}, and the\nbest of them {if faster_ratio}has {.faster} more "
    "tokens a second{else}fits{end} ({.short}).\n{end}";

const char *const report_plan_lines[] = {head_lines, leader_lines,     front_lines, first_lines,
                                         near_lines, report_why_lines, NULL};

const char *report_plan_sets(struct arena *arena, const struct configuration *base,
                             const struct plan_layout *l)
{
    const char *sets[PLAN_KEY_COUNT], *text = "";
    const unsigned count = plan_layout_sets(arena, base, l, sets);
    for (unsigned i = 0; i < count; i++)
        text = arena_format(arena, "%s%s--set %s", text, i > 0 ? " " : "", sets[i]);
    return text;
}

static double known_if(bool known, double value)
{
    return known ? value : (double)NAN;
}

void report_terms_facts(struct fact *o, const struct search_question *q)
{
    document_word(o, "best", search_best_names[q->terms.best]);
    struct fact *terms = document_object(o, "terms");
    const double days = q->terms.deadline_s / DAY, usd = q->terms.budget_usd;
    document_real(terms, "headroom", IN_RATIO, q->headroom_ratio);
    document_real(terms, "deadline_days", IN_QUANTITY, known_if(days > 0.0, days));
    document_real(terms, "budget_usd", IN_USD, known_if(usd > 0.0, usd));
    if (search_terms_limited(&q->terms))
        document_real(terms, "power_w", IN_WATTS, q->terms.power_w);
}

static void set_head(struct fact *o, const struct search *search)
{
    const struct configuration *c = search->base;
    document_real(o, ".parameters", IN_QUANTITY,
                  transformer_parameters(&c->model, c->training.sequence));
    document_count(o, ".sequence", c->training.sequence);
    document_word(o, ".precision", c->training.precision->head.name);
    document_word(o, ".attention", attention_kernel_names[c->training.attention]);
    document_count(o, ".gpus", configuration_gpus(c));
    document_word(o, ".gpu", c->gpu.name);
    document_count(o, ".nodes", c->cluster.nodes);
    document_word(o, ".node", c->cluster.node.name);
    document_word(o, ".fabric", c->cluster.fabric.name);
    document_count(o, ".global_batch", c->training.global_batch);
    document_word(o, ".software", c->software.name);
    document_real(o, ".tokens", IN_QUANTITY, c->training.tokens);
    document_real(o, ".deadline_s", IN_SECONDS, search->question.terms.deadline_s);
}

/* Leaders, the row `seen`, the row `own`. */
static void show_leaders(struct fact *o, const struct plan_told *told)
{
    const struct search *search = told->search;
    struct layout_line *lines =
        ARENA_ARRAY(o->arena, struct layout_line, search->leader_count + (size_t)2);
    size_t count = 0;
    for (uint32_t i = 0; i < search->leader_count; i++)
        lines[count++] = (struct layout_line){
            arena_format(o->arena, "%" PRIu32 "%s", i + 1, i + 1 == told->own->rank ? " own" : ""),
            &search->leaders[i]};
    if (search->has_safe)
        lines[count++] = (struct layout_line){"seen", &search->safe};
    if (told->own->fits && told->own->rank == 0)
        lines[count++] = (struct layout_line){"own", &told->own->leader};
    report_layouts(o, ".leaders", lines, count);
}

static bool any_guessed(const struct search *search)
{
    for (uint32_t i = 0; i < search->leader_count; i++)
        if (!search->leaders[i].played)
            return true;
    return false;
}

/* Whether what the user measured puts the leaders in another order. */
static const char *measured_order(struct arena *arena, const struct search *search)
{
    const struct search_leader *l = search->leaders;
    uint32_t fastest = 0, before = 0; /* by it, and without */
    bool same = true;
    for (uint32_t i = 1; i < search->leader_count; i++) {
        for (uint32_t k = 0; k < i; k++)
            same = same && (l[k].forecast_s - l[i].forecast_s) * (l[k].step_s - l[i].step_s) >= 0.0;
        fastest = l[i].forecast_s < l[fastest].forecast_s ? i : fastest;
        before = l[i].step_s < l[before].step_s ? i : before;
    }
    return same ? "the order stays"
           : fastest != before
               ? arena_format(arena, "by it %" PRIu32 " is the fastest", fastest + 1)
               : "the fastest stays, the order behind it changes";
}

/* Why the search did not find what beats it. */
static const char *own_reason(struct arena *arena, const struct search_own *own)
{
    const char *values = search_own_values(arena, &own->row.layout, own->unsearched);
    if (values != NULL)
        return arena_format(arena, ", which has no layout with %s", values);
    return own->tight ? "" : ": it was set aside at pass detail";
}

/* NULL: the scenario has no layout that fits. */
static const char *own_words(struct arena *arena, const struct search_own *own)
{
    const char *text =
        own->completed
            ? "own: the scenario's layout; what it does not say is chosen as 'orrery run' does"
            : "own: the scenario's layout";
    if (!own->fits)
        return NULL;
    if (own->leads)
        text = arena_format(arena, "%s; it beats every layout of the search%s", text,
                            own_reason(arena, own));
    return own->tight ? arena_format(
                            arena, "%s; it leaves less of the card free than --headroom asks", text)
                      : text;
}

/* The layout of the scenario itself: its rank among `layouts`, and what no other of them has. */
static void set_own(struct fact *in, const struct search_own *own)
{
    struct fact *o = document_object_if(own->fits, in, "own");
    document_word(in, ".own_words", own_words(in->arena, own));
    document_flag(in, ".own_unfit", own->stated && !own->fits);
    if (o == NULL)
        return;
    report_leader_facts(o, &own->leader, &own->row, own->rank);
    struct fact *values = document_array(o, "not_searched");
    for (unsigned key = 0; key < PLAN_AXIS_COUNT; key++)
        if ((own->unsearched >> key & 1u) != 0)
            document_word(values, NULL,
                          search_own_value(in->arena, &own->row.layout, (enum plan_axis)key));
    document_flag(o, "less_free_than_headroom", own->tight);
}

/* What the user's measured steps did to the forecast of the first. */
static void set_own_steps(struct fact *in, const struct measured_shift *shift)
{
    struct fact *o = document_object_if(shift->steps > 0, in, "own_steps");
    if (o == NULL)
        return;
    document_count(o, "steps", shift->steps);
    document_real(o, "shift_ratio", IN_RATIO, expm1(shift->log_shift));
    document_real(o, "before_log_spread", IN_RATIO, shift->before_log_spread);
}

static void set_leader(struct fact *in, const char *key, const struct search_leader *leader)
{
    struct fact *o = document_object_if(leader != NULL, in, key);
    if (o != NULL)
        report_leader_facts(o, leader, leader->row, 0);
}

/* The largest parts of its step. */
static void show_parts(struct fact *in, const struct search_leader *l)
{
    struct fact *array = document_array(in, ".largest");
    bool shown[PART_COUNT] = {false};
    for (unsigned n = 0; n < PARTS_SHOWN && l->played; n++) {
        unsigned most = PART_COUNT;
        for (unsigned p = 0; p < PART_COUNT; p++)
            if (!shown[p] && (most == PART_COUNT || l->breakdown_s[p] > l->breakdown_s[most]))
                most = p;
        shown[most] = true;
        if (!(l->breakdown_s[most] > 0.0))
            continue;
        struct fact *o = document_object(array, NULL);
        document_word(o, ".part", breakdown_names[most]);
        document_real(o, ".seconds", IN_SECONDS, l->breakdown_s[most]);
    }
}

static void show_first(struct fact *in, const struct plan_told *told)
{
    const struct search_leader *first = &told->search->leaders[0];
    struct fact *o = document_object(in, ".first");
    report_leader_facts(o, first, first->row, 1);
    document_real(o, ".forecast_change", IN_RATIO, first->forecast_s / first->step_s - 1.0);
    document_flag(o, ".itself", told->shift->itself);
    document_quote(o, ".line", told->line);
    document_word(o, ".above_published",
                  published_mfu_words(in->arena, told->search->base, first->mfu_ratio));
    show_parts(o, first);
}

/* Which more GPUs would keep the deadline, as they were searched. */
static void show_larger(struct fact *in, const struct search *search,
                        const struct plan_larger *larger)
{
    const struct plan_layout *split = &search->near.row->layout;
    struct fact *o = document_object_if(larger != NULL && larger->known, in, ".larger");
    if (o == NULL)
        return;
    const bool any = larger->gpus > 0;
    const double budget_usd = search->question.terms.budget_usd;
    document_flag(o, ".keeps", larger->keeps);
    document_flag(o, ".later", any && larger->leader.training_s >= search->near.training_s);
    document_flag(o, ".with_failures", larger->leader.weeks != NULL);
    document_count(o, ".gpus", larger->gpus);
    document_count(o, ".nodes", larger->nodes);
    document_word(o, ".node", search->base->cluster.node.name);
    document_count(o, ".tp", split->tp);
    document_count(o, ".pp", split->pp);
    document_count(o, ".cp", split->cp);
    document_real(o, ".deadline_s", IN_SECONDS, search->question.terms.deadline_s);
    document_real(o, ".training_s", IN_SECONDS, known_if(any, larger->leader.training_s));
    document_real(o, ".step_s", IN_SECONDS, known_if(any, larger->leader.step_s));
    document_real(o, ".usd", IN_USD,
                  known_if(any && budget_usd > 0.0, larger->leader.training_usd));
    document_flag(o, ".dear", budget_usd > 0.0 && larger->leader.training_usd > budget_usd);
    document_word(o, ".words",
                  any ? report_layout_words(o->arena, &larger->leader.row->layout) : NULL);
}

static void show_near(struct fact *in, const struct search *search,
                      const struct plan_larger *larger)
{
    const struct search_terms *terms = &search->question.terms;
    const struct search_leader *near = &search->near;
    struct fact *o = document_object(in, ".near");
    report_leader_facts(o, near, near->row, 0);
    document_word(o, ".words", report_layout_words(o->arena, &near->row->layout));
    show_larger(o, search, larger);
    document_real(o, ".tokens_bought", IN_QUANTITY,
                  known_if(terms->budget_usd > 0.0 && near->training_usd > terms->budget_usd,
                           search->base->training.tokens * terms->budget_usd / near->training_usd));
}

static void set_pareto(struct fact *in, const struct search *s)
{
    struct fact *ranks = document_array(in, "pareto");
    const char *words = NULL;
    for (uint32_t i = 0; i < s->pareto_count; i++) {
        document_count(ranks, NULL, s->pareto[i] + 1);
        words = i == 0 ? arena_format(in->arena, "%" PRIu32, s->pareto[i] + 1)
                       : arena_format(in->arena, "%s, %" PRIu32, words, s->pareto[i] + 1);
    }
    document_word(in, ".pareto", s->pareto_count > 1 ? words : NULL);
}

static void set_front(struct fact *in, const struct search_front *front, bool shown)
{
    struct fact *array = document_array_if(front != NULL, in, "front");
    document_null(in, ".front");
    if (front == NULL)
        return;
    struct layout_line *lines = ARENA_ARRAY(in->arena, struct layout_line, front->count);
    for (uint32_t i = 0; i < front->count; i++) {
        const struct search_leader *l = &front->leaders[i];
        report_leader_facts(document_object(array, NULL), l, l->row, i + 1);
        lines[i] = (struct layout_line){arena_format(in->arena, "%" PRIu32, i + 1), l};
    }
    if (shown && front->count > 0)
        report_layouts(in, ".front", lines, front->count);
    document_real(in, ".front_ratio", IN_RATIO, FRONT_STEP_RATIO);
    document_flag(in, ".front_stopped", front->stopped);
}

static void set_batch(struct fact *in, const struct search_batch *b)
{
    struct fact *o = document_object_if(b->known, in, "better_batch");
    if (o == NULL)
        return;
    report_leader_facts(o, &b->leader, b->leader.row, 0);
    document_count(o, "global_batch", b->batch);
    document_count(o, "layouts", b->layouts);
    document_count(o, "own_layouts", b->own_layouts);
    document_real(o, "faster_ratio", IN_RATIO, b->faster_ratio);
    document_real(o, ".faster", IN_RATIO, b->faster_ratio - 1.0);
    document_word(o, ".short", report_layout_short(o->arena, &b->leader.row->layout));
}

static void set_launch(struct fact *in, const struct plan_told *told)
{
    struct fact *o = document_object_if(told->launch != NULL, in, "launch");
    const struct launch_text *text = told->launch_text;
    if (o == NULL)
        return;
    document_word(o, "framework", told->launch->head.name);
    document_word(o, "framework_version", told->launch->version);
    document_flag(o, "refused", text->refused);
    struct fact *notes = document_array(o, "notes"), *lines = document_array(o, "lines");
    for (uint32_t i = 0; i < text->note_count; i++) {
        struct fact *note = document_object(notes, NULL);
        document_word(note, "weight", launch_weight_names[text->notes[i].weight]);
        document_word(note, "text", text->notes[i].text);
    }
    for (uint32_t i = 0; i < text->line_count; i++)
        document_word(lines, NULL, text->lines[i]);
}

static void set_leaders(struct fact *o, const struct plan_told *told)
{
    const struct search *s = told->search;
    const bool any = s->leader_count > 0;
    struct fact *layouts = document_array(o, "layouts");
    for (uint32_t i = 0; i < s->leader_count; i++)
        report_leader_facts(document_object(layouts, NULL), &s->leaders[i], s->leaders[i].row,
                            i + 1);
    document_null(o, ".leaders");
    document_null(o, ".first");
    document_null(o, ".near");
    if (any) {
        show_leaders(o, told);
        show_first(o, told);
    } else if (s->has_near) {
        show_near(o, s, told->larger);
    }
    report_why_nothing_facts(o, s);
    document_word(o, ".weeks_error", s->weeks_error.text);
    document_flag(o, ".guessed", any_guessed(s));
    document_count(o, ".draws", any ? s->leaders[0].fit.draws : 0);
    document_word(o, ".preferred", any ? report_why_order(o->arena, s) : NULL);
    document_real(o, "fastest_rank", IN_COUNT, known_if(any, search_prefer_fastest(s) + 1.0));
    document_word(o, ".order", any ? measured_order(o->arena, s) : NULL);
    document_flag(o, ".with_weeks",
                  any && s->leaders[0].weeks != NULL && search_terms_weeks(&s->question.terms));
}

struct fact *report_plan(struct arena *arena, const struct plan_told *told)
{
    const struct search *s = told->search;
    struct fact *o = document_begin(arena, "orrery.plan/1", told->scenario);
    char sentence[MODEL_ERROR_SENTENCE_MAX];
    report_terms_facts(o, &s->question);
    set_head(o, s);
    report_announced_of(o, s->base);
    document_count(o, "searched", s->counts.considered);
    document_count(o, "tried_again", s->counts.considered - s->row_count);
    report_fates(o, s);
    document_count(o, "timed", s->counts.timed);
    document_count(o, "played", s->counts.played);
    document_count(o, "unplayed", s->counts.unplayed);
    document_flag(o, "stopped", s->stopped);
    document_real(o, "seconds", IN_SECONDS, told->seconds);
    const char *own = model_error_sentence(&s->own, sentence, sizeof sentence);
    document_word(o, "model_error", s->leader_count > 0 ? arena_text(arena, own) : NULL);
    struct fact *regret = document_object(o, "regret");
    document_count(regret, "groups", residues_shipped.regret.groups);
    document_real(regret, "median_ratio", IN_RATIO, residues_shipped.regret.median_ratio);
    document_real(regret, "p90_ratio", IN_RATIO, residues_shipped.regret.p90_ratio);
    set_own_steps(o, told->shift);
    set_own(o, told->own);
    set_leader(o, "fastest_measured", s->has_safe ? &s->safe : NULL);
    document_real(o, "needed_goodput", IN_RATIO, s->needed_goodput_ratio);
    document_real(o, "needed_w", IN_WATTS, s->watts.needed_w);
    document_flag(o, ".by_energy", s->question.terms.best == BEST_ENERGY);
    document_flag(o, ".joules", search_terms_draws(&s->question.terms));
    report_power_facts(o, &s->question.terms,
                       &(struct report_power){.first = s->leader_count > 0 ? &s->leaders[0] : NULL,
                                              .near = s->has_near ? &s->near : NULL,
                                              .more = told->more,
                                              .refused = s->counts.fates[FATE_POWER] > 0,
                                              .watts = s->watts});
    document_real(o, ".first_w", IN_WATTS,
                  s->leader_count > 0 ? s->leaders[0].wall_w : (double)NAN);
    set_leader(o, "nearest", s->has_near ? &s->near : NULL);
    set_leaders(o, told);
    set_pareto(o, s);
    set_front(o, told->front, s->leader_count > 0);
    set_batch(o, told->batch);
    set_launch(o, told);
    report_why(o, s, told->why, told->why_text);
    report_fates_shown(o, s);
    return o;
}
