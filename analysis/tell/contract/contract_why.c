/* `explain`, `explain --walls`, `compare`, `compare --trace`. */
#include "analysis/explain/walls.h"
#include "analysis/explain/walls_rows.h"
#include "analysis/tell/contract/contract_row.h"

#define SPOT_COLUMNS "place rank stage tensor tenant at step bytes short_bytes reserved_bytes"
CONTRACT(spot, COLUMNS_ROW(out_of_memory, SPOT_COLUMNS));
CONTRACT(figure, ROW("name", WORD, "as in the catalogue"), ROW("text", WORD, "its value"),
         ROW("origin", WORD, "measured, published, ..."),
         IN_NULL_ROW("error_ratio", REAL, "1", "its standard error; null: exact"),
         ROW("source", WORD, "where it stands"),
         {.name = "cost",
          .type = CONTRACT_REAL | CONTRACT_OR_NULL | CONTRACT_SOMETIMES,
          .doc = "elasticity of the cost to it",
          .unit = "1"});
CONTRACT(term, ROW("term", WORD, "a term of the waterfall"), ROW("what", WORD, "what it is"),
         IN_NULL_ROW("seconds", REAL, "s", "its part of the step"),
         IN_NULL_ROW("tokens_per_day", REAL, "tokens", "throughput without it and those above"),
         OF_LIST_ROW("stands_on", figure, "figures of the catalogue"));
CONTRACT(path_part, ROW("stream", WORD, "compute, tp, pp, ..."), ROW("name", WORD, "of the ops"),
         ROW("phase", WORD, "forward, backward, ..."),
         NULL_ROW("wire", WORD, "what a message goes over; null: no message"),
         IN_ROW("seconds", REAL, "s", "their time on the path"), ROW("ops", COUNT, "ops"));
CONTRACT(critical_path, OF_LIST_ROW("parts", path_part, "longest first"),
         IN_ROW("gaps_s", REAL, "s", "host, and latency of messages"),
         IN_ROW("sum_s", REAL, "s", "all of it: the step"), ROW("ops", COUNT, "ops on the path"),
         ROW("crossings", COUNT, "changes from rank to rank"));
CONTRACT(elasticity, ROW("input", WORD, "a figure of the hardware"),
         ROW("what", WORD, "what it is"),
         IN_NULL_ROW("step", REAL, "1", "change of the step for 1 % more of it, in %"),
         IN_NULL_ROW("memory", REAL, "1", "the same of the memory"),
         IN_NULL_ROW("cost", REAL, "1", "the same of the cost"),
         IN_NULL_ROW("step_less_s", REAL, "s", "step with 10 % less of it"),
         IN_NULL_ROW("step_more_s", REAL, "s", "step with 10 % more of it"),
         IN_NULL_ROW("cost_less_ratio", REAL, "1", "cost with 10 % less of it, over today's"),
         IN_NULL_ROW("cost_more_ratio", REAL, "1", "cost with 10 % more of it, over today's"),
         OF_LIST_ROW("stands_on", figure, "figures of the catalogue"));
CONTRACT(explain, COLUMNS_ROW(run, "fits"), ANNOUNCED_ROWS,
         OF_NULL_ROW("first_failure", spot, "where memory runs out; null: it does not"),
         IN_NULL_ROW("step_time_s", REAL, "s", "one training step"),
         IN_NULL_ROW("kept_step_s", REAL, "s", "over weeks: wall-clock time of a kept step"),
         IN_NULL_ROW("tokens_per_day", REAL, "tokens", "kept tokens"),
         OF_LIST_ROW("waterfall", term, "from the peak to what is kept"),
         NAMES_ROW("idle", "s", "time without compute, by its cause"),
         IN_NULL_ROW("paced_s", REAL, "s", "compute at the pace of a slower rank"),
         OF_NULL_ROW("critical_path", critical_path, "null: the step was not played op by op"),
         {.name = "elasticities",
          .type = CONTRACT_OBJECT | CONTRACT_LIST | CONTRACT_OR_NULL,
          .doc = "null: there are none, for the reason below",
          .of = &elasticity},
         NULL_ROW("no_elasticities", WORD, "why there are none"),
         IN_NULL_ROW("headroom_bytes", REAL, "B", "memory of the fullest card that is free"),
         {.name = "kernel_evidence",
          .type = CONTRACT_NAMES | CONTRACT_SOMETIMES,
          .doc = "share of the kernels' time by what it rests on; missing without a profile",
          .unit = "1"});
const struct contract_document contract_explain = {
    "orrery.explain/1", "what `orrery explain` prints of a run", false, &explain};

CONTRACT(wall, ROW("key", WORD, "what is estimated"),
         {.name = "unit",
          .type = CONTRACT_WORD,
          .doc = "of both numbers",
          .words = walls_unit_names,
          .word_count = WALLS_RATE + 1},
         IN_NULL_ROW("envelope", REAL, "as unit", "back of the envelope"),
         IN_NULL_ROW("simulated", REAL, "as unit", "as it is simulated"),
         ROW("formula", WORD, "of the envelope"));
static const char *const bounds[] = {"arithmetic", "memory", NULL};
CONTRACT(kernel, ROW("block", WORD, "where it is in the model"), ROW("name", WORD, "the kernel"),
         IN_ROW("flops", REAL, "FLOP", "of one call"), IN_ROW("bytes", REAL, "B", "moved by it"),
         WORDS_ROW("bound_by", bounds, "which roof is lower"),
         NULL_ROW("precision", WORD, "number format of its products; null: it has none"),
         IN_NULL_ROW("peak_flops_per_s", REAL, "FLOP/s", "peak of that format"),
         IN_ROW("roofline_s", REAL, "s", "time under the roof"),
         IN_ROW("modelled_s", REAL, "s", "time in the simulation"));
CONTRACT(walls, ANNOUNCED_ROWS, OF_LIST_ROW("walls", wall, "the estimates"),
         ROW("flops_letters", WORD, "number and meaning of each letter of the formulas"),
         {.name = "binding",
          .type = CONTRACT_WORD,
          .doc = "the wall that binds",
          .words = walls_wall_names,
          .word_count = WALL_COUNT},
         ROW("moves", WORD, "what moves it"), ROW("fits", FLAG, "Does it fit its cards?"),
         NULL_ROW("largest_part", WORD, "of the step; null: it was not timed"),
         IN_NULL_ROW("largest_part_ratio", REAL, "1", "its share"),
         IN_NULL_ROW("balance_flop_per_byte", REAL, "FLOP/B", "of the card: peak over bandwidth"),
         OF_LIST_ROW("kernels", kernel, "of a layer and of the head"));
const struct contract_document contract_walls = {
    "orrery.walls/1", "what `orrery explain --walls` prints", true, &walls};

CONTRACT(side,
         COLUMNS_ROW(run, "scenario seed digest fits ranks=rank_count step_time_s=step_s "
                          "tokens_per_s mfu=mfu_ratio tokens_per_day peak_reserved_bytes "
                          "usable_hbm_bytes cost_usd_per_step"),
         ROW("path", WORD, "the file"),
         IN_NULL_ROW("cost_usd_per_1e9_tokens", REAL, "USD", "over weeks: of those kept"),
         ANNOUNCED_ROWS,
         OF_NULL_ROW("first_failure", spot, "where memory runs out; null: it does not"));
CONTRACT(difference, ROW("term", WORD, "a term of the waterfall"), ROW("what", WORD, "what it is"),
         IN_NULL_ROW("a_s", REAL, "s", "of the first"),
         IN_NULL_ROW("b_s", REAL, "s", "of the second"),
         IN_NULL_ROW("difference_s", REAL, "s", "second less first"),
         IN_NULL_ROW("a_gpu_s_per_1e6_tokens", REAL, "GPU s", "of the first"),
         IN_NULL_ROW("b_gpu_s_per_1e6_tokens", REAL, "GPU s", "of the second"),
         IN_NULL_ROW("difference_gpu_s_per_1e6_tokens", REAL, "GPU s", "second less first"));
CONTRACT(held, ROW("tenant", WORD, "what the memory is for"),
         IN_NULL_ROW("a_bytes", REAL, "B", "of the first"),
         IN_NULL_ROW("b_bytes", REAL, "B", "of the second"),
         IN_NULL_ROW("difference_bytes", REAL, "B", "second less first"));
CONTRACT(setting, ROW("name", WORD, "a key, a figure, or words"),
         NULL_ROW("a", WORD, "of the first; null: it has none"),
         NULL_ROW("b", WORD, "of the second; null: it has none"),
         ROW("of_the_catalogue", FLAG, "Is it a figure of the catalogue?"),
         ROW("of_the_scenario", FLAG, "Is it a key that --set takes?"));
#define TERMS(key, says)                                                                           \
    {                                                                                              \
        .name = key, .type = CONTRACT_OBJECT | CONTRACT_LIST | CONTRACT_OR_NULL, .doc = says,      \
        .of = &difference                                                                          \
    }
CONTRACT(compare, OF_ROW("a", side, "the first"), OF_ROW("b", side, "the second"),
         ROW("timed", FLAG, "Were both timed?"),
         ROW("of_kept_steps", FLAG, "Are the terms of a kept step of weeks?"),
         TERMS("terms", "they sum to the difference; null: one was not timed"),
         TERMS("compute", "parts of the term compute; null: one was not timed"),
         OF_NULL_ROW("total", difference, "their sum; null: one was not timed"),
         OF_LIST_ROW("memory", held, "by what it is for"),
         OF_ROW("peak", held, "reserved by the fullest rank"),
         OF_LIST_ROW("settings", setting, "keys and figures that differ"));
const struct contract_document contract_compare = {
    "orrery.compare/1", "what `orrery compare` prints of two runs", false, &compare};

CONTRACT(spent, IN_ROW("step_s", REAL, "s", "the step of the rank"),
         IN_ROW("compute_s", REAL, "s", "kernels that compute"),
         IN_ROW("communication_s", REAL, "s", "kernels that communicate"),
         IN_ROW("exposed_s", REAL, "s", "communication beside no compute"),
         IN_ROW("idle_s", REAL, "s", "no kernel"));
CONTRACT(kind_sum, ROW("kind", WORD, "kind of kernel, or all"),
         ROW("measured_spans", COUNT, "kernels of the trace"),
         IN_ROW("measured_s", REAL, "s", "their time"),
         ROW("simulated_spans", COUNT, "kernels of the simulated step"),
         IN_ROW("simulated_s", REAL, "s", "their time"),
         ROW("measured_alone", COUNT, "kernels of the trace without a partner"),
         IN_ROW("measured_alone_s", REAL, "s", "their time"),
         ROW("simulated_alone", COUNT, "simulated kernels without a partner"),
         IN_ROW("simulated_alone_s", REAL, "s", "their time"));
CONTRACT(part_sum, ROW("kind", WORD, "kind of kernel"), ROW("name", WORD, "the kernel"),
         NULL_ROW("phase", WORD, "forward, backward, ...; null: not known"),
         ROW("spans", COUNT, "so many"), IN_ROW("measured_s", REAL, "s", "of the trace"),
         IN_ROW("simulated_s", REAL, "s", "of the simulated step"),
         IN_ROW("difference_s", REAL, "s", "simulated less measured"));
CONTRACT(pair, ROW("kind", WORD, "kind of kernel"), ROW("measured", WORD, "name in the trace"),
         ROW("measured_stream", WORD, "stream of the trace"),
         IN_ROW("measured_at_s", REAL, "s", "begin in the trace"),
         IN_ROW("measured_s", REAL, "s", "its time"), ROW("simulated", WORD, "name of the op"),
         IN_ROW("simulated_at_s", REAL, "s", "begin in the simulated step"),
         IN_ROW("simulated_s", REAL, "s", "its time"), ROW("phase", WORD, "forward, ..."),
         NULL_ROW("microbatch", COUNT, "from 0; null: of none"),
         NULL_ROW("layer", COUNT, "from 0; null: of none"),
         IN_ROW("difference_s", REAL, "s", "simulated less measured"));
CONTRACT(unknown, ROW("name", WORD, "of a kernel"), IN_ROW("measured_s", REAL, "s", "its time"));
CONTRACT(compare_trace, ROW("trace", WORD, "the file"),
         NULL_ROW("profiler_step", COUNT, "number of the step in it; null: it has none"),
         ROW("device", WORD, "the card"), ROW("kernels", COUNT, "kernels of the step"),
         ANNOUNCED_ROWS, ROW("rank", COUNT, "whose trace it is"),
         ROW("ranks", COUNT, "all of them"), OF_ROW("measured", spent, "in the trace"),
         OF_ROW("simulated", spent, "in the simulated step"),
         IN_ROW("simulated_step_time_s", REAL, "s", "of all ranks"),
         ROW("forward_only", FLAG, "Has the trace no backward pass?"),
         IN_ROW("unknown_ratio", REAL, "1", "share of time of kernels of unknown name"),
         OF_LIST_ROW("unknown", unknown, "the longest of them"), OF_ROW("all", kind_sum, "sums"),
         OF_LIST_ROW("kinds", kind_sum, "by kind"), OF_LIST_ROW("pairs", part_sum, "by name"),
         OF_LIST_ROW("alone", part_sum, "without a partner"),
         OF_LIST_ROW("worst", pair, "that differ most"));
const struct contract_document contract_compare_trace = {
    "orrery.compare_trace/1", "what `orrery compare` with --trace prints", false, &compare_trace};
