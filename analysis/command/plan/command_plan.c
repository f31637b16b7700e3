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
     "order of the list: the shortest step, the most tokens per second, the cheapest token, the "
     "earliest end, or the most tokens per day that failures leave (step; with failures goodput)"},
    {"--deadline", OPTION_TIME, FIELD(terms.deadline_s), "TIME", NULL,
     "longest time that the whole training run may take, as in 60d"},
    {"--budget", OPTION_MONEY, FIELD(terms.budget_usd), "MONEY", NULL,
     "most that the whole training run may cost, as in 5MUSD"},
    {"--most-gpus", OPTION_SOME, FIELD(terms.gpus_max), "N", NULL,
     "most GPUs that a machine may have; with --model and without --gpus, every size up to it is "
     "searched"},
    {"--hold", OPTION_TEXT, FIELD(hold), "KEYS", NULL,
     "keys of the layout that keep their values in the scenario, as in tp,recompute"},
    {"--headroom", OPTION_SHARE, FIELD_USUAL(headroom_ratio, HEADROOM_USUAL), "SHARE", NULL,
     "share of the memory that a layout must leave free, since predicted peaks are off by as much"},
    {"--top", OPTION_SOME, FIELD_USUAL(top, "10"), "N", NULL, "number of layouts to list"},
    {"--mtbf", OPTION_TEXT, FIELD(mtbf), "TIME", NULL,
     "mean time between failures of one GPU, as in 5.8y, or the name of a fleet; weeks of the "
     "leading layouts are simulated (always for a scenario with run:)"},
    {"--seeds", OPTION_SOME, FIELD_USUAL(seeds, "16"), "N", NULL,
     "replications of the weeks, each with other failures"},
    {"--pareto", OPTION_FLAG, FIELD(output.pareto), NULL, NULL,
     "list every layout that no other one beats in time, cost and free memory (to 2% of the card)"},
    {"--measured", OPTION_STEP, FIELD(measured), "STEP", NULL,
     "a measured step time, as for run: corrects the predictions and narrows their intervals"},
    {"--vary", OPTION_VARY, FIELD(varies), "K=VALUES", NULL,
     "find the best layout for each of several machines, as in cluster.gpus=256,512,1024; may be "
     "repeated"},
    {"--why", OPTION_TEXT, FIELD(output.why), "KEYS", NULL,
     "explain why a layout does not lead, as in tp=4,pp=4: a rule, a tensor, or its time"},
    {"--launch", OPTION_CHOICE, FIELD_GIVEN(output.launch, output.has_launch), "FRAMEWORK",
     launch_names, "print the script that starts the first layout, instead of the table"},
    OPTION_JSON_ROW(output.json),
    {"--db", OPTION_DATABASE, FIELD(output.database), "FILE", NULL,
     "write the outcome of each layout to a database"},
    OPTION_MAX_DB_ROW(output.database),
    {"--resume", OPTION_FLAG, FIELD(output.database.resume), NULL, NULL,
     "continue an interrupted search with its database"},
    {"--shard", OPTION_TEXT, FIELD(share.shard), "I/N", NULL,
     "search part I of N (from 1) into a database of its own, for `orrery merge`; auto and auto/N: "
     "as for a study"},
    {"--emit", OPTION_CHOICE, FIELD_GIVEN(share.emit, share.has_emit), "ENGINE", emit_engine_names,
     "do not search: print a job file that searches in shards and merges them"},
    OPTION_SHARDS_ROW(share),
    OPTION_SCENARIO_ROWS(scenario),
    OPTION_THREADS_ROW(
        share.threads,
        "threads that share the search (all processors); results do not depend on their number"),
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
             .doc = "searches layouts: which fit, how fast they are, what they cost, and why "
                    "others do not lead"},
    .positional = "[SCENARIO]",
    .options = options,
    .bytes = sizeof(struct plan_arguments),
    .conflicts = conflicts,
    .details = "The search chooses every key of the layout anew; --hold keeps the scenario's "
               "value. The leading\n"
               "layouts are simulated op by op; the others were rejected by a rule, by memory, by "
               "a bound, or by\n"
               "a step at pass detail (docs/planning.md). Ctrl-C keeps what was found; with --db "
               "the same command\n"
               "and --resume continue. `mpirun -n 4 orrery plan ...` searches in four ranks and "
               "prints what one\n"
               "process prints.\n"
               "\n"
               "exit code: 0 found, 3 scenario rejected, 4 nothing fits, 5 --max-db was reached, "
               "130 interrupted",
    .example = "orrery plan --model llama3-70b --gpu h100-80gb-sxm --gpus 512 --global-batch 2048",
    .run = run,
};
