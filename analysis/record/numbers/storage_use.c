#include "analysis/record/numbers/storage_use.h"

#include <math.h>

#include "analysis/output/text/format.h"
#include "sim/units.h"

void storage_use_of(const struct job_record *record, unsigned level, struct storage_use *out)
{
    const struct checkpoint_spec *spec = &record->spec.checkpoint;
    const struct checkpoint_level *of = &spec->plan.levels[level];
    double copies = (double)record->result.copies[level], wall_s = record->result.wall_s;
    bool timed = of->transfer_s > 0.0;
    *out = (struct storage_use){
        .written_bytes = copies * of->bytes,
        .mean_bytes_per_s = copies * of->bytes / wall_s,
        .peak_bytes_per_s = timed ? of->bytes / of->transfer_s : NAN,
        .busy_ratio = timed ? copies * of->transfer_s / wall_s : NAN,
        .kept_bytes = fmin(copies, (double)spec->keep) * of->bytes,
    };
}

/* Work from one save of this level to the next. */
static double period_s(const struct job_record *record, unsigned level)
{
    const struct checkpoint_spec *spec = &record->spec.checkpoint;
    double step_s = condition_step_s(record->conditions, &condition_ideal);
    return job_between_saves_s(spec, step_s) * (double)spec->plan.levels[level].every;
}

bool storage_use_warning(const struct job_record *record, unsigned level, char *text, size_t size)
{
    const double too_soon_s = 1.0 * YEAR;
    const struct checkpoint_level *of = &record->spec.checkpoint.plan.levels[level];
    const double full_ratio =
        (double)record->result.copies[level] * of->wear_s / record->result.wall_s;
    const double worn_s = CHECKPOINT_WARRANTY_S * CHECKPOINT_WEAR_RATIO / full_ratio;
    if (of->persist_s > period_s(record, level)) {
        snprintf(text, size,
                 "a save is durable %s after its stall, but the next one is due after %s of work: "
                 "training waits for the storage; save less often, or to a faster tier",
                 format_time(of->persist_s).s, format_time(period_s(record, level)).s);
        return true;
    }
    if (!of->memory && worn_s < too_soon_s) {
        snprintf(
            text, size,
            "%s is written %s of the time, counted at its full rate: drives that are warranted for "
            "one write a day are worn out after %s; save less often, or the other times to "
            "memory",
            format_shown(of->tier).s, format_percent(full_ratio).s, format_time(worn_s).s);
        return true;
    }
    return false;
}
