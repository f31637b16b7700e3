#include "analysis/exchange/export/gantt_marks.h"

#include <stdbool.h>
#include <stddef.h>

const char *const gantt_kinds[] = {
#define X(name) #name,
    GANTT_PHASES(X) GANTT_CAUSES(X)
#undef X
        NULL};

static bool is_wait(const struct gantt_span *span)
{
    return span->kind >= GANTT_PHASE_COUNT;
}

static bool is_nothing(const struct gantt_mark *mark)
{
    return mark->passes + mark->waits == 0;
}

static struct gantt_mark mark_of(const struct gantt_span *span)
{
    struct gantt_mark mark = {.span = *span};
    mark.ns[span->kind] = span->end - span->begin;
    *(is_wait(span) ? &mark.waits : &mark.passes) = 1;
    return mark;
}

static void draw_last(struct gantt_marks *marks)
{
    if (is_nothing(&marks->last))
        return;
    marks->draw(marks->context, &marks->last);
    marks->last = (struct gantt_mark){.passes = 0};
}

static void join(struct gantt_mark *into, const struct gantt_mark *mark)
{
    into->span.end = mark->span.end;
    into->span.microbatch = into->span.chunk = -1;
    for (unsigned k = 0; k < GANTT_KIND_COUNT; k++) {
        into->ns[k] += mark->ns[k];
        if (into->ns[k] > into->ns[into->span.kind])
            into->span.kind = (enum gantt_kind)k;
    }
    into->passes += mark->passes;
    into->waits += mark->waits;
}

static void place(struct gantt_marks *marks, const struct gantt_mark *mark)
{
    const struct gantt_span *last = &marks->last.span;
    if (!is_nothing(&marks->last) && last->row == mark->span.row &&
        mark->span.end - last->begin <= marks->unit) {
        join(&marks->last, mark);
        return;
    }
    draw_last(marks);
    marks->last = *mark;
}

/* The waits after the open pass are outside of it. A pass with holes is too wide to be joined. */
static void close_pass(struct gantt_marks *marks)
{
    if (!is_nothing(&marks->pass))
        place(marks, &marks->pass);
    if (marks->hole_count > 0)
        draw_last(marks);
    for (unsigned i = 0; i < marks->hole_count; i++)
        marks->hole(marks->context, &marks->holes[i]);
    marks->hole_count = 0;
    marks->pass = (struct gantt_mark){.passes = 0};
    for (unsigned i = 0; i < marks->wait_count; i++) {
        const struct gantt_mark wait = mark_of(&marks->waits[i]);
        place(marks, &wait);
    }
    marks->wait_count = 0;
}

static bool continues(const struct gantt_marks *marks, const struct gantt_span *op)
{
    const struct gantt_span *pass = &marks->pass.span;
    return !is_nothing(&marks->pass) && pass->row == op->row && pass->kind == op->kind &&
           pass->microbatch == op->microbatch && pass->chunk == op->chunk && op->microbatch >= 0;
}

/* The open pass goes on with this op: the waits before it lie inside. */
static void extend(struct gantt_marks *marks, const struct gantt_span *op)
{
    for (unsigned i = 0; i < marks->wait_count; i++) {
        const struct gantt_span *wait = &marks->waits[i];
        marks->pass.ns[wait->kind] += wait->end - wait->begin;
        if (wait->end - wait->begin >= 2 * marks->unit && marks->hole_count < GANTT_HOLES)
            marks->holes[marks->hole_count++] = *wait;
    }
    marks->wait_count = 0;
    marks->pass.ns[op->kind] += op->end - op->begin;
    marks->pass.span.end = op->end;
}

void gantt_marks_begin(struct gantt_marks *marks, int64_t unit)
{
    marks->unit = unit;
    marks->pass = marks->last = (struct gantt_mark){.passes = 0};
    marks->wait_count = marks->hole_count = 0;
}

void gantt_marks_add(struct gantt_marks *marks, const struct gantt_span *span)
{
    if (is_wait(span)) {
        if (is_nothing(&marks->pass) || marks->pass.span.row != span->row ||
            marks->wait_count == GANTT_HOLES)
            close_pass(marks);
        marks->waits[marks->wait_count++] = *span;
    } else if (continues(marks, span)) {
        extend(marks, span);
    } else {
        close_pass(marks);
        marks->pass = mark_of(span);
    }
}

void gantt_marks_end(struct gantt_marks *marks)
{
    close_pass(marks);
    draw_last(marks);
}
