/* Invariants:
 * 1. The counts of the groups sum to the layouts of the search (its rows).
 * 2. What is chosen of a group is drawn: the sum of `drawn` is the number of rows. */
#include "analysis/command/house/replay_plan_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/page/words.h"
#include "analysis/plan/search/search_book.h"
#include "analysis/plan/search/search_lead.h"
#include "analysis/record/numbers/cost.h"
#include "analysis/tell/report/report_layouts.h"
#include "sim/check.h"

enum {
    BREAKS_READ = 64 /* warnings among them */
};

/* Its step op by op, where it was played and fits; NULL: it was not, or does not. */
static const struct search_leader *played(const struct search_row *row)
{
    const struct search_turn *turn = row->turn;
    return turn != NULL && (turn->known & SEARCH_PLAYED) != 0 && turn->plays ? &turn->leader : NULL;
}

static const struct search_leader *leader_of(const struct search *s, const struct search_row *row)
{
    for (uint32_t i = 0; i < s->leader_count; i++)
        if (s->leaders[i].row == row)
            return &s->leaders[i];
    return NULL;
}

static struct replay_group *group_of(struct replay_rows *rows, const struct search_row *row)
{
    const char *rule = row->fate == FATE_RULE ? row->rule : NULL;
    for (unsigned i = 0; i < rows->group_count; i++) {
        struct replay_group *g = &rows->groups[i];
        if (g->fate == row->fate && (rule == NULL || strcmp(g->rule, rule) == 0))
            return g;
    }
    CHECK(rows->group_count < REPLAY_GROUPS_MAX);
    struct replay_group *added = &rows->groups[rows->group_count++];
    *added = (struct replay_group){.fate = row->fate, .rule = rule};
    return added;
}

static int compare_groups(const void *a, const void *b)
{
    const struct replay_group *x = a, *y = b;
    if (x->fate != y->fate)
        return x->fate < y->fate ? -1 : 1;
    return x->count == y->count ? strcmp(x->rule, y->rule) : x->count > y->count ? -1 : 1;
}

static int compare_timed(const void *a, const void *b)
{
    const struct search_row *x = *(const struct search_row *const *)a,
                            *y = *(const struct search_row *const *)b;
    if (x->pass_s != y->pass_s)
        return x->pass_s < y->pass_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Which of them are in: all where there is room, else evenly, the first one among them. */
static void take_evenly(const struct search *s, const struct search_row **of, uint64_t count,
                        uint64_t room, uint32_t *chosen)
{
    const uint64_t kept = count < room ? count : room;
    for (uint64_t i = 0; i < kept; i++)
        chosen[of[i * count / kept] - s->rows] = 1;
}

static void choose_timed(const struct search *s, uint64_t room, const struct search_row **list,
                         uint32_t *chosen)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const struct search_row *row = &s->rows[i];
        if (played(row) != NULL || leader_of(s, row) != NULL)
            chosen[i] = 1;
        else if (row->pass_s > 0.0)
            list[count++] = row;
    }
    qsort(list, count, sizeof *list, compare_timed);
    take_evenly(s, list, count, room, chosen);
}

static void choose_rest(const struct replay_rows *rows, const struct search *s, uint64_t room,
                        const struct search_row **list, uint32_t *chosen)
{
    const uint64_t each = rows->group_count > 0 ? room / rows->group_count : 0;
    for (unsigned g = 0; g < rows->group_count; g++) {
        uint64_t count = 0;
        for (uint32_t i = 0; i < s->row_count; i++) {
            const struct search_row *row = &s->rows[i];
            const struct replay_group *group = &rows->groups[g];
            if (row->pass_s > 0.0 || row->fate != group->fate ||
                (group->rule != NULL && strcmp(row->rule, group->rule) != 0))
                continue;
            list[count++] = row;
        }
        take_evenly(s, list, count, each, chosen);
    }
}

void replay_rows_choose(struct replay_rows *rows, const struct search *s, uint64_t timed,
                        uint64_t rest)
{
    uint64_t drawn = 0;
    const struct search_row **list =
        ARENA_ARRAY(rows->arena, const struct search_row *, s->row_count + (size_t)1);
    rows->chosen = ARENA_ARRAY(rows->arena, uint32_t, s->row_count + (size_t)1);
    rows->leaders = ARENA_ARRAY(rows->arena, uint64_t, s->leader_count + (size_t)1);
    for (uint32_t i = 0; i < s->row_count; i++)
        group_of(rows, &s->rows[i])->count++;
    qsort(rows->groups, rows->group_count, sizeof rows->groups[0], compare_groups);
    choose_timed(s, timed, list, rows->chosen);
    choose_rest(rows, s, rest, list, rows->chosen);
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (rows->chosen[i] == 0)
            continue;
        group_of(rows, &s->rows[i])->drawn++;
        rows->chosen[i] = (uint32_t)++rows->count;
    }
    for (uint32_t i = 0; i < s->leader_count; i++)
        rows->leaders[i] = rows->chosen[s->leaders[i].row - s->rows] - 1;
    for (unsigned g = 0; g < rows->group_count; g++)
        drawn += rows->groups[g].drawn;
    CHECK(drawn == rows->count); /* 2 */
}

/* X(name): the columns, in their order; then the parts of the step. */
#define COLUMNS(X)                                                                                 \
    X(machine)                                                                                     \
    X(group)                                                                                       \
    X(name)                                                                                        \
    X(sets)                                                                                        \
    X(tried)                                                                                       \
    X(detail)                                                                                      \
    X(step_s)                                                                                      \
    X(pass_s)                                                                                      \
    X(tokens_per_s)                                                                                \
    X(mfu)                                                                                         \
    X(peak_bytes)                                                                                  \
    X(least_bytes)                                                                                 \
    X(least_s)                                                                                     \
    X(usd)                                                                                         \
    X(joules)                                                                                      \
    X(wall_w)                                                                                      \
    X(rank)                                                                                        \
    X(why)

void replay_rows_columns(FILE *out)
{
#define X(name) #name,
    static const char *const names[] = { COLUMNS(X) };
#undef X
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        fprintf(out, "%s\"%s\"", i > 0 ? "," : "[", names[i]);
    for (unsigned part = 0; part < PART_COUNT; part++)
        fprintf(out, ",\"%s\"", breakdown_names[part]);
    fputc(']', out);
}

static double known_if(bool known, double value)
{
    return known ? value : (double)NAN;
}

static void write_number(FILE *out, double value)
{
    fputc(',', out);
    words_number(out, value);
}

static void write_text(FILE *out, const char *text)
{
    fputc(',', out);
    if (text == NULL)
        fputs("null", out);
    else
        words_text(out, text, (unsigned)strlen(text));
}

/* "tp=8 pp=4": as --set takes them, without the section. */
static const char *sets_of(struct arena *arena, const struct plan_seen *seen,
                           const struct plan_layout *layout)
{
    const char *sets[PLAN_KEY_COUNT], *text = "";
    const unsigned count = plan_layout_sets(arena, &seen->scenario->configuration, layout, sets);
    for (unsigned i = 0; i < count; i++)
        text = arena_format(arena, "%s%s%s", text, i > 0 ? " " : "", strchr(sets[i], '.') + 1);
    return text;
}

/* The rule that it breaks, in words; NULL: it breaks none. */
static const char *rule_of(struct arena *arena, const struct search *s,
                           const struct search_row *row)
{
    struct rule_break *breaks = ARENA_ARRAY(arena, struct rule_break, BREAKS_READ);
    struct configuration *c = ARENA_NEW(arena, struct configuration);
    if (row->fate != FATE_RULE)
        return NULL;
    plan_layout_apply(s->base, &row->layout, c);
    const unsigned count = configuration_check(c, breaks, BREAKS_READ);
    for (unsigned i = 0; i < count && i < BREAKS_READ; i++)
        if (!breaks[i].warning && strcmp(breaks[i].key, row->rule) == 0)
            return breaks[i].text;
    return row->rule;
}

/* What is known of its step: as a leader, played, at pass detail, or not at all. */
static void step_of(struct arena *arena, const struct search *s, const struct search_row *row,
                    struct search_leader *out)
{
    const struct search_leader *leader = leader_of(s, row), *own = played(row);
    struct cost cost;
    if (leader != NULL) {
        *out = *leader;
        return;
    }
    if (own == NULL && !(row->pass_s > 0.0)) {
        *out = (struct search_leader){.step_s = NAN};
        return;
    }
    search_lead_guess(s->base, row, out);
    if (own != NULL) {
        *out = *own;
        out->energy_j_per_token = out->wall_w = NAN; /* asked of leaders alone */
    }
    struct configuration *c = ARENA_NEW(arena, struct configuration);
    plan_layout_apply(s->base, &row->layout, c);
    cost_of_step(c, out->step_s, &cost);
    out->usd_per_1e9_tokens = known_if(s->question.weeks == NULL, cost.usd_per_1e9_tokens);
}

static uint32_t rank_of(const struct search *s, const struct search_row *row)
{
    const struct search_leader *leader = leader_of(s, row);
    return leader != NULL ? (uint32_t)(leader - s->leaders) + 1 : 0;
}

static void write_step(const struct search_row *row, const struct search_leader *l, bool timed,
                       FILE *out)
{
    const bool op = timed && l->played;
    fputs(timed ? op ? ",\"op\"" : ",\"pass\"" : ",null", out);
    write_number(out, l->step_s);
    write_number(out, known_if(row->pass_s > 0.0, row->pass_s));
    write_number(out, known_if(timed, l->tokens_per_s));
    write_number(out, known_if(timed, l->mfu_ratio));
    write_number(out, known_if(op, l->peak_reserved_bytes));
    write_number(out, known_if(row->least_bytes > 0.0, row->least_bytes));
    write_number(out, known_if(row->least_s > 0.0, row->least_s));
    write_number(out, known_if(timed, l->usd_per_1e9_tokens));
    write_number(out, known_if(timed, l->energy_j_per_token));
    write_number(out, known_if(timed, l->wall_w));
}

static void write_row(struct replay_rows *rows, const struct plan_seen *seen,
                      const struct search_row *row, FILE *out)
{
    struct arena *arena = rows->arena;
    const struct search *s = seen->search;
    const struct arena_mark mark = arena_mark(arena);
    const uint32_t rank = rank_of(s, row);
    struct search_leader l;
    step_of(arena, s, row, &l);
    const bool timed = isfinite(l.step_s);
    fprintf(out, "[%zu,%td", rows->machine, group_of(rows, row) - rows->groups);
    write_text(out, report_layout_short(arena, &row->layout));
    write_text(out, sets_of(arena, seen, &row->layout));
    fprintf(out, ",%" PRIu32, row->tried);
    write_step(row, &l, timed, out);
    write_number(out, known_if(rank > 0, rank));
    write_text(out, rule_of(arena, s, row));
    for (unsigned part = 0; part < PART_COUNT; part++)
        write_number(out, known_if(timed && l.played, l.breakdown_s[part]));
    fputc(']', out);
    arena_rewind(arena, mark);
}

void replay_rows_write(struct replay_rows *rows, const struct plan_seen *seen, FILE *out)
{
    const struct search *s = seen->search;
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (rows->chosen[i] == 0)
            continue;
        fputs(rows->first + rows->chosen[i] > 1 ? ",\n" : "\n", out);
        write_row(rows, seen, &s->rows[i], out);
    }
}
