/* mllog.h - a result log of MLPerf Training: when the run started, how long its steps took, and
 * what it says of its batch and layout.
 *
 * An event is a line that holds `:::MLLOG {...}`, whatever a launcher wrote before it; other lines,
 * and `:::MLLOG` without an object, are passed over and counted. Times are milliseconds since 1970
 * (`time_ms`). One file is one run: a second `run_start`, or an `init_start` after it, is refused,
 * and so are clocks that go back by more than a second. (Format: mlcommons/logging, mllog/mllog.py
 * and mllog/constants.py; what stands in a log and how often: compliance_checker/training_*.)
 *
 * The time of a step comes from three places, the first that is there: `train_step_time` of
 * `tracked_stats`, in seconds; blocks, from block_start to block_stop without the evaluations in
 * between, over their steps; `throughput` of `tracked_stats`, in samples a second, against
 * global_batch_size. Of each it is the median. They must agree: what goes wrong in such a log
 * (units, microbatches or GPUs counted as steps, two loggers) is wrong by a whole factor, so two
 * that are nearer to twice than to once each other contradict. */
#ifndef ORRERY_SCENARIOS_IMPORT_MLLOG_MLLOG_H
#define ORRERY_SCENARIOS_IMPORT_MLLOG_MLLOG_H

#include "scenarios/import/reader/import_text.h"

/* Whole numbers that a log or a configuration may say. */
enum mllog_count {
    MLLOG_TP,
    MLLOG_PP,
    MLLOG_CP,
    MLLOG_EP,
    MLLOG_VPP,
    MLLOG_MICROBATCH,
    MLLOG_GLOBAL_BATCH,
    MLLOG_SEQUENCE,
    MLLOG_ACCUMULATION,    /* microbatches of a step */
    MLLOG_REPLICA_SAMPLES, /* samples of a step for each data parallel replica */
    MLLOG_NODES,
    MLLOG_NODE_GPUS,
    MLLOG_LORA_RANK,
    MLLOG_LAYERS,
    MLLOG_COUNTS
};
enum mllog_word {
    MLLOG_BENCHMARK,
    MLLOG_PLATFORM,
    MLLOG_ORGANISATION,
    MLLOG_PRECISION, /* the lowest of linear layers */
    MLLOG_WORDS
};
enum mllog_source {
    MLLOG_STEP_TIMES,
    MLLOG_BLOCKS,
    MLLOG_THROUGHPUTS,
    MLLOG_SOURCES
};
enum {
    MLLOG_ROWS_MAX = 1 << 20,
    MLLOG_COUNT_MAX = 1000000000
};
/* What block_start, block_stop, epoch_start or epoch_stop say; NAN: not said. */
struct mllog_mark {
    double at_s;
    double step;    /* step, step_num */
    double samples; /* samples_count, or first_epoch_num, epoch_num, in samples or tokens */
    double count;   /* epoch_count, likewise */
};
/* A stretch of training. */
struct mllog_span {
    struct mllog_mark start, stop;
    double evaluation_s; /* within it */
    unsigned line;
};
struct mllog_spans {
    struct mllog_span *rows;
    uint32_t count, room;
    unsigned halves; /* a start or a stop without the other: left out */
};
struct mllog_series {
    double *rows;
    uint32_t count, room;
    double sum;
    unsigned line; /* of the last */
};
struct mllog {
    struct arena *arena;
    const char *path;
    struct {
        double value; /* 0: not said */
        unsigned line;
    } counts[MLLOG_COUNTS];
    struct {
        const char *text; /* NULL: not said */
        unsigned line;
    } words[MLLOG_WORDS];
    struct {
        double init_start_s, init_stop_s, run_start_s, run_stop_s, last_s; /* NAN: not logged */
        const char *status;                                                /* of run_stop */
    } run;
    struct mllog_spans blocks, epochs;
    struct mllog_series step_times, throughputs;
    struct {
        unsigned events, no_events, power;
    } lines;
};
/* The time of a step by one source. */
struct mllog_step {
    double step_s;      /* 0: this source is not there */
    unsigned samples;   /* values of which it is the median */
    unsigned line;      /* of the last of them */
    const char *unread; /* of a source that is there and tells no step: why */
};

/* Reads a log; what must be there is: submission_benchmark, global_batch_size, init_start,
 * run_start. False with a sentence, file and line. */
bool mllog_read(struct arena *arena, const struct import_file *file, struct mllog *out,
                struct error *error);
/* The steps by each source; the first of those that are there is the log's. False with a sentence:
 * there is none, they contradict the clock of the log, or each other. */
bool mllog_steps(const struct mllog *log, struct mllog_step steps[MLLOG_SOURCES],
                 struct error *error);

#endif
