/* The reader of measurements under libFuzzer: whatever the bytes, either a table of full rows whose
 * cells are texts, or one sentence. The rows themselves are met by
 * tests/analysis/validate/test_validate.c.
 */
#include <stdint.h>
#include <string.h>

#include "scenarios/language/csv.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct csv csv;
    struct error error = {""};
    char *text = arena_alloc(arena, size + 1, 1);
    memcpy(text, data, size);
    if (csv_parse(arena, "fuzz.csv", text, size, &csv, &error)) {
        CHECK(csv.column_count >= 1);
        for (size_t i = 0; i < csv.row_count * csv.column_count; i++)
            CHECK(strlen(csv.cells[i]) <= CSV_FIELD_MAX);
    } else {
        CHECK(error.text[0] != '\0');
    }
    arena_destroy(arena);
    return 0;
}
