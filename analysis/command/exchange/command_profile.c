#include <string.h>

#include "analysis/command/exchange/profile_from.h"
#include "analysis/command/exchange/profile_tell.h"
#include "analysis/command/line/card_agrees.h"
#include "analysis/command/line/command.h"
#include "analysis/command/line/gpu_name.h"
#include "analysis/command/line/load.h"
#include "analysis/output/terminal/output.h"
#include "analysis/output/text/format.h"
#include "analysis/record/evidence/evidence.h"
#include "analysis/record/evidence/evidence_collectives.h"
#include "models/profile/profile.h"
#include "sim/plural.h"

struct profile_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    const char *gpu, *output; /* NULL: not said */
    bool json;
};
#define ARGUMENTS struct profile_arguments
static const struct option options[] = {
    {"--gpu", OPTION_TEXT, FIELD(gpu), "NAME", NULL,
     "with from: only rows of this GPU, by its name in the catalogue"},
    {"--output", OPTION_OUTPUT, FIELD(output), "FILE", NULL,
     "with from: the profile to write; with shapes: the list (standard output)"},
    OPTION_SCENARIO_ROWS(scenario),
    OPTION_JSON_ROW(json),
    OPTION_END};

static int trouble(struct session *session, const struct error *error, int code)
{
    fprintf(session->notes, "orrery profile: %s\n", error->text);
    return code;
}

static int show(const struct profile_arguments *a, struct session *session, struct arena *arena)
{
    struct measured_profile profile;
    struct error error = {""};
    if (!profile_read(arena, a->line.positional[1], &profile, &error))
        return trouble(session, &error, load_refused_code(a->line.positional[1]));
    document_print(profile_tell(arena, &profile), profile_tell_lines, a->json, session);
    return EXIT_OK;
}

static int check(const struct profile_arguments *a, struct session *session, struct arena *arena)
{
    struct measured_profile profile;
    struct error error = {""};
    struct profile_remark *remarks = ARENA_ARRAY(arena, struct profile_remark, PROFILE_REMARKS_MAX);
    if (!profile_read(arena, a->line.positional[1], &profile, &error))
        return trouble(session, &error, load_refused_code(a->line.positional[1]));
    unsigned count = profile_check(arena, &profile, remarks);
    struct fact *document = profile_tell(arena, &profile);
    profile_tell_remarks(document, remarks, count);
    document_print(document, profile_tell_remark_lines, a->json, session);
    bool named = true;
    if (*profile.head.gpu != '\0') {
        const struct card_told told = {.name = profile.head.facts.device,
                                       .memory_bytes = profile.head.facts.memory_bytes};
        named = gpu_name_known(profile.head.gpu, a->scenario.catalogue, &error);
        if (!named)
            trouble(session, &error, EXIT_REJECTED);
        else
            named = card_agrees(&a->line, (struct card_arguments){a->scenario.catalogue, false},
                                session, a->line.positional[1], profile.head.gpu, &told);
    }
    return count == 0 && named && profile.head.complete ? EXIT_OK : EXIT_REJECTED;
}

static int compare(const struct profile_arguments *a, struct session *session, struct arena *arena)
{
    struct measured_profile profiles[2];
    struct error error = {""};
    for (unsigned i = 0; i < 2; i++)
        if (!profile_read(arena, a->line.positional[1 + i], &profiles[i], &error))
            return trouble(session, &error, load_refused_code(a->line.positional[1 + i]));
    profile_tell_difference(session, arena, &profiles[0], &profiles[1]);
    return EXIT_OK;
}

/* What a scenario's step would have to be measured at. */
struct wanted_shapes {
    const struct scenario *scenario;
    struct calibrate_plan plan;
    const struct collective_use *uses;
    uint32_t use_count;
    double rank_count;
    struct arena *arena;
};

static void print_shapes(FILE *out, const struct wanted_shapes *shapes)
{
    char line[POINT_LINE_BYTES];
    fprintf(out,
            "# Kernels of %s, for orrery-calibrate --for: seconds of a step, then the shape.\n",
            format_shown(shapes->scenario->name).s);
    for (unsigned i = 0; i < shapes->plan.count; i++) {
        point_print(&shapes->plan.rows[i].point, line);
        fprintf(out, "%.6g %s\n", shapes->plan.rows[i].weight_s, line);
    }
    evidence_print_collectives(out, shapes->arena, shapes->uses, shapes->use_count,
                               shapes->rank_count);
}

static bool write_shapes(const char *path, struct session *session,
                         const struct wanted_shapes *shapes, struct error *error)
{
    struct output output;
    if (!output_begin(&output, session, path, OUTPUT_SHAPES, error))
        return false;
    print_shapes(output.out, shapes);
    return output_end(&output, session, true, error);
}

/* The collectives are those of a played step, whatever memory it takes. */
static int list_shapes(const struct profile_arguments *a, struct session *session,
                       struct wanted_shapes *shapes)
{
    const struct configuration *c = &shapes->scenario->configuration;
    struct step *step = NULL;
    struct error error = {""};
    int code = EXIT_OK;
    evidence_shapes(shapes->arena, c, &shapes->plan);
    if (!step_run(c, &(struct step_options){.time_only = true}, &step, &error))
        return trouble(session, &error, EXIT_REJECTED);
    shapes->rank_count = (double)step->lowered.rank_count;
    shapes->uses = evidence_collective_uses(shapes->arena, c, step, &shapes->use_count);
    if (a->output == NULL)
        print_shapes(session->out, shapes);
    else if (!write_shapes(a->output, session, shapes, &error))
        code = trouble(session, &error, EXIT_TROUBLE);
    step_destroy(step);
    return code;
}

static int shapes(const struct profile_arguments *a, struct session *session, struct arena *arena)
{
    struct scenario *scenario;
    int code =
        load_scenario(&a->line, a->line.positional[1], &a->scenario, session, false, &scenario);
    if (scenario == NULL)
        return code;
    struct wanted_shapes wanted = {.scenario = scenario, .plan = plan_begin(arena), .arena = arena};
    code = list_shapes(a, session, &wanted);
    scenario_destroy(scenario);
    return code;
}

/* Against the catalogue's figures of the scenario's card, whatever profile the scenario has. */
static int model(const struct profile_arguments *a, struct session *session, struct arena *arena)
{
    struct measured_profile profile;
    struct scenario *scenario;
    struct error error = {""};
    if (!profile_read(arena, a->line.positional[1], &profile, &error))
        return trouble(session, &error, load_refused_code(a->line.positional[1]));
    int code =
        load_scenario(&a->line, a->line.positional[2], &a->scenario, session, false, &scenario);
    if (scenario == NULL)
        return code;
    const struct card_told told = {.name = profile.head.facts.device,
                                   .memory_bytes = profile.head.facts.memory_bytes};
    if (card_agrees(&a->line, (struct card_arguments){a->scenario.catalogue, false}, session,
                    a->line.positional[1], scenario->configuration.gpu.name, &told))
        profile_tell_model(session, arena, &profile, &scenario->configuration.gpu);
    else
        code = EXIT_REJECTED;
    scenario_destroy(scenario);
    return code;
}

static int from(const struct profile_arguments *a, struct session *session, struct arena *arena)
{
    struct error error = {""};
    struct profile_from_report report;
    if (a->gpu == NULL || a->output == NULL) {
        fputs("orrery profile from: give --gpu NAME, whose rows are taken, and --output FILE\n",
              session->notes);
        return EXIT_USAGE;
    }
    if (!profile_from(arena, a->line.positional[1], a->gpu, a->output, &report, &error))
        return trouble(session, &error, load_refused_code(a->line.positional[1]));
    fprintf(session->out, "%s: %u point%s of %u row%s of %s; %u row%s left out\n", a->output,
            report.points, plural_s(report.points), report.rows, plural_s(report.rows), a->gpu,
            report.left_out, plural_s(report.left_out));
    return EXIT_OK;
}

enum {
    TAKEN_MAX = 5
};
static const struct action {
    const char *name;
    unsigned files;
    const char *taken[TAKEN_MAX]; /* options, ended by NULL */
    int (*run)(const struct profile_arguments *, struct session *, struct arena *);
} actions[] = {
    {"show", 1, {"--json"}, show},
    {"check", 1, {"--json", "--catalogue"}, check},
    {"compare", 2, {NULL}, compare},
    {"shapes", 1, {"--output", "--set", "--catalogue", "--seed"}, shapes},
    {"from", 1, {"--gpu", "--output"}, from},
    {"model", 2, {"--set", "--catalogue", "--seed"}, model},
};

static const char *word(unsigned index)
{
    return index < sizeof actions / sizeof actions[0] ? actions[index].name : NULL;
}

static int run(const void *line, struct session *session)
{
    const struct profile_arguments *a = line;
    const char *wanted = a->line.positional_count > 0 ? a->line.positional[0] : "";
    for (unsigned i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, wanted) != 0)
            continue;
        if (a->line.positional_count != 1 + actions[i].files) {
            fprintf(session->notes, "orrery profile %s: takes %s\n", wanted,
                    actions[i].files == 1 ? "one file" : "two files");
            return EXIT_USAGE;
        }
        const char *stray = arguments_stray(&a->line, actions[i].taken);
        if (stray != NULL) {
            fprintf(session->notes, "orrery profile %s: takes no %s\n", wanted, stray);
            return EXIT_USAGE;
        }
        struct arena *arena = arena_create();
        int code = actions[i].run(a, session, arena);
        arena_destroy(arena);
        return code;
    }
    fprintf(session->notes,
            "orrery profile: the first word is show, check, compare, model, shapes "
            "or from%s%s%s\n",
            *wanted ? ", not '" : "", *wanted ? format_shown(wanted).s : "", *wanted ? "'" : "");
    return EXIT_USAGE;
}

const struct command command_profile = {
    .head = {.name = "profile",
             .doc = "shows, checks and compares profiles of measured kernels; lists the shapes to "
                    "measure; makes a profile from published rows"},
    .positional = "[ACTION FILE [FILE]]",
    .options = options,
    .bytes = sizeof(struct profile_arguments),
    .details =
        "show FILE         what was measured, on what, at which rates\n"
        "check FILE        holes, disorder, spread, heat, a card other than the one it names; exit "
        "code 3\n"
        "                  if there are any\n"
        "compare A B       times of B over those of A, shape by shape\n"
        "model A SCENARIO  measured over modelled time, by family and length, for the card of\n"
        "                  SCENARIO\n"
        "shapes SCENARIO   every kernel of a step with the seconds that depend on it, for\n"
        "                  orrery-calibrate --for; its collectives, with the lines of\n"
        "                  nccl-tests that measure them\n"
        "from FILE.csv     a profile made from rows as in tests/validation: kernels, collectives",
    .word = word,
    .example = "orrery profile shapes scenarios/hello-8-gpus.yaml --output shapes.txt",
    .run = run,
};
