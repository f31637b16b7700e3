#include "analysis/tell/report/report_database.h"

#include <math.h>

#include "analysis/record/database/record_file.h"
#include "analysis/study/study_report.h"
#include "analysis/study/study_store.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/json/json.h"
#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_tasks.h"

static bool report_study(const struct session *session, struct query *query, struct arena *arena,
                         struct report_how how, bool *fits, struct error *error)
{
    struct study study;
    struct study_list list = {0};
    if (!study_store_recall(query, arena, &study, error))
        return false;
    study_optimum(&study, &list.optimum);
    list.count = study_order(&study, study.options->top, &list.points);
    if (how.json)
        json_study(&study, &list, (double)NAN, session->out); /* how long it took is not kept */
    else
        study_report(session, &study, &list);
    *fits = study_fits(&study) || study_refused(&study) == study.point_count;
    return true;
}

static bool report_record(const struct session *session, struct query *query, struct arena *arena,
                          struct report_how how, bool *fits, struct error *error)
{
    struct record record;
    if (!record_read(query, arena, &record, error))
        return false;
    document_print(report_run(&record, &(struct run_told){.all = how.all}), report_run_lines,
                   how.json, session);
    *fits = record_run(&record)->fits;
    return true;
}

static bool report_traces(const struct session *session, struct query *query, struct arena *arena,
                          struct report_how how, struct error *error)
{
    struct record record;
    struct report_tasks_told told = {0};
    if (!record_read_tasks(query, arena, &record, error) ||
        (how.json && !report_tasks_recall(query, arena, &record, &told, error)))
        return false;
    document_print(report_tasks(&record, &told, REPORT_TASKS_SHOWN), report_tasks_lines, how.json,
                   session);
    return true;
}

static bool count_rows(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

bool report_database(const struct session *session, struct query *query, struct report_how how,
                     bool *fits, struct error *error)
{
    int64_t studies = 0, traces = 0;
    if (!query_run(query, "select count(*) from study", NULL, count_rows, &studies, error) ||
        !query_run(query, "select count(*) from task_step where not exists (select 1 from run)",
                   NULL, count_rows, &traces, error))
        return false;
    struct arena *arena = arena_create();
    if (traces > 0)
        *fits = true;
    bool good = studies > 0  ? report_study(session, query, arena, how, fits, error)
                : traces > 0 ? report_traces(session, query, arena, how, error)
                             : report_record(session, query, arena, how, fits, error);
    arena_destroy(arena);
    return good;
}
