/* profile_read.c - a profile that somebody gives.
 *
 * The text of its tables must be that of this version, letter by letter: a column in milliseconds
 * is another column, and nothing in the file is carried out (no view, no trigger, no generated
 * column). Every value is checked before it is believed. */
#include "models/profile/profile.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "models/profile/profile_schema.h"

enum {
    TEXT_BYTES_MAX = 1 << 16,
    STEPS_BETWEEN_LOOKS = 10000,
    LOOKS_MAX = 20000 /* 200 million steps: some seconds */
};
#define TIME_MAX_S 1e4 /* of a launch */
#define NUMBER_MAX 1e18

struct profile_reader {
    const char *path;
    sqlite3 *database;
    struct error *error;
    int looks;
};

static int give_up(void *reader)
{
    return ++((struct profile_reader *)reader)->looks > LOOKS_MAX;
}

static bool refused(const struct profile_reader *r, const char *why)
{
    return error_set(r->error, "%s: %s", r->path, why);
}

static bool open_database(struct profile_reader *r)
{
    struct stat status;
    if (stat(r->path, &status) != 0)
        return refused(r, "there is no such file");
    if (!S_ISREG(status.st_mode))
        return refused(r, "this is no file");
    if (status.st_size > PROFILE_BYTES_MAX)
        return refused(r, "a profile has at most 64 MiB");
    if (sqlite3_open_v2(r->path, &r->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return refused(r, "it cannot be opened");
    sqlite3_db_config(r->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(r->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(r->database, SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX);
    sqlite3_limit(r->database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_progress_handler(r->database, STEPS_BETWEEN_LOOKS, give_up, r);
    return true;
}

/* Prepares; NULL where the file is damaged. */
static sqlite3_stmt *query(const struct profile_reader *r, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(r->database, sql, -1, &statement, NULL) == SQLITE_OK)
        return statement;
    refused(r, sqlite3_errmsg(r->database));
    return NULL;
}

static bool number_of(const struct profile_reader *r, const char *sql, sqlite3_int64 *out)
{
    sqlite3_stmt *statement = query(r, sql);
    if (statement == NULL)
        return false;
    bool found = sqlite3_step(statement) == SQLITE_ROW;
    *out = found ? sqlite3_column_int64(statement, 0) : 0;
    if (!found)
        refused(r, sqlite3_errmsg(r->database));
    sqlite3_finalize(statement);
    return found;
}

static bool has_table(const struct profile_reader *r, const char *name, const char *text)
{
    sqlite3_stmt *statement =
        query(r, "SELECT type, sql FROM sqlite_schema WHERE name = ? AND tbl_name = ?");
    bool found = false;
    if (statement == NULL)
        return false;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(statement, 0);
        const char *sql = (const char *)sqlite3_column_text(statement, 1);
        found = type && sql && strcmp(type, "table") == 0 && strcmp(sql, text) == 0;
    }
    sqlite3_finalize(statement);
    return found || error_set(r->error,
                              "%s: its table %s is not that of version %d: columns, units or "
                              "types differ",
                              r->path, name, PROFILE_VERSION);
}

static bool check_schema(const struct profile_reader *r)
{
    sqlite3_int64 id, version;
    if (!number_of(r, "PRAGMA application_id", &id) ||
        !number_of(r, "PRAGMA user_version", &version))
        return false;
    if (id != PROFILE_APPLICATION_ID)
        return refused(r, "this is a database, but no profile of a calibration");
    if (version != PROFILE_VERSION)
        return error_set(r->error, "%s: a profile of version %lld; this program reads version %d",
                         r->path, (long long)version, PROFILE_VERSION);
    return has_table(r, "profile", PROFILE_TABLE) && has_table(r, "point", POINT_TABLE);
}

static bool is_sound(const struct profile_reader *r)
{
    sqlite3_stmt *statement = query(r, "PRAGMA quick_check(1)");
    bool good = false;
    if (statement == NULL)
        return false;
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        good = text != NULL && strcmp(text, "ok") == 0;
    }
    sqlite3_finalize(statement);
    return good || refused(r, "the file is damaged");
}

/* A text without bytes that a terminal would obey. */
static bool take_text(sqlite3_stmt *statement, int column, char *out, size_t room)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    size_t bytes = (size_t)sqlite3_column_bytes(statement, column);
    if (text == NULL || bytes >= room || strlen(text) != bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return false;
    memcpy(out, text, bytes + 1);
    return true;
}

static bool take_number(sqlite3_stmt *statement, int column, double most, double *out)
{
    *out = sqlite3_column_double(statement, column);
    return isfinite(*out) && *out >= 0.0 && *out <= most;
}

static bool take_count(sqlite3_stmt *statement, int column, unsigned most, unsigned *out)
{
    sqlite3_int64 value = sqlite3_column_int64(statement, column);
    *out = (unsigned)value;
    return value >= 0 && value <= (sqlite3_int64)most;
}

static bool take_head(sqlite3_stmt *s, struct profile_head *h)
{
    struct device_facts *f = &h->facts;
    unsigned complete;
    bool sound =
        take_text(s, 0, f->device, sizeof f->device) && take_text(s, 1, h->gpu, sizeof h->gpu) &&
        take_text(s, 2, f->driver, sizeof f->driver) &&
        take_text(s, 3, f->runtime, sizeof f->runtime) &&
        take_text(s, 4, f->libraries, sizeof f->libraries) &&
        take_text(s, 5, h->date, sizeof h->date) && take_text(s, 6, h->method, sizeof h->method) &&
        take_number(s, 7, NUMBER_MAX, &f->memory_bytes) &&
        take_number(s, 8, NUMBER_MAX, &f->power_cap_w) &&
        take_number(s, 9, NUMBER_MAX, &f->clock_max_hz) &&
        take_number(s, 10, NUMBER_MAX, &f->cards) && take_count(s, 11, 1, &complete);
    h->complete = sound && complete == 1;
    return sound;
}

static bool read_head(const struct profile_reader *r, struct profile_head *out)
{
    sqlite3_stmt *statement =
        query(r, "SELECT device, gpu, driver, runtime, libraries, date, method, memory_bytes, "
                 "power_cap_w, clock_max_hz, cards, complete FROM profile");
    if (statement == NULL)
        return false;
    bool good = sqlite3_step(statement) == SQLITE_ROW && take_head(statement, out) &&
                sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return good || refused(r, "its table profile does not hold one row of sound values");
}

/* NULL, or what is wrong with the row. */
static const char *take_point(sqlite3_stmt *s, struct measured_point *out, struct error *why)
{
    char line[POINT_LINE_BYTES];
    struct measurement *m = &out->measurement;
    unsigned settled;
    if (!take_text(s, 0, line, sizeof line))
        return "its shape is no text of a line";
    if (!point_parse(line, &out->point, why))
        return why->text;
    if (!take_number(s, 1, TIME_MAX_S, &m->median_s) || m->median_s <= 0.0)
        return "median_s is no time of a launch";
    if (!take_number(s, 2, NUMBER_MAX, &m->spread_ratio))
        return "spread_ratio is negative or no number";
    if (!take_count(s, 3, 1u << 30, &m->samples) || m->samples == 0 ||
        !take_count(s, 4, 1u << 30, &m->outliers) || !take_count(s, 5, 1, &settled) ||
        !take_count(s, 8, 7, &m->slowing))
        return "a count is out of range";
    m->settled = settled == 1;
    if (!take_number(s, 6, NUMBER_MAX, &m->clock_hz) || !take_number(s, 7, NUMBER_MAX, &m->power_w))
        return "clock or power is negative or no number";
    return NULL;
}

static int by_shape(const void *a, const void *b)
{
    const struct calibrate_point *x = &((const struct measured_point *)a)->point,
                                 *y = &((const struct measured_point *)b)->point;
    char left[POINT_LINE_BYTES], right[POINT_LINE_BYTES];
    point_print(x, left);
    point_print(y, right);
    return strcmp(left, right);
}

static bool check_doubles(const struct profile_reader *r, const struct measured_profile *p)
{
    for (unsigned i = 1; i < p->count; i++) {
        char line[POINT_LINE_BYTES];
        if (!point_same(&p->points[i - 1].point, &p->points[i].point))
            continue;
        point_print(&p->points[i].point, line);
        return error_set(r->error, "%s: two rows for '%s'", r->path, line);
    }
    return true;
}

static bool read_points(const struct profile_reader *r, struct arena *arena,
                        struct measured_profile *out)
{
    sqlite3_int64 count;
    const char *problem = NULL;
    struct error why = {""};
    if (!number_of(r, "SELECT count(*) FROM point", &count))
        return false;
    if (count == 0 || count > PLAN_POINTS_MAX)
        return error_set(r->error, "%s: %lld points; a profile has 1 to %d", r->path,
                         (long long)count, PLAN_POINTS_MAX);
    out->points = ARENA_ARRAY(arena, struct measured_point, count);
    sqlite3_stmt *statement =
        query(r, "SELECT shape, median_s, spread_ratio, samples, outliers, settled, clock_hz, "
                 "power_w, slowing FROM point");
    if (statement == NULL)
        return false;
    int step = SQLITE_DONE;
    while (problem == NULL && out->count < (unsigned)count &&
           (step = sqlite3_step(statement)) == SQLITE_ROW)
        problem = take_point(statement, &out->points[out->count++], &why);
    sqlite3_finalize(statement);
    if (problem != NULL)
        return error_set(r->error, "%s: point %u: %s", r->path, out->count, problem);
    if (out->count < (unsigned)count)
        return refused(r,
                       step == SQLITE_INTERRUPT ? "reading takes too long" : "the file is damaged");
    qsort(out->points, out->count, sizeof *out->points, by_shape);
    return check_doubles(r, out);
}

bool profile_read(struct arena *arena, const char *path, struct measured_profile *out,
                  struct error *error)
{
    struct profile_reader r = {.path = path, .error = error};
    *out = (struct measured_profile){.path = arena_text(arena, path)};
    bool good = open_database(&r) && check_schema(&r) && is_sound(&r) &&
                read_head(&r, &out->head) && read_points(&r, arena, out);
    sqlite3_close(r.database);
    return good;
}
