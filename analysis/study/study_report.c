#include "analysis/study/study_report.h"

#include <math.h>
#include <string.h>

#include "analysis/output/text/shell.h"
#include "scenarios/language/quantity.h"
#include "sim/check.h"
#include "sim/plural.h"
#include "sim/units.h"

enum {
    BAR_WIDTH = 16,
    CELLS_SIZE = 320,
    LABEL_LEAST = 22,
    LABEL_MOST = 60
};
/* Columns beside the objective, where they are not the objective itself and have a value. */
static const struct {
    enum study_metric metric;
    const char *title;
} beside[] = {{METRIC_goodput, "goodput"},
              {METRIC_mfu, "MFU"},
              {METRIC_peak_reserved_bytes, "memory"},
              {METRIC_cost_usd_per_1e9_tokens, "10^9 tokens"}};
enum {
    BESIDE_COUNT = sizeof beside / sizeof *beside
};
struct report_table {
    const struct session *session;
    const struct study *study;
    const struct study_list *list;
    int label_width, objective_width;
    bool single; /* no columns of a spread */
    bool shown[BESIDE_COUNT];
    double most; /* largest mean of the objective, of what fits */
};

/* Of a token joules, of weeks watt hours. */
static struct text energy_text(double joules)
{
    struct text text = format_energy(joules);
    if (fabs(joules) < HOUR)
        snprintf(text.s, sizeof text.s, "%.40s J", format_quantity(joules).s);
    return text;
}

static struct text metric_text(enum study_metric metric, double value)
{
    switch (study_unit(metric)) {
    case METRIC_IN_SHARE:
        return format_percent(value);
    case METRIC_IN_TIME:
        return format_time(value);
    case METRIC_IN_BYTES:
        return format_bytes(value);
    case METRIC_IN_MONEY:
        return format_money(value);
    case METRIC_IN_ENERGY:
        return energy_text(value);
    case METRIC_IN_POWER:
        return format_power(value);
    case METRIC_IN_PLAIN:
        return format_quantity(value);
    }
    UNREACHABLE("the unit is one of metrics");
}

struct text study_value_text(const struct vary *vary, double number)
{
    struct text text;
    if (vary->type == PARAM_TIME)
        return format_time(number);
    quantity_write_like(vary->type == PARAM_COUNT ? PARAM_RATIO : vary->type, number,
                        vary->values[0].text, text.s, sizeof text.s);
    return text;
}

const char *study_value_shown(struct arena *arena, const struct vary *vary,
                              const struct vary_value *value)
{
    return vary->type == PARAM_TIME && value->between
               ? arena_format(arena, "%s", study_value_text(vary, value->number).s)
               : value->text;
}

bool study_has(const struct study *study, enum study_metric metric)
{
    for (size_t p = 0; p < study->point_count; p++) {
        for (size_t r = 0; r < study->points[p].replications; r++)
            if (isfinite(study->points[p].values[r][metric]))
                return true;
    }
    return false;
}

/* The values of a point for people, with their keys or without. */
static void point_cells(const struct study *study, size_t point, bool keys, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned k = 0; k < study->vary_count; k++) {
        const struct vary *vary = &study->varies[k];
        const struct vary_value *value =
            &vary->values[study_vary_index(study->varies, study->vary_count, k, point)];
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", k ? ", " : "",
                                 keys ? vary->key : "", keys ? " " : "",
                                 study_value_shown(study->arena, vary, value));
        used = used < size ? used : size - 1;
    }
}

static double point_mean(const struct study *study, size_t p)
{
    struct summary s;
    study_summarise(study->arena, &study->points[p], study->objective, &s);
    return s.mean;
}

static void set_columns(struct report_table *t)
{
    const struct study *study = t->study;
    char cells[CELLS_SIZE];
    t->single = study_single(study);
    t->label_width = LABEL_LEAST;
    for (size_t i = 0; i < t->list->count; i++) {
        point_cells(study, t->list->points[i], false, cells, sizeof cells);
        int width = (int)strlen(cells);
        t->label_width = width > t->label_width ? width : t->label_width;
    }
    t->label_width = t->label_width < LABEL_MOST ? t->label_width : LABEL_MOST;
    int name = (int)strlen(study_metrics[study->objective].name);
    t->objective_width = name > 12 ? name : 12;
    for (unsigned i = 0; i < BESIDE_COUNT; i++)
        t->shown[i] = beside[i].metric != study->objective && study_has(study, beside[i].metric);
}

static void set_scale(struct report_table *t)
{
    for (size_t i = 0; i < t->list->count; i++) {
        const size_t p = t->list->points[i];
        if (t->study->points[p].fits)
            t->most = fmax(t->most, point_mean(t->study, p));
    }
}

static void print_head(const struct report_table *t)
{
    FILE *out = t->session->out;
    const struct study *study = t->study;
    const char *keys = study->vary_count > 0 ? study->varies[0].key : "point";
    for (unsigned k = 1; k < study->vary_count; k++)
        keys = arena_format(study->arena, "%s, %s", keys, study->varies[k].key);
    fprintf(out, "%-*s %*s", t->label_width, keys, t->objective_width,
            study_metrics[study->objective].name);
    if (!t->single)
        fprintf(out, " %10s %10s %10s %10s %7s", "95 % from", "to", "P10", "P90", "seeds");
    fprintf(out, " %5s", "fits");
    for (unsigned i = 0; i < BESIDE_COUNT; i++)
        if (t->shown[i])
            fprintf(out, " %11s", beside[i].title);
    fputc('\n', out);
}

static void print_spread(const struct report_table *t, const struct summary *s)
{
    FILE *out = t->session->out;
    enum study_metric metric = t->study->objective;
    if (s->count > 1)
        fprintf(out, " %10s %10s %10s %10s", metric_text(metric, s->low95).s,
                metric_text(metric, s->high95).s, metric_text(metric, s->p10).s,
                metric_text(metric, s->p90).s);
    else
        fprintf(out, " %10s %10s %10s %10s", "-", "-", "-", "-");
    fprintf(out, " %7zu", s->count);
}

static void print_shortage(FILE *out, const struct study_point *point)
{
    const struct study_shortage *shortage = &point->shortage;
    if (shortage->tensor == NULL)
        return;
    fprintf(out, "  does not fit in memory%s: %s short, first for %s (%s) of stage %u",
            study_short_on_host(point) ? " of the node's CPUs" : "",
            format_bytes(shortage->short_bytes).s, shortage->tensor, shortage->tenant,
            (unsigned)shortage->stage);
}

/* Bars begin at 0: half as long is half as much. */
static void print_point(const struct report_table *t, size_t p)
{
    FILE *out = t->session->out;
    const struct study_point *point = &t->study->points[p];
    char cells[CELLS_SIZE] = "as it is";
    struct summary s, other;
    if (t->study->vary_count > 0)
        point_cells(t->study, p, false, cells, sizeof cells);
    study_summarise(t->study->arena, point, t->study->objective, &s);
    fprintf(out, "%-*s %*s", t->label_width, cells, t->objective_width,
            metric_text(t->study->objective, s.mean).s);
    if (!t->single)
        print_spread(t, &s);
    fprintf(out, " %5s", point->fits ? "yes" : "no");
    for (unsigned i = 0; i < BESIDE_COUNT; i++) {
        if (!t->shown[i])
            continue;
        study_summarise(t->study->arena, point, beside[i].metric, &other);
        fprintf(out, " %11s", metric_text(beside[i].metric, other.mean).s);
    }
    print_shortage(out, point);
    if (point->fits && s.count > 0) {
        const double share = t->most > 0.0 ? s.mean / t->most : 0.0;
        const struct study_optimum *o = &t->list->optimum;
        const bool leads = o->found && o->is_tied[p];
        fprintf(out, "  %s%s", format_bar(share, BAR_WIDTH, t->session->utf8).s,
                !leads         ? ""
                : o->tied == 1 ? "  best"
                               : "  tied");
    }
    fputc('\n', out);
}

/* Has an earlier point that was played the same words? */
static bool announced_before(const struct study *study, size_t point)
{
    for (size_t p = 0; p < point; p++)
        if (study->points[p].refusal == NULL && study->points[p].announced != NULL &&
            strcmp(study->points[p].announced, study->points[point].announced) == 0)
            return true;
    return false;
}

/* What the first point of such hardware says; NULL: nothing, or an earlier one did. */
static const char *announced_first(const struct study *study, size_t point)
{
    const struct study_point *p = &study->points[point];
    return p->refusal == NULL && p->announced != NULL && !announced_before(study, point)
               ? p->announced
               : NULL;
}

void study_report_announced(const struct study *study, FILE *out)
{
    for (size_t p = 0; p < study->point_count; p++) {
        const char *words = announced_first(study, p);
        if (words != NULL)
            fprintf(out, "announced: %s\n", words);
    }
}

const char *study_announced(const struct study *study)
{
    const char *all = "";
    for (size_t p = 0; p < study->point_count; p++) {
        const char *words = announced_first(study, p);
        if (words != NULL)
            all = arena_format(study->arena, "%s%s%s", all, *all ? "; " : "", words);
    }
    return all;
}

void study_report_refused(const struct study *study, FILE *out)
{
    struct study_reason *reasons;
    size_t count = study_reasons(study, &reasons), refused = study_refused(study);
    if (refused == 0)
        return;
    fprintf(out, "%zu of %zu point%s left out:\n", refused, study->point_count,
            plural_s(study->point_count));
    for (size_t i = 0; i < count; i++) {
        const char *label = study_label(study->arena, study, reasons[i].first_point);
        fprintf(out, "  %zu: %s%s%s%s\n", reasons[i].count, reasons[i].text, *label ? " (" : "",
                label, *label ? ")" : "");
    }
}

const char *study_line(struct arena *arena, const char *command, const struct study *study,
                       size_t point)
{
    const struct scenario_options *given = study->options->scenario;
    const char *line =
        arena_format(arena, "orrery %s %s", command, shell_word(arena, study->options->path));
    if (given->catalogue != NULL)
        line = arena_format(arena, "%s --catalogue %s", line, shell_word(arena, given->catalogue));
    for (unsigned i = 0; i < given->set_count; i++)
        line = arena_format(arena, "%s --set %s", line, shell_word(arena, given->sets[i]));
    for (unsigned k = 0; k < study->vary_count; k++) {
        size_t index = study_vary_index(study->varies, study->vary_count, k, point);
        const char *set =
            arena_format(arena, "%s=%s", study->varies[k].key, study->varies[k].values[index].text);
        line = arena_format(arena, "%s --set %s", line, shell_word(arena, set));
    }
    if (given->has_seed)
        line = arena_format(arena, "%s --seed %llu", line, (unsigned long long)given->seed);
    return line;
}

/* A range is widened; a list has no value between or beyond those that were given. */
static void print_end(const struct session *session, const struct vary *vary,
                      const struct study_optimum *o)
{
    const char *which = o->tied == 1 ? "the best point" : "that point";
    if (vary->range)
        fprintf(session->out, "  %s lies at an end of the range: widen it\n", which);
    else
        fprintf(session->out, "  %s is the %s value of the list: none %s was played\n", which,
                o->point == 0 ? "lowest" : "highest", o->point == 0 ? "below" : "above");
}

static void print_interval(const struct session *session, const struct study *study,
                           const struct study_optimum *o)
{
    const struct vary *vary = &study->varies[0];
    if (o->at_end && study->points[o->point].fits)
        print_end(session, vary, o);
    if (o->too_far_apart)
        fputs(
            "  the points around it are too far apart to say where between them the optimum lies\n",
            session->out);
    if (!isfinite(o->value))
        return;
    fprintf(session->out, "  optimum between points: %s", study_value_text(vary, o->value).s);
    if (isfinite(o->low95))
        fprintf(session->out, ", 95 %% interval %s to %s", study_value_text(vary, o->low95).s,
                study_value_text(vary, o->high95).s);
    else if (study->weeks)
        fputs(" (too few seeds for an interval; take --seeds 40 or more)", session->out);
    fputc('\n', session->out);
}

static void print_marks(const struct session *session, const struct study_marks *m)
{
    if (!isfinite(m->young_s))
        return;
    fprintf(session->out, "  closed forms at a stall of %s, one stop every %s: Young %s, Daly %s",
            format_time(m->stall_s).s, format_time(m->job_mtbf_s).s, format_time(m->young_s).s,
            format_time(m->daly_s).s);
    if (isfinite(m->exact_s))
        fprintf(session->out, ", exact %s\n", format_time(m->exact_s).s);
    else
        fputs("; neither is the optimum here,\n  where rates vary, not all failures go back to the "
              "last save, or saves differ\n",
              session->out);
}

/* Have the tied points one value for each seed? */
static bool are_alike(const struct study *study, const struct study_optimum *o)
{
    const struct study_point *lead = &study->points[o->point];
    for (size_t p = o->tied_first; p <= o->tied_last; p++) {
        const struct study_point *point = &study->points[p];
        const size_t have = point->replications, count = lead->replications;
        for (size_t r = 0; o->is_tied[p] && r < (have < count ? have : count); r++)
            if (point->values[r][study->objective] != lead->values[r][study->objective])
                return false;
    }
    return true;
}

/* The best point; or those that share the first place, and which of them has the best mean. */
static void print_lead(const struct session *session, const struct study *study,
                       const struct study_optimum *o)
{
    FILE *out = session->out;
    const struct study_metric_info *objective = &study_metrics[study->objective];
    const char *value = arena_format(study->arena, "%s",
                                     metric_text(study->objective, point_mean(study, o->point)).s);
    char cells[CELLS_SIZE] = "the scenario as it is";
    if (study->vary_count > 0)
        point_cells(study, o->point, true, cells, sizeof cells);
    if (o->tied == 1) {
        fprintf(out, "\nbest %s: %s at %s\n", objective->name, value, cells);
        return;
    }
    const bool alike = are_alike(study, o);
    const char *many =
        arena_format(study->arena, "%s%zu points", o->all_tied ? "all " : "", o->tied);
    fprintf(out, "\ntied for the best %s: %s%s\n", objective->name,
            o->all_tied && o->tied == 2 ? "both points" : many,
            alike ? " have the same" : ", which these seeds cannot tell apart");
    if (alike)
        fprintf(out, "  it is %s, first at %s\n", value, cells);
    else
        fprintf(out, "  the %s mean of them: %s at %s\n",
                objective->larger_is_better ? "highest" : "lowest", value, cells);
}

static void print_best(const struct session *session, const struct study *study,
                       const struct study_optimum *o)
{
    print_lead(session, study, o);
    if (study->weeks && study_single(study))
        fputs("  one seed does not tell how far the next one lies: take --seeds 40 or more\n",
              session->out);
    if (study->vary_count == 1)
        print_interval(session, study, o);
    print_marks(session, &study->points[o->point].marks);
    fprintf(session->out, "  to run it: %s\n", study_line(study->arena, "run", study, o->point));
}

static void print_nearest(const struct session *session, const struct study *study)
{
    const size_t p = study_nearest(study);
    if (p == SIZE_MAX)
        return;
    const struct study_point *nearest = &study->points[p];
    const char *label = study_label(study->arena, study, p);
    const bool host = study_short_on_host(nearest);
    const char *room =
        host ? "in the memory of a node's CPUs; its cards have enough"
             : arena_format(study->arena, "on a card of %s", format_bytes(nearest->usable_bytes).s);
    fprintf(session->out, "\nno point fits in memory; the nearest%s%s is %s short %s\n",
            *label ? ", " : "", *label ? arena_format(study->arena, "%s,", label) : "",
            format_bytes(nearest->shortage.short_bytes).s, room);
    fprintf(session->out, "  what fills %s: %s\n", host ? "it" : "the card",
            study_line(study->arena, "memory", study, p));
}

void study_report(const struct session *session, const struct study *study,
                  const struct study_list *list)
{
    struct report_table table = {.session = session, .study = study, .list = list};
    size_t played = study->point_count - study_refused(study);
    fprintf(session->out, "%s%s%s\n", session_bold(session), study->name, session_plain(session));
    set_columns(&table);
    set_scale(&table);
    print_head(&table);
    for (size_t i = 0; i < list->count; i++)
        print_point(&table, list->points[i]);
    if (list->count < played)
        fprintf(session->out, "the best %zu of %zu points\n", list->count, played);
    study_report_announced(study, session->out);
    study_report_refused(study, session->out);
    if (list->optimum.found)
        print_best(session, study, &list->optimum);
    else
        print_nearest(session, study);
}
