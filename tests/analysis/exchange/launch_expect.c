#include "tests/analysis/exchange/launch_expect.h"

#include <string.h>

#include "tests/test.h"

struct scenario *expect_base;

int expect_open(void **state)
{
    expect_base = launch_case_read();
    return 0;
}

int expect_close(void **state)
{
    scenario_destroy(expect_base);
    return 0;
}

struct launch_text expect_written(const struct launch_kind *kind, const struct configuration *c)
{
    struct launch_text text;
    launch_write(kind, c, NULL, expect_base->arena, &text);
    return text;
}

void expect_refuses(const struct launch_kind *kind, const struct configuration *c,
                    const char *words)
{
    const struct launch_text text = expect_written(kind, c);
    if (launch_case_note(&text, LAUNCH_REFUSED, words) == NULL)
        fail_msg("%s does not refuse: %s", kind->head.name, words);
    assert_true(text.refused);
    assert_int_equal(text.line_count, 0);
}

void expect_takes(const struct launch_kind *kind, const struct configuration *c)
{
    const struct launch_text text = expect_written(kind, c);
    if (text.refused)
        fail_msg("%s refuses: %s", kind->head.name, launch_case_note(&text, LAUNCH_REFUSED, ""));
    assert_true(text.line_count > 40);
}

void expect_says(const struct launch_kind *kind, const struct configuration *c, const char *words)
{
    const struct launch_text text = expect_written(kind, c);
    if (launch_case_note(&text, LAUNCH_DIFFERS, words) == NULL)
        fail_msg("%s does not say: %s", kind->head.name, words);
}

/* Is there a line that begins so? */
bool expect_has_line(const struct launch_kind *kind, const struct configuration *c,
                     const char *words)
{
    const struct launch_text text = expect_written(kind, c);
    for (uint32_t i = 0; i < text.line_count; i++)
        if (strncmp(text.lines[i] + strspn(text.lines[i], " "), words, strlen(words)) == 0)
            return true;
    return false;
}
