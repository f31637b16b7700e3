#include "analysis/output/terminal/ranks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char openmpi_size[] = "OMPI_COMM_WORLD_SIZE";

bool ranks_under_mpirun(void)
{
    return getenv(openmpi_size) != NULL;
}

bool ranks_started(void)
{
    static const char *const sizes[] = {openmpi_size, "PMI_SIZE"};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const char *size = getenv(sizes[i]);
        if (size != NULL)
            return strcmp(size, "1") != 0;
    }
    return getenv("PMIX_RANK") != NULL; /* whoever sets this alone does not tell how many */
}

bool ranks_speaks(void)
{
    static const char *const places[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *place = getenv(places[i]);
        if (place != NULL)
            return strcmp(place, "0") == 0;
    }
    return true;
}
