#include "scenarios/schema/schema_job.h"

#include "scenarios/schema/schema.h"
#include "sim/units.h"

#define KEYS(rows)                                                                                 \
    {                                                                                              \
        rows, sizeof rows / sizeof rows[0]                                                         \
    }
#define TIME_MAX (100.0 * YEAR)
#define COUNT_MAX 1e9
/* Beyond these a law is no more than its extremes: k = 0.05 spans hundreds of decades. */
#define SHAPE_MIN 0.05
#define SHAPE_MAX 50

static const struct param run_params[] = {
    {"duration", PARAM_TIME, offsetof(struct run_keys, duration_s), 1, TIME_MAX, READER_AUTO, NULL,
     "Wall clock of the run; auto: until the work is done."},
    {"steps", PARAM_COUNT, offsetof(struct run_keys, steps), 1, 1e12, READER_AUTO, NULL,
     "Training steps of the work; auto: training.tokens over the tokens of a step, or without end "
     "until the duration is over."},
    {"work", PARAM_TIME, offsetof(struct run_keys, work_s), 1, TIME_MAX, READER_AUTO, NULL,
     "The work as the time of its steps on an undisturbed cluster, in place of `steps`."},
    {"strike", PARAM_CHOICE, offsetof(struct run_keys, strike), 0, 0, "always", strike_names,
     "When failures strike: always; only while the job trains or saves; only while it trains."},
    {"step_noise", PARAM_RATIO, offsetof(struct run_keys, step_noise_sigma), 0, 1, "0", NULL,
     "Standard deviation of the logarithm of each step's time."},
    {"maintenance_every", PARAM_TIME, offsetof(struct run_keys, maintenance_every_s), 0, TIME_MAX,
     "0s", NULL, "From one planned maintenance to the next; 0: none."},
    {"maintenance", PARAM_TIME, offsetof(struct run_keys, maintenance_s), 0, YEAR, "0s", NULL,
     "How long a planned maintenance takes; the job saves before it."},
};

static const char *const initial_age_names[] = {"stationary", "new", NULL};
static const struct param failure_params[] = {
    {"preset", PARAM_TEXT, offsetof(struct failure_keys, preset), 0, 0, "", NULL,
     "A fleet of the catalogue: its causes stand in this item's place; no other key beside it."},
    {"cause", PARAM_TEXT, offsetof(struct failure_keys, cause), 0, 0, NULL, NULL,
     "Name of the cause, free; each once. Its draws depend on the seed and on this name."},
    {"law", PARAM_TEXT, offsetof(struct failure_keys, law), 0, 0, "exponential", NULL,
     "When units of this cause fail."},
    {"unit", PARAM_CHOICE, offsetof(struct failure_keys, unit), 0, 0, "gpu", failure_unit_names,
     "What fails: a gpu, a nic, a node, a domain of nodes, or something of the whole job."},
    {"mtbf", PARAM_TIME, offsetof(struct failure_keys, mtbf_s), 1, 1e6 * YEAR, READER_AUTO, NULL,
     "Mean time between failures of one unit; must be given, but with a trace."},
    {"domain_nodes", PARAM_COUNT, offsetof(struct failure_keys, domain_nodes), 1, 1e6, READER_AUTO,
     NULL, "Nodes in a row that make a domain (a rack, a switch); auto: there are no domains."},
    {"effect", PARAM_CHOICE, offsetof(struct failure_keys, effect), 0, 0, "stop",
     failure_effect_names,
     "The job stops; the unit goes on slowly; or results are silently wrong from then on."},
    {"in_place", PARAM_RATIO, offsetof(struct failure_keys, in_place_ratio), 0, 1, "0", NULL,
     "Share of the failures that a restart mends: no node has to be replaced."},
    {"initial_age", PARAM_CHOICE, offsetof(struct failure_keys, initial_age), 0, 0, "stationary",
     initial_age_names, "Units have run for long when the job begins, or are new."},
    {"slow", PARAM_RATIO, offsetof(struct failure_keys, slow_ratio), 0.001, 0.999, READER_AUTO,
     NULL, "Speed that is left with `effect: slow`; must be given with it."},
    {"slow_link", PARAM_FLAG, offsetof(struct failure_keys, slow_link), 0, 0, "false", NULL,
     "The NIC of the unit is slow, not its GPU."},
    {"early_factor", PARAM_RATIO, offsetof(struct failure_keys, early_factor), 0, 1000, "1", NULL,
     "The rate is so many times higher at first."},
    {"early", PARAM_TIME, offsetof(struct failure_keys, early_s), 0, TIME_MAX, "0s", NULL,
     "For how long after the start the rate is higher."},
    {"cascade", PARAM_RATIO, offsetof(struct failure_keys, cascade_ratio), 0, 0.99, "0", NULL,
     "Probability that another node of the same domain fails within the next hour."},
    {"trace", PARAM_TEXT, offsetof(struct failure_keys, trace), 0, 0, "", NULL,
     "With `law: trace` a CSV file, seen from the folder of the scenario, with the columns "
     "`at,unit_kind,unit,cause,repair`: `3.2h,gpu,117,HBM,2h`. An empty repair is drawn; with 0s a "
     "restart mends it."},
    {"rows", PARAM_TEXT, offsetof(struct failure_keys, rows), 0, 0, READER_AUTO, NULL,
     "Rows of the trace with this cause alone; auto: all of them, each under its own cause."},
};

static const struct param checkpoint_params[] = {
    {"policy", PARAM_TEXT, offsetof(struct checkpoint_keys, policy), 0, 0, "async", NULL,
     "What a save blocks, and where it goes."},
    {"interval", PARAM_TIME, offsetof(struct checkpoint_keys, interval_s), MILLISECOND, TIME_MAX,
     READER_OPTIMAL, NULL,
     "Work between two saves, up to the next end of a step; optimal: what costs least."},
    {"write_share", PARAM_RATIO, offsetof(struct checkpoint_keys, write_share_ratio), 1e-4, 1,
     READER_AUTO, NULL,
     "An optimal interval is no shorter than what writes to drives for so much of the time; auto: "
     "1.1% where no interval is given (drives of the class of Samsung PM9A3 and Kioxia CM6 write 4 "
     "GB/s and are warranted for one drive write a day), else no such floor."},
    {"interval_steps", PARAM_COUNT, offsetof(struct checkpoint_keys, interval_steps), 1, COUNT_MAX,
     READER_AUTO, NULL, "Steps between two saves; auto: by `interval`."},
    {"storage", PARAM_TEXT, offsetof(struct checkpoint_keys, storage), 0, 0, READER_AUTO, NULL,
     "Storage tiers joined by '+', the fastest first; auto: those of the policy."},
    {"bytes_per_parameter", PARAM_RATIO, offsetof(struct checkpoint_keys, bytes_per_parameter), 0.1,
     64, READER_AUTO, NULL,
     "Bytes saved for each parameter; auto: weights, master copy and moments."},
    {"keep", PARAM_COUNT, offsetof(struct checkpoint_keys, keep), 1, 1e5, "2", NULL,
     "Checkpoints kept at each level."},
    {"corrupt", PARAM_RATIO, offsetof(struct checkpoint_keys, corrupt_ratio), 0, 0.99, "0", NULL,
     "Probability that a checkpoint cannot be read back; the one before is loaded then."},
    {"final", PARAM_FLAG, offsetof(struct checkpoint_keys, final), 0, 0, "true", NULL,
     "The end of the work is saved too."},
    {"stall", PARAM_TIME, offsetof(struct checkpoint_keys, stall_s), 0, YEAR, READER_AUTO, NULL,
     "Training stands still so long for a save; auto: by the bytes and the storage."},
    {"persist", PARAM_TIME, offsetof(struct checkpoint_keys, persist_s), 0, YEAR, READER_AUTO, NULL,
     "From there until the save is durable; auto: by the bytes and the storage."},
    {"load", PARAM_TIME, offsetof(struct checkpoint_keys, load_s), 0, YEAR, READER_AUTO, NULL,
     "Time to load a checkpoint; auto: by the bytes and the storage."},
};

static const struct param storage_keys_params[] = {
    {"name", PARAM_TEXT, offsetof(struct storage_keys, name), 0, 0, NULL, NULL,
     "A storage tier of the catalogue, whose figures the keys below override, or a new one."},
};

static const struct param recovery_params[] = {
    {"policy", PARAM_TEXT, offsetof(struct recovery_keys, policy), 0, 0, "warm-spare", NULL,
     "What is done when something fails."},
    {"spares", PARAM_COUNT, offsetof(struct recovery_keys, spares), 0, 1e7, READER_AUTO, NULL,
     "Nodes beside those of the job that can stand in; auto: none where a policy is given, else "
     "four for each 1,024 nodes, at least one: 99 days of 100 no more are down where a node is for "
     ".125 % of its time."},
    {"crews", PARAM_COUNT, offsetof(struct recovery_keys, crews), 1, 1e7, READER_AUTO, NULL,
     "Nodes that are repaired at a time; auto: all."},
    {"replicas_min", PARAM_COUNT, offsetof(struct recovery_keys, replicas_min), 1, 1e7, "1", NULL,
     "Replicas below which an elastic job stops."},
    {"retire_after", PARAM_COUNT, offsetof(struct recovery_keys, retire_after), 1, COUNT_MAX,
     READER_AUTO, NULL, "Failures after which a node is taken out for good; auto: never."},
    {"repair_fails", PARAM_RATIO, offsetof(struct recovery_keys, repair_fails_ratio), 0, 0.99, "0",
     NULL, "Probability that a node comes back from repair as it was: it fails again at once."},
    {"manual_repair_fails", PARAM_RATIO, offsetof(struct recovery_keys, manual_repair_fails_ratio),
     0, 0.99, "0", NULL, "The same of `manual_repair`."},
    {"wrong_blame", PARAM_RATIO, offsetof(struct recovery_keys, wrong_blame_ratio), 0, 0.99, "0",
     NULL, "Probability that another node is taken out than the one that failed."},
    {"escalate", PARAM_RATIO, offsetof(struct recovery_keys, escalate_ratio), 0, 1, "0", NULL,
     "Share of the repairs that go on to `manual_repair` after `repair`."},
};
static const struct param restart_params[] = {
    {"communicators_per_rank", PARAM_TIME, offsetof(struct restart_keys, communicators_per_rank_s),
     0, 1, READER_AUTO, NULL,
     "Time that communicators take more for each rank; auto: 2.5ms without recovery.restart "
     "(MegaScale, NSDI 2024, section 3.5: under 5 s for 2,048 GPUs, under 30 s for over 10,000), "
     "else 0s."},
};

#define MEAN(fallback)                                                                             \
    {                                                                                              \
        "mean", PARAM_TIME, offsetof(struct duration_keys, duration.mean_s), 0, TIME_MAX,          \
            fallback, NULL, "Mean."                                                                \
    }
#define LAW                                                                                        \
    {                                                                                              \
        "law", PARAM_CHOICE, offsetof(struct duration_keys, duration.law), 0, 0, "fixed",          \
            duration_law_names, "How it is drawn."                                                 \
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
            "Failures cannot strike meanwhile."                                                    \
    }
static const struct param detect_params[] = {MEAN(READER_AUTO), LAW, SHAPE};
static const struct param slow_time_params[] = {MEAN("0s"), LAW, SHAPE};
static const struct param repair_params[] = {MEAN("24h"), LAW, SHAPE};
static const struct param manual_repair_params[] = {MEAN("48h"), LAW, SHAPE};
static const struct param link_params[] = {MEAN("0s"), LAW, SHAPE, SHELTERED};
/* The timeout of PyTorch's NCCL watchdog. */
static const struct param link_detect_params[] = {MEAN("10min"), LAW, SHAPE, SHELTERED};
static const struct param link_schedule_params[] = {MEAN(READER_AUTO), LAW, SHAPE, SHELTERED};
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
    JOB(RUN) = PLAIN("run", "Weeks of training with failures, in place of one step.", run_params),
    JOB(FAILURES) = {"failures", "What fails, how often, and what it does.", false, true, NULL,
                     KEYS(failure_params), NULL, NULL},
    JOB(FAILURE_DETECT) = DURATION(
        "failures.detect", "Until it is noticed; auto: as recovery.restart says.", detect_params),
    JOB(FAILURE_REPAIR) =
        DURATION("failures.repair", "Repair of a node; auto: as recovery says.", detect_params),
    JOB(FAILURE_SLOW_TIME) = DURATION(
        "failures.slow_time", "Until a slow unit gets well by itself; 0: never.", slow_time_params),
    JOB(CHECKPOINT) = {"checkpoint", "How the state is saved.", false, false, NULL,
                       KEYS(checkpoint_params), NULL, NULL},
    JOB(STORAGE) = {"storage", "Changes to the catalogue's storage tiers, and new ones.", false,
                    true, NULL, KEYS(storage_keys_params), storage_params, &storage_param_count},
    JOB(RECOVERY) = PLAIN("recovery", "What is done after a failure.", recovery_params),
    JOB(REPAIR) = DURATION("recovery.repair", "Repair of a node.", repair_params),
    JOB(MANUAL_REPAIR) = DURATION("recovery.manual_repair",
                                  "Second repair, when the first escalates.", manual_repair_params),
    JOB(RESTART) = PLAIN("recovery.restart", "The links of the chain from failure to running.",
                         restart_params),
    LINK(DETECT) = DURATION("recovery.restart.detect",
                            "Until the failure is noticed; by default the timeout of PyTorch's "
                            "NCCL watchdog.",
                            link_detect_params),
    LINK(DIAGNOSE) = DURATION("recovery.restart.diagnose", "Finding what failed.", link_params),
    LINK(CORDON) = DURATION("recovery.restart.cordon", "Taking the node out.", link_params),
    LINK(ALLOCATE) =
        DURATION("recovery.restart.allocate", "Finding the node that stands in.", link_params),
    LINK(SCHEDULE) = DURATION("recovery.restart.schedule",
                              "The scheduler places the job again; auto: 2min without "
                              "recovery.restart (Slurm holds a requeued job for 120 s), else 0s.",
                              link_schedule_params),
    LINK(PROVISION) =
        DURATION("recovery.restart.provision", "Boot and image of a cold node.", link_params),
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
