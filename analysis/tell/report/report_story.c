/* What failed and what it cost. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/tell/report/report_parts.h"
#include "sim/plural.h"
#include "sim/units.h"

enum {
    FIRST_SHOWN = 10,
    WORST_SHOWN = 5,
    STORY_BYTES = 1024
};

const char report_story_lines[] =
    "{each .story}"
    "\n{bold}Interruptions by cause{plain}\n"
    "  cause                                times    of all  work lost stood still\n"
    "{each .causes}"
    "  {.name<32.32} {.stops>9} {.stops/.count>9} {.lost_s>10} {.down_s>10}\n"
    "{end}"
    "\n{bold}{if .worst}The first {.first.count:digits} interruptions{else}Every interruption{end}"
    "{plain}\n"
    "{each .first}  {.at}  {wrap .text}{end}"
    "{if .worst}"
    "\n{bold}The costliest interruptions{plain}\n"
    "{each .worst}  {.at}  {wrap .text}{end}"
    "  {dim}all {.count} of them: run -v, or the table interruption{plain}\n"
    "{end}{end}";

double report_price_s(const struct interruption_row *one)
{
    return one->lost_s + (one->others_went_on == 1 ? 0.0 : one->down_s);
}

struct cause_total {
    uint64_t stops;
    double lost_s, down_s;
};

/* Most expensive first; what costs the same in the order of the scenario. */
static void order_causes(const struct cause_total *totals, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        double price = totals[i].lost_s + totals[i].down_s;
        size_t place = i;
        for (; place > 0; place--) {
            const struct cause_total *before = &totals[order[place - 1]];
            if (before->lost_s + before->down_s >= price)
                break;
            order[place] = order[place - 1];
        }
        order[place] = i;
    }
}

/* Which cause an interruption is of; `count`: none. */
static size_t cause_of(const struct failure_cause_row *causes, size_t count,
                       const struct interruption_row *one)
{
    size_t i = 0;
    while (i < count && strcmp(causes[i].name, one->cause) != 0)
        i++;
    return i;
}

static void sum_causes(const struct record *record, struct cause_total *totals)
{
    size_t causes, stops;
    const struct failure_cause_row *cause = record_failure_cause(record, &causes);
    const struct interruption_row *rows = record_interruption(record, &stops);
    for (size_t i = 0; i < stops; i++) {
        const size_t index = cause_of(cause, causes, &rows[i]);
        if (index < causes) {
            totals[index].stops++;
            totals[index].lost_s += rows[i].lost_s;
            totals[index].down_s += report_price_s(&rows[i]) - rows[i].lost_s;
        }
    }
}

static void set_causes(struct fact *o, const struct record *record)
{
    size_t causes;
    const struct failure_cause_row *cause = record_failure_cause(record, &causes);
    struct cause_total *totals = ARENA_ARRAY(o->arena, struct cause_total, causes);
    size_t *order = ARENA_ARRAY(o->arena, size_t, causes);
    struct fact *array = document_array(o, ".causes");
    sum_causes(record, totals);
    order_causes(totals, causes, order);
    for (size_t i = 0; i < causes; i++) {
        const struct cause_total *t = &totals[order[i]];
        if (t->stops == 0)
            continue;
        struct fact *one = document_object(array, NULL);
        document_quote(one, ".name", cause[order[i]].name);
        document_count(one, ".stops", t->stops);
        document_real(one, ".lost_s", IN_SECONDS, t->lost_s);
        document_real(one, ".down_s", IN_SECONDS, t->down_s);
    }
}

struct story {
    char text[STORY_BYTES];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void tell(struct story *story, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int added =
        vsnprintf(story->text + story->used, sizeof story->text - story->used, format, arguments);
    va_end(arguments);
    story->used += added > 0 ? (size_t)added : 0;
    story->used = story->used < sizeof story->text ? story->used : sizeof story->text - 1;
}

/* "GPU" for "gpu"; NULL: the whole job, or no unit. */
static const char *unit_in_words(const char *unit)
{
    static const char *const words[][2] = {
        {"gpu", "GPU"}, {"nic", "NIC"}, {"node", "node"}, {"domain", "domain"}};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], unit) == 0)
            return words[i][1];
    return NULL;
}

static void tell_place(struct story *story, const struct interruption_row *one)
{
    const char *unit = unit_in_words(one->unit);
    if (unit == NULL) {
        tell(story, "%s, the whole job: ", format_shown(one->cause).s);
        return;
    }
    tell(story, "%s, %s %" PRId64, format_shown(one->cause).s, unit, one->unit_id);
    if (strcmp(one->unit, "node") != 0 && one->node != ROW_NULL) {
        tell(story, strcmp(one->unit, "domain") == 0 ? " from node %" PRId64 : " of node %" PRId64,
             one->node);
    }
    tell(story, ": ");
}

static void tell_loss(struct story *story, const struct interruption_row *one)
{
    if (one->others_went_on == 1) {
        tell(story, "the other replicas went on");
    } else if (one->lost_s > 0.0) {
        tell(story, "lost %s of work", format_time(one->lost_s).s);
        if (one->tier != NULL)
            tell(story, ", back to the copy in %s", format_shown(one->tier).s);
        else if (one->dur != ROW_NULL) /* else nothing was loaded yet */
            tell(story, ", back to the start");
    } else {
        tell(story, "no work lost");
    }
}

static void tell_link(struct story *story, const char **comma, const char *name, double seconds)
{
    if (seconds > 0.0) {
        tell(story, "%s%s %s", *comma, name, format_time(seconds).s);
        *comma = ", ";
    }
}

static void tell_chain(struct story *story, const struct interruption_row *one)
{
    const char *comma = ": ";
    if (one->dur == ROW_NULL)
        tell(story, "; the run ended before it was back");
    else
        tell(story, "; %s until it ran again", format_time(one->down_s).s);
    tell_link(story, &comma, "detect", one->detect_s);
    tell_link(story, &comma, "diagnose", one->diagnose_s);
    tell_link(story, &comma, "cordon", one->cordon_s);
    tell_link(story, &comma, "wait", one->wait_s);
    tell_link(story, &comma, "allocate", one->allocate_s);
    tell_link(story, &comma, "schedule", one->schedule_s);
    tell_link(story, &comma, "provision", one->provision_s);
    tell_link(story, &comma, "start", one->start_s);
    tell_link(story, &comma, "communicators", one->communicators_s);
    tell_link(story, &comma, "load", one->load_s);
    tell_link(story, &comma, "warmup", one->warmup_s);
    if (one->spare_taken == 1)
        tell(story, "; a spare stands in");
    if (one->strikes > 0) {
        tell(story, "; struck %" PRId64 " more time%s meanwhile", one->strikes,
             plural_s((uint64_t)one->strikes));
    }
}

static void set_interruption(struct fact *array, const struct interruption_row *one)
{
    struct story story = {"", 0};
    struct fact *o = document_object(array, NULL);
    tell_place(&story, one);
    tell_loss(&story, one);
    tell_chain(&story, one);
    document_real(o, ".at", IN_MOMENT, (double)one->ts * NANOSECOND);
    document_word(o, ".text", arena_text(o->arena, story.text));
}

struct priced {
    double price_s;
    size_t index;
};

static int compare_prices(const void *a, const void *b)
{
    const struct priced *x = a, *y = b;
    if (x->price_s != y->price_s)
        return x->price_s < y->price_s ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void set_worst(struct fact *array, const struct interruption_row *rows, size_t count)
{
    struct priced *order = ARENA_ARRAY(array->arena, struct priced, count);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct priced){report_price_s(&rows[i]), i};
    qsort(order, count, sizeof *order, compare_prices);
    for (size_t i = 0; i < WORST_SHOWN; i++)
        set_interruption(array, &rows[order[i].index]);
}

void report_story_facts(struct fact *in, const struct record *record, bool all)
{
    size_t count;
    const struct interruption_row *rows = record_interruption(record, &count);
    const size_t shown = all || count <= FIRST_SHOWN + WORST_SHOWN ? count : FIRST_SHOWN;
    struct fact *o = document_object_if(count > 0, in, ".story");
    if (o == NULL)
        return;
    set_causes(o, record);
    document_count(o, ".count", count);
    struct fact *first = document_array(o, ".first"), *worst = document_array(o, ".worst");
    for (size_t i = 0; i < shown; i++)
        set_interruption(first, &rows[i]);
    if (shown < count)
        set_worst(worst, rows, count);
}
