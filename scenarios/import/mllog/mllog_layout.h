/* mllog_layout.h - model, GPUs and layout of a run, from its log and the configuration that started
 * it, each with the place that says it.
 *
 * What neither says is not said here either. What both say must agree. Derived, where a term is
 * missing and the others are there:
 *
 *     GPUs         = nodes x GPUs of a node                        DGXNNODES x DGXNGPU
 *     dp           = GPUs / (tp x pp x cp), a whole number
 *     global batch = samples of a replica x dp                     MINIBS x dp
 *     samples of a replica = microbatches of a step x microbatch
 *
 * (mlcommons/training_results_v5.1, NVIDIA's conf/custom.yaml, model.global_batch_size.) Names of
 * variables are those of NVIDIA's and AMD's submissions. */
#ifndef ORRERY_SCENARIOS_IMPORT_MLLOG_MLLOG_LAYOUT_H
#define ORRERY_SCENARIOS_IMPORT_MLLOG_MLLOG_LAYOUT_H

#include "scenarios/import/mllog/mllog.h"
#include "scenarios/import/mllog/shell.h"

enum {
    MLLOG_NOTES_MAX = 4
};
enum mllog_flag {
    MLLOG_SEQUENCE_PARALLEL,
    MLLOG_DISTRIBUTED_OPTIMIZER,
    MLLOG_EMBEDDING_COUNTS, /* as a layer, in the split over the pipeline */
    MLLOG_HEAD_COUNTS,
    MLLOG_FP8,
    MLLOG_FP4,
    MLLOG_FP8_ATTENTION,
    MLLOG_GRAPH_FULL,  /* a CUDA graph of the whole step */
    MLLOG_GRAPH_LAYER, /* of each layer */
    MLLOG_FLAGS
};
struct mllog_said {
    double value;      /* 0: not said */
    const char *place; /* "config.sh:11, TENSOR_MODEL_PARALLEL" */
};
struct mllog_text {
    const char *text; /* NULL: not said */
    const char *place;
};
struct mllog_layout {
    struct mllog_text preset; /* of the catalogue's models */
    bool lora;
    struct mllog_said counts[MLLOG_COUNTS];
    struct mllog_said gpus, dp;
    struct {
        int value; /* -1: not said */
        const char *place;
    } flags[MLLOG_FLAGS];
    struct mllog_text precision;        /* as training.precision */
    struct mllog_text fp8_recipe;       /* as software.fp8_recipe */
    const char *notes[MLLOG_NOTES_MAX]; /* disagreements that are none of the layout */
    unsigned note_count;
};

/* The roles of a configuration's variables. False: it says none of them, or a value is none; a
 * sentence. */
bool mllog_config(struct arena *arena, const struct shell *config, const char *path,
                  struct mllog_layout *out, struct error *error);
/* Both. `config` NULL: there is none. False with a sentence: they contradict each other, or the
 * benchmark is not one of a model that a scenario can state. */
bool mllog_layout(struct arena *arena, const struct mllog *log, const struct shell *config,
                  const char *config_path, struct mllog_layout *out, struct error *error);

#endif
