/* `run`, `memory`, `check`. */
#include "analysis/tell/contract/contract_row.h"
#include "models/gpu/gpu.h"
#include "models/job/parts/job_result.h"
#include "models/step/simulate/breakdown.h"

CONTRACT(failure,
         COLUMNS_ROW(out_of_memory, "place rank stage tensor tenant at step at_s bytes short_bytes "
                                    "reserved_bytes call_site would_help"));
CONTRACT(stagger, COLUMNS_ROW(stagger, "lost_s draws apart_s shortest_step_time_s spared_ratio"));

#define PERCENTILES(object, in)                                                                    \
    CONTRACT(object, IN_NULL_ROW("p10", REAL, in, "one of ten draws is below"),                    \
             IN_NULL_ROW("p50", REAL, in, "one of two draws is below"),                            \
             IN_NULL_ROW("p90", REAL, in, "nine of ten draws are below"))
PERCENTILES(seconds, "s");
PERCENTILES(tokens_per_s, "tokens/s");
PERCENTILES(ratio, "1");
PERCENTILES(watts, "W");
PERCENTILES(joules, "J");
CONTRACT(influence,
         COLUMNS_ROW(influence, "name value error=error_ratio origin elasticity variance_ratio"));
CONTRACT(against, ROW("scenario", WORD, "its name"),
         COLUMNS_ROW(uncertainty, "step_time_s=against_step_s fits_ratio=against_fits_ratio "
                                  "faster_probability verdict"),
         OF_ROW("time_ratio", ratio, "its step time over this one's"),
         IN_NULL_ROW("model_error_shared", REAL, "1", "share of the model's error that both have"));
CONTRACT(uncertainty, ROW("draws", COUNT, "draws of the uncertain figures"),
         ROW("constants", COUNT, "uncertain figures"),
         OF_ROW("step_time_s", seconds, "one training step"),
         OF_ROW("tokens_per_s", tokens_per_s, "throughput"),
         OF_ROW("mfu", ratio, "model FLOPs utilisation"),
         OF_ROW("node_w", watts, "mean power of a node"),
         OF_ROW("energy_j_per_token", joules, "energy of a token at the wall"),
         IN_NULL_ROW("fits_ratio", REAL, "1", "share of the draws in which the layout fits"),
         IN_NULL_ROW("log_spread_of_constants", REAL, "1",
                     "standard deviation of the logarithm of the step time, of the figures"),
         COLUMNS_ROW(uncertainty,
                     "log_spread_of_model=model_log_spread model_error_source measured own_steps "
                     "own_shift_ratio model_variance_ratio log_spread_of_power=power_log_spread "
                     "power_evidence"),
         OF_LIST_ROW("influences", influence, "figures by what they add to the variance"),
         OF_NULL_ROW("against", against, "the scenario of --against beside this one"));
CONTRACT(level, COLUMNS_ROW(checkpoint_level,
                            "tier every stall_s persist_s load_s slowdown=slowdown_ratio saves "
                            "bytes_per_save written_bytes mean_bytes_per_s peak_bytes_per_s "
                            "busy_ratio kept_bytes warning"));
CONTRACT(expectation,
         ROW("key", WORD, "the number, as the section expect of the scenario names it"),
         ROW("expected", WORD, "its bounds, as they are written there"),
         ROW("holds", FLAG, "Do all of them hold?"),
         IN_NULL_ROW("is", CELL, "SI", "what the number is; null: there is none"));

/* The spares, which spend no time of the job's, are a class of energy. */
#define X(name, doc) #name,
static const char *const energy_classes[] = {BADPUT_CLASSES(X) "spares"};
#undef X
/* Those of recovery_kind.h, and loading. */
static const char *const restart_links[] = {"detect",   "diagnose",  "cordon", "allocate",
                                            "schedule", "provision", "start",  "communicators",
                                            "warmup",   "load",      NULL};

CONTRACT(run, {.type = CONTRACT_METRICS},
         OF_NULL_ROW("first_failure", failure, "where memory runs out first; null: it does not"),
         OF_NULL_ROW("advice", contract_advice, "layouts that fit; null: this one does"),
         {.name = "breakdown",
          .type = CONTRACT_SUMS | CONTRACT_OR_NULL,
          .doc = "where the step of the mean rank goes; null: no step was timed",
          .unit = "s",
          .words = breakdown_names,
          .word_count = PART_COUNT},
         OF_LIST_ROW("classes", contract_stage, "memory of the ranks of each stage"),
         OF_NULL_ROW("stagger", stagger, "what replicas that drift apart lose; null: not asked"),
         LIST_ROW("warnings", WORD, "remarks on the scenario and on the result"),
         {.name = "kernel_evidence",
          .type = CONTRACT_SUMS | CONTRACT_SOMETIMES,
          .doc = "share of the kernels' time by what it rests on; missing without a profile",
          .unit = "1",
          .words = kernel_evidence_names,
          .word_count = KERNEL_EVIDENCE_COUNT},
         {.name = "expectations",
          .type = CONTRACT_OBJECT | CONTRACT_LIST | CONTRACT_SOMETIMES,
          .doc = "of `run`, where the scenario has the section expect",
          .of = &expectation},
         {.name = "uncertainty",
          .type = CONTRACT_OBJECT | CONTRACT_SOMETIMES,
          .doc = "with --uncertainty",
          .of = &uncertainty},
         {.name = "interruptions_by_cause",
          .type = CONTRACT_NAMES | CONTRACT_SOMETIMES,
          .doc = "over weeks: stops by the name of the cause in the scenario"},
         {.name = "badput",
          .type = CONTRACT_SUMS | CONTRACT_SOMETIMES,
          .doc = "over weeks: wall-clock time by class",
          .unit = "s",
          .words = badput_names,
          .word_count = BADPUT_COUNT},
         {.name = "restart_links",
          .type = CONTRACT_SUMS | CONTRACT_SOMETIMES,
          .doc = "over weeks: time of each link of the restart chain",
          .unit = "s",
          .words = restart_links},
         {.name = "energy_by_class",
          .type = CONTRACT_SUMS | CONTRACT_SOMETIMES,
          .doc = "over weeks: energy at the wall by class of time",
          .unit = "J",
          .words = energy_classes,
          .word_count = BADPUT_COUNT + 1},
         {.name = "checkpoint_levels",
          .type = CONTRACT_OBJECT | CONTRACT_LIST | CONTRACT_SOMETIMES,
          .doc = "over weeks: the levels of a checkpoint",
          .of = &level});
const struct contract_document contract_run = {
    "orrery.run/1", "what `orrery run` and `orrery report` of a run print", true, &run};

CONTRACT(memory, IN_ROW("parameters", REAL, "", "parameters of the model"),
         IN_ROW("static_bytes_model", REAL, "B", "weights, gradients and optimizer of the model"),
         IN_ROW("rule_of_thumb_bytes", REAL, "B", "what the rules of thumb say, in all"),
         IN_ROW("rule_of_thumb_static_bytes", REAL, "B", "bytes a parameter x parameters"),
         IN_ROW("rule_of_thumb_activation_bytes", REAL, "B", "of activations"),
         ROW("rule_of_thumb_gpus", COUNT, "cards that hold all of it"),
         ROW("rule_of_thumb_static_gpus", COUNT, "cards that hold the static part"),
         ROW("rule_of_thumb_inference_gpus", COUNT, "cards that hold the weights"),
         NULL_ROW("minimum_gpus", COUNT, "fewest GPUs that it fits; null: none was found"),
         OF_NULL_ROW("minimum_layout", contract_layout, "a layout on so many"),
         NULL_ROW("minimum_gpus_opened", COUNT,
                  "the same with the keys open that the scenario holds; null: not asked"),
         COLUMNS_ROW(run, "usable_hbm_bytes fits"), ANNOUNCED_ROWS,
         OF_NULL_ROW("first_failure", failure, "where memory runs out first; null: it does not"),
         OF_NULL_ROW("advice", contract_advice, "layouts that fit; null: this one does"),
         OF_LIST_ROW("classes", contract_stage, "memory of the ranks of each stage"));
const struct contract_document contract_memory = {"orrery.memory/1", "what `orrery memory` prints",
                                                  true, &memory};

static const char *const severities[] = {"error", "warning", NULL};
CONTRACT(problem, WORDS_ROW("severity", severities, "an error refuses the scenario"),
         ROW("file", WORD, "of the scenario, or --set"), ROW("line", COUNT, "from 1"),
         ROW("column", COUNT, "from 1"), ROW("text", WORD, "what is wrong, and the remedy"));
CONTRACT(check, ROW("valid", FLAG, "Does `run` take it?"),
         NULL_ROW("refusal", WORD,
                  "why `run` refuses a scenario without errors; null: it does not"),
         ROW("fits", FLAG, "Does it fit the memory of its cards?"),
         ROW("errors", COUNT, "all errors"), ROW("warnings", COUNT, "all warnings"),
         OF_LIST_ROW("problems", problem, "in the order of the file"),
         ROW("more_errors", COUNT, "errors that are not listed"),
         ROW("more_warnings", COUNT, "warnings that are not listed"));
const struct contract_document contract_check = {"orrery.check/1", "what `orrery check` prints",
                                                 true, &check};
