/* profile_write.c - a profile being made: one transaction a point, so that an interruption loses
 * none that was kept. */
#include "models/profile/profile.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "models/profile/profile_schema.h"

struct profile_writer {
    const char *path;
    sqlite3 *database;
    sqlite3_stmt *insert;
};

static const char docs[] =
    "INSERT INTO doc VALUES"
    "('profile','device','','card as its driver names it'),"
    "('profile','gpu','','name in the catalogue of orrery; empty: not said'),"
    "('profile','driver','','version'),"
    "('profile','runtime','','version'),"
    "('profile','libraries','','names and versions'),"
    "('profile','date','','when the measurement began, UTC'),"
    "('profile','method','','how it was measured'),"
    "('profile','memory_bytes','B','of the card'),"
    "('profile','power_cap_w','W','of the card; 0: not known'),"
    "('profile','clock_max_hz','Hz','of the card; 0: not known'),"
    "('profile','cards','','in the machine'),"
    "('profile','complete','','1: every point of the plan was tried'),"
    "('point','shape','','what was measured: kind, name, number format, flags, sizes'),"
    "('point','median_s','s','median time of one launch'),"
    "('point','spread_ratio','1','half the 95 % interval of the median, over the median'),"
    "('point','samples','','that the median is of'),"
    "('point','outliers','','samples that were left out'),"
    "('point','settled','','1: the spread met its aim'),"
    "('point','clock_hz','Hz','mean while it ran; 0: not known'),"
    "('point','power_w','W','mean while it ran; 0: not known'),"
    "('point','slowing','','bits: 1 power cap, 2 too hot, 4 slowed by the hardware')";

static bool failed(const struct profile_writer *w, struct error *error)
{
    return error_set(error, "%s: %s", w->path, sqlite3_errmsg(w->database));
}

static bool execute(const struct profile_writer *w, const char *sql, struct error *error)
{
    return sqlite3_exec(w->database, sql, NULL, NULL, NULL) == SQLITE_OK || failed(w, error);
}

static bool insert_head(const struct profile_writer *w, const struct profile_head *head,
                        struct error *error)
{
    const struct device_facts *f = &head->facts;
    const char *texts[] = {f->device,    head->gpu,  f->driver,   f->runtime,
                           f->libraries, head->date, head->method};
    const double numbers[] = {f->memory_bytes, f->power_cap_w, f->clock_max_hz, f->cards};
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(w->database, "INSERT INTO profile VALUES(?,?,?,?,?,?,?,?,?,?,?,0)", -1,
                           &statement, NULL) != SQLITE_OK)
        return failed(w, error);
    for (int i = 0; i < 7; i++)
        sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
    for (int i = 0; i < 4; i++)
        sqlite3_bind_double(statement, i + 8, numbers[i]);
    bool done = sqlite3_step(statement) == SQLITE_DONE || failed(w, error);
    sqlite3_finalize(statement);
    return done;
}

static bool make(const struct profile_writer *w, const struct profile_head *head,
                 struct error *error)
{
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             PROFILE_APPLICATION_ID, PROFILE_VERSION);
    return execute(w, "BEGIN", error) && execute(w, pragmas, error) &&
           execute(w, PROFILE_TABLE, error) && execute(w, POINT_TABLE, error) &&
           execute(w, DOC_TABLE, error) && execute(w, docs, error) && insert_head(w, head, error) &&
           execute(w, "COMMIT", error);
}

/* Which fact of the machine differs; NULL: none. */
static const char *differs(const struct device_facts *a, const struct device_facts *b)
{
    if (strcmp(a->device, b->device) != 0)
        return "card";
    if (strcmp(a->driver, b->driver) != 0)
        return "driver";
    if (strcmp(a->runtime, b->runtime) != 0)
        return "runtime";
    if (strcmp(a->libraries, b->libraries) != 0)
        return "libraries";
    return a->power_cap_w != b->power_cap_w ? "power cap" : NULL;
}

static bool open_database(struct profile_writer *w, struct error *error)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(w->path, &w->database, flags, NULL) != SQLITE_OK) {
        const int why = sqlite3_system_errno(w->database);
        return why == 0 ? failed(w, error)
                        : error_set(error, "%s: cannot be opened: %s", w->path, strerror(why));
    }
    sqlite3_busy_timeout(w->database, 1000);
    return true;
}

static bool prepare(struct profile_writer *w, struct error *error)
{
    return sqlite3_prepare_v2(w->database, "INSERT OR REPLACE INTO point VALUES(?,?,?,?,?,?,?,?,?)",
                              -1, &w->insert, NULL) == SQLITE_OK ||
           failed(w, error);
}

/* Is a file that is there of this machine, and of the card that is asked for? */
static bool can_go_on(const struct profile_writer *w, const struct profile_head *there,
                      const struct profile_head *head, struct error *error)
{
    const char *what = differs(&there->facts, &head->facts);
    if (what != NULL)
        return error_set(error, "%s was measured with another %s (%s): give another file", w->path,
                         what, there->facts.device);
    return *there->gpu == '\0' || *head->gpu == '\0' || strcmp(there->gpu, head->gpu) == 0 ||
           error_set(error, "%s is of %s, not of %s: give another file", w->path, there->gpu,
                     head->gpu);
}

/* Who goes on may say which card of the catalogue it is, where the file does not. */
static bool name_gpu(const struct profile_writer *w, struct profile_head *there,
                     const struct profile_head *head, struct error *error)
{
    sqlite3_stmt *statement;
    if (*there->gpu != '\0' || *head->gpu == '\0')
        return true;
    if (sqlite3_prepare_v2(w->database, "UPDATE profile SET gpu = ?", -1, &statement, NULL) !=
        SQLITE_OK)
        return failed(w, error);
    sqlite3_bind_text(statement, 1, head->gpu, -1, SQLITE_STATIC);
    const bool done = sqlite3_step(statement) == SQLITE_DONE || failed(w, error);
    sqlite3_finalize(statement);
    memcpy(there->gpu, head->gpu, sizeof there->gpu);
    return done;
}

struct profile_writer *profile_write(struct arena *arena, const char *path,
                                     const struct profile_head *head,
                                     struct measured_profile *resumed, struct error *error)
{
    struct stat status;
    struct profile_writer *w = ARENA_NEW(arena, struct profile_writer);
    bool there = stat(path, &status) == 0 && status.st_size > 0;
    *resumed = (struct measured_profile){.path = path};
    *w = (struct profile_writer){.path = arena_text(arena, path)};
    if (there &&
        (!profile_read(arena, path, resumed, error) || !can_go_on(w, &resumed->head, head, error)))
        return NULL;
    if (open_database(w, error) &&
        (there ? name_gpu(w, &resumed->head, head, error) : make(w, head, error)) &&
        prepare(w, error))
        return w;
    sqlite3_close(w->database);
    return NULL;
}

bool profile_keep(struct profile_writer *w, const struct measured_point *point, struct error *error)
{
    char line[POINT_LINE_BYTES];
    const struct measurement *m = &point->measurement;
    sqlite3_stmt *s = w->insert;
    point_print(&point->point, line);
    sqlite3_reset(s);
    sqlite3_bind_text(s, 1, line, -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 2, m->median_s);
    sqlite3_bind_double(s, 3, m->spread_ratio);
    sqlite3_bind_int64(s, 4, m->samples);
    sqlite3_bind_int64(s, 5, m->outliers);
    sqlite3_bind_int64(s, 6, m->settled);
    sqlite3_bind_double(s, 7, m->clock_hz);
    sqlite3_bind_double(s, 8, m->power_w);
    sqlite3_bind_int64(s, 9, m->slowing);
    bool done = sqlite3_step(s) == SQLITE_DONE || failed(w, error);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s); /* `line` ends here */
    return done;
}

bool profile_close(struct profile_writer *w, bool complete, struct error *error)
{
    if (w == NULL)
        return true;
    bool done = execute(
        w, complete ? "UPDATE profile SET complete = 1" : "UPDATE profile SET complete = 0", error);
    sqlite3_finalize(w->insert);
    if (sqlite3_close(w->database) != SQLITE_OK && done)
        done = error_set(error, "%s: it could not be closed", w->path);
    return done;
}
