#include "analysis/command/line/command.h"
#include "analysis/command/line/stated_scenario.h"
#include "analysis/command/plan/plan_share.h"
#include "analysis/command/shared/emit.h"
#include "analysis/exchange/launch/launch.h"
#include "analysis/plan/search/search_terms.h"

/* The median error of peaks that were measured (docs/validation.md): so much is left free. */
#define HEADROOM_USUAL "5%"

#define ARGUMENTS struct plan_arguments
static const struct option options[] = {
    OPTION_STATED_ROWS(stated),
    {"--best", OPTION_CHOICE, FIELD_GIVEN(terms.best, terms.has_best), "WHAT", search_best_names,
     "what the first one is the best by: the shortest step, the most tokens a second, the "
     "cheapest token, the soonest end, or the most tokens a day that are left by failures (step; "
     "with failures goodput)"},
    {"--deadline", OPTION_TIME, FIELD(terms.deadline_s), "TIME", NULL,
     "the whole training may take so long, as in 60d"},
    {"--budget", OPTION_MONEY, FIELD(terms.budget_usd), "MONEY", NULL,
     "and may cost so much, as in 5MUSD"},
    {"--most-gpus", OPTION_SOME, FIELD(terms.gpus_max), "N", NULL,
     "machines may have so many; with --model and no --gpus, each size up to it is searched"},
    {"--hold", OPTION_TEXT, FIELD(hold), "KEYS", NULL,
     "keys of the layout that stay as the scenario has them, as in tp,recompute"},
    {"--headroom", OPTION_SHARE, FIELD_USUAL(headroom_ratio, HEADROOM_USUAL), "SHARE", NULL,
     "memory that a layout must leave free, as predicted peaks are off by as much"},
    {"--top", OPTION_SOME, FIELD_USUAL(top, "10"), "N", NULL, "how many layouts lead"},
    {"--mtbf", OPTION_TEXT, FIELD(mtbf), "TIME", NULL,
     "failures: mean time between those of one GPU, as in 5.8y, or the name of a fleet; the "
     "leaders' weeks are played (those of a scenario with run: in any case)"},
    {"--seeds", OPTION_SOME, FIELD_USUAL(seeds, "16"), "N", NULL,
     "how often weeks are played, with other failures each time"},
    {"--pareto", OPTION_FLAG, FIELD(output.pareto), NULL, NULL,
     "find every layout that no other beats in time, cost and free memory, to 2% of the card"},
    {"--measured", OPTION_STEP, FIELD(measured), "STEP", NULL,
     "a step that you measured, as of run: shifts the forecasts and makes them surer"},
    {"--vary", OPTION_VARY, FIELD(varies), "K=VALUES", NULL,
     "the best layout of each of several machines, as in cluster.gpus=256,512,1024; may be "
     "repeated"},
    {"--why", OPTION_TEXT, FIELD(output.why), "KEYS", NULL,
     "why a layout does not lead, as in tp=4,pp=4: the rule, the tensor, or the time"},
    {"--launch", OPTION_CHOICE, FIELD_GIVEN(output.launch, output.has_launch), "FRAMEWORK",
     launch_names, "print the script that starts the first one in place of the table"},
    OPTION_JSON_ROW(output.json),
    {"--db", OPTION_DATABASE, FIELD(output.database), "FILE", NULL,
     "write down in a database what is found out about each layout"},
    OPTION_MAX_DB_ROW(output.database),
    {"--resume", OPTION_FLAG, FIELD(output.database.resume), NULL, NULL,
     "go on with the database of a search that was stopped"},
    {"--shard", OPTION_TEXT, FIELD(share.shard), "I/N", NULL,
     "search the part I of N, I from 1, into a database of its own, for `orrery merge`; auto and "
     "auto/N: as of a study"},
    {"--emit", OPTION_CHOICE, FIELD_GIVEN(share.emit, share.has_emit), "ENGINE", emit_engine_names,
     "search nothing; print a job file that searches in shards and merges them"},
    OPTION_SHARDS_ROW(share),
    OPTION_SCENARIO_ROWS(scenario),
    OPTION_THREADS_ROW(share.threads,
                       "threads that share the search (all processors); they change nothing in "
                       "the results"),
    OPTION_END};
static const struct option_conflict conflicts[] = {
    {"--gpus", "--most-gpus",
     "--gpus says how many there are, --most-gpus has sizes up to so many tried: give one of them"},
    {NULL, NULL, NULL}};

static int run(const void *given, struct session *session)
{
    return plan_share(given, session);
}

const struct command command_plan = {
    .head = {.name = "plan",
             .doc = "searches layouts: which fit, how fast, what they cost, and why not another"},
    .positional = "[SCENARIO]",
    .options = options,
    .bytes = sizeof(struct plan_arguments),
    .conflicts = conflicts,
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
