/* `--vary` under libFuzzer: whatever the text, either values that ascend where they are an axis and
 * whose texts say their numbers, or one sentence. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "analysis/study/study_vary.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct vary *vary)
{
    CHECK(vary->count >= 1 && vary->count <= VARY_VALUE_MAX);
    for (size_t i = 0; i < vary->count; i++) {
        CHECK(vary->values[i].text != NULL && vary->values[i].text[0] != '\0');
        if (vary->numeric) {
            CHECK(isfinite(vary->values[i].number));
            CHECK(i == 0 || vary->values[i].number > vary->values[i - 1].number);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct vary vary;
    struct error error = {""};
    char *text = arena_alloc(arena, size + 1, 1);
    memcpy(text, data, size);
    if (study_vary_read(arena, text, &vary, &error))
        check(&vary);
    else
        CHECK(error.text[0] != '\0');
    arena_destroy(arena);
    return 0;
}
