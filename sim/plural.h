/* plural.h - the end of a counted noun in a message: "1 point", "2 points", "0 points". */
#ifndef ORRERY_SIM_PLURAL_H
#define ORRERY_SIM_PLURAL_H

#include <stdint.h>

/* What follows the noun. Lives for ever. */
static inline const char *plural_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
