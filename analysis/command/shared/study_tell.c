#include "analysis/command/shared/study_tell.h"

#include "analysis/output/terminal/output.h"
#include "analysis/output/text/format.h"
#include "analysis/study/study_report.h"
#include "analysis/tell/json/json.h"
#include "sim/plural.h"

enum {
    REPLACED_BYTES = 256
};

int study_trouble(const struct arguments *line, const struct session *session, const char *text,
                  int code)
{
    fprintf(session->notes, "orrery %s: %s\n", line->rules.command, text);
    return code;
}

int study_outcome_code(enum store_outcome outcome)
{
    return outcome == STORE_GOOD ? EXIT_OK : outcome == STORE_LIMITED ? EXIT_LIMIT : EXIT_TROUBLE;
}

static int draw(const struct arguments *line, const char *svg, struct session *session,
                const struct study *study, const struct study_optimum *optimum)
{
    struct output output;
    struct error error = {""};
    if (!output_begin(&output, session, svg, OUTPUT_PICTURE, &error))
        return study_trouble(line, session, error.text, EXIT_TROUBLE);
    study_svg(study, optimum, output.out);
    if (!output_end(&output, session, true, &error))
        return study_trouble(line, session, error.text, EXIT_TROUBLE);
    return EXIT_OK;
}

/* What stdout does not tell: refused points beside CSV and JSON, seeds that change nothing. */
static void print_notes(const struct study_output *to, const struct session *session,
                        const struct study *study)
{
    if (to->csv || to->json) {
        study_report_announced(study, session->notes);
        study_report_refused(study, session->notes);
    }
    if (to->seeded && !study->weeks && study_single(study))
        fputs("a step without jitter is the same for every seed: each point was played once\n",
              session->notes);
}

static void print_time(const struct session *session, const struct study *study, double seconds)
{
    size_t replications = 0, played = study->point_count - study_refused(study);
    for (size_t p = 0; p < study->point_count; p++)
        replications += study->points[p].replications;
    fprintf(session->notes, "%zu point%s, %zu replication%s in %s\n", played, plural_s(played),
            replications, plural_s(replications), format_time(seconds).s);
}

int study_tell(const struct arguments *line, const struct study_output *to, struct session *session,
               const struct study *study, double seconds)
{
    struct study_list list = {0};
    study_optimum(study, &list.optimum);
    list.count = study_order(study, study->options->top, &list.points);
    if (to->csv)
        study_csv(study, &list, session->out);
    else if (to->json)
        json_study(study, &list, seconds, session->out);
    else
        study_report(session, study, &list);
    fflush(session->out);
    if (!to->csv && !to->json)
        print_time(session, study, seconds);
    print_notes(to, session, study);
    int code = to->svg != NULL ? draw(line, to->svg, session, study, &list.optimum) : EXIT_OK;
    if (code == EXIT_OK && study_refused(study) == study->point_count)
        return EXIT_TROUBLE;
    return code == EXIT_OK && !study_fits(study) ? EXIT_NOTHING_FITS : code;
}

int study_keep(const struct arguments *line, const char *db, struct session *session,
               struct store *store)
{
    struct error error = {""};
    if (store == NULL)
        return EXIT_OK;
    char replaced[REPLACED_BYTES];
    snprintf(replaced, sizeof replaced, "%s", store_replaced(store));
    enum store_outcome outcome = store_finish(store, &error);
    session_keep(session, NULL);
    if (outcome != STORE_GOOD)
        return study_trouble(line, session, error.text, study_outcome_code(outcome));
    if (replaced[0] != '\0')
        fprintf(session->notes, "replaced %s, which held %s\n", db, format_shown(replaced).s);
    fprintf(session->notes, "%s: try: sqlite3 -box %s \"select * from study_curve\"\n", db, db);
    return EXIT_OK;
}
