/* worker_books.c - where in time the waits lie that worker_breakdown.c and worker_lag.c explain. */
#include <stdlib.h>

#include "models/step/simulate/worker_state.h"
#include "sim/list.h"

void worker_books_span(struct worker_books *books, double from_s, double until_s,
                       enum breakdown_part part)
{
    if (books->arena == NULL || from_s >= until_s)
        return;
    LIST_ROOM(books->arena, books->spans, books->span_count, 1, books->span_capacity);
    books->spans[books->span_count++] = (struct worker_idle){from_s, until_s, part};
}

static int compare_spans(const void *a, const void *b)
{
    const struct worker_idle *x = a, *y = b;
    return (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

void worker_books_sort(struct worker_books *books)
{
    if (books->span_count > 0)
        qsort(books->spans, books->span_count, sizeof *books->spans, compare_spans);
}

void worker_books_judge(struct worker_books *books, double bubble_s)
{
    double left_s = bubble_s;
    worker_books_sort(books);
    for (uint32_t i = 0, count = books->span_count; i < count; i++) {
        const struct worker_idle span = books->spans[i];
        if (span.part != PART_COUNT)
            continue;
        books->spans[i].part = left_s > 0.0 ? PART_BUBBLE : PART_EXPOSED_DP;
        if (left_s > 0.0 && left_s < span.until_s - span.from_s) {
            books->spans[i].until_s = span.from_s + left_s;
            worker_books_span(books, span.from_s + left_s, span.until_s, PART_EXPOSED_DP);
        }
        left_s -= span.until_s - span.from_s;
    }
}
