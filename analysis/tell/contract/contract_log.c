/* `watch`, `export --launch`, `chakra`. */
#include "analysis/tell/contract/contract_row.h"

static const char *const verdicts[] = {"below", "inside", "above", NULL};

CONTRACT(log, ROW("path", WORD, "the file"), ROW("format", WORD, "as --format names it"),
         ROW("times", WORD, "how a row tells its time"), ROW("rows", COUNT, "rows with a time"),
         ROW("repeated_rows", COUNT, "rows that stand twice"),
         ROW("first_step", COUNT, "its number"), ROW("last_step", COUNT, "its number"),
         ROW("starts", COUNT, "starts of the job"),
         IN_NULL_ROW("clock_over_steps", REAL, "1", "time by the stamps over that of the rows"));
CONTRACT(forecast, IN_ROW("step_time_s", REAL, "s", "simulated"),
         IN_ROW("p10_s", REAL, "s", "one of ten draws is below"),
         IN_ROW("p50_s", REAL, "s", "one of two draws is below"),
         IN_ROW("p90_s", REAL, "s", "nine of ten draws are below"));
CONTRACT(spread, ROW("first_step", COUNT, "its number"), ROW("last_step", COUNT, "its number"),
         ROW("rows", COUNT, "rows of the log"), IN_ROW("p10_s", REAL, "s", "one of ten is below"),
         IN_ROW("p50_s", REAL, "s", "the median"),
         IN_ROW("p90_s", REAL, "s", "nine of ten are below"),
         IN_ROW("over_forecast", REAL, "1", "median over the forecast, less 1"),
         WORDS_ROW("verdict", verdicts, "the median and the forecast's interval of 80 %"));
CONTRACT(whole, REST_ROW(spread),
         IN_ROW("below_ratio", REAL, "1", "share of the forecast's draws below the median"));
#define PLACE_ROWS                                                                                 \
    ROW("line", COUNT, "of the log"),                                                              \
        IN_NULL_ROW("at_s", REAL, "s", "since 1970, or by the log's clock; null: no stamp"),       \
        NULL_ROW("at", WORD, "the same in words")
CONTRACT(log_level, REST_ROW(spread), PLACE_ROWS,
         IN_NULL_ROW("change_ratio", REAL, "1", "median over that before, less 1; null: the first"),
         IN_NULL_ROW("drift_s_per_step", REAL, "s", "slope within the level, for each step"),
         IN_NULL_ROW("drift_z", REAL, "1", "slope over its standard error"),
         ROW("drifts", FLAG, "Is the drift beyond chance?"),
         ROW("slow_rows", COUNT, "single slow rows in it"));
CONTRACT(slow, ROW("step", COUNT, "its number"), IN_ROW("step_s", REAL, "s", "its time"),
         IN_NULL_ROW("score", REAL, "1", "distance from the median in spreads"),
         IN_ROW("lost_s", REAL, "s", "time beyond the median"), PLACE_ROWS);
CONTRACT(restart, ROW("step_before", COUNT, "last step before it"),
         ROW("goes_on_with", COUNT, "first step after it"),
         ROW("repeated_steps", COUNT, "steps done twice"),
         IN_NULL_ROW("between_s", REAL, "s", "from the last row to the first; null: no stamps"),
         PLACE_ROWS);
CONTRACT(log_goodput, IN_NULL_ROW("goodput", REAL, "1", "productive over wall-clock time"),
         IN_ROW("wall_s", REAL, "s", "wall-clock time of the log"),
         ROW("stamped", FLAG, "Do stamps tell it, or the sum of the rows?"),
         NULL_ROW("clock_back_line", COUNT, "line at which the clock goes back; null: none"),
         ROW("kept_steps", COUNT, "steps that were kept"),
         ROW("repeated_steps", COUNT, "steps that were done again"),
         IN_NULL_ROW("productive_step_s", REAL, "s", "kept steps"),
         IN_NULL_ROW("wasted_progress_from_disruption_s", REAL, "s",
                     "steps undone; null: not told"),
         IN_NULL_ROW("infrastructure_recovery_from_disruption_s", REAL, "s", "null: not told"),
         IN_NULL_ROW("program_startup_s", REAL, "s", "to the first step; null: not told"),
         IN_NULL_ROW("unproductive_checkpoint_save_s", REAL, "s", "null: not told"),
         IN_NULL_ROW("unproductive_checkpoint_restore_s", REAL, "s", "null: not told"),
         IN_NULL_ROW("custom_badput_evaluation_s", REAL, "s", "null: not told"),
         IN_NULL_ROW("data_loading_sync_s", REAL, "s", "null: no log tells it"),
         IN_NULL_ROW("device_initialization_s", REAL, "s", "null: no log tells it"),
         IN_NULL_ROW("training_prep_s", REAL, "s", "null: no log tells it"),
         IN_NULL_ROW("other_s", REAL, "s", "the rest"));
CONTRACT(watch, OF_ROW("log", log, "what was read"), OF_ROW("forecast", forecast, "the prediction"),
         OF_ROW("step", whole, "all rows"), OF_LIST_ROW("windows", spread, "parts of equal length"),
         OF_LIST_ROW("levels", log_level, "stretches between lasting changes"),
         OF_LIST_ROW("slow_rows", slow, "single slow rows"),
         IN_ROW("slow_lost_s", REAL, "s", "time lost in them"),
         OF_LIST_ROW("restarts", restart, "in their order"),
         OF_ROW("goodput", log_goodput, "wall-clock time by class"));
const struct contract_document contract_watch = {"orrery.watch/1", "what `orrery watch` prints",
                                                 true, &watch};

CONTRACT(launched, ROW("ranks", COUNT, "all of them"), ROW("tp", COUNT, "tensor parallel ranks"),
         ROW("pp", COUNT, "pipeline stages"), ROW("vpp", COUNT, "chunks of a stage"),
         ROW("dp", COUNT, "data parallel replicas"), ROW("cp", COUNT, "context parallel ranks"),
         ROW("microbatch", COUNT, "sequences"), ROW("global_batch", COUNT, "sequences of a step"),
         ROW("sequence", COUNT, "tokens of one"),
         {.name = "schedule",
          .type = CONTRACT_KIND,
          .doc = "order of the passes",
          .family = FAMILY_SCHEDULES},
         {.name = "sharding",
          .type = CONTRACT_KIND,
          .doc = "what data parallel ranks shard",
          .family = FAMILY_SHARDINGS},
         ROW("recompute", WORD, "what is computed again in the backward pass"),
         ROW("sequence_parallel", FLAG, "Are activations between products split by tp?"),
         {.name = "precision",
          .type = CONTRACT_KIND,
          .doc = "number formats",
          .family = FAMILY_PRECISIONS});
CONTRACT(launch, ROW("framework", WORD, "as --launch names it"),
         ROW("framework_version", WORD, "the version that the script is for"),
         ROW("refused", FLAG, "Does the framework refuse the layout?"),
         OF_ROW("layout", launched, "what is launched"),
         OF_LIST_ROW("notes", contract_note, "what differs, or is yours to set"),
         LIST_ROW("lines", WORD, "the script; none where it is refused"));
const struct contract_document contract_launch = {
    "orrery.launch/1", "what `orrery export --launch` prints", true, &launch};

CONTRACT(nodes, COLUMNS_ROW(task_step, "compute=compute_count compute_by_rates=by_rates_count "
                                       "compute_untimed=untimed_count host=host_count "
                                       "memory=memory_count collectives=collective_count "
                                       "messages=message_count "
                                       "dependencies_dropped=dropped_count"));
static const char *const task_parts[] = {
    "compute", "memory", "exposed_communication", "host", "wait", "done", NULL};
#define RANK_COLUMNS                                                                               \
    "rank compute=compute_s memory=memory_s exposed_communication=exposed_communication_s "        \
    "host=host_s wait=wait_s done=done_s communicating_s"
CONTRACT(task_rank, COLUMNS_ROW(task_rank, RANK_COLUMNS));
CONTRACT(task_group, ROW("name", WORD, "of the group in the traces"),
         LIST_ROW("ranks", COUNT, "its members"),
         COLUMNS_ROW(task_group, "meetings=meeting_count bytes=payload_bytes moving_s"));
CONTRACT(chakra,
         COLUMNS_ROW(task_step,
                     "digest traces step_time_s=step_s rank_count node_count event_count"),
         OF_ROW("nodes", nodes, "nodes of the traces by kind"), ANNOUNCED_ROWS,
         {.name = "breakdown",
          .type = CONTRACT_SUMS,
          .doc = "where the step of the mean rank goes",
          .unit = "s",
          .words = task_parts},
         OF_LIST_ROW("ranks", task_rank, "each rank"),
         OF_LIST_ROW("groups", task_group, "each group that communicates"));
const struct contract_document contract_chakra = {"orrery.chakra/1", "what `orrery chakra` prints",
                                                  true, &chakra};
