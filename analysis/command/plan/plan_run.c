#include "analysis/command/plan/plan_run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/command/line/stated_scenario.h"
#include "analysis/command/plan/plan_figures.h"
#include "analysis/command/plan/plan_fitting.h"
#include "analysis/command/plan/plan_held.h"
#include "analysis/command/plan/plan_larger.h"
#include "analysis/command/plan/plan_line.h"
#include "analysis/command/plan/plan_machines.h"
#include "analysis/command/plan/plan_measured.h"
#include "analysis/command/plan/plan_weeks.h"
#include "analysis/command/shared/emit.h"
#include "analysis/command/shared/run_measured.h"
#include "analysis/exchange/launch/launch.h"
#include "analysis/output/terminal/progress.h"
#include "analysis/output/text/format.h"
#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_own.h"
#include "analysis/plan/search/search_power.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report_plan.h"
#include "analysis/tell/report/report_why.h"
#include "scenarios/language/inputs.h"
#include "sim/plural.h"
#include "sim/pool.h"

/* Ranks the layout that the scenario has itself, where it says how the model is split (tp or pp):
 * what else it leaves open is chosen as `orrery run` chooses it, and out->completed tells so. Not
 * `stated` otherwise. */
static void plan_own_rank(const struct scenario *scenario, struct search *search,
                          struct search_own *out)
{
    const unsigned axes = 1u << CHOICE_TP | 1u << CHOICE_PP,
                   rest = 1u << CHOICE_MICROBATCH | 1u << CHOICE_RECOMPUTE,
                   open = scenario->choices.open;
    struct error error = {""};
    *out = (struct search_own){.stated = false};
    if ((open & axes) == axes)
        return;
    struct scenario *whole = scenario_read_again(scenario, NULL, 0, &error);
    if (whole != NULL && whole->diagnostics.error_count == 0)
        search_own_rank(search, &whole->configuration, out);
    out->stated = true;
    out->completed = (open & rest) != 0;
    scenario_destroy(whole);
}

enum {
    LEADERS_MAX = 1000
};

struct plan_command {
    const struct plan_work *work;
    struct plan_diary *diary; /* NULL: nothing is written down */
    const struct plan_arguments *given;
    const struct plan_arguments *arguments; /* `line`, once --mtbf is in it */
    struct plan_arguments *line;
    struct search_weeks_wish weeks;
    struct session *session;
    struct arena *arena;
    struct scenario *scenario;
    struct progress progress;
    struct search *search;
    struct search_verdict *why; /* NULL: not asked */
    struct search_front *front; /* likewise */
};

static int wrong(const struct session *session, const char *text)
{
    fprintf(session->notes, "orrery plan: %s\n", text);
    return EXIT_USAGE;
}

static bool stop(void *context)
{
    return session_interrupted(((struct plan_command *)context)->session);
}

static void tell_progress(void *context, double done_ratio)
{
    progress_tell(&((struct plan_command *)context)->progress, done_ratio, "plan");
}

/* The scenario of the line, its layout left open. */
int plan_run_read(const struct plan_arguments *a, struct session *session, struct scenario **out)
{
    struct scenario_arguments open = a->scenario;
    struct error error = {""};
    open.layout_open = true;
    if (!stated_scenario_sole(&a->line, &a->stated, &error))
        return wrong(session, error.text);
    if (stated_scenario_given(&a->stated))
        return stated_scenario(&a->line, &a->stated, &open, session, out);
    const char *path = a->line.positional[0];
    const struct load_source source = {path, a->text, a->text_bytes};
    return a->text != NULL ? load_text(&a->line, &source, &open, session, out)
                           : load_scenario(&a->line, path, &open, session, false, out);
}

static int check_terms(struct plan_command *p, struct search_question *question)
{
    const struct configuration *c = &p->scenario->configuration;
    const uint64_t most = p->arguments->terms.gpus_max;
    struct error error = {""};
    if (most > 0 && configuration_gpus(c) > most) {
        fprintf(p->session->notes,
                "orrery plan: the cluster has %" PRIu64 " GPUs, more than --most-gpus %" PRIu64
                "; --vary cluster.gpus=... searches other sizes\n",
                configuration_gpus(c), most);
        return EXIT_REJECTED;
    }
    if (search_terms_check(&question->terms, c, &error) &&
        plan_weeks_ask(p->arguments, p->scenario, &p->weeks, question, &error))
        return EXIT_OK;
    fprintf(p->session->notes, "orrery plan: %s\n", error.text);
    return EXIT_REJECTED;
}

/* The framework that the software stands for; NULL: none. */
static const struct launch_kind *usual_launch(const struct configuration *c)
{
    for (unsigned i = 0; i < launch_kind_count; i++)
        if (strcmp(launch_kinds[i]->software, c->software.name) == 0)
            return launch_kinds[i];
    return NULL;
}

/* With weeks, the scenario is read once more: when it saves depends on the layout. */
static void find_beside(const struct plan_command *p, const struct configuration *c,
                        const struct launch_kind *kind, struct launch_beside *out)
{
    const char *sets[PLAN_KEY_COUNT];
    const struct plan_layout *layout = &p->search->leaders[0].row->layout;
    const unsigned count = plan_layout_sets(p->arena, &p->scenario->configuration, layout, sets);
    struct error error = {""};
    struct scenario *again =
        p->scenario->has_run ? scenario_read_again(p->scenario, sets, count, &error) : NULL;
    if (again != NULL && again->diagnostics.error_count == 0)
        launch_beside_find(again, kind, p->arena, out);
    else
        launch_beside_step(p->scenario, c, kind, p->arena, out);
    scenario_destroy(again);
}

static void write_launch(const struct plan_command *p, const struct launch_kind *kind,
                         struct launch_text *text)
{
    struct configuration *c = ARENA_NEW(p->arena, struct configuration);
    struct launch_beside beside;
    plan_layout_apply(p->search->base, &p->search->leaders[0].row->layout, c);
    find_beside(p, c, kind, &beside);
    launch_write(kind, c, &beside, p->arena, text);
}

static int print_launch(const struct plan_command *p)
{
    const struct launch_kind *kind = launch_kinds[p->arguments->output.launch];
    struct launch_text text = {0};
    if (p->search->leader_count == 0) {
        const char *why = report_why_nothing(p->arena, p->search);
        fprintf(p->session->notes, "orrery plan: %s\n",
                why != NULL ? why : "no layout that fits meets the terms");
        return EXIT_NOTHING_FITS;
    }
    write_launch(p, kind, &text);
    for (uint32_t i = 0; i < text.note_count; i++)
        fprintf(p->session->notes, "%s: %s: %s\n",
                text.notes[i].weight == LAUNCH_REFUSED ? "refused" : "note", kind->head.name,
                text.notes[i].text);
    for (uint32_t i = 0; i < text.line_count; i++)
        fprintf(p->session->out, "%s\n", text.lines[i]);
    return text.refused ? EXIT_REJECTED : EXIT_OK;
}

/* The command that plays the first leader. */
static const char *run_line(const struct plan_command *p, const struct plan_line *line)
{
    return p->search->leader_count == 0
               ? ""
               : plan_line_run(p->arena, line, p->scenario, &p->search->leaders[0].row->layout);
}

/* To whom it shows the search, if anybody. */
static void show(const struct plan_command *p, const struct plan_line *line)
{
    const struct plan_sight *sight = &p->work->sight;
    if (sight->look != NULL)
        sight->look(sight->context, &(struct plan_seen){p->search, p->scenario, "", 1, *line});
}

/* Something fits, and failures leave it some tokens. */
static bool trains(const struct search *s)
{
    return s->leader_count > 0 && search_weeks_tokens_per_s(&s->leaders[0]) > 0.0;
}

static int tell(struct plan_command *p, const struct search_wish *wish, double seconds)
{
    const struct plan_arguments *a = p->arguments;
    struct search_verdict *why = NULL;
    struct search_own own;
    struct measured_shift shift;
    plan_own_rank(p->scenario, p->search, &own);
    plan_fitting_apply(p->scenario, p->search, &own);
    const bool measurable = own.stated && !own.completed;
    plan_figures_apply(p->scenario, p->search, own.stated ? &own.leader : NULL);
    const int measured = plan_measured_apply(a, p->session, p->scenario,
                                             measurable ? &own.leader : NULL, p->search, &shift);
    if (measured != EXIT_OK)
        return measured;
    if (a->output.why != NULL) {
        struct error error = {""};
        p->why = why = ARENA_NEW(p->arena, struct search_verdict);
        if (!search_why(p->search, wish, why, &error)) {
            fprintf(p->session->notes, "orrery plan: %s\n", error.text);
            return EXIT_REJECTED;
        }
    }
    struct search_batch batch = {.known = false};
    struct plan_larger larger = {.known = false};
    if (!a->output.has_launch || a->output.json)
        search_batch_near(p->arena, p->search, &batch);
    struct search_more more = {.known = false};
    if (!a->output.has_launch || a->output.json)
        search_power_more(p->arena, p->search, &more);
    if (!a->output.json)
        plan_larger_find(p->arena, a, p->scenario, p->search, &larger);
    if (a->output.pareto) {
        p->front = ARENA_NEW(p->arena, struct search_front);
        search_front_find(p->arena, p->search, p->front);
        plan_fitting_front(p->scenario, p->search, p->front);
    }
    if (a->output.has_launch && !a->output.json)
        return print_launch(p);
    const struct plan_line line = plan_line_of(p->arena, a, p->scenario);
    show(p, &line);
    struct plan_told told = {.scenario = p->scenario,
                             .search = p->search,
                             .own = &own,
                             .why = why,
                             .why_text = a->output.why,
                             .front = p->front,
                             .batch = &batch,
                             .more = &more,
                             .larger = &larger,
                             .shift = &shift,
                             .line = run_line(p, &line),
                             .seconds = seconds};
    struct launch_text text = {0};
    if (a->output.json && p->search->leader_count > 0) {
        told.launch =
            a->output.has_launch ? launch_kinds[a->output.launch] : usual_launch(p->search->base);
        told.launch_text = &text;
        if (told.launch != NULL)
            write_launch(p, told.launch, &text);
    }
    document_print(report_plan(p->arena, &told), report_plan_lines, a->output.json, p->session);
    if (!a->output.json)
        fprintf(p->session->notes, "%s layout%s in %s\n",
                format_count(p->search->counts.considered).s,
                plural_s(p->search->counts.considered), format_time(seconds).s);
    return trains(p->search) ? EXIT_OK : EXIT_NOTHING_FITS;
}

/* Of a shard only how to go on: what leads is a question about all layouts. */
static int tell_shard(const struct plan_command *p)
{
    const struct shard s = p->work->shard;
    if (p->work->rank)
        return EXIT_OK;
    fprintf(p->session->out, "shard %u/%u is searched\n", s.index, s.count);
    shard_tell_merge(p->session->out, &s);
    return EXIT_OK;
}

/* Who only looks has nothing that an interrupt could cost. */
static void soften(const struct plan_command *p)
{
    if (p->work->sight.look == NULL)
        session_soften(p->session);
}

static int vary_machines(struct plan_command *p, struct search_question question)
{
    const struct plan_arguments *a = p->arguments;
    if (a->output.why != NULL || a->output.has_launch || question.held != 0 ||
        a->measured.count > 0)
        return wrong(p->session,
                     "--why, --launch, --measured, --hold and --set of a layout ask about one "
                     "machine: leave out --vary, and give --gpus");
    question.told = NULL;
    soften(p);
    int code = plan_diary_open(p->given, p->session, p->work, &p->diary);
    code = code == EXIT_OK
               ? plan_machines(a, p->session, plan_run_read, &question, p->diary, &p->work->sight)
               : code;
    return code == EXIT_OK && plan_diary_partial(p->diary) ? tell_shard(p) : code;
}

static int plan(struct plan_command *p)
{
    const struct plan_arguments *a = p->arguments;
    struct error error = {""};
    struct search_wish wish = {.held = 0};
    const struct measured_arguments measured = {&a->line, &a->measured, &a->scenario};
    struct plan_held_keys held = {0};
    if (a->output.why != NULL && !search_wish_read(a->output.why, &wish, &error)) {
        fprintf(p->session->notes, "orrery plan: --why: %s\n", error.text);
        return EXIT_USAGE;
    }
    int code = run_measured_agree(&measured, p->session) ? plan_held_read(a, p->session, &held)
                                                         : EXIT_USAGE;
    code = code == EXIT_OK ? plan_weeks_state(p->arena, p->line, p->session) : code;
    struct search_question question = {
        .held = held.asked | held.set,
        .headroom_ratio = a->headroom_ratio,
        .terms = {.best =
                      a->terms.power_w > 0.0 && !a->terms.has_best ? BEST_TOKENS : a->terms.best,
                  .deadline_s = a->terms.deadline_s,
                  .budget_usd = a->terms.budget_usd,
                  .power_w = a->terms.power_w},
        .leaders = (uint32_t)(a->top > LEADERS_MAX ? LEADERS_MAX : a->top),
        .threads = arguments_threads(a->share.threads, pool_threads_available()),
        .stop = stop,
        .told = tell_progress,
        .context = p,
    };
    if (code == EXIT_OK && (a->varies.count > 0 || plan_machines_sized(a)))
        return vary_machines(p, question);
    code = code == EXIT_OK ? plan_run_read(a, p->session, &p->scenario) : code;
    code = code == EXIT_OK ? plan_held_check(p->scenario, &held, p->session, &question.held) : code;
    code = code == EXIT_OK ? check_terms(p, &question) : code;
    if (code != EXIT_OK)
        return code;
    question.base = &p->scenario->configuration;
    question.files = inputs_lines(p->arena, p->scenario->file.inputs);
    code = plan_diary_open(p->given, p->session, p->work, &p->diary);
    if (code != EXIT_OK)
        return code;
    plan_diary_machine(p->diary, 0, 1, "", &question);
    soften(p);
    progress_begin(&p->progress, p->session->notes);
    const bool good = search_run(&question, &p->search, &error);
    const double seconds = progress_seconds(&p->progress);
    progress_end(&p->progress);
    if (!good) {
        fprintf(p->session->notes, "orrery plan: %s\n", error.text);
        return EXIT_REJECTED;
    }
    code = plan_diary_partial(p->diary) ? tell_shard(p) : tell(p, &wish, seconds);
    return p->search->stopped ? EXIT_INTERRUPTED : code;
}

int plan_run(const struct plan_arguments *a, struct session *session, const struct plan_work *work)
{
    struct plan_command *p;
    struct arena *arena = arena_create();
    p = ARENA_NEW(arena, struct plan_command);
    struct plan_arguments *line = ARENA_NEW(arena, struct plan_arguments);
    *line = *a;
    *p = (struct plan_command){.work = work,
                               .given = a,
                               .arguments = line,
                               .line = line,
                               .session = session,
                               .arena = arena};
    int code = plan(p);
    code = plan_diary_close(p->diary, code == EXIT_INTERRUPTED, code);
    if (p->why != NULL)
        search_why_end(p->why);
    search_destroy(p->search);
    if (p->scenario != NULL)
        scenario_destroy(p->scenario);
    arena_destroy(arena);
    return code;
}
