#include "scenarios/schema/schema_job.h"

#include "scenarios/schema/schema.h"
#include "sim/units.h"

#define KEYS(rows)                                                                                 \
    {                                                                                              \
        rows, sizeof rows / sizeof rows[0]                                                         \
    }
#define TIME_MAX JOB_WALL_MAX_S
#define COUNT_MAX 1e9
/* Beyond these a law is no more than its extremes: k = 0.05 spans hundreds of decades. */
#define SHAPE_MIN 0.05
#define SHAPE_MAX 50

static const struct param run_params[] = {
    {"duration", PARAM_TIME, offsetof(struct run_keys, duration_s), 1, TIME_MAX, READER_AUTO, NULL,
     "Wall-clock time after which the run ends with its work undone; auto: none, up to 100y."},
    {"steps", PARAM_COUNT, offsetof(struct run_keys, steps), 1, 1e12, READER_AUTO, NULL,
     "Training steps to do; auto: training.tokens / tokens per step, or as many as `duration` "
     "allows."},
    {"work", PARAM_TIME, offsetof(struct run_keys, work_s), 1, TIME_MAX, READER_AUTO, NULL,
     "The work to do, as time on an undisturbed cluster, instead of `steps`."},
    {"strike", PARAM_CHOICE, offsetof(struct run_keys, strike), 0, 0, "always", strike_names,
     "When failures can occur: always; only while the job trains or saves; only while it trains."},
    {"step_noise", PARAM_RATIO, offsetof(struct run_keys, step_noise_sigma), 0, 1, "0", NULL,
     "Standard deviation of the logarithm of each step's time."},
    {"maintenance_every", PARAM_TIME, offsetof(struct run_keys, maintenance_every_s), 0, TIME_MAX,
     "0s", NULL, "Interval between planned maintenances; 0: none."},
    {"maintenance", PARAM_TIME, offsetof(struct run_keys, maintenance_s), 0, YEAR, "0s", NULL,
     "Duration of a planned maintenance; the job saves a checkpoint before it."},
};

static const char *const initial_age_names[] = {"stationary", "new", NULL};
static const struct param failure_params[] = {
    {"preset", PARAM_TEXT, offsetof(struct failure_keys, preset), 0, 0, "", NULL,
     "A fleet of the catalogue: its causes replace this item; no other key may be given with it."},
    {"cause", PARAM_TEXT, offsetof(struct failure_keys, cause), 0, 0, NULL, NULL,
     "Any unique name for the cause. Its random draws depend on the seed and on this name."},
    {"law", PARAM_TEXT, offsetof(struct failure_keys, law), 0, 0, "exponential", NULL,
     "Distribution of the times at which units fail from this cause."},
    {"unit", PARAM_CHOICE, offsetof(struct failure_keys, unit), 0, 0, "gpu", failure_unit_names,
     "Unit that fails: gpu, nic, node, domain (of nodes), or job (all of it)."},
    {"mtbf", PARAM_TIME, offsetof(struct failure_keys, mtbf_s), 1, 1e6 * YEAR, READER_AUTO, NULL,
     "Mean time between failures of one unit; required except with a trace."},
    {"domain_nodes", PARAM_COUNT, offsetof(struct failure_keys, domain_nodes), 1, 1e6, READER_AUTO,
     NULL, "Consecutive nodes that form a domain (a rack, a switch); auto: there are no domains."},
    {"effect", PARAM_CHOICE, offsetof(struct failure_keys, effect), 0, 0, "stop",
     failure_effect_names,
     "Effect of a failure: the job stops; the unit continues slowly; or results are silently wrong "
     "from then on."},
    {"in_place", PARAM_RATIO, offsetof(struct failure_keys, in_place_ratio), 0, 1, "0", NULL,
     "Share of the failures that a restart repairs, without replacing a node."},
    {"initial_age", PARAM_CHOICE, offsetof(struct failure_keys, initial_age), 0, 0, "stationary",
     initial_age_names, "Whether units have run for a long time when the job begins, or are new."},
    {"slow", PARAM_RATIO, offsetof(struct failure_keys, slow_ratio), 0.001, 0.999, READER_AUTO,
     NULL, "Remaining share of the speed with `effect: slow`, where it is required."},
    {"slow_link", PARAM_FLAG, offsetof(struct failure_keys, slow_link), 0, 0, "false", NULL,
     "The NIC of the unit is slow, not its GPU."},
    {"early_factor", PARAM_RATIO, offsetof(struct failure_keys, early_factor), 0, 1000, "1", NULL,
     "Factor by which the failure rate is raised at first."},
    {"early", PARAM_TIME, offsetof(struct failure_keys, early_s), 0, TIME_MAX, "0s", NULL,
     "Time after the start for which the failure rate is raised."},
    {"cascade", PARAM_RATIO, offsetof(struct failure_keys, cascade_ratio), 0, 0.99, "0", NULL,
     "Probability that another node of the same domain fails within the next hour."},
    {"trace", PARAM_TEXT, offsetof(struct failure_keys, trace), 0, 0, "", NULL,
     "With `law: trace` a CSV file, relative to the scenario's folder, with the columns "
     "`at,unit_kind,unit,cause,repair`: `3.2h,gpu,117,HBM,2h`. An empty repair time is drawn; 0s "
     "means that a restart repairs it."},
    {"rows", PARAM_TEXT, offsetof(struct failure_keys, rows), 0, 0, READER_AUTO, NULL,
     "Only rows of the trace with this cause; auto: all rows, each under its own cause."},
};

static const struct param checkpoint_params[] = {
    {"policy", PARAM_TEXT, offsetof(struct checkpoint_keys, policy), 0, 0, "async", NULL,
     "Policy: what a save blocks, and where it is written."},
    {"interval", PARAM_TIME, offsetof(struct checkpoint_keys, interval_s), MILLISECOND, TIME_MAX,
     READER_OPTIMAL, NULL,
     "Training time between two saves, rounded up to the end of a step; optimal: the interval of "
     "least cost."},
    {"write_share", PARAM_RATIO, offsetof(struct checkpoint_keys, write_share_ratio), 1e-4, 1,
     READER_AUTO, NULL,
     "Bound on an optimal interval: largest share of the time spent writing to drives; auto: 1.1% "
     "where no interval is given (drives of the class of Samsung PM9A3 and Kioxia CM6 write 4 GB/s "
     "and are warranted for one drive write a day), else no bound."},
    {"interval_steps", PARAM_COUNT, offsetof(struct checkpoint_keys, interval_steps), 1, COUNT_MAX,
     READER_AUTO, NULL, "Steps between two saves; auto: by `interval`."},
    {"storage", PARAM_TEXT, offsetof(struct checkpoint_keys, storage), 0, 0, READER_AUTO, NULL,
     "Storage tiers joined by '+', the fastest first; auto: those of the policy."},
    {"bytes_per_parameter", PARAM_RATIO, offsetof(struct checkpoint_keys, bytes_per_parameter), 0.1,
     64, READER_AUTO, NULL,
     "Bytes saved for each parameter; auto: weights, master copy and moments."},
    {"keep", PARAM_COUNT, offsetof(struct checkpoint_keys, keep), 1, 1e5, "2", NULL,
     "Number of checkpoints kept at each level."},
    {"corrupt", PARAM_RATIO, offsetof(struct checkpoint_keys, corrupt_ratio), 0, 0.99, "0", NULL,
     "Probability that a checkpoint cannot be read back; then the one before it is loaded."},
    {"final", PARAM_FLAG, offsetof(struct checkpoint_keys, final), 0, 0, "true", NULL,
     "A checkpoint is also saved at the end of the work."},
    {"stall", PARAM_TIME, offsetof(struct checkpoint_keys, stall_s), 0, YEAR, READER_AUTO, NULL,
     "Time for which a save blocks training; auto: from the bytes and the storage."},
    {"persist", PARAM_TIME, offsetof(struct checkpoint_keys, persist_s), 0, YEAR, READER_AUTO, NULL,
     "Time from then until the save is durable; auto: from the bytes and the storage."},
    {"load", PARAM_TIME, offsetof(struct checkpoint_keys, load_s), 0, YEAR, READER_AUTO, NULL,
     "Time to load a checkpoint; auto: from the bytes and the storage."},
};

static const struct param storage_keys_params[] = {
    {"name", PARAM_TEXT, offsetof(struct storage_keys, name), 0, 0, NULL, NULL,
     "A storage tier of the catalogue, overridden by the keys below, or a new one."},
};

static const struct param recovery_params[] = {
    {"policy", PARAM_TEXT, offsetof(struct recovery_keys, policy), 0, 0, "warm-spare", NULL,
     "Policy after a failure."},
    {"spares", PARAM_COUNT, offsetof(struct recovery_keys, spares), 0, 1e7, READER_AUTO, NULL,
     "Spare nodes in addition to the job's; auto: none if the policy takes none, else four per "
     "1,024 nodes, at least one: on 99 days of 100 no more are down if each node is down .125 % of "
     "the time."},
    {"crews", PARAM_COUNT, offsetof(struct recovery_keys, crews), 1, 1e7, READER_AUTO, NULL,
     "Nodes repaired at the same time; auto: all."},
    {"replicas_min", PARAM_COUNT, offsetof(struct recovery_keys, replicas_min), 1, 1e7, "1", NULL,
     "Fewest replicas with which an elastic job continues."},
    {"retire_after", PARAM_COUNT, offsetof(struct recovery_keys, retire_after), 1, COUNT_MAX,
     READER_AUTO, NULL,
     "Number of failures after which a node is removed permanently; auto: never."},
    {"repair_fails", PARAM_RATIO, offsetof(struct recovery_keys, repair_fails_ratio), 0, 0.99, "0",
     NULL,
     "Probability that a repair fails: a lemon (failures.law) comes back as one. Other nodes are "
     "sound after their repair."},
    {"manual_repair_fails", PARAM_RATIO, offsetof(struct recovery_keys, manual_repair_fails_ratio),
     0, 0.99, "0", NULL, "The same probability for `manual_repair`."},
    {"wrong_blame", PARAM_RATIO, offsetof(struct recovery_keys, wrong_blame_ratio), 0, 0.99, "0",
     NULL, "Probability that a healthy node is removed instead of the one that failed."},
    {"escalate", PARAM_RATIO, offsetof(struct recovery_keys, escalate_ratio), 0, 1, "0", NULL,
     "Share of the repairs that escalate to `manual_repair` after `repair`."},
};
static const struct param restart_params[] = {
    {"communicators_per_rank", PARAM_TIME, offsetof(struct restart_keys, communicators_per_rank_s),
     0, 1, "2.5ms", NULL,
     "Extra time per rank to set up communicators (MegaScale, NSDI 2024, section 3.5: under 5 s "
     "for 2,048 GPUs, under 30 s for over 10,000)."},
};

#define MEAN(fallback)                                                                             \
    {                                                                                              \
        "mean", PARAM_TIME, offsetof(struct duration_keys, duration.mean_s), 0, TIME_MAX,          \
            fallback, NULL, "Mean."                                                                \
    }
#define LAW                                                                                        \
    {                                                                                              \
        "law", PARAM_CHOICE, offsetof(struct duration_keys, duration.law), 0, 0, "fixed",          \
            duration_law_names, "Distribution from which it is drawn."                             \
    }
#define SHAPE                                                                                      \
    {                                                                                              \
        "shape", PARAM_RATIO, offsetof(struct duration_keys, duration.shape), SHAPE_MIN,           \
            SHAPE_MAX, READER_AUTO, NULL,                                                          \
            "weibull (from 0.1) and gamma: k; lognormal (up to 5): standard deviation of the "     \
            "logarithm; must be given with these."                                                 \
    }
#define SHELTERED                                                                                  \
    {                                                                                              \
        "sheltered", PARAM_FLAG, offsetof(struct duration_keys, sheltered), 0, 0, "false", NULL,   \
            "No failure occurs during this time."                                                  \
    }
static const struct param detect_params[] = {MEAN(READER_AUTO), LAW, SHAPE};
static const struct param slow_time_params[] = {MEAN("0s"), LAW, SHAPE};
static const struct param repair_params[] = {MEAN("24h"), LAW, SHAPE};
static const struct param manual_repair_params[] = {MEAN("48h"), LAW, SHAPE};
static const struct param link_params[] = {MEAN("0s"), LAW, SHAPE, SHELTERED};
/* The timeout of PyTorch's NCCL watchdog. */
static const struct param link_detect_params[] = {MEAN("10min"), LAW, SHAPE, SHELTERED};
static const struct param link_schedule_params[] = {MEAN("2min"), LAW, SHAPE, SHELTERED};
/* Metal hosts of EC2 come back from a power cycle after 531 s (median of 14, Intel, generation 7)
 * and 792 s (of 20, generation 5): Testing Farm, infrastructure, merge request 1526. */
static const struct param link_provision_params[] = {MEAN("10min"), LAW, SHAPE, SHELTERED};
/* What Meta counts for a restart (arXiv:2410.21680). */
static const struct param link_start_params[] = {MEAN("5min"), LAW, SHAPE, SHELTERED};

#define PLAIN(path, doc, rows)                                                                     \
    {                                                                                              \
        path, doc, false, false, NULL, KEYS(rows), NULL, NULL                                      \
    }
#define DURATION(path, doc, rows)                                                                  \
    {                                                                                              \
        path, doc, false, false, SCHEMA_DURATION, KEYS(rows), NULL, NULL                           \
    }
#define JOB(section) [SECTION_##section - SECTION_RUN]
#define LINK(link) [SECTION_RESTART_LINKS + LINK_##link - SECTION_RUN]

const struct schema_section schema_job_sections[SECTION_COUNT - SECTION_RUN] = {
    JOB(RUN) = PLAIN("run", "Weeks of training with failures, instead of one step.", run_params),
    JOB(EXPECT) = {"expect",
                   "What must hold of the results of `orrery run`, which ends with exit code "
                   "6 where it does not: keys of its JSON document (a unit at their end may "
                   "be left out), each with a value, or bounds in quotes, as in "
                   "{fits: true, mfu: \">= 40%\", step_time: \"> 2s, <= 3s\"}. =, >= and <= of "
                   "three digits or more are compared at as many digits, all else exactly.",
                   false,
                   false,
                   NULL,
                   {NULL, 0},
                   NULL,
                   NULL},
    JOB(FAILURES) = {"failures",
                     "Causes of failures: what fails, how often, and with which effect.", false,
                     true, NULL, KEYS(failure_params), NULL, NULL},
    JOB(FAILURE_DETECT) =
        DURATION("failures.detect",
                 "Time until the failure is noticed; auto: as in recovery.restart.", detect_params),
    JOB(FAILURE_REPAIR) =
        DURATION("failures.repair", "Repair time of a node; auto: as in recovery.", detect_params),
    JOB(FAILURE_SLOW_TIME) =
        DURATION("failures.slow_time", "Time until a slow unit recovers without repair; 0: never.",
                 slow_time_params),
    JOB(CHECKPOINT) = {"checkpoint", "How the state is saved.", false, false, NULL,
                       KEYS(checkpoint_params), NULL, NULL},
    JOB(STORAGE) = {"storage", "Changes to storage tiers of the catalogue, and new tiers.", false,
                    true, NULL, KEYS(storage_keys_params), storage_params, &storage_param_count},
    JOB(RECOVERY) = PLAIN("recovery", "Recovery after a failure.", recovery_params),
    JOB(REPAIR) = DURATION("recovery.repair", "Repair time of a node.", repair_params),
    JOB(MANUAL_REPAIR) =
        DURATION("recovery.manual_repair",
                 "Time of the second repair, when the first one escalates.", manual_repair_params),
    JOB(RESTART) = PLAIN("recovery.restart", "The links of the chain from failure to running.",
                         restart_params),
    LINK(DETECT) = DURATION(
        "recovery.restart.detect",
        "Time until the failure is noticed; by default the timeout of PyTorch's NCCL watchdog.",
        link_detect_params),
    LINK(DIAGNOSE) = DURATION("recovery.restart.diagnose", "Finding what failed.", link_params),
    LINK(CORDON) =
        DURATION("recovery.restart.cordon", "Removing the node from the job.", link_params),
    LINK(ALLOCATE) =
        DURATION("recovery.restart.allocate", "Finding the replacement node.", link_params),
    LINK(SCHEDULE) = DURATION("recovery.restart.schedule",
                              "The scheduler places the job anew, if the policy requires it; by "
                              "default as long as Slurm holds a requeued job (120 s).",
                              link_schedule_params),
    LINK(PROVISION) = DURATION(
        "recovery.restart.provision",
        "Boot and image of a cold node; by default between the 531 s and 792 s after which "
        "metal hosts of two generations come back from a power cycle "
        "(gitlab.com/testing-farm/infrastructure, merge request 1526).",
        link_provision_params),
    LINK(START) = DURATION("recovery.restart.start",
                           "Processes, imports, CUDA contexts; by default Meta's estimate of a "
                           "whole restart (arXiv:2410.21680).",
                           link_start_params),
    LINK(COMMUNICATORS) =
        DURATION("recovery.restart.communicators", "NCCL communicators.", link_params),
    LINK(WARMUP) =
        DURATION("recovery.restart.warmup",
                 "After loading: compilation, data loader, first slow steps.", link_params),
};
