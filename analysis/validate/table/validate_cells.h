/* validate_cells.h - the cells of one row as words and numbers; the first bad one is kept. */
#ifndef ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_CELLS_H
#define ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_CELLS_H

#include <stdint.h>

#include "analysis/validate/table/validate_kind.h"

enum cell_flag {
    FLAG_UNSAID, /* the cell is empty, or there is no such column */
    FLAG_FALSE,
    FLAG_TRUE
};
struct cells {
    const struct csv *csv;
    size_t record;
    struct validate_row *row; /* refused at the first bad cell */
};
/* A name: letters, digits, dashes, dots, underscores. "" when empty or bad. */
const char *validate_cells_word(struct cells *c, const char *column);
/* A number, or `fallback` when the cell is empty; refuses what is neither. */
double validate_cells_number(struct cells *c, const char *column, double fallback);
uint64_t validate_cells_count(struct cells *c, const char *column, uint64_t fallback);
/* 1 or 0; refuses what is neither. */
enum cell_flag validate_cells_flag(struct cells *c, const char *column);
/* Measured or not: an empty cell leaves `value` alone. `unit` is the factor to SI. */
void validate_cells_measured(struct cells *c, const char *column, double unit,
                             struct validate_value *value);

#endif
