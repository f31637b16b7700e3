/* A search by many processes, and one that is stopped and goes on: the result and the database of a
 * search in one go. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/plan/search/search.h"
#include "analysis/plan/search/search_store.h"
#include "models/plan/plan_space.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

/* Memory is scarce, so that rows are judged again; the first ones do not fit. */
static const char text[] = "model: {layers: 8, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                           "cluster: {gpu: a100-40gb-sxm, gpus: 16}\n"
                           "training: {sequence: 8192, global_batch: 16}\nsoftware: nemo\n";

enum {
    PARTS_MAX = 8,
    PATH_BYTES = 64
};
static struct scenario *scenario;

struct diary { /* of a test: files that are read, and one that is written */
    char from[PARTS_MAX][PATH_BYTES];
    unsigned from_count;
    bool own; /* the first of them is the one that is written */
    struct store *store;
    unsigned asked, stop_after; /* times; 0: never */
};

static bool recall(void *context, const struct search_question *question, struct search_book *book,
                   struct error *error)
{
    (void)question;
    struct diary *d = context;
    for (unsigned i = 0; i < d->from_count; i++) {
        struct query *query;
        assert_true(query_open(d->from[i], &query, error));
        const bool good = search_store_recall(query, 0, d->own, book, error);
        query_close(query);
        if (!good)
            return false;
    }
    if (d->store != NULL && !d->own)
        search_store_machine(d->store, 0, "", book);
    return true;
}

static void keep(void *context, struct search_book *book)
{
    struct diary *d = context;
    if (d->store != NULL)
        search_store_keep(d->store, 0, book);
}

static bool stop(void *context)
{
    struct diary *d = context;
    return ++d->asked == d->stop_after;
}

static struct search *search_with(struct diary *d, struct search_part part, unsigned threads)
{
    const struct search_diary diary = {recall, keep, d};
    const struct search_question question = {.base = &scenario->configuration,
                                             .headroom_ratio = 0.02,
                                             .leaders = 6,
                                             .part = part,
                                             .diary = d != NULL ? &diary : NULL,
                                             .threads = threads,
                                             .stop = d != NULL ? stop : NULL,
                                             .context = d};
    struct search *search = NULL;
    struct error error = {""};
    if (!search_run(&question, &search, &error))
        fail_msg("%s", error.text);
    return search;
}

static struct store *store_at(const char *path, bool resume)
{
    struct store *store = NULL;
    struct error error = {""};
    if (store_share(path, 0.0, resume, &store, &error) != STORE_GOOD)
        fail_msg("%s", error.text);
    return store;
}

static void finish(struct store *store)
{
    struct error error = {""};
    if (store_finish(store, &error) != STORE_GOOD)
        fail_msg("%s", error.text);
}

static void assert_same(const struct search *a, const struct search *b)
{
    assert_int_equal(a->row_count, b->row_count);
    assert_true(a->counts.considered == b->counts.considered && a->counts.timed == b->counts.timed);
    assert_true(a->counts.ledgers == b->counts.ledgers && a->counts.played == b->counts.played);
    assert_int_equal(a->leader_count, b->leader_count);
    assert_int_equal(a->has_safe, b->has_safe);
    for (uint32_t i = 0; i < a->row_count; i++) {
        assert_int_equal(a->rows[i].fate, b->rows[i].fate);
        assert_int_equal(a->rows[i].layout.recompute, b->rows[i].layout.recompute);
        assert_int_equal(a->rows[i].tried, b->rows[i].tried);
        assert_true(a->rows[i].pass_s == b->rows[i].pass_s);
        assert_true(a->rows[i].least_bytes == b->rows[i].least_bytes);
    }
    for (uint32_t i = 0; i < a->leader_count; i++) {
        assert_int_equal(a->leaders[i].row - a->rows, b->leaders[i].row - b->rows);
        assert_true(a->leaders[i].step_s == b->leaders[i].step_s);
        assert_true(a->leaders[i].breakdown_s[0] == b->leaders[i].breakdown_s[0] ||
                    !a->leaders[i].played);
        assert_true(a->leaders[i].as_fast_probability == b->leaders[i].as_fast_probability);
    }
}

static size_t read_file(const char *path, char **out)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const size_t bytes = (size_t)ftell(file);
    rewind(file);
    *out = malloc(bytes);
    assert_int_equal(fread(*out, 1, bytes, file), bytes);
    fclose(file);
    return bytes;
}

static void assert_same_file(const char *a, const char *b)
{
    char *x, *y;
    const size_t bytes = read_file(a, &x);
    assert_int_equal(read_file(b, &y), bytes);
    assert_memory_equal(x, y, bytes);
    free(x);
    free(y);
}

static struct search *search_whole(void)
{
    struct diary d = {.store = store_at("whole.db", false)};
    struct search *s = search_with(&d, (struct search_part){0, 0}, 1);
    finish(d.store);
    return s;
}

static void parts_make_the_whole(void **state)
{
    static const unsigned counts[] = {1, 3, 8};
    struct search *plain = search_with(NULL, (struct search_part){0, 0}, 1);
    struct search *whole = search_whole();
    assert_same(whole, plain);
    for (unsigned k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        struct diary all = {.from_count = counts[k]};
        uint32_t rows = 0;
        for (unsigned i = 0; i < counts[k]; i++) {
            snprintf(all.from[i], PATH_BYTES, "part.%u", i);
            struct diary d = {.store = store_at(all.from[i], false)};
            struct search *s = search_with(&d, (struct search_part){i + 1, counts[k]}, 1 + i % 3);
            rows += s->row_count;
            search_destroy(s);
            finish(d.store);
        }
        assert_int_equal(rows, plain->row_count);
        all.store = store_at("merged.db", false);
        struct search *merged = search_with(&all, (struct search_part){0, 0}, 2);
        finish(all.store);
        assert_same(merged, plain);
        assert_same_file("merged.db", "whole.db");
        search_destroy(merged);
    }
    search_destroy(whole);
    search_destroy(plain);
}

static void a_stopped_search_goes_on(void **state)
{
    struct search *whole = search_whole();
    unsigned times = 0;
    unlink("on.db");
    for (bool stopped = true; stopped; times++) {
        struct diary d = {.from = {"on.db.partial"},
                          .from_count = times > 0,
                          .own = times > 0,
                          .store = store_at("on.db", true),
                          .stop_after = 1 + 2 * times};
        struct search *s = search_with(&d, (struct search_part){0, 0}, 1 + times % 2);
        struct error error = {""};
        stopped = s->stopped;
        if (stopped)
            assert_int_equal(store_leave(d.store, &error), STORE_GOOD);
        else
            finish(d.store); /* a finding that was kept twice would have broken a key */
        if (!stopped)
            assert_same(s, whole);
        search_destroy(s);
    }
    assert_true(times > 3);
    assert_same_file("on.db", "whole.db");
    search_destroy(whole);
}

/* What no search can have found: refused in words. */
static void a_book_is_hostile(void **state)
{
    struct arena *arena = arena_create();
    const struct configuration *base = &scenario->configuration;
    struct plan_layout *layouts = NULL;
    const uint32_t places = plan_space(arena, base, 0, &layouts);
    struct search_book *book = search_book_create(arena, base, places);
    struct search_row legal = {.fate = FATE_RULE};
    for (uint32_t i = 0; i < places; i++) {
        struct configuration c;
        plan_layout_apply(base, &layouts[i], &c);
        if (i != 1) /* another part has that one */
            search_book_row(book, i, &layouts[i]);
        if (legal.fate == FATE_RULE && i > 1 && configuration_legal(&c))
            legal = (struct search_row){.layout = layouts[i], .tried = i};
    }
    const struct search_turn good = {
        .place = legal.tried,
        .known = SEARCH_JUDGED,
        .row = {.layout = legal.layout, .fate = FATE_OPEN, .least_bytes = 1e9, .least_s = 1.0}};
    struct search_turn bad[10];
    struct error error = {""};
    for (unsigned i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].place = places;
    bad[1].place = 1;
    bad[2].turn = 1u << 30;
    bad[3].row.layout.tp++;
    bad[4].row.layout.microbatch = 12345;
    bad[5].row.least_s = NAN;
    bad[6].row.least_bytes = -1.0;
    bad[7].row.fate = FATE_LEADER;
    bad[8].row.fate = FATE_RULE; /* without one */
    bad[9].row.layout.recompute = 0;
    bad[9].row.layout.recompute_layers = 1u << 20;
    struct search_turn timed = good;
    timed.known = SEARCH_TIMED;
    timed.row.pass_s = 1.0;
    assert_false(search_book_take(book, &timed, &error)); /* not judged */
    for (unsigned i = 0; i < 10; i++) {
        error.text[0] = '\0';
        assert_false(search_book_take(book, &bad[i], &error));
        assert_true(error.text[0] != '\0');
    }
    assert_true(search_book_take(book, &good, &error));
    assert_true(search_book_take(book, &timed, &error));
    timed.row.pass_s = 0.0;
    assert_false(search_book_take(book, &timed, &error));
    struct search_turn played = good;
    played.known = SEARCH_PLAYED;
    played.plays = true;
    played.leader = (struct search_leader){.step_s = 1.0};
    double *const figures[] = {&played.leader.step_s, &played.leader.tokens_per_s,
                               &played.leader.mfu_ratio, &played.leader.peak_reserved_bytes,
                               &played.leader.peak_allocated_bytes};
    for (unsigned i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const double was = *figures[i];
        for (unsigned k = 0; k < 2; k++) {
            *figures[i] = k == 0 ? -1.0 : NAN;
            assert_false(search_book_take(book, &played, &error));
        }
        *figures[i] = was;
    }
    played.leader.step_s = 0.0; /* no step takes no time */
    assert_false(search_book_take(book, &played, &error));
    played.leader.step_s = 1.0;
    played.leader.breakdown_s[PART_BUBBLE] = INFINITY;
    assert_false(search_book_take(book, &played, &error));
    played.leader.breakdown_s[PART_BUBBLE] = 0.0;
    assert_true(search_book_take(book, &played, &error));
    arena_destroy(arena);
}

static int begin(void **state)
{
    static char folder[] = "/tmp/orrery_parts_------";
    const struct scenario_options how = {.layout_open = true};
    struct error error = {""};
    memset(strrchr(folder, '_') + 1, 'X', 6); /* six X, as mkdtemp wants them */
    *state = mkdtemp(folder);
    scenario = scenario_read("text", text, strlen(text), &how, &error);
    return *state == NULL || chdir(*state) != 0 || scenario == NULL ||
           scenario->diagnostics.error_count > 0;
}

static int end(void **state)
{
    char line[PATH_BYTES + 16];
    scenario_destroy(scenario);
    snprintf(line, sizeof line, "rm -rf %s", (const char *)*state);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(a_stopped_search_goes_on),
        cmocka_unit_test(a_book_is_hostile),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
