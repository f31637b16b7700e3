#include "analysis/command/plan/plan_join.h"
#include "analysis/command/shared/study_tell.h"
#include "analysis/command/study/study_join.h"
#include "analysis/exchange/launch/launch.h"

struct merge_arguments {
    struct arguments line;
    struct study_output study;
    struct plan_output plan; /* of a plan, whose database and JSON are those of `study` */
};
#define ARGUMENTS struct merge_arguments
static const struct option options[] = {
    {"--db", OPTION_DATABASE, FIELD(study.database), "FILE", NULL,
     "the database to write (required for a study)"},
    OPTION_MAX_DB_ROW(study.database),
    {"--svg", OPTION_PICTURE, FIELD(study.svg), "FILE", NULL, "draw the curve"},
    {"--csv", OPTION_FLAG, FIELD(study.csv), NULL, NULL, "print a line for each point as CSV"},
    OPTION_JSON_ROW(study.json),
    {"--why", OPTION_TEXT, FIELD(plan.why), "KEYS", NULL,
     "for a plan: explain why a layout does not lead"},
    {"--launch", OPTION_CHOICE, FIELD_GIVEN(plan.launch, plan.has_launch), "FRAMEWORK",
     launch_names, "for a plan: print the script that starts the first layout"},
    {"--pareto", OPTION_FLAG, FIELD(plan.pareto), NULL, NULL,
     "for a plan: list every layout that no other one beats in time, cost and free memory"},
    OPTION_END};
static const struct option_conflict conflicts[] = {
    {"--csv", "--json", "--csv or --json, not both: they go to the same place"},
    {NULL, NULL, NULL}};

static int merge_plan(const struct merge_arguments *a, struct session *session)
{
    struct plan_output to = a->plan;
    if (a->study.csv || a->study.svg != NULL)
        return study_trouble(&a->line, session,
                             "--csv and --svg are of studies, and these are plans", EXIT_USAGE);
    to.database = a->study.database;
    to.json = a->study.json;
    return plan_join(&a->line, &to, session);
}

static int run(const void *line, struct session *session)
{
    const struct merge_arguments *a = line;
    const struct study_output *to = &a->study;
    if (plan_join_holds(a->line.positional[0]))
        return merge_plan(a, session);
    if (a->plan.why != NULL || a->plan.has_launch || a->plan.pareto)
        return study_trouble(line, session,
                             "--why, --launch and --pareto ask about a plan, and these are none",
                             EXIT_USAGE);
    if (to->database.path == NULL)
        return study_trouble(line, session, "name the database to write: --db FILE", EXIT_USAGE);
    if (to->csv && to->json)
        return study_trouble(line, session, "--csv or --json, not both: they go to the same place",
                             EXIT_USAGE);
    struct progress clock;
    progress_begin(&clock, session->notes);
    return study_join(line, to, session, a->line.positional, a->line.positional_count, &clock);
}

const struct command command_merge = {
    .head =
        {.name = "merge",
         .doc =
             "joins the shards of a study or a plan into what a single process would have written"},
    .positional = "DB...",
    .options = options,
    .bytes = sizeof(struct merge_arguments),
    .conflicts = conflicts,
    .details =
        "Shards are what `orrery study --shard i/n` or `orrery plan --shard i/n` wrote, in "
        "any order.\n"
        "Rows and report are those of a single process. Missing, duplicate, incomplete or "
        "foreign shards\n"
        "are refused.\n"
        "\n"
        "exit code: 0 done, 1 shards are missing or do not belong together, 4 nothing fits in\n"
        "memory, 5 --max-db was reached",
    .example = "orrery merge weeks.study.*of8.db --db weeks.study.db",
    .run = run,
};
