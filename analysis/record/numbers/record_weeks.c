#include "analysis/record/numbers/record_weeks.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/output/text/format.h"
#include "analysis/record/numbers/job_record.h"
#include "analysis/record/numbers/record.h"
#include "analysis/record/numbers/storage_use.h"
#include "sim/plural.h"
#include "sim/units.h"

static const char *duration_key(struct arena *arena, const char *key, const struct duration *d)
{
    const char *shape =
        duration_has_shape(d->law) ? arena_format(arena, ", shape: %.17g", d->shape) : "";
    return arena_format(arena, ", %s: {mean: %.17gs, law: %s%s}", key, d->mean_s,
                        duration_law_names[d->law], shape);
}

/* Rows of a trace hold the unit, its repair and whether a restart mends it. The rest, as a scenario
 * spells it, each key after a comma. */
static const char *beside_trace(struct arena *arena, const struct failure_cause *cause)
{
    const char *domain = "", *effect = "", *well = "", *detect = "";
    if (cause->unit == UNIT_DOMAIN)
        domain = arena_format(arena, ", domain_nodes: %" PRIu64, cause->domain_nodes);
    if (cause->effect != EFFECT_STOP)
        effect = arena_format(arena, ", effect: %s", failure_effect_names[cause->effect]);
    if (cause->effect == EFFECT_SLOW) {
        effect = arena_format(arena, "%s, slow: %.17g%s", effect, cause->slow_ratio,
                              cause->slow_link ? ", slow_link: true" : "");
        if (cause->slow_time.mean_s > 0.0)
            well = duration_key(arena, "slow_time", &cause->slow_time);
    }
    if (cause->detect.mean_s >= 0.0)
        detect = duration_key(arena, "detect", &cause->detect);
    return arena_format(arena, "%s%s%s%s", domain, effect, well, detect);
}

static bool is_drawn(const struct duration *d)
{
    return d->mean_s > 0.0 && d->law != DURATION_FIXED;
}

/* The draws of a fault go by the number of its failure, which a row of a trace does not hold. Those
 * of a stop go by the restart chain, which is the same again. */
static const char *drawn_anew(const struct job_record *r, uint32_t index)
{
    const struct job_spec *spec = &r->spec;
    const struct failure_cause *cause = &spec->causes[index];
    if (cause->effect == EFFECT_STOP || !r->numbers[index].skips)
        return "";
    if (is_drawn(job_found_after(spec, cause)))
        return cause->detect.mean_s >= 0.0 ? "detect" : "recovery.restart.detect";
    return cause->effect == EFFECT_SLOW && is_drawn(&cause->slow_time) ? "slow_time" : "";
}

static void take_causes(const struct job_record *r, struct record *out)
{
    struct failure_cause_row *row = record_add(out, ROW_failure_cause, r->spec.cause_count);
    for (uint32_t i = 0; i < r->spec.cause_count; i++) {
        const struct failure_cause *cause = &r->spec.causes[i];
        *row++ = (struct failure_cause_row){
            .name = cause->name,
            .unit = failure_unit_names[cause->unit],
            .interruptions = (int64_t)r->stops[i],
            .beside = beside_trace(r->arena, cause),
            .hit_ratio = cause->kind->hit_ratio ? cause->kind->hit_ratio(&cause->options) : 1.0,
            .drawn = drawn_anew(r, i)};
    }
}

static void take_interruption(const struct job_record *r, const struct interruption *one,
                              struct interruption_row *row)
{
    const struct failure_cause *cause = &r->spec.causes[one->cause];
    const struct checkpoint_plan *plan = &r->spec.checkpoint.plan;
    const bool level = one->level < plan->level_count, resumed = one->resumed_at_s >= 0.0;
    const int64_t ts = llround(one->at_s / NANOSECOND);
    *row = (struct interruption_row){
        .ts = ts,
        .dur = resumed ? llround(one->resumed_at_s / NANOSECOND) - ts : ROW_NULL,
        .cause = cause->name,
        .unit = failure_unit_names[cause->unit],
        .unit_id = one->unit,
        .node = one->node == UINT32_MAX ? ROW_NULL : one->node,
        .step = (int64_t)one->step,
        .loaded_step = one->others_went_on ? ROW_NULL : (int64_t)one->loaded_step,
        .lost_s = one->lost_s,
        .lost_steps = one->lost_steps,
        .down_s = job_record_down_s(r, one),
        .detect_s = one->links_s[LINK_DETECT],
        .diagnose_s = one->links_s[LINK_DIAGNOSE],
        .cordon_s = one->links_s[LINK_CORDON],
        .allocate_s = one->links_s[LINK_ALLOCATE],
        .schedule_s = one->links_s[LINK_SCHEDULE],
        .provision_s = one->links_s[LINK_PROVISION],
        .start_s = one->links_s[LINK_START],
        .communicators_s = one->links_s[LINK_COMMUNICATORS],
        .warmup_s = one->links_s[LINK_WARMUP],
        .wait_s = one->wait_s,
        .load_s = one->load_s,
        .level = level ? one->level : ROW_NULL,
        .tier = level ? plan->levels[one->level].tier : NULL,
        .strikes = one->strikes,
        .spare_taken = one->spare_taken,
        .others_went_on = one->others_went_on,
    };
}

static void take_class(struct record *out, struct badput_row row)
{
    struct badput_row *added = record_add(out, ROW_badput, 1);
    *added = row;
}

/* `detect` is one link of the chain; `restart` is split into the others, which sum to it. */
static void take_badput(const struct job_result *result, struct record *out)
{
    const char *restart = badput_names[BADPUT_restart];
    const struct job_energy *energy = &result->energy;
    for (unsigned i = 0; i < BADPUT_COUNT; i++)
        if (i != BADPUT_restart)
            take_class(out, (struct badput_row){badput_names[i], "", result->badput_s[i],
                                                energy->class_j[i]});
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        if (link != LINK_DETECT) {
            take_class(out,
                       (struct badput_row){restart, restart_link_names[link],
                                           result->restart_link_s[link], energy->link_j[link]});
        }
    }
    take_class(out, (struct badput_row){restart, "load", result->part.load_s, energy->load_j});
}

static void take_level(const struct job_record *r, unsigned level, struct checkpoint_level_row *row)
{
    const struct checkpoint_level *l = &r->spec.checkpoint.plan.levels[level];
    struct storage_use storage;
    char text[384];
    storage_use_of(r, level, &storage);
    const bool warned = storage_use_warning(r, level, text, sizeof text);
    *row = (struct checkpoint_level_row){
        .level = level,
        .tier = l->tier,
        .every = (int64_t)l->every,
        .stall_s = l->stall_s,
        .persist_s = l->persist_s,
        .load_s = l->load_s,
        .saves = (int64_t)r->result.copies[level],
        .slowdown_ratio = l->slowdown_ratio,
        .in_memory = l->memory,
        .bytes_per_save = l->bytes,
        .written_bytes = storage.written_bytes,
        .mean_bytes_per_s = storage.mean_bytes_per_s,
        .peak_bytes_per_s = storage.peak_bytes_per_s,
        .busy_ratio = storage.busy_ratio,
        .kept_bytes = storage.kept_bytes,
        .warning = warned ? arena_text(r->arena, text) : NULL,
    };
}

static void take_skipped(const struct job_record *r, struct record *out)
{
    const struct fleet_skipped *skipped = &r->result.skipped;
    if (skipped->count == 0)
        return;
    const struct failure_cause *cause = &r->spec.causes[skipped->cause];
    struct message_row *row = record_add(out, ROW_message, 1);
    *row = (struct message_row){
        .severity = "skipped",
        .key = cause->name,
        .text = arena_format(
            out->arena,
            "%s row%s of the trace struck nothing, the unit being out of the job (under repair, "
            "retired or standing by): the first at %s of exposed time, %s %" PRIu32 ", %s",
            format_count(skipped->count).s, plural_s(skipped->count),
            format_time(skipped->first->at_s).s, failure_unit_names[cause->unit],
            skipped->first->unit, format_shown(cause->name).s),
    };
}

void record_of_weeks(const struct job_record *job, struct record *out)
{
    take_causes(job, out);
    struct interruption_row *stop = record_add(out, ROW_interruption, job->interruption_count);
    for (size_t i = 0; i < job->interruption_count; i++)
        take_interruption(job, &job->interruptions[i], stop++);
    take_badput(&job->result, out);
    const unsigned levels = job->spec.checkpoint.plan.level_count;
    struct checkpoint_level_row *level = record_add(out, ROW_checkpoint_level, levels);
    for (unsigned i = 0; i < levels; i++)
        take_level(job, i, level++);
    take_skipped(job, out);
}
