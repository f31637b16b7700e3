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
#ifndef ORRERY_ANALYSIS_RESULT_ROWS_H
#define ORRERY_ANALYSIS_RESULT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/result/metrics.h"

/* No whole number. */
#define ROW_NULL INT64_MIN

#define COLUMNS_stage_memory(X, t)                                                                 \
    X(t, INTEGER, stage, "", "pipeline stage, from 0")                                             \
    X(t, INTEGER, rank_count, "", "its ranks")                                                     \
    X(t, INTEGER, first_rank, "", "the lowest of them")                                            \
    X(t, INTEGER, layers, "", "transformer layers of the stage")                                   \
    X(t, FLAG, fits, "", "1: it has enough memory")                                                \
    X(t, REAL, bubble_s, "s", "bubble of its mean rank; 0 where no step was timed")                \
    X(t, REAL, weights_bytes, "B",                                                                 \
      "weights at the peak, as all that follow on a card without end")                             \
    X(t, REAL, gradients_bytes, "B", "gradients")                                                  \
    X(t, REAL, master_bytes, "B", "master weights in FP32")                                        \
    X(t, REAL, moments_bytes, "B", "moments of the optimizer")                                     \
    X(t, REAL, activations_bytes, "B", "activations kept for the backward pass")                   \
    X(t, REAL, temporary_bytes, "B", "buffers of kernels")                                         \
    X(t, REAL, communication_bytes, "B", "buffers of communication")                               \
    X(t, REAL, context_bytes, "B", "CUDA contexts and libraries")                                  \
    X(t, REAL, fragmentation_bytes, "B", "reserved from the card, but not allocated")              \
    X(t, REAL, peak_allocated_bytes, "B", "largest sum of live blocks")                            \
    X(t, REAL, peak_reserved_bytes, "B", "largest memory taken from the card")

#define COLUMNS_stream_use(X, t)                                                                   \
    X(t, TEXT, stream, "", "tp, pp, dp, cp, ep, ...")                                              \
    X(t, INTEGER, op_count, "", "ops of the rank that has most")                                   \
    X(t, REAL, busy_s, "s", "of the mean rank")                                                    \
    X(t, REAL, hidden_s, "s", "of that, while compute was busy too")                               \
    X(t, REAL, waited_s, "s", "waiting for peers before a transfer could begin")

#define COLUMNS_link(X, t)                                                                         \
    X(t, TEXT, kind, "", "nvlink, pcie, host, nic or fabric")                                      \
    X(t, TEXT, from, "", "where the representative wire begins")                                   \
    X(t, TEXT, to, "", "where it ends")                                                            \
    X(t, INTEGER, link_count, "", "wires in the class")                                            \
    X(t, REAL, bytes_per_s, "B/s", "capacity of one wire")                                         \
    X(t, REAL, moved_bytes, "B", "through one wire in the step")                                   \
    X(t, REAL, busy_s, "s", "time in which something moved")

#define COLUMNS_out_of_memory(X, t)                                                                \
    X(t, TEXT, place, "", "card, or host: the memory of a node's CPUs")                            \
    X(t, INTEGER, rank, "", "the first rank without room")                                         \
    X(t, INTEGER, stage, "", "its pipeline stage")                                                 \
    X(t, TEXT, tensor, "", "what found no room")                                                   \
    X(t, TEXT, tenant, "", "what that belongs to")                                                 \
    X(t, TEXT, at, "", "when, in words")                                                           \
    X(t, TEXT, call_site, "", "where in the software")                                             \
    X(t, INTEGER, step, "", "training step; 0: before the first")                                  \
    X(t, REAL, at_s, "s", "inside a step that was timed; else 0")                                  \
    X(t, REAL, bytes, "B", "asked for")                                                            \
    X(t, REAL, short_bytes, "B", "more than there is left")                                        \
    X(t, REAL, allocated_bytes, "B", "allocated by then")                                          \
    X(t, REAL, reserved_bytes, "B", "reserved by then")                                            \
    X(t, TEXT, would_help, "", "what makes that tenant smaller")                                   \
    X(t, INTEGER, changes, "", "changes of the layout that were tried together")                   \
    X(t, INTEGER, tried, "", "layouts tried")                                                      \
    X(t, INTEGER, fitting, "", "of them, that fit")

#define COLUMNS_neighbour(X, t)                                                                    \
    X(t, TEXT, set, "", "the change, as --set takes it")                                           \
    X(t, REAL_OR_NULL, step_s, "s", "time of its step; null: not timed")                           \
    X(t, REAL_OR_NULL, tokens_per_s, "tokens/s", "its throughput")                                 \
    X(t, REAL, peak_reserved_bytes, "B", "memory that its fullest rank reserves")

#define COLUMNS_kernel_evidence(X, t)                                                              \
    X(t, TEXT, kernel, "", "name of the kernel")                                                   \
    X(t, TEXT, evidence, "", "measured, interpolated, extrapolated or model")                      \
    X(t, REAL, gpu_s, "s", "its time in a step of the mean rank")                                  \
    X(t, REAL, time_ratio, "1", "that over the time of all kernels")                               \
    X(t, TEXT, profile, "", "what it was measured on and when")

#define COLUMNS_failure_cause(X, t)                                                                \
    X(t, TEXT, name, "", "as the scenario calls it")                                               \
    X(t, TEXT, unit, "", "gpu, nic, node, domain or job")                                          \
    X(t, INTEGER, interruptions, "", "times that the job stopped for it")

#define COLUMNS_interruption(X, t)                                                                 \
    X(t, INTEGER, ts, "ns", "when")                                                                \
    X(t, INTEGER_OR_NULL, dur, "ns", "until the job ran again; null: the run ended before")        \
    X(t, TEXT, cause, "", "what failed")                                                           \
    X(t, TEXT, unit, "", "gpu, nic, node, domain or job")                                          \
    X(t, INTEGER, unit_id, "", "which one, from 0")                                                \
    X(t, INTEGER_OR_NULL, node, "", "its node, or the first of its domain; null: the whole job")   \
    X(t, INTEGER, step, "", "training step that it struck")                                        \
    X(t, REAL, lost_s, "s", "work since the checkpoint that was loaded")                           \
    X(t, REAL, lost_steps, "", "the same in steps")                                                \
    X(t, REAL, down_s, "s", "until the job ran again, or the run ended")                           \
    X(t, REAL, detect_s, "s", "until it was noticed")                                              \
    X(t, REAL, diagnose_s, "s", "finding what failed")                                             \
    X(t, REAL, cordon_s, "s", "taking the node out")                                               \
    X(t, REAL, allocate_s, "s", "finding the node that stands in")                                 \
    X(t, REAL, schedule_s, "s", "the scheduler places the job again")                              \
    X(t, REAL, provision_s, "s", "boot and image of a cold node")                                  \
    X(t, REAL, start_s, "s", "processes, imports, CUDA contexts")                                  \
    X(t, REAL, communicators_s, "s", "NCCL communicators")                                         \
    X(t, REAL, warmup_s, "s", "compilation, data loader, first slow steps")                        \
    X(t, REAL, wait_s, "s", "for a spare or a repair")                                             \
    X(t, REAL, load_s, "s", "loading the checkpoint")                                              \
    X(t, INTEGER_OR_NULL, level, "", "of the checkpoint that was loaded, from 0; null: the start") \
    X(t, TEXT_OR_NULL, tier, "", "where it was kept")                                              \
    X(t, INTEGER, strikes, "", "further failures that struck the recovery")                        \
    X(t, FLAG, spare_taken, "", "1: a spare stood in")                                             \
    X(t, FLAG, others_went_on, "", "1: only the struck replica stopped")

#define COLUMNS_badput(X, t)                                                                       \
    X(t, TEXT, class, "",                                                                          \
      "useful, checkpoint, lost_work, detect, restart, wait, degraded, maintenance, idle")         \
    X(t, TEXT, link, "", "link of the restart chain; empty: the class is not split")               \
    X(t, REAL, seconds, "s", "wall time")

#define COLUMNS_checkpoint_level(X, t)                                                             \
    X(t, INTEGER, level, "", "of the policy, from 0, the fastest")                                 \
    X(t, TEXT, tier, "", "where it is kept")                                                       \
    X(t, INTEGER, every, "", "saved at each so many-th checkpoint")                                \
    X(t, REAL, stall_s, "s", "training stands still so long for a save")                           \
    X(t, REAL, persist_s, "s", "from there until it is durable")                                   \
    X(t, REAL, load_s, "s", "time to load one")                                                    \
    X(t, INTEGER, saves, "", "that became durable")                                                \
    X(t, REAL, slowdown_ratio, "1", "time of a step while one is written, over that of others")    \
    X(t, FLAG, in_memory, "", "1: of nodes, where nothing wears out")                              \
    X(t, REAL, bytes_per_save, "B", "moved by a save, every copy counted; 0: not known")           \
    X(t, REAL, written_bytes, "B", "saves x bytes_per_save")                                       \
    X(t, REAL, mean_bytes_per_s, "B/s", "over the wall clock")                                     \
    X(t, REAL_OR_NULL, peak_bytes_per_s, "B/s", "while a save is written; null: in no time")       \
    X(t, REAL_OR_NULL, busy_ratio, "1", "share of the wall clock in which it is written")          \
    X(t, REAL, kept_bytes, "B", "of the checkpoints that are kept")                                \
    X(t, TEXT_OR_NULL, warning, "", "where the tier could not live with it")

#define COLUMNS_uncertainty(X, t)                                                                  \
    X(t, INTEGER, draws, "", "times that the figures were drawn")                                  \
    X(t, INTEGER, constants, "", "figures that are uncertain")                                     \
    X(t, REAL, step_p10_s, "s", "step time that one step in ten stays below")                      \
    X(t, REAL, step_p50_s, "s", "its median")                                                      \
    X(t, REAL, step_p90_s, "s", "step time that one step in ten exceeds")                          \
    X(t, REAL, fits_ratio, "1", "share of the draws that fit in memory")                           \
    X(t, REAL, model_variance_ratio, "1", "share of the variance that is the model's own error")   \
    X(t, REAL, model_log_spread, "1", "standard deviation of that error")                          \
    X(t, TEXT, model_error_source, "", "where it was measured")                                    \
    X(t, TEXT, measured, "", "what has been measured that is like this step, or what has not")     \
    X(t, INTEGER, own_steps, "", "measured steps of one's own that it takes into account")         \
    X(t, REAL, own_shift_ratio, "1", "by so much they shift the median of the step time")          \
    X(t, REAL, prior_log_spread, "1", "model_log_spread without them")                             \
    X(t, TEXT_OR_NULL, against, "", "the scenario that the step is compared with; null: none")     \
    X(t, REAL_OR_NULL, against_step_s, "s", "its step, with the figures as they are")              \
    X(t, REAL_OR_NULL, against_fits_ratio, "1", "share of its draws that fit in memory")           \
    X(t, REAL_OR_NULL, faster_probability, "1", "that this step is faster than that one")          \
    X(t, TEXT_OR_NULL, verdict, "", "the same in words")                                           \
    X(t, REAL_OR_NULL, ratio_p10, "", "time of that step over this one's: tenth percentile")       \
    X(t, REAL_OR_NULL, ratio_p50, "", "median")                                                    \
    X(t, REAL_OR_NULL, ratio_p90, "", "ninetieth percentile")                                      \
    X(t, REAL_OR_NULL, shared_ratio, "1", "share of the model's error that both have in common")

#define COLUMNS_influence(X, t)                                                                    \
    X(t, TEXT, name, "", "an uncertain figure; those that matter most stand first")                \
    X(t, REAL, value, "", "as it is")                                                              \
    X(t, REAL, error_ratio, "1", "its standard error")                                             \
    X(t, TEXT, origin, "", "where it comes from")                                                  \
    X(t, REAL, elasticity, "", "d log step / d log figure")                                        \
    X(t, REAL, variance_ratio, "1", "its share of the variance of log step")

#define COLUMNS_lesson(X, t)                                                                       \
    X(t, INTEGER, place, "", "its place in the course")                                            \
    X(t, TEXT, shows, "", "what the run shows")                                                    \
    X(t, TEXT, look_for, "", "what to look at, and where")                                         \
    X(t, TEXT, next, "", "what to try afterwards; empty: nothing")

#define COLUMNS_lesson_run(X, t)                                                                   \
    X(t, TEXT, name, "", "as answers call it; empty: this run")                                    \
    X(t, TEXT, set, "", "what differs from this run, as --set takes it")                           \
    X(t, TEXT, shows, "", "what it is, in a few words")                                            \
    X(t, INTEGER_OR_NULL, fits, "", "1: every rank has enough memory; null: it was not played")    \
    X(t, REAL_OR_NULL, step_s, "s", "one step; null: not timed")                                   \
    X(t, REAL_OR_NULL, tokens_per_s_per_gpu, "tokens/s", "throughput of a GPU")                    \
    X(t, REAL_OR_NULL, mfu_ratio, "1", "model FLOPs utilisation")                                  \
    X(t, REAL_OR_NULL, bubble_ratio, "1", "pipeline bubble over the step")                         \
    X(t, REAL_OR_NULL, peak_reserved_bytes, "B", "memory of the fullest rank")                     \
    X(t, REAL_OR_NULL, goodput_ratio, "1", "of weeks: tokens kept, of those without failures")

#define COLUMNS_question(X, t)                                                                     \
    X(t, TEXT, ask, "", "the question")                                                            \
    X(t, TEXT, answer, "", "the formula of its answer")                                            \
    X(t, REAL_OR_NULL, value, "",                                                                  \
      "the answer, SI; null, as what follows: `orrery run` plays one run, `orrery lesson` all")    \
    X(t, TEXT_OR_NULL, unit, "", "its unit; 1: a share; empty: a number")                          \
    X(t, TEXT_OR_NULL, text, "", "the answer as people read it")                                   \
    X(t, TEXT_OR_NULL, why, "", "why it is so")

#define COLUMNS_memory_recipe(X, t)                                                                \
    X(t, TEXT, precision, "", "as scenarios call it")                                              \
    X(t, TEXT, optimizer, "", "as scenarios call it")                                              \
    X(t, REAL, weights_bytes, "B", "for each parameter, as all that follow to moments")            \
    X(t, REAL, gradients_bytes, "B", "a gradient as the backward pass writes it")                  \
    X(t, REAL, master_bytes, "B", "the optimizer's copy of the weight; 0: none")                   \
    X(t, REAL, moments_bytes, "B", "the optimizer's moments")                                      \
    X(t, REAL, activations_bytes, "B",                                                             \
      "kept by a layer for each token and hidden unit, by the rule of thumb")

#define COLUMNS_message(X, t)                                                                      \
    X(t, TEXT, severity, "", "warning, choice, default, failure, skipped or note")                 \
    X(t, TEXT, key, "", "the scenario key it is about; of a note, its moment")                     \
    X(t, TEXT, text, "", "the message; of a choice or default, its value")                         \
    X(t, TEXT_OR_NULL, doc, "", "of a choice, why; of a default, what the key means")

#define COLUMNS_task_step(X, t)                                                                    \
    X(t, TEXT, traces, "", "what stands before the rank in the names of the files")                \
    X(t, TEXT, machine, "", "on which they were played")                                           \
    X(t, TEXT, digest, "", "hash of the times of all nodes")                                       \
    X(t, REAL, step_s, "s", "until the last rank has finished")                                    \
    X(t, INTEGER, rank_count, "", "traces, one a rank")                                            \
    X(t, INTEGER, node_count, "", "their nodes, as all that follow")                               \
    X(t, INTEGER, compute_count, "", "of compute")                                                 \
    X(t, INTEGER, by_rates_count, "", "of them, those that take the time of the card")             \
    X(t, INTEGER, untimed_count, "", "of them, those that take no time")                           \
    X(t, INTEGER, host_count, "", "of the host")                                                   \
    X(t, INTEGER, memory_count, "", "of memory")                                                   \
    X(t, INTEGER, collective_count, "", "collectives, each once for all its ranks")                \
    X(t, INTEGER, message_count, "", "messages, each once for sender and receiver")                \
    X(t, INTEGER, event_count, "", "events of the simulation")

#define COLUMNS_task_rank(X, t)                                                                    \
    X(t, INTEGER, rank, "", "from 0")                                                              \
    X(t, REAL, compute_s, "s", "it computes; it sums to the step with the five that follow")       \
    X(t, REAL, memory_s, "s", "it loads and stores, and nothing before is so")                     \
    X(t, REAL, exposed_communication_s, "s", "it communicates, and nothing before is so")          \
    X(t, REAL, host_s, "s", "its host works, and nothing before is so")                            \
    X(t, REAL, wait_s, "s", "it waits for ranks that have not come, and nothing before is so")     \
    X(t, REAL, done_s, "s", "it has finished, and others have not")                                \
    X(t, REAL, communicating_s, "s", "a collective or message of it is under way, hidden or not")

#define COLUMNS_task_group(X, t)                                                                   \
    X(t, TEXT, name, "", "as the traces name it; message: a sender and a receiver")                \
    X(t, INTEGER, rank_count, "", "its ranks")                                                     \
    X(t, INTEGER, first_rank, "", "the lowest of them; of a message the sender")                   \
    X(t, INTEGER, last_rank, "", "the highest of them; of a message the receiver")                 \
    X(t, INTEGER, meeting_count, "", "its collectives or messages")                                \
    X(t, REAL, payload_bytes, "B", "of all of them")                                               \
    X(t, REAL, moving_s, "s", "one of them is under way")

/* T(table, doc), in the order in which they are written. */
#define ROW_TABLES(T)                                                                              \
    T(stage_memory, "Memory of each pipeline stage, in kinds of ranks that hold the same.")        \
    T(stream_use, "Streams of the mean rank: how busy, and how much hid under compute.")           \
    T(link, "Wires, one row for each class of wires that carry the same at the same time. One "    \
            "direction each.")                                                                     \
    T(out_of_memory, "Where memory ends first; empty when everything fits.")                       \
    T(neighbour, "Layouts nearby that fit, fastest first, where this one does not.")               \
    T(kernel_evidence, "What the times of kernels rest on; empty without cluster.profile.")        \
    T(failure_cause, "Causes of failures in the order of the scenario; empty for a single step.")  \
    T(interruption, "Every time that weeks of training stopped, and how long each link of the "    \
                    "chain back took; empty for a single step.")                                   \
    T(badput, "Wall time by class in a simulation of weeks; empty for a single step.")             \
    T(checkpoint_level, "Each tier that checkpoints are kept in: what a save costs, what it "      \
                        "writes in all.")                                                          \
    T(uncertainty, "How sure the step is; empty without --uncertainty.")                           \
    T(influence, "The figures that it hangs on; empty without --uncertainty.")                     \
    T(lesson, "What a class learns from this run; empty where the scenario has no lesson.")        \
    T(lesson_run, "The runs that its answers compare; this one first.")                            \
    T(question, "Its questions, with answers that the runs gave.")                                 \
    T(memory_recipe, "What a parameter and an activation take in each precision with each "        \
                     "optimizer: the rule of thumb, for a class; empty where the scenario has "    \
                     "no lesson.")                                                                 \
    T(task_step, "Execution traces that were played; empty in the file of a run.")                 \
    T(task_rank, "Where the time of each of their ranks went.")                                    \
    T(task_group, "Their groups of ranks, and the pairs that send messages.")                      \
    T(message, "What the reader should know: warnings, what was chosen, defaults taken, the "      \
               "failure of memory, captions.")

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
