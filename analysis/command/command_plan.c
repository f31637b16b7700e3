#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/command/emit.h"
#include "analysis/command/plan_machines.h"
#include "analysis/command/plan_measured.h"
#include "analysis/command/plan_run.h"
#include "analysis/command/plan_share.h"
#include "analysis/command/plan_weeks.h"
#include "analysis/command/run_measured.h"
#include "analysis/export/launch.h"
#include "analysis/json/json_plan.h"
#include "analysis/line/command.h"
#include "analysis/line/load.h"
#include "analysis/line/stated_scenario.h"
#include "analysis/report/report_plan.h"
#include "analysis/search/search_lead.h"
#include "analysis/search/search_order.h"
#include "analysis/terminal/progress.h"
#include "analysis/text/format.h"
#include "analysis/text/shell.h"
#include "scenarios/language/names.h"
#include "sim/pool.h"

enum {
    LEADERS_DEFAULT = 10,
    LEADERS_MAX = 1000,
    MACHINE_LEADERS = 5 /* of each of several machines, so that op detail finds the best */
};

/* The median error of peaks that were measured (docs/validation.md): so much is left free. */
#define HEADROOM_DEFAULT 0.05

static const struct option options[] = {
    OPTION_STATED_ROWS,
    {"--best", OPTION_CHOICE, FIELD_GIVEN(best, has_best), "WHAT", search_best_names,
     "what the first one is the best by: the shortest step, the most tokens a second, the "
     "cheapest token, the soonest end, or the most tokens a day that are left by failures (step; "
     "with failures goodput)"},
    {"--deadline", OPTION_TIME, FIELD(deadline_s), "TIME", NULL,
     "the whole training may take so long, as in 60d"},
    {"--budget", OPTION_MONEY, FIELD(budget_usd), "MONEY", NULL,
     "and may cost so much, as in 5MUSD"},
    {"--most-gpus", OPTION_SOME, FIELD(gpus_max), "N", NULL,
     "machines may have so many; with --model and no --gpus, each size up to it is searched"},
    {"--hold", OPTION_TEXT, FIELD(hold), "KEYS", NULL,
     "keys of the layout that stay as the scenario has them, as in tp,recompute"},
    {"--headroom", OPTION_SHARE, FIELD_GIVEN(headroom_ratio, has_headroom), "SHARE", NULL,
     "memory that a layout must leave free, as predicted peaks are off by as much (5%)"},
    {"--top", OPTION_SOME, FIELD(top), "N", NULL, "how many layouts lead (10)"},
    {"--mtbf", OPTION_TEXT, FIELD(mtbf), "TIME", NULL,
     "failures: mean time between those of one GPU, as in 5.8y, or the name of a fleet; the "
     "leaders' weeks are played (those of a scenario with run: in any case)"},
    {"--seeds", OPTION_SOME, FIELD(seeds), "N", NULL,
     "how often weeks are played, with other failures each time (16)"},
    {"--pareto", OPTION_FLAG, FIELD(pareto), NULL, NULL,
     "find every layout that no other beats in time, cost and free memory, to 2% of the card"},
    {"--measured", OPTION_STEP, OPTION_NO_OFFSET, OPTION_NO_OFFSET, "STEP", NULL,
     "a step that you measured, as of run: shifts the forecasts and makes them surer"},
    {"--vary", OPTION_VARY, 0, OPTION_NO_OFFSET, "K=VALUES", NULL,
     "the best layout of each of several machines, as in cluster.gpus=256,512,1024; may be "
     "repeated"},
    {"--why", OPTION_TEXT, FIELD(why), "KEYS", NULL,
     "why a layout does not lead, as in tp=4,pp=4: the rule, the tensor, or the time"},
    {"--launch", OPTION_CHOICE, FIELD_GIVEN(launch, has_launch), "FRAMEWORK", launch_names,
     "print the script that starts the first one in place of the table"},
    OPTION_JSON_ROW,
    {"--db", OPTION_DATABASE, FIELD(db), "FILE", NULL,
     "write down in a database what is found out about each layout"},
    {"--max-db", OPTION_SIZE, FIELD(max_db_bytes), "SIZE", NULL,
     "stop with exit code 5 when the database would grow past this"},
    {"--resume", OPTION_FLAG, FIELD(resume), NULL, NULL,
     "go on with the database of a search that was stopped"},
    {"--shard", OPTION_TEXT, FIELD(shard), "I/N", NULL,
     "search the part I of N, I from 1, into a database of its own, for `orrery merge`; auto and "
     "auto/N: as of a study"},
    {"--emit", OPTION_CHOICE, FIELD_GIVEN(emit, has_emit), "ENGINE", emit_engine_names,
     "search nothing; print a job file that searches in shards and merges them"},
    {"--shards", OPTION_SOME, FIELD(shards), "N", NULL, "of --emit: how many (8)"},
    OPTION_SCENARIO_ROWS,
    OPTION_THREADS_ROW("threads that share the search (all processors); they change nothing in "
                       "the results"),
    OPTION_END};

struct plan_command {
    const struct plan_work *work;
    struct plan_diary *diary; /* NULL: nothing is written down */
    const struct arguments *given;
    const struct arguments *arguments; /* `line`, once --mtbf is in it */
    struct arguments *line;
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

/* "tp,recompute" into a set of enum search_key. */
static int read_held(const struct plan_command *p, unsigned *held)
{
    const char *rest = p->arguments->hold;
    *held = 0;
    while (rest != NULL && *rest != '\0') {
        const size_t length = strcspn(rest, ",");
        unsigned found = SEARCH_KEY_COUNT;
        for (unsigned i = 0; i < SEARCH_KEY_COUNT; i++)
            if (strlen(search_key_names[i]) == length &&
                strncmp(search_key_names[i], rest, length) == 0)
                found = i;
        if (found == SEARCH_KEY_COUNT) {
            char word[80];
            snprintf(word, sizeof word, "%.*s", length < 70 ? (int)length : 70, rest);
            const char *nearest =
                names_nearest(word, (struct name_list){search_key_names, SEARCH_KEY_COUNT});
            fprintf(p->session->notes, "orrery plan: --hold: no key '%s'%s%s%s\n",
                    format_shown(word).s, nearest != NULL ? "; did you mean '" : "",
                    nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
            return EXIT_USAGE;
        }
        *held |= 1u << found;
        rest += length + (rest[length] == ',');
    }
    return EXIT_OK;
}

/* A key that is held must be said. */
static int check_held(const struct plan_command *p, unsigned held)
{
    static const enum choice_key said_by[SEARCH_KEY_COUNT] = {
        [SEARCH_TP] = CHOICE_TP,
        [SEARCH_PP] = CHOICE_PP,
        [SEARCH_CP] = CHOICE_CP,
        [SEARCH_EP] = CHOICE_EP,
        [SEARCH_MICROBATCH] = CHOICE_MICROBATCH,
        [SEARCH_SCHEDULE] = CHOICE_SCHEDULE,
        [SEARCH_VPP] = CHOICE_CHUNKS,
        [SEARCH_RECOMPUTE] = CHOICE_RECOMPUTE,
        [SEARCH_SHARDING] = CHOICE_SHARDING,
        [SEARCH_SEQUENCE_PARALLEL] = CHOICE_SEQUENCE_PARALLEL,
    };
    for (unsigned i = 0; i < SEARCH_KEY_COUNT; i++) {
        const bool open = (p->scenario->choices.open >> said_by[i] & 1u) != 0;
        if ((held >> i & 1u) != 0 && open) {
            fprintf(p->session->notes,
                    "orrery plan: --hold %s: layout.%s is not said; give it with --set\n",
                    search_key_names[i], search_key_names[i]);
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

/* The scenario of the line, its layout left open. */
static int read_open(const struct arguments *a, struct session *session, struct scenario **out)
{
    struct arena *arena = arena_create();
    struct arguments *open = ARENA_NEW(arena, struct arguments);
    const char *fault = stated_scenario_fault(a);
    int code;
    *open = *a;
    open->layout_open = true;
    if (fault != NULL)
        code = wrong(session, fault);
    else if (stated_scenario_given(a))
        code = stated_scenario(open, session, out);
    else
        code = a->text != NULL
                   ? load_text(open, session, a->positional[0], a->text, a->text_bytes, out)
                   : load_scenario(open, session, false, out);
    arena_destroy(arena);
    return code;
}

static int check_terms(struct plan_command *p, struct search_question *question)
{
    const struct configuration *c = &p->scenario->configuration;
    const uint64_t most = p->arguments->gpus_max;
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

static void write_launch(const struct plan_command *p, const struct launch_kind *kind,
                         struct launch_text *text)
{
    struct configuration *c = ARENA_NEW(p->arena, struct configuration);
    search_apply(p->search->base, &p->search->leaders[0].row->layout, c);
    launch_write(kind, c, p->arena, text);
}

static int print_launch(const struct plan_command *p)
{
    const struct launch_kind *kind = launch_kinds[p->arguments->launch];
    struct launch_text text = {0};
    if (p->search->leader_count == 0)
        return EXIT_NOTHING_FITS;
    write_launch(p, kind, &text);
    for (uint32_t i = 0; i < text.note_count; i++)
        fprintf(p->session->notes, "%s: %s: %s\n",
                text.notes[i].weight == LAUNCH_REFUSED ? "refused" : "note", kind->head.name,
                text.notes[i].text);
    for (uint32_t i = 0; i < text.line_count; i++)
        fprintf(p->session->out, "%s\n", text.lines[i]);
    return text.refused ? EXIT_REJECTED : EXIT_OK;
}

static bool ends_line(const char *text)
{
    return text[0] != '\0' && text[strlen(text) - 1] == '\n';
}

/* A database of its own: by the name of the scenario, and the layout. */
static const char *database_of(const struct plan_command *p, const struct search_layout *l)
{
    char *name = arena_text(p->arena, p->scenario->name);
    for (char *c = name; *c != '\0'; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._", *c) == NULL)
            *c = '-';
    return arena_format(
        p->arena,
        "%.80s-tp%" PRIu32 "-pp%" PRIu32 "-cp%" PRIu32 "%s-vpp%" PRIu32 "-mb%" PRIu32 ".db", name,
        l->tp, l->pp, l->cp, l->ep > 1 ? arena_format(p->arena, "-ep%" PRIu32, l->ep) : "", l->vpp,
        l->microbatch);
}

/* The command that plays the first leader. */
static const char *run_line(const struct plan_command *p)
{
    const struct arguments *a = p->arguments;
    const struct search *s = p->search;
    const bool text = a->positional_count == 0 || strcmp(a->positional[0], "-") == 0;
    if (s->leader_count == 0)
        return "";
    const struct search_layout *l = &s->leaders[0].row->layout;
    const char *line = arena_format(p->arena, "orrery run %s",
                                    text ? "-" : shell_word(p->arena, a->positional[0]));
    for (unsigned i = 0; i < a->set_count; i++)
        line = arena_format(p->arena, "%s --set %s", line, shell_word(p->arena, a->sets[i]));
    line = arena_format(p->arena, "%s %s --db %s", line,
                        report_plan_sets(p->arena, &p->scenario->configuration, l),
                        shell_word(p->arena, database_of(p, l)));
    return text ? arena_format(p->arena, "%s <<'END'\n%s%sEND", line, p->scenario->text,
                               ends_line(p->scenario->text) ? "" : "\n")
                : line;
}

/* The layout that the scenario has, where it says enough of it. */
static bool play_own(const struct plan_command *p, struct search_row *row,
                     struct search_leader *out)
{
    const struct search *s = p->search;
    *row = (struct search_row){.layout = search_layout_of(&p->scenario->configuration)};
    if (!configuration_legal(&p->scenario->configuration) ||
        !search_lead_play(s->base, row, s->base->gpu.usable_hbm_bytes, NULL, out))
        return false;
    search_order_beside(p->search, out);
    return true;
}

static bool states_layout(const struct scenario *scenario)
{
    const unsigned axes = 1u << CHOICE_TP | 1u << CHOICE_PP;
    const unsigned rest = 1u << CHOICE_MICROBATCH | 1u << CHOICE_RECOMPUTE;
    return (scenario->choices.open & axes) != axes && (scenario->choices.open & rest) == 0;
}

static int tell(struct plan_command *p, const struct search_wish *wish, double seconds)
{
    const struct arguments *a = p->arguments;
    struct search_verdict *why = NULL;
    struct search_row row;
    struct search_leader own = {.row = &row};
    const bool stated = states_layout(p->scenario), fits = stated && play_own(p, &row, &own);
    struct measured_shift shift;
    const int measured =
        plan_measured_apply(a, p->session, p->scenario, stated ? &own : NULL, p->search, &shift);
    if (measured != EXIT_OK)
        return measured;
    if (a->why != NULL) {
        struct error error = {""};
        p->why = why = ARENA_NEW(p->arena, struct search_verdict);
        if (!search_why(p->search, wish, why, &error)) {
            fprintf(p->session->notes, "orrery plan: %s\n", error.text);
            return EXIT_REJECTED;
        }
    }
    struct search_batch batch = {.known = false};
    if (!a->has_launch || a->json)
        search_batch_near(p->arena, p->search, &batch);
    if (a->pareto) {
        p->front = ARENA_NEW(p->arena, struct search_front);
        search_front_find(p->arena, p->search, p->front);
    }
    if (a->json) {
        const struct launch_kind *kind =
            a->has_launch ? launch_kinds[a->launch] : usual_launch(p->search->base);
        struct launch_text text = {0};
        if (p->search->leader_count == 0)
            kind = NULL;
        if (kind != NULL)
            write_launch(p, kind, &text);
        json_plan(&(struct plan_document){.scenario = p->scenario,
                                          .search = p->search,
                                          .why = why,
                                          .front = p->front,
                                          .batch = &batch,
                                          .shift = &shift,
                                          .launch = kind,
                                          .launch_text = &text,
                                          .seconds = seconds},
                  p->session->out);
    } else if (a->has_launch) {
        return print_launch(p);
    } else {
        report_plan(p->session, &(struct plan_told){.scenario = p->scenario,
                                                    .search = p->search,
                                                    .own = stated ? &own : NULL,
                                                    .own_fits = fits,
                                                    .why = why,
                                                    .why_text = a->why,
                                                    .front = p->front,
                                                    .batch = &batch,
                                                    .shift = &shift,
                                                    .line = run_line(p),
                                                    .seconds = seconds});
        fprintf(p->session->notes, "%s layouts in %s\n", format_count(p->search->considered).s,
                format_time(seconds).s);
    }
    return p->search->leader_count > 0 ? EXIT_OK : EXIT_NOTHING_FITS;
}

/* Of a shard only how to go on: what leads is a question about all layouts. */
static int tell_shard(const struct plan_command *p)
{
    const struct shard s = p->work->shard;
    if (!p->work->rank)
        fprintf(p->session->out,
                "shard %u/%u is searched\n"
                "when all are done: orrery merge ... --db FILE, with the %u databases\n",
                s.index, s.count, s.count);
    return EXIT_OK;
}

static int vary_machines(struct plan_command *p, struct search_question question)
{
    const struct arguments *a = p->arguments;
    if (a->why != NULL || a->has_launch || question.held != 0 || a->measured_count > 0)
        return wrong(p->session, "--why, --launch, --measured and --hold ask about one machine: "
                                 "leave out --vary, and give "
                                 "--gpus");
    question.told = NULL;
    question.leaders = MACHINE_LEADERS;
    session_soften(p->session);
    int code = plan_diary_open(p->given, p->session, p->work, &p->diary);
    code = code == EXIT_OK ? plan_machines(a, p->session, read_open, &question, p->diary) : code;
    return code == EXIT_OK && plan_diary_partial(p->diary) ? tell_shard(p) : code;
}

static int plan(struct plan_command *p)
{
    const struct arguments *a = p->arguments;
    struct error error = {""};
    struct search_wish wish = {.held = 0};
    unsigned held = 0;
    if (a->why != NULL && !search_wish_read(a->why, &wish, &error)) {
        fprintf(p->session->notes, "orrery plan: --why: %s\n", error.text);
        return EXIT_USAGE;
    }
    int code = run_measured_agree(a, p->session) ? read_held(p, &held) : EXIT_USAGE;
    code = code == EXIT_OK ? plan_weeks_state(p->arena, p->line, p->session) : code;
    struct search_question question = {
        .held = held,
        .headroom_ratio = a->has_headroom ? a->headroom_ratio : HEADROOM_DEFAULT,
        .terms = {.best = (enum search_best)a->best,
                  .deadline_s = a->deadline_s,
                  .budget_usd = a->budget_usd},
        .leaders = (uint32_t)(a->top == 0            ? LEADERS_DEFAULT
                              : a->top > LEADERS_MAX ? LEADERS_MAX
                                                     : a->top),
        .threads = arguments_threads(a, pool_threads_available()),
        .stop = stop,
        .told = tell_progress,
        .context = p,
    };
    if (code == EXIT_OK && (a->vary_count > 0 || plan_machines_sized(a)))
        return vary_machines(p, question);
    code = code == EXIT_OK ? read_open(a, p->session, &p->scenario) : code;
    code = code == EXIT_OK ? check_held(p, held) : code;
    code = code == EXIT_OK ? check_terms(p, &question) : code;
    if (code != EXIT_OK)
        return code;
    question.base = &p->scenario->configuration;
    code = plan_diary_open(p->given, p->session, p->work, &p->diary);
    if (code != EXIT_OK)
        return code;
    plan_diary_machine(p->diary, 0, 1, "", &question);
    session_soften(p->session);
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

int plan_run(const struct arguments *a, struct session *session, const struct plan_work *work)
{
    struct plan_command *p;
    struct arena *arena = arena_create();
    p = ARENA_NEW(arena, struct plan_command);
    struct arguments *line = ARENA_NEW(arena, struct arguments);
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

static int run(const struct arguments *given, struct session *session)
{
    return plan_share(given, session, read_open);
}

const struct command command_plan = {
    .head = {.name = "plan",
             .doc = "searches layouts: which fit, how fast, what they cost, and why not another"},
    .positional = "[SCENARIO]",
    .options = options,
    .details = "What the scenario says of the layout is searched anew; --hold keeps a key. The "
               "leaders\nare played op by op; the others were rejected by a rule, by memory, by a "
               "bound, or\nby a step at pass detail (docs/planning.md). Ctrl-C keeps what was "
               "found; with --db\nthe same line and --resume goes on. `mpirun -n 4 orrery plan "
               "...` searches in "
               "four ranks, and prints\nwhat one process prints.\nexit code: 0 found, 3 scenario "
               "rejected, 4 nothing fits, 5 --max-db was reached, 130 interrupted",
    .example = "orrery plan --model llama3-70b --gpu h100-80gb-sxm --gpus 512 --global-batch 2048",
    .run = run,
};
