/* Objects that several documents hold. */
#include "analysis/exchange/launch/launch_kind.h"
#include "analysis/tell/contract/contract_row.h"
#include "models/memory/ledger.h"
#include "models/workload/software.h"

#define SHARED(object, ...)                                                                        \
    static const struct contract_row object##_keys[] = {__VA_ARGS__};                              \
    const struct contract_object contract_##object = {                                             \
        #object, object##_keys, sizeof object##_keys / sizeof *object##_keys}

SHARED(choice, ROW("key", WORD, "a key that the scenario leaves open"),
       ROW("value", WORD, "what was chosen for it"), ROW("why", WORD, "the reason"));

SHARED(layout, ROW("tp", COUNT, "tensor parallel ranks"), ROW("pp", COUNT, "pipeline stages"),
       ROW("dp", COUNT, "data parallel replicas"), ROW("cp", COUNT, "context parallel ranks"),
       ROW("ep", COUNT, "expert parallel ranks"),
       IN_NULL_ROW("etp", REAL, "", "tensor parallel ranks of an expert; null: as tp"),
       ROW("vpp", COUNT, "chunks of a stage"), ROW("microbatch", COUNT, "sequences"),
       {.name = "schedule",
        .type = CONTRACT_KIND,
        .doc = "order of the passes",
        .family = FAMILY_SCHEDULES},
       {.name = "sharding",
        .type = CONTRACT_KIND,
        .doc = "what data parallel ranks shard",
        .family = FAMILY_SHARDINGS},
       WORDS_ROW("recompute", recompute_names, "what is computed again in the backward pass"),
       ROW("recompute_layers", COUNT, "layers of a stage that recompute; 0: all of them"),
       ROW("sequence_parallel", FLAG, "Are activations between products split by tp?"),
       ROW("ends_count", FLAG, "Do embedding and head count as layers of the split?"),
       IN_NULL_ROW("first_stage_layers", REAL, "", "null: split evenly"),
       IN_NULL_ROW("last_stage_layers", REAL, "", "null: split evenly"));

#define FITTING_COLUMNS "set step_time_s=step_s tokens_per_s peak_reserved_bytes"
CONTRACT(fitting, COLUMNS_ROW(neighbour, FITTING_COLUMNS));
SHARED(advice, ROW("changes", COUNT, "changes of the layout that are tried together, at most"),
       ROW("tried", COUNT, "layouts tried"),
       OF_LIST_ROW("fitting", fitting, "those of them that fit, fastest first"));

SHARED(stage, COLUMNS_ROW(stage_memory, "stage ranks=rank_count first_rank layers fits"),
       SUMS_ROW("tenants", tenant_names, TENANT_COUNT, "B",
                "memory by what it holds, on a card of unlimited memory"),
       COLUMNS_ROW(stage_memory, "peak_allocated_bytes peak_reserved_bytes"));

SHARED(note, WORDS_ROW("weight", launch_weight_names, "refused, differs, or yours to set"),
       ROW("text", WORD, "what the framework does otherwise, or needs"));
