#include "analysis/tell/report/report_machines.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/output/text/columns.h"
#include "analysis/plan/search/search_weeks.h"
#include "analysis/tell/report/report_layouts.h"
#include "analysis/tell/report/report_parts.h"

enum machine_column {
    MACHINE_MARK,
    MACHINE_VALUES,
    MACHINE_GPUS,
    MACHINE_LAYOUT,
    MACHINE_STEP,
    MACHINE_TOKENS,
    MACHINE_MFU,
    MACHINE_GOODPUT,
    MACHINE_FREE,
    MACHINE_COST,
    MACHINE_TRAINING,
    MACHINE_PRICE,
    MACHINE_MISSED,
    MACHINE_COLUMNS
};

static struct text plain(const char *word)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%.40s", word);
    return out;
}

static const struct column heads[MACHINE_COLUMNS] = {
    [MACHINE_MARK] = {"", true, false},
    [MACHINE_VALUES] = {"", true, false},
    [MACHINE_GPUS] = {"GPUs", false, false},
    [MACHINE_LAYOUT] = {"layout", true, false},
    [MACHINE_STEP] = {"step", false, false},
    [MACHINE_TOKENS] = {"tokens/s", false, false},
    [MACHINE_MFU] = {"MFU", false, false},
    [MACHINE_GOODPUT] = {"goodput", false, false},
    [MACHINE_FREE] = {"free", false, false},
    [MACHINE_COST] = {"10^9 tok.", false, false},
    [MACHINE_TRAINING] = {"training", false, false},
    [MACHINE_PRICE] = {"USD", false, false},
    [MACHINE_MISSED] = {"misses", true, false},
};

static void write_leader(const struct search_leader *l, double free_ratio, struct text *cells)
{
    cells[MACHINE_LAYOUT] = report_layout_short(&l->row->layout);
    cells[MACHINE_STEP] = format_time(l->step_s);
    cells[MACHINE_TOKENS] =
        format_quantity(l->weeks != NULL ? l->weeks->tokens_per_s : l->tokens_per_s);
    cells[MACHINE_GOODPUT] = format_percent(l->weeks != NULL ? l->weeks->goodput_ratio : NAN);
    cells[MACHINE_MFU] = format_percent(l->mfu_ratio);
    cells[MACHINE_FREE] = format_percent(free_ratio);
    cells[MACHINE_COST] = format_money(l->usd_per_1e9_tokens);
    cells[MACHINE_TRAINING] = format_time(l->training_s);
    cells[MACHINE_PRICE] = format_quantity(l->training_usd);
    cells[MACHINE_MISSED] = plain("");
}

static void write_machine(const struct search_machine *m, struct text *cells)
{
    const char *missed = search_machine_missed(m);
    for (unsigned c = 0; c < MACHINE_COLUMNS; c++)
        cells[c] = plain("");
    if (m->found || m->near)
        write_leader(&m->leader, 1.0 - m->leader.peak_reserved_bytes / m->card_bytes, cells);
    else
        cells[MACHINE_LAYOUT] = plain(m->too_many ? "not searched" : "nothing fits");
    cells[MACHINE_MARK] = plain(m->first ? "1" : m->unbeaten ? "*" : "");
    cells[MACHINE_VALUES] = plain(format_shown(m->label).s);
    cells[MACHINE_GPUS] = format_count(m->gpus);
    cells[MACHINE_MISSED] = plain(missed != NULL ? missed : "");
}

/* Is the number of GPUs what was varied? */
static bool all_said(const struct search_machines *all)
{
    for (size_t i = 0; i < all->count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, all->rows[i].gpus);
        if (strcmp(text, all->rows[i].label) != 0)
            return false;
    }
    return true;
}

static bool any_weeks(const struct search_machines *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i].leader.weeks != NULL)
            return true;
    return false;
}

/* Columns that say nothing here: all empty, all alike, or of one machine's steps alone. */
static void hide(const struct search_machines *all, const struct text *cells, size_t rows,
                 struct column *columns)
{
    bool tokens = false, priced = false, missed = false, weeks = any_weeks(all);
    for (size_t i = 0; i < all->count; i++) {
        tokens = tokens || isfinite(all->rows[i].leader.training_s);
        priced = priced || isfinite(all->rows[i].leader.usd_per_1e9_tokens);
        missed = missed || search_machine_missed(&all->rows[i]) != NULL;
    }
    columns[MACHINE_GPUS].hidden =
        columns_same(MACHINE_COLUMNS, cells, rows, MACHINE_GPUS) || all_said(all);
    columns[MACHINE_GOODPUT].hidden = !weeks;
    columns[MACHINE_MFU].hidden = weeks;
    columns[MACHINE_STEP].hidden = weeks || all->question.terms.best != BEST_STEP;
    columns[MACHINE_TRAINING].hidden = !tokens;
    columns[MACHINE_PRICE].hidden = !tokens || !priced;
    columns[MACHINE_COST].hidden =
        !priced || (all->question.terms.best != BEST_COST && !columns[MACHINE_PRICE].hidden);
    columns[MACHINE_MISSED].hidden = !missed;
}

static void print_front(const struct session *s, const struct search_machines *all,
                        const struct column *like)
{
    struct arena *arena = arena_create();
    struct text *cells = ARENA_ARRAY(arena, struct text, all->front_count * MACHINE_COLUMNS);
    struct column columns[MACHINE_COLUMNS];
    for (unsigned c = 0; c < MACHINE_COLUMNS; c++)
        columns[c] = like[c];
    for (size_t i = 0; i < all->front_count; i++) {
        const struct search_point *p = &all->front[i];
        struct text *row = &cells[i * MACHINE_COLUMNS];
        write_leader(p->leader, p->free_ratio, row);
        row[MACHINE_MARK] = plain("");
        row[MACHINE_VALUES] = plain(format_shown(p->machine->label).s);
        row[MACHINE_GPUS] = format_count(p->machine->gpus);
    }
    columns[MACHINE_MISSED].hidden = true;
    report_heading(s, "The front: no layout of these machines beats one in time, cost and free "
                      "memory");
    columns_print(s->out, columns, MACHINE_COLUMNS, cells, all->front_count);
    arena_destroy(arena);
}

static void print_terms(const struct session *s, const struct search_machines *all)
{
    const struct search_terms *terms = &all->question.terms;
    bool any = false;
    for (size_t i = 0; i < all->count; i++)
        any = any || all->rows[i].found;
    if (any)
        fprintf(s->out, "  1: %s%s; asked alone, `plan` tells all of it\n",
                search_best_docs[terms->best],
                terms->deadline_s > 0.0 || terms->budget_usd > 0.0 ? ", and it keeps the terms"
                                                                   : "");
    fprintf(s->out, "  *: no other that keeps the terms is as fast and as cheap a token\n");
    fprintf(s->out, "  free: of the card. Training and cost are of training.tokens, %s failures\n",
            any_weeks(all) ? "with" : "without");
    if (any_weeks(all))
        fprintf(s->out,
                "  tokens/s that are kept; goodput of the leaders of each machine alone, all "
                "by the same failures\n");
}

void report_machines(const struct session *s, const struct search_machines *all, const char *keys)
{
    struct arena *arena = arena_create();
    struct text *cells = ARENA_ARRAY(arena, struct text, all->count * MACHINE_COLUMNS);
    struct column columns[MACHINE_COLUMNS];
    for (unsigned c = 0; c < MACHINE_COLUMNS; c++)
        columns[c] = heads[c];
    for (size_t i = 0; i < all->count; i++)
        write_machine(&all->rows[i], &cells[i * MACHINE_COLUMNS]);
    hide(all, cells, all->count, columns);
    fprintf(s->out, "The best layout of each machine, by %s\n", keys);
    columns_print(s->out, columns, MACHINE_COLUMNS, cells, all->count);
    print_terms(s, all);
    if (all->has_front && all->front_count > 0)
        print_front(s, all, columns);
    arena_destroy(arena);
}
