/* What failed and what it cost. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/tell/report/report_parts.h"
#include "sim/units.h"

enum {
    FIRST_SHOWN = 10,
    WORST_SHOWN = 5,
    CAUSE_WIDTH = 32,
    STORY_BYTES = 1024
};

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

static void print_causes(const struct session *s, const struct record *record)
{
    struct arena_mark mark = arena_mark(record->arena);
    size_t causes, stops;
    const struct failure_cause_row *cause = record_failure_cause(record, &causes);
    record_interruption(record, &stops);
    struct cause_total *totals = ARENA_ARRAY(record->arena, struct cause_total, causes);
    size_t *order = ARENA_ARRAY(record->arena, size_t, causes);
    sum_causes(record, totals);
    order_causes(totals, causes, order);
    report_heading(s, "Interruptions by cause");
    fprintf(s->out, "  %-*s %9s %9s %10s %10s\n", CAUSE_WIDTH, "cause", "times", "of all",
            "work lost", "stood still");
    for (size_t i = 0; i < causes; i++) {
        const struct cause_total *t = &totals[order[i]];
        if (t->stops > 0) {
            fprintf(s->out, "  %-*.*s %9s %9s %10s %10s\n", CAUSE_WIDTH, CAUSE_WIDTH,
                    format_shown(cause[order[i]].name).s, format_count(t->stops).s,
                    format_percent((double)t->stops / (double)stops).s, format_time(t->lost_s).s,
                    format_time(t->down_s).s);
        }
    }
    arena_rewind(record->arena, mark);
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
             one->strikes == 1 ? "" : "s");
    }
}

static void print_interruption(const struct session *s, const struct interruption_row *one)
{
    struct story story = {"", 0};
    int indent = fprintf(s->out, "  %s  ", format_moment((double)one->ts * NANOSECOND).s);
    tell_place(&story, one);
    tell_loss(&story, one);
    tell_chain(&story, one);
    wrap_print(s->out, s->width, story.text, indent);
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

static void print_worst(const struct session *s, const struct record *record)
{
    struct arena_mark mark = arena_mark(record->arena);
    size_t count;
    const struct interruption_row *rows = record_interruption(record, &count);
    struct priced *order = ARENA_ARRAY(record->arena, struct priced, count);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct priced){report_price_s(&rows[i]), i};
    qsort(order, count, sizeof *order, compare_prices);
    report_heading(s, "The costliest interruptions");
    for (size_t i = 0; i < WORST_SHOWN; i++)
        print_interruption(s, &rows[order[i].index]);
    arena_rewind(record->arena, mark);
}

void report_story(const struct session *s, const struct record *record, bool all)
{
    size_t count;
    const struct interruption_row *rows = record_interruption(record, &count);
    const size_t shown = all || count <= FIRST_SHOWN + WORST_SHOWN ? count : FIRST_SHOWN;
    char title[64];
    if (count == 0)
        return;
    print_causes(s, record);
    snprintf(title, sizeof title, "The first %zu interruptions", shown);
    report_heading(s, shown < count ? title : "Every interruption");
    for (size_t i = 0; i < shown; i++)
        print_interruption(s, &rows[i]);
    if (shown < count) {
        print_worst(s, record);
        fprintf(s->out, "  %sall %s of them: run -v, or the table interruption%s\n", session_dim(s),
                format_count(count).s, session_plain(s));
    }
}
