#include "analysis/tell/report/report_why.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/plan/search/search_broken.h"
#include "analysis/plan/search/search_lack.h"
#include "analysis/plan/search/search_own.h"
#include "analysis/plan/search/search_prefer.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"
#include "analysis/tell/report/report_layouts.h"
#include "models/plan/trial.h"
#include "sim/units.h"

const char report_why_lines[] =
    "{each why}"
    "\n{bold}Why not {.asked}{plain}\n"
    "{if not .words}"
    "  no layout has these values: tp x pp x cp x dp is the number of GPUs, {.gpus} here, and an "
    "interleaved pipeline has several stages and chunks\n"
    "{else}"
    "{if .broken}"
    "  no layout can have these values: of {matched} tried, each breaks a rule, as this one does:\n"
    "{else}"
    "  {matched} layout{if matched = 1} has{else}s have{end} these values; "
    "{if .fits}the best of them{else}none fits, and this one came furthest{end}:\n"
    "{end}"
    "  {wrap .words 2}"
    "{if .warning}  {wrap .warning 2}{end}"
    "{if .broken}  it breaks a rule: {.rule}: {.broken}\n{end}"
    "{each .lost}"
    "{if .late}"
    "  it misses the deadline: the training takes {.training_s} of {.deadline_s}\n"
    "{end}"
    "{if .dear}"
    "  it exceeds the budget: the training costs {training_usd} of {terms.budget_usd}\n"
    "{end}"
    "{if .hungry}"
    "  it exceeds the power: a step draws {wall_w} at the wall of {.limit_w}\n"
    "{end}"
    "{each .beside}"
    "{if not .more}  it takes {step_time_s}, as long as the first: it leads\n{else}"
    "  it takes {step_time_s}, {.more} {if .slower}more{else}less{end} than the first "
    "({.first_s}); it is no slower with {as_fast_probability} probability\n"
    "{if .first_kept}"
    "  failures leave it {weeks..kept_tokens_per_day} tokens a day (goodput {weeks.goodput}), the "
    "first {.first_kept} ({.first_goodput})\n"
    "{end}"
    "{each .parts}    {.part<13} {.seconds:+time}\n{end}"
    "{end}{end}"
    "{if .untried}  the search tries no layout with {.untried} unless it is held "
    "(docs/planning.md)\n{end}"
    "{if .tight}  it leaves less of the card free than --headroom asks\n{end}"
    "{end}"
    "{each .overflow}"
    "{if not first_failure}{if .least_bytes}  its state and activations alone take "
    "{.least_bytes}\n{end}{end}"
    "{each first_failure}"
    "{if .on_host}"
    "  it does not fit: the node of rank {rank:digits} keeps {needed_bytes} in the memory of its "
    "CPUs, which is {usable_bytes}\n"
    "{else}"
    "{if needed_bytes}"
    "  it does not fit: it needs {needed_bytes} of {usable_bytes} (the card less --headroom)\n"
    "{end}"
    "  memory ends on rank {rank:digits} (stage {stage:digits}) at {tensor} ({tenant}, {bytes}) in "
    "{at}, with {allocated_bytes} allocated\n"
    "{end}{end}{end}"
    "{end}{end}";

void report_fates(struct fact *in, const struct search *search)
{
    struct fact *o = document_object(in, "rejected");
    for (unsigned f = FATE_RULE; f < FATE_LEADER; f++)
        if (f != FATE_POWER || search_terms_limited(&search->question.terms))
            document_count(o, search_fate_names[f], search->counts.fates[f]);
}

static void set_failure(struct fact *in, const struct search_overflow *f)
{
    struct fact *o = document_object_if(f->known, in, "first_failure");
    if (o == NULL)
        return;
    document_count(o, "rank", f->rank);
    document_count(o, "stage", f->stage);
    document_word(o, "tensor", f->tensor);
    document_word(o, "tenant", f->tenant);
    document_word(o, "at", f->call_site);
    document_real(o, "bytes", IN_BYTES, f->bytes);
    document_real(o, "short_bytes", IN_BYTES, f->short_bytes);
    document_real(o, "allocated_bytes", IN_BYTES, f->allocated_bytes);
    document_real(o, "needed_bytes", IN_BYTES, f->needed_bytes);
    document_real(o, "usable_bytes", IN_BYTES, f->usable_bytes);
    document_flag(o, ".on_host", f->on_host);
}

static double least_bytes(const struct search_row *row)
{
    return row->least_bytes > 0.0 ? row->least_bytes : (double)NAN;
}

static void set_layout(struct fact *in, const struct search_verdict *v)
{
    const struct search_row *row = v->row;
    struct fact *o = document_object(in, "layout");
    report_layout_facts(o, &row->layout);
    document_word(o, "fate", search_fate_names[row->fate]);
    document_word(o, "rule", row->rule);
    document_word(o, "sentence", v->rule[0] != '\0' ? v->rule : NULL);
    document_real(o, "least_step_time_s", IN_SECONDS,
                  row->least_s > 0.0 ? row->least_s : (double)NAN);
    document_real(o, "least_bytes", IN_BYTES, least_bytes(row));
    set_failure(o, &v->overflow);
    document_word(o, "missed", v->missed != FATE_OPEN ? search_fate_names[v->missed] : NULL);
    struct fact *played = document_object_if(v->played, o, "played");
    document_null(o, "lost_s");
    if (played == NULL)
        return;
    report_leader_facts(played, &v->leader, row, 0);
    report_breakdown_facts(o, "lost_s", v->lost_s);
}

static void show_parts(struct fact *in, const double lost_s[PART_COUNT], double least_s)
{
    struct fact *array = document_array(in, ".parts");
    for (unsigned p = 0; p < PART_COUNT; p++) {
        if (!(fabs(lost_s[p]) > least_s))
            continue;
        struct fact *o = document_object(array, NULL);
        document_word(o, ".part", breakdown_names[p]);
        document_real(o, ".seconds", IN_SECONDS, lost_s[p]);
    }
}

/* Beside the first leader. */
static void show_beside(struct fact *in, const struct search_leader *first,
                        const struct search_verdict *v)
{
    struct fact *o = document_object_if(first != NULL, in, ".beside");
    if (o == NULL)
        return;
    const double more_s = v->leader.step_s - first->step_s;
    const bool same = fabs(more_s) <= 1e-12 * first->step_s;
    const bool weeks = v->leader.weeks != NULL && first->weeks != NULL;
    document_real(o, ".more", IN_RATIO, same ? (double)NAN : fabs(more_s) / first->step_s);
    document_flag(o, ".slower", more_s >= 0.0);
    document_real(o, ".first_s", IN_SECONDS, first->step_s);
    document_real(o, ".first_kept", IN_QUANTITY,
                  weeks ? first->weeks->tokens_per_s * DAY : (double)NAN);
    document_real(o, ".first_goodput", IN_RATIO, weeks ? first->weeks->goodput_ratio : (double)NAN);
    show_parts(o, v->lost_s, 1e-4 * first->step_s);
}

void report_why(struct fact *in, const struct search *search, const struct search_verdict *v,
                const char *asked)
{
    struct fact *o = document_object_if(v != NULL, in, "why");
    if (o == NULL)
        return;
    document_quote(o, ".asked", asked);
    document_count(o, "matched", v->found->counts.considered);
    report_fates(o, v->found);
    document_null(o, ".words");
    document_null(o, ".broken");
    document_null(o, ".rule");
    document_null(o, ".warning");
    document_null(o, ".fits");
    document_null(o, ".lost");
    document_null(o, ".overflow");
    if (v->row == NULL)
        return;
    set_layout(o, v);
    document_word(o, ".words", report_layout_words(o->arena, &v->row->layout));
    const bool broken = v->rule[0] != '\0';
    document_word(o, ".broken", broken ? v->rule : NULL);
    document_word(o, ".rule", v->row->rule);
    document_word(o, ".warning", v->warning[0] != '\0' ? v->warning : NULL);
    document_flag(o, ".fits", v->played);
    struct fact *lost = document_object_if(!broken && v->played, o, ".lost");
    if (lost != NULL) {
        report_leader_facts(lost, &v->leader, v->row, 0);
        document_flag(lost, ".late", v->missed == FATE_DEADLINE);
        document_flag(lost, ".dear", v->missed == FATE_BUDGET);
        document_flag(lost, ".hungry", v->missed == FATE_POWER);
        document_real(lost, ".limit_w", IN_WATTS, search->question.terms.power_w);
        const struct plan_layout *layout = &v->row->layout;
        document_word(lost, ".untried",
                      search_own_values(o->arena, layout, search_unsearched(search, layout)));
        document_flag(lost, ".tight", search_tight(search, &v->leader));
        show_beside(lost, search->leader_count > 0 ? &search->leaders[0] : NULL, v);
    }
    if (!broken && !v->played) {
        struct fact *overflow = document_object(o, ".overflow");
        document_real(overflow, ".least_bytes", IN_BYTES, least_bytes(v->row));
        set_failure(overflow, &v->overflow);
    }
}

/* Does the state of some legal layout leave room on a card? Else no batch is small enough. */
static bool any_state_fits(const struct search *search)
{
    const double usable_bytes = trial_usable_bytes(search->base, search->question.headroom_ratio);
    for (uint32_t i = 0; i < search->row_count; i++) {
        struct configuration c;
        if (search->rows[i].fate == FATE_RULE)
            continue;
        plan_layout_apply(search->base, &search->rows[i].layout, &c);
        if (trial_state_may_fit(&c, usable_bytes))
            return true;
    }
    return false;
}

/* Does the key keep its value, though a search may choose it? */
static bool is_held(const struct search *search, const char *key)
{
    static const char section[] = "layout.";
    bool held = false;
    for (unsigned i = 0; i < PLAN_AXIS_COUNT && !held; i++)
        held = (search->question.held >> i & 1u) != 0 &&
               strncmp(key, section, strlen(section)) == 0 &&
               strcmp(key + strlen(section), plan_axis_names[i]) == 0;
    return held;
}

static const char *broken_words(struct arena *arena, const struct search *search,
                                const struct search_broken *b)
{
    if (b->same)
        return arena_format(arena, "Every layout breaks one rule, %s: %s.%s", b->key, b->sentence,
                            is_held(search, b->key) ? " The search holds this key: leave it open."
                                                    : "");
    return arena_format(arena,
                        "Every layout breaks a rule, and %s of %s break one of %s, as this does "
                        "(%s): %s. --why KEY=VALUE names those of others.",
                        format_count(b->count).s, format_count(search->row_count).s, b->key,
                        report_layout_short(arena, &b->row->layout), b->sentence);
}

static const char *batch_words(struct arena *arena, const struct search_lack *lack)
{
    return arena_format(arena,
                        "Nothing fits that keeps the rules. Fewer microbatches would fit (%s, with "
                        "as much recomputed as can be), and the batch breaks a rule, %s: %s. "
                        "--why KEY=VALUE names those of others.",
                        report_layout_short(arena, &lack->layout), lack->key, lack->sentence);
}

static const char *host_words(struct arena *arena, const struct search_lack *lack)
{
    return arena_format(arena,
                        "Nothing fits. Of what fits the cards, the layout that takes least of them "
                        "(%s) keeps %s in the memory of a node's CPUs, which have %s: offload "
                        "less, or take nodes with more memory. --why KEY=VALUE says what others "
                        "lack.",
                        report_layout_short(arena, &lack->layout), format_bytes(lack->host_bytes).s,
                        format_bytes(lack->host_room_bytes).s);
}

static const char *lack_words(struct arena *arena, const struct search *search,
                              const struct search_lack *lack)
{
    if (lack->batch != NULL)
        return batch_words(arena, lack);
    if (lack->host != NULL)
        return host_words(arena, lack);
    return any_state_fits(search)
               ? "Nothing fits. --why KEY=VALUE says what a layout lacks; more GPUs, a larger "
                 "card, or a smaller batch and sequence hold less on each."
               : "Nothing fits: weights, gradients and optimizer alone are more than the cards "
                 "hold, whatever the batch and the sequence. More GPUs share them, larger cards "
                 "hold more; --why KEY=VALUE says what a layout lacks.";
}

/* Its words, and what they are made of. */
static const char *find_nothing(struct arena *arena, const struct search *search,
                                struct search_broken *broken, struct search_lack *lack)
{
    *broken = (struct search_broken){.known = false};
    *lack = (struct search_lack){.batch = NULL};
    if (search->leader_count > 0 || search->has_near)
        return NULL;
    if (search->stopped)
        return "Stopped before a layout was found.";
    if (search->row_count == 0)
        return "No layout has the keys that are held: tp x pp x cp x dp is the number of GPUs.";
    search_broken_find(search, broken);
    if (broken->known)
        return broken_words(arena, search, broken);
    search_lack_find(search, lack);
    return lack_words(arena, search, lack);
}

const char *report_why_nothing(struct arena *arena, const struct search *search)
{
    struct search_broken broken;
    struct search_lack lack;
    return find_nothing(arena, search, &broken, &lack);
}

/* Why they do not stand by the objective alone; NULL: they do. */
static const char *order_words(struct arena *arena, const struct search *s)
{
    const uint32_t best = search_prefer_fastest(s);
    const struct search_fit *fit = &s->leaders[best].fit;
    const char *name = search_best_docs[s->question.terms.best];
    const double sure_percent = SEARCH_SURE_RATIO * 100.0;
    bool moved = false;
    for (uint32_t i = 1; i < s->leader_count; i++)
        moved = moved || search_terms_value(&s->question.terms, &s->leaders[i]) <
                             search_terms_value(&s->question.terms, &s->leaders[i - 1]);
    if (best > 0 && fit->ratio >= SEARCH_SURE_RATIO)
        return arena_format(
            arena, "%s: %" PRIu32 ", by less than is printed; before it stands what was seen", name,
            best + 1);
    if (best > 0)
        return arena_format(arena,
                            "%s: %" PRIu32 ", which fits in %s of the draws; what is no worse "
                            "within the model's own error and fits more surely, up to %.0f %%, "
                            "stands before it",
                            name, best + 1, format_percent(fit->ratio).s, sure_percent);
    return moved ? arena_format(arena,
                                "what is no worse than the first within the model's own error "
                                "stands by how surely it fits, up to %.0f %%",
                                sure_percent)
                 : NULL;
}

const char *report_why_order(struct arena *arena, const struct search *s)
{
    const char *order = order_words(arena, s);
    if (s->leaders[0].fit.ratio >= SEARCH_SURE_RATIO)
        return order;
    return arena_format(arena,
                        "%s%s1 fits in %s of the draws: a larger --headroom finds layouts that fit "
                        "more surely",
                        order != NULL ? order : "", order != NULL ? "; " : "",
                        format_percent(s->leaders[0].fit.ratio).s);
}

static void show_lack(struct fact *in, const struct search_lack *lack)
{
    struct fact *o = document_object_if(lack->batch != NULL || lack->host != NULL, in, "lack");
    if (o == NULL)
        return;
    document_word(o, "rule", lack->key);
    document_word(o, "sentence",
                  lack->batch != NULL ? arena_text(in->arena, lack->sentence) : NULL);
    document_real(o, "host_bytes", IN_BYTES, lack->host != NULL ? lack->host_bytes : NAN);
    document_real(o, "host_room_bytes", IN_BYTES, lack->host != NULL ? lack->host_room_bytes : NAN);
    report_layout_facts(document_object(o, "layout"), &lack->layout);
}

void report_why_nothing_facts(struct fact *in, const struct search *search)
{
    struct search_broken broken;
    struct search_lack lack;
    document_word(in, ".nothing", find_nothing(in->arena, search, &broken, &lack));
    show_lack(in, &lack);
    struct fact *o = document_object_if(broken.known, in, "broken");
    if (o == NULL)
        return;
    document_word(o, "rule", broken.key);
    document_word(o, "sentence", arena_text(in->arena, broken.sentence));
    document_count(o, "layouts", broken.count);
    report_layout_facts(document_object(o, "layout"), &broken.row->layout);
}
