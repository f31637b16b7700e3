#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/command/line/message_arguments.h"
#include "analysis/command/line/outputs.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/store_tasks.h"
#include "analysis/tell/report/report_tasks.h"
#include "models/step/tasks/task_play.h"
#include "scenarios/import/chakra/chakra_files.h"

struct chakra_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    struct database_arguments database;
    struct message_arguments messages;
    uint64_t top;
    bool json;
};
#define ARGUMENTS struct chakra_arguments
static const struct option options[] = {{"--db", OPTION_DATABASE, FIELD(database), "FILE", NULL,
                                         "write a results database: ranks, groups, every node with "
                                         "its times; 'orrery report FILE' prints it"},
                                        {"--top", OPTION_SOME, FIELD_USUAL(top, "8"), "N", NULL,
                                         "number of ranks and of groups to list"},
                                        OPTION_CHAKRA_ROWS(messages),
                                        OPTION_SCENARIO_ROWS(scenario),
                                        OPTION_JSON_ROW(json),
                                        OPTION_END};

/* The files of the ranks are read like any other: no output may take their names. */
static int spare_traces(const struct chakra_arguments *a, struct arena *arena,
                        const struct chakra_job *job, const struct session *session)
{
    struct scenario_input *inputs = ARENA_ARRAY(arena, struct scenario_input, job->rank_count);
    for (uint32_t rank = 0; rank < job->rank_count; rank++) {
        const char *path = arena_format(arena, "%s.%u.et", a->line.positional[1], rank);
        const bool last = rank + 1 == job->rank_count;
        inputs[rank] =
            (struct scenario_input){.path = path, .next = last ? NULL : &inputs[rank + 1]};
    }
    return outputs_spare(&a->line, inputs, session);
}

static bool write_database(const struct chakra_arguments *a, struct session *session,
                           const struct task_outcome *outcome, const struct record *record,
                           struct error *error)
{
    struct store *store;
    session_hold(session);
    enum store_outcome stored = store_open(a->database.path, 0.0, &store, error);
    session_keep(session, stored == STORE_GOOD ? store_partial_path(store) : NULL);
    if (stored != STORE_GOOD)
        return false;
    store_tasks(store, outcome, record);
    const uint64_t rows = store_row_count(store);
    stored = store_finish(store, error);
    session_keep(session, NULL);
    if (stored == STORE_GOOD)
        fprintf(session->notes, "%s: %s rows; try: sqlite3 -box %s \"select * from task_rank\"\n",
                a->database.path, format_count(rows).s, a->database.path);
    return stored == STORE_GOOD;
}

static int tell(const struct chakra_arguments *a, struct session *session, struct arena *arena,
                const struct task_outcome *outcome)
{
    struct error error = {""};
    struct record record;
    task_outcome_record(arena, outcome, &record);
    const struct report_tasks_told told = {.scenario = outcome->scenario,
                                           .groups = outcome->graph->groups,
                                           .members = outcome->graph->members};
    document_print(report_tasks(&record, &told, a->top), report_tasks_lines, a->json, session);
    const bool good =
        a->database.path == NULL || write_database(a, session, outcome, &record, &error);
    if (!good)
        fprintf(session->notes, "orrery chakra: %s\n", error.text);
    return good ? EXIT_OK : EXIT_TROUBLE;
}

static int play(const struct chakra_arguments *a, struct session *session, struct arena *arena,
                const struct scenario *scenario)
{
    const struct configuration *c = &scenario->configuration;
    const struct chakra_rates rates = {&c->gpu, c->training.precision->gemm_peak};
    struct chakra_job job;
    struct task_graph graph;
    struct chakra_counts counts;
    struct task_played played;
    struct error error = {""};
    const char *prefix = a->line.positional[1];
    bool good = chakra_files_read(arena, prefix, a->messages.drop_missing, &job, &error);
    int code = load_refused_code(arena_format(arena, "%s.0.et", prefix));
    if (good) {
        code = spare_traces(a, arena, &job, session);
        if (code != EXIT_OK)
            return code;
        code = EXIT_REJECTED;
        good = chakra_tasks(arena, &job, &rates, &graph, &counts, &error);
        task_set_eager(&graph, a->messages.has_eager ? a->messages.eager_bytes : TASK_EAGER_BYTES);
        good = good && task_play(arena, &graph, c, &played, &error);
    }
    if (good)
        return tell(
            a, session, arena,
            &(struct task_outcome){scenario, a->line.positional[1], &graph, &played, &counts});
    fprintf(session->notes, "orrery chakra: %s\n", error.text);
    return code;
}

static int run(const void *line, struct session *session)
{
    const struct chakra_arguments *a = line;
    struct scenario *scenario;
    if (a->line.positional_count != 2) {
        fputs("orrery chakra: takes a scenario and what stands before the rank in the names of the "
              "traces; see 'orrery chakra --help'\n",
              session->notes);
        return EXIT_USAGE;
    }
    int code =
        load_scenario(&a->line, a->line.positional[0], &a->scenario, session, false, &scenario);
    if (code != EXIT_OK)
        return code;
    struct arena *arena = arena_create();
    code = play(a, session, arena, scenario);
    arena_destroy(arena);
    scenario_destroy(scenario);
    return code;
}

const struct command command_chakra = {
    .head = {.name = "chakra",
             .doc =
                 "simulates Chakra execution traces, one per rank, on the cluster of a scenario"},
    .positional = "SCENARIO PREFIX",
    .options = options,
    .bytes = sizeof(struct chakra_arguments),
    .details =
        "The traces are PREFIX.0.et, PREFIX.1.et and so on. The scenario's cluster,\n"
        "placement, software, precision and perturbations are used; its model and layout are not, "
        "since\n"
        "the traces say what each rank does. 'orrery import chakra PREFIX' only checks the traces.",
    .example = "orrery chakra scenarios/hello-8-gpus.yaml traces/llama --db llama.db",
    .run = run,
};
