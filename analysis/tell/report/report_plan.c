#include "analysis/tell/report/report_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/tell/report/report_layouts.h"
#include "analysis/tell/report/report_parts.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"

enum {
    PARTS_SHOWN = 4
};

const char *report_plan_sets(struct arena *arena, const struct configuration *base,
                             const struct plan_layout *l)
{
    const char *sets[PLAN_KEY_COUNT], *text = "";
    const unsigned count = plan_layout_sets(arena, base, l, sets);
    for (unsigned i = 0; i < count; i++)
        text = arena_format(arena, "%s%s--set %s", text, i > 0 ? " " : "", sets[i]);
    return text;
}

static void print_head(const struct session *s, const struct plan_told *told)
{
    const struct configuration *c = told->search->base;
    fprintf(s->out, "%s%s%s\n", session_bold(s), told->scenario->name, session_plain(s));
    fprintf(s->out, "  model     %s parameters; sequence %s, %s, %s attention\n",
            format_quantity(transformer_parameters(&c->model, c->training.sequence)).s,
            format_count(c->training.sequence).s, c->training.precision->head.name,
            attention_kernel_names[c->training.attention]);
    fprintf(s->out, "  cluster   %s x %s in %s x %s%s%s\n", format_count(configuration_gpus(c)).s,
            c->gpu.name, format_count(c->cluster.nodes).s, c->cluster.node.name,
            c->cluster.nodes > 1 ? " over " : "",
            c->cluster.nodes > 1 ? c->cluster.fabric.name : "");
    fprintf(s->out, "  batch     %s sequences a step; software %s\n",
            format_count(c->training.global_batch).s, c->software.name);
    for (unsigned i = 0; i < told->scenario->choices.count; i++) {
        const struct made_choice *row = &told->scenario->choices.rows[i];
        fprintf(s->out, "  %-9s %s: %s (%s)\n", i == 0 ? "chosen" : "", choice_key_path(row->key),
                row->value, row->why);
    }
}

#define HOPELESS_RATIO 0.5

static void print_fate(const struct session *s, uint64_t count, const char *what)
{
    if (count > 0)
        fprintf(s->out, "  %10s %s\n", format_count(count).s, what);
}

static void print_fates(const struct session *s, const struct search *search)
{
    fprintf(s->out, "\n%s layouts%s\n", format_count(search->counts.considered).s,
            search->stopped ? " of a search that was stopped" : "");
    print_fate(s, search->counts.fates[FATE_RULE], "break a rule (--why names it)");
    print_fate(s, search->counts.fates[FATE_MEMORY],
               "hold more state and activations than the card, whatever is recomputed");
    print_fate(s, search->counts.fates[FATE_HEADROOM],
               "would leave less of the card free than --headroom asks, whatever is recomputed");
    print_fate(s, search->counts.considered - search->row_count,
               "hold more, and were tried again with more recomputation");
    print_fate(s, search->counts.fates[FATE_OPEN], "were not looked at");
    print_fate(s, search->counts.fates[FATE_DEADLINE],
               "miss the deadline: timed, or by their kernels alone");
    print_fate(s, search->counts.fates[FATE_BUDGET],
               "exceed the budget: timed, or by their kernels alone");
    print_fate(s, search->counts.fates[FATE_BOUND],
               "cannot be as fast: their kernels alone take longer");
    print_fate(s, search->counts.fates[FATE_TIMED], "were timed, and are slower");
    print_fate(s, search->counts.fates[FATE_LEDGER], "would be as fast, and do not fit");
    print_fate(s, search->counts.fates[FATE_LEADER], "lead");
}

/* Leaders, the row `seen`, the row `own`. */
static size_t gather_lines(struct arena *arena, const struct plan_told *told,
                           struct layout_line *lines)
{
    const struct search *search = told->search;
    size_t count = 0;
    for (uint32_t i = 0; i < search->leader_count; i++)
        lines[count++] = (struct layout_line){
            arena_format(arena, "%" PRIu32 "%s", i + 1, i + 1 == told->own->rank ? " own" : ""),
            &search->leaders[i]};
    if (search->has_safe)
        lines[count++] = (struct layout_line){"seen", &search->safe};
    if (told->own->fits && told->own->rank == 0)
        lines[count++] = (struct layout_line){"own", &told->own->leader};
    return count;
}

static bool any_guessed(const struct search *search)
{
    for (uint32_t i = 0; i < search->leader_count; i++)
        if (!search->leaders[i].played)
            return true;
    return false;
}

/* Whether what the user measured puts the leaders in another order. */
static void print_yours(const struct session *s, const struct search *search)
{
    uint32_t fastest = 0;
    bool same = true;
    for (uint32_t i = 1; i < search->leader_count; i++) {
        const struct search_leader *l = search->leaders;
        same = same && l[i].forecast_s >= l[i - 1].forecast_s;
        if (l[i].forecast_s < l[fastest].forecast_s)
            fastest = i;
    }
    fputs("  yours: the step by what you measured; ", s->out);
    if (same)
        fputs("the order stays\n", s->out);
    else if (fastest > 0)
        fprintf(s->out, "by it %" PRIu32 " is the fastest\n", fastest + 1);
    else
        fputs("the first stays, the order behind it changes\n", s->out);
}

/* Why the search did not find what beats it. */
static const char *own_reason(struct arena *arena, const struct search_own *own)
{
    const char *text = "";
    for (unsigned key = 0; key < PLAN_AXIS_COUNT; key++)
        if ((own->unsearched >> key & 1u) != 0)
            text = arena_format(arena, "%s%s%s", text, *text != '\0' ? ", " : "",
                                search_own_value(arena, own, (enum plan_axis)key));
    if (*text != '\0')
        return arena_format(arena, ", which has no layout with %s", text);
    return own->tight ? "" : ": it was set aside at pass detail";
}

static void print_own(const struct session *s, const struct search_own *own)
{
    struct arena *arena = arena_create();
    const char *text = own->completed ? "own: the layout that the scenario has, with what it does "
                                        "not say as 'orrery run' chooses it"
                                      : "own: the layout that the scenario has";
    if (own->rank == 1 && !own->found)
        text =
            arena_format(arena, "%s; it beats all of the search%s", text, own_reason(arena, own));
    if (own->tight)
        text =
            arena_format(arena, "%s; it leaves less of the card free than --headroom asks", text);
    fputs("  ", s->out);
    wrap_print(s->out, s->width, text, 2);
    arena_destroy(arena);
}

static void print_marks(const struct session *s, const struct plan_told *told)
{
    const bool weeks =
        told->search->leaders[0].weeks != NULL && search_terms_weeks(&told->search->question.terms);
    fprintf(s->out, "  P(1): how probably it is no %s than the first, by the model's own error%s\n",
            weeks ? "worse" : "slower", weeks ? " and the seeds" : "");
    fprintf(s->out, "  seen: steps of this kind of layout were measured, with this software on "
                    "this card\n");
    if (told->shift->steps > 0)
        print_yours(s, told->search);
    if (any_guessed(told->search))
        fprintf(s->out,
                "  ~ at pass detail: slower than the first by more than that may be off, or "
                "not played op by op\n");
    if (told->search->counts.unplayed > 0)
        fprintf(s->out,
                "  %" PRIu64 " more may be as fast as the last of these: at pass detail they are "
                "slower, and there are too many to play op by op\n",
                told->search->counts.unplayed);
    if (told->own->fits)
        print_own(s, told->own);
    if (told->own->stated && !told->own->fits)
        fprintf(s->out,
                "  the layout that the scenario has does not fit, or breaks a rule: 'orrery "
                "check' says why\n");
}

/* What was not played might lead all the same. */
static void print_needed(const struct session *s, const struct search *search)
{
    const double needed = search->needed_goodput_ratio;
    if (search->weeks_error.text[0] != '\0')
        fprintf(s->out, "  weeks that could not be played: %s\n", search->weeks_error.text);
    if (isfinite(needed) && needed > 1.0)
        fprintf(s->out, "  goodput is of these alone: whatever is slower cannot lead\n");
    else if (isfinite(needed))
        fprintf(s->out,
                "  goodput is of these alone: what is slower would lead only with one above %s "
                "(--top plays more)\n",
                format_percent(needed).s);
}

static void print_leaders(const struct session *s, const struct plan_told *told)
{
    const struct search *search = told->search;
    struct arena *arena = arena_create();
    struct layout_line *lines =
        ARENA_ARRAY(arena, struct layout_line, search->leader_count + (size_t)2);
    report_heading(s, "Leaders");
    report_layouts(s, lines, gather_lines(arena, told, lines));
    arena_destroy(arena);
    print_marks(s, told);
    print_needed(s, search);
    if (search->pareto_count > 1) {
        fprintf(s->out, "  of these no other is both faster and leaner than");
        for (uint32_t i = 0; i < search->pareto_count; i++)
            fprintf(s->out, "%s %" PRIu32, i > 0 ? "," : "", search->pareto[i] + 1);
        fputs("; --pareto finds all\n", s->out);
    }
}

/* What failures leave of it. */
static void print_weeks(const struct session *s, const struct search_weeks *w)
{
    fprintf(s->out,
            "  weeks     goodput %s (95 %%: %s to %s, by %" PRIu32 " seeds%s): %s tokens a day\n",
            format_percent(w->goodput_ratio).s, format_percent(w->low_ratio).s,
            format_percent(w->high_ratio).s, w->seeds,
            w->seeds < w->asked ? ", which are enough: it hardly gets on" : "",
            format_quantity(w->tokens_per_s * DAY).s);
    if (isfinite(w->mtbf_s))
        fprintf(s->out, "            a failure each %s; recovery %s%s%s%s\n",
                format_time(w->mtbf_s).s, w->recovery, w->spares > 0 ? ", " : "",
                w->spares > 0 ? format_count(w->spares).s : "",
                w->spares == 0   ? ""
                : w->spares == 1 ? " spare node"
                                 : " spare nodes");
    if (isfinite(w->interval_s))
        fprintf(s->out, "            checkpoints %s, %s for each %s of work%s%s%s\n", w->checkpoint,
                format_time(w->stall_s).s, format_time(w->interval_s).s,
                w->interval_why != NULL ? " (" : "", w->interval_why != NULL ? w->interval_why : "",
                w->interval_why != NULL ? ")" : "");
    if (w->tainted_by[0] != '\0')
        fprintf(s->out,
                "            '%s' is found when all kept checkpoints are tainted, and the job "
                "starts\n            anew: --set checkpoint.keep=%.0f keeps enough\n",
                format_shown(w->tainted_by).s, w->keep_needed);
    if (w->limited)
        fprintf(s->out, "            a limit of the player ended a run: it hardly gets on\n");
}

/* What the tokens take and cost. */
static void print_training(const struct session *s, const struct configuration *c,
                           const struct search_leader *l)
{
    if (isfinite(l->training_s))
        fprintf(s->out, "  training  %s%s for %s tokens%s%s, %s failures\n",
                format_time(l->training_s).s, l->weeks != NULL ? "" : " of such steps",
                format_quantity(c->training.tokens).s, isfinite(l->training_usd) ? ", " : "",
                isfinite(l->training_usd) ? format_money(l->training_usd).s : "",
                l->weeks != NULL ? "with" : "without");
}

static void print_first(const struct session *s, const struct plan_told *told)
{
    const struct search_leader *first = &told->search->leaders[0];
    char sentence[512];
    bool shown[PART_COUNT] = {false};
    report_heading(s, "The first");
    fprintf(s->out, "  step      %s; 80 %% of steps between %s and %s\n            %s",
            format_time(first->step_s).s, format_time(first->p10_s).s, format_time(first->p90_s).s,
            session_dim(s));
    wrap_print(s->out, s->width,
               model_error_sentence(&told->search->own, sentence, sizeof sentence), 12);
    fputs(session_plain(s), s->out);
    if (told->shift->steps > 0)
        fprintf(
            s->out,
            "  measured  %u step%s by you: the forecast of this one becomes %s (%+.1f %%); what "
            "follows is\n            the model's\n",
            told->shift->steps, told->shift->steps == 1 ? "" : "s",
            format_time(first->forecast_s).s, 100.0 * (first->forecast_s / first->step_s - 1.0));
    fprintf(s->out, "  tokens    %s a second\n", format_quantity(first->tokens_per_s).s);
    if (first->weeks != NULL)
        print_weeks(s, first->weeks);
    print_training(s, told->search->base, first);
    for (unsigned n = 0; n < PARTS_SHOWN && first->played; n++) {
        unsigned most = PART_COUNT;
        for (unsigned p = 0; p < PART_COUNT; p++)
            if (!shown[p] &&
                (most == PART_COUNT || first->breakdown_s[p] > first->breakdown_s[most]))
                most = p;
        shown[most] = true;
        if (first->breakdown_s[most] > 0.0)
            fprintf(s->out, "  %-9s %-13s %9s %7s\n", n == 0 ? "time" : "", breakdown_names[most],
                    format_time(first->breakdown_s[most]).s,
                    format_percent(first->breakdown_s[most] / first->step_s).s);
    }
    fprintf(s->out, "\nTo play it: %s\n", told->line);
}

static void print_overflow(const struct session *s, const struct search_verdict *v)
{
    const struct search_overflow *o = &v->overflow;
    if (!o->known) {
        fprintf(s->out, "  its state and activations alone take %s\n",
                format_bytes(v->row->least_bytes).s);
        return;
    }
    if (o->on_host) {
        fprintf(s->out,
                "  it does not fit: the node of rank %" PRIu32 " keeps %s in the memory of its "
                "CPUs, which is %s\n",
                o->rank, format_bytes(o->needed_bytes).s, format_bytes(o->usable_bytes).s);
        return;
    }
    if (isfinite(o->needed_bytes))
        fprintf(s->out, "  it does not fit: it needs %s of %s (the card less --headroom)\n",
                format_bytes(o->needed_bytes).s, format_bytes(o->usable_bytes).s);
    fprintf(s->out,
            "  memory ends on rank %" PRIu32 " (stage %" PRIu32 ") at %s (%s, %s) in %s, with %s "
            "allocated\n",
            o->rank, o->stage, o->tensor, o->tenant, format_bytes(o->bytes).s, o->call_site,
            format_bytes(o->allocated_bytes).s);
}

static void print_lost(const struct session *s, const struct plan_told *told)
{
    const struct search_verdict *v = told->why;
    const struct search *search = told->search;
    const struct search_terms *terms = &search->question.terms;
    if (v->missed == FATE_DEADLINE)
        fprintf(s->out, "  it misses the deadline: the training takes %s of %s\n",
                format_time(v->leader.training_s).s, format_time(terms->deadline_s).s);
    if (v->missed == FATE_BUDGET)
        fprintf(s->out, "  it exceeds the budget: the training costs %s of %s\n",
                format_money(v->leader.training_usd).s, format_money(terms->budget_usd).s);
    if (search->leader_count == 0)
        return;
    const struct search_leader *first = &search->leaders[0];
    const double more_s = v->leader.step_s - first->step_s;
    if (fabs(more_s) <= 1e-12 * first->step_s) {
        fprintf(s->out, "  it takes %s, as long as the first: it leads\n",
                format_time(v->leader.step_s).s);
        return;
    }
    fprintf(s->out,
            "  it takes %s, %s%s than the first (%s); it is no slower with %s probability\n",
            format_time(v->leader.step_s).s, format_percent(fabs(more_s) / first->step_s).s,
            more_s >= 0.0 ? " more" : " less", format_time(first->step_s).s,
            format_percent(v->leader.as_fast_probability).s);
    if (v->leader.weeks != NULL && first->weeks != NULL)
        fprintf(s->out, "  failures leave it %s tokens a day (goodput %s), the first %s (%s)\n",
                format_quantity(v->leader.weeks->tokens_per_s * DAY).s,
                format_percent(v->leader.weeks->goodput_ratio).s,
                format_quantity(first->weeks->tokens_per_s * DAY).s,
                format_percent(first->weeks->goodput_ratio).s);
    for (unsigned p = 0; p < PART_COUNT; p++)
        if (fabs(v->lost_s[p]) > 1e-4 * first->step_s)
            fprintf(s->out, "    %-13s %s%s\n", breakdown_names[p], v->lost_s[p] > 0.0 ? "+" : "",
                    format_time(v->lost_s[p]).s);
}

static void print_wished(const struct session *s, const struct search_verdict *v)
{
    const struct search *found = v->found;
    char words[LAYOUT_TEXT];
    fprintf(s->out, "  %s layouts have these values; %s:\n  ",
            format_count(found->counts.considered).s,
            v->played ? "the best of them" : "none fits, and this one came furthest");
    wrap_print(s->out, s->width, report_layout_words(&v->row->layout, words), 2);
}

static void print_why(const struct session *s, const struct plan_told *told)
{
    const struct search_verdict *v = told->why;
    char title[160];
    snprintf(title, sizeof title, "Why not %s", format_shown(told->why_text).s);
    report_heading(s, title);
    if (v->row == NULL) {
        fprintf(s->out,
                "  no layout has these values: tp x pp x cp x dp is the number of GPUs, %s "
                "here\n",
                format_count(configuration_gpus(told->search->base)).s);
        return;
    }
    print_wished(s, v);
    if (v->rule[0] != '\0')
        fprintf(s->out, "  it breaks a rule: %s: %s\n", v->row->rule, v->rule);
    else if (v->played)
        print_lost(s, told);
    else
        print_overflow(s, v);
}

/* More GPUs fail more: what they would do cannot be told from a job that hardly gets on. */
static bool hopeless(const struct search_leader *l)
{
    return l->weeks != NULL && l->weeks->goodput_ratio < HOPELESS_RATIO;
}

/* What a machine would need that runs as well for each GPU. */
static void print_near(const struct session *s, const struct search *search)
{
    const struct search_terms *terms = &search->question.terms;
    const struct search_leader *near = &search->near;
    const struct configuration *c = search->base;
    char words[LAYOUT_TEXT];
    fprintf(s->out,
            "\nNothing that fits keeps the terms. The fastest that fits takes %s a step:\n  ",
            format_time(near->step_s).s);
    wrap_print(s->out, s->width, report_layout_words(&near->row->layout, words), 2);
    if (near->weeks != NULL)
        print_weeks(s, near->weeks);
    print_training(s, c, near);
    if (terms->deadline_s > 0.0 && near->training_s > terms->deadline_s && !hopeless(near))
        fprintf(s->out, "  deadline  %s: as fast for each GPU, %s GPUs would do\n",
                format_time(terms->deadline_s).s,
                format_count((uint64_t)ceil((double)configuration_gpus(c) * near->training_s /
                                            terms->deadline_s))
                    .s);
    if (terms->budget_usd > 0.0 && near->training_usd > terms->budget_usd)
        fprintf(s->out, "  budget    %s: it buys %s tokens\n", format_money(terms->budget_usd).s,
                format_quantity(c->training.tokens * terms->budget_usd / near->training_usd).s);
}

static void print_nothing(const struct session *s, const struct search *search)
{
    if (search->has_near)
        print_near(s, search);
    else if (search->stopped)
        fprintf(s->out, "\nStopped before a layout was found.\n");
    else if (search->row_count == 0)
        fprintf(s->out,
                "\nNo layout has the keys that are held: tp x pp x cp x dp is the number of "
                "GPUs.\n");
    else if (search->counts.fates[FATE_RULE] == search->row_count)
        fprintf(s->out, "\nEvery layout breaks a rule: --why KEY=VALUE names it.\n");
    else
        fprintf(s->out, "\nNothing fits. --why KEY=VALUE says what a layout lacks; more GPUs, a "
                        "larger card, or a smaller batch and sequence hold less on each.\n");
}

static void print_front(const struct session *s, const struct search_front *front)
{
    struct arena *arena = arena_create();
    struct layout_line *lines = ARENA_ARRAY(arena, struct layout_line, front->count);
    for (uint32_t i = 0; i < front->count; i++)
        lines[i] = (struct layout_line){arena_format(arena, "%" PRIu32, i + 1), &front->leaders[i]};
    report_heading(s, "The front: no layout beats one in both time and free memory");
    report_layouts(s, lines, front->count);
    fprintf(s->out, "  to %s of the card%s\n", format_percent(FRONT_STEP_RATIO).s,
            front->stopped ? "; it was stopped" : "");
    arena_destroy(arena);
}

static void print_batch(const struct session *s, const struct search *search,
                        const struct search_batch *b)
{
    char more[96] = "fits";
    if (isfinite(b->faster_ratio))
        snprintf(more, sizeof more, "has %s more tokens a second",
                 format_percent(b->faster_ratio - 1.0).s);
    fprintf(s->out,
            "\nA batch of %s divides better than %s: %s layouts keep the rules in place of %s, and "
            "the\nbest of them %s (%s).\n",
            format_count(b->batch).s, format_count(search->base->training.global_batch).s,
            format_count(b->layouts).s, format_count(b->own_layouts).s, more,
            report_layout_short(&b->leader.row->layout).s);
}

void report_plan(const struct session *s, const struct plan_told *told)
{
    print_head(s, told);
    print_fates(s, told->search);
    if (told->search->leader_count > 0) {
        print_leaders(s, told);
        if (told->front != NULL && told->front->count > 0)
            print_front(s, told->front);
        print_first(s, told);
    } else {
        print_nothing(s, told->search);
    }
    if (told->batch->known)
        print_batch(s, told->search, told->batch);
    if (told->why != NULL)
        print_why(s, told);
}
