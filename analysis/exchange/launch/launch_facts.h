/* launch_facts.h - facts of the model that no time depends on (model.facts) in a launch script:
 * each is said by an option, or the script is refused, since it would train something else. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_FACTS_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_FACTS_H

#include "analysis/exchange/launch/launch_job.h"

struct launch_fact {
    const char *fact; /* "key=": any value, which stands behind the option; "key=value": that one */
    const char *option; /* as the script has it, up to the value */
};
/* `options` ends with a NULL fact; call where an argument list is open. */
void launch_facts(const struct launch_job *job, struct launch_text *text,
                  const struct launch_fact *options);
/* Does the model have "key=value"? */
bool launch_has_fact(const struct launch_job *job, const char *fact);

#endif
