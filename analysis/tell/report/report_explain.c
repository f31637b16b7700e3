#include "analysis/tell/report/report_explain.h"

#include <math.h>

#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_compare.h"
#include "analysis/tell/report/report_parts.h"

enum {
    FIGURES_MAX = 64,
    FIGURES_SHOWN = 3,
    PARTS_SHOWN = 14
};

/* Share of a step that is rounding. */
#define NOTHING 1e-9
/* Two figures of an input whose effects are this near are both named. */
#define TIED 0.9

#define FIGURE "{name} {text} ({origin}{if error_ratio > 0}, +- {error_ratio}{end})"
static const char lines[] = REPORT_UNFIT
    "\n{bold}From the peak to the tokens of a day{plain}\n"
    "                 {if .weeks}kept step{else}     step{end}   share  tokens/day\n"
    "{each waterfall}{if .shown}"
    "  {term<14} {seconds>9} {seconds/kept_step_s>7} {tokens_per_day>11}  "
    "{bar tokens_per_day/.most 12}  {dim}{wrap what 62}{plain}"
    "{end}{end}"
    "  sum            {kept_step_s>9} 100.0 % {tokens_per_day>11}\n"
    "\n{bold}Why the GPU computes nothing, in a step of the mean rank{plain}\n"
    "{each .idle}  {.key<14} {.seconds>9} {.seconds/.no_compute_s>7} of it  {.what}\n{end}"
    "  idle           {.no_compute_s>9} {.no_compute_s/step_time_s>7} of the step\n"
    "{if paced_s > 0}"
    "  paced          {paced_s>9} {paced_s/step_time_s>7} of the step  not idle: ops that last "
    "longer, at the pace of a peer's slower card\n"
    "{end}"
    "\n{bold}The critical path, by stream, wire and op{plain}\n"
    "{if not critical_path}"
    "  the database has no ops: run again with --detail op (or kernel, or flow)\n"
    "{end}"
    "{each critical_path}"
    "{each parts 14}"
    "  {stream<10} {if wire}{wire<8}{else}        {end} {name<24} {phase<10} {seconds>9} "
    "{seconds/sum_s>7}  {ops} op{if not ops = 1}s{end}\n"
    "{end}"
    "{if .rest_s > 0}"
    "  others{to 58}{.rest_s>9} {.rest_s/sum_s>7}  {.rest_count:digits} more\n"
    "{end}"
    "  gaps: host, and latency of messages{to 58}{gaps_s>9} {gaps_s/sum_s>7}\n"
    "  sum{to 58}{sum_s>9}          {ops} ops; {crossings} times over to a rank that came last\n"
    "{end}"
    "\n{bold}What more of each hardware figure would buy, the layout as it is{plain}\n"
    "{if no_elasticities}  not known: {wrap no_elasticities:clean 13}{else}"
    "                     step   memory    price    price of a token  figure\n"
    "{each elasticities}"
    "  {input<14} {step:+.4f>8} {memory:+.4f>8} {cost:+.4f>8}  {.better>8} "
    "{if .more}10 % more{else}10 % less{end}  "
    "{each stands_on}{if .shown}{if row > 1}\n{to 67}{end}" FIGURE
    "{if .share < 0.9995}, {.share} of it{end}{end}{end}\n"
    "{end}"
    "  {dim}d log y / d log x, from simulations at 1.1 x and 0.9 x"
    "{if .kept}; price: of a kept token, 8 replications{end}\n"
    "  the fullest card has {headroom_bytes} of HBM left, with 10 % more HBM {.headroom_high_bytes}"
    "{plain}\n"
    "{end}"
    "\n{bold}What the terms stand on, the least sure first (table constant has sources){plain}\n"
    "{each waterfall}{if .shown}{each stands_on 3}"
    "  {if row = 1}{term<14}{else}              {end} " FIGURE
    "{if row = 3}{if .figures_more > 0} and {.figures_more:digits} more{end}{end}\n"
    "{end}{end}{end}";

const char *const report_explain_lines[] = {report_head_lines, lines, report_evidence_lines, NULL};

static struct fact *set_figure(struct fact *array, const struct kept_constant *figure)
{
    struct fact *one = document_object(array, NULL);
    document_quote(one, "name", figure->name);
    document_quote(one, "text", figure->text);
    document_quote(one, "origin", figure->origin);
    document_real(one, "error_ratio", IN_RATIO, figure->error_ratio);
    document_quote(one, "source", figure->source);
    return one;
}

/* Returns how many there are. */
static unsigned set_figures(struct fact *o, const struct explanation *e, const char *beginnings)
{
    const struct kept_constant *found[FIGURES_MAX];
    const unsigned count = stands_on_find(&e->constants, beginnings, found, FIGURES_MAX);
    struct fact *array = document_array(o, "stands_on");
    for (unsigned i = 0; i < count && i < FIGURES_MAX; i++)
        set_figure(array, found[i]);
    return count;
}

/* Of what is left of the peak: the bar falls from full to what is useful. */
static void set_waterfall(struct fact *o, const struct explanation *e)
{
    const struct waterfall *w = &e->waterfall;
    struct fact *array = document_array(o, "waterfall");
    double most = 0.0;
    for (unsigned i = 0; i < WATERFALL_COUNT; i++) {
        const struct waterfall_term *t = &w->terms[i];
        most = fmax(most, t->tokens_per_day);
        if (!t->known)
            continue;
        struct fact *one = document_object(array, NULL);
        document_flag(one, ".shown", fabs(t->seconds) > NOTHING * w->kept_step_s);
        document_word(one, "term", t->key);
        document_word(one, "what", t->what);
        document_real(one, "seconds", IN_SECONDS, t->seconds);
        document_real(one, "tokens_per_day", IN_QUANTITY, t->tokens_per_day);
        const unsigned count = set_figures(one, e, t->stands_on);
        document_count(one, ".figures_more", count > FIGURES_SHOWN ? count - FIGURES_SHOWN : 0);
    }
    document_real(o, ".most", IN_QUANTITY, most);
}

static void set_idle(struct fact *o, const struct waterfall *w)
{
    struct idle_cause causes[WATERFALL_COUNT];
    const unsigned count = waterfall_idle(w, causes);
    struct fact *idle = document_object(o, "idle"), *array = document_array(o, ".idle");
    double idle_s = 0.0;
    for (unsigned i = 0; i < count; i++) {
        struct fact *one = document_object(array, NULL);
        idle_s += causes[i].seconds;
        document_real(idle, causes[i].key, IN_SECONDS, causes[i].seconds);
        document_word(one, ".key", causes[i].key);
        document_word(one, ".what", causes[i].what);
        document_real(one, ".seconds", IN_SECONDS, causes[i].seconds);
    }
    document_real(o, ".no_compute_s", IN_SECONDS, idle_s);
}

static void set_path(struct fact *in, const struct critical_path *path)
{
    struct fact *o = document_object_if(path->known, in, "critical_path");
    double rest_s = 0.0;
    if (o == NULL)
        return;
    struct fact *parts = document_array(o, "parts");
    for (unsigned i = 0; i < path->count; i++) {
        const struct path_part *part = &path->parts[i];
        struct fact *one = document_object(parts, NULL);
        document_quote(one, "stream", part->stream);
        document_quote(one, "name", part->name);
        document_quote(one, "phase", part->phase);
        document_word(one, "wire", part->wire[0] != '\0' ? part->wire : NULL);
        document_real(one, "seconds", IN_SECONDS, part->seconds);
        document_count(one, "ops", part->count);
        rest_s += i >= PARTS_SHOWN ? part->seconds : 0.0;
    }
    document_real(o, ".rest_s", IN_SECONDS, rest_s);
    document_count(o, ".rest_count", path->count > PARTS_SHOWN ? path->count - PARTS_SHOWN : 0);
    document_real(o, "gaps_s", IN_SECONDS, path->host_s);
    document_real(o, "sum_s", IN_SECONDS, path->step_s);
    document_count(o, "ops", path->stretches);
    document_count(o, "crossings", path->crossings);
}

/* The largest effect first; the text shows those that are about as large as the largest. */
static void set_input_figures(struct fact *o, const struct explanation *e,
                              const struct elasticity *row)
{
    const bool several = row->cost != 0.0 && row->figure_count > 1;
    struct fact *array = document_array(o, "stands_on");
    for (unsigned i = 0; i < row->figure_count; i++) {
        const struct elasticity_figure *figure = &row->figures[i];
        const struct kept_constant *found[FIGURES_MAX];
        const unsigned count = stands_on_find(&e->constants, figure->name, found, FIGURES_MAX);
        for (unsigned k = 0; k < count && k < FIGURES_MAX; k++) {
            struct fact *one = set_figure(array, found[k]);
            document_real(one, "cost", IN_RATIO, figure->cost);
            document_real(one, ".share", IN_RATIO, several ? figure->cost / row->cost : 1.0);
            document_flag(one, ".shown",
                          several ? fabs(figure->cost) >= TIED * fabs(row->figures[0].cost)
                                  : i == 0);
        }
    }
}

/* What a tenth more of a rate, or less of a latency, takes off the price of a token. */
static void set_elasticity(struct fact *array, const struct explanation *e,
                           const struct elasticity *row)
{
    const bool more = row->input != HARDWARE_latency && row->input != HARDWARE_kernel_start &&
                      row->input != HARDWARE_host;
    struct fact *one = document_object(array, NULL);
    document_flag(one, ".more", more);
    document_real(one, ".better", IN_RATIO,
                  (more ? row->cost_high_ratio : row->cost_low_ratio) - 1.0);
    document_word(one, "input", row->key);
    document_word(one, "what", row->what);
    document_real(one, "step", IN_RATIO, row->step);
    document_real(one, "memory", IN_RATIO, row->memory);
    document_real(one, "cost", IN_RATIO, row->cost);
    document_real(one, "step_less_s", IN_SECONDS, row->step_low_s);
    document_real(one, "step_more_s", IN_SECONDS, row->step_high_s);
    document_real(one, "cost_less_ratio", IN_RATIO, row->cost_low_ratio);
    document_real(one, "cost_more_ratio", IN_RATIO, row->cost_high_ratio);
    set_input_figures(one, e, row);
}

static void set_elasticities(struct fact *o, const struct explanation *e)
{
    const struct elasticities *el = &e->elasticities;
    const bool known = e->has_elasticities;
    struct fact *array = document_array_if(known, o, "elasticities");
    for (unsigned i = 0; known && i < el->count; i++)
        set_elasticity(array, e, &el->rows[i]);
    document_quote(o, "no_elasticities", known ? NULL : e->no_elasticities.text);
    document_real(o, "headroom_bytes", IN_BYTES, known ? el->headroom_bytes : (double)NAN);
    document_real(o, ".headroom_high_bytes", IN_BYTES,
                  known ? el->headroom_high_bytes : (double)NAN);
    document_flag(o, ".kept", known && el->weeks);
}

struct fact *report_explain(const struct explanation *e)
{
    const struct run_row *run = record_run(&e->record);
    const struct waterfall *w = &e->waterfall;
    struct fact *o = document_begin(e->record.arena, "orrery.explain/1", NULL);
    document_columns(o, ROW_run, run, "scenario seed digest fits");
    report_announced_facts(o, run->announced_words);
    report_unfit_facts(o, "This layout", "the times below are of cards that were large enough",
                       &e->record);
    document_real(o, "step_time_s", IN_SECONDS, w->step_s);
    document_real(o, "kept_step_s", IN_SECONDS, w->kept_step_s);
    document_real(o, "tokens_per_day", IN_QUANTITY, w->tokens_per_day);
    document_flag(o, ".weeks", w->weeks);
    set_waterfall(o, e);
    set_idle(o, w);
    document_real(o, "paced_s", IN_SECONDS, w->paced_s);
    set_path(o, &e->path);
    set_elasticities(o, e);
    report_head_facts(o, &e->record);
    document_flag(o, ".step_told", true);
    report_evidence_facts(o, &e->record, true);
    return o;
}
