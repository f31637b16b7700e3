#include <string.h>

#include "analysis/json/json_explain.h"
#include "analysis/line/command.h"
#include "analysis/line/load.h"
#include "analysis/line/stated_scenario.h"
#include "analysis/report/report_walls.h"
#include "analysis/text/format.h"
#include "scenarios/language/quantity.h"
#include "sim/units.h"

static const struct option options[] = {
    {"--walls", OPTION_FLAG, FIELD(walls), NULL, NULL,
     "the page that is worked out on an envelope, beside what is simulated: FILE is a scenario, or "
     "--model and --gpu stand for one"},
    {"--model", OPTION_TEXT, FIELD(model), "NAME", NULL,
     "with --walls: a model of the catalogue, in place of a file"},
    {"--gpu", OPTION_TEXT, FIELD(gpu), "NAME", NULL, "with --model: kind of GPU"},
    {"--gpus", OPTION_SOME, FIELD(gpus), "N", NULL, "with --model: how many (8)"},
    {"--sequence", OPTION_SOME, FIELD(sequence), "N", NULL,
     "with --model: tokens of a sequence (8192)"},
    {"--tokens", OPTION_TEXT, FIELD(tokens), "N", NULL,
     "with --model: tokens of the whole training, as in 15T"},
    {"--mfu", OPTION_RATIO, FIELD(mfu_ratio), "SHARE", NULL,
     "with --walls: the MFU that the envelope takes for granted (40%)"},
    {"--bandwidth", OPTION_TEXT, FIELD(bandwidth), "RATE", NULL,
     "with --walls: of a GPU, at which the envelope reduces gradients (100GB/s)"},
    OPTION_SCENARIO_ROWS,
    OPTION_JSON_ROW,
    OPTION_END};

static int wrong(const struct session *session, const char *text)
{
    fprintf(session->notes, "orrery explain: %s\n", text);
    return EXIT_USAGE;
}

static int read_assumed(const struct arguments *a, const struct session *session,
                        struct walls_assumed *out)
{
    char why[QUANTITY_TEXT_MAX];
    struct quantity rate = {.number = WALLS_BANDWIDTH_GB * GIGA};
    if (a->bandwidth != NULL &&
        (!quantity_read(PARAM_BANDWIDTH, a->bandwidth, format_shown(a->bandwidth).s, &rate, why) ||
         rate.number <= 0.0))
        return wrong(session, "--bandwidth: expected a rate above 0, as in 100GB/s or 400Gb/s");
    *out = (struct walls_assumed){.mfu_ratio = a->mfu_ratio > 0.0 ? a->mfu_ratio : WALLS_MFU,
                                  .bandwidth_bytes_per_s = rate.number};
    return EXIT_OK;
}

static int tell_walls(const struct arguments *a, struct session *session,
                      const struct scenario *scenario, const struct walls_assumed *assumed)
{
    struct arena *arena = arena_create();
    struct error error = {""};
    struct walls walls;
    const bool good = walls_gather(arena, scenario, assumed, &walls, &error);
    if (!good)
        fprintf(session->notes, "orrery: %s\n", error.text);
    else if (a->json)
        json_walls(scenario, &walls, session->out);
    else
        report_walls(session, scenario, &walls);
    arena_destroy(arena);
    return good ? EXIT_OK : EXIT_REJECTED;
}

static int run_walls(const struct arguments *a, struct session *session)
{
    struct walls_assumed assumed;
    struct scenario *scenario;
    const bool stated = stated_scenario_given(a);
    int code = read_assumed(a, session, &assumed);
    if (code != EXIT_OK)
        return code;
    if (stated && a->positional_count > 0)
        return wrong(session, "--model, --gpu, --gpus, --sequence and --tokens stand in place of a "
                              "file; change a key of a file with --set");
    if (!stated && a->positional_count == 0)
        return wrong(session, "--walls takes a scenario, or --model and --gpu");
    code = stated ? stated_scenario(a, session, &scenario)
                  : load_scenario(a, session, false, &scenario);
    if (code != EXIT_OK)
        return code;
    code = tell_walls(a, session, scenario, &assumed);
    scenario_destroy(scenario);
    return code;
}

static int run(const struct arguments *a, struct session *session)
{
    if (a->walls || stated_scenario_given(a))
        return run_walls(a, session);
    return wrong(session, "--walls is missing: it explains a scenario, or --model and --gpu");
}

const struct command command_explain = {
    .head = {.name = "explain",
             .doc = "which wall a training job meets: memory, compute, communication"},
    .positional = "[FILE]",
    .options = options,
    .details = "exit code: 0 done (whether it fits or not), 3 scenario rejected",
    .example =
        "orrery explain --walls --model llama3-70b --gpu h100-80gb-sxm --gpus 1024 --tokens 15T",
    .run = run,
};
