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
    *turn = (struct search_turn){.place = place, .row = {.layout = *layout}};
    book->of[place] = turn;
    return turn;
}

struct search_turn *search_book_later(struct search_book *book, struct search_turn *turn)
{
    if (turn->later == NULL) {
        turn->later = ARENA_NEW(book->arena, struct search_turn);
        *turn->later = (struct search_turn){
            .place = turn->place, .turn = turn->turn + 1, .row = {.layout = turn->row.layout}};
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
    if (!plan_layout_same(&own->row.layout, &found->row.layout, changing) ||
        found->row.tried > TRIED_MAX || !is_bound(found->row.least_bytes) ||
        !is_bound(found->row.least_s))
        return false;
    if (found->row.fate != FATE_OPEN)
        return found->row.fate == FATE_MEMORY || found->row.fate == FATE_HEADROOM ||
               (found->row.fate == FATE_RULE && found->row.rule != NULL);
    plan_layout_apply(book->base, &found->row.layout, &c);
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
    const bool open = (own->known & SEARCH_JUDGED) != 0 && own->row.fate == FATE_OPEN;
    switch ((enum search_finding)found->known) {
    case SEARCH_JUDGED:
        return sound_judgement(book, own, found);
    case SEARCH_TIMED:
        return open && isfinite(found->row.pass_s) && found->row.pass_s > 0.0;
    case SEARCH_LEDGER:
        return open;
    case SEARCH_PLAYED:
        return open && (!found->plays || sound_play(&found->leader));
    }
    return false;
}

/* What a row and its turn both have. */
static void copy_row(struct search_row *to, const struct search_row *from,
                     enum search_finding finding)
{
    if (finding == SEARCH_TIMED)
        to->pass_s = from->pass_s;
    if (finding != SEARCH_JUDGED)
        return;
    to->layout = from->layout;
    to->fate = from->fate;
    to->rule = from->rule;
    to->least_bytes = from->least_bytes;
    to->least_s = from->least_s;
    to->tried = from->tried;
}

static void copy(struct search_turn *own, const struct search_turn *found)
{
    copy_row(&own->row, &found->row, (enum search_finding)found->known);
    own->fits = found->known == SEARCH_LEDGER ? found->fits : own->fits;
    if (found->known == SEARCH_PLAYED) {
        own->plays = found->plays;
        own->leader = found->leader;
    }
    own->known |= found->known;
    own->kept |= found->kept;
}

bool search_book_take(struct search_book *book, const struct search_turn *found,
                      struct error *error)
{
    struct search_turn *own = found->place < book->places ? book->of[found->place] : NULL;
    if (own == NULL || found->turn > TURNS_MAX)
        return error_set(error, "it holds an impossible layout");
    while (own->turn < found->turn)
        own = search_book_later(book, own);
    if (!sound(book, own, found))
        return error_set(error, "what it says of layout %lu is impossible",
                         (unsigned long)found->place);
    copy(own, found);
    return true;
}

bool search_book_knows(struct search_row *row, enum search_finding finding)
{
    struct search_turn *turn = row->turn;
    if (turn == NULL || (turn->known & finding) == 0)
        return false;
    turn->asked |= finding;
    copy_row(row, &turn->row, finding);
    return true;
}

struct search_turn *search_book_note(struct search_row *row, enum search_finding finding)
{
    struct search_turn *turn = row->turn;
    if (turn == NULL)
        return NULL;
    turn->known |= finding;
    turn->asked |= finding;
    copy_row(&turn->row, row, finding);
    return turn;
}
