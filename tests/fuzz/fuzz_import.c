/* Every reader of what other programs print, under libFuzzer: whatever the bytes, either sound
 * values or one sentence. The first byte says which reader. */
#include <stdint.h>
#include <string.h>

#include "scenarios/import/nccl_tests.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzzed {
    struct arena *arena;
    struct import_file file;
    struct error error;
};

static bool nccl_tests(struct fuzzed *f)
{
    struct nccl_tests tests;
    if (!nccl_tests_read(f->arena, f->file, "all_reduce", &tests, &f->error))
        return false;
    CHECK(tests.point_count > 0);
    for (unsigned i = 0; i < tests.point_count; i++) {
        CHECK(point_problem(&tests.points[i].point) == NULL);
        CHECK(tests.points[i].measurement.median_s > 0.0);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool (*const readers[])(struct fuzzed *) = {nccl_tests};
    struct fuzzed f = {.arena = arena_create(), .error = {""}};
    if (size > 0) {
        f.file = (struct import_file){"fuzz", arena_alloc(f.arena, size, 1), size - 1};
        memcpy(f.file.text, data + 1, size - 1);
        f.file.text[size - 1] = '\0';
        if (!readers[data[0] % (sizeof readers / sizeof readers[0])](&f))
            CHECK(f.error.text[0] != '\0');
    }
    arena_destroy(f.arena);
    return 0;
}
