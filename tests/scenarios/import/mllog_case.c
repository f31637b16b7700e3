#include "tests/scenarios/import/mllog_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

#define AT_MS 1750000000000.0

struct mllog_case mllog_case;

int mllog_case_begin(void **state)
{
    mllog_case.arena = arena_create();
    return 0;
}

int mllog_case_end(void **state)
{
    arena_destroy(mllog_case.arena);
    return 0;
}

void mllog_case_event(double at_s, const char *key, const char *value, const char *metadata)
{
    const size_t used = strlen(mllog_case.text);
    snprintf(mllog_case.text + used, sizeof mllog_case.text - used,
             ":::MLLOG {\"namespace\": \"\", \"time_ms\": %.0f, \"event_type\": \"POINT_IN_TIME\", "
             "\"key\": \"%s\", \"value\": %s, \"metadata\": {\"file\": \"a.py\"%s%s}}\n",
             AT_MS + at_s * 1e3, key, value, *metadata == '\0' ? "" : ", ", metadata);
}

void mllog_case_line(const char *line)
{
    strcat(mllog_case.text, line);
    strcat(mllog_case.text, "\n");
}

void mllog_case_begin_run(const char *benchmark, const char *batch)
{
    mllog_case.text[0] = '\0';
    mllog_case_event(0, "cache_clear", "true", "");
    mllog_case_event(5, "init_start", "null", ""); /* of another process */
    mllog_case_event(0, "init_start", "null", "");
    mllog_case_event(10, "submission_benchmark", benchmark, "");
    mllog_case_event(10, "global_batch_size", batch, "");
    mllog_case_event(10, "max_sequence_length", "8192", "");
    mllog_case_event(300, "init_stop", "null", "");
    mllog_case_event(300, "run_start", "null", "");
}

bool mllog_case_read(struct error *error)
{
    struct mllog_case *c = &mllog_case;
    *error = (struct error){""};
    const struct import_file file = {"result.txt", arena_text(c->arena, c->text), strlen(c->text)};
    return mllog_read(c->arena, &file, &c->log, error) && mllog_steps(&c->log, c->steps, error);
}

void mllog_case_sound(void)
{
    struct error error;
    if (!mllog_case_read(&error))
        fail_msg("%s", error.text);
}

void mllog_case_refused(const char *why)
{
    struct error error;
    if (mllog_case_read(&error) || strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
}

void mllog_case_step_is(enum mllog_source source, double step_s, unsigned samples)
{
    const struct mllog_step *step = &mllog_case.steps[source];
    if (!(fabs(step->step_s - step_s) <= 1e-9 * step_s) || step->samples != samples)
        fail_msg("source %d: %.9g s of %u", (int)source, step->step_s, step->samples);
}
