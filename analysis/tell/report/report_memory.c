/* Memory: of each stage, where it ends, and how many cards it takes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_layouts.h"
#include "analysis/tell/report/report_parts.h"
#include "models/memory/ledger.h"
#include "models/plan/minimum.h"

const char report_stage_lines[] =
    "{if .step_told}"
    "\n{bold}Memory of each stage (peak reserved) against {.usable_hbm_bytes} usable{plain}\n"
    "{each classes}{if .leads}"
    "  {.name<12}{if not fits}{red}{end}{peak_reserved_bytes>9} "
    "{peak_reserved_bytes/.usable_hbm_bytes>7}  "
    "{bar peak_reserved_bytes/.usable_hbm_bytes 16}  {if fits}fits{else}FULL{plain}{end}  "
    "{dim}{each .largest}{if row > 1}, {end}{.tenant} {.bytes}{end}{plain}\n"
    "{end}{end}{end}";

const char report_failure_lines[] =
    "{if .failure_told}"
    "{each first_failure}"
    "\n{bold}{red}Out of memory{plain} at {at}\n"
    "  who        rank {rank:digits}, pipeline stage {stage:digits}\n"
    "  asks for   {bytes} for {tensor} ({tenant})\n"
    "  in         {call_site}\n"
    "{if at_s > 0}  time       {at_s} into the step\n{end}"
    "{if place = host}"
    "  the CPUs   {reserved_bytes}: {short_bytes} short\n"
    "  would help {would_help}\n"
    "{else}"
    "  the card   {reserved_bytes} reserved ({.allocated_bytes} allocated) of {.usable_hbm_bytes} "
    "usable: {short_bytes} short\n"
    "{end}{end}"
    "{each advice}"
    "{if .fitting_count = 0}"
    "  would help another layout, or more GPUs: of {tried:digits} layout{if not tried = 1}s{end} "
    "one or two changes away none fits\n"
    "{else}"
    "  would help {if changes = 1}one change{else}two changes together{end}, fastest first "
    "({.fitting_count:digits} of {tried:digits} layout{if not tried = 1}s{end} tried fit; --set "
    "takes them):\n"
    "{each fitting 8}"
    "    {if step_time_s}{tokens_per_s>7} tokens/s{else}        not timed{end}  "
    "{peak_reserved_bytes>9}  {set:clean}\n"
    "{end}{end}{end}{end}";

/* What `memory` adds. */
static const char tenant_lines[] =
    "{each classes}{if .whole}"
    "\n{bold}{.name}: {ranks} rank{if not ranks = 1}s like rank {first_rank:digits}{end}, "
    "{layers:digits} layer{if not layers = 1}s{end}{if .several} each{end}{plain}\n"
    "{each .tenants}"
    "  {.tenant<14} {.bytes>9}  {bar .bytes/.most 20}  {dim}{.help}{plain}\n"
    "{end}"
    "  peak reserved  {peak_reserved_bytes>9}  {peak_reserved_bytes/.usable_hbm_bytes} of "
    "{.usable_hbm_bytes} usable{if fits}: fits{else}, were the card large enough: {red}does not fit"
    "{end}{plain}\n"
    "  peak allocated {peak_allocated_bytes>9}\n"
    "{end}{end}"
    "{if .fits}"
    "\n{bold}It fits{plain}: {.peak_reserved_bytes} of {.usable_hbm_bytes} usable on the fullest "
    "rank\n{end}"
    "\n{bold}How many GPUs at least{plain}\n"
    "{each .rules}"
    "  {.who<14} {.bytes:decimal>9}  {.what<45} {.cards} card{if not .cards = 1}s{end}\n"
    "{end}"
    "{if .counted_only}"
    "  exact ledger   only counted: the step of such a model is not simulated\n"
    "{else}"
    "{if minimum_gpus}"
    "  exact ledger{to 28}smallest legal layout that fits{to 74}{minimum_gpus} card"
    "{if not minimum_gpus = 1}s{end}\n"
    "                 {wrap .minimum 17}"
    "{else}{if .too_many}"
    "  exact ledger   too many layouts to try for the smallest that fits\n"
    "{else}"
    "  exact ledger   no legal layout up to {.limit} GPUs holds it\n"
    "{end}{end}"
    "{if minimum_gpus_opened}"
    "  Kept as stated: {wrap .held}"
    "  Were they open, {minimum_gpus_opened} card{if not minimum_gpus_opened = 1}s{end} would hold "
    "it.\n"
    "{end}"
    "  They differ because the rule takes the nominal {.nominal_parameters} parameters, the "
    "{.nominal_hbm_bytes:decimal} of the\n"
    "  data sheet and no layout; the ledger takes the exact {.parameters}, the {.usable_hbm_bytes} "
    "that a process\n"
    "  can allocate, buffers and fragmentation, and only layouts that are legal.\n"
    "{end}";

const char *const report_memory_lines[] = {report_head_lines,     report_failure_lines,
                                           report_stage_lines,    tenant_lines,
                                           report_defaults_lines, NULL};

static double held(const struct stage_memory_row *stage, unsigned tenant)
{
    const double bytes[TENANT_COUNT] = {
        [TENANT_WEIGHTS] = stage->weights_bytes,
        [TENANT_GRADIENTS] = stage->gradients_bytes,
        [TENANT_MASTER] = stage->master_bytes,
        [TENANT_MOMENTS] = stage->moments_bytes,
        [TENANT_ACTIVATIONS] = stage->activations_bytes,
        [TENANT_TEMPORARY] = stage->temporary_bytes,
        [TENANT_COMMUNICATION] = stage->communication_bytes,
        [TENANT_CONTEXT] = stage->context_bytes,
        [TENANT_FRAGMENTATION] = stage->fragmentation_bytes,
    };
    return bytes[tenant];
}

static struct fact *set_tenant(struct fact *array, const struct stage_memory_row *stage, unsigned t)
{
    struct fact *one = document_object(array, NULL);
    document_word(one, ".tenant", tenant_names[t]);
    document_real(one, ".bytes", IN_BYTES, held(stage, t));
    return one;
}

/* The two largest tenants. */
static void set_largest(struct fact *o, const struct stage_memory_row *stage)
{
    struct fact *array = document_array(o, ".largest");
    unsigned first = TENANT_COUNT;
    for (int place = 0; place < 2; place++) {
        unsigned best = TENANT_COUNT;
        for (unsigned t = 0; t < TENANT_COUNT; t++)
            if (t != first && held(stage, t) > 0.0 &&
                (best == TENANT_COUNT || held(stage, t) > held(stage, best)))
                best = t;
        if (best == TENANT_COUNT)
            break;
        first = best;
        set_tenant(array, stage, best);
    }
}

/* Do two stages read the same in the report? */
static bool alike(const struct stage_memory_row *a, const struct stage_memory_row *b)
{
    bool same = a->peak_reserved_bytes == b->peak_reserved_bytes && a->fits == b->fits &&
                a->layers == b->layers;
    for (unsigned t = 0; same && t < TENANT_COUNT; t++)
        same = held(a, t) == held(b, t);
    return same;
}

/* Of those alike that follow each other. */
static size_t last_alike(const struct stage_memory_row *stages, size_t count, size_t first)
{
    size_t last = first;
    while (last + 1 < count && alike(&stages[first], &stages[last + 1]))
        last++;
    return last;
}

/* Peaks are what would be needed, so they say by how much a layout misses. */
static void set_stage(struct fact *o, const struct stage_memory_row *stage,
                      const struct stage_memory_row *last)
{
    struct fact *one = document_object(o, NULL);
    document_columns(one, ROW_stage_memory, stage, "stage ranks=rank_count first_rank layers fits");
    struct fact *tenants = document_object(one, "tenants");
    for (unsigned t = 0; t < TENANT_COUNT; t++)
        document_real(tenants, tenant_names[t], IN_BYTES, held(stage, t));
    document_real(one, "peak_allocated_bytes", IN_BYTES, stage->peak_allocated_bytes);
    document_real(one, "peak_reserved_bytes", IN_BYTES, stage->peak_reserved_bytes);
    document_flag(one, ".leads", last != NULL);
    if (last == NULL)
        last = stage;
    document_flag(one, ".several", last != stage);
    document_word(one, ".name",
                  last == stage ? arena_format(o->arena, "stage %" PRId64, stage->stage)
                                : arena_format(o->arena, "stages %" PRId64 "-%" PRId64,
                                               stage->stage, last->stage));
    set_largest(one, stage);
}

void report_stage_facts(struct fact *o, const struct record *record)
{
    size_t count, last = SIZE_MAX;
    const struct stage_memory_row *stages = record_stage_memory(record, &count);
    struct fact *array = document_array(o, "classes");
    for (size_t i = 0; i < count; i++) {
        const bool leads = last == SIZE_MAX || i > last;
        last = leads ? last_alike(stages, count, i) : last;
        set_stage(array, &stages[i], leads ? &stages[last] : NULL);
    }
}

void report_failure_facts(struct fact *o, const struct record *record)
{
    size_t count, fitting;
    const struct out_of_memory_row *f = record_out_of_memory(record, &count);
    const struct neighbour_row *rows = record_neighbour(record, &fitting);
    struct fact *failure = document_object_if(count > 0, o, "first_failure");
    struct fact *advice = document_object_if(count > 0, o, "advice");
    if (count == 0)
        return;
    document_columns(failure, ROW_out_of_memory, f,
                     "place rank stage tensor tenant at step at_s bytes short_bytes reserved_bytes "
                     "call_site would_help");
    document_count(advice, "changes", (uint64_t)f->changes);
    document_count(advice, "tried", (uint64_t)f->tried);
    document_count(advice, ".fitting_count", (uint64_t)f->fitting);
    struct fact *array = document_array(advice, "fitting");
    for (size_t i = 0; i < fitting; i++)
        document_columns(document_object(array, NULL), ROW_neighbour, &rows[i],
                         "set step_time_s=step_s tokens_per_s peak_reserved_bytes");
}

static void set_tenants(struct fact *one, const struct stage_memory_row *stage, double usable,
                        const char *const helps[TENANT_COUNT])
{
    struct fact *array = document_array(one, ".tenants");
    document_real(one, ".most", IN_BYTES, fmax(usable, stage->peak_reserved_bytes));
    for (unsigned t = 0; t < TENANT_COUNT; t++)
        if (held(stage, t) > 0.0)
            document_word(set_tenant(array, stage, t), ".help", helps[t]);
}

/* A few kinds of stages are told one by one; of many a line each, and the fullest whole. */
static bool set_whole(struct fact *o, const struct record *record,
                      const char *const helps[TENANT_COUNT])
{
    const uint32_t told_whole = 3;
    size_t count, kinds = 0, fullest = 0, i = 0;
    const struct stage_memory_row *stages = record_stage_memory(record, &count);
    for (size_t k = 0; k < count; k = last_alike(stages, count, k) + 1) {
        kinds++;
        if (stages[k].peak_reserved_bytes > stages[fullest].peak_reserved_bytes)
            fullest = k;
    }
    struct fact *classes = document_array(o, "classes");
    for (struct fact *one = classes->value.of.first; one != NULL; one = one->next, i++) {
        const struct fact *leads = document_find(one, ".leads", strlen(".leads"));
        document_flag(one, ".whole", kinds > told_whole ? i == fullest : leads->value.flag);
        set_tenants(one, &stages[i], record_run(record)->usable_hbm_bytes, helps);
    }
    return kinds > told_whole;
}

static void set_rule(struct fact *array, const char *who, double bytes, const char *what,
                     uint64_t cards)
{
    struct fact *one = document_object(array, NULL);
    document_word(one, ".who", who);
    document_real(one, ".bytes", IN_DECIMAL_BYTES, bytes);
    document_word(one, ".what", what);
    document_count(one, ".cards", cards);
}

static void set_rules(struct fact *o, const struct rule_of_thumb *rule)
{
    struct fact *array = document_array(o, ".rules");
    const char *adapters = "";
    if (rule->adapter_parameters > 0.0)
        adapters = arena_format(o->arena, " + %.4g bytes x %s of adapters", rule->adapter_bytes,
                                format_quantity(rule->adapter_parameters).s);
    set_rule(array, "rule of thumb", rule->static_bytes,
             arena_format(o->arena, "of state: %.4g bytes x %s parameters%s", rule->held_bytes,
                          format_quantity(rule->parameters).s, adapters),
             rule->static_cards);
    set_rule(array, "", rule->total_bytes, "with activations: k L b s h x bytes", rule->cards);
    set_rule(array, "", rule->inference_bytes, "of weights alone, to infer", rule->inference_cards);
    document_real(o, ".nominal_parameters", IN_QUANTITY, rule->parameters);
    document_real(o, ".nominal_hbm_bytes", IN_DECIMAL_BYTES, rule->card_bytes);
}

/* "layout.sharding, layout.recompute" */
static const char *keys_of(struct arena *arena, unsigned keys)
{
    const char *list = "";
    for (unsigned key = 0; key < CHOICE_COUNT; key++)
        if ((keys >> key & 1u) != 0)
            list = arena_format(arena, "%s%s%s", list, *list ? ", " : "",
                                choice_key_path((enum choice_key)key));
    return list;
}

/* The fewest cards, and the layout that holds it there: a reader can run it. */
static void set_minimum(struct fact *o, const struct memory_told *told, bool found)
{
    document_null(o, "minimum_gpus");
    document_null(o, "minimum_layout");
    document_word(o, ".minimum", "");
    if (!found)
        return;
    const struct plan_layout layout = plan_layout_of(told->minimum);
    document_count(o, "minimum_gpus", told->minimum_gpus);
    document_word(o, ".minimum", report_layout_words(o->arena, &layout));
    report_layout_facts(document_object(o, "minimum_layout"), &layout);
}

struct fact *report_memory(const struct record *record, const struct memory_told *told)
{
    const struct run_row *run = record_run(record);
    const struct rule_of_thumb *rule = told->rule;
    struct fact *o = document_begin(record->arena, "orrery.memory/1", told->scenario);
    const bool unknown = told->minimum_gpus == MINIMUM_UNKNOWN;
    document_real(o, "parameters", IN_QUANTITY, run->parameters);
    document_real(o, "static_bytes_model", IN_BYTES, rule->bytes_per_parameter * run->parameters);
    document_real(o, "rule_of_thumb_bytes", IN_DECIMAL_BYTES, rule->total_bytes);
    document_real(o, "rule_of_thumb_static_bytes", IN_DECIMAL_BYTES, rule->static_bytes);
    document_real(o, "rule_of_thumb_activation_bytes", IN_DECIMAL_BYTES, rule->activation_bytes);
    document_count(o, "rule_of_thumb_gpus", rule->cards);
    document_count(o, "rule_of_thumb_static_gpus", rule->static_cards);
    document_count(o, "rule_of_thumb_inference_gpus", rule->inference_cards);
    set_minimum(o, told, told->minimum_gpus > 0 && !unknown);
    document_null(o, "minimum_gpus_opened");
    if (told->opened_gpus > 0)
        document_count(o, "minimum_gpus_opened", told->opened_gpus);
    document_word(o, ".held", keys_of(o->arena, told->held));
    report_head_facts(o, record);
    document_columns(o, ROW_run, run, "usable_hbm_bytes fits");
    report_announced_facts(o, run->announced_words);
    report_failure_facts(o, record);
    report_stage_facts(o, record);
    set_rules(o, rule);
    document_flag(o, ".counted_only", run->fits == ROW_NULL);
    document_flag(o, ".too_many", unknown);
    document_count(o, ".limit", told->limit);
    document_flag(o, ".step_told", set_whole(o, record, told->helps));
    document_flag(o, ".failure_told", true);
    report_messages(o, ".defaults", record, "default");
    document_flag(o, ".defaults_told", told->all);
    return o;
}
