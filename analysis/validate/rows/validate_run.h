/* validate_run.h - a training run as a row of published measurements tells it, and the scenario
 * that says the same.
 *
 * The scenario is a text that goes through the door of scenarios/, so that the same checks refuse
 * it. What a row leaves out is the usual of its software (software.yaml), of its GPU (its node) or
 * follows from its shape: gated blocks come with RMS norms, learned positions with biases and
 * LayerNorm, as in the GPT and Llama families. No name of a source, model or row is asked for. */
#ifndef ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_RUN_H
#define ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_RUN_H

#include "analysis/validate/table/validate_cells.h"
#include "analysis/validate/table/validate_text.h"
#include "scenarios/assemble/scenario.h"

enum {
    ZERO_UNKNOWN = 99
};
struct validate_run_model { /* 0, "", FLAG_UNSAID and ZERO_UNKNOWN: not said */
    uint64_t layers, hidden, heads, kv_heads, head_size, ffn_hidden, vocabulary;
    uint64_t experts, experts_per_token, moe_ffn_hidden, shared_experts, dense_layers;
    const char *ffn, *positions;
    enum cell_flag tied_embeddings;
};
struct validate_run_layout {
    uint64_t tp, pp, dp, cp, ep, vpp, zero, microbatch;
    enum cell_flag sequence_parallel;
    bool ends_count; /* embedding and head count as layers of the pipeline */
};
struct validate_run_says {
    bool attention_assumed; /* the source does not print it */
    /* Words of the row's name, which has no column for them: eager or compile; what a selective
     * recomputation repeats, every other layer; tensor parallelism overlapped (async). */
    bool eager, compile, layer, async;
    bool native;  /* ddp or fsdp, as PyTorch calls its data parallelism */
    bool undated; /* nobody says which software: that of a scenario that names none */
};
/* What any row of the same source, software and month did: a source ran one version. */
struct validate_run_peers {
    bool sequence_parallel, selective, fused;
};
struct validate_run {
    uint64_t sequence, global_batch;
    const char *gpu, *fabric;
    uint64_t gpus, gpus_per_node;
    const char *recompute, *attention, *precision, *schedule, *software;
    const char *released; /* month of the software; "": not known */
    double gradient_bytes;
    struct cells cells;              /* of the row; all 0: of none */
    struct validate_origins origins; /* of what does not stand in the column of its name */
    struct validate_stated stated;
    struct validate_run_model model;
    struct validate_run_layout layout;
    struct validate_run_says says;
    struct validate_run_peers peers;
};
/* Words of the columns attention and recompute that only some versions of a software have. */
bool validate_run_fused(const char *attention);
bool validate_run_selective(const char *recompute);
/* By the column names of steps.csv; columns that are not there read as empty. */
void validate_run_read(struct cells *cells, struct validate_run *out);
/* Writes the scenario of the run, every key with its origin; false with the row refused. */
bool validate_run_write(const struct validation *v, struct validate_run *run,
                        struct validate_text *out, struct validate_row *row);
/* A scenario without errors, to be freed by scenario_destroy; NULL with the row refused. */
struct scenario *validate_run_scenario(const struct validation *v, struct validate_run *run,
                                       struct validate_row *row);

/* The scenario of a row of steps.csv, and what was measured of it; NULL with the row refused. */
struct scenario *validate_steps_scenario(const struct validation *v, struct validate_row *row);

/* Reads a whole scenario; NULL with the row refused by its first error. */
struct scenario *validate_scenario(const struct validation *v, const char *text,
                                   struct validate_row *row);
/* Writes the `cluster:` section. gpus_per_node may be less than what the GPU's usual node holds:
 * a smaller node, or trays of one NVLink domain when the fabric says so. */
bool validate_cluster(const struct validation *v, const struct validate_run *run,
                      struct validate_text *out, struct validate_row *row);

/* The software profiles of the catalogue, by framework and year. */
struct validate_versions {
    struct software_profile *profiles;
    unsigned count; /* the one behind them: of a scenario that names none */
    struct card_year {
        const char *name;
        uint64_t release, node_gpus; /* of the usual node */
    } * cards;                       /* of the catalogue */
    unsigned card_count;
};
const struct validate_versions *validate_versions_read(struct arena *arena, const char *catalogue,
                                                       struct error *error);
/* The oldest version of the framework that can do what the run and its peers did and that no newer
 * one had superseded when the card came out; NULL: no such framework. */
const struct software_profile *validate_version(const struct validate_versions *versions,
                                                const struct validate_run *run);
/* The framework of the catalogue that is nearest to a name; NULL: none is near. */
const char *validate_framework_near(const struct validate_versions *versions, const char *name);

#endif
