#include "analysis/validate/table/validate_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_COUNT 9e15 /* exact in a double */

static void bad(struct cells *c, const char *column, const char *cell, const char *want)
{
    if (!c->row->refused)
        validate_row_refuse(c->row, REFUSAL_CELLS, "%s '%.40s' is not %s", column, cell, want);
}

const char *validate_cells_word(struct cells *c, const char *column)
{
    const char *cell = csv_cell(c->csv, c->record, column);
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (strlen(cell) > 64 || strspn(cell, plain) != strlen(cell)) {
        bad(c, column, cell, "a name");
        return "";
    }
    return cell;
}

static bool parse(const char *cell, double *out)
{
    char *end;
    bool plain = strspn(cell, "0123456789+-.eE") == strlen(cell);
    *out = strtod(cell, &end);
    return plain && end != cell && *end == '\0' && isfinite(*out);
}

double validate_cells_number(struct cells *c, const char *column, double fallback)
{
    const char *cell = csv_cell(c->csv, c->record, column);
    double value = fallback;
    if (*cell != '\0' && (!parse(cell, &value) || value < 0.0)) {
        bad(c, column, cell, "a number");
        return fallback;
    }
    return value;
}

uint64_t validate_cells_count(struct cells *c, const char *column, uint64_t fallback)
{
    double value = validate_cells_number(c, column, (double)fallback);
    if (value > LARGEST_COUNT || value != floor(value)) {
        bad(c, column, csv_cell(c->csv, c->record, column), "a count");
        return fallback;
    }
    return (uint64_t)value;
}

enum cell_flag validate_cells_flag(struct cells *c, const char *column)
{
    const char *cell = csv_cell(c->csv, c->record, column);
    double value = 0.0;
    if (*cell == '\0')
        return FLAG_UNSAID;
    if (!parse(cell, &value) || (value != 0.0 && value != 1.0)) {
        bad(c, column, cell, "0 or 1");
        return FLAG_UNSAID;
    }
    return value == 1.0 ? FLAG_TRUE : FLAG_FALSE;
}

void validate_cells_measured(struct cells *c, const char *column, double unit,
                             struct validate_value *value)
{
    const char *cell = csv_cell(c->csv, c->record, column);
    double measured;
    if (*cell == '\0')
        return;
    if (!parse(cell, &measured) || !(measured > 0.0)) {
        bad(c, column, cell, "a measured value above 0");
        return;
    }
    value->has_measured = true;
    value->measured = measured * unit;
}
