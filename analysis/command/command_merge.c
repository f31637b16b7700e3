#include "analysis/command/plan_join.h"
#include "analysis/command/study_join.h"
#include "analysis/command/study_tell.h"
#include "analysis/export/launch.h"

static const struct option options[] = {
    {"--db", OPTION_DATABASE, FIELD(db), "FILE", NULL,
     "the database to write; of a study it must be given"},
    {"--max-db", OPTION_SIZE, FIELD(max_db_bytes), "SIZE", NULL,
     "stop with exit code 5 when the database would grow past this"},
    {"--svg", OPTION_FILE, FIELD(svg), "FILE", NULL, "draw the curve"},
    {"--csv", OPTION_FLAG, FIELD(csv), NULL, NULL, "print a line for each point as CSV"},
    OPTION_JSON_ROW,
    {"--why", OPTION_TEXT, FIELD(why), "KEYS", NULL, "of a plan: why a layout does not lead"},
    {"--launch", OPTION_CHOICE, FIELD_GIVEN(launch, has_launch), "FRAMEWORK", launch_names,
     "of a plan: print the script that starts the first one"},
    {"--pareto", OPTION_FLAG, FIELD(pareto), NULL, NULL,
     "of a plan: every layout that no other beats in time, cost and free memory"},
    OPTION_END};

static int merge_plan(const struct arguments *a, struct session *session)
{
    if (a->csv || a->svg != NULL)
        return study_trouble(a, session, "--csv and --svg are of studies, and these are plans",
                             EXIT_USAGE);
    return plan_join(a, session);
}

static int run(const struct arguments *a, struct session *session)
{
    if (plan_join_holds(a->positional[0]))
        return merge_plan(a, session);
    if (a->why != NULL || a->has_launch || a->pareto)
        return study_trouble(a, session,
                             "--why, --launch and --pareto ask about a plan, and these are none",
                             EXIT_USAGE);
    if (a->db == NULL)
        return study_trouble(a, session, "name the database to write: --db FILE", EXIT_USAGE);
    if (a->csv && a->json)
        return study_trouble(a, session, "--csv or --json, not both: they go to the same place",
                             EXIT_USAGE);
    struct progress clock;
    progress_begin(&clock, session->notes);
    return study_join(a, session, a->positional, a->positional_count, &clock);
}

const struct command command_merge = {
    .head = {.name = "merge",
             .doc = "joins the shards of a study or a plan into what a single process writes"},
    .positional = "DB...",
    .options = options,
    .details =
        "Shards are what `orrery study --shard i/n` or `orrery plan --shard i/n` wrote, in any "
        "order.\nThe rows are those that one process would have written, and so is what it "
        "prints. Missing,\nduplicate, incomplete or foreign shards are refused.\n\n"
        "exit code: 0 done, 1 the shards do not make a whole, 4 nothing fits in memory, 5 "
        "--max-db\nwas reached",
    .example = "orrery merge weeks.study.*of8.db --db weeks.study.db",
    .run = run,
};
