#include "analysis/command/plan/plan_measured.h"

#include <math.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/command/shared/run_measured.h"
#include "analysis/output/text/format.h"
#include "models/step/simulate/step.h"

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
    struct scenario *loaded[ARGUMENT_VARY_MAX];
    bool itself[ARGUMENT_VARY_MAX]; /* of the plan's own scenario */
    unsigned count;
    const struct scenario *plan;
    const struct search *search;
    const struct search_leader *own; /* the layout of the plan's own scenario; NULL: none stated */
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
    const struct step_options options = {.time_only = true, .outcome_only = true, .threads = 1};
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

static int take(const struct plan_arguments *arguments, struct session *session, const char *text,
                struct lone_steps *all)
{
    struct arena *arena = arena_create();
    struct own_step own;
    const unsigned i = all->count++;
    const struct scenario *const plan = all->plan;
    struct error error = {""};
    char why[256];
    int code = run_measured_read(arena, text, &own, why) ? EXIT_OK : EXIT_USAGE;
    if (code == EXIT_OK && own.path == NULL && all->own == NULL) {
        fputs("orrery plan: --measured step=...: of which layout? The scenario must say its tp or "
              "pp, "
              "microbatch and\nrecompute, also by --set, or give SCENARIO:step=...\n",
              session->notes);
        code = EXIT_USAGE;
    } else if (code == EXIT_OK && own.path == NULL) {
        /* The plan's is open; what was measured ran with all that `orrery run` chooses. */
        all->itself[i] = true;
        all->loaded[i] = scenario_read_again(plan, NULL, 0, &error);
        if (all->loaded[i] == NULL) {
            fprintf(session->notes, "orrery plan: --measured: %s\n", error.text);
            code = EXIT_REJECTED;
        }
    } else if (code == EXIT_OK) {
        const struct scenario_arguments unset = load_unset(&arguments->scenario);
        code = load_scenario(&arguments->line, own.path, &unset, session, false, &all->loaded[i]);
        if (code == EXIT_OK && !measured_step_speaks(all->loaded[i], plan)) {
            fprintf(session->notes,
                    "orrery plan: --measured %s: a step of another software or card says nothing "
                    "of these\n",
                    format_shown(text).s);
            code = EXIT_USAGE;
        }
    }
    if (code == EXIT_OK)
        code = time_step(session, all->loaded[i], &all->steps[i]);
    all->measured[i] = (struct measured_step){&all->steps[i].step, own.measured_s};
    if (code == EXIT_OK)
        code = run_measured_judge(&arguments->line, session, text, &all->measured[i]);
    arena_destroy(arena);
    return code;
}

/* The mean of what was measured of the scenario itself, in logarithms; 0: nothing was. */
static double measured_itself_s(const struct lone_steps *all)
{
    double sum = 0.0;
    unsigned count = 0;
    for (unsigned i = 0; i < all->count; i++) {
        if (!all->itself[i])
            continue;
        sum += log(all->measured[i].measured_s);
        count++;
    }
    return count > 0 ? exp(sum / count) : 0.0;
}

static void speak(const struct lone_steps *all, struct search_leader *leader,
                  struct measured_shift *out)
{
    struct configuration c;
    struct lone_step own;
    const double itself_s = measured_itself_s(all);
    plan_layout_apply(all->search->base, &leader->row->layout, &c);
    set_step(&own, all->plan, &c, leader->step_s);
    measured_steps_apply(all->measured, all->count, &own.step, out);
    if (itself_s > 0.0 && plan_layout_same(&leader->row->layout, &all->own->row->layout, 0))
        measured_steps_itself(itself_s, &own.step, out);
    leader->p10_s = uncertainty_step_s(&own.step, LOW);
    leader->p90_s = uncertainty_step_s(&own.step, HIGH);
    leader->forecast_s = uncertainty_step_s(&own.step, 0.5);
}

static void speak_of_all(const struct lone_steps *all, struct search_leader *own,
                         struct search *search, struct measured_shift *first)
{
    struct measured_shift shift;
    for (uint32_t i = 0; i < search->leader_count; i++)
        speak(all, &search->leaders[i], i == 0 ? first : &shift);
    if (search->has_safe)
        speak(all, &search->safe, &shift);
    if (search->has_near)
        speak(all, &search->near, &shift);
    if (own != NULL && own->played)
        speak(all, own, &shift);
}

int plan_measured_apply(const struct plan_arguments *arguments, struct session *session,
                        const struct scenario *scenario, struct search_leader *own,
                        struct search *search, struct measured_shift *first)
{
    struct lone_steps all = {.plan = scenario, .search = search, .own = own};
    int code = EXIT_OK;
    *first = (struct measured_shift){.steps = 0};
    for (unsigned i = 0; i < arguments->measured.count && code == EXIT_OK; i++)
        code = take(arguments, session, arguments->measured.words[i], &all);
    if (code == EXIT_OK && all.count > 0) {
        run_measured_repeats(&arguments->line, session, arguments->measured.words, all.measured,
                             all.count);
        speak_of_all(&all, own, search, first);
    }
    for (unsigned i = 0; i < all.count; i++)
        scenario_destroy(all.loaded[i]);
    return code;
}
