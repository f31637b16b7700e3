#include "analysis/plan/search/search_book.h"

#include <math.h>

#include "models/sharding/sharding_kind.h"
#include "sim/check.h"

enum {
    TURNS_MAX = 4096, /* levels of recomputation, with a block's layers */
    TRIED_MAX = 1 << 20
};

struct search_book *search_book_create(struct arena *arena, const struct configuration *base,
                                       uint32_t places)
{
    struct search_book *book = ARENA_NEW(arena, struct search_book);
    *book = (struct search_book){.arena = arena, .base = base, .places = places};
    book->of = ARENA_ARRAY(arena, struct search_turn *, places);
    for (uint32_t i = 0; i < places; i++)
        book->of[i] = NULL;
    return book;
}

struct search_turn *search_book_row(struct search_book *book, uint32_t place,
                                    const struct plan_layout *layout)
{
    CHECK(place < book->places && book->of[place] == NULL);
    struct search_turn *turn = ARENA_NEW(book->arena, struct search_turn);
    *turn = (struct search_turn){.place = place, .layout = *layout};
    book->of[place] = turn;
    return turn;
}

struct search_turn *search_book_later(struct search_book *book, struct search_turn *turn)
{
    if (turn->later == NULL) {
        turn->later = ARENA_NEW(book->arena, struct search_turn);
        *turn->later = (struct search_turn){
            .place = turn->place, .turn = turn->turn + 1, .layout = turn->layout};
    }
    return turn->later;
}

static bool is_bound(double value)
{
    return isfinite(value) && value >= 0.0;
}

/* Recomputation may change from turn to turn, and stages follow; nothing else of a layout does. */
static const unsigned changing = 1u << PLAN_RECOMPUTE | 1u << PLAN_RECOMPUTE_LAYERS |
                                 1u << PLAN_FIRST_STAGE_LAYERS | 1u << PLAN_LAST_STAGE_LAYERS;

/* An open one is played, so it must be legal. */
static bool sound_judgement(const struct search_book *book, const struct search_turn *own,
                            const struct search_turn *found)
{
    struct configuration c;
    if (!plan_layout_same(&own->layout, &found->layout, changing) || found->tried > TRIED_MAX ||
        !is_bound(found->least_bytes) || !is_bound(found->least_s))
        return false;
    if (found->fate != FATE_OPEN)
        return found->fate == FATE_MEMORY || found->fate == FATE_HEADROOM ||
               (found->fate == FATE_RULE && found->rule != NULL);
    plan_layout_apply(book->base, &found->layout, &c);
    return configuration_legal(&c);
}

static bool sound_play(const struct search_leader *l)
{
    bool sound = isfinite(l->step_s) && l->step_s > 0.0 && is_bound(l->tokens_per_s) &&
                 is_bound(l->mfu_ratio) && is_bound(l->peak_reserved_bytes) &&
                 is_bound(l->peak_allocated_bytes);
    for (unsigned part = 0; part < PART_COUNT; part++)
        sound = sound && isfinite(l->breakdown_s[part]);
    return sound;
}

static bool sound(const struct search_book *book, const struct search_turn *own,
                  const struct search_turn *found)
{
    const bool open = (own->known & SEARCH_JUDGED) != 0 && own->fate == FATE_OPEN;
    switch ((enum search_finding)found->known) {
    case SEARCH_JUDGED:
        return sound_judgement(book, own, found);
    case SEARCH_TIMED:
        return open && isfinite(found->pass_s) && found->pass_s > 0.0;
    case SEARCH_LEDGER:
        return open;
    case SEARCH_PLAYED:
        return open && (!found->plays || sound_play(&found->leader));
    }
    return false;
}

static void copy(struct search_turn *own, const struct search_turn *found)
{
    switch ((enum search_finding)found->known) {
    case SEARCH_JUDGED:
        own->layout = found->layout;
        own->fate = found->fate;
        own->rule = found->rule;
        own->least_bytes = found->least_bytes;
        own->least_s = found->least_s;
        own->tried = found->tried;
        break;
    case SEARCH_TIMED:
        own->pass_s = found->pass_s;
        break;
    case SEARCH_LEDGER:
        own->fits = found->fits;
        break;
    case SEARCH_PLAYED:
        own->plays = found->plays;
        own->leader = found->leader;
        break;
    }
    own->known |= found->known;
    own->kept |= found->kept;
}

bool search_book_take(struct search_book *book, const struct search_turn *found,
                      struct error *error)
{
    struct search_turn *own = found->place < book->places ? book->of[found->place] : NULL;
    if (own == NULL || found->turn > TURNS_MAX)
        return error_set(error, "it holds a layout that it cannot have");
    while (own->turn < found->turn)
        own = search_book_later(book, own);
    if (!sound(book, own, found))
        return error_set(error, "what it holds of layout %lu cannot be",
                         (unsigned long)found->place);
    copy(own, found);
    return true;
}

/* Is it known? Then it is asked for, too. */
static bool knows(struct search_row *row, enum search_finding finding)
{
    struct search_turn *turn = row->turn;
    if (turn == NULL || (turn->known & finding) == 0)
        return false;
    turn->asked |= finding;
    return true;
}

static bool notes(struct search_row *row, enum search_finding finding)
{
    if (row->turn == NULL)
        return false;
    row->turn->known |= finding;
    row->turn->asked |= finding;
    return true;
}

bool search_book_judged(struct search_row *row)
{
    if (!knows(row, SEARCH_JUDGED))
        return false;
    const struct search_turn *turn = row->turn;
    row->layout = turn->layout;
    row->fate = turn->fate;
    row->rule = turn->rule;
    row->least_bytes = turn->least_bytes;
    row->least_s = turn->least_s;
    row->tried = turn->tried;
    return true;
}

void search_book_note_judged(struct search_row *row)
{
    struct search_turn *turn = row->turn;
    if (!notes(row, SEARCH_JUDGED))
        return;
    turn->layout = row->layout;
    turn->fate = row->fate;
    turn->rule = row->rule;
    turn->least_bytes = row->least_bytes;
    turn->least_s = row->least_s;
    turn->tried = row->tried;
}

bool search_book_timed(struct search_row *row)
{
    if (!knows(row, SEARCH_TIMED))
        return false;
    row->pass_s = row->turn->pass_s;
    return true;
}

void search_book_note_timed(struct search_row *row)
{
    if (notes(row, SEARCH_TIMED))
        row->turn->pass_s = row->pass_s;
}

bool search_book_ledger(struct search_row *row, bool *fits)
{
    if (!knows(row, SEARCH_LEDGER))
        return false;
    *fits = row->turn->fits;
    return true;
}

void search_book_note_ledger(struct search_row *row, bool fits)
{
    if (notes(row, SEARCH_LEDGER))
        row->turn->fits = fits;
}

bool search_book_played(struct search_row *row, struct search_leader *out, bool *fits)
{
    if (!knows(row, SEARCH_PLAYED))
        return false;
    *out = row->turn->leader;
    out->row = row;
    *fits = row->turn->plays;
    return true;
}

void search_book_note_played(struct search_row *row, const struct search_leader *leader, bool fits)
{
    if (!notes(row, SEARCH_PLAYED))
        return;
    row->turn->leader = *leader;
    row->turn->plays = fits;
}
