#include "tests/scenarios/import/failure_case.h"

#include <math.h>
#include <string.h>

#include "scenarios/import/reader/time_stamp.h"
#include "sim/units.h"
#include "tests/test.h"

struct failure_rules failure_case_rules(const char *start, const char *end, uint64_t gpus)
{
    struct failure_rules rules = {NAN, NAN, gpus, 8, 10 * MINUTE, NULL};
    assert_true(time_stamp_read(start, &rules.start_s));
    assert_true(end == NULL || time_stamp_read(end, &rules.end_s));
    return rules;
}

struct failure_case failure_case_read(const char *text, const struct failure_format_kind *format,
                                      struct failure_rules rules)
{
    struct failure_case c = {.arena = arena_create(), .rules = rules, .error = {""}};
    const struct import_file file = {"log", arena_text(c.arena, text), strlen(text)};
    c.good = failure_log_read(c.arena, file, format, &c.rules, &c.log, &c.error);
    return c;
}

void failure_case_good(const struct failure_case *c)
{
    if (!c->good)
        fail_msg("%s", c->error.text);
}

void failure_case_refused(struct failure_case c, const char *words)
{
    if (c.good || strstr(c.error.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", c.error.text, words);
    arena_destroy(c.arena);
}
