/* Logs of failures in every format: records with numbers for names, or a refusal with the line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/failures/failure_fit.h"
#include "scenarios/import/reader/time_stamp.h"
#include "sim/units.h"
#include "tests/scenarios/import/failure_case.h"
#include "tests/test.h"

static struct failure_rules usual(void)
{
    return failure_case_rules("2026-11-01", NULL, 32);
}

static struct failure_case sound(const char *text, const struct failure_format_kind *format,
                                 unsigned count)
{
    struct failure_case r = failure_case_read(text, format, usual());
    failure_case_good(&r);
    assert_int_equal(r.log.count, count);
    return r;
}

static void refused(const char *text, const struct failure_format_kind *format, const char *why)
{
    failure_case_refused(failure_case_read(text, format, usual()), why);
}

static void expect_row(const struct failure_log *log, unsigned row, double at_s, int kind,
                       unsigned unit, const char *cause)
{
    const struct failure_record *r = &log->rows[row];
    if (!(fabs(r->at_s - at_s) <= 1e-3) || r->unit_kind != kind || r->unit != unit)
        fail_msg("row %u: %g s, kind %d, unit %u", row, r->at_s, r->unit_kind, (unsigned)r->unit);
    assert_string_equal(r->cause, cause);
}

static void test_moments(void **state)
{
    static const struct {
        const char *text;
        double s;
    } moments[] = {
        {"1970-01-01", 0},
        {"2000-02-29T12:00:00Z", 951825600},
        {"2026-11-03T04:05:06", 1793678706},
        {"2026-11-03 04:05:06.25", 1793678706.25},
        {"2026-11-03T04:05:06+01:00", 1793675106},
        {"2026-11-03T04:05:06-0130", 1793684106},
        {"1969-12-31T23:59:59Z", -1},
    };
    static const char *const none[] = {
        "",
        "2026-13-01",
        "2026-02-29",
        "2026-00-10",
        "2026-11-3",
        "2026-11-03T24:00",
        "2026-11-03T04:60:0",
        "2026-11-03T04:05:06+25:00",
        "2026-11-03T",
        "2026-11-03T04:05x",
        "now",
        "99999-01-01",
    };
    double s;
    for (unsigned i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        assert_true(time_stamp_read(moments[i].text, &s));
        assert_true(s == moments[i].s);
    }
    for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(time_stamp_read(none[i], &s));
    /* A log without years: the moment of a year that is given. */
    assert_true(time_stamp_syslog("Jan", "2", "00:00:00", 2027, &s));
    assert_true(s == 1798848000);
    assert_true(time_stamp_syslog("Feb", "29", "00:00:00", 2027, &s) && isnan(s));
    assert_true(time_stamp_syslog("Feb", "29", "12:00:00", 2000, &s) && s == 951825600);
    assert_false(time_stamp_syslog("Feb", "30", "00:00:00", 2000, &s));
    assert_false(time_stamp_syslog("anF", "3", "00:00:00", 2000, &s));
    assert_int_equal(time_stamp_year(-1), 1969);
    assert_int_equal(time_stamp_year(0), 1970);
    assert_int_equal(time_stamp_year(1798761599), 2026);
    assert_int_equal(time_stamp_year(1798761600), 2027);
    /* dmesg -T says the year: its first day and its last. */
    assert_true(time_stamp_syslog_of("Nov", "3", "04:05:06", "2026", &s));
    assert_true(s == 1793678706);
    assert_true(time_stamp_syslog_of("Jan", "1", "00:00:00", "1970", &s));
    assert_true(s == 0.0);
    assert_true(time_stamp_syslog_of("Dec", "31", "23:59:59", "1999", &s));
    assert_true(s == 946684799);
    assert_true(time_stamp_syslog_of("Feb", "29", "12:00:00", "2000", &s));
    assert_true(s == 951825600);
    assert_false(time_stamp_syslog_of("Feb", "29", "12:00:00", "2001", &s));
    assert_false(time_stamp_syslog_of("Nov", "3", "04:05:06", "26", &s));
    assert_false(time_stamp_syslog_of("Nov", "3", "04:05:06", "2026x", &s));
}

static void test_tables(void **state)
{
    struct failure_case r = sound("at,unit_kind,unit,cause,repair\n"
                                  "2026-11-02T00:00:00,gpu,n10:7,HBM,2h\n"
                                  "2026-11-03T00:00:00,node,n10,PSU,\n"
                                  "2026-11-03T06:00:00,gpu,n9:4,HBM,\n"
                                  "2026-11-04T00:00:00,job,,software,\n",
                                  &failure_format_csv, 4);
    expect_row(&r.log, 0, DAY, UNIT_GPU, 15, "HBM");
    assert_true(r.log.rows[0].repair_s == 2 * HOUR && r.log.rows[1].repair_s < 0.0);
    expect_row(&r.log, 1, 2 * DAY, UNIT_NODE, 1, "PSU");   /* n9 before n10 */
    expect_row(&r.log, 2, 2.25 * DAY, UNIT_GPU, 4, "HBM"); /* the fifth of its node */
    assert_true(r.log.watched_s == 3 * DAY);
    arena_destroy(r.arena);
    /* Parts that are names are numbered, on each node by themselves. */
    r = sound("at,unit_kind,unit,cause\n1h,gpu,n9:3b,HBM\n2h,gpu,n9:1b,HBM\n3h,gpu,n8:1b,HBM\n",
              &failure_format_csv, 3);
    expect_row(&r.log, 0, HOUR, UNIT_GPU, 9, "HBM");
    expect_row(&r.log, 1, 2 * HOUR, UNIT_GPU, 8, "HBM");
    expect_row(&r.log, 2, 3 * HOUR, UNIT_GPU, 0, "HBM");
    arena_destroy(r.arena);
    r = sound("cause,unit,unit_kind,at\nHBM,3,gpu,3h\nHBM,3,gpu,185min\nHBM,3,gpu,4h\n",
              &failure_format_csv, 2);
    assert_int_equal(r.log.merged, 1); /* five minutes apart */
    expect_row(&r.log, 1, 4 * HOUR, UNIT_GPU, 3, "HBM");
    arena_destroy(r.arena);
}

static void test_xids(void **state)
{
    struct failure_case r = sound(
        "Nov  2 00:00:00 n7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python3, GPU "
        "has fallen off the bus\n"
        "Nov  2 00:05:00 n7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus\n"
        "Nov  2 00:05:01 n7 kernel: NVRM: Xid (PCI:0000:3b:00): 45, Ch 8\n"
        "Nov  2 01:00:00 n7 systemd[1]: Started something\n"
        "2026-11-03T00:00:00+00:00 n10 kernel: NVRM: Xid (0000:1a:00): 95, Uncontained\n"
        "2026-11-03T00:00:00+00:00 n10 kernel: NVRM: Xid (PCI:0000:1b:00): 31, MMU fault\n"
        "2026-11-03T01:00:00+00:00 n10 kernel: nvidia-nvswitch1: SXid (PCI:0000:c1:00.0): 24007, "
        "Fatal, Link 44\n"
        "2026-11-03T01:00:00+00:00 n10 kernel: nvidia-nvswitch1: SXid (PCI:0000:c1:00.0): 12028, "
        "Non-fatal, Link 44\n"
        "Nov  4 00:00:00 n7 kernel: NVRM: Xid (PCI:0000:2b:00): 200, new\n",
        &failure_format_xid, 5);
    expect_row(&r.log, 0, DAY, UNIT_GPU, 1, "GPU off the bus"); /* 3b behind 2b */
    expect_row(&r.log, 1, 2 * DAY, UNIT_GPU, 8, "GPU memory");
    expect_row(&r.log, 2, 2 * DAY, UNIT_JOB, 0, "application");
    expect_row(&r.log, 3, 2 * DAY + HOUR, UNIT_NODE, 1, "NVSwitch");
    expect_row(&r.log, 4, 3 * DAY, UNIT_GPU, 0, "Xid 200");
    assert_int_equal(r.log.merged, 1);
    assert_int_equal(r.log.passed, 3);
    arena_destroy(r.arena);
}

/* Of one GPU: what is found first, and the program that dies of it, are one failure; of another one
 * it is the program's own. The gauge of DCGM tells the same. */
static void test_xids_of_a_program(void **state)
{
    struct failure_case r =
        sound("2026-11-03T00:00:00 n9 kernel: NVRM: Xid (PCI:0000:5b:00): 94, Contained\n"
              "2026-11-03T00:01:00 n9 kernel: NVRM: Xid (PCI:0000:5b:00): 13, Graphics\n",
              &failure_format_xid, 1);
    expect_row(&r.log, 0, 2 * DAY, UNIT_GPU, 0, "GPU memory");
    assert_int_equal(r.log.followed, 1);
    arena_destroy(r.arena);
    r = sound("2026-11-03T00:00:00 n9 kernel: NVRM: Xid (PCI:0000:5b:00): 94, Contained\n"
              "2026-11-03T00:01:00 n9 kernel: NVRM: Xid (PCI:0000:5c:00): 13, Graphics\n"
              "2026-11-03T00:12:00 n9 kernel: NVRM: Xid (PCI:0000:5b:00): 13, Graphics\n",
              &failure_format_xid, 3);
    arena_destroy(r.arena);
    r = sound("DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n1\"} 0 1793577600000\n"
              "DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n1\"} 94 1793664000000\n"
              "DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n1\"} 13 1793664060000\n",
              &failure_format_dcgm, 1);
    assert_int_equal(r.log.followed, 1);
    arena_destroy(r.arena);
}

static void test_samples_of_dcgm(void **state)
{
    /* 2026-11-02, in ms; the gauge stays at the last Xid. */
    struct failure_case r =
        sound("# TYPE DCGM_FI_DEV_XID_ERRORS gauge\n"
              "DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n7\"} 31 1793577600000\n"
              "DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n7\"} 79 1793577660000\n"
              "DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n7\"} 79 1793577720000\n"
              "DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",Hostname=\"n7\"} 0 1793577720000\n"
              "DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",Hostname=\"n7\"} 94 1793664000000\n",
              &failure_format_dcgm, 2);
    expect_row(&r.log, 0, DAY + MINUTE, UNIT_GPU, 3, "GPU off the bus");
    expect_row(&r.log, 1, 2 * DAY, UNIT_GPU, 0, "GPU memory");
    arena_destroy(r.arena);
    refused("DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n7\"} 79\n", &failure_format_dcgm,
            "log:1: a sample without its time");
    refused("DCGM_FI_DEV_XID_ERRORS{gpu=\"3\"} 79 1793577600000\n", &failure_format_dcgm,
            "labels Hostname");
    refused("DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n7\"} NaN 1793577600000\n",
            &failure_format_dcgm, "a number from 0");
    refused("DCGM_FI_DEV_XID_ERRORS{gpu=\"3\",Hostname=\"n7\"} -4 1793577600000\n",
            &failure_format_dcgm, "a number from 0");
}

static void test_slurm(void **state)
{
    struct failure_case r = sound("JobID|State|End|NodeList|FailedNode\n"
                                  "1|COMPLETED|2026-11-02T00:00:00|n[1-4]|\n"
                                  "2|NODE_FAIL|2026-11-03T00:00:00|n[1-4]|n3\n"
                                  "2.batch|CANCELLED|2026-11-03T00:00:00|n1|\n"
                                  "3|FAILED|2026-11-04T00:00:00|n1|\n"
                                  "4|NODE_FAIL|2026-11-05T00:00:00|n[1-4]|\n"
                                  "5|CANCELLED by 1000|Unknown|None assigned|\n",
                                  &failure_format_slurm, 3);
    expect_row(&r.log, 0, 2 * DAY, UNIT_NODE, 1, "node"); /* n1 is 0 */
    expect_row(&r.log, 1, 3 * DAY, UNIT_JOB, 0, "job");
    expect_row(&r.log, 2, 4 * DAY, UNIT_NODE, 0, "node, not told which");
    assert_int_equal(r.log.among, 1);
    arena_destroy(r.arena);
    r = sound("JobId=3 JobState=FAILED StartTime=2026-11-03T04:00:00 EndTime=2026-11-03T00:00:00 "
              "NodeList=n7 ExitCode=3:0\n",
              &failure_format_slurm, 1);
    expect_row(&r.log, 0, 2 * DAY, UNIT_JOB, 0, "job");
    arena_destroy(r.arena);
    r = sound("[2026-11-02T00:00:00.000] slurmctld version 22.05.8 started\n"
              "[2026-11-03T00:00:00.000] error: Nodes n[09-10,12],m1 not responding, setting DOWN\n"
              "[2026-11-03T12:00:00.000] error: Node n10 unexpectedly rebooted boot_time=1\n",
              &failure_format_slurm, 5);
    expect_row(&r.log, 0, 2 * DAY, UNIT_NODE, 1, "node not responding"); /* m1 is 0 */
    expect_row(&r.log, 4, 2.5 * DAY, UNIT_NODE, 2, "node rebooted");
    assert_int_equal(r.log.passed, 1); /* the start of slurmctld */
    arena_destroy(r.arena);
}

/* Within one burst: other nodes are another failure, the same ones a repeat; without names the
 * number of the job tells. What FailedNode names fails, each. */
static void test_jobs_of_one_burst(void **state)
{
    struct failure_case r = sound("JobID|State|End|NodeList|FailedNode\n"
                                  "1|NODE_FAIL|2026-11-02T00:00:00|n[01-02]|\n"
                                  "2|NODE_FAIL|2026-11-02T00:01:00|n[01,03]|\n"
                                  "3|NODE_FAIL|2026-11-02T00:02:00|n[01-02]|\n"
                                  "4|FAILED|2026-11-02T00:03:00|n[03-04]|\n"
                                  "5|FAILED|2026-11-02T00:03:00|n04|\n"
                                  "6|FAILED|2026-11-02T00:04:00|n04|\n"
                                  "7|FAILED|2026-11-02T00:05:00|None assigned|\n"
                                  "8|FAILED|2026-11-02T00:05:00||\n"
                                  "8|FAILED|2026-11-02T00:06:00||\n"
                                  "9|NODE_FAIL|2026-11-02T00:07:00||\n"
                                  "10|NODE_FAIL|2026-11-02T00:08:00|None assigned|\n"
                                  "11|NODE_FAIL|2026-11-02T00:09:00|n[01-04]|n[03-04]\n"
                                  "12|NODE_FAIL|2026-11-02T00:10:00|r[2-3]n[4-7],s1|\n"
                                  "13|NODE_FAIL|2026-11-02T00:11:00|r2n4|\n"
                                  "14|NODE_FAIL|2026-11-02T00:12:00|n[03-05]|n03\n",
                                  &failure_format_slurm, 12);
    static const char unknown[] = "node, not told which";
    expect_row(&r.log, 0, DAY, UNIT_NODE, 0, unknown);
    expect_row(&r.log, 1, DAY + MINUTE, UNIT_NODE, 0, unknown);
    expect_row(&r.log, 2, DAY + 3 * MINUTE, UNIT_JOB, 0, "job");
    expect_row(&r.log, 3, DAY + 3 * MINUTE, UNIT_JOB, 0, "job");
    expect_row(&r.log, 4, DAY + 5 * MINUTE, UNIT_JOB, 0, "job");
    expect_row(&r.log, 5, DAY + 5 * MINUTE, UNIT_JOB, 0, "job");
    expect_row(&r.log, 6, DAY + 7 * MINUTE, UNIT_JOB, 0, unknown);
    expect_row(&r.log, 7, DAY + 8 * MINUTE, UNIT_JOB, 0, unknown);
    expect_row(&r.log, 8, DAY + 9 * MINUTE, UNIT_NODE, 1, "node");
    expect_row(&r.log, 9, DAY + 9 * MINUTE, UNIT_NODE, 2, "node");
    expect_row(&r.log, 10, DAY + 10 * MINUTE, UNIT_NODE, 3, unknown); /* r2n4 */
    expect_row(&r.log, 11, DAY + 11 * MINUTE, UNIT_NODE, 3, "node");
    assert_int_equal(r.log.merged, 4);
    assert_int_equal(r.log.among, 3);
    arena_destroy(r.arena);
    r = sound("JobId=3 JobState=FAILED EndTime=2026-11-03T00:00:00\n"
              "JobId=4 JobState=FAILED EndTime=2026-11-03T00:00:01\n",
              &failure_format_slurm, 2);
    arena_destroy(r.arena);
    refused("JobID|State|End|NodeList\n1|NODE_FAIL|2026-11-03T00:00:00|n[x]\n",
            &failure_format_slurm, "cannot be read");
    refused("JobID|State|End|NodeList\n1|NODE_FAIL|2026-11-03T00:00:00|n[1\n",
            &failure_format_slurm, "cannot be read");
    refused("JobID|State|End|NodeList\n1|NODE_FAIL|2026-11-03T00:00:00|,n1\n",
            &failure_format_slurm, "cannot be read");
}

static void test_a_log_of_dmesg(void **state)
{
    static const char text[] =
        "[Sun Nov  1 00:00:05 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off\n"
        "[Tue Nov  3 04:05:06 2026] NVRM: Xid (PCI:0000:5e:00): 63, pid=1, row remapped\n"
        "[Tue Nov  3 04:05:07 2026] nvidia-nvswitch0: SXid (PCI:0000:07:00.0): 12028, Fatal, x\n"
        "[12345.678] usb 1-1: new device\n";
    struct failure_rules rules = usual();
    refused(text, &failure_format_xid,
            "log:1: dmesg -T names no host: say of which node this log is with "
            "--host NAME");
    rules.host = "node17";
    struct failure_case r = failure_case_read(text, &failure_format_xid, rules);
    failure_case_good(&r);
    assert_int_equal(r.log.count, 2);
    expect_row(&r.log, 0, 5.0, UNIT_GPU, 0, "GPU off the bus");
    expect_row(&r.log, 1, 2 * DAY + 4 * HOUR + 5 * MINUTE + 7.0, UNIT_NODE, 0, "NVSwitch");
    assert_int_equal(r.log.passed, 2);
    arena_destroy(r.arena);
    refused("[12345.678901] NVRM: Xid (PCI:0000:3b:00): 79, pid=1\n", &failure_format_xid,
            "no moment and host before it");
    refused("[Tue Noo  3 04:05:06 2026] NVRM: Xid (PCI:0000:5e:00): 79\n", &failure_format_xid,
            "no moment before it");
}

#define SERIES(name, labels, values)                                                               \
    "{\"metric\": {\"__name__\": \"" name "\", " labels "}, \"values\": [" values "]}"
#define ANSWER(series)                                                                             \
    "{\"status\": \"success\", \"data\": {\"resultType\": \"matrix\", \"result\": [" series "]}}"
#define GAUGE "DCGM_FI_DEV_XID_ERRORS"
#define AT "\"Hostname\": \"n2\", \"gpu\": \"3\""

/* 1793491200 is 2026-11-01. What stood there first came before; a value that stays is no event. */
static void test_an_answer_of_prometheus(void **state)
{
    struct failure_case r =
        sound(ANSWER(SERIES(GAUGE, AT,
                            "[1793491200, \"0\"], [1793491260.5, \"79\"], [1793491320, "
                            "\"79\"]") "," SERIES(GAUGE, "\"Hostname\": \"n1\", \"gpu\": \"7\"",
                                                  "[1793491200, \"48\"], [1793491290, "
                                                  "\"74\"]") "," SERIES("DCGM_FI_DEV_GPU_"
                                                                        "TEMP",
                                                                        AT,
                                                                        "[1793491200, "
                                                                        "\"61\"]")),
              &failure_format_dcgm, 2);
    expect_row(&r.log, 0, 60.5, UNIT_GPU, 8 + 3, "GPU off the bus");
    expect_row(&r.log, 1, 90.0, UNIT_GPU, 7, "NVLink");
    assert_int_equal(r.log.passed, 1); /* the temperature */
    assert_int_equal(r.log.quiet, 2);  /* the first 0, and 79 again */
    assert_int_equal(r.log.stood, 1);
    arena_destroy(r.arena);
    refused(ANSWER(SERIES(GAUGE, AT, "[1793491200, \"79\"]")), &failure_format_dcgm,
            "no failure in it");
    refused(ANSWER(SERIES(GAUGE, AT, "[1793491200, 79]")), &failure_format_dcgm,
            "a sample is [seconds");
    refused(ANSWER(SERIES(GAUGE, AT, "[1793491200, \"7.5\"]")), &failure_format_dcgm,
            "a sample is [seconds");
    refused(ANSWER(SERIES(GAUGE, "\"gpu\": \"1\"", "[1793491200, \"0\"]")), &failure_format_dcgm,
            "without the labels Hostname and gpu");
    refused("{\"status\": \"error\"}", &failure_format_dcgm,
            "no answer of Prometheus' query_range");
    for (unsigned i = 0; i < failure_format_kind_count; i++)
        if (failure_format_kinds[i] != &failure_format_dcgm)
            refused("{\"status\": \"success\", \"data\": {\"result\": []}}",
                    failure_format_kinds[i], "Prometheus answers about Xids is imported as dcgm");
    refused("{\"status\":\n", &failure_format_dcgm, "not JSON");
}

/* Jobs of a node that failed and never came back have no end: those rows alone are left out. */
static void test_slurm_without_ends(void **state)
{
    struct failure_case r = sound("JobID|State|End|NodeList|FailedNode\n"
                                  "1|NODE_FAIL|Unknown|n1|n1\n"
                                  "2|RUNNING|Unknown|n2|\n"
                                  "3|NODE_FAIL|2026-11-02T00:00:00|n3|n3\n",
                                  &failure_format_slurm, 1);
    expect_row(&r.log, 0, DAY, UNIT_NODE, 0, "node");
    assert_int_equal(r.log.endless, 1);
    assert_int_equal(r.log.passed, 1);
    arena_destroy(r.arena);
    refused("JobID|State|End|NodeList\n1|NODE_FAIL|Unknown|n1\n", &failure_format_slurm,
            "no failure in it (0 lines of something else, 1 of failures without their moment)");
    refused("JobID|State|End|NodeList\n1|NODE_FAIL|soon|n1\n", &failure_format_slurm,
            "end: 'soon' is no moment");
}

static void test_hostile_logs_are_refused(void **state)
{
    refused("[yesterday] error: Nodes n1 not responding, setting DOWN\n", &failure_format_slurm,
            "'yesterday' is no moment");
    refused("", &failure_format_csv, "empty");
    refused("at,unit_kind,unit\n", &failure_format_csv, "no column 'cause'");
    refused("unit,x\n", &failure_format_csv, "no column 'at', 'unit_kind', 'cause'; a table");
    refused("at,unit_kind,unit,cause\n", &failure_format_csv, "no failure");
    refused("at,unit_kind,unit,cause\n5,gpu,1,x\n", &failure_format_csv,
            "log:2: at: '5' has no unit");
    refused("at,unit_kind,unit,cause\nnan h,gpu,1,x\n", &failure_format_csv, "log:2: at");
    refused("at,unit_kind,unit,cause\n-3h,gpu,1,x\n", &failure_format_csv, "from 0s to 100y");
    refused("at,unit_kind,unit,cause\n1e9y,gpu,1,x\n", &failure_format_csv, "from 0s to 100y");
    refused("at,unit_kind,unit,cause\n3h,gpu,32,x\n", &failure_format_csv,
            "there is no gpu 32 of 32");
    refused("at,unit_kind,unit,cause\n3h,gpu,99999999999999999999,x\n", &failure_format_csv,
            "no gpu");
    refused("at,unit_kind,unit,cause\n3h,gup,1,x\n", &failure_format_csv, "did you mean 'gpu'");
    refused("at,unit_kind,unit,cause\n3h,gpu,n7,x\n", &failure_format_csv, "NODE:GPU");
    refused("at,unit_kind,unit,cause\n3h,gpu,n7:8,x\n", &failure_format_csv,
            "no gpu 8 on a node of 8");
    refused("at,unit_kind,unit,cause\n3h,gpu,n7:7,x\n4h,node,2,x\n", &failure_format_csv,
            "log:3: unit: numbers and names in one table");
    refused("at,unit_kind,unit,cause\n2026-02-30,gpu,1,x\n", &failure_format_csv,
            "log:2: at: no moment of the calendar");
    refused("at,unit_kind,unit,cause\n01/03/2026,gpu,1,x\n", &failure_format_csv, "no moment of");
    refused("at,unit_kind,unit,cause\n3h,gpu,1,\n", &failure_format_csv, "name what failed");
    refused("at,unit_kind,unit,cause\n3h,gpu,1,x\n3h,gpu,1,x\n", &failure_format_csv,
            "log:3: the row above");
    refused("at,unit_kind,unit,cause\n3h,gpu,1,x\n2026-11-03,gpu,1,x\n", &failure_format_csv,
            "a date behind");
    refused("at,unit_kind,unit,cause\n3h,gpu,1\n", &failure_format_csv, "3 fields");
    refused("at,unit_kind,unit,cause\n"
            "2026-11-03,node,e,x\n2026-11-03,node,a,x\n2026-11-03,node,b,x\n"
            "2026-11-03,node,c,x\n2026-11-03,node,d,x\n",
            &failure_format_csv, "log:2: more nodes than the 4");
    refused("[   12.5] NVRM: Xid (PCI:0000:3b:00): 79\n", &failure_format_xid, "journalctl");
    refused("2026-11-03T00:00:00 n7 NVRM: Xid (PCI:0000:3b:00): \n", &failure_format_xid,
            "the line is cut");
    refused("2026-11-03T00:00:00 n7 NVRM: Xid (PCI:0000:3\n", &failure_format_xid,
            "the line is cut");
    refused("2026-11-03T00:00:00 n7 NVRM: Xid (PCI:0000:3b:00): 70000\n", &failure_format_xid,
            "no Xid");
    refused("2026-11-03T00:00:00 n7 hello\n", &failure_format_xid, "no failure in it");
    refused("2026-10-03T00:00:00 n7 NVRM: Xid (PCI:0000:3b:00): 79\n"
            "2026-11-03T00:00:00 n7 NVRM: Xid (PCI:0000:3b:00): 45\n",
            &failure_format_xid, "no failure between");
    refused("JobID|State\n", &failure_format_slurm, "--format=");
    refused("JobID|State|State|End\n", &failure_format_slurm, "stands twice");
    refused("JobID|State|End\n1|FAILED\n", &failure_format_slurm, "log:2: 2 fields");
    refused("JobID|State|End\n1|EXPLODED|2026-11-03T00:00:00\n", &failure_format_slurm, "no state");
    refused("JobID|State|End\n1|FAILED|soon\n", &failure_format_slurm, "no moment");
    refused("[2026-11-03T00:00:00.000] error: Nodes n[1-99999999] not responding, setting DOWN\n",
            &failure_format_slurm, "too many");
    refused("[2026-11-03T00:00:00.000] error: Nodes n[1- not responding, setting DOWN\n",
            &failure_format_slurm, "cannot be read");
    refused("[2026-11-03", &failure_format_slurm, "it is cut");
    refused("hello\n", &failure_format_slurm, "neither a table");
    struct failure_rules rules = usual();
    rules.start_s = NAN;
    struct failure_case r = failure_case_read("at,unit_kind,unit,cause\n2026-11-03,gpu,1,x\n",
                                              &failure_format_csv, rules);
    assert_false(r.good);
    assert_non_null(strstr(r.error.text, "Give --start"));
    arena_destroy(r.arena);
}

static void test_causes_get_their_laws(void **state)
{
    struct failure_fit *fits;
    uint32_t count;
    struct failure_rules rules = usual();
    assert_true(time_stamp_read("2026-11-11", &rules.end_s));
    struct failure_case r =
        failure_case_read("at,unit_kind,unit,cause\n"
                          "2026-11-02,gpu,1,HBM\n2026-11-04,gpu,2,HBM\n2026-11-05,gpu,1,HBM\n"
                          "2026-11-05,gpu,9,HBM\n2026-11-06,domain,0,power\n"
                          "2026-11-07,node,0,PSU\n",
                          &failure_format_csv, rules);
    assert_true(r.good && r.log.end_told);
    assert_true(failure_fit(r.arena, &r.log, &r.rules, &fits, &count, &r.error));
    assert_int_equal(count, 3);
    assert_string_equal(fits[0].cause, "HBM");
    assert_int_equal(fits[0].failures, 4);
    /* 32 GPUs for 10 days, 4 failures. */
    assert_true(fabs(fits[0].fits[0].duration.mean_s / (80 * DAY) - 1.0) < 1e-12);
    assert_string_equal(fits[1].cause, "PSU");
    assert_true(fabs(fits[1].fits[0].duration.mean_s / (40 * DAY) - 1.0) < 1e-12);
    assert_int_equal(fits[1].best, 0);
    assert_true(fits[2].units == 0.0);
    arena_destroy(r.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_xids),
        cmocka_unit_test(test_xids_of_a_program),
        cmocka_unit_test(test_samples_of_dcgm),
        cmocka_unit_test(test_slurm),
        cmocka_unit_test(test_jobs_of_one_burst),
        cmocka_unit_test(test_a_log_of_dmesg),
        cmocka_unit_test(test_an_answer_of_prometheus),
        cmocka_unit_test(test_slurm_without_ends),
        cmocka_unit_test(test_hostile_logs_are_refused),
        cmocka_unit_test(test_causes_get_their_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
