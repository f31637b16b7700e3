#include "analysis/record/database/restore.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "scenarios/language/inputs.h"
#include "scenarios/language/parse.h"
#include "scenarios/schema/set.h"
#include "sim/list.h"

/* What the file says of how its scenario was read. */
struct kept {
    struct arena *arena;
    const char *text, *path, *seed, *catalogue, *files;
    const char **sets;
    uint32_t set_count, set_capacity, chosen_count; /* the last sets were chosen by the run */
};

static const char *copy(struct kept *kept, const struct query_row *row, unsigned column)
{
    unsigned bytes;
    const char *text = query_text(row, column, &bytes);
    return text != NULL ? arena_format(kept->arena, "%.*s", (int)bytes, text) : "";
}

static void add_set(struct kept *kept, const char *set)
{
    LIST_ROOM(kept->arena, kept->sets, kept->set_count, 1, kept->set_capacity);
    kept->sets[kept->set_count++] = set;
}

static bool take_meta(void *context, const struct query_row *row, struct error *error)
{
    struct kept *kept = context;
    const char *key = copy(kept, row, 0), *value = copy(kept, row, 1);
    (void)error;
    if (strcmp(key, "text") == 0)
        kept->text = value;
    else if (strcmp(key, "path") == 0)
        kept->path = value;
    else if (strcmp(key, "seed") == 0)
        kept->seed = value;
    else if (strcmp(key, "catalogue") == 0)
        kept->catalogue = value;
    else if (strcmp(key, "files") == 0)
        kept->files = value;
    else if (strncmp(key, "set.", 4) == 0)
        add_set(kept, value);
    return true;
}

static bool take_choice(void *context, const struct query_row *row, struct error *error)
{
    struct kept *kept = context;
    (void)error;
    kept->chosen_count++;
    add_set(kept, arena_format(kept->arena, "%s=%s", copy(kept, row, 0), copy(kept, row, 1)));
    return true;
}

static bool read_stated(struct query *query, struct kept *out, struct error *error)
{
    return query_run(query, "select key, value from meta order by key", NULL, take_meta, out,
                     error);
}

static bool read_chosen(struct query *query, struct kept *out, struct error *error)
{
    return query_run(query,
                     "select key, text from message where severity = 'choice' and "
                     "(key like 'layout.%' or key = 'training.attention')",
                     NULL, take_choice, out, error);
}

bool restore_stated(struct query *query, const char *path, struct arena *arena,
                    const struct value **out, const char **files, struct error *error)
{
    struct kept kept = {.arena = arena, .files = ""};
    struct problems problems = {.arena = arena};
    *out = NULL;
    if (!read_stated(query, &kept, error))
        return false;
    *files = kept.files;
    if (kept.text == NULL)
        return true;
    struct source *source = ARENA_NEW(arena, struct source);
    *source = (struct source){.name = path, .text = kept.text, .bytes = strlen(kept.text)};
    struct value *root = parse_source(arena, source, 0, &problems);
    for (unsigned i = 0; root != NULL && root->kind == VALUE_MAPPING && i < kept.set_count; i++)
        set_apply(arena, root, kept.sets[i], i + 1, &problems);
    *out = root;
    return problems.error_count == 0 ||
           error_set(error, "its scenario cannot be read again: %s", problems.kept[0].text);
}

/* The layout as the run wrote it down, one word behind the other; and as it was restored. */
static bool take_layout(void *context, const struct query_row *row, struct error *error)
{
    struct kept *kept = context;
    const char *out = "";
    (void)error;
    for (unsigned i = 0; i < query_columns(row); i++)
        out = arena_format(kept->arena, "%s%s %s", out, i > 0 ? "," : "", copy(kept, row, i));
    kept->text = out;
    return true;
}

static const char *layout_of(struct arena *arena, const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    return arena_format(
        arena,
        " %s, %s, %" PRIu64 ", %s, %s, %s, %s, %s, tp %" PRIu64 ", sp %d, pp %" PRIu64
        ", vpp %" PRIu64 ", dp %" PRIu64 ", cp %" PRIu64 ", ep %" PRIu64 ", %s, %" PRIu64
        " x %" PRIu64 ", %" PRIu64 ", %s, %s, %s %" PRIu64,
        c->model.name, c->gpu.name, c->cluster.nodes, c->cluster.node.name, c->software.name,
        c->training.precision->head.name, c->training.optimizer->head.name,
        attention_kernel_names[c->training.attention], l->tp, l->sequence_parallel, l->pp,
        l->pipeline.vpp, l->dp, l->cp, l->ep, cp_method_names[l->context.method], l->microbatch,
        configuration_microbatches(c), c->training.sequence, l->pipeline.schedule->head.name,
        l->data.sharding->head.name, recompute_names[l->recompute], l->recompute_layers);
}

/* The words between two commas in which the first difference lies. */
static struct shown item_at(struct arena *arena, const char *text, size_t at)
{
    while (at > 0 && text[at - 1] != ',')
        at--;
    const char *item = text + at + strspn(text + at, " ");
    return format_shown(arena_format(arena, "%.*s", (int)strcspn(item, ","), item));
}

/* Is the restored scenario the one that was run? */
static bool same(struct query *query, const char *path, const struct scenario *scenario,
                 struct error *error)
{
    struct kept stored = {.arena = scenario->arena};
    if (!query_run(
            query,
            "select model, gpu, nodes, node, software, precision, optimizer, attention, "
            "'tp ' || tp, 'sp ' || sequence_parallel, 'pp ' || pp, 'vpp ' || vpp, "
            "'dp ' || dp, 'cp ' || cp, 'ep ' || ep, cp_method, microbatch || ' x ' || "
            "microbatches, "
            "sequence, schedule, sharding, recompute || ' ' || recompute_layers from run limit 1",
            NULL, take_layout, &stored, error))
        return false;
    if (stored.text == NULL)
        return error_set(error, "%s holds no run: name a database of `orrery run`, or a scenario",
                         path);
    const char *restored = layout_of(scenario->arena, &scenario->configuration);
    if (strcmp(stored.text, restored) == 0)
        return true;
    size_t at = 0;
    while (stored.text[at] == restored[at])
        at++;
    return error_set(error,
                     "%s was made by another version, with another catalogue or with --set that it "
                     "does not hold (its run has '%s', what it restores to '%s'): run the scenario "
                     "again, or name the scenario itself",
                     format_shown(path).s, item_at(scenario->arena, stored.text, at).s,
                     item_at(scenario->arena, restored, at).s);
}

/* Do the files that it names hold what they held? */
static bool same_files(const struct kept *kept, const char *path, const struct scenario *scenario,
                       struct error *error)
{
    const char *now = inputs_lines(scenario->arena, scenario->file.inputs);
    const char *changed =
        kept->files != NULL ? inputs_changed(scenario->arena, kept->files, now) : NULL;
    return changed == NULL ||
           error_set(error,
                     "the file of %s has changed since %s was made: run the scenario again, or "
                     "name the scenario itself",
                     format_shown(changed).s, format_shown(path).s);
}

static struct scenario *read_scenario(const struct kept *kept, const char *path,
                                      const char *catalogue, struct error *error)
{
    const struct scenario_options options = {
        .catalogue = catalogue != NULL ? catalogue : kept->catalogue,
        .sets = kept->sets,
        .set_count = kept->set_count,
        .chosen_count = kept->chosen_count,
        .has_seed = kept->seed != NULL,
        .seed = kept->seed != NULL ? strtoull(kept->seed, NULL, 10) : 0,
    };
    struct scenario *scenario =
        scenario_read(kept->path, kept->text, strlen(kept->text), &options, error);
    for (unsigned i = 0; scenario != NULL && i < scenario->diagnostics.problem_count; i++) {
        const struct problem *problem = &scenario->diagnostics.problems[i];
        if (problem->warning)
            continue;
        error_set(error, "%s: its scenario cannot be read again: %s:%u: %s", path, problem->file,
                  problem->line, problem->text);
        scenario_destroy(scenario);
        return NULL;
    }
    return scenario;
}

struct scenario *restore_scenario(struct query *query, const char *path, const char *catalogue,
                                  struct error *error)
{
    struct kept kept = {.arena = arena_create()};
    struct scenario *scenario = NULL;
    if (read_stated(query, &kept, error) && read_chosen(query, &kept, error)) {
        if (kept.text == NULL || kept.path == NULL)
            error_set(error, "%s holds no scenario: name a database of `orrery run`, or a scenario",
                      path);
        else
            scenario = read_scenario(&kept, path, catalogue, error);
    }
    const bool good = scenario != NULL &&
                      (catalogue != NULL || same_files(&kept, path, scenario, error)) &&
                      same(query, path, scenario, error);
    arena_destroy(kept.arena);
    if (good)
        return scenario;
    if (scenario != NULL)
        scenario_destroy(scenario);
    return NULL;
}
