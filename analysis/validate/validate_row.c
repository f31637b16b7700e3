#include "analysis/validate/validate_row.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

const char *const quality_names[] = {"clean", "noisy", "degraded", NULL};

void validate_row_refuse(struct validate_row *row, const char *format, ...)
{
    va_list list;
    row->refused = true;
    va_start(list, format);
    vsnprintf(row->note, sizeof row->note, format, list);
    va_end(list);
}

bool validate_row_error(const struct validate_row *row, unsigned metric, double *error)
{
    const struct validate_value *value = &row->values[metric];
    if (!value->has_measured || !(value->measured > 0.0))
        return false;
    if (row->refused) {
        *error = -1.0;
        return true;
    }
    *error = (value->predicted - value->measured) / value->measured;
    return value->has_predicted;
}
