#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/record/evidence/late_warnings.h"
#include "analysis/tell/json/json.h"
#include "models/step/simulate/step.h"
#include "scenarios/assemble/scenario.h"
#include "sim/plural.h"

struct check_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    bool json;
};
#define ARGUMENTS struct check_arguments
static const struct option options[] = {OPTION_SCENARIO_ROWS(scenario), OPTION_ALONE_ROW(scenario),
                                        OPTION_JSON_ROW(json), OPTION_END};

/* What the scenario leaves open, as a run would take it. */
static void tell_choices(const struct session *session, const struct scenario *scenario)
{
    for (unsigned i = 0; i < scenario->choices.count; i++) {
        const struct made_choice *one = &scenario->choices.rows[i];
        fprintf(session->out, "%s %s: %s (%s)\n", i == 0 ? "chosen" : "      ", choice_path(one),
                one->value, one->why);
    }
}

/* Is it refused by `run`: can the step not be played or recorded? A step that takes long is not
 * played, only what would be played is counted. If not, what its choices cost becomes warnings, and
 * `*fits` says whether its memory is enough. */
static bool is_refused(struct session *session, struct scenario *scenario, bool *fits,
                       struct error *refusal)
{
    const struct step_options brief = {.brief = true};
    struct step *step = NULL;
    const bool refused = !step_run(&scenario->configuration, &brief, &step, refusal);
    if (!refused) {
        const unsigned told = scenario->diagnostics.problem_count;
        late_warnings_of_step(scenario, step, LATE_OF_CHECK, NULL);
        late_warnings_find_weeks(scenario);
        scenario_print_since(scenario, told, session->notes, session->notes_colour);
        *fits = step->fits;
    }
    step_destroy(step);
    return refused;
}

static int run(const void *line, struct session *session)
{
    const struct check_arguments *a = line;
    const char *path = a->line.positional[0];
    struct scenario *scenario;
    int code = load_scenario(&a->line, path, &a->scenario, session, true, &scenario);
    if (scenario == NULL)
        return code;
    struct error refusal = {""};
    bool fits = true;
    bool refused = code == EXIT_OK && is_refused(session, scenario, &fits, &refusal);
    const unsigned warnings = scenario->diagnostics.warning_count;
    if (refused) {
        fprintf(session->notes, "orrery: %s\n", refusal.text);
        code = EXIT_REJECTED;
    }
    if (!fits)
        code = EXIT_NOTHING_FITS;
    if (a->json) {
        json_check(scenario, refused ? refusal.text : NULL, fits, session->out);
    } else if (refused) {
        fprintf(session->out, "%s: no errors, %u warning%s, but 'orrery run' refuses it\n",
                scenario->path, warnings, plural_s(warnings));
    } else if (code == EXIT_OK || code == EXIT_NOTHING_FITS) {
        fprintf(session->out, "%s: no errors, %u warning%s%s\n", scenario->path, warnings,
                plural_s(warnings),
                fits ? "" : ", but it does not fit in memory: 'orrery memory' says what fills it");
        tell_choices(session, scenario);
    } else {
        fprintf(session->out, "%s: %u error%s, %u warning%s\n", path,
                scenario->diagnostics.error_count, plural_s(scenario->diagnostics.error_count),
                warnings, plural_s(warnings));
    }
    scenario_destroy(scenario);
    return code;
}

const struct command command_check = {
    .head = {.name = "check", .doc = "reports every problem of a scenario in one pass"},
    .positional = "SCENARIO",
    .options = options,
    .bytes = sizeof(struct check_arguments),
    .details = "exit code: 0 no errors (there may be warnings), 3 'orrery run' would reject the "
               "scenario,\n"
               "4 it does not fit in memory",
    .example = "orrery check scenarios/llama3-70b-64xh100.yaml --set layout.tp=6",
    .run = run,
};
