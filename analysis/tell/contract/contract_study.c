/* `study` and `validate`. */
#include "analysis/record/numbers/metric_source.h"
#include "analysis/tell/contract/contract_row.h"
#include "analysis/validate/table/validate_kind.h"
#include "analysis/validate/table/validate_row.h"

#define CI_ROW                                                                                     \
    {                                                                                              \
        .name = "ci95", .type = CONTRACT_REAL | CONTRACT_PAIR | CONTRACT_OR_NULL,                  \
        .doc = "interval of 95 % of the mean; null: one replication tells of none",                \
        .unit = "as the metric"                                                                    \
    }
CONTRACT(summary, IN_NULL_ROW("mean", REAL, "as the metric", "of the replications"), CI_ROW,
         IN_NULL_ROW("p10", REAL, "as the metric", "one of ten replications is below"),
         IN_NULL_ROW("p50", REAL, "as the metric", "one of two is below"),
         IN_NULL_ROW("p90", REAL, "as the metric", "nine of ten are below"));
CONTRACT(values, ROW("*", SCALAR, "value of the key of --vary, in SI units where it is a number"));
static const char *const places[] = {"card", "host", NULL};
CONTRACT(shortage, WORDS_ROW("place", places, "a card, or the memory of a node's CPUs"),
         ROW("tensor", WORD, "what could not be allocated"),
         ROW("tenant", WORD, "what the memory is for"), ROW("stage", COUNT, "pipeline stage"),
         IN_ROW("short_bytes", REAL, "B", "part of the request beyond the free memory"));
CONTRACT(closed_forms, IN_NULL_ROW("checkpoint_interval_s", REAL, "s", "as it is set"),
         IN_NULL_ROW("young_s", REAL, "s", "best interval by Young"),
         IN_NULL_ROW("daly_s", REAL, "s", "best interval by Daly"),
         IN_NULL_ROW("exact_s", REAL, "s", "best interval of exponential failures"),
         IN_NULL_ROW("job_mtbf_s", REAL, "s", "mean time between failures of the job"),
         IN_NULL_ROW("stall_s", REAL, "s", "time for which a save blocks training"));
CONTRACT(study_point, ROW("point", COUNT, "its number, from 0"),
         OF_ROW("vary", values, "where it stands"), ROW("replications", COUNT, "seeds played"),
         ROW("fits", FLAG, "Does it fit the memory of its cards?"),
         IN_NULL_ROW("usable_hbm_bytes", REAL, "B", "memory of a card that a rank may use"),
         ANNOUNCED_ROWS,
         OF_NULL_ROW("first_failure", shortage, "where memory runs out; null: it does not"),
         {.type = CONTRACT_METRICS, .of = &summary},
         {.name = "closed_forms",
          .type = CONTRACT_OBJECT | CONTRACT_SOMETIMES,
          .doc = "over weeks: intervals between checkpoints",
          .of = &closed_forms});
CONTRACT(rejected_point, ROW("point", COUNT, "its number, from 0"),
         OF_ROW("vary", values, "where it stands"), ROW("reason", WORD, "why it is refused"));
CONTRACT(optimum, ROW("point", COUNT, "the point of the best mean"),
         OF_ROW("vary", values, "where it stands"),
         IN_NULL_ROW("value", REAL, "as the key",
                     "of the one key, where it is a number; it may lie between points"),
         {.name = "ci95",
          .type = CONTRACT_REAL | CONTRACT_PAIR | CONTRACT_OR_NULL,
          .doc = "interval of 95 % of it",
          .unit = "as the key"},
         ROW("tied", COUNT, "points that are no worse, as far as the seeds tell"),
         LIST_ROW("tied_points", COUNT, "their numbers"),
         ROW("at_end", FLAG, "Does it lie at an end of the range?"),
         ROW("run", WORD, "the command that plays it"));
CONTRACT(study, ROW("objective", WORD, "the metric that is best at the optimum"),
         OF_LIST_ROW("points", study_point, "in their order, or by the objective"),
         NAMES_ROW("rejected", NULL, "points refused, by the reason"),
         OF_LIST_ROW("rejected_points", rejected_point, "each of them"),
         OF_NULL_ROW("optimum", optimum, "null: there is none"),
         IN_NULL_ROW("seconds", REAL, "s", "wall-clock time; null: not kept"));
const struct contract_document contract_study = {"orrery.study/1", "what `orrery study` prints",
                                                 false, &study};

CONTRACT(score, ROW("count", COUNT, "rows"),
         IN_NULL_ROW("median_ape", REAL, "1", "median of the absolute error over the measured"),
         IN_NULL_ROW("mean_ape", REAL, "1", "its mean"),
         IN_NULL_ROW("p90_ape", REAL, "1", "nine of ten are below"),
         IN_NULL_ROW("bias", REAL, "1", "mean of the error with its sign"),
         IN_NULL_ROW("within_10", REAL, "1", "share of the rows within 10 %"));
CONTRACT(scored, OF_ROW("clean", score, "rows of clean sources"),
         OF_ROW("noisy", score, "rows of noisy ones"));
CONTRACT(scores, ROW("rows", COUNT, "all rows"), ROW("refused", COUNT, "rows not simulated"),
         NAMES_ROW("refused_for", NULL, "those by the reason"),
         OF_ROW("*", scored, "a metric of the kind of file"));
CONTRACT(source_scores, OF_ROW("*", scores, "a source of the file"));
CONTRACT(confusion, ROW("true_positive", COUNT, "out of memory, and predicted so"),
         ROW("false_positive", COUNT, "predicted so, and it fits"),
         ROW("true_negative", COUNT, "it fits, and predicted so"),
         ROW("false_negative", COUNT, "out of memory, and not predicted"),
         IN_NULL_ROW("accuracy", REAL, "1", "share of right ones"),
         IN_NULL_ROW("precision", REAL, "1", "of those predicted out of memory"),
         IN_NULL_ROW("recall", REAL, "1", "of those out of memory"));
CONTRACT(source_confusions, OF_ROW("*", confusion, "a source of the file"));
CONTRACT(memory_verdicts, OF_ROW("all", confusion, "all rows"),
         OF_ROW("sources", source_confusions, "by source"));
CONTRACT(choosing, ROW("groups", COUNT, "groups of layouts of one model and machine"),
         IN_NULL_ROW("median_regret", REAL, "1", "time of the chosen over the best, less 1"),
         IN_NULL_ROW("p90_regret", REAL, "1", "nine of ten are below"),
         IN_NULL_ROW("median_spearman", REAL, "1", "correlation of ranks"),
         IN_NULL_ROW("top1", REAL, "1", "share of groups whose best is chosen"));
CONTRACT(source_choices, OF_ROW("*", choosing, "a source of the file"));
CONTRACT(choices_made, OF_ROW("all", choosing, "all groups"),
         OF_ROW("sources", source_choices, "by source"));
CONTRACT(interval_source, ROW("rows", COUNT, "clean rows"),
         IN_NULL_ROW("log_spread_of_constants", REAL, "1", "spread by the uncertain figures"),
         IN_NULL_ROW("log_spread_of_model", REAL, "1", "spread by the model's error"),
         IN_NULL_ROW("coverage", REAL, "1", "share of the rows inside"),
         IN_NULL_ROW("log_spread_elsewhere", REAL, "1", "spread by the rows of other sources"),
         IN_NULL_ROW("coverage_elsewhere", REAL, "1", "share inside with that spread"));
CONTRACT(interval_sources, OF_ROW("*", interval_source, "a source of the file"));
CONTRACT(intervals, ROW("draws", COUNT, "draws of the figures of a row"),
         ROW("probability", SHARE, "that an interval claims"),
         IN_NULL_ROW("coverage", REAL, "1", "share of the rows inside"),
         IN_NULL_ROW("log_spread_by_these_rows", REAL, "1", "spread that covers so many"),
         IN_NULL_ROW("shared_ratio_by_these_rows", REAL, "1",
                     "share of the error that two rows of a source have in common"),
         ROW("pairs", COUNT, "pairs of rows compared"), ROW("ties", COUNT, "not decided"),
         ROW("decided", COUNT, "decided"),
         IN_NULL_ROW("decided_right_ratio", REAL, "1", "share of these that are right"),
         IN_NULL_ROW("decided_probability", REAL, "1", "share that was claimed"),
         OF_ROW("sources", interval_sources, "by source"));
CONTRACT(validate_line, ROW("row_id", WORD, "as in the file"), ROW("source", WORD, "its source"),
         WORDS_ROW("quality", quality_names, "how far the row is to be trusted"),
         ROW("metric", WORD, "what was measured"),
         IN_NULL_ROW("predicted", REAL, "SI", "null: refused, or not known"),
         IN_NULL_ROW("measured", REAL, "SI", "null: the row does not have it"),
         ROW("refused", FLAG, "Could the row not be simulated?"),
         {.name = "refused_for",
          .type = CONTRACT_WORD | CONTRACT_OR_NULL,
          .doc = "the reason; null: it was simulated",
          .words = refusal_names},
         ROW("note", WORD, "a remark; empty: none"),
         ROW("announced", FLAG, "Is a figure that it stands on only announced?"),
         IN_NULL_ROW("error", REAL, "1", "predicted over measured, less 1; null: not known"));
CONTRACT(validate, ROW("file", WORD, "the file of published rows"),
         ROW("kind", WORD, "its kind, by its columns"),
         {.name = "detail",
          .type = CONTRACT_WORD | CONTRACT_SOMETIMES,
          .doc = "of steps: how their time is predicted",
          .words = validate_detail_names},
         ANNOUNCED_ROWS, OF_LIST_ROW("rows", validate_line, "a metric of a row each"),
         ROW("refused", COUNT, "rows not simulated"),
         OF_ROW("sources", source_scores, "errors by source"),
         OF_ROW("metrics", scores, "errors of all rows"),
         OF_ROW("all_clean", score, "clean rows, first metric"),
         OF_ROW("all_noisy", score, "noisy rows, first metric"),
         OF_ROW("macro_clean", score, "means over the sources"),
         OF_ROW("oom", memory_verdicts, "verdicts on memory"),
         OF_ROW("layouts", choices_made, "which layout is chosen"),
         {.name = "uncertainty",
          .type = CONTRACT_OBJECT | CONTRACT_SOMETIMES,
          .doc = "with --uncertainty",
          .of = &intervals});
const struct contract_document contract_validate = {
    "orrery.validate/1", "what `orrery validate` prints", false, &validate};
