/* Waits as few spans: whatever comes, sums by track and cause stay to the nanosecond, what is as
 * long as a unit keeps its place, and there are no more rows than room. */
#include <stdlib.h>
#include <string.h>

#include "analysis/page/waits.h"
#include "tests/test.h"

enum {
    TRACKS = 5,
    CAUSES = 3,
    STILLS = 400,
    MOST = 3000
};
static uint64_t seed;
static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % below;
}

struct still {
    int64_t track, begin, end;
};
static struct still stills[TRACKS * STILLS];
static int64_t ns[TRACKS][CAUSES], count[TRACKS][CAUSES];

/* Stand-stills of one to nine waits, now and then a long one. */
static unsigned feed(struct wait_spans *w)
{
    unsigned made = 0;
    memset(ns, 0, sizeof ns);
    memset(count, 0, sizeof count);
    for (unsigned track = 0; track < TRACKS; track++) {
        int64_t at = draw(50);
        for (unsigned i = 0; i < STILLS; i++) {
            stills[made] = (struct still){track, at, at};
            for (unsigned k = 1 + draw(9); k > 0; k--) {
                const unsigned cause = draw(CAUSES);
                const int64_t dur = draw(20) == 0 ? 1 + draw(5000) : 1 + draw(30);
                assert_true(waits_add(w, track, at, at + dur, 40 + cause));
                ns[track][cause] += dur;
                count[track][cause]++;
                at += dur;
            }
            stills[made++].end = at;
            at += 1 + draw(100);
        }
    }
    assert_true(waits_end(w));
    return made;
}

static void sums(const struct wait_spans *w)
{
    int64_t met_ns[TRACKS][CAUSES] = {{0}}, met[TRACKS][CAUSES] = {{0}};
    for (uint64_t i = 0; i < w->count; i++)
        for (unsigned k = 0; k < w->cause_count; k++) {
            const struct waits_piece *p = &w->pieces[i];
            met_ns[p->track][w->causes[k] - 40] += p->ns[k];
            met[p->track][w->causes[k] - 40] += p->count[k];
        }
    assert_memory_equal(met_ns, ns, sizeof ns);
    assert_memory_equal(met, count, sizeof count);
}

/* Pieces tile each stand-still of at least a unit and lie nowhere else. */
static void places(const struct wait_spans *w, unsigned made)
{
    uint64_t next = 0;
    for (unsigned i = 0; i < made; i++) {
        if (stills[i].end - stills[i].begin < w->unit)
            continue;
        int64_t at = stills[i].begin;
        for (; at < stills[i].end; next++) {
            const struct waits_piece *p = &w->pieces[next];
            int64_t whole = 0;
            for (unsigned k = 0; k < w->cause_count; k++)
                whole += p->ns[k];
            if (p->begin == p->end)
                continue;
            assert_true(p->track == stills[i].track && p->begin == at && whole == p->end - at);
            assert_true(whole >= w->unit);
            at = p->end;
        }
        assert_true(at == stills[i].end);
    }
    for (; next < w->count; next++)
        assert_true(w->pieces[next].begin == w->pieces[next].end);
}

static void test_sums_and_places(void **state)
{
    static struct waits_piece pieces[MOST + 2];
    static const uint64_t rooms[] = {TRACKS * CAUSES, 20, 100, 777, MOST};
    static const int64_t units[] = {0, 1, 40, 700, INT64_C(1) << 40};
    for (unsigned i = 0; i < 25; i++) {
        struct wait_spans w;
        seed = i;
        waits_begin(&w, pieces, rooms[i % 5], units[i / 5]);
        const unsigned made = feed(&w);
        assert_true(w.rows <= rooms[i % 5]);
        sums(&w);
        places(&w, made);
        assert_true(i != 4 || w.unit < 4096); /* where there is room little is lost */
    }
}

static void test_no_room(void **state)
{
    struct waits_piece pieces[4];
    struct wait_spans w;
    waits_begin(&w, pieces, 2, 1);
    assert_true(waits_add(&w, 1, 0, 5, 7) && waits_add(&w, 2, 0, 5, 7));
    assert_false(waits_add(&w, 3, 0, 5, 7) && waits_end(&w));
    waits_begin(&w, pieces, 2, 1);
    assert_true(waits_add(&w, 1, 3, 3, 7)); /* takes no time */
    assert_false(waits_add(&w, 1, 3, 2, 7));
    for (int64_t cause = 8; cause < 7 + WAITS_CAUSES; cause++)
        assert_true(waits_add(&w, 1, 3, 3, cause));
    assert_false(waits_add(&w, 1, 3, 3, 7 + WAITS_CAUSES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_and_places),
                                       cmocka_unit_test(test_no_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
