#include <stdint.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/output/terminal/output.h"
#include "analysis/tell/json/json.h"
#include "analysis/validate/rows/validate.h"
#include "analysis/validate/rows/validate_report.h"
#include "analysis/validate/rows/validate_uncertainty.h"
#include "analysis/validate/table/validate_svg.h"
#include "sim/pool.h"

enum {
    DRAWS_USUAL = 16,
    DRAWS_MAX = 1000
};

struct validate_arguments {
    struct arguments line;
    const char *source, *where, *explain, *profile, *svg, *catalogue; /* NULL: not said */
    uint64_t worst, draws, threads;
    enum validate_detail detail;
    bool has_worst, uncertain, csv, json;
};
#define ARGUMENTS struct validate_arguments
static const struct option options[] = {
    {"--source", OPTION_TEXT, FIELD(source), "NAME", NULL, "only rows of this source"},
    {"--where", OPTION_TEXT, FIELD(where), "K=A,B", NULL,
     "only rows whose column K holds A or B, as in schedule=1f1b,interleaved"},
    {"--worst", OPTION_COUNT, FIELD_GIVEN(worst, has_worst), "N", NULL,
     "print only the N rows with the largest errors; 0: only the statistics"},
    {"--explain", OPTION_TEXT, FIELD(explain), "ROW", NULL,
     "print the scenario made from this row, each key with the origin of its value; for kinds of "
     "file whose rows are not steps, print the columns"},
    {"--profile", OPTION_INPUT, FIELD(profile), "FILE", NULL,
     "use the kernel times of FILE for rows of its card, as cluster.profile does"},
    OPTION_UNCERTAINTY_ROW(draws, uncertain,
                           "for steps: check whether 80 % intervals cover 80 % of the clean rows; "
                           "draws the figures of each row N times (16)"),
    {"--detail", OPTION_CHOICE, FIELD(detail), "LEVEL", validate_detail_names,
     "for steps: predict their time with the engine (op, the default) or as a search ranks layouts "
     "(pass)"},
    {"--svg", OPTION_PICTURE, FIELD(svg), "FILE", NULL,
     "draw the clean rows: predicted against measured, and errors by number of GPUs"},
    {"--csv", OPTION_FLAG, FIELD(csv), NULL, NULL, "print the rows as CSV instead of text"},
    OPTION_JSON_ROW(json),
    OPTION_THREADS_ROW(threads, "threads that share the rows (all processors)"),
    OPTION_CATALOGUE_ROW(catalogue),
    OPTION_END};

#define EXPLAIN_PRINTS                                                                             \
    "--explain ROW prints a scenario: leave out --csv, --json, --svg, --worst and --uncertainty"
static const struct option_conflict conflicts[] = {
    {"--csv", "--json", "--csv or --json, not both: they go to the same place"},
    {"--explain", "--csv", EXPLAIN_PRINTS},
    {"--explain", "--json", EXPLAIN_PRINTS},
    {"--explain", "--svg", EXPLAIN_PRINTS},
    {"--explain", "--worst", EXPLAIN_PRINTS},
    {"--explain", "--uncertainty", EXPLAIN_PRINTS},
    {"--csv", "--uncertainty", "--csv prints rows alone: take --json, or leave out --uncertainty"},
    {"--csv", "--worst", "--worst shortens the report, and --csv prints every row: leave it out"},
    {"--json", "--worst", "--worst shortens the report, and --json has every row: leave it out"},
    {NULL, NULL, NULL}};

/* `intervals` NULL: not asked. */
static void tell(const struct validate_arguments *a, struct session *session,
                 const struct validation *v, const struct scores *scores,
                 const struct intervals *intervals)
{
    if (a->csv)
        validate_report_csv(v, session->out);
    else if (a->json)
        json_validate(v, scores, intervals, session->out);
    else
        validate_report(v, scores, a->has_worst ? a->worst : SIZE_MAX, session);
    if (a->csv)
        validate_report_announced(v, session->notes);
    if (!a->csv && !a->json && intervals != NULL)
        validate_report_intervals(intervals, session);
}

static bool draw(const char *path, struct session *session, struct arena *arena,
                 const struct validation *v, const struct scores *scores, struct error *error)
{
    struct output output;
    if (!output_begin(&output, session, path, OUTPUT_PICTURE, error))
        return false;
    validate_svg(arena, v, scores, output.out);
    return output_end(&output, session, true, error);
}

static int trouble(struct session *session, const struct error *error, int code)
{
    fprintf(session->notes, "orrery validate: %s\n", error->text);
    return code;
}

static int explain(const struct validate_arguments *a, struct session *session, struct arena *arena)
{
    struct csv csv;
    struct validation v;
    struct error error = {""};
    struct validate_options how = {a->catalogue, a->source,  a->where, 1,
                                   VALIDATE_OP,  a->profile, false};
    bool done = csv_read(arena, a->line.positional[0], &csv, &error) &&
                validate_open(arena, &csv, &how, &v, &error) &&
                validate_explain(&v, a->explain, session->out, &error);
    return done ? EXIT_OK : trouble(session, &error, load_refused_code(a->line.positional[0]));
}

static int validate(const struct validate_arguments *a, struct session *session,
                    struct arena *arena)
{
    struct csv csv;
    struct validation v;
    struct scores scores;
    struct error error = {""};
    struct validate_options how = {
        a->catalogue, a->source,
        a->where,     arguments_threads(a->threads, pool_threads_available()),
        a->detail,    a->profile,
        a->uncertain};
    if (!csv_read(arena, a->line.positional[0], &csv, &error) ||
        !validate_file(arena, &csv, &how, &v, &error))
        return trouble(session, &error, load_refused_code(a->line.positional[0]));
    struct uncertainty_options drawing = {
        .seed = 1, .draw_count = DRAWS_USUAL, .threads = how.threads, .time_only = true};
    if (a->draws > 0)
        drawing.draw_count = (uint32_t)a->draws;
    struct intervals intervals;
    if (a->uncertain && !validate_intervals(arena, &v, &drawing, &intervals, &error))
        return trouble(session, &error, EXIT_REJECTED);
    validate_score_rows(arena, &v, &scores);
    tell(a, session, &v, &scores, a->uncertain ? &intervals : NULL);
    if (a->svg == NULL || draw(a->svg, session, arena, &v, &scores, &error))
        return EXIT_OK;
    return trouble(session, &error, EXIT_TROUBLE);
}

static int run(const void *line, struct session *session)
{
    const struct validate_arguments *a = line;
    if (a->draws > DRAWS_MAX) {
        fprintf(session->notes, "orrery validate: --uncertainty: at most %d draws\n", DRAWS_MAX);
        return EXIT_USAGE;
    }
    if (a->uncertain && a->detail != VALIDATE_OP) {
        fputs("orrery validate: --uncertainty draws steps op by op: leave out --detail pass\n",
              session->notes);
        return EXIT_USAGE;
    }
    struct arena *arena = arena_create();
    int code = a->explain != NULL ? explain(a, session, arena) : validate(a, session, arena);
    arena_destroy(arena);
    return code;
}

const struct command command_validate = {
    .head = {.name = "validate",
             .doc = "compares predictions with a file of published measurements"},
    .positional = "FILE.csv",
    .options = options,
    .bytes = sizeof(struct validate_arguments),
    .conflicts = conflicts,
    .details =
        "The columns determine the kind of file: steps, layers, pipeline, collectives, kernels,\n"
        "operators, memory. Every row is predicted from its own columns and the catalogue\n"
        "alone. A row that cannot be simulated is refused with its reason and counted apart,\n"
        "in the lines 'refused': it is neither an error nor a false out-of-memory, and a refused\n"
        "layout is never the chosen one. Rows of quality 'degraded' are listed but not counted.\n"
        "Refused as cells: words and keys that do not exist, a name that stands twice, and cells\n"
        "that contradict each other, as tokens/s and step time by more than the square root of 2.",
    .example = "orrery validate tests/validation/layers.csv",
    .run = run,
};
