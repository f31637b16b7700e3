/* The reader of failure traces under libFuzzer: whatever the bytes, rows in order with known units
 * of measure, or problems at places of the text. */
#include <stdint.h>
#include <string.h>

#include "models/job/parts/job_spec.h"
#include "scenarios/schema/trace.h"
#include "sim/check.h"

static void check_rows(const struct trace_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK(rows[i].at_s >= (i > 0 ? rows[i - 1].at_s : 0.0));
        CHECK(rows[i].unit_kind >= UNIT_GPU && rows[i].unit_kind <= UNIT_JOB);
        CHECK(*rows[i].cause != '\0' && strlen(rows[i].cause) <= TRACE_CAUSE_MAX);
        CHECK(rows[i].unit_mark.line > 1 && rows[i].unit_mark.column > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct source key = {.name = "fuzz.yaml", .text = "trace: t.csv", .bytes = 12};
    const struct trace_file file = {"t.csv", "trace", {&key, 1, 8, 5}};
    struct trace trace = {NULL, 0};
    char *text = arena_alloc(arena, size + 1, 1);
    memcpy(text, data, size);
    problems->arena = arena;
    bool good = trace_parse(arena, &file, (struct file_text){text, size}, problems, &trace);
    CHECK(good == (problems->error_count == 0));
    for (unsigned i = 0; i < problems->kept_count; i++)
        CHECK(problems->kept[i].line > 0 && *problems->kept[i].text != '\0');
    if (good)
        check_rows(trace.rows, trace.count);
    arena_destroy(arena);
    return 0;
}
