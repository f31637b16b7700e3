#include "analysis/command/plan_machines.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/json/json_plan.h"
#include "analysis/line/command.h"
#include "analysis/result/cost.h"
#include "analysis/study/study_vary.h"
#include "analysis/terminal/progress.h"
#include "analysis/text/format.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"

enum {
    POINTS_MAX = 64
};

struct grid {
    struct vary varies[ARGUMENT_VARY_MAX];
    unsigned count;
    size_t points;
};

static bool read_grid(struct arena *arena, const struct arguments *a, struct grid *out,
                      struct error *error)
{
    *out = (struct grid){.count = a->vary_count};
    for (unsigned i = 0; i < a->vary_count; i++) {
        if (!study_vary_read(arena, a->varies[i], &out->varies[i], error))
            return false;
        if (strncmp(out->varies[i].key, "layout.", 7) == 0)
            return error_set(error,
                             "%.60s is searched; --vary takes keys of the machine, the "
                             "batch or the software",
                             out->varies[i].key);
    }
    if (!study_vary_points(out->varies, out->count, &out->points, error))
        return false;
    return out->points <= POINTS_MAX ||
           error_set(error, "%zu machines, more than %d", out->points, POINTS_MAX);
}

/* "cluster.gpus=512", of each key, behind the --set of the line. */
static const char *set_point(struct arena *arena, const struct grid *grid, size_t point,
                             struct arguments *a)
{
    const char *label = "";
    for (unsigned k = 0; k < grid->count && a->set_count < ARGUMENT_SET_MAX; k++) {
        const struct vary *vary = &grid->varies[k];
        const char *value =
            vary->values[study_vary_index(grid->varies, grid->count, k, point)].text;
        a->sets[a->set_count++] = arena_format(arena, "%s=%s", vary->key, value);
        label = arena_format(arena, "%s%s%s", label, k > 0 ? ", " : "", value);
    }
    return label;
}

static void keep_best(const struct scenario *scenario, const struct search *s,
                      struct plan_machine *out)
{
    const struct configuration *c = s->base;
    out->gpus = configuration_gpus(c);
    out->searched = s->considered;
    if (s->leader_count == 0)
        return;
    struct cost cost;
    struct configuration best;
    out->found = true;
    out->row = *s->leaders[0].row;
    out->leader = s->leaders[0];
    search_apply(c, &out->row.layout, &best);
    cost_of_step(&best, out->leader.step_s, &cost);
    out->budget_usd = cost.budget_usd;
    out->days = scenario->configuration.training.tokens > 0.0
                    ? scenario->configuration.training.tokens / out->leader.tokens_per_s / DAY
                    : NAN;
}

static int search_point(struct arena *arena, const struct arguments *a, struct session *session,
                        plan_read_fn *read, struct search_question question,
                        struct plan_machine *out)
{
    struct scenario *scenario = NULL;
    struct search *search = NULL;
    struct error error = {""};
    int code = read(a, session, &scenario);
    if (code == EXIT_OK) {
        question.base = &scenario->configuration;
        if (!search_run(&question, &search, &error)) {
            fprintf(session->notes, "orrery plan: %s\n", error.text);
            code = EXIT_REJECTED;
        } else {
            keep_best(scenario, search, out);
            out->gpu = arena_text(arena, scenario->configuration.gpu.name);
            out->stopped = search->stopped;
        }
    }
    search_destroy(search);
    scenario_destroy(scenario);
    return code;
}

static bool beaten(const struct plan_machine *machines, size_t count, size_t i)
{
    const struct search_leader *mine = &machines[i].leader;
    for (size_t k = 0; k < count; k++) {
        const struct search_leader *other = &machines[k].leader;
        if (k != i && machines[k].found && other->tokens_per_s >= mine->tokens_per_s &&
            other->usd_per_1e9_tokens < mine->usd_per_1e9_tokens)
            return true;
    }
    return false;
}

static void print_machine(FILE *out, const struct plan_machine *m)
{
    const struct search_layout *l = &m->row.layout;
    char layout[80];
    if (!m->found) {
        fprintf(out, "  %-28s %7s  nothing fits\n", format_shown(m->label).s,
                format_count(m->gpus).s);
        return;
    }
    snprintf(layout, sizeof layout,
             "tp %" PRIu32 " pp %" PRIu32 " cp %" PRIu32 " dp %" PRIu32 " vpp %" PRIu32
             " mb %" PRIu32 " %s",
             l->tp, l->pp, l->cp, l->dp, l->vpp, l->microbatch, l->sharding->head.name);
    fprintf(
        out, "%s %-28s %7s  %-44s %9s %9s %7s %9s %9s %12s\n", m->best ? "*" : " ",
        format_shown(m->label).s, format_count(m->gpus).s, layout, format_time(m->leader.step_s).s,
        format_quantity(m->leader.tokens_per_s).s, format_percent(m->leader.mfu_ratio).s,
        isfinite(m->leader.usd_per_1e9_tokens) ? format_money(m->leader.usd_per_1e9_tokens).s : "-",
        isfinite(m->days) ? format_time(m->days * DAY).s : "-",
        isfinite(m->budget_usd) ? format_money(m->budget_usd).s : "-");
}

static void print_machines(const struct session *session, const struct plan_machine *machines,
                           size_t count)
{
    FILE *out = session->out;
    fprintf(out, "The best layout of each machine\n  %-28s %7s  %-44s %9s %9s %7s %9s %9s %12s\n",
            "", "GPUs", "layout", "step", "tokens/s", "MFU", "10^9 tok.", "training", "cost");
    for (size_t i = 0; i < count; i++)
        print_machine(out, &machines[i]);
    fprintf(out, "  *: no other is both as fast and cheaper a token. Training and cost are of "
                 "training.tokens, without failures.\n");
}

int plan_machines(const struct arguments *arguments, struct session *session, plan_read_fn *read,
                  const struct search_question *question)
{
    struct arena *arena = arena_create();
    struct grid grid;
    struct error error = {""};
    struct progress progress;
    bool any = false;
    if (!read_grid(arena, arguments, &grid, &error)) {
        fprintf(session->notes, "orrery plan: --vary: %s\n", error.text);
        arena_destroy(arena);
        return EXIT_USAGE;
    }
    struct plan_machine *machines = ARENA_ARRAY(arena, struct plan_machine, grid.points);
    int code = EXIT_OK;
    size_t done = 0;
    progress_begin(&progress, session->notes);
    for (; done < grid.points && code == EXIT_OK && !session_interrupted(session); done++) {
        struct arguments *point = ARENA_NEW(arena, struct arguments);
        *point = *arguments;
        machines[done].label = set_point(arena, &grid, done, point);
        code = search_point(arena, point, session, read, *question, &machines[done]);
        any = any || machines[done].found;
        progress_tell(&progress, (double)(done + 1) / (double)grid.points, "plan");
    }
    progress_end(&progress);
    for (size_t i = 0; i < done; i++)
        machines[i].best = machines[i].found && !beaten(machines, done, i);
    if (code == EXIT_OK && arguments->json)
        json_plan_machines(machines, done, session->out);
    else if (code == EXIT_OK)
        print_machines(session, machines, done);
    if (code == EXIT_OK && session_interrupted(session))
        code = EXIT_INTERRUPTED;
    arena_destroy(arena);
    return code == EXIT_OK && !any ? EXIT_NOTHING_FITS : code;
}
