/* campaign.c - see campaign.h.
 *
 * Invariants
 * 1. A point is in one state: waiting, measured or left out; measured ones have a median.
 * 2. A measurement that was kept is replaced by a narrower one alone.
 * 3. Nothing starts when the budget is spent. */
#include "models/profile/campaign.h"

#include <math.h>
#include <stdlib.h>

#include "sim/check.h"

enum {
    NARROWINGS_MAX = 4 /* of a point: 16 times the samples */
};
#define NOT_REPRESENTATIVE (DEVICE_TOO_HOT | DEVICE_HARDWARE_SLOW)

const struct campaign_rules campaign_usual = {
    .budget_s = 180.0,
    .rest_s = 5.0,
    .measure = {.warmup_s = 0.2,
                .sample_s = 1e-3,
                .spread_ratio = 0.01,
                .budget_s = 1.0,
                .samples_most = 200},
};

enum visit_state {
    VISIT_WAITING,
    VISIT_MEASURED,
    VISIT_LEFT_OUT
};
struct visit {
    const struct planned_point *planned;
    struct measurement measurement;
    enum visit_state state;
    unsigned narrowings;
};
struct campaign_run_state {
    const struct campaign *campaign;
    struct campaign_report *report;
    struct error *error;
    struct visit *visits; /* the weightiest first */
    unsigned count, done;
    double start_s, weight_s, covered_s;
};

static double elapsed_s(const struct campaign_run_state *c)
{
    const struct calibrate_device *device = c->campaign->device;
    return device->now_s(device->state) - c->start_s;
}

static int by_weight(const void *a, const void *b)
{
    const struct planned_point *x = ((const struct visit *)a)->planned,
                               *y = ((const struct visit *)b)->planned;
    if (x->weight_s != y->weight_s)
        return x->weight_s < y->weight_s ? 1 : -1;
    return (x > y) - (x < y); /* in the order of the plan */
}

static void take_done(struct campaign_run_state *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        for (unsigned d = 0; d < c->campaign->done_count; d++) {
            const struct measured_point *done = &c->campaign->done[d];
            if (!point_same(&c->visits[i].planned->point, &done->point))
                continue;
            c->visits[i].measurement = done->measurement;
            c->visits[i].state = VISIT_MEASURED;
            c->covered_s += c->visits[i].planned->weight_s;
            c->report->resumed++;
            c->done++;
            break;
        }
    }
}

static bool told(struct campaign_run_state *c, const struct visit *visit)
{
    const struct campaign_listener *listener = &c->campaign->listener;
    struct campaign_progress progress = {&visit->planned->point, c->done, c->count, elapsed_s(c),
                                         c->weight_s > 0.0 ? c->covered_s / c->weight_s : 1.0};
    return listener->go_on == NULL || listener->go_on(listener->context, &progress);
}

static bool kept(struct campaign_run_state *c, struct visit *visit, const struct measurement *found)
{
    const struct campaign_listener *listener = &c->campaign->listener;
    struct measured_point row = {visit->planned->point, *found};
    CHECK(found->median_s > 0.0); /* 1 */
    visit->measurement = *found;
    return listener->keep == NULL || listener->keep(listener->context, &row, c->error);
}

static void leave_out(struct campaign_run_state *c, struct visit *visit, const char *why,
                      unsigned *count)
{
    const struct campaign_listener *listener = &c->campaign->listener;
    CHECK(visit->state == VISIT_WAITING); /* 1 */
    visit->state = VISIT_LEFT_OUT;
    ++*count;
    if (listener->left_out != NULL)
        listener->left_out(listener->context, &visit->planned->point, why);
}

/* Measures with so many samples at most, in the time that is left; a card that is too hot gets a
 * rest and one more try. */
static enum device_answer try_point(struct campaign_run_state *c, const struct visit *visit,
                                    unsigned samples, struct measurement *out)
{
    const struct calibrate_device *device = c->campaign->device;
    struct measure_rules rules = c->campaign->rules.measure;
    for (unsigned attempt = 0;; attempt++) {
        double left_s = c->campaign->rules.budget_s - elapsed_s(c);
        rules.samples_most = samples < MEASURE_SAMPLES_MAX ? samples : MEASURE_SAMPLES_MAX;
        rules.budget_s = fmin(rules.budget_s, fmax(left_s, 0.0));
        enum device_answer answer =
            measure_point(device, &visit->planned->point, &rules, out, c->error);
        bool again = answer == DEVICE_DONE && (out->slowing & NOT_REPRESENTATIVE) && attempt == 0;
        if (!again || left_s <= c->campaign->rules.rest_s)
            return answer;
        device->rest(device->state, c->campaign->rules.rest_s);
    }
}

/* The first round. */
static enum campaign_end visit_all(struct campaign_run_state *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        struct visit *visit = &c->visits[i];
        struct measurement found;
        if (visit->state != VISIT_WAITING)
            continue;
        if (elapsed_s(c) >= c->campaign->rules.budget_s) /* 3 */
            return CAMPAIGN_OUT_OF_TIME;
        if (!told(c, visit))
            return CAMPAIGN_STOPPED;
        enum device_answer answer =
            try_point(c, visit, c->campaign->rules.measure.samples_most, &found);
        if (answer == DEVICE_LOST)
            return CAMPAIGN_LOST;
        c->done++;
        if (answer == DEVICE_DONE) {
            visit->state = VISIT_MEASURED;
            c->covered_s += visit->planned->weight_s;
            if (!kept(c, visit, &found))
                return CAMPAIGN_NOT_KEPT;
        } else {
            leave_out(c, visit, c->error->text,
                      answer == DEVICE_UNSUPPORTED ? &c->report->unsupported : &c->report->failed);
        }
    }
    return CAMPAIGN_COMPLETE;
}

/* The point whose spread costs the step most, or among those without weight the widest; NULL: all
 * are narrow enough. */
static struct visit *widest(struct campaign_run_state *c)
{
    struct visit *found = NULL;
    double most = 0.0, aim = c->campaign->rules.measure.spread_ratio;
    for (unsigned i = 0; i < c->count; i++) {
        struct visit *visit = &c->visits[i];
        double spread = visit->measurement.spread_ratio;
        double cost = spread * (c->weight_s > 0.0 ? visit->planned->weight_s : 1.0);
        bool open =
            visit->state == VISIT_MEASURED && spread > aim && visit->narrowings < NARROWINGS_MAX;
        if (open && cost > most) {
            most = cost;
            found = visit;
        }
    }
    return found;
}

/* What is left of the budget. */
static enum campaign_end narrow(struct campaign_run_state *c)
{
    struct visit *visit;
    while ((visit = widest(c)) != NULL && elapsed_s(c) < c->campaign->rules.budget_s) {
        struct measurement found;
        if (!told(c, visit))
            return CAMPAIGN_STOPPED;
        visit->narrowings++;
        c->report->repeated++;
        enum device_answer answer = try_point(
            c, visit, c->campaign->rules.measure.samples_most << visit->narrowings, &found);
        if (answer == DEVICE_LOST)
            return CAMPAIGN_LOST;
        bool better = answer == DEVICE_DONE && found.spread_ratio < visit->measurement.spread_ratio;
        if (better && !kept(c, visit, &found)) /* 2 */
            return CAMPAIGN_NOT_KEPT;
    }
    return CAMPAIGN_COMPLETE;
}

static void count_one(struct campaign_report *report, const struct measurement *m, double aim)
{
    report->measured++;
    report->unsettled += m->spread_ratio > aim;
    report->power_capped += (m->slowing & DEVICE_POWER_CAP) != 0;
    report->too_hot += (m->slowing & DEVICE_TOO_HOT) != 0;
    report->hardware_slow += (m->slowing & DEVICE_HARDWARE_SLOW) != 0;
    if (m->clock_hz <= 0.0)
        return;
    report->fastest_clock_hz = fmax(report->fastest_clock_hz, m->clock_hz);
    if (report->slowest_clock_hz == 0.0 || m->clock_hz < report->slowest_clock_hz)
        report->slowest_clock_hz = m->clock_hz;
}

static void sum_up(struct campaign_run_state *c)
{
    struct campaign_report *report = c->report;
    double spread_s = 0.0;
    for (unsigned i = 0; i < c->count; i++) {
        const struct visit *visit = &c->visits[i];
        report->missing += visit->state == VISIT_WAITING;
        if (visit->state != VISIT_MEASURED)
            continue;
        count_one(report, &visit->measurement, c->campaign->rules.measure.spread_ratio);
        spread_s += visit->measurement.spread_ratio * visit->planned->weight_s;
    }
    report->planned = c->count;
    report->covered_ratio = c->weight_s > 0.0 ? c->covered_s / c->weight_s : 1.0;
    report->step_spread_ratio = c->covered_s > 0.0 ? spread_s / c->covered_s : 0.0;
    report->elapsed_s = elapsed_s(c);
}

enum campaign_end campaign_run(struct arena *arena, const struct campaign *campaign,
                               struct campaign_report *report, struct error *error)
{
    const struct calibrate_plan *plan = campaign->plan;
    struct campaign_run_state c = {.campaign = campaign, .report = report, .error = error};
    *report = (struct campaign_report){0};
    c.count = plan->count;
    c.visits = ARENA_ARRAY(arena, struct visit, plan->count);
    c.start_s = campaign->device->now_s(campaign->device->state);
    for (unsigned i = 0; i < plan->count; i++) {
        c.visits[i] = (struct visit){.planned = &plan->rows[i]};
        c.weight_s += plan->rows[i].weight_s;
    }
    qsort(c.visits, c.count, sizeof *c.visits, by_weight);
    take_done(&c);
    enum campaign_end end = visit_all(&c);
    if (end == CAMPAIGN_COMPLETE)
        end = narrow(&c);
    sum_up(&c);
    return end;
}
