#include "analysis/tell/report/report_compare.h"

#include <math.h>

#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report.h"
#include "sim/units.h"

enum {
    FIGURES_SHOWN = 20
};

#define SIDE "{.title:clean} ({path}): {.model} on {ranks} x {.gpu}\n" REPORT_ANNOUNCED
#define MEMORY                                                                                     \
    "{if .shown}  {tenant<16} {a_bytes>10} {b_bytes>10} {.more:+bytes>11} {.share>8}\n{end}"
static const char lines[] =
    "{each a}  {bold}A{plain}  " SIDE "{end}"
    "{each b}  {bold}B{plain}  " SIDE "{end}"
    "{if not timed}"
    "{each a}" REPORT_UNFIT "{end}{each b}" REPORT_UNFIT "{end}"
    "{else}"
    "\n{bold}{if .same_work}Time of a {if of_kept_steps}kept {end}step{else}GPU time of "
    "10^6 tokens"
    "{end}{plain}\n"
    "                            A          B       B - A    of it\n"
    "{each .terms}"
    "  {.name<16} {.a_s>10} {.b_s>10} {.more:+time>11} {.share>8}  {dim}{wrap .what "
    "63}{plain}"
    "{end}"
    "{if not .same_work}"
    "  {dim}a step of A trains {.a_tokens} tokens in {total.a_s}, one of B {.b_tokens} in "
    "{total.b_s}{plain}\n"
    "{end}"
    "\n{bold}What comes of it{plain}\n"
    "                            A          B    B over A\n"
    "{each .results}  {.what<16} {.a>10} {.b>10} {.over>11}\n{end}"
    "{end}"
    "\n{bold}Memory of the fullest card{plain}\n"
    "{each memory}" MEMORY "{end}{each peak}" MEMORY "{end}"
    "\n{bold}Settings that differ{plain}\n"
    "{each settings}{if .shown}"
    "  {name:clean<40} {if a}{a:clean}{else}{if of_the_scenario}(not "
    "stated){else}(none){end}{end} "
    "-> "
    "{if b}{b:clean}{else}{if of_the_scenario}(not stated){else}(none){end}{end}\n"
    "{end}{end}"
    "{if .figures_more > 0}  and {.figures_more:digits} figure{if not .figures_more = "
    "1}s{end} "
    "more (--json has all)\n{end}"
    "{if not settings}  none\n{end}"
    "{if not .told}  {dim}a database does not hold its scenario: of its keys only those "
    "above are "
    "known{plain}\n{end}";

const char *const report_compare_lines[] = {lines, NULL};

/* What B has more than A; what is less than rounding of either is nothing. */
static double more(const double of[2])
{
    const double difference = of[1] - of[0];
    return fabs(difference) > 1e-12 * fmax(fabs(of[0]), fabs(of[1])) ? difference : 0.0;
}

/* Of the difference; what would be shown as -0.0 % is nothing. */
static double share(double part, double whole)
{
    const double least = 0.0005;
    return whole != 0.0 && fabs(part / whole) >= least ? part / whole : 0.0;
}

/* Of 10^9 tokens: of weeks those that are kept, where both sides have weeks; else of the
 * undisturbed step, for what failures and spares cost has nothing to stand beside. */
static double price_of(const struct compared_side *side, const struct comparison *c, unsigned which)
{
    const struct run_row *r = record_run(&side->record);
    return c->weeks || !c->timed ? r->cost_usd_per_1e9_tokens
                                 : r->cost_usd_per_step / c->tokens[which] * GIGA;
}

/* Where it runs out of memory, as `run` tells it. */
static void set_failure(struct fact *in, const struct record *record)
{
    size_t count, stages;
    const struct out_of_memory_row *f = record_out_of_memory(record, &count);
    const struct stage_memory_row *rows = record_stage_memory(record, &stages);
    struct fact *o = document_object_if(count > 0, in, "first_failure");
    if (count == 0)
        return;
    document_columns(o, ROW_out_of_memory, f,
                     "place rank stage tensor tenant at step bytes short_bytes reserved_bytes");
    double most = NAN; /* classes of ranks of one stage differ */
    for (size_t i = 0; i < stages; i++)
        most = rows[i].stage == f->stage ? fmax(most, rows[i].peak_reserved_bytes) : most;
    document_real(o, ".stage_bytes", IN_BYTES, most);
    document_real(o, ".usable_bytes", IN_BYTES, record_run(record)->usable_hbm_bytes);
}

void report_unfit_facts(struct fact *object, const char *name, const char *so,
                        const struct record *record)
{
    document_flag(object, ".has_room", comparison_fits(record));
    document_quote(object, ".unfit", name);
    document_word(object, ".unfit_so", so);
    set_failure(object, record);
}

const char *report_unfit_text(const char *name, const char *so, const struct record *record)
{
    struct fact *o = document_begin(record->arena, "orrery.compare/1", NULL);
    report_unfit_facts(o, name, so, record);
    return document_text(o, REPORT_UNFIT);
}

/* What does not fit has no time and no price: those in its record are of a larger card. */
static struct run_row timed_row(const struct run_row *row, bool fits)
{
    struct run_row out = *row;
    if (!fits)
        out.step_s = out.tokens_per_s = out.mfu_ratio = out.tokens_per_day = out.cost_usd_per_step =
            NAN;
    return out;
}

static void set_side(struct fact *in, const struct compared_side *side, const struct comparison *c,
                     unsigned which)
{
    const char *const key = which == 0 ? "a" : "b";
    struct fact *o = document_object(in, key);
    document_null(o, "scenario");
    document_quote(o, "path", side->path);
    const struct run_row row = timed_row(record_run(&side->record), c->fits[which]);
    document_columns(o, ROW_run, &row,
                     "scenario seed digest fits ranks=rank_count step_time_s=step_s tokens_per_s "
                     "mfu=mfu_ratio tokens_per_day peak_reserved_bytes usable_hbm_bytes "
                     "cost_usd_per_step");
    document_real(o, "cost_usd_per_1e9_tokens", IN_USD,
                  c->fits[which] ? price_of(side, c, which) : NAN);
    report_announced_facts(o, row.announced_words);
    report_unfit_facts(o, which == 0 ? "A" : "B", "there is no time to compare", &side->record);
}

static void set_term(struct fact *o, const struct compared_term *t)
{
    document_word(o, "term", t->key);
    document_word(o, "what", t->what);
    document_real(o, "a_s", IN_SECONDS, t->seconds[0]);
    document_real(o, "b_s", IN_SECONDS, t->seconds[1]);
    document_real(o, "difference_s", IN_SECONDS, t->seconds[1] - t->seconds[0]);
    document_real(o, "a_gpu_s_per_1e6_tokens", IN_SECONDS, t->gpu_s[0]);
    document_real(o, "b_gpu_s_per_1e6_tokens", IN_SECONDS, t->gpu_s[1]);
    document_real(o, "difference_gpu_s_per_1e6_tokens", IN_SECONDS, t->gpu_s[1] - t->gpu_s[0]);
}

/* A line of the table: of the step, or of 10^6 tokens where the work of the two differs. */
static void show_term(struct fact *array, const struct comparison *c, const struct compared_term *t)
{
    const double *of = c->same_work ? t->seconds : t->gpu_s;
    const double *whole = c->same_work ? c->total.seconds : c->total.gpu_s;
    if (of[0] == 0.0 && of[1] == 0.0)
        return;
    struct fact *o = document_object(array, NULL);
    document_word(o, ".name", arena_format(o->arena, "%s%s", t->part ? "  " : "", t->key));
    document_word(o, ".what", t->what);
    document_real(o, ".a_s", IN_SECONDS, of[0]);
    document_real(o, ".b_s", IN_SECONDS, of[1]);
    document_real(o, ".more", IN_SECONDS, more(of));
    document_real(o, ".share", IN_RATIO, share(more(of), more(whole)));
}

static void set_terms(struct fact *o, const struct comparison *c)
{
    struct fact *terms = document_array_if(c->timed, o, "terms");
    struct fact *parts = document_array_if(c->timed, o, "compute");
    struct fact *total = document_object_if(c->timed, o, "total");
    struct fact *shown = document_array(o, ".terms");
    if (!c->timed)
        return;
    for (unsigned i = 0; i < c->term_count; i++) {
        set_term(document_object(c->terms[i].part ? parts : terms, NULL), &c->terms[i]);
        show_term(shown, c, &c->terms[i]);
    }
    set_term(total, &c->total);
    show_term(shown, c, &c->total);
}

static void set_bytes(struct fact *o, const struct comparison *c, const struct compared_bytes *m)
{
    document_flag(o, ".shown", m->bytes[0] != 0.0 || m->bytes[1] != 0.0);
    document_word(o, "tenant", m->key);
    document_real(o, "a_bytes", IN_BYTES, m->bytes[0]);
    document_real(o, "b_bytes", IN_BYTES, m->bytes[1]);
    document_real(o, "difference_bytes", IN_BYTES, m->bytes[1] - m->bytes[0]);
    document_real(o, ".more", IN_BYTES, more(m->bytes));
    document_real(o, ".share", IN_RATIO, share(more(m->bytes), more(c->peak.bytes)));
}

static void set_result(struct fact *array, const char *what, enum document_unit unit, double a,
                       double b)
{
    if (!isfinite(a) || !isfinite(b))
        return;
    struct fact *o = document_object(array, NULL);
    document_word(o, ".what", what);
    document_real(o, ".a", unit, a);
    document_real(o, ".b", unit, b);
    document_real(o, ".over", IN_RATIO, share(b - a, a));
}

static void set_results(struct fact *in, const struct compared_side sides[2],
                        const struct comparison *c)
{
    const struct run_row *a = record_run(&sides[0].record), *b = record_run(&sides[1].record);
    struct fact *o = document_array(in, ".results");
    set_result(o, "tokens/s", IN_QUANTITY, a->tokens_per_s, b->tokens_per_s);
    set_result(o, "MFU", IN_RATIO, a->mfu_ratio, b->mfu_ratio);
    set_result(o, "tokens/day kept", IN_QUANTITY, a->tokens_per_day, b->tokens_per_day);
    set_result(o, c->weeks ? "10^9 kept tokens" : "10^9 tokens", IN_USD, price_of(&sides[0], c, 0),
               price_of(&sides[1], c, 1));
}

static void set_settings(struct fact *in, const struct comparison *c)
{
    struct fact *array = document_array(in, "settings");
    unsigned figures = 0;
    for (unsigned i = 0; i < c->setting_count; i++) {
        const struct compared_setting *one = &c->settings[i];
        struct fact *o = document_object(array, NULL);
        document_flag(o, ".shown", !one->figure || ++figures <= FIGURES_SHOWN);
        document_quote(o, "name", one->name);
        document_quote(o, "a", one->text[0]);
        document_quote(o, "b", one->text[1]);
        document_flag(o, "of_the_catalogue", one->figure);
        document_flag(o, "of_the_scenario", one->key);
    }
    document_count(in, ".figures_more", figures > FIGURES_SHOWN ? figures - FIGURES_SHOWN : 0);
}

struct fact *report_compare(const struct compared_side sides[2], const struct comparison *c)
{
    struct fact *o = document_begin(sides[0].record.arena, "orrery.compare/1", NULL);
    set_side(o, &sides[0], c, 0);
    set_side(o, &sides[1], c, 1);
    document_flag(o, "timed", c->timed);
    document_flag(o, "of_kept_steps", c->weeks);
    document_flag(o, ".told", c->told);
    document_flag(o, ".same_work", c->same_work);
    document_real(o, ".a_tokens", IN_QUANTITY, c->tokens[0]);
    document_real(o, ".b_tokens", IN_QUANTITY, c->tokens[1]);
    set_terms(o, c);
    set_results(o, sides, c);
    struct fact *memory = document_array(o, "memory");
    for (unsigned t = 0; t < TENANT_COUNT; t++)
        set_bytes(document_object(memory, NULL), c, &c->memory[t]);
    set_bytes(document_object(o, "peak"), c, &c->peak);
    set_settings(o, c);
    return o;
}
