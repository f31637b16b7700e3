#include "analysis/command/plan_measured.h"

#include <math.h>
#include <string.h>

#include "analysis/command/run_measured.h"
#include "analysis/line/command.h"
#include "analysis/line/load.h"
#include "analysis/text/format.h"
#include "models/step/step.h"

#define LOW 0.1
#define HIGH 0.9

/* A step as the model has it: one draw, of the figures as they are. */
struct lone_step {
    struct uncertain_step step;
    struct uncertain_draw draw;
};
struct lone_steps {
    struct lone_step steps[ARGUMENT_VARY_MAX];
    struct measured_step measured[ARGUMENT_VARY_MAX];
    struct scenario *loaded[ARGUMENT_VARY_MAX]; /* NULL: the plan's own */
    unsigned count;
};

static void set_step(struct lone_step *out, const struct scenario *scenario,
                     const struct configuration *c, double step_s)
{
    out->draw = (struct uncertain_draw){log(step_s), true, 1.0};
    out->step = (struct uncertain_step){.scenario = scenario,
                                        .step_s = step_s,
                                        .fits = true,
                                        .own = model_error_of(&residues_shipped, c, NULL),
                                        .draws = &out->draw,
                                        .draw_count = 1};
}

static int time_step(struct session *session, const struct scenario *scenario,
                     struct lone_step *out)
{
    const struct step_options options = {.time_only = true, .threads = 1};
    struct error error = {""};
    struct step *step = NULL;
    if (!configuration_legal(&scenario->configuration))
        error_set(&error, "its layout breaks a rule");
    else if (step_run(&scenario->configuration, &options, &step, &error))
        set_step(out, scenario, &scenario->configuration, step->step_s);
    if (error.text[0] != '\0')
        fprintf(session->notes, "orrery plan: --measured: the step cannot be simulated: %s\n",
                error.text);
    if (step != NULL)
        step_destroy(step);
    return error.text[0] != '\0' ? EXIT_REJECTED : EXIT_OK;
}

static int take(const struct arguments *arguments, struct session *session, const char *text,
                const struct scenario *plan, bool stated, struct lone_steps *all)
{
    struct arena *arena = arena_create();
    struct own_step own;
    struct arguments line = *arguments;
    const unsigned i = all->count++;
    const struct scenario *scenario = plan;
    char why[256];
    int code = run_measured_read(arena, text, &own, why) ? EXIT_OK : EXIT_USAGE;
    if (code == EXIT_OK && own.path == NULL && !stated) {
        fputs("orrery plan: --measured step=...: of which layout? The scenario says none: give "
              "SCENARIO:step=...\n",
              session->notes);
        code = EXIT_USAGE;
    } else if (code == EXIT_OK && own.path != NULL) {
        line.positional[0] = own.path;
        line.positional_count = 1;
        line.set_count = 0;
        code = load_scenario(&line, session, false, &all->loaded[i]);
        scenario = all->loaded[i];
        if (code == EXIT_OK && !measured_step_speaks(scenario, plan)) {
            fprintf(session->notes,
                    "orrery plan: --measured %s: a step of another software or card says nothing "
                    "of these\n",
                    format_shown(text).s);
            code = EXIT_USAGE;
        }
    }
    if (code == EXIT_OK)
        code = time_step(session, scenario, &all->steps[i]);
    all->measured[i] = (struct measured_step){&all->steps[i].step, own.measured_s};
    arena_destroy(arena);
    return code;
}

static void speak(const struct lone_steps *all, const struct scenario *plan,
                  const struct search *search, struct search_leader *leader,
                  struct measured_shift *out)
{
    struct configuration c;
    struct lone_step own;
    search_apply(search->base, &leader->row->layout, &c);
    set_step(&own, plan, &c, leader->step_s);
    measured_steps_apply(all->measured, all->count, &own.step, out);
    leader->p10_s = uncertainty_step_s(&own.step, LOW);
    leader->p90_s = uncertainty_step_s(&own.step, HIGH);
}

int plan_measured_apply(const struct arguments *arguments, struct session *session,
                        const struct scenario *scenario, bool stated, struct search *search,
                        struct measured_shift *first)
{
    struct lone_steps all = {.count = 0};
    struct measured_shift shift;
    int code = EXIT_OK;
    *first = (struct measured_shift){.steps = 0};
    for (unsigned i = 0; i < arguments->measured_count && code == EXIT_OK; i++)
        code = take(arguments, session, arguments->measured[i], scenario, stated, &all);
    const bool speaking = code == EXIT_OK && all.count > 0;
    for (uint32_t i = 0; i < search->leader_count && speaking; i++)
        speak(&all, scenario, search, &search->leaders[i], i == 0 ? first : &shift);
    if (speaking && search->has_safe)
        speak(&all, scenario, search, &search->safe, &shift);
    if (speaking && search->has_near)
        speak(&all, scenario, search, &search->near, &shift);
    for (unsigned i = 0; i < all.count; i++)
        scenario_destroy(all.loaded[i]);
    return code;
}
