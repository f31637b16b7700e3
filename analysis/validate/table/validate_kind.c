#include "analysis/validate/table/validate_kind.h"

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
