/* job_account.c - the classes of time, which tile the wall clock.
 *
 * Invariants
 * 1. No stretch of time is negative, but for rounding.
 * 2. An interruption is told once: it begins where none is being told, and strikes, lost time and
 *    links are added to it until the job runs again.
 * 3. In the end the classes sum to the wall clock: each addition of a stretch rounds the class and
 *    the clock by 2^-53 of them at most.
 * 4. What `detect` and `restart` hold is what the links and the loads hold. */
#include "models/job/parts/job_account.h"

#include <limits.h>
#include <math.h>

#include "sim/check.h"
#include "sim/units.h"

void job_account_create(struct job_account *account, struct arena *arena,
                        const struct job_observer *observer, struct job_result *result)
{
    *account =
        (struct job_account){.result = result,
                             .observer = observer,
                             .window = observer->worst_hour ? job_window_create(arena) : NULL};
}

void job_account_spend(struct job_account *account, double begin_s, double end_s,
                       enum badput_class of)
{
    CHECK(end_s >= begin_s * (1.0 - 1e-12)); /* 1 */
    account->result->badput_s[of] += end_s - begin_s;
    account->stretches++;
    if (account->window != NULL)
        job_window_idle(account->window, begin_s, end_s);
}

void job_account_broken(struct job_account *account, double begin_s, double end_s)
{
    account->told.lost_s += end_s - begin_s;
    job_account_spend(account, begin_s, end_s, BADPUT_lost_work);
}

void job_account_link(struct job_account *account, double begin_s, double end_s,
                      enum restart_link link)
{
    job_account_spend(account, begin_s, end_s,
                      link == LINK_DETECT ? BADPUT_detect : BADPUT_restart);
    account->told.links_s[link] += end_s - begin_s;
    account->result->restart_link_s[link] += end_s - begin_s;
}

void job_account_wait(struct job_account *account, double begin_s, double end_s)
{
    job_account_spend(account, begin_s, end_s, BADPUT_wait);
    account->told.wait_s += end_s - begin_s;
}

void job_account_load(struct job_account *account, double begin_s, double end_s)
{
    job_account_spend(account, begin_s, end_s, BADPUT_restart);
    account->told.load_s += end_s - begin_s;
    account->result->part.load_s += end_s - begin_s;
}

void job_account_stalls(struct job_account *account, double stall_s)
{
    CHECK(stall_s >= 0.0); /* 1 */
    account->result->badput_s[BADPUT_checkpoint] += stall_s;
    account->stretches++;
}

void job_account_lost(struct job_account *account, double lost_s, double lost_steps, double since_s,
                      double now_s)
{
    CHECK(lost_steps >= 0.0 && since_s <= now_s);
    CHECK(lost_s >= -1e-9 * now_s); /* 1 */
    account->result->badput_s[BADPUT_lost_work] += lost_s;
    account->stretches++;
    if (!account->interrupted)
        account->result->part.planned_lost_s += lost_s;
    account->told.lost_s += lost_s;
    account->told.lost_steps += lost_steps;
    job_window_lost(account->window, since_s, now_s);
}

void job_account_part_of_step(struct job_account *account, double steps)
{
    CHECK(steps >= 0.0 && steps <= 1.0);
    account->result->steps_completed += steps;
}

bool job_account_tells_failures(const struct job_account *account)
{
    return account->observer->failure != NULL;
}

void job_account_failure(struct job_account *account, const struct fleet_event *event, double at_s,
                         double repair_s)
{
    account->result->failures++;
    if (account->observer->failure != NULL)
        account->observer->failure(account->observer->context, event, at_s, repair_s);
}

void job_account_interrupt(struct job_account *account, const struct fleet_event *event,
                           double at_s, uint64_t step)
{
    CHECK(!account->interrupted); /* 2 */
    account->interrupted = true;
    account->result->interruptions++;
    account->told = (struct interruption){.at_s = at_s,
                                          .cause = event->cause,
                                          .node = event->node,
                                          .unit = event->unit,
                                          .step = step,
                                          .level = UINT_MAX};
}

void job_account_strike(struct job_account *account)
{
    CHECK(account->interrupted); /* 2 */
    account->told.strikes++;
}

void job_account_planned(struct job_account *account)
{
    CHECK(!account->interrupted); /* 2 */
    account->told = (struct interruption){.level = UINT_MAX};
}

void job_account_decided(struct job_account *account, bool spare_taken, bool others_went_on)
{
    account->told.spare_taken |= spare_taken;
    account->told.others_went_on |= others_went_on;
}

void job_account_beside(struct job_account *account, const double *links_s, double load_s)
{
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        account->told.links_s[link] += links_s[link];
    account->told.load_s += load_s;
}

void job_account_resumed(struct job_account *account, double resumed_at_s, unsigned level,
                         uint64_t steps)
{
    CHECK(!account->interrupted || steps <= account->told.step);
    account->told.resumed_at_s = resumed_at_s;
    account->told.level = level;
    account->told.loaded_step = steps;
    if (account->interrupted && account->observer->interruption != NULL)
        account->observer->interruption(account->observer->context, &account->told);
    account->interrupted = false;
}

void job_account_finished(struct job_account *account, enum job_end why)
{
    account->result->finished = why == JOB_END_done;
    account->result->end = why;
}

static double powered_spares(const struct job_spec *spec)
{
    return spec->recovery.kind->spares_idle ? (double)spec->recovery.spares : 0.0;
}

/* What is rented and the checkpoints that are kept are paid while the run lasts, spares where they
 * stand by under power. */
static void account_cost(struct job_result *out, const struct job_spec *spec)
{
    const struct rental *rental = &spec->cost.rental;
    const double hour_usd = rental->job_hour_usd + powered_spares(spec) * rental->spare_hour_usd;
    out->cost_usd = hour_usd * out->wall_s / HOUR + job_storage_usd(spec, out);
}

/* Kernels cost what they do, however long a step takes: kept steps draw the power of a step for
 * the time that they are worth, and what was added to them stands (docs/models/power.md). Of a
 * restart, processes are up from `start` on. */
static double class_w(const struct power_job *power, enum badput_class of)
{
    switch (of) {
    case BADPUT_useful:
    case BADPUT_lost_work:
        return power->step_w;
    case BADPUT_checkpoint:
    case BADPUT_detect:
    case BADPUT_degraded:
        return power->standing_w;
    case BADPUT_restart:
    case BADPUT_wait:
    case BADPUT_maintenance:
    case BADPUT_COUNT:
        break;
    }
    return power->idle_w;
}

static double link_w(const struct power_job *power, enum restart_link link)
{
    return link == LINK_DETECT || link >= LINK_START ? power->standing_w : power->idle_w;
}

static void account_energy(struct job_result *out, const struct job_spec *spec)
{
    const struct power_job *power = &spec->cost.power;
    struct job_energy *energy = &out->energy;
    energy->spares_j = powered_spares(spec) * power->spare_w * out->wall_s;
    energy->load_j = power->standing_w * out->part.load_s;
    double restart_j = energy->load_j;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        energy->link_j[link] = link_w(power, (enum restart_link)link) * out->restart_link_s[link];
        restart_j += link == LINK_DETECT ? 0.0 : energy->link_j[link];
    }
    energy->all_j = energy->spares_j;
    for (unsigned of = 0; of < BADPUT_COUNT; of++) {
        energy->class_j[of] = of == BADPUT_restart
                                  ? restart_j
                                  : class_w(power, (enum badput_class)of) * out->badput_s[of];
        energy->all_j += energy->class_j[of];
    }
}

static void check_sums(const struct job_account *account, uint64_t steps)
{
    const struct job_result *out = account->result;
    double sum_s = 0.0, chain_s = out->part.load_s;
    for (unsigned of = 0; of < BADPUT_COUNT; of++)
        sum_s += out->badput_s[of];
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        chain_s += out->restart_link_s[link];
    double restart_s = out->badput_s[BADPUT_detect] + out->badput_s[BADPUT_restart];
    double additions = (double)account->stretches + (double)steps;
    double rounding_s = out->wall_s * (1e-9 + 0x1p-52 * additions);
    CHECK(fabs(sum_s - out->wall_s) <= rounding_s); /* 3 */
    CHECK(fabs(chain_s - restart_s) <= rounding_s); /* 4 */
}

void job_account_end(struct job_account *account, const struct job_spec *spec,
                     const struct ledger_mark *kept, double ideal_step_s, double wall_s)
{
    struct job_result *out = account->result;
    out->wall_s = wall_s;
    out->badput_s[BADPUT_useful] = kept->useful_s;
    out->badput_s[BADPUT_degraded] = kept->degraded_s;
    out->steps_completed += (double)kept->progress / (double)spec->replicas;
    out->tokens_completed = out->steps_completed * spec->tokens_per_step;
    out->goodput = wall_s > 0.0 ? out->steps_completed * ideal_step_s / wall_s : 1.0;
    out->ettr = wall_s > 0.0 ? (kept->useful_s + kept->degraded_s) / wall_s : 1.0;
    check_sums(account, kept->steps);
    account_cost(out, spec);
    account_energy(out, spec);
}
