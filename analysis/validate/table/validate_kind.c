#include "analysis/validate/table/validate_kind.h"

#include <string.h>

#include "sim/check.h"

const char *const validate_detail_names[] = {"op", "pass", NULL};

unsigned validate_metric_count(const struct validate_kind *kind)
{
    unsigned count = 0;
    while (kind->metrics[count] != NULL)
        count++;
    CHECK(count >= 1 && count <= VALIDATE_METRIC_MAX);
    return count;
}

const char *validate_announced(const struct validation *v)
{
    const char *all = "";
    for (size_t i = 0; i < v->row_count; i++) {
        const char *words = v->rows[i].announced;
        if (*words != '\0' && strstr(all, words) == NULL)
            all = arena_format(v->arena, "%s%s%s", all, *all ? "; " : "", words);
    }
    return all;
}
