/* The rate does not depend on age: rate = 1 / mtbf for each unit, always. What counts of failures
 * and unit-days alone can tell (Llama 3, arXiv:2407.21783, table 5; RSC-1, arXiv:2410.21680). */
#include "models/failure/failure_kind.h"

const struct failure_kind failure_exponential = {
    .head = {.name = "exponential",
             .doc = "A constant rate, 1 / mtbf of each unit, whatever its age."},
    .memoryless = true,
};
