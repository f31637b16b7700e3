/* rows.h - the tables of a run's database that reports read, each as one list of columns: from it
 * come the SQL table with its entries in `doc`, the C struct of a row, and what writes and reads it
 * by name. Beside them stands `run`, whose list is metrics.h.
 *
 * X(t, type, column, unit, doc)
 *   t     the table: the list's own parameter
 *   type  INTEGER, FLAG, REAL, TEXT; those with _OR_NULL may be null: ROW_NULL, NAN, NULL
 *
 * Every table also has `id`, the number of the row from 1, and `run`. A row is plain data; its
 * texts are borrowed. Numbers go through the database as they are, to the last bit. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_ROWS_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/record/numbers/metrics.h"

/* No whole number. */
#define ROW_NULL INT64_MIN

#define COLUMNS_stage_memory(X, t)                                                                 \
    X(t, INTEGER, stage, "", "pipeline stage, from 0")                                             \
    X(t, INTEGER, rank_count, "", "number of ranks")                                               \
    X(t, INTEGER, first_rank, "", "its lowest rank")                                               \
    X(t, INTEGER, layers, "", "transformer layers of the stage")                                   \
    X(t, FLAG, fits, "", "1: it has enough memory")                                                \
    X(t, REAL, bubble_s, "s", "pipeline bubble of its mean rank; 0: no step was timed")            \
    X(t, REAL, weights_bytes, "B",                                                                 \
      "weights at the peak; these and the rows that follow: on a card of unlimited memory")        \
    X(t, REAL, gradients_bytes, "B", "gradients")                                                  \
    X(t, REAL, master_bytes, "B", "master weights in FP32")                                        \
    X(t, REAL, moments_bytes, "B", "moments of the optimizer")                                     \
    X(t, REAL, activations_bytes, "B", "activations kept for the backward pass")                   \
    X(t, REAL, temporary_bytes, "B", "buffers of kernels")                                         \
    X(t, REAL, communication_bytes, "B", "buffers of communication")                               \
    X(t, REAL, context_bytes, "B", "CUDA contexts and libraries")                                  \
    X(t, REAL, fragmentation_bytes, "B", "reserved from the card, but not allocated")              \
    X(t, REAL, peak_allocated_bytes, "B", "largest sum of live blocks")                            \
    X(t, REAL, peak_reserved_bytes, "B", "largest memory reserved from the card")

#define COLUMNS_stream_use(X, t)                                                                   \
    X(t, TEXT, stream, "", "tp, pp, dp, cp, ep, ...")                                              \
    X(t, INTEGER, op_count, "", "ops of the rank with the most")                                   \
    X(t, REAL, busy_s, "s", "busy time of the mean rank")                                          \
    X(t, REAL, hidden_s, "s", "part of busy_s during which compute was busy too")                  \
    X(t, REAL, waited_s, "s", "waiting for peers before a transfer could begin")

#define COLUMNS_link(X, t)                                                                         \
    X(t, TEXT, kind, "", "nvlink, pcie, host, nic or fabric")                                      \
    X(t, TEXT, from, "", "start of the representative wire")                                       \
    X(t, TEXT, to, "", "end of the representative wire")                                           \
    X(t, INTEGER, link_count, "", "number of wires in the class")                                  \
    X(t, REAL, bytes_per_s, "B/s", "capacity of one wire")                                         \
    X(t, REAL, moved_bytes, "B", "bytes over one wire per step")                                   \
    X(t, REAL, busy_s, "s", "time during which the wire carried data")

#define COLUMNS_out_of_memory(X, t)                                                                \
    X(t, TEXT, place, "", "card, or host: the memory of a node's CPUs")                            \
    X(t, INTEGER, rank, "", "first rank that runs out of memory")                                  \
    X(t, INTEGER, stage, "", "its pipeline stage")                                                 \
    X(t, TEXT, tensor, "", "tensor that could not be allocated")                                   \
    X(t, TEXT, tenant, "", "memory category of that tensor")                                       \
    X(t, TEXT, at, "", "moment, in words")                                                         \
    X(t, TEXT, call_site, "", "place in the software")                                             \
    X(t, INTEGER, step, "", "training step; 0: before the first")                                  \
    X(t, REAL, at_s, "s", "time within a step that was timed; else 0")                             \
    X(t, REAL, bytes, "B", "size of the request")                                                  \
    X(t, REAL, short_bytes, "B", "part of the request beyond the free memory")                     \
    X(t, REAL, allocated_bytes, "B", "allocated at that moment")                                   \
    X(t, REAL, reserved_bytes, "B", "reserved at that moment")                                     \
    X(t, TEXT, would_help, "", "what would make that category smaller")                            \
    X(t, INTEGER, changes, "", "number of layout changes tried in combination")                    \
    X(t, INTEGER, tried, "", "layouts tried")                                                      \
    X(t, INTEGER, fitting, "", "layouts tried that fit")

#define COLUMNS_neighbour(X, t)                                                                    \
    X(t, TEXT, set, "", "the change, in the syntax of --set")                                      \
    X(t, REAL_OR_NULL, step_s, "s", "step time; null: not timed")                                  \
    X(t, REAL_OR_NULL, tokens_per_s, "tokens/s", "its throughput")                                 \
    X(t, REAL, peak_reserved_bytes, "B", "memory that its fullest rank reserves")

#define COLUMNS_kernel_evidence(X, t)                                                              \
    X(t, TEXT, kernel, "", "name of the kernel")                                                   \
    X(t, TEXT, evidence, "", "measured, interpolated, extrapolated or model")                      \
    X(t, REAL, gpu_s, "s", "its time per step of the mean rank")                                   \
    X(t, REAL, time_ratio, "1", "gpu_s / time of all kernels")                                     \
    X(t, TEXT, profile, "", "device and date of the measurement")

#define COLUMNS_failure_cause(X, t)                                                                \
    X(t, TEXT, name, "", "name of the cause in the scenario")                                      \
    X(t, TEXT, unit, "", "gpu, nic, node, domain or job")                                          \
    X(t, INTEGER, interruptions, "",                                                               \
      "failures of this cause that stopped the job or replicas of it")                             \
    X(t, TEXT, beside, "",                                                                         \
      "keys of the cause that a trace of its failures does not hold, to stand beside it")          \
    X(t, REAL, hit_ratio, "1", "probability that a node of a struck domain fails")                 \
    X(t, TEXT, drawn, "",                                                                          \
      "key of a law that is drawn for each failure and that no trace gives again; empty: none")

#define COLUMNS_interruption(X, t)                                                                 \
    X(t, INTEGER, ts, "ns", "when")                                                                \
    X(t, INTEGER_OR_NULL, dur, "ns", "time until the job ran again; null: the run ended first")    \
    X(t, TEXT, cause, "", "what failed")                                                           \
    X(t, TEXT, unit, "", "gpu, nic, node, domain or job")                                          \
    X(t, INTEGER, unit_id, "", "number of the unit, from 0")                                       \
    X(t, INTEGER_OR_NULL, node, "", "its node, or the first of its domain; null: the whole job")   \
    X(t, INTEGER, step, "", "training step in which it failed")                                    \
    X(t, INTEGER_OR_NULL, loaded_step, "",                                                         \
      "step of the checkpoint that was loaded; 0: the start; null: the other replicas continued")  \
    X(t, REAL, lost_s, "s", "work lost since the checkpoint that was loaded")                      \
    X(t, REAL, lost_steps, "", "work lost, in steps")                                              \
    X(t, REAL, down_s, "s", "time until the job ran again, or the run ended")                      \
    X(t, REAL, detect_s, "s", "time until the failure was noticed")                                \
    X(t, REAL, diagnose_s, "s", "finding what failed")                                             \
    X(t, REAL, cordon_s, "s", "taking the node out")                                               \
    X(t, REAL, allocate_s, "s", "finding the replacement node")                                    \
    X(t, REAL, schedule_s, "s", "the scheduler places the job anew")                               \
    X(t, REAL, provision_s, "s", "booting and provisioning a cold node")                           \
    X(t, REAL, start_s, "s", "processes, imports, CUDA contexts")                                  \
    X(t, REAL, communicators_s, "s", "NCCL communicators")                                         \
    X(t, REAL, warmup_s, "s", "compilation, data loader, first slow steps")                        \
    X(t, REAL, wait_s, "s", "waiting for a spare or a repair")                                     \
    X(t, REAL, load_s, "s", "loading the checkpoint")                                              \
    X(t, INTEGER_OR_NULL, level, "",                                                               \
      "level of the checkpoint that was loaded, from 0; null: the start")                          \
    X(t, TEXT_OR_NULL, tier, "", "storage tier of that checkpoint")                                \
    X(t, INTEGER, strikes, "", "further failures during the recovery")                             \
    X(t, FLAG, spare_taken, "", "1: a spare replaced the node")                                    \
    X(t, FLAG, others_went_on, "", "1: only the replica that failed stopped")

#define COLUMNS_badput(X, t)                                                                       \
    X(t, TEXT, class, "",                                                                          \
      "useful, checkpoint, lost_work, detect, restart, wait, degraded, maintenance, idle")         \
    X(t, TEXT, link, "", "link of the restart chain; empty: the class is not split")               \
    X(t, REAL, seconds, "s", "wall time")                                                          \
    X(t, REAL_OR_NULL, joules, "J",                                                                \
      "energy of paid_gpus at the wall in this time; null: power not known")

#define COLUMNS_checkpoint_level(X, t)                                                             \
    X(t, INTEGER, level, "", "level of the policy, from 0, the fastest")                           \
    X(t, TEXT, tier, "", "its storage tier")                                                       \
    X(t, INTEGER, every, "", "N: every Nth checkpoint is saved at this level")                     \
    X(t, REAL, stall_s, "s", "time for which a save blocks training")                              \
    X(t, REAL, persist_s, "s", "time from then until it is durable")                               \
    X(t, REAL, load_s, "s", "time to load a checkpoint")                                           \
    X(t, INTEGER, saves, "", "checkpoints that became durable")                                    \
    X(t, REAL, slowdown_ratio, "1",                                                                \
      "step time while a checkpoint is written / step time otherwise")                             \
    X(t, FLAG, in_memory, "", "1: memory of nodes, which does not wear out")                       \
    X(t, REAL, bytes_per_save, "B", "bytes moved by a save, all copies counted; 0: not known")     \
    X(t, REAL, written_bytes, "B", "saves x bytes_per_save")                                       \
    X(t, REAL, mean_bytes_per_s, "B/s", "written_bytes / wall-clock time")                         \
    X(t, REAL_OR_NULL, peak_bytes_per_s, "B/s",                                                    \
      "rate while a save is written; null: a save takes no time")                                  \
    X(t, REAL_OR_NULL, busy_ratio, "1", "share of the wall-clock time spent writing to it")        \
    X(t, REAL, kept_bytes, "B", "size of all checkpoints that are kept")                           \
    X(t, TEXT_OR_NULL, warning, "", "why the tier cannot sustain this load")

#define COLUMNS_stagger(X, t)                                                                      \
    X(t, REAL, lost_s, "s", "lost to shared wires by the group that loses most")                   \
    X(t, INTEGER, draws, "", "steps whose ranks start apart; 0: none was played")                  \
    X(t, REAL_OR_NULL, apart_s, "s", "ranks start up to so much apart")                            \
    X(t, REAL_OR_NULL, shortest_step_time_s, "s", "the shortest of those steps")                   \
    X(t, REAL_OR_NULL, spared_ratio, "1", "share of the step that it is shorter; below 0: longer")

#define COLUMNS_uncertainty(X, t)                                                                  \
    X(t, INTEGER, draws, "", "draws of the uncertain figures")                                     \
    X(t, INTEGER, constants, "", "number of uncertain figures")                                    \
    X(t, REAL, step_p10_s, "s", "10th percentile of the step time")                                \
    X(t, REAL, step_p50_s, "s", "median of the step time")                                         \
    X(t, REAL, step_p90_s, "s", "90th percentile of the step time")                                \
    X(t, REAL, fits_ratio, "1", "share of the draws that fit in memory")                           \
    X(t, REAL, model_variance_ratio, "1", "share of the variance due to the model's own error")    \
    X(t, REAL, model_log_spread, "1", "standard deviation of the logarithm of that error")         \
    X(t, TEXT, model_error_source, "", "where that error was measured")                            \
    X(t, TEXT, measured, "", "what has been measured near this step, or what has not")             \
    X(t, INTEGER, own_steps, "", "the user's own measured steps (--measured) taken into account")  \
    X(t, REAL, own_shift_ratio, "1", "relative shift that they give the median step time")         \
    X(t, REAL, prior_log_spread, "1", "model_log_spread without those steps")                      \
    X(t, REAL_OR_NULL, node_p10_w, "W", "10th percentile of node_w; null: power not known")        \
    X(t, REAL_OR_NULL, node_p50_w, "W", "median of node_w")                                        \
    X(t, REAL_OR_NULL, node_p90_w, "W", "90th percentile of node_w")                               \
    X(t, REAL_OR_NULL, token_p10_j, "J", "10th percentile of energy_j_per_token")                  \
    X(t, REAL_OR_NULL, token_p50_j, "J", "median of energy_j_per_token")                           \
    X(t, REAL_OR_NULL, token_p90_j, "J", "90th percentile of energy_j_per_token")                  \
    X(t, REAL, power_log_spread, "1",                                                              \
      "standard deviation of the logarithm of the model's own error of power")                     \
    X(t, TEXT, power_evidence, "", "what power was measured that is like this step's")             \
    X(t, TEXT_OR_NULL, against, "", "the scenario that the step is compared with; null: none")     \
    X(t, REAL_OR_NULL, against_step_s, "s", "its step time with the nominal figures")              \
    X(t, REAL_OR_NULL, against_fits_ratio, "1", "share of its draws that fit in memory")           \
    X(t, REAL_OR_NULL, faster_probability, "1",                                                    \
      "probability that this step is faster than that one")                                        \
    X(t, TEXT_OR_NULL, verdict, "", "that probability in words")                                   \
    X(t, REAL_OR_NULL, ratio_p10, "", "time of that step / time of this one: 10th percentile")     \
    X(t, REAL_OR_NULL, ratio_p50, "", "the same: median")                                          \
    X(t, REAL_OR_NULL, ratio_p90, "", "the same: 90th percentile")                                 \
    X(t, REAL_OR_NULL, shared_ratio, "1", "share of the model's error common to both")

#define COLUMNS_influence(X, t)                                                                    \
    X(t, TEXT, name, "", "uncertain figure; the most influential come first")                      \
    X(t, REAL, value, "", "nominal value")                                                         \
    X(t, REAL, error_ratio, "1", "its standard error")                                             \
    X(t, TEXT, origin, "", "source of the value")                                                  \
    X(t, REAL, elasticity, "", "d log step / d log figure")                                        \
    X(t, REAL, variance_ratio, "1", "its share of the variance of log step")

#define COLUMNS_lesson(X, t)                                                                       \
    X(t, INTEGER, place, "", "its place in the course")                                            \
    X(t, TEXT, shows, "", "what the run shows")                                                    \
    X(t, TEXT, look_for, "", "what to look at, and where")                                         \
    X(t, TEXT, next, "", "what to try afterwards; empty: nothing")

#define COLUMNS_lesson_run(X, t)                                                                   \
    X(t, TEXT, name, "", "name of the run in answers; empty: this run")                            \
    X(t, TEXT, set, "", "difference from this run, in the syntax of --set")                        \
    X(t, TEXT, shows, "", "description in a few words")                                            \
    X(t, INTEGER_OR_NULL, fits, "", "1: every rank has enough memory; null: not simulated")        \
    X(t, REAL_OR_NULL, step_s, "s", "step time; null: not timed")                                  \
    X(t, REAL_OR_NULL, tokens_per_s_per_gpu, "tokens/s", "throughput per GPU")                     \
    X(t, REAL_OR_NULL, mfu_ratio, "1", "model FLOPs utilisation")                                  \
    X(t, REAL_OR_NULL, bubble_ratio, "1", "pipeline bubble / step time")                           \
    X(t, REAL_OR_NULL, peak_reserved_bytes, "B", "memory of the fullest rank")                     \
    X(t, REAL_OR_NULL, goodput_ratio, "1", "over weeks: tokens kept / tokens without failures")

#define COLUMNS_question(X, t)                                                                     \
    X(t, TEXT, ask, "", "the question")                                                            \
    X(t, TEXT, answer, "", "the formula of its answer")                                            \
    X(t, REAL_OR_NULL, value, "",                                                                  \
      "the answer in SI units; null, as are unit, text and why, after `orrery run`: it simulates " \
      "one run, `orrery lesson` all")                                                              \
    X(t, TEXT_OR_NULL, unit, "", "its unit; 1: a ratio; empty: a number")                          \
    X(t, TEXT_OR_NULL, text, "", "the answer as text")                                             \
    X(t, TEXT_OR_NULL, why, "", "explanation of the answer")

#define COLUMNS_memory_recipe(X, t)                                                                \
    X(t, TEXT, precision, "", "name in scenarios")                                                 \
    X(t, TEXT, optimizer, "", "name in scenarios")                                                 \
    X(t, REAL, weights_bytes, "B", "weights per parameter; the next three are per parameter too")  \
    X(t, REAL, gradients_bytes, "B", "gradient as the backward pass writes it")                    \
    X(t, REAL, master_bytes, "B", "the optimizer's copy of the weight; 0: none")                   \
    X(t, REAL, moments_bytes, "B", "the optimizer's moments")                                      \
    X(t, REAL, activations_bytes, "B",                                                             \
      "activations kept per layer, token and hidden unit, by the rule of thumb")

#define COLUMNS_message(X, t)                                                                      \
    X(t, TEXT, severity, "",                                                                       \
      "warning, choice, default, failure, skipped, profile, published, note")                      \
    X(t, TEXT, key, "", "key of the scenario concerned; for a note, its time")                     \
    X(t, TEXT, text, "", "the message; for a choice or default, the value")                        \
    X(t, TEXT_OR_NULL, doc, "", "for a choice, the reason; for a default, the meaning of the key")

#define COLUMNS_task_step(X, t)                                                                    \
    X(t, TEXT, traces, "", "prefix of the trace files' names, before the rank")                    \
    X(t, TEXT, machine, "", "cluster on which the traces were simulated")                          \
    X(t, TEXT, announced_words, "", "what of it is announced; empty: nothing is")                  \
    X(t, TEXT, digest, "", "hash of the times of all trace nodes")                                 \
    X(t, REAL, step_s, "s", "time until the last rank finishes")                                   \
    X(t, INTEGER, rank_count, "", "ranks, one trace each")                                         \
    X(t, INTEGER, node_count, "", "nodes of all traces; the counts that follow are of these")      \
    X(t, INTEGER, compute_count, "", "compute nodes")                                              \
    X(t, INTEGER, by_rates_count, "", "compute nodes timed by the GPU model")                      \
    X(t, INTEGER, untimed_count, "", "compute nodes that take no time")                            \
    X(t, INTEGER, host_count, "", "host nodes")                                                    \
    X(t, INTEGER, memory_count, "", "memory nodes")                                                \
    X(t, INTEGER, collective_count, "", "collectives, each counted once for all its ranks")        \
    X(t, INTEGER, message_count, "", "messages, each counted once for sender and receiver")        \
    X(t, INTEGER, dropped_count, "",                                                               \
      "dependencies on nodes that are not in the traces (--drop-missing)")                         \
    X(t, INTEGER, event_count, "", "events simulated")

#define COLUMNS_task_rank(X, t)                                                                    \
    X(t, INTEGER, rank, "", "from 0")                                                              \
    X(t, REAL, compute_s, "s", "time computing; with the next five columns it sums to the step")   \
    X(t, REAL, memory_s, "s", "loading or storing, and none of the above")                         \
    X(t, REAL, exposed_communication_s, "s", "communicating, and none of the above")               \
    X(t, REAL, host_s, "s", "host work, and none of the above")                                    \
    X(t, REAL, wait_s, "s", "waiting for ranks that have not arrived, and none of the above")      \
    X(t, REAL, done_s, "s", "finished, while others have not")                                     \
    X(t, REAL, communicating_s, "s",                                                               \
      "a collective or message of the rank is in progress, hidden or not")

#define COLUMNS_task_group(X, t)                                                                   \
    X(t, TEXT, name, "", "name in the traces; message: a sender and a receiver")                   \
    X(t, INTEGER, rank_count, "", "number of ranks")                                               \
    X(t, INTEGER, first_rank, "", "its lowest rank; for a message the sender")                     \
    X(t, INTEGER, last_rank, "", "its highest rank; for a message the receiver")                   \
    X(t, INTEGER, meeting_count, "", "number of collectives or messages")                          \
    X(t, REAL, payload_bytes, "B", "payload of all of them")                                       \
    X(t, REAL, moving_s, "s", "time during which one of them is in progress")

/* T(table, doc), in the order in which they are written. */
#define ROW_TABLES(T)                                                                              \
    T(stage_memory,                                                                                \
      "Memory of each pipeline stage, one row for each set of ranks with the same contents.")      \
    T(stream_use, "Streams of the mean rank: busy time and the part hidden behind compute.")       \
    T(link, "Wires, one row for each class that carries equal traffic at equal times; one "        \
            "direction each.")                                                                     \
    T(out_of_memory, "Where memory runs out first; empty when everything fits.")                   \
    T(neighbour, "Similar layouts that fit, fastest first, when this one does not.")               \
    T(kernel_evidence, "Evidence for kernel times; empty without cluster.profile.")                \
    T(failure_cause, "Causes of failures in the order of the scenario; empty for a single step.")  \
    T(interruption, "Every stop of the job over weeks of training, and how long each link of the " \
                    "restart chain took; empty for a single step.")                                \
    T(badput, "Wall time by class in a simulation of weeks; empty for a single step.")             \
    T(checkpoint_level,                                                                            \
      "Each storage tier of checkpoints: cost of a save, and bytes written in total.")             \
    T(stagger,                                                                                     \
      "The step again with ranks that start apart: what it owes to lock-step. Empty where "        \
      "memory ends before it.")                                                                    \
    T(uncertainty, "Uncertainty of the step time; empty without --uncertainty.")                   \
    T(influence, "The figures that dominate the uncertainty; empty without --uncertainty.")        \
    T(lesson, "The lesson of this run; empty where the scenario has none.")                        \
    T(lesson_run, "Runs that the lesson's answers compare, this run first.")                       \
    T(question, "Questions of the lesson, with answers computed from the runs.")                   \
    T(memory_recipe, "Bytes per parameter and per activation for each precision and optimizer: "   \
                     "the rule of thumb, for teaching; empty where the scenario has no lesson.")   \
    T(task_step, "Execution traces that were simulated; empty in the database of a run.")          \
    T(task_rank, "Time by activity for each rank of those traces.")                                \
    T(task_group, "Groups of ranks in those traces, and the pairs that exchange messages.")        \
    T(message,                                                                                     \
      "Messages to the reader: warnings, choices, defaults taken, out of memory, captions.")

typedef int64_t row_INTEGER;
typedef int64_t row_INTEGER_OR_NULL;
typedef int64_t row_FLAG;
typedef double row_REAL;
typedef double row_REAL_OR_NULL;
typedef const char *row_TEXT;
typedef const char *row_TEXT_OR_NULL;

struct run_row {
#define X(column, type, unit, key, when, study, more, doc, getter) row_##type column;
    METRICS(X)
#undef X
};
#define X(t, type, column, unit, doc) row_##type column;
#define T(table, doc)                                                                              \
    struct table##_row {                                                                           \
        COLUMNS_##table(X, table)                                                                  \
    };
ROW_TABLES(T)
#undef T
#undef X

enum row_type {
    ROW_INTEGER,
    ROW_REAL,
    ROW_TEXT
};
enum row_when { /* a column of `run` is known */
    ROW_ALWAYS,
    ROW_TIMED,
    ROW_WEEKS
};
struct row_column {
    const char *name, *unit, *doc;
    const char *key; /* of JSON; "no_key": none */
    size_t offset;   /* in the row's struct */
    enum row_when when;
    enum row_type type;
    bool flag, or_null;
};
struct row_table {
    const char *name, *doc;
    const struct row_column *columns;
    unsigned column_count;
    size_t size; /* of the row's struct */
};
enum row_table_index {
    ROW_run,
#define T(table, doc) ROW_##table,
    ROW_TABLES(T)
#undef T
    ROW_TABLE_COUNT
};
extern const struct row_table row_tables[ROW_TABLE_COUNT];

/* A cell of a row, which must have its type. */
int64_t row_integer(const void *row, const struct row_column *column);
double row_real(const void *row, const struct row_column *column);
const char *row_text(const void *row, const struct row_column *column);

#endif
