/* failure_log.c - from what was seen to records: numbers for names, the watch, repeats. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/failures/failure_log_state.h"
#include "scenarios/language/names.h"
#include "sim/list.h"
#include "sim/plural.h"

uint64_t failure_log_units(const struct failure_rules *rules, enum failure_unit kind)
{
    switch (kind) {
    case UNIT_GPU:
    case UNIT_NIC:
        return rules->gpus;
    case UNIT_NODE:
        return rules->gpus / rules->gpus_per_node;
    case UNIT_DOMAIN:
        return 0;
    case UNIT_JOB:
        return 1;
    }
    return 0;
}

bool failure_log_see(struct failure_reading *r, const struct failure_sight *sight)
{
    if (r->count == FAILURE_ROWS_MAX)
        return import_text_bad(&r->text, "more than %d failures; cut the log", FAILURE_ROWS_MAX);
    LIST_ROOM(r->arena, r->sights, r->count, 1, r->room);
    r->sights[r->count] = *sight;
    r->sights[r->count].line = r->text.line;
    r->count++;
    failure_log_moment(r, sight->at_s);
    return true;
}

void failure_log_moment(struct failure_reading *r, double at_s)
{
    r->last_s = fmax(r->last_s, at_s);
}

static int compare_units(const void *left, const void *right)
{
    const struct failure_sight *a = *(struct failure_sight *const *)left,
                               *b = *(struct failure_sight *const *)right;
    const int hosts = names_compare_numbered(a->host, b->host);
    if (hosts != 0)
        return hosts;
    return names_compare_numbered(a->part != NULL ? a->part : "", b->part != NULL ? b->part : "");
}

/* Does every part have a number on its node (as in dcgm), not a name (as PCI addresses are)? */
static bool parts_numbered(const struct failure_reading *r, struct failure_sight *const *named,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *part = named[i]->part;
        if (part != NULL && (strspn(part, "0123456789") != strlen(part) || strlen(part) > 9 ||
                             strtoull(part, NULL, 10) >= r->rules->gpus_per_node))
            return false;
    }
    return true;
}

/* Numbers for those that have names. */
static bool number_units(struct failure_reading *r)
{
    struct failure_sight **named = ARENA_ARRAY(r->arena, struct failure_sight *, r->count + 1);
    const uint64_t per_node = r->rules->gpus_per_node, nodes = r->rules->gpus / per_node;
    uint32_t count = 0;
    uint64_t parts = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->sights[i].host != NULL)
            named[count++] = &r->sights[i];
    qsort(named, count, sizeof(struct failure_sight *), compare_units);
    const bool told = parts_numbered(r, named, count);
    for (uint32_t i = 0; i < count; i++) {
        struct failure_sight *s = named[i];
        const struct failure_sight *before = i > 0 ? named[i - 1] : NULL;
        const bool new_host = before == NULL || names_compare_numbered(before->host, s->host) != 0;
        const bool new_part =
            s->part != NULL && (new_host || before->part == NULL ||
                                names_compare_numbered(before->part, s->part) != 0);
        r->out->hosts += new_host;
        parts = (new_host ? 0 : parts) + new_part;
        r->text.line = s->line;
        if (r->out->hosts > nodes)
            return import_text_bad(&r->text,
                                   "more nodes than the %" PRIu64 " of %" PRIu64 " GPUs, %" PRIu64
                                   " each: --gpus, --gpus-per-node",
                                   nodes, r->rules->gpus, per_node);
        if (parts > per_node)
            return import_text_bad(
                &r->text, "more GPUs on %s than the %" PRIu64 " that --gpus-per-node gives",
                import_text_quote(&r->text, s->host), per_node);
        s->unit = r->out->hosts - 1;
        if (s->part != NULL)
            s->unit = s->unit * per_node + (told ? strtoull(s->part, NULL, 10) : parts - 1);
        s->place = s->unit;
        if (s->unit_kind == UNIT_JOB)
            s->unit = 0;
    }
    return true;
}

/* The watch, and what is in it: times from its start. */
static bool cut_watch(struct failure_reading *r)
{
    const struct failure_rules *rules = r->rules;
    const double start_s = r->relative ? 0.0 : rules->start_s;
    const double shift_s = r->relative && isfinite(rules->start_s) ? rules->start_s : 0.0;
    uint32_t kept = 0;
    r->out->end_told = isfinite(rules->end_s);
    const double end_s = r->out->end_told ? rules->end_s - shift_s : r->last_s;
    if (!isfinite(start_s))
        return error_set(r->text.error,
                         "%s: when did the watch begin? Give --start, as in --start 2026-01-01",
                         r->file.path);
    r->out->watched_s = end_s - start_s;
    if (!(r->out->watched_s > 0.0))
        return error_set(r->text.error,
                         "%s: the watch ends where it begins: give --start before, --end after "
                         "the failures",
                         r->file.path);
    for (uint32_t i = 0; i < r->count; i++) {
        struct failure_sight *s = &r->sights[i];
        s->at_s -= start_s;
        if (s->at_s < 0.0 || s->at_s > r->out->watched_s)
            r->out->outside++;
        else
            r->sights[kept++] = *s;
    }
    r->count = kept;
    return true;
}

static int compare_sights(const void *left, const void *right)
{
    const struct failure_sight *a = left, *b = right;
    if (a->at_s != b->at_s)
        return a->at_s < b->at_s ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* By unit and time. */
static int compare_chains(const void *left, const void *right)
{
    const struct failure_sight *a = *(struct failure_sight *const *)left,
                               *b = *(struct failure_sight *const *)right;
    if (a->unit_kind != b->unit_kind)
        return a->unit_kind - b->unit_kind;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    return compare_sights(a, b);
}

static bool one_unit(const struct failure_sight *a, const struct failure_sight *b)
{
    return a->unit_kind == b->unit_kind && a->unit == b->unit;
}

/* Those of a GPU, whether they stop it or the job on it. */
static int compare_places(const void *left, const void *right)
{
    const struct failure_sight *a = *(struct failure_sight *const *)left,
                               *b = *(struct failure_sight *const *)right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return compare_sights(a, b);
}

static bool one_place(const struct failure_sight *a, const struct failure_sight *b)
{
    return a->place == b->place;
}

/* One cause, and of jobs the same nodes? As a comparison. */
static int compare_kin(const struct failure_sight *a, const struct failure_sight *b)
{
    const int causes = strcmp(a->cause, b->cause);
    return causes != 0 ? causes
                       : strcmp(a->apart != NULL ? a->apart : "", b->apart != NULL ? b->apart : "");
}

/* By unit, cause and time. */
static int compare_repeats(const void *left, const void *right)
{
    const struct failure_sight *a = *(struct failure_sight *const *)left,
                               *b = *(struct failure_sight *const *)right;
    const int kin = compare_kin(a, b);
    return !one_unit(a, b) || kin == 0 ? compare_chains(left, right) : kin;
}

/* Marks what lies within --merge of the one before it of its burst: a repeat of its first one, or,
 * where bursts are chains, a consequence of it. */
static void fold(struct failure_reading *r, struct failure_sight **order, uint32_t count,
                 bool (*together)(const struct failure_sight *a, const struct failure_sight *b),
                 bool chains)
{
    const struct failure_sight *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct failure_sight *s = order[i];
        const bool burst = first != NULL && together(first, s) &&
                           s->at_s - order[i - 1]->at_s <= r->rules->merge_s;
        const bool repeats = burst && compare_kin(first, s) == 0;
        if (!repeats && !(burst && chains)) {
            first = s;
            continue;
        }
        if (!s->folded)
            ++*(repeats ? &r->out->merged : &r->out->followed);
        s->folded = true;
    }
}

/* Where the format has chains, one of a job that a GPU logged is in two bursts: in that of the job,
 * and in that of the GPU. */
static void merge(struct failure_reading *r, bool chains)
{
    struct failure_sight **order = ARENA_ARRAY(r->arena, struct failure_sight *, r->count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (chains && r->sights[i].part != NULL)
            order[count++] = &r->sights[i];
    qsort(order, count, sizeof(struct failure_sight *), compare_places);
    fold(r, order, count, one_place, true);
    for (uint32_t i = 0; i < r->count; i++)
        order[i] = &r->sights[i];
    qsort(order, r->count, sizeof(struct failure_sight *),
          chains ? compare_chains : compare_repeats);
    fold(r, order, r->count, one_unit, chains);
}

static void write_rows(struct failure_reading *r)
{
    r->out->rows = ARENA_ARRAY(r->arena, struct failure_record, r->count + 1);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct failure_sight *s = &r->sights[i];
        if (s->folded)
            continue;
        r->out->among += s->among;
        r->out->rows[r->out->count++] =
            (struct failure_record){s->at_s, s->unit_kind, s->unit, s->cause, s->repair_s};
    }
}

bool failure_log_read(struct arena *arena, struct import_file file,
                      const struct failure_format_kind *format, const struct failure_rules *rules,
                      struct failure_log *out, struct error *error)
{
    struct failure_reading r = {
        .file = file, .arena = arena, .rules = rules, .last_s = -INFINITY, .out = out};
    *out = (struct failure_log){.rows = NULL};
    if (!import_text_begin(&r.text, arena, &file, error))
        return false;
    if (!format->json && import_text_is_json(&r.text))
        return error_set(
            error,
            "%s: this is JSON: %s is read from text (journalctl -k -o short-iso, sacct "
            "-P); what Prometheus answers about Xids is imported as dcgm",
            file.path, format->head.name);
    if (!format->read(&r))
        return false;
    if (r.count == 0)
        return error_set(error,
                         "%s: no failure in it (%" PRIu32 " line%s of something else, %" PRIu32
                         " of failures without their moment)",
                         file.path, out->passed, plural_s(out->passed), out->endless);
    if (!number_units(&r) || !cut_watch(&r))
        return false;
    qsort(r.sights, r.count, sizeof *r.sights, compare_sights);
    merge(&r, format->chains);
    write_rows(&r);
    return out->count > 0 ||
           error_set(error, "%s: no failure between --start and --end", file.path);
}
