#include "scenarios/import/failures/failure_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two failures at one moment: a life cannot be shorter than a log's clock ticks. */
#define LEAST_LIFE_S 1.0

/* By unit, then time. */
static int compare_units(const void *left, const void *right)
{
    const struct failure_record *a = left, *b = right;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    return (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

struct lives {
    struct duration_sample *rows;
    uint32_t count;
};

static void live(struct lives *lives, enum duration_part part, double s, double count)
{
    if (count > 0.0)
        lives->rows[lives->count++] = (struct duration_sample){part, fmax(s, LEAST_LIFE_S), count};
}

/* The lives of all units of a cause, from its records by unit. */
static void take_lives(const struct failure_record *rows, uint32_t count, double units,
                       double watched_s, struct lives *out)
{
    double struck = 0.0, begin_s = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const bool first = i == 0 || rows[i - 1].unit != rows[i].unit;
        struck += first;
        live(out, first ? PART_FIRST : PART_WHOLE, rows[i].at_s - (first ? 0.0 : begin_s), 1.0);
        begin_s = rows[i].at_s + fmax(rows[i].repair_s, 0.0);
        const bool last = i + 1 == count || rows[i + 1].unit != rows[i].unit;
        if (last && begin_s < watched_s)
            live(out, PART_LAST, watched_s - begin_s, 1.0);
    }
    live(out, PART_NONE, watched_s, units - struck);
}

/* All laws by their number; the index of the best. */
static unsigned fit_laws(const struct lives *lives, struct duration_fit fits[FAILURE_LAWS])
{
    unsigned best = 0;
    for (unsigned i = 0; i < FAILURE_LAWS; i++) {
        duration_fit(DURATION_FIXED + 1 + (int)i, lives->rows, lives->count, &fits[i]);
        if (fits[i].criterion < fits[best].criterion)
            best = i;
    }
    return best;
}

static void fit_cause(struct arena *arena, const struct failure_log *log,
                      const struct failure_record *rows, struct failure_fit *fit)
{
    struct lives lives = {ARENA_ARRAY(arena, struct duration_sample, 2 * fit->failures + 1), 0};
    take_lives(rows, fit->failures, fit->units, log->watched_s, &lives);
    fit->best = fit_laws(&lives, fit->fits);
}

/* Repairs are whole durations, none of them cut by the watch. */
static void fit_repairs(struct arena *arena, const struct failure_record *rows,
                        struct failure_fit *fit)
{
    struct failure_repair *repair = &fit->repair;
    struct lives lives = {ARENA_ARRAY(arena, struct duration_sample, fit->failures), 0};
    struct duration_fit fits[FAILURE_LAWS];
    bool alike = true;
    for (uint32_t i = 0; i < fit->failures; i++) {
        repair->in_place += rows[i].repair_s == 0.0;
        if (!(rows[i].repair_s > 0.0))
            continue;
        lives.rows[lives.count++] = (struct duration_sample){PART_WHOLE, rows[i].repair_s, 1.0};
        alike = alike && rows[i].repair_s == lives.rows[0].s;
    }
    repair->told = lives.count;
    if (lives.count == 0)
        return;
    if (alike)
        repair->fit.duration = (struct duration){DURATION_FIXED, lives.rows[0].s, 0.0};
    else
        repair->fit = fits[fit_laws(&lives, fits)];
}

static int most_first(const void *left, const void *right)
{
    const struct failure_fit *a = left, *b = right;
    if (a->failures != b->failures)
        return a->failures > b->failures ? -1 : 1;
    const int causes = strcmp(a->cause, b->cause);
    return causes != 0 ? causes : a->unit_kind - b->unit_kind;
}

static bool is_of(const struct failure_record *row, const struct failure_fit *fit)
{
    return row->unit_kind == fit->unit_kind && strcmp(row->cause, fit->cause) == 0;
}

bool failure_fit(struct arena *arena, const struct failure_log *log,
                 const struct failure_rules *rules, struct failure_fit **out, uint32_t *count,
                 struct error *error)
{
    struct failure_fit *fits = ARENA_ARRAY(arena, struct failure_fit, FAILURE_CAUSES_MAX);
    uint32_t causes = 0;
    for (uint32_t i = 0; i < log->count; i++) {
        const struct failure_record *row = &log->rows[i];
        uint32_t c = 0;
        while (c < causes && !is_of(row, &fits[c]))
            c++;
        if (c == FAILURE_CAUSES_MAX)
            return error_set(error, "more than %d causes; name them more broadly",
                             FAILURE_CAUSES_MAX);
        if (c == causes)
            fits[causes++] = (struct failure_fit){
                .cause = row->cause,
                .unit_kind = row->unit_kind,
                .units = (double)failure_log_units(rules, (enum failure_unit)row->unit_kind)};
        fits[c].failures++;
    }
    for (uint32_t c = 0; c < causes; c++) {
        struct failure_record *own = ARENA_ARRAY(arena, struct failure_record, fits[c].failures);
        uint32_t filled = 0;
        for (uint32_t i = 0; i < log->count; i++)
            if (is_of(&log->rows[i], &fits[c]))
                own[filled++] = log->rows[i];
        qsort(own, filled, sizeof *own, compare_units);
        if (fits[c].units > 0.0)
            fit_cause(arena, log, own, &fits[c]);
        fit_repairs(arena, own, &fits[c]);
    }
    qsort(fits, causes, sizeof *fits, most_first);
    *out = fits;
    *count = causes;
    return true;
}
