#include <string.h>

#include "analysis/command/profile_from.h"
#include "analysis/command/profile_tell.h"
#include "analysis/json/json_profile.h"
#include "analysis/line/command.h"
#include "analysis/line/gpu_name.h"
#include "analysis/line/load.h"
#include "analysis/result/evidence.h"
#include "analysis/terminal/output.h"
#include "analysis/text/format.h"
#include "models/gpu/calibrate/profile.h"

static const struct option options[] = {
    {"--gpu", OPTION_TEXT, FIELD(gpu), "NAME", NULL,
     "of from: the rows of this GPU, by its name in the catalogue"},
    {"--output", OPTION_OUTPUT, FIELD(output), "FILE", NULL,
     "of from: the profile to write; of shapes: the list (standard output)"},
    OPTION_SCENARIO_ROWS,
    OPTION_JSON_ROW,
    OPTION_END};

static int trouble(struct session *session, const struct error *error, int code)
{
    fprintf(session->notes, "orrery profile: %s\n", error->text);
    return code;
}

static int show(const struct arguments *a, struct session *session, struct arena *arena)
{
    struct measured_profile profile;
    struct error error = {""};
    if (!profile_read(arena, a->positional[1], &profile, &error))
        return trouble(session, &error, EXIT_REJECTED);
    if (a->json)
        json_profile(&profile, NULL, 0, session->out);
    else
        profile_tell(session, &profile);
    return EXIT_OK;
}

static int check(const struct arguments *a, struct session *session, struct arena *arena)
{
    struct measured_profile profile;
    struct error error = {""};
    struct profile_remark *remarks = ARENA_ARRAY(arena, struct profile_remark, PROFILE_REMARKS_MAX);
    if (!profile_read(arena, a->positional[1], &profile, &error))
        return trouble(session, &error, EXIT_REJECTED);
    unsigned count = profile_check(arena, &profile, remarks);
    if (a->json)
        json_profile(&profile, remarks, count, session->out);
    else
        profile_tell_remarks(session, &profile, remarks, count);
    const bool named =
        *profile.head.gpu == '\0' || gpu_name_known(profile.head.gpu, a->catalogue, &error);
    if (!named)
        trouble(session, &error, EXIT_REJECTED);
    return count == 0 && named && profile.head.complete ? EXIT_OK : EXIT_REJECTED;
}

static int compare(const struct arguments *a, struct session *session, struct arena *arena)
{
    struct measured_profile profiles[2];
    struct error error = {""};
    for (unsigned i = 0; i < 2; i++)
        if (!profile_read(arena, a->positional[1 + i], &profiles[i], &error))
            return trouble(session, &error, EXIT_REJECTED);
    profile_tell_difference(session, arena, &profiles[0], &profiles[1]);
    return EXIT_OK;
}

static void print_shapes(FILE *out, const struct scenario *scenario,
                         const struct calibrate_plan *plan)
{
    char line[POINT_LINE_BYTES];
    fprintf(out,
            "# Kernels of %s, for orrery-calibrate --for: seconds of a step, then the shape.\n",
            format_shown(scenario->name).s);
    for (unsigned i = 0; i < plan->count; i++) {
        point_print(&plan->rows[i].point, line);
        fprintf(out, "%.6g %s\n", plan->rows[i].weight_s, line);
    }
}

static bool write_shapes(const char *path, struct session *session, const struct scenario *scenario,
                         const struct calibrate_plan *plan, struct error *error)
{
    struct output output;
    if (!output_begin(&output, session, path, error))
        return false;
    print_shapes(output.out, scenario, plan);
    return output_end(&output, session, true, error);
}

static int shapes(const struct arguments *a, struct session *session, struct arena *arena)
{
    struct scenario *scenario;
    struct arguments rest = *a;
    struct error error = {""};
    struct calibrate_plan plan = plan_begin(arena);
    rest.positional[0] = a->positional[1];
    rest.positional_count = 1;
    int code = load_scenario(&rest, session, false, &scenario);
    if (scenario == NULL)
        return code;
    evidence_shapes(arena, &scenario->configuration, &plan);
    if (a->output == NULL)
        print_shapes(session->out, scenario, &plan);
    else if (!write_shapes(a->output, session, scenario, &plan, &error))
        code = trouble(session, &error, EXIT_TROUBLE);
    scenario_destroy(scenario);
    return code;
}

static int from(const struct arguments *a, struct session *session, struct arena *arena)
{
    struct error error = {""};
    struct profile_from_report report;
    if (a->gpu == NULL || a->output == NULL) {
        fputs("orrery profile from: give --gpu NAME, whose rows are taken, and --output FILE\n",
              session->notes);
        return EXIT_USAGE;
    }
    if (!profile_from(arena, a->positional[1], a->gpu, a->output, &report, &error))
        return trouble(session, &error, EXIT_REJECTED);
    fprintf(session->out, "%s: %u points of %u rows of %s; %u rows left out\n", a->output,
            report.points, report.rows, a->gpu, report.left_out);
    return EXIT_OK;
}

static const struct action {
    const char *name;
    unsigned files;
    bool gpu, output, sets; /* options that it takes */
    int (*run)(const struct arguments *, struct session *, struct arena *);
} actions[] = {
    {"show", 1, false, false, false, show},       {"check", 1, false, false, false, check},
    {"compare", 2, false, false, false, compare}, {"shapes", 1, false, true, true, shapes},
    {"from", 1, true, true, false, from},
};

/* An option that was given and says nothing to the action; NULL: none. */
static const char *stray_option(const struct arguments *a, const struct action *action)
{
    if (a->gpu != NULL && !action->gpu)
        return "--gpu";
    if (a->output != NULL && !action->output)
        return "--output";
    return a->set_count > 0 && !action->sets ? "--set" : NULL;
}

static int run(const struct arguments *a, struct session *session)
{
    const char *wanted = a->positional_count > 0 ? a->positional[0] : "";
    for (unsigned i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, wanted) != 0)
            continue;
        if (a->positional_count != 1 + actions[i].files) {
            fprintf(session->notes, "orrery profile %s: takes %s\n", wanted,
                    actions[i].files == 1 ? "one file" : "two files");
            return EXIT_USAGE;
        }
        if (stray_option(a, &actions[i]) != NULL) {
            fprintf(session->notes, "orrery profile %s: takes no %s\n", wanted,
                    stray_option(a, &actions[i]));
            return EXIT_USAGE;
        }
        struct arena *arena = arena_create();
        int code = actions[i].run(a, session, arena);
        arena_destroy(arena);
        return code;
    }
    fprintf(session->notes,
            "orrery profile: the first word is show, check, compare, shapes or "
            "from%s%s%s\n",
            *wanted ? ", not '" : "", *wanted ? format_shown(wanted).s : "", *wanted ? "'" : "");
    return EXIT_USAGE;
}

const struct command command_profile = {
    .head = {.name = "profile",
             .doc = "shows, checks and compares profiles of measured kernels; lists the shapes to "
                    "measure; makes a profile of published rows"},
    .positional = "[ACTION FILE [FILE]]",
    .options = options,
    .details = "show FILE         what was measured, on what, at which rates\n"
               "check FILE        holes, disorder, spread, heat; exit code 3 where there are any\n"
               "compare A B       times of B over those of A, shape by shape\n"
               "shapes SCENARIO   every kernel of a step with the seconds that rest on it, for\n"
               "                  orrery-calibrate --for\n"
               "from FILE.csv     a profile of rows as in tests/validation: kernels, collectives",
    .example = "orrery profile shapes scenarios/hello-8-gpus.yaml --output shapes.txt",
    .run = run,
};
