/* Invariants:
 * 1. Pieces stand by track and begin, the rest of a track behind its pieces.
 * 2. All but the last piece of the open track are at least a unit long, or rests.
 * 3. rows is the number of causes that have time, over all pieces. */
#include "analysis/page/waits.h"

#include <stddef.h>

#include "sim/check.h"

static const int64_t coarsest = INT64_C(1) << 61;

void waits_begin(struct wait_spans *waits, struct waits_piece *pieces, uint64_t room, int64_t unit)
{
    *waits = (struct wait_spans){
        .pieces = pieces, .room = room, .unit = unit > 0 ? unit : 1, .rest.track = -1};
}

static unsigned rows_of(const struct waits_piece *piece)
{
    unsigned rows = 0;
    for (unsigned i = 0; i < WAITS_CAUSES; i++)
        rows += piece->count[i] > 0;
    return rows;
}

static int64_t length(const struct waits_piece *piece)
{
    return piece->end - piece->begin;
}

static void join(struct waits_piece *into, const struct waits_piece *from)
{
    for (unsigned i = 0; i < WAITS_CAUSES; i++) {
        into->ns[i] += from->ns[i];
        into->count[i] += from->count[i];
    }
}

static void push(struct wait_spans *w, const struct waits_piece *piece)
{
    w->pieces[w->count++] = *piece;
    w->rows += rows_of(piece);
}

static struct waits_piece pop(struct wait_spans *w)
{
    CHECK(w->count > 0);
    const struct waits_piece piece = w->pieces[--w->count];
    w->rows -= rows_of(&piece);
    return piece;
}

static struct waits_piece *last_of(const struct wait_spans *w, int64_t track)
{
    struct waits_piece *last = w->count > 0 ? &w->pieces[w->count - 1] : NULL;
    return last != NULL && last->track == track && length(last) > 0 ? last : NULL;
}

static void grow(struct wait_spans *w, const struct waits_piece *more)
{
    struct waits_piece piece = pop(w);
    join(&piece, more);
    piece.end = more->end;
    push(w, &piece);
}

/* The stand-still that is open has ended: a tail that is too short joins what it follows, and what
 * is too short as a whole goes to the rest. */
static void close_still(struct wait_spans *w)
{
    const struct waits_piece *last = last_of(w, w->rest.track);
    if (last == NULL || length(last) >= w->unit)
        return;
    const struct waits_piece tail = pop(w);
    const struct waits_piece *before = last_of(w, tail.track);
    if (before != NULL && before->end == tail.begin)
        grow(w, &tail);
    else
        join(&w->rest, &tail);
    w->rest.begin = w->rest.end = tail.end;
}

static void close_track(struct wait_spans *w)
{
    close_still(w);
    if (rows_of(&w->rest) > 0)
        push(w, &w->rest);
}

static void place(struct wait_spans *w, const struct waits_piece *piece)
{
    if (piece->track != w->rest.track) {
        close_track(w);
        w->rest = (struct waits_piece){.track = piece->track};
    }
    if (length(piece) == 0) { /* a rest, of what was coarser before */
        close_still(w);
        join(&w->rest, piece);
        w->rest.begin = w->rest.end = piece->end;
        return;
    }
    const struct waits_piece *last = last_of(w, piece->track);
    if (last != NULL && last->end == piece->begin && length(last) < w->unit) {
        grow(w, piece);
        return;
    }
    if (last != NULL && last->end != piece->begin)
        close_still(w);
    push(w, piece);
}

static bool coarsen(struct wait_spans *w)
{
    const uint64_t all = w->count;
    const struct waits_piece open = w->rest;
    if (w->unit >= coarsest)
        return false;
    w->unit *= 2;
    w->count = w->rows = 0;
    w->rest = (struct waits_piece){.track = -1};
    for (uint64_t i = 0; i < all; i++) {
        const struct waits_piece piece = w->pieces[i];
        place(w, &piece);
        CHECK(w->count <= i + 1);
    }
    if (w->rest.track != open.track) {
        close_track(w);
        w->rest = open;
        return true;
    }
    join(&w->rest, &open);
    w->rest.end = w->rest.begin = open.end > w->rest.end ? open.end : w->rest.end;
    return true;
}

static unsigned cause_place(struct wait_spans *w, int64_t cause)
{
    unsigned i = 0;
    while (i < w->cause_count && w->causes[i] != cause)
        i++;
    if (i == w->cause_count && i < WAITS_CAUSES)
        w->causes[w->cause_count++] = cause;
    return i;
}

bool waits_add(struct wait_spans *w, int64_t track, int64_t begin, int64_t end, int64_t cause)
{
    const unsigned i = cause_place(w, cause);
    if (i == WAITS_CAUSES)
        return false;
    if (end <= begin)
        return end == begin;
    struct waits_piece piece = {.track = track, .begin = begin, .end = end};
    piece.ns[i] = end - begin;
    piece.count[i] = 1;
    place(w, &piece);
    while (w->rows > w->room)
        if (!coarsen(w))
            return false;
    return true;
}

bool waits_end(struct wait_spans *w)
{
    close_track(w);
    w->rest = (struct waits_piece){.track = -1};
    while (w->rows > w->room)
        if (!coarsen(w))
            return false;
    return true;
}
