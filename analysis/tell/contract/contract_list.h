/* contract_list.h - the documents: X(member of contract_row.h, name that --of takes). */
#ifndef ORRERY_ANALYSIS_TELL_CONTRACT_CONTRACT_LIST_H
#define ORRERY_ANALYSIS_TELL_CONTRACT_CONTRACT_LIST_H

#define CONTRACTS(X)                                                                               \
    X(run, "run")                                                                                  \
    X(check, "check")                                                                              \
    X(memory, "memory")                                                                            \
    X(plan, "plan")                                                                                \
    X(plan_machines, "plan-machines")                                                              \
    X(study, "study")                                                                              \
    X(lesson, "lesson")                                                                            \
    X(collective, "collective")                                                                    \
    X(chakra, "chakra")                                                                            \
    X(explain, "explain")                                                                          \
    X(walls, "walls")                                                                              \
    X(compare, "compare")                                                                          \
    X(compare_trace, "compare-trace")                                                              \
    X(watch, "watch")                                                                              \
    X(launch, "launch")                                                                            \
    X(validate, "validate")                                                                        \
    X(profile, "profile")                                                                          \
    X(list, "list")                                                                                \
    X(doctor, "doctor")                                                                            \
    X(commands, "commands")

#endif
