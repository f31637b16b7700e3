#include "analysis/validate/table/validate_row.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"

const char *const quality_names[] = {"clean", "noisy", "degraded", NULL};

const char *const refusal_names[] = {"",         "cells",   "hardware", "software", "operation",
                                     "schedule", "experts", "layout",   NULL};

void validate_row_refuse(struct validate_row *row, enum refusal why, const char *format, ...)
{
    va_list list;
    CHECK(why != REFUSAL_NONE && why < REFUSAL_COUNT);
    row->refused = why;
    va_start(list, format);
    vsnprintf(row->note, sizeof row->note, format, list);
    va_end(list);
}

void validate_row_note(struct validate_row *row, const char *format, ...)
{
    const size_t used = strlen(row->note), joint = used > 0 ? 2 : 0;
    va_list list;
    if (used + joint >= sizeof row->note)
        return;
    memcpy(row->note + used, "; ", joint);
    va_start(list, format);
    vsnprintf(row->note + used + joint, sizeof row->note - used - joint, format, list);
    va_end(list);
}

bool validate_row_error(const struct validate_row *row, unsigned metric, double *error)
{
    const struct validate_value *value = &row->values[metric];
    if (row->refused || !value->has_measured || !(value->measured > 0.0))
        return false;
    *error = (value->predicted - value->measured) / value->measured;
    return value->has_predicted;
}
