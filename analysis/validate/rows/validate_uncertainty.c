#include "analysis/validate/rows/validate_uncertainty.h"

#include <math.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/record/numbers/statistics.h"
#include "analysis/validate/rows/validate_run.h"
#include "sim/check.h"
#include "sim/plural.h"
#include "sim/pool.h"

/* Standard deviations that hold INTERVAL_PROBABILITY of a normal on both sides. */
static const double half_width = 1.2815515655446004;
static const double widest = 2.0; /* own error; of a logarithm */
enum {
    BISECTIONS = 50
};

struct interval_job {
    const struct validation *v;
    const struct uncertainty_options *how;
    const struct validate_row **taken;
    struct interval_row *rows;
    bool *failed;
    struct error *errors;
};

static void draw_row(void *context, size_t index)
{
    const struct interval_job *job = context;
    struct validate_row copy = *job->taken[index];
    struct interval_row *row = &job->rows[index];
    struct arena *arena = arena_create();
    struct uncertainty_options how = *job->how;
    struct scenario *s = validate_steps_scenario(job->v, &copy);
    struct uncertain_step step;
    double mean = 0.0;
    how.threads = 1;
    how.time_only = true;
    how.but = copy.source;
    job->failed[index] = s == NULL || !uncertainty_draw(arena, s, &how, &step, &job->errors[index]);
    for (uint32_t i = 0; !job->failed[index] && i < how.draw_count; i++) {
        row->log_draws[i] = step.draws[i].log_step;
        mean += row->log_draws[i] / how.draw_count;
    }
    for (uint32_t i = 0; !job->failed[index] && i < how.draw_count; i++)
        row->log_draws[i] -= mean;
    if (!job->failed[index]) {
        row->log_spread = step.log_spread;
        row->own = step.own;
        row->log_error = log(copy.values[0].measured / step.step_s);
    }
    scenario_destroy(s);
    arena_destroy(arena);
}

static bool takes_part(const struct validate_row *row)
{
    return row->quality == QUALITY_CLEAN && !row->refused && row->values[0].has_measured &&
           row->values[0].has_predicted;
}

static void name_sources(struct arena *arena, struct intervals *out)
{
    out->sources = ARENA_ARRAY(arena, struct interval_source, out->row_count + 1);
    for (uint32_t i = 0; i < out->row_count; i++) {
        uint32_t known = 0;
        while (known < out->source_count &&
               strcmp(out->sources[known].name, out->rows[i].source) != 0)
            known++;
        out->sources[known].name = out->rows[i].source;
        out->sources[known].rows++;
        out->source_count += known == out->source_count;
    }
}

static bool covered(const struct interval_row *row, double own)
{
    double added = isnan(own) ? row->own.log_spread : own;
    return fabs(row->log_error) <= half_width * hypot(row->log_spread, added);
}

double validate_uncertainty_coverage(const struct intervals *in, const char *source,
                                     double own_spread)
{
    uint32_t inside = 0, count = 0;
    for (uint32_t i = 0; i < in->row_count; i++) {
        if (strcmp(in->rows[i].source, source) == 0) {
            inside += covered(&in->rows[i], own_spread);
            count++;
        }
    }
    return count > 0 ? (double)inside / count : NAN;
}

static double mean_coverage(const struct intervals *in, const char *but, double own)
{
    double sum = 0.0, count = 0.0;
    for (uint32_t s = 0; s < in->source_count; s++) {
        if (but == NULL || strcmp(in->sources[s].name, but) != 0) {
            sum += validate_uncertainty_coverage(in, in->sources[s].name, own);
            count++;
        }
    }
    return count > 0.0 ? sum / count : NAN;
}

/* The least own error with which intervals cover this share of the rows, each source the same
 * (`but`: without that source; NULL: all). */
static double own_spread_of(const struct intervals *in, const char *but)
{
    double low = 0.0, high = widest;
    if (isnan(mean_coverage(in, but, 0.0)))
        return NAN;
    for (int step = 0; step < BISECTIONS; step++) {
        double middle = 0.5 * (low + high);
        if (mean_coverage(in, but, middle) < INTERVAL_PROBABILITY)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static void judge_source(struct arena *arena, const struct intervals *in,
                         struct interval_source *source)
{
    double *spreads = ARENA_ARRAY(arena, double, in->row_count + 1);
    double *own = ARENA_ARRAY(arena, double, in->row_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < in->row_count; i++) {
        if (strcmp(in->rows[i].source, source->name) == 0) {
            own[count] = in->rows[i].own.log_spread;
            spreads[count++] = in->rows[i].log_spread;
        }
    }
    statistics_sort(spreads, count);
    statistics_sort(own, count);
    source->figures_spread = statistics_percentile(spreads, count, 0.5);
    source->own_spread = statistics_percentile(own, count, 0.5);
    source->coverage = validate_uncertainty_coverage(in, source->name, NAN);
    source->spread_elsewhere = own_spread_of(in, source->name);
    source->coverage_elsewhere =
        isnan(source->spread_elsewhere)
            ? NAN
            : validate_uncertainty_coverage(in, source->name, source->spread_elsewhere);
}

/* Two rows of one group of layouts. */
struct layout_pair {
    const char *group;
    double log_error;  /* difference of the two */
    double log_spread; /* of their difference, by the figures */
    double own_spread; /* the same, by the model's own error */
    double predicted;  /* log of the second's predicted time over the first's */
    uint32_t of_group; /* pairs in its group */
};

static struct layout_pair pair_of(const struct intervals *in, const struct interval_row *a,
                                  const struct interval_row *b, const double *predicted)
{
    struct layout_pair pair = {.group = a->group, .log_error = b->log_error - a->log_error};
    double square = 0.0, own_a = a->own.log_spread, own_b = b->own.log_spread;
    for (uint32_t i = 0; i < in->draw_count; i++)
        square += pow(b->log_draws[i] - a->log_draws[i], 2);
    pair.log_spread = in->draw_count > 1 ? sqrt(square / (in->draw_count - 1)) : 0.0;
    pair.own_spread = sqrt(own_a * own_a + own_b * own_b -
                           2.0 * model_error_shared(&a->own, &b->own) * own_a * own_b);
    pair.predicted = predicted[b - in->rows] - predicted[a - in->rows];
    return pair;
}

static uint32_t list_pairs(const struct intervals *in, const double *predicted,
                           struct layout_pair *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < in->row_count; i++) {
        for (uint32_t k = i + 1; k < in->row_count; k++) {
            const struct interval_row *a = &in->rows[i], *b = &in->rows[k];
            if (a->group != NULL && b->group != NULL && strcmp(a->group, b->group) == 0)
                out[count++] = pair_of(in, a, b, predicted);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++)
            out[i].of_group += strcmp(out[i].group, out[k].group) == 0;
    return count;
}

/* Each group counts the same. */
static double pair_coverage(const struct layout_pair *pairs, uint32_t count, double spread)
{
    double inside = 0.0, all = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double weight = 1.0 / pairs[i].of_group;
        bool covers = fabs(pairs[i].log_error) <= half_width * hypot(pairs[i].log_spread, spread);
        inside += covers ? weight : 0.0;
        all += weight;
    }
    return inside / all;
}

static double pair_spread(const struct layout_pair *pairs, uint32_t count)
{
    double low = 0.0, high = widest;
    for (int step = 0; step < BISECTIONS; step++) {
        double middle = 0.5 * (low + high);
        if (pair_coverage(pairs, count, middle) < INTERVAL_PROBABILITY)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* How often the layout that was called faster was, with the own errors that the rows have. */
static void call_pairs(const struct layout_pair *pairs, uint32_t count, struct interval_pairs *out)
{
    double right = 0.0, called = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double z = pairs[i].predicted / hypot(pairs[i].own_spread, pairs[i].log_spread);
        double p = 0.5 * erfc(-fabs(z) / sqrt(2.0)); /* of the one that is predicted faster */
        double measured = pairs[i].predicted + pairs[i].log_error;
        if (p < UNCERTAINTY_TIE_HIGH) {
            out->ties++;
            continue;
        }
        out->decided++;
        called += p;
        right += measured * pairs[i].predicted > 0.0;
    }
    out->right_ratio = out->decided > 0 ? right / out->decided : NAN;
    out->mean_called = out->decided > 0 ? called / out->decided : NAN;
}

static void judge_pairs(struct arena *arena, const double *predicted, struct intervals *out)
{
    size_t room = (size_t)out->row_count * out->row_count / 2 + 1;
    struct layout_pair *pairs = ARENA_ARRAY(arena, struct layout_pair, room);
    uint32_t count = list_pairs(out, predicted, pairs);
    double groups = 0.0;
    out->pairs.pairs = count;
    out->shared_ratio = NAN;
    for (uint32_t i = 0; i < count; i++)
        groups += 1.0 / pairs[i].of_group;
    out->pairs.groups = (uint32_t)lround(groups);
    call_pairs(pairs, count, &out->pairs);
    if (count == 0)
        return;
    out->pairs.spread = pair_spread(pairs, count);
    double own = 2.0 * out->own_spread * out->own_spread;
    out->shared_ratio = own > 0.0 ? fmax(1.0 - pow(out->pairs.spread, 2) / own, 0.0) : NAN;
}

static void judge(struct arena *arena, const double *predicted, struct intervals *out)
{
    name_sources(arena, out);
    for (uint32_t s = 0; s < out->source_count; s++)
        judge_source(arena, out, &out->sources[s]);
    out->coverage = mean_coverage(out, NULL, NAN);
    out->own_spread = own_spread_of(out, NULL);
    judge_pairs(arena, predicted, out);
}

bool validate_intervals(struct arena *arena, const struct validation *v,
                        const struct uncertainty_options *how, struct intervals *out,
                        struct error *error)
{
    size_t room = v->row_count + 1;
    struct interval_job job = {.v = v, .how = how};
    double *predicted = ARENA_ARRAY(arena, double, room);
    *out = (struct intervals){.draw_count = how->draw_count};
    CHECK(v->kind == &validate_steps);
    job.taken = ARENA_ARRAY(arena, const struct validate_row *, room);
    out->rows = job.rows = ARENA_ARRAY(arena, struct interval_row, room);
    job.failed = ARENA_ARRAY(arena, bool, room);
    job.errors = ARENA_ARRAY(arena, struct error, room);
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        if (!takes_part(row))
            continue;
        predicted[out->row_count] = log(row->values[0].predicted);
        job.taken[out->row_count] = row;
        out->rows[out->row_count++] =
            (struct interval_row){.id = row->id,
                                  .source = row->source,
                                  .group = row->group,
                                  .log_draws = ARENA_ARRAY(arena, double, how->draw_count)};
    }
    pool_run(how->threads, out->row_count, draw_row, &job);
    for (uint32_t i = 0; i < out->row_count; i++) {
        if (job.failed[i]) {
            *error = job.errors[i];
            return false;
        }
    }
    judge(arena, predicted, out);
    return true;
}

static struct text percent_or_dash(double ratio)
{
    struct text dash = {"-"};
    return isnan(ratio) ? dash : format_percent(ratio);
}

void validate_report_intervals(const struct intervals *in, struct session *session)
{
    FILE *out = session->out;
    fprintf(
        out,
        "\n80 %% intervals: figures of the catalogue (%u draw%s) and the model's own error, as "
        "if the source\nhad never measured; beside it what the other sources' rows here ask for\n",
        in->draw_count, plural_s(in->draw_count));
    fprintf(out, "%-18s %6s %9s %10s %9s %12s %9s\n", "source", "rows", "figures", "own error",
            "covered", "others ask", "covered");
    for (uint32_t i = 0; i < in->source_count; i++) {
        const struct interval_source *s = &in->sources[i];
        fprintf(out, "%-18.18s %6u %9s %10s %9s %12s %9s\n", s->name, s->rows,
                format_percent(s->figures_spread).s, format_percent(s->own_spread).s,
                format_percent(s->coverage).s, percent_or_dash(s->spread_elsewhere).s,
                percent_or_dash(s->coverage_elsewhere).s);
    }
    fprintf(out, "%-18s %6u %9s %10s %9s\n", "mean of sources", in->source_count, "", "",
            percent_or_dash(in->coverage).s);
    fprintf(out, "own error by these rows: %s", percent_or_dash(in->own_spread).s);
    if (in->pairs.pairs > 0)
        fprintf(
            out,
            "; %s of its variance shared by layouts of one model on one machine\n"
            "%u pair%s of layouts in %u group%s: %u tie%s; of %u other%s the one called faster was "
            "so in %s\n(called with %s in the mean)",
            percent_or_dash(in->shared_ratio).s, in->pairs.pairs, plural_s(in->pairs.pairs),
            in->pairs.groups, plural_s(in->pairs.groups), in->pairs.ties, plural_s(in->pairs.ties),
            in->pairs.decided, plural_s(in->pairs.decided),
            percent_or_dash(in->pairs.right_ratio).s, percent_or_dash(in->pairs.mean_called).s);
    fputc('\n', out);
}
