/* The order of lines tells nothing where their moments do: logs of failures, shuffled. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/reader/time_stamp.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/scenarios/import/failure_case.h"
#include "tests/test.h"

enum {
    NODES = 3,
    LINES = 40,
    LINE_BYTES = 160,
    TURNS = 8
};
struct moment {
    unsigned month, day, hour, node, gpu;
    bool fails;
};
static unsigned drawn(uint64_t seed, uint64_t index, unsigned below)
{
    return (unsigned)(random_hash(seed, index) % below);
}

/* A year of lines in the order of time, each at its own hour and no two of a GPU in one burst. */
static void draw(uint64_t seed, struct moment out[LINES])
{
    for (unsigned i = 0; i < LINES; i++)
        out[i] = (struct moment){1 + i * 12 / LINES,       1 + 8 * (i % 4) + drawn(seed, i, 4),
                                 drawn(seed, 100 + i, 24), drawn(seed, 200 + i, NODES),
                                 drawn(seed, 300 + i, 8),  true};
}

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static void write_dated(const struct moment *m, unsigned i, char *out)
{
    snprintf(out, LINE_BYTES,
             "2025-%02u-%02uT%02u:00:00+00:00 n%u kernel: NVRM: Xid (PCI:0000:%u:00): %u\n",
             m->month, m->day, m->hour, m->node, m->gpu, i % 2 == 0 ? 79u : 95u);
}
static void write_syslog(const struct moment *m, unsigned i, char *out)
{
    snprintf(out, LINE_BYTES, "%s %2u %02u:00:00 n%u kernel: NVRM: Xid (PCI:0000:%u:00): %u\n",
             months[m->month - 1], m->day, m->hour, m->node, m->gpu, i % 2 == 0 ? 79u : 95u);
}
/* The gauge keeps the last Xid: it alternates, from 0 at the year's first second. */
static void write_sample(const struct moment *m, unsigned i, char *out)
{
    char text[LINE_BYTES];
    double at_s;
    snprintf(text, sizeof text, "2025-%02u-%02uT%02u:00", m->month, m->day, m->hour);
    assert_true(time_stamp_read(text, &at_s));
    snprintf(out, LINE_BYTES, "DCGM_FI_DEV_XID_ERRORS{gpu=\"%u\",Hostname=\"n%u\"} %u %.0f\n",
             m->gpu, m->node, i % 2 == 0 ? 79u : 95u, at_s * 1000.0);
}
static void write_job(const struct moment *m, unsigned i, char *out)
{
    snprintf(out, LINE_BYTES,
             "JobId=%u JobState=NODE_FAIL EndTime=2025-%02u-%02uT%02u:00:00 NodeList=n%u\n", i,
             m->month, m->day, m->hour, m->node);
}
static void write_controller(const struct moment *m, unsigned i, char *out)
{
    snprintf(out, LINE_BYTES, "[2025-%02u-%02uT%02u:00:00.000] error: Node n%u %s\n", m->month,
             m->day, m->hour, m->node,
             i % 5 == 0 ? "now responding" : "unexpectedly rebooted boot_time=1");
}
static void write_row(const struct moment *m, unsigned i, char *out)
{
    snprintf(out, LINE_BYTES, "2025-%02u-%02uT%02u:00:00,gpu,n%u:%u,cause %u\n", m->month, m->day,
             m->hour, m->node, m->gpu, i % 3);
}

/* Each GPU's first sample, of nothing. */
static void write_zeros(char *out)
{
    for (unsigned i = 0; i < 8 * NODES; i++)
        sprintf(out + strlen(out),
                "DCGM_FI_DEV_XID_ERRORS{gpu=\"%u\",Hostname=\"n%u\"} 0 1735689600000\n", i % 8,
                i / 8);
}

struct way {
    const struct failure_format_kind *format;
    void (*write)(const struct moment *m, unsigned i, char *out);
    const char *head; /* a line that comes first */
};
static const struct way ways[] = {
    {&failure_format_xid, write_dated, ""},
    {&failure_format_xid, write_syslog, ""},
    {&failure_format_dcgm, write_sample, NULL},
    {&failure_format_slurm, write_job, ""},
    {&failure_format_slurm, write_controller, ""},
    {&failure_format_csv, write_row, "at,unit_kind,unit,cause\n"},
};

static struct failure_case read_text(const struct failure_format_kind *format, const char *text,
                                     const char *start, const char *end)
{
    return failure_case_read(text, format, failure_case_rules(start, end, 8 * NODES));
}

/* The lines in the order of `places`. */
static struct failure_case read_in(const struct way *way, const struct moment moments[LINES],
                                   const unsigned places[LINES])
{
    static char text[(LINES + 8 * NODES) * LINE_BYTES];
    char zeros[8 * NODES * LINE_BYTES] = "";
    write_zeros(zeros);
    strcpy(text, way->head != NULL ? way->head : "");
    for (unsigned i = 0; i < LINES; i++)
        way->write(&moments[places[i]], places[i], text + strlen(text));
    strcat(text, way->head == NULL ? zeros : "");
    const struct failure_case r = read_text(way->format, text, "2025-01-01", "2025-12-31T23:59:59");
    failure_case_good(&r);
    return r;
}

static void expect_same(const struct failure_log *a, const struct failure_log *b, const char *name)
{
    if (a->count != b->count || a->outside != b->outside || a->merged != b->merged)
        fail_msg("%s: %u failures in one order of lines, %u in another", name, a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->rows[i].at_s != b->rows[i].at_s || a->rows[i].unit != b->rows[i].unit ||
            strcmp(a->rows[i].cause, b->rows[i].cause) != 0)
            fail_msg("%s: failure %u at %g s is at %g s in another order", name, i, a->rows[i].at_s,
                     b->rows[i].at_s);
}

/* Forwards, backwards, each node behind the other, and at random. */
static void test_order_of_lines_is_free(void **state)
{
    struct moment moments[LINES];
    unsigned forward[LINES], places[LINES];
    for (unsigned i = 0; i < LINES; i++)
        forward[i] = i;
    for (unsigned w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        for (unsigned turn = 0; turn < TURNS; turn++) {
            draw(turn, moments);
            memcpy(places, forward, sizeof places);
            for (unsigned i = 0; i < LINES && turn == 0; i++)
                places[i] = LINES - 1 - i;
            for (unsigned node = 0, next = 0; node < NODES && turn == 1; node++)
                for (unsigned i = 0; i < LINES; i++)
                    if (moments[i].node == node)
                        places[next++] = i;
            for (unsigned i = LINES - 1; i > 0 && turn > 1; i--) {
                const unsigned j = drawn(turn, 1000 + i, i + 1), kept = places[i];
                places[i] = places[j];
                places[j] = kept;
            }
            struct failure_case a = read_in(&ways[w], moments, forward);
            struct failure_case b = read_in(&ways[w], moments, places);
            expect_same(&a.log, &b.log, ways[w].format->head.name);
            assert_true(a.log.count > LINES / 2 && a.log.outside == 0);
            arena_destroy(a.arena);
            arena_destroy(b.arena);
        }
    }
}

/* Dates without a year are those of the same log with years. */
static void test_a_year_of_syslog(void **state)
{
    struct moment moments[LINES];
    unsigned places[LINES];
    for (unsigned i = 0; i < LINES; i++)
        places[i] = 7 * i % LINES; /* 7 and 40 have no common factor */
    draw(99, moments);
    struct failure_case a = read_in(&ways[0], moments, places),
                        b = read_in(&ways[1], moments, places);
    expect_same(&a.log, &b.log, "syslog");
    assert_int_equal(a.log.count, LINES);
    assert_true(b.log.years.back > 0 && b.log.years.turned == 0);
    assert_true(a.log.years.back == 0);
    arena_destroy(a.arena);
    arena_destroy(b.arena);
}

enum {
    BURST_LINES = 24,
    BURST_SPAN_S = 2 * 3600
};
/* Xids of one evening, each at its own second, on three GPUs of two nodes. */
struct burst_line {
    unsigned at_s, gpu;
    unsigned xid;
};
static bool burst_job(const struct burst_line *line)
{
    return line->xid == 13 || line->xid == 31;
}

/* By its definition: another of its GPU, or for one of the job another of the job, stands within
 * ten minutes before it. */
static bool burst_follows(const struct burst_line lines[BURST_LINES], unsigned i)
{
    for (unsigned j = 0; j < i; j++)
        if (lines[i].at_s - lines[j].at_s <= 600 &&
            (lines[i].gpu == lines[j].gpu || (burst_job(&lines[i]) && burst_job(&lines[j]))))
            return true;
    return false;
}

static void expect_bursts(const struct burst_line lines[BURST_LINES], uint64_t seed)
{
    static const char *const causes[] = {"GPU off the bus", "GPU memory", "application"};
    char text[BURST_LINES * LINE_BYTES] = "";
    unsigned row = 0;
    for (unsigned k = 0; k < BURST_LINES; k++) {
        const struct burst_line *line = &lines[7 * k % BURST_LINES]; /* in any order */
        sprintf(text + strlen(text),
                "2025-01-01T%02u:%02u:%02u+00:00 n%u kernel: NVRM: Xid (PCI:0000:%u:00): %u\n",
                line->at_s / 3600, line->at_s / 60 % 60, line->at_s % 60, line->gpu / 2,
                line->gpu % 2, line->xid);
    }
    struct failure_case r = read_text(&failure_format_xid, text, "2025-01-01", "2025-01-02");
    failure_case_good(&r);
    for (unsigned i = 0; i < BURST_LINES; i++) {
        if (burst_follows(lines, i))
            continue;
        const char *cause =
            burst_job(&lines[i]) ? causes[2] : causes[lines[i].xid == 94 || lines[i].xid == 48];
        const struct failure_record *got = &r.log.rows[row++];
        if (row > r.log.count || got->at_s != lines[i].at_s || strcmp(got->cause, cause) != 0 ||
            got->unit_kind != (burst_job(&lines[i]) ? UNIT_JOB : UNIT_GPU) ||
            (burst_job(&lines[i]) && got->unit != 0))
            fail_msg("seed %u: failure %u is not that of %u s, %s", (unsigned)seed, row - 1,
                     lines[i].at_s, cause);
    }
    assert_int_equal(r.log.count, row);
    assert_int_equal(r.log.merged + r.log.followed, BURST_LINES - row);
    arena_destroy(r.arena);
}

static void test_first_of_a_burst(void **state)
{
    static const unsigned xids[] = {79, 94, 13, 31, 48};
    unsigned roots = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct burst_line lines[BURST_LINES];
        for (unsigned i = 0; i < BURST_LINES; i++)
            lines[i] = (struct burst_line){i * (BURST_SPAN_S / BURST_LINES) +
                                               drawn(seed, i, BURST_SPAN_S / BURST_LINES),
                                           drawn(seed, 100 + i, 3), xids[drawn(seed, 200 + i, 5)]};
        expect_bursts(lines, seed);
        for (unsigned i = 0; i < BURST_LINES; i++)
            roots += !burst_follows(lines, i);
    }
    assert_true(roots > 2 * 200);
}

#define XID(day, node) day " 00:00:00 " node " kernel: NVRM: Xid (PCI:0000:3b:00): 79\n"

static void expect_days(const char *text, const char *start, const char *end, unsigned count,
                        const double *days)
{
    struct failure_case r = read_text(&failure_format_xid, text, start, end);
    failure_case_good(&r);
    assert_int_equal(r.log.count, count);
    for (unsigned i = 0; i < count; i++)
        if (r.log.rows[i].at_s != days[i] * DAY)
            fail_msg("failure %u is at %g d, not %g", i, r.log.rows[i].at_s / DAY, days[i]);
    arena_destroy(r.arena);
}

static void expect_refused(const char *text, const char *start, const char *end, const char *why)
{
    failure_case_refused(read_text(&failure_format_xid, text, start, end), why);
}

/* Days by hand, from 2025-01-01, which is day 0; 2025 has 365 of them. */
static void test_years_by_hand(void **state)
{
    /* Nodes behind each other, one day and several months back. */
    expect_days(XID("Mar  6", "n1") XID("Mar  5", "n2") XID("Jan  3", "n1"), "2025-01-01",
                "2025-12-31", 3, (const double[]){2, 63, 64});
    /* Without an end each node has its own order: n2 is no year behind n1. */
    expect_days(XID("Jun 10", "n1") XID("Feb  7", "n2") XID("Jun 11", "n2") XID("Jan  2", "n2"),
                "2025-01-01", NULL, 4, (const double[]){37, 160, 161, 366});
    /* Over New Year, in half a year: the one moment of each. */
    expect_days(XID("Jan  2", "n1") XID("Dec 31", "n1"), "2024-12-01", "2025-06-01", 2,
                (const double[]){30, 32});
    /* Two years: a node's lines in their order, those of another one by themselves. */
    expect_days(XID("May  1", "n1") XID("Apr  1", "n1") XID("Apr  2", "n2"), "2025-01-01",
                "2026-12-31", 3, (const double[]){91, 120, 365 + 90});
    expect_refused(XID("May  1", "n1") XID("Apr  1", "n1") XID("Mar  1", "n1"), "2025-01-01",
                   "2026-12-31", "log:3: this date stands behind a later one of n1");
    /* Of 17 months only what lies in them once is known without the order. */
    expect_days(XID("Nov  1", "n1") XID("Oct  1", "n1"), "2025-01-01", "2026-05-31", 2,
                (const double[]){273, 304});
    /* A leap day lies in 2028 alone; outside is outside. */
    expect_days(XID("Feb 29", "n1") XID("Mar  1", "n1"), "2028-01-01", "2028-12-31", 2,
                (const double[]){59, 60});
    expect_days(XID("Feb 29", "n1") XID("Jul  1", "n1") XID("Jan  2", "n1"), "2025-01-01",
                "2025-02-01", 1, (const double[]){1});
    expect_days(XID("Feb 29", "n1"), "2025-03-01", NULL, 1, (const double[]){1095});
    expect_refused(XID("Feb 30", "n1"), "2025-01-01", "2025-12-31", "log:1: no moment before it");
}

/* What was interpreted is counted, with its first line. */
static void test_steps_back_are_counted(void **state)
{
    static const char text[] = XID("May  1", "n1") XID("Jun  1", "n2") XID("Apr  1", "n1")
        XID("Mar 31", "n1") XID("Jul  1", "n2");
    struct failure_case r = read_text(&failure_format_xid, text, "2025-01-01", "2025-12-31");
    assert_true(r.good && r.log.years.back == 2 && r.log.years.back_line == 3);
    assert_true(r.log.years.turned == 0);
    arena_destroy(r.arena);
    r = read_text(&failure_format_xid, text, "2025-01-01", NULL);
    assert_true(r.good && r.log.years.back == 0);
    assert_true(r.log.years.turned == 1 && r.log.years.turned_line == 3);
    arena_destroy(r.arena);
    /* A day back is none, nor is what stands behind a line outside of the watch. */
    r = read_text(&failure_format_xid, XID("Jul  1", "n1") XID("Feb  2", "n1") XID("Feb  1", "n1"),
                  "2025-01-01", "2025-05-01");
    assert_true(r.good && r.log.count == 2 && r.log.years.back == 0 && r.log.years.turned == 0);
    arena_destroy(r.arena);
}

/* Two series of one GPU that contradict each other; the same sample twice is one. */
static void test_samples_of_one_moment(void **state)
{
#define SAMPLE(value, at) "DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n1\"} " value " " at "\n"
    struct failure_case r = read_text(&failure_format_dcgm,
                                      SAMPLE("79", "1735689661000") SAMPLE("0", "1735689660000")
                                          SAMPLE("79", "1735689661000"),
                                      "2025-01-01", "2025-02-01");
    assert_true(r.good && r.log.count == 1 && r.log.rows[0].at_s == 61.0);
    arena_destroy(r.arena);
    r = read_text(&failure_format_dcgm,
                  SAMPLE("0", "1735689661000") SAMPLE("0", "1735689660000")
                      SAMPLE("79", "1735689661000") SAMPLE("79", "1735689670000"),
                  "2025-01-01", "2025-02-01");
    assert_false(r.good);
    assert_non_null(strstr(r.error.text, "log:3: two values of GPU 3 of n1 at one moment"));
    arena_destroy(r.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_lines_is_free), cmocka_unit_test(test_a_year_of_syslog),
        cmocka_unit_test(test_first_of_a_burst),       cmocka_unit_test(test_years_by_hand),
        cmocka_unit_test(test_steps_back_are_counted), cmocka_unit_test(test_samples_of_one_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
