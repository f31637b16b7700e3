/* search_book.h - what a search finds out about its layouts, written down: so that another process
 * may search a part of them, and a search that was stopped goes on without asking anything twice.
 *
 * A row is judged once for each level of recomputation that it comes to: its turns. Findings depend
 * on the configuration and the layout alone, so it does not matter who made them. A search asks the
 * book before it works, and notes what it asked for: what a file then holds is the same, whoever
 * found it. A book belongs to one search; findings of others are taken in when it begins. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_BOOK_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_BOOK_H

#include "analysis/plan/search/search_found.h"
#include "sim/error.h"

enum search_finding {  /* a bit each */
    SEARCH_JUDGED = 1, /* layout, fate, rule, bounds, tried */
    SEARCH_TIMED = 2,  /* pass_s */
    SEARCH_LEDGER = 4, /* fits */
    SEARCH_PLAYED = 8  /* plays, leader */
};
struct search_turn {
    uint32_t place, turn;        /* of the row in the space; how often it was judged before */
    struct search_row row;       /* of SEARCH_JUDGED and SEARCH_TIMED what they find; its fate is
                              FATE_OPEN, FATE_RULE, FATE_MEMORY or FATE_HEADROOM */
    bool fits;                   /* the ledger of its first microbatches */
    bool plays;                  /* the whole step, op by op, fits */
    struct search_leader leader; /* that step; `row` says nothing */
    unsigned known, asked, kept; /* findings: in the book; asked for by this search; in the file */
    struct search_turn *later;
};
struct search_book {
    struct arena *arena;
    const struct configuration *base;
    struct search_turn **of; /* by place: the first turn of a row; NULL: of another part */
    uint32_t places;
    bool kept; /* the file that is written knows the machine */
};
/* Of a space with so many layouts; everything lives in the arena. */
struct search_book *search_book_create(struct arena *arena, const struct configuration *base,
                                       uint32_t places);
/* The first turn of a row that begins with this layout. */
struct search_turn *search_book_row(struct search_book *book, uint32_t place,
                                    const struct plan_layout *layout);
/* The turn behind this one. */
struct search_turn *search_book_later(struct search_book *book, struct search_turn *turn);
/* Takes in one finding (`found->known`) of a place and turn. The file that it came from is hostile:
 * false with a sentence for what no search can have found. */
bool search_book_take(struct search_book *book, const struct search_turn *found,
                      struct error *error);

/* Is it known of the row's turn, for a search that asks? Then the row has it (of SEARCH_LEDGER and
 * SEARCH_PLAYED the turn); else the search must find out by itself. A row without a turn (no book)
 * knows nothing. */
bool search_book_knows(struct search_row *row, enum search_finding finding);
/* Notes what the row was found to be; returns its turn, which takes the rest, or NULL: no book. */
struct search_turn *search_book_note(struct search_row *row, enum search_finding finding);

#endif
