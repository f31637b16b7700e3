/* Profiles: what is written is read back, what is hostile is refused with a sentence, and each
 * flaw that a measurement can have is remarked. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/calibrate/simulated.h"
#include "models/profile/profile.h"
#include "tests/test.h"

#define PATH "test_profile.db"

static const struct profile_head head = {
    .facts = {.device = "NVIDIA Test",
              .driver = "1.2",
              .runtime = "13.0",
              .libraries = "none",
              .memory_bytes = 80e9,
              .power_cap_w = 700.0,
              .clock_max_hz = 1.98e9,
              .cards = 1.0},
    .gpu = "h100-80gb-sxm",
    .date = "2026-11-23",
    .method = "simulated",
};

static struct measured_point row_of(const char *line, double median_s)
{
    struct measured_point row = {.measurement = {median_s, 0.01, 30, 2, true, 1.5e9, 600.0, 1}};
    struct error error = {""};
    if (!point_parse(line, &row.point, &error))
        fail_msg("%s: %s", line, error.text);
    return row;
}

static void write_rows(struct arena *arena, const struct measured_point *rows, unsigned count)
{
    struct measured_profile resumed;
    struct error error = {""};
    remove(PATH);
    struct profile_writer *writer = profile_write(arena, PATH, &head, &resumed, &error);
    assert_non_null(writer);
    assert_int_equal(resumed.count, 0);
    for (unsigned i = 0; i < count; i++)
        assert_true(profile_keep(writer, &rows[i], &error));
    assert_true(profile_close(writer, true, &error));
}

/* Two rows that are sound. */
static void write_small(struct arena *arena)
{
    const struct measured_point rows[] = {
        row_of("memory norm bf16 bytes=1048576", 2e-6),
        row_of("gemm - bf16 m=128 n=256 k=512 batch=1", 1.25e-5),
    };
    write_rows(arena, rows, 2);
}

static void what_is_written_is_read(void **unused)
{
    struct arena *arena = arena_create();
    struct measured_profile profile;
    struct error error = {""};
    (void)unused;
    write_small(arena);
    assert_true(profile_read(arena, PATH, &profile, &error));
    assert_int_equal(profile.count, 2);
    assert_string_equal(profile.head.facts.device, "NVIDIA Test");
    assert_string_equal(profile.head.gpu, "h100-80gb-sxm");
    assert_true(profile.head.complete && profile.head.facts.power_cap_w == 700.0);
    const struct measured_point *p = &profile.points[0];
    assert_true(p->point.kind == POINT_GEMM && p->point.size[2] == 512.0);
    const struct measurement *m = &p->measurement;
    assert_true(m->median_s == 1.25e-5 && m->spread_ratio == 0.01 && m->samples == 30);
    assert_true(m->outliers == 2 && m->settled && m->clock_hz == 1.5e9 && m->slowing == 1);
    arena_destroy(arena);
}

static void it_is_gone_on_with(void **unused)
{
    struct arena *arena = arena_create();
    struct measured_profile resumed, profile;
    struct error error = {""};
    (void)unused;
    write_small(arena);
    struct profile_writer *writer = profile_write(arena, PATH, &head, &resumed, &error);
    assert_non_null(writer);
    assert_int_equal(resumed.count, 2);
    struct measured_point better = row_of("memory norm bf16 bytes=1048576", 3e-6),
                          more = row_of("memory norm bf16 bytes=2097152", 4e-6);
    assert_true(profile_keep(writer, &better, &error) && profile_keep(writer, &more, &error));
    assert_true(profile_close(writer, false, &error));
    assert_true(profile_read(arena, PATH, &profile, &error));
    assert_true(profile.count == 3 && !profile.head.complete);
    assert_true(profile.points[1].measurement.median_s == 3e-6);
    struct profile_head other = head;
    strcpy(other.facts.driver, "1.3");
    assert_null(profile_write(arena, PATH, &other, &resumed, &error));
    assert_non_null(strstr(error.text, "another driver"));
    arena_destroy(arena);
}

/* One whose card nobody named gets the name from who goes on with it, and keeps it. */
static void it_is_named_later(void **unused)
{
    struct arena *arena = arena_create();
    struct measured_profile resumed, profile;
    struct profile_head nameless = head, other = head;
    const struct measured_point row = row_of("memory norm bf16 bytes=1048576", 2e-6);
    struct error error = {""};
    (void)unused;
    remove(PATH);
    nameless.gpu[0] = '\0';
    const struct profile_head *const heads[] = {&nameless, &head, &nameless};
    for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct profile_writer *writer = profile_write(arena, PATH, heads[i], &resumed, &error);
        assert_non_null(writer);
        assert_true(profile_keep(writer, &row, &error) && profile_close(writer, true, &error));
        assert_true(profile_read(arena, PATH, &profile, &error));
        assert_string_equal(profile.head.gpu, i == 0 ? "" : "h100-80gb-sxm");
    }
    strcpy(other.gpu, "h200-141gb-sxm");
    assert_null(profile_write(arena, PATH, &other, &resumed, &error));
    arena_destroy(arena);
}

static void change(const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(PATH, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    sqlite3_close(database);
}

static void refused(struct arena *arena, const char *what, const char *words)
{
    struct measured_profile profile;
    struct error error = {""};
    if (profile_read(arena, PATH, &profile, &error))
        fail_msg("%s is read", what);
    if (strstr(error.text, words) == NULL)
        fail_msg("%s: '%s' does not say '%s'", what, error.text, words);
}

static void hostile_rows_are_refused(void **unused)
{
    static const struct {
        const char *sql, *words;
    } cases[] = {
        {"PRAGMA application_id = 7", "no profile"},
        {"PRAGMA user_version = 2", "version 2"},
        {"PRAGMA user_version = 0", "version 0"},
        {"UPDATE point SET median_s = -1", "median_s"},
        {"UPDATE point SET median_s = 0", "median_s"},
        {"UPDATE point SET median_s = 9e999", "median_s"},
        {"UPDATE point SET median_s = 1e9", "median_s"},
        {"UPDATE point SET spread_ratio = -0.5", "spread_ratio"},
        {"UPDATE point SET spread_ratio = 9e999", "spread_ratio"},
        {"UPDATE point SET samples = 0", "count"},
        {"UPDATE point SET outliers = -3", "count"},
        {"UPDATE point SET samples = 9223372036854775807", "count"},
        {"UPDATE point SET settled = 2", "count"},
        {"UPDATE point SET slowing = 99", "count"},
        {"UPDATE point SET clock_hz = -1", "clock"},
        {"UPDATE point SET shape = 'gemm - bf16 m=nan n=1 k=1 batch=1' WHERE shape GLOB 'gemm*'",
         "positive"},
        {"UPDATE point SET shape = 'what'||rowid", "kind"},
        {"UPDATE point SET shape = x'00'||shape", "shape"},
        {"UPDATE point SET shape = shape||char(27)", "shape"},
        {"INSERT INTO point SELECT shape||' ', 1, 0, 1, 0, 1, 0, 0, 0 FROM point", "two rows"},
        {"DELETE FROM point", "0 points"},
        {"DELETE FROM profile", "one row"},
        {"INSERT INTO profile SELECT * FROM profile", "one row"},
        {"UPDATE profile SET device = char(27)||'[2J'", "one row"},
        {"UPDATE profile SET device = printf('%.*c', 500, 'x')", "one row"},
        {"UPDATE profile SET memory_bytes = 9e999", "one row"},
        {"UPDATE profile SET complete = 5", "one row"},
        {"ALTER TABLE point RENAME COLUMN median_s TO median_ms", "units"},
        {"ALTER TABLE point ADD COLUMN evil REAL AS (median_s)", "units"},
        {"ALTER TABLE point RENAME TO hidden; CREATE VIEW point AS SELECT * FROM hidden", "units"},
        {"DROP TABLE profile", "units"},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001) INSERT "
         "INTO point SELECT 'memory norm bf16 bytes='||i, 1, 0, 1, 0, 1, 0, 0, 0 FROM n",
         "points"},
    };
    (void)unused;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena *arena = arena_create();
        write_small(arena);
        change(cases[i].sql);
        refused(arena, cases[i].sql, cases[i].words);
        arena_destroy(arena);
    }
}

static size_t whole_file(unsigned char *bytes, size_t room)
{
    FILE *file = fopen(PATH, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

static void put_file(const void *bytes, size_t size)
{
    FILE *file = fopen(PATH, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void hostile_files_are_refused(void **unused)
{
    static unsigned char bytes[1 << 16];
    struct arena *arena = arena_create();
    (void)unused;
    write_small(arena);
    size_t size = whole_file(bytes, sizeof bytes);
    for (size_t length = 1; length < size; length += 509) {
        put_file(bytes, length);
        refused(arena, "a truncated file", PATH);
    }
    put_file("m,n,k\n1,2,3\n", 12);
    refused(arena, "a text", PATH);
    put_file("", 0);
    refused(arena, "an empty file", "no profile");
    put_file(bytes, size);
    assert_int_equal(truncate(PATH, PROFILE_BYTES_MAX + 1l), 0);
    refused(arena, "a gigantic file", "64 MiB");
    remove(PATH);
    refused(arena, "nothing", "no such file");
    struct measured_profile profile;
    struct error error = {""};
    assert_false(profile_read(arena, ".", &profile, &error));
    assert_non_null(strstr(error.text, "no file"));
    arena_destroy(arena);
}

/* Random bytes changed: read or refused, and what is read is sound. */
static void changed_bytes_do_no_harm(void **unused)
{
    static unsigned char bytes[1 << 16], changed[1 << 16];
    uint64_t random = 1;
    unsigned read = 0;
    (void)unused;
    struct arena *arena = arena_create();
    write_small(arena);
    size_t size = whole_file(bytes, sizeof bytes);
    for (unsigned trial = 0; trial < 1500; trial++) {
        struct measured_profile profile;
        struct error error = {""};
        memcpy(changed, bytes, size);
        for (unsigned i = 0; i < 1 + trial % 4; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            changed[(random >> 33) % size] = (unsigned char)(random >> 24);
        }
        put_file(changed, size);
        if (!profile_read(arena, PATH, &profile, &error)) {
            assert_true(error.text[0] != '\0');
            continue;
        }
        read++;
        for (unsigned i = 0; i < profile.count; i++) {
            assert_null(point_problem(&profile.points[i].point));
            assert_true(profile.points[i].measurement.median_s > 0.0);
        }
    }
    assert_true(read > 100 && read < 1500);
    remove(PATH);
    arena_destroy(arena);
}

static unsigned remarks(struct measured_point *rows, unsigned count, struct profile_remark *out)
{
    struct arena *arena = arena_create();
    struct measured_profile profile = {.points = rows, .count = count};
    unsigned found = profile_check(arena, &profile, out);
    arena_destroy(arena);
    return found;
}

static void a_sound_profile_has_no_remark(void **unused)
{
    struct arena *arena = arena_create();
    struct calibrate_plan plan = plan_begin(arena);
    static struct profile_remark out[PROFILE_REMARKS_MAX];
    (void)unused;
    plan_add_grid(&plan, 80e9, 8.0);
    struct measured_point *rows = ARENA_ARRAY(arena, struct measured_point, plan.count);
    for (unsigned i = 0; i < plan.count; i++)
        rows[i] = (struct measured_point){
            plan.rows[i].point,
            {simulated_time_s(&plan.rows[i].point), 0.01, 30, 0, true, 1e9, 500.0, 1}};
    unsigned found = remarks(rows, plan.count, out);
    if (found > 0)
        fail_msg("%s", out[0].text);
    arena_destroy(arena);
}

static void each_flaw_is_remarked(void **unused)
{
    static struct profile_remark out[PROFILE_REMARKS_MAX];
    struct measured_point sound[] = {row_of("memory norm bf16 bytes=1048576", 1e-6),
                                     row_of("memory norm bf16 bytes=4194304", 4e-6)};
    (void)unused;
    assert_int_equal(remarks(sound, 2, out), 0);
    for (unsigned flaw = 0; flaw < 6; flaw++) {
        static const char *const words[] = {"spread",   "outliers",      "hot",
                                            "hardware", "which is more", "a hole"};
        struct measured_point rows[] = {sound[0], sound[1]};
        struct measurement *m = &rows[1].measurement;
        m->spread_ratio = flaw == 0 ? 0.031 : m->spread_ratio;
        m->outliers = flaw == 1 ? 20 : m->outliers;
        m->slowing = flaw == 2 ? DEVICE_TOO_HOT : flaw == 3 ? DEVICE_HARDWARE_SLOW : m->slowing;
        m->median_s = flaw == 4 ? 0.9e-6 : m->median_s;
        rows[1].point.size[0] *= flaw == 5 ? 8.0 : 1.0;
        assert_int_equal(remarks(rows, 2, out), 1);
        if (strstr(out[0].text, words[flaw]) == NULL)
            fail_msg("'%s' does not say '%s'", out[0].text, words[flaw]);
    }
}

/* Sizes beside whole tiles, as kernels that pad take longer for less: no order is asked of them. */
static void odd_sizes_have_no_order(void **unused)
{
    static struct profile_remark out[PROFILE_REMARKS_MAX];
    (void)unused;
    for (unsigned odd = 0; odd < 3; odd++) {
        struct measured_point rows[] = {
            row_of(odd == 1 ? "memory norm bf16 bytes=1048577" : "memory norm bf16 bytes=1048576",
                   2e-6),
            row_of(odd == 2 ? "memory norm bf16 bytes=4194305" : "memory norm bf16 bytes=4194304",
                   1e-6)};
        assert_int_equal(remarks(rows, 2, out), odd == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(it_is_gone_on_with),
        cmocka_unit_test(it_is_named_later),
        cmocka_unit_test(hostile_rows_are_refused),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(changed_bytes_do_no_harm),
        cmocka_unit_test(a_sound_profile_has_no_remark),
        cmocka_unit_test(each_flaw_is_remarked),
        cmocka_unit_test(odd_sizes_have_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
