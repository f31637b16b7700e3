#include "analysis/command/shared/run_measured.h"

#include <math.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/output/text/format.h"
#include "models/step/simulate/step.h"
#include "scenarios/language/quantity.h"
#include "sim/plural.h"

static const char form[] = "step=";

bool run_measured_read(struct arena *arena, const char *text, struct own_step *out, char *why)
{
    const char *at = text, *time;
    struct quantity quantity;
    for (const char *next = strstr(text, form); next != NULL; next = strstr(next + 1, form))
        at = next;
    time = at + strlen(form);
    const bool own = at == text, named = at > text + 1 && at[-1] == ':';
    snprintf(why, QUANTITY_TEXT_MAX, "expected [SCENARIO:]step=TIME, as in mine.yaml:step=3.1s");
    if (strncmp(at, form, strlen(form)) != 0 || (!own && !named))
        return false;
    if (!quantity_read(PARAM_TIME, time, time, &quantity, why))
        return false;
    snprintf(why, QUANTITY_TEXT_MAX, "a step takes more than no time");
    out->measured_s = quantity.number;
    out->path = own ? NULL : arena_format(arena, "%.*s", (int)(at - 1 - text), text);
    return quantity.number > 0.0;
}

bool run_measured_agree(const struct measured_arguments *a, const struct session *session)
{
    bool good = true;
    struct arena *arena = arena_create();
    for (unsigned i = 0; i < a->steps->count; i++) {
        struct own_step own;
        char why[QUANTITY_TEXT_MAX];
        if (run_measured_read(arena, a->steps->words[i], &own, why))
            continue;
        fprintf(session->notes, "orrery %s: --measured %s: %s\n", a->line->rules.command,
                format_shown(a->steps->words[i]).s, why);
        good = false;
    }
    arena_destroy(arena);
    return good;
}

#define LOW 0.01 /* what is outside is told; one in fifty is by chance */
#define HIGH 0.99

/* No step is shorter than its FLOPs at the peak: without those that a kernel skips under a causal
 * mask, as an MFU of long sequences counts them. Mostly it is milliseconds taken for seconds. */
static bool possible(const struct arguments *line, struct session *session, const char *text,
                     const struct measured_step *measured)
{
    const struct configuration *c = &measured->step->scenario->configuration;
    const double flops =
        configuration_flops_per_token(c, c->training.causal) * configuration_tokens(c);
    const double ratio = step_peak_ratio(c, flops, measured->measured_s);
    if (ratio <= 1.0)
        return true;
    fprintf(session->notes,
            "orrery %s: --measured %s: that is %.4g %% of the dense peak of its GPUs: no step of "
            "that scenario takes less than %s for its FLOPs: give the time of a whole step (%s "
            "sequence%s), in its unit (s, ms)\n",
            line->rules.command, format_shown(text).s, 100.0 * ratio,
            format_time(measured->measured_s * ratio).s, format_count(c->training.global_batch).s,
            plural_s(c->training.global_batch));
    return false;
}

/* "P99.7"; beyond what normal errors tell with any right, that it is beyond. */
static struct text quantile_text(double below)
{
    struct text text;
    if (below < 1e-4 || below > 1.0 - 1e-4)
        snprintf(text.s, sizeof text.s, "%s", below < 0.5 ? "below P0.01" : "above P99.99");
    else
        snprintf(text.s, sizeof text.s, "at P%.4g", 100.0 * below);
    return text;
}

int run_measured_judge(const struct arguments *line, struct session *session, const char *text,
                       const struct measured_step *measured)
{
    if (!possible(line, session, text, measured))
        return EXIT_USAGE;
    const double below = uncertainty_step_below(measured->step, measured->measured_s);
    if (below < LOW || below > HIGH)
        fprintf(session->notes,
                "orrery %s: --measured %s: %s, %.1f standard errors from the forecast of that "
                "scenario, %s (P1 %s, P99 %s): is it a step of it, of its batch, on its GPUs?\n",
                line->rules.command, format_shown(text).s, quantile_text(below).s,
                measured_step_distance(measured),
                format_time(uncertainty_step_s(measured->step, 0.5)).s,
                format_time(uncertainty_step_s(measured->step, LOW)).s,
                format_time(uncertainty_step_s(measured->step, HIGH)).s);
    return EXIT_OK;
}

void run_measured_repeats(const struct arguments *line, struct session *session,
                          const char *const *texts, const struct measured_step *measured,
                          uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        double earlier_s;
        const double below = measured_step_repeated(measured, k, &earlier_s);
        if (isnan(below) || (below >= LOW && below <= HIGH))
            continue;
        fprintf(session->notes,
                "orrery %s: --measured %s: %s of what %s, measured of the same scenario, leaves: "
                "steps scatter by %.1f %%, these by %.0f %%, which the interval takes; leave out "
                "what is no step of it (warm-up, another batch or cluster)\n",
                line->rules.command, format_shown(texts[k]).s, quantile_text(below).s,
                format_time(earlier_s).s, 100.0 * residues_shipped.within_log_spread,
                100.0 * measured_steps_scatter(measured, count));
    }
}

/* The scenario of the line has been drawn: a copy, because its draws are about to be shifted. */
static void copy_step(struct arena *arena, const struct uncertain_step *step,
                      struct uncertain_step *out)
{
    *out = *step;
    out->draws = ARENA_ARRAY(arena, struct uncertain_draw, step->draw_count);
    memcpy(out->draws, step->draws, step->draw_count * sizeof *step->draws);
}

struct own_steps {
    const struct measured_arguments *a;
    struct session *session;
    struct arena *arena;
    const struct uncertainty_options *how;
    const struct uncertain_step *of;
};

static bool speaks(const struct own_steps *s, const char *path, const struct scenario *scenario)
{
    const struct configuration *a = &scenario->configuration, *b = &s->of->scenario->configuration;
    const bool good = measured_step_speaks(scenario, s->of->scenario);
    if (!good)
        fprintf(s->session->notes,
                "orrery run: --measured %s: a step of %s on %s says nothing of %s on %s\n",
                format_shown(path).s, a->software.name, a->gpu.name, b->software.name, b->gpu.name);
    return good;
}

static int draw_file(const struct own_steps *s, const char *path, struct scenario **scenario,
                     struct uncertain_step *out)
{
    const struct scenario_arguments unset = load_unset(s->a->scenario);
    struct error error = {""};
    const int code = load_scenario(s->a->line, path, &unset, s->session, false, scenario);
    if (code != EXIT_OK)
        return code;
    if (!speaks(s, path, *scenario))
        return EXIT_USAGE;
    if (!uncertainty_draw(s->arena, *scenario, s->how, out, &error)) {
        fprintf(s->session->notes, "orrery: the step of %s cannot be simulated%s%s\n",
                format_shown(path).s, error.text[0] != '\0' ? ": " : "", error.text);
        return EXIT_REJECTED;
    }
    return EXIT_OK;
}

int run_measured_apply(const struct measured_arguments *a, struct session *session,
                       struct arena *arena, const struct uncertainty_options *how,
                       struct uncertain_step *step, struct measured_shift *shift)
{
    const unsigned count = a->steps->count;
    struct uncertain_step steps[ARGUMENT_VARY_MAX];
    struct measured_step measured[ARGUMENT_VARY_MAX];
    struct scenario *scenarios[ARGUMENT_VARY_MAX] = {NULL};
    const struct own_steps own_steps = {a, session, arena, how, step};
    double log_itself = 0.0;
    unsigned itself = 0;
    int code = EXIT_OK;
    *shift = (struct measured_shift){.steps = 0};
    for (unsigned i = 0; i < count && code == EXIT_OK; i++) {
        struct own_step own = {NULL, 0.0};
        char why[QUANTITY_TEXT_MAX];
        if (!run_measured_read(arena, a->steps->words[i], &own, why))
            return EXIT_USAGE; /* run_measured_agree has told it */
        measured[i] = (struct measured_step){&steps[i], own.measured_s};
        if (own.path == NULL) {
            copy_step(arena, step, &steps[i]);
            log_itself += log(own.measured_s);
            itself++;
        } else
            code = draw_file(&own_steps, own.path, &scenarios[i], &steps[i]);
        if (code == EXIT_OK)
            code = run_measured_judge(a->line, session, a->steps->words[i], &measured[i]);
    }
    if (code == EXIT_OK && count > 0) {
        run_measured_repeats(a->line, session, a->steps->words, measured, count);
        measured_steps_apply(measured, count, step, shift);
    }
    if (code == EXIT_OK && itself > 0)
        measured_steps_itself(exp(log_itself / itself), step, shift);
    for (unsigned i = 0; i < count; i++)
        scenario_destroy(scenarios[i]);
    return code;
}
