#include "analysis/explain/explanation.h"

#include <math.h>

#include "analysis/output/text/format.h"
#include "analysis/record/database/paced.h"
#include "analysis/record/database/record_file.h"
#include "analysis/record/database/restore.h"

/* The same version, catalogue and files give the same step to the last bits. */
#define SAME_STEP 1e-9

static bool take_elasticities(struct query *query, const char *path, unsigned threads,
                              struct explanation *out)
{
    const double kept_s = record_run(&out->record)->step_s;
    struct error *why = &out->no_elasticities;
    struct scenario *scenario = restore_scenario(query, path, NULL, why);
    if (scenario == NULL)
        return false;
    bool good = elasticity_find(scenario, threads, &out->elasticities, why);
    scenario_destroy(scenario);
    if (good && fabs(out->elasticities.step_s - kept_s) > SAME_STEP * kept_s)
        return error_set(why,
                         "the scenario that the database holds now takes %s a step, not %s: "
                         "another version, catalogue or file; run it again",
                         format_time(out->elasticities.step_s).s, format_time(kept_s).s);
    return good;
}

bool explanation_of(struct query *query, const char *path, struct arena *arena, unsigned threads,
                    struct explanation *out, struct error *error)
{
    *out = (struct explanation){.has_elasticities = false};
    if (!record_read(query, arena, &out->record, error))
        return false;
    out->unfit = record_run(&out->record)->fits == 0;
    if (!waterfall_of(&out->record, &out->waterfall, error) ||
        !paced_read(query, &out->waterfall.paced_s, error) ||
        !stands_on_read(query, arena, &out->record, &out->constants, error) ||
        !critical_path_find(query, arena, &out->path, error))
        return false;
    out->has_elasticities = take_elasticities(query, path, threads, out);
    return true;
}
