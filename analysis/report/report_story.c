#include "analysis/report/report_story.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "analysis/text/format.h"
#include "analysis/text/wrap.h"

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

static void heading(const struct session *s, const char *text)
{
    fprintf(s->out, "\n%s%s%s\n", session_bold(s), text, session_plain(s));
}

/* Most expensive first; what costs the same in the order of the scenario. */
static void order_causes(const struct job_record *r, const struct cause_total *totals,
                         uint32_t *order)
{
    for (uint32_t i = 0; i < r->spec.cause_count; i++) {
        double price_s = totals[i].lost_s + totals[i].down_s;
        uint32_t place = i;
        for (; place > 0; place--) {
            const struct cause_total *before = &totals[order[place - 1]];
            if (before->lost_s + before->down_s >= price_s) {
                break;
            }
            order[place] = order[place - 1];
        }
        order[place] = i;
    }
}

static void print_causes(const struct session *s, const struct job_record *r)
{
    struct arena_mark mark = arena_mark(r->arena);
    uint32_t causes = r->spec.cause_count;
    struct cause_total *totals = ARENA_ARRAY(r->arena, struct cause_total, causes);
    uint32_t *order = ARENA_ARRAY(r->arena, uint32_t, causes);
    for (size_t i = 0; i < r->interruption_count; i++) {
        const struct interruption *one = &r->interruptions[i];
        totals[one->cause].stops++;
        totals[one->cause].lost_s += one->lost_s;
        totals[one->cause].down_s += job_record_price_s(r, one) - one->lost_s;
    }
    order_causes(r, totals, order);
    heading(s, "Interruptions by cause");
    fprintf(s->out, "  %-*s %9s %9s %10s %10s\n", CAUSE_WIDTH, "cause", "times", "of all",
            "work lost", "stood still");
    for (uint32_t i = 0; i < causes; i++) {
        const struct cause_total *t = &totals[order[i]];
        if (t->stops > 0) {
            fprintf(s->out, "  %-*.*s %9s %9s %10s %10s\n", CAUSE_WIDTH, CAUSE_WIDTH,
                    format_shown(r->spec.causes[order[i]].name).s, format_count(t->stops).s,
                    format_percent((double)t->stops / (double)r->interruption_count).s,
                    format_time(t->lost_s).s, format_time(t->down_s).s);
        }
    }
    arena_rewind(r->arena, mark);
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

static void tell_place(struct story *story, const struct failure_cause *cause,
                       const struct interruption *one)
{
    static const char *const words[] = {
        [UNIT_GPU] = "GPU", [UNIT_NIC] = "NIC", [UNIT_NODE] = "node", [UNIT_DOMAIN] = "domain"};
    if (cause->unit == UNIT_JOB) {
        tell(story, "%s, the whole job: ", format_shown(cause->name).s);
        return;
    }
    tell(story, "%s, %s %" PRIu32, format_shown(cause->name).s, words[cause->unit], one->unit);
    if (cause->unit != UNIT_NODE && one->node != UINT32_MAX) {
        tell(story, cause->unit == UNIT_DOMAIN ? " from node %" PRIu32 : " of node %" PRIu32,
             one->node);
    }
    tell(story, ": ");
}

static void tell_loss(struct story *story, const struct checkpoint_plan *plan,
                      const struct interruption *one)
{
    if (one->others_went_on) {
        tell(story, "the other replicas went on");
    } else if (one->lost_s > 0.0) {
        tell(story, "lost %s of work", format_time(one->lost_s).s);
        if (one->level < plan->level_count) {
            tell(story, ", back to the copy in %s", format_shown(plan->levels[one->level].tier).s);
        } else if (one->resumed_at_s >= 0.0) { /* else nothing was loaded yet */
            tell(story, ", back to the start");
        }
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

static void tell_chain(struct story *story, const struct job_record *r,
                       const struct interruption *one)
{
    const char *comma = ": ";
    if (one->resumed_at_s < 0.0) {
        tell(story, "; the run ended before it was back");
    } else {
        tell(story, "; %s until it ran again", format_time(job_record_down_s(r, one)).s);
    }
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        tell_link(story, &comma, restart_link_names[link], one->links_s[link]);
        if (link == LINK_CORDON) {
            tell_link(story, &comma, "wait", one->wait_s);
        }
        if (link == LINK_COMMUNICATORS) {
            tell_link(story, &comma, "load", one->load_s);
        }
    }
    if (one->spare_taken) {
        tell(story, "; a spare stands in");
    }
    if (one->strikes > 0) {
        tell(story, "; struck %" PRIu32 " more time%s meanwhile", one->strikes,
             one->strikes == 1 ? "" : "s");
    }
}

static void print_interruption(const struct session *s, const struct job_record *r,
                               const struct interruption *one)
{
    struct story story = {"", 0};
    int indent = fprintf(s->out, "  %s  ", format_moment(one->at_s).s);
    tell_place(&story, &r->spec.causes[one->cause], one);
    tell_loss(&story, &r->spec.checkpoint.plan, one);
    tell_chain(&story, r, one);
    wrap_print(s->out, s->width, story.text, indent);
}

struct priced {
    double price_s;
    size_t index;
};

static int compare_prices(const void *a, const void *b)
{
    const struct priced *x = a, *y = b;
    if (x->price_s != y->price_s) {
        return x->price_s < y->price_s ? 1 : -1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static void print_worst(const struct session *s, const struct job_record *r)
{
    struct arena_mark mark = arena_mark(r->arena);
    struct priced *order = ARENA_ARRAY(r->arena, struct priced, r->interruption_count);
    for (size_t i = 0; i < r->interruption_count; i++) {
        order[i] = (struct priced){job_record_price_s(r, &r->interruptions[i]), i};
    }
    qsort(order, r->interruption_count, sizeof *order, compare_prices);
    heading(s, "The costliest interruptions");
    for (size_t i = 0; i < WORST_SHOWN; i++) {
        print_interruption(s, r, &r->interruptions[order[i].index]);
    }
    arena_rewind(r->arena, mark);
}

void report_story(const struct session *s, const struct job_record *r, bool all)
{
    size_t count = r->interruption_count;
    size_t shown = all || count <= FIRST_SHOWN + WORST_SHOWN ? count : FIRST_SHOWN;
    char title[64];
    if (count == 0) {
        return;
    }
    print_causes(s, r);
    snprintf(title, sizeof title, "The first %zu interruptions", shown);
    heading(s, shown < count ? title : "Every interruption");
    for (size_t i = 0; i < shown; i++) {
        print_interruption(s, r, &r->interruptions[i]);
    }
    if (shown < count) {
        print_worst(s, r);
        fprintf(s->out, "  %sall %s of them: run -v, or the table interruption%s\n", session_dim(s),
                format_count(count).s, session_plain(s));
    }
}
