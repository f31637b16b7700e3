#include "analysis/command/study_join.h"
#include "analysis/command/study_tell.h"

static const struct option options[] = {
    {"--db", OPTION_DATABASE, FIELD(db), "FILE", NULL, "the database to write; must be given"},
    {"--max-db", OPTION_SIZE, FIELD(max_db_bytes), "SIZE", NULL,
     "stop with exit code 5 when the database would grow past this"},
    {"--svg", OPTION_FILE, FIELD(svg), "FILE", NULL, "draw the curve"},
    {"--csv", OPTION_FLAG, FIELD(csv), NULL, NULL, "print a line for each point as CSV"},
    OPTION_JSON_ROW,
    OPTION_END};

static int run(const struct arguments *a, struct session *session)
{
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
             .doc = "joins the shards of a study into the database of a single process"},
    .positional = "DB...",
    .options = options,
    .details = "Shards are what `orrery study --shard i/n` wrote, in any order. The rows are those "
               "that one\nprocess would have written, and so is what it prints. Missing, "
               "duplicate, incomplete or\nforeign shards are refused.\n\n"
               "exit code: 0 done, 1 the shards do not make a whole study, 4 no point fits in "
               "memory, 5\n--max-db was reached",
    .example = "orrery merge weeks.study.*of8.db --db weeks.study.db",
    .run = run,
};
