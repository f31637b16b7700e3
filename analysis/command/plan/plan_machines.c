#include "analysis/command/plan/plan_machines.h"

#include "analysis/command/plan/plan_figures.h"
#include "analysis/command/plan/plan_fitting.h"
#include "analysis/command/plan/plan_weeks.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/stated_scenario.h"
#include "analysis/output/terminal/progress.h"
#include "analysis/plan/search/search_front.h"
#include "analysis/plan/search/search_machine.h"
#include "analysis/plan/search/search_power.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/study/study_vary.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report_machines.h"
#include "models/layout/announced.h"
#include "scenarios/language/inputs.h"

enum {
    POINTS_MAX = 64
};

struct grid {
    struct vary varies[ARGUMENT_VARY_MAX];
    unsigned count;
    size_t points;
    const char *keys; /* "cluster.gpus, cluster.gpu" */
};

static bool read_grid(struct arena *arena, const struct plan_arguments *a, struct grid *out,
                      struct error *error)
{
    *out = (struct grid){.count = a->varies.count};
    for (unsigned i = 0; i < a->varies.count; i++) {
        if (!study_vary_read(arena, a->varies.words[i], &out->varies[i], error))
            return false;
        if (strncmp(out->varies[i].key, "layout.", 7) == 0)
            return error_set(error,
                             "%.60s is searched; --vary takes keys of the machine, the "
                             "batch or the software",
                             out->varies[i].key);
        out->keys = arena_format(arena, "%s%s%s", i > 0 ? out->keys : "", i > 0 ? ", " : "",
                                 out->varies[i].key);
    }
    if (!study_vary_points(out->varies, out->count, &out->points, error))
        return false;
    return out->points <= POINTS_MAX ||
           error_set(error, "%zu machines, more than %d", out->points, POINTS_MAX);
}

/* "cluster.gpus=512", of each key, behind the --set of the line. */
static const char *set_point(struct arena *arena, const struct grid *grid, size_t point,
                             struct plan_arguments *a)
{
    const char *label = "";
    for (unsigned k = 0; k < grid->count && a->scenario.sets.count < ARGUMENT_SET_MAX; k++) {
        const struct vary *vary = &grid->varies[k];
        const char *value =
            vary->values[study_vary_index(grid->varies, grid->count, k, point)].text;
        a->scenario.sets.words[a->scenario.sets.count++] =
            arena_format(arena, "%s=%s", vary->key, value);
        label = arena_format(arena, "%s%s%s", label, k > 0 ? ", " : "", value);
    }
    return label;
}

struct grid_search { /* how each machine is searched, and of how many */
    plan_read_fn *read;
    const struct search_question *question;
    struct plan_diary *diary;
    const struct plan_sight *sight;
    size_t machines;
};

static void show(struct arena *arena, const struct grid_search *how, const struct plan_seen *seen,
                 const struct plan_arguments *point)
{
    struct plan_seen whole = *seen;
    if (how->sight->look == NULL)
        return;
    whole.machines = how->machines;
    whole.line = plan_line_of(arena, point, seen->scenario);
    how->sight->look(how->sight->context, &whole);
}

/* One that has too many GPUs is read, and not searched. */
static int search_point(struct arena *arena, const struct plan_arguments *a,
                        struct session *session, const struct grid_search *how,
                        struct search_question *all, struct search_machine *out)
{
    struct scenario *scenario = NULL;
    struct search *search = NULL;
    struct search_weeks_wish wish;
    struct search_question question = *all;
    struct error error = {""};
    int code = how->read(a, session, &scenario);
    if (code != EXIT_OK)
        return code;
    question.base = &scenario->configuration;
    question.files = inputs_lines(arena, scenario->file.inputs);
    out->gpu = arena_text(arena, scenario->configuration.gpu.name);
    out->announced =
        announced_words(&scenario->configuration, ARENA_ARRAY(arena, char, ANNOUNCED_WORDS_MAX),
                        ANNOUNCED_WORDS_MAX);
    out->gpus = configuration_gpus(question.base);
    out->too_many = a->terms.gpus_max > 0 && out->gpus > a->terms.gpus_max;
    if (!out->too_many && (!search_terms_check(&question.terms, question.base, &error) ||
                           !plan_weeks_ask(a, scenario, &wish, &question, &error) ||
                           !search_run(&question, &search, &error))) {
        fprintf(session->notes, "orrery plan: %s\n", error.text);
        code = EXIT_REJECTED;
    } else if (!out->too_many) {
        plan_fitting_apply(scenario, search, NULL);
        plan_figures_apply(scenario, search, NULL);
        show(arena, how, &(struct plan_seen){search, scenario, out->label, 0, {NULL, NULL}}, a);
        search_machine_keep(arena, out, search);
        search_power_more(arena, search, &out->more);
        if (a->output.pareto) {
            search_front_find(arena, search, &out->front);
            plan_fitting_front(scenario, search, &out->front);
        }
    }
    all->terms = question.terms;
    search_destroy(search);
    scenario_destroy(scenario);
    return code;
}

/* Nodes, twice as many, ... up to the most GPUs, and that many. */
static const char *sizes_text(struct arena *arena, uint64_t node, uint64_t most)
{
    const char *text = "cluster.gpus=";
    for (uint64_t gpus = node; gpus < most; gpus *= 2)
        text = arena_format(arena, "%s%" PRIu64 ",", text, gpus);
    return arena_format(arena, "%s%" PRIu64, text, most - most % node);
}

bool plan_machines_sized(const struct plan_arguments *a)
{
    if (a->terms.gpus_max == 0 || a->stated.gpus > 0 || !stated_scenario_given(&a->stated))
        return false;
    for (unsigned i = 0; i < a->varies.count; i++)
        if (strncmp(a->varies.words[i], "cluster.gpus=", 13) == 0 ||
            strncmp(a->varies.words[i], "cluster.nodes=", 14) == 0)
            return false;
    return a->varies.count < ARGUMENT_VARY_MAX;
}

/* Varies the size, too. The batch of the largest machine is that of all. */
static int vary_size(struct arena *arena, struct plan_arguments *a, struct session *session,
                     plan_read_fn *read)
{
    struct scenario *scenario = NULL;
    const int code = read(a, session, &scenario);
    if (code != EXIT_OK)
        return code;
    const uint64_t node = scenario->configuration.cluster.node.gpus;
    scenario_destroy(scenario);
    if (a->terms.gpus_max < node) {
        fprintf(session->notes,
                "orrery plan: --most-gpus %" PRIu64 ": a node has %" PRIu64
                " GPUs; say --gpus for a part of one\n",
                a->terms.gpus_max, node);
        return EXIT_USAGE;
    }
    a->varies.words[a->varies.count++] = sizes_text(arena, node, a->terms.gpus_max);
    a->stated.global_batch = a->stated.global_batch > 0
                                 ? a->stated.global_batch
                                 : a->terms.gpus_max - a->terms.gpus_max % node;
    return EXIT_OK;
}

static int search_grid(struct arena *arena, const struct plan_arguments *arguments,
                       struct session *session, const struct grid_search *how,
                       const struct grid *grid, struct search_machines *out)
{
    struct progress progress;
    int code = EXIT_OK;
    progress_begin(&progress, session->notes);
    while (out->count < grid->points && code == EXIT_OK && !session_interrupted(session)) {
        struct plan_arguments *point = ARENA_NEW(arena, struct plan_arguments);
        const size_t place = out->count++;
        struct search_machine *machine = &out->rows[place];
        struct search_question asked = out->question;
        *point = *arguments;
        machine->label = set_point(arena, grid, place, point);
        if (plan_diary_machine(how->diary, place, grid->points, machine->label, &asked))
            code = search_point(arena, point, session, how, &asked, machine);
        out->question.terms = asked.terms;
        progress_tell(&progress, (double)out->count / (double)grid->points, "plan");
    }
    progress_end(&progress);
    return code;
}

static bool any_found(const struct search_machines *machines)
{
    for (size_t i = 0; i < machines->count; i++)
        if (machines->rows[i].found)
            return true;
    return false;
}

static int plan_all(struct arena *arena, struct plan_arguments *a, struct session *session,
                    struct grid_search *how)
{
    struct grid grid;
    struct error error = {""};
    int code = plan_machines_sized(a) ? vary_size(arena, a, session, how->read) : EXIT_OK;
    if (code != EXIT_OK)
        return code;
    if (!read_grid(arena, a, &grid, &error)) {
        fprintf(session->notes, "orrery plan: --vary: %s\n", error.text);
        return EXIT_USAGE;
    }
    how->machines = grid.points;
    struct search_machines machines = {.question = *how->question,
                                       .rows =
                                           ARENA_ARRAY(arena, struct search_machine, grid.points),
                                       .asked = grid.points,
                                       .has_front = a->output.pareto};
    code = search_grid(arena, a, session, how, &grid, &machines);
    if (code == EXIT_OK && session_interrupted(session) && plan_diary_partial(how->diary))
        code = EXIT_INTERRUPTED;
    if (code != EXIT_OK || plan_diary_partial(how->diary))
        return code;
    search_machines_rank(arena, &machines);
    document_print(report_machines(arena, &machines, grid.keys), report_machines_lines,
                   a->output.json, session);
    return session_interrupted(session) ? EXIT_INTERRUPTED
           : any_found(&machines)       ? EXIT_OK
                                        : EXIT_NOTHING_FITS;
}

int plan_machines(const struct plan_arguments *arguments, struct session *session,
                  plan_read_fn *read, const struct search_question *question,
                  struct plan_diary *diary, const struct plan_sight *sight)
{
    struct arena *arena = arena_create();
    struct plan_arguments *own = ARENA_NEW(arena, struct plan_arguments);
    *own = *arguments;
    struct grid_search how = {read, question, diary, sight, 0};
    const int code = plan_all(arena, own, session, &how);
    arena_destroy(arena);
    return code;
}
