/* peer_case.h - documents of another estimator as texts, read by launched_case. */
#ifndef ORRERY_TESTS_SCENARIOS_IMPORT_PEER_CASE_H
#define ORRERY_TESTS_SCENARIOS_IMPORT_PEER_CASE_H

#include "scenarios/import/peers/peer.h"
#include "tests/scenarios/import/launched_case.h"

typedef bool peer_reader_fn(struct arena *arena, const struct peer_files *files, uint64_t gpus,
                            struct launched *out, struct error *error);
struct peer_case {
    const char *run, *model, *machine; /* under the names run.sh, llm.json, sys.json */
    bool card;                         /* the user names one; so he does without a machine */
    uint64_t gpus;
};
void peer_case_read(peer_reader_fn *reader, struct peer_case texts);
/* Lines of the scenario, ended by NULL. */
void peer_case_have(const char *const *lines);

#endif
