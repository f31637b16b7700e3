/* `plan`: a search of layouts, and one for each of several machines. */
#include "analysis/plan/search/search_found.h"
#include "analysis/record/evidence/model_error.h"
#include "analysis/tell/contract/contract_row.h"
#include "models/memory/ledger.h"
#include "models/step/simulate/breakdown.h"

static const char *const details[] = {"op", "pass", NULL};

#define PARTS_ROW(key, says)                                                                       \
    {                                                                                              \
        .name = key, .type = CONTRACT_SUMS | CONTRACT_OR_NULL, .doc = says, .unit = "s",           \
        .words = breakdown_names, .word_count = PART_COUNT                                         \
    }

CONTRACT(weeks, ROW("seeds", COUNT, "replications"),
         ROW("goodput", SHARE, "tokens kept over tokens without failures, the mean of them"),
         ROW("goodput_low", SHARE, "lower end of its 95 % interval"),
         ROW("goodput_high", SHARE, "upper end"),
         IN_ROW("kept_tokens_per_s", REAL, "tokens/s", "throughput of kept tokens"),
         IN_ROW("failures", REAL, "", "failures, the mean of the replications"),
         IN_NULL_ROW("job_mtbf_s", REAL, "s", "mean time between failures of the job"),
         ROW("checkpoint_policy", WORD, "a kind of `orrery list checkpoint`"),
         IN_NULL_ROW("checkpoint_interval_s", REAL, "s", "time between saves"),
         IN_NULL_ROW("checkpoint_stall_s", REAL, "s", "time for which a save blocks training"),
         ROW("recovery_policy", WORD, "a kind of `orrery list recovery`"),
         ROW("limited", FLAG, "Did a replication hit a limit?"));

CONTRACT(leader, IN_NULL_ROW("rank", REAL, "", "place in the list, from 1; null: it is not on it"),
         REST_ROW(contract_layout),
         WORDS_ROW("detail", details, "simulated op by op, or by whole passes"),
         WORDS_ROW("measured", nearness_names, "what measured steps of it have in common with it"),
         IN_ROW("step_time_s", REAL, "s", "one training step"),
         IN_NULL_ROW("pass_step_time_s", REAL, "s", "the same by whole passes"),
         IN_ROW("p10", REAL, "s",
                "of forecast_step_time_s where that is not null, else of step_time_s"),
         IN_ROW("p90", REAL, "s", "as p10"),
         IN_NULL_ROW("forecast_step_time_s", REAL, "s", "the step corrected by --measured"),
         ROW("as_fast_probability", SHARE, "probability that it is as fast as the first"),
         IN_ROW("tokens_per_s", REAL, "tokens/s", "throughput without failures and saves"),
         ROW("mfu", SHARE, "model FLOPs utilisation"),
         IN_NULL_ROW("peak_reserved_bytes", REAL, "B", "memory that the fullest rank reserves"),
         IN_NULL_ROW("peak_allocated_bytes", REAL, "B", "its largest sum of live blocks"),
         {.name = "fits_ratio",
          .type = CONTRACT_SHARE | CONTRACT_OR_NULL,
          .doc = "share of the draws of the figures of memory in which it fits; null: not asked"},
         IN_NULL_ROW("fits_draws", REAL, "",
                     "draws; 0: no figure of memory is uncertain, and the share is 0 or 1"),
         IN_NULL_ROW("cost_usd_per_1e9_tokens", REAL, "USD", "price of 1e9 tokens"),
         IN_NULL_ROW("energy_j_per_token", REAL, "J", "energy of a token at the wall"),
         IN_NULL_ROW("wall_w", REAL, "W", "mean power at the wall"),
         IN_NULL_ROW("training_days", REAL, "d", "wall-clock time of training.tokens"),
         IN_NULL_ROW("training_usd", REAL, "USD", "their price"),
         OF_NULL_ROW("weeks", weeks, "what weeks with failures keep; null: not asked"),
         PARTS_ROW("breakdown", "where the step of the mean rank goes; null: not known"));

CONTRACT(terms, ROW("headroom", SHARE, "memory that a layout must leave free"),
         IN_NULL_ROW("deadline_days", REAL, "d", "null: none"),
         IN_NULL_ROW("budget_usd", REAL, "USD", "null: none"),
         {.name = "power_w",
          .type = CONTRACT_REAL | CONTRACT_SOMETIMES,
          .doc = "limit at the wall, where there is one",
          .unit = "W"});
CONTRACT(power, IN_ROW("limit_w", REAL, "W", "limit at the wall"),
         IN_NULL_ROW("wall_w", REAL, "W", "what the first layout draws"),
         IN_NULL_ROW("used_ratio", REAL, "1", "that over the limit"),
         IN_NULL_ROW("tokens_per_day_per_mw", REAL, "tokens/d/MW", "of the first layout"),
         IN_ROW("raised_limit_w", REAL, "W", "a limit that is somewhat higher"),
         IN_NULL_ROW("more_tokens_per_day_per_mw", REAL, "tokens/d/MW",
                     "what each MW up to that limit adds"),
         IN_NULL_ROW("smallest_w", REAL, "W", "limit that some layout keeps; null: not asked"));
#define POWER_ROW                                                                                  \
    {                                                                                              \
        .name = "power", .type = CONTRACT_OBJECT | CONTRACT_SOMETIMES,                             \
        .doc = "what the limit of power allows, where there is one", .of = &power                  \
    }

CONTRACT(fates, ROW("rule", COUNT, "break a rule"), ROW("memory", COUNT, "do not fit"),
         ROW("headroom", COUNT, "leave less memory free than asked"),
         ROW("deadline", COUNT, "take longer than allowed"),
         ROW("budget", COUNT, "cost more than allowed"),
         {.name = "power",
          .type = CONTRACT_COUNT | CONTRACT_SOMETIMES,
          .doc = "draw more than allowed, where power is limited"},
         ROW("bound", COUNT, "their kernels alone take longer than the slowest leader"),
         ROW("slower", COUNT, "timed, and slower than the leaders"),
         ROW("ledger", COUNT, "as fast as a leader, and their memory played does not fit"));

CONTRACT(own, REST_ROW(leader),
         LIST_ROW("not_searched", WORD, "values of the scenario's layout that a search leaves out"),
         ROW("less_free_than_headroom", FLAG, "Does it leave less memory free than asked?"));
CONTRACT(own_steps, ROW("steps", COUNT, "measured steps that were given"),
         IN_ROW("shift_ratio", REAL, "1", "by how much they correct the predictions"),
         IN_ROW("before_log_spread", REAL, "1", "spread of the predictions before"));
CONTRACT(regret, ROW("groups", COUNT, "published groups of layouts of one model and machine"),
         IN_ROW("median_ratio", REAL, "1",
                "time of the layout that a plan chooses over that of the best, less 1"),
         IN_ROW("p90_ratio", REAL, "1", "the same, of which nine of ten groups stay below"));
CONTRACT(lack, ROW("rule", WORD, "the key that no layout can keep"),
         ROW("sentence", WORD, "what it would need"),
         IN_NULL_ROW("host_bytes", REAL, "B", "memory of a host that is needed"),
         IN_NULL_ROW("host_room_bytes", REAL, "B", "what it has"),
         OF_ROW("layout", contract_layout, "the nearest"));
CONTRACT(broken, ROW("rule", WORD, "key of the rule that most layouts break"),
         ROW("sentence", WORD, "what it says"), ROW("layouts", COUNT, "those that break it"),
         OF_ROW("layout", contract_layout, "one of them"));
CONTRACT(batch, REST_ROW(leader), ROW("global_batch", COUNT, "the other batch, in sequences"),
         ROW("layouts", COUNT, "layouts that it has"),
         ROW("own_layouts", COUNT, "layouts that the scenario's batch has"),
         IN_NULL_ROW("faster_ratio", REAL, "1", "its throughput over that of the first"));
CONTRACT(script, ROW("framework", WORD, "as --launch names it"),
         ROW("framework_version", WORD, "the version that the script is for"),
         ROW("refused", FLAG, "Does the framework refuse the layout?"),
         OF_LIST_ROW("notes", contract_note, "what differs, or is yours to set"),
         LIST_ROW("lines", WORD, "the script; none where it is refused"));

CONTRACT(overflow, ROW("rank", COUNT, "first rank that runs out of memory"),
         ROW("stage", COUNT, "its pipeline stage"),
         ROW("tensor", WORD, "what could not be allocated"),
         {.name = "tenant",
          .type = CONTRACT_WORD,
          .doc = "what the memory is for",
          .words = tenant_names,
          .word_count = TENANT_COUNT},
         ROW("at", WORD, "place in the software"), IN_ROW("bytes", REAL, "B", "the request"),
         IN_ROW("short_bytes", REAL, "B", "part of it beyond the free memory"),
         IN_ROW("allocated_bytes", REAL, "B", "allocated at that moment"),
         IN_NULL_ROW("needed_bytes", REAL, "B", "what the layout needs at its peak"),
         IN_NULL_ROW("usable_bytes", REAL, "B", "what the card has"));
/* Fates by name: any of search_fate_names. */
#define FATE_WORD(key, nullable, says)                                                             \
    {                                                                                              \
        .name = key, .type = CONTRACT_WORD | (nullable), .doc = says,                              \
        .words = search_fate_names + FATE_RULE, .word_count = FATE_COUNT - FATE_RULE               \
    }
CONTRACT(judged, REST_ROW(contract_layout), FATE_WORD("fate", 0, "why it does not lead"),
         NULL_ROW("rule", WORD, "key of the rule that it breaks; null: none"),
         NULL_ROW("sentence", WORD, "what that rule says"),
         IN_NULL_ROW("least_step_time_s", REAL, "s", "a bound: no step of it is shorter"),
         IN_NULL_ROW("least_bytes", REAL, "B", "a bound: it needs no less"),
         OF_NULL_ROW("first_failure", overflow, "where memory runs out; null: it does not"),
         FATE_WORD("missed", CONTRACT_OR_NULL, "the term that it misses; null: none"),
         OF_NULL_ROW("played", leader, "what it is, simulated op by op; null: it cannot be"),
         PARTS_ROW("lost_s", "by what it is slower than the first; null: not known"));
CONTRACT(why, ROW("matched", COUNT, "layouts that have the keys asked for"),
         OF_ROW("rejected", fates, "what became of them"),
         {.name = "layout",
          .type = CONTRACT_OBJECT | CONTRACT_SOMETIMES,
          .doc = "the fastest of them",
          .of = &judged});

#define ASKED_ROWS                                                                                 \
    WORDS_ROW("best", search_best_names, "order of the list"),                                     \
        OF_ROW("terms", terms, "what a layout must keep")
CONTRACT(plan, ASKED_ROWS, ANNOUNCED_ROWS,
         ROW("searched", COUNT, "tried_again, all of rejected, and the layouts that lead"),
         ROW("tried_again", COUNT, "held more, and were tried again with more recomputation"),
         OF_ROW("rejected", fates, "layouts that do not lead"),
         ROW("timed", COUNT, "timed by whole passes"), ROW("played", COUNT, "simulated op by op"),
         ROW("unplayed", COUNT, "as fast as a leader, and not simulated op by op"),
         ROW("stopped", FLAG, "Was the search interrupted?"),
         IN_NULL_ROW("seconds", REAL, "s", "wall-clock time of the search"),
         NULL_ROW("model_error", WORD, "on what the width of the intervals rests"),
         OF_ROW("regret", regret, "how well plans choose among published layouts"),
         OF_NULL_ROW("own_steps", own_steps, "with --measured"),
         OF_NULL_ROW("own", own, "the scenario's own layout; null: none, or it does not fit"),
         OF_NULL_ROW("fastest_measured", leader, "fastest of the layouts like those measured"),
         IN_NULL_ROW("needed_goodput", REAL, "1", "goodput that the deadline needs; null: none"),
         IN_NULL_ROW("needed_w", REAL, "W", "power that the terms need; null: not known"),
         OF_NULL_ROW("nearest", leader, "where none keeps the terms, the one that misses least"),
         OF_LIST_ROW("layouts", leader, "the best, first the one that is chosen"),
         OF_NULL_ROW("lack", lack, "what every layout lacks; null: nothing"),
         OF_NULL_ROW("broken", broken, "rule that keeps most layouts out; null: none"),
         IN_NULL_ROW("fastest_rank", REAL, "",
                     "rank of the best by the objective alone: those before it are no worse "
                     "within the model's error, and fit more surely or were seen"),
         LIST_ROW("pareto", COUNT, "ranks that none beats in time, cost and free memory"),
         {.name = "front",
          .type = CONTRACT_OBJECT | CONTRACT_LIST | CONTRACT_OR_NULL,
          .doc = "with --pareto: all such layouts",
          .of = &leader},
         OF_NULL_ROW("better_batch", batch, "a batch near by with a faster layout; null: none"),
         OF_NULL_ROW("launch", script, "with --launch"), OF_NULL_ROW("why", why, "with --why"),
         POWER_ROW);
const struct contract_document contract_plan = {"orrery.plan/1", "what `orrery plan` prints", true,
                                                &plan};

CONTRACT(machine, ROW("values", WORD, "of the keys of --vary"), ROW("gpu", WORD, "its card"),
         ANNOUNCED_ROWS, ROW("gpus", COUNT, "its cards"), ROW("searched", COUNT, "layouts"),
         ROW("stopped", FLAG, "Was its search interrupted?"),
         ROW("best", FLAG, "Does no other machine beat it in time, cost and free memory?"),
         ROW("first", FLAG, "Is it the first by the objective?"),
         {.name = "missed",
          .type = CONTRACT_WORD | CONTRACT_OR_NULL,
          .doc = "why it has no layout: a rule, memory, a term, or gpus; null: it has one"},
         OF_NULL_ROW("layout", leader, "its best; null: none"),
         OF_NULL_ROW("nearest", leader, "the one that misses a term least; null: none"),
         IN_NULL_ROW("training_days", REAL, "d", "wall-clock time of training.tokens"),
         IN_NULL_ROW("training_usd", REAL, "USD", "their price"));
CONTRACT(point, REST_ROW(leader), ROW("values", WORD, "its machine"),
         IN_NULL_ROW("free_ratio", REAL, "1", "share of the memory that is left free"));
CONTRACT(plan_machines, ASKED_ROWS, OF_LIST_ROW("machines", machine, "in the order of --vary"),
         {.name = "front",
          .type = CONTRACT_OBJECT | CONTRACT_LIST | CONTRACT_OR_NULL,
          .doc = "with --pareto: layouts that none beats, of all machines",
          .of = &point},
         ROW("asked", COUNT, "machines that were asked for"), POWER_ROW);
const struct contract_document contract_plan_machines = {
    "orrery.plan-machines/1", "what `orrery plan` with --vary or --most-gpus prints", false,
    &plan_machines};
