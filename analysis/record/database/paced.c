#include "analysis/record/database/paced.h"

#include <math.h>

/* Of the step: less is the rounding of sums. */
#define NOTHING 1e-9

/* Columns: paced seconds, seconds of the step; of the mean rank. */
static bool take(void *context, const struct query_row *row, struct error *error)
{
    const double paced_s = query_real(row, 0), step_s = query_real(row, 1);
    (void)error;
    *(double *)context = paced_s > NOTHING * step_s ? paced_s : 0.0;
    return true;
}

bool paced_read(struct query *query, double *seconds, struct error *error)
{
    *seconds = 0.0;
    return query_run(query,
                     "select coalesce(sum((t.busy_s - c.compute_s - c.recompute_s - c.optimizer_s) "
                     "* c.rank_count) / sum(c.rank_count), 0.0), coalesce(max(c.finish_s), 0.0) "
                     "from rank_class c join track t on t.rank_class = c.id and t.kind = 'stream' "
                     "and t.name = 'compute' where c.finish_s is not null",
                     NULL, take, seconds, error);
}
