/* Invariant: `lock_fd` holds an exclusive flock on the file that stands under `partial`, so two
 * writers never share one. A writer that finishes renames it: whoever waits at that moment finds
 * that he holds another file than the one under the name, and tries again. */
#include "analysis/record/database/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAGIC_BYTES = 72,
    LONGEST_SUFFIX = 24,
    SPACE_TRIES = 100
};
static const int64_t application_id = 1330795097; /* "ORRY", as schema.sql sets it */

/* Whose is a file that stands where a database is to be written? */
enum owner {
    OWNER_NONE, /* there is no file */
    OWNER_EMPTY,
    OWNER_BEGUN, /* a database that its writer has not marked yet: a page at most */
    OWNER_ORRERY,
    OWNER_STRANGER
};

static enum owner owner_of(const char *path, const struct stat *status)
{
    unsigned char head[MAGIC_BYTES] = {0};
    FILE *file = fopen(path, "rb");
    size_t got = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL)
        fclose(file);
    if (file != NULL && status->st_size == 0)
        return OWNER_EMPTY;
    int64_t id = (int64_t)head[68] << 24 | head[69] << 16 | head[70] << 8 | head[71];
    if (got != sizeof head || memcmp(head, "SQLite format 3", 16) != 0)
        return OWNER_STRANGER;
    const int page_bytes = head[16] << 8 | head[17];
    if (id == 0 && page_bytes == STORE_PAGE_BYTES && status->st_size <= STORE_PAGE_BYTES)
        return OWNER_BEGUN;
    return id == application_id ? OWNER_ORRERY : OWNER_STRANGER;
}

static bool find_owner(const char *path, enum owner *out, struct error *error)
{
    struct stat status;
    *out = OWNER_NONE;
    if (stat(path, &status) != 0)
        return errno == ENOENT || error_set(error, "%s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%s is not a regular file; name another with --db", path);
    *out = owner_of(path, &status);
    return true;
}

/* May the file at `path` be replaced? Yes when there is none, or when it is one of ours. */
static bool may_replace(const char *path, bool *replaces, struct error *error)
{
    enum owner owner;
    if (!find_owner(path, &owner, error))
        return false;
    *replaces = owner == OWNER_ORRERY;
    return owner == OWNER_NONE || owner == OWNER_ORRERY ||
           error_set(error,
                     "%s exists and is not a results database of Orrery: not replaced; "
                     "name another with --db",
                     path);
}

/* What stands on the way is what a writer of ours left, however early it was stopped. */
static bool may_use(const char *partial, struct error *error)
{
    enum owner owner;
    return find_owner(partial, &owner, error) &&
           (owner != OWNER_STRANGER ||
            error_set(error,
                      "%s exists and is not a database that Orrery began: not replaced; name "
                      "another with --db",
                      partial));
}

/* The process that holds the flock on a file, as the kernel lists it; 0: not known. */
static long holder_of(int fd)
{
    struct stat status;
    char line[256];
    long holder = 0;
    FILE *locks = fopen("/proc/locks", "r");
    if (locks == NULL || fstat(fd, &status) != 0)
        status.st_ino = 0;
    while (locks != NULL && holder == 0 && fgets(line, sizeof line, locks) != NULL) {
        long process;
        unsigned long long inode;
        if (sscanf(line, "%*d: FLOCK %*s WRITE %ld %*x:%*x:%llu", &process, &inode) == 2 &&
            inode == (unsigned long long)status.st_ino && process > 0)
            holder = process;
    }
    if (locks != NULL)
        fclose(locks);
    return holder;
}

static bool held_by_another(const struct store_file *file, struct error *error)
{
    char who[32] = "";
    long holder = holder_of(file->lock_fd);
    if (holder > 0)
        snprintf(who, sizeof who, ", process %ld", holder);
    return error_set(error,
                     "%s is being written by another orrery%s: wait for it, or stop it (Ctrl-C "
                     "keeps what it has done), or name another database with --db",
                     file->partial, who);
}

static bool under_its_name(const struct store_file *file)
{
    struct stat held, named;
    return fstat(file->lock_fd, &held) == 0 && stat(file->partial, &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static bool lock_partial(struct store_file *file, struct error *error)
{
    for (int i = 0; i < SPACE_TRIES; i++) {
        file->lock_fd = open(file->partial, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file->lock_fd < 0)
            return error_set(error, "cannot write %s: %s", file->partial, strerror(errno));
        if (flock(file->lock_fd, LOCK_EX | LOCK_NB) != 0) {
            held_by_another(file, error);
            store_file_release(file); /* it is not ours to remove */
            return false;
        }
        if (under_its_name(file))
            return true;
        store_file_release(file);
    }
    return error_set(error, "%s comes and goes: others write it; name another with --db",
                     file->partial);
}

bool store_file_claim(struct store_file *file, const char *path, struct error *error)
{
    file->lock_fd = -1;
    if (strlen(path) + LONGEST_SUFFIX > STORE_PATH_MAX)
        return error_set(error, "the path of the database is too long");
    const int longest = STORE_PATH_MAX - LONGEST_SUFFIX;
    snprintf(file->path, sizeof file->path, "%s", path);
    snprintf(file->partial, sizeof file->partial, "%.*s.partial", longest, path);
    snprintf(file->whole, sizeof file->whole, "%.*s.partial-whole", longest, path);
    return may_replace(path, &file->replaces, error) && may_use(file->partial, error) &&
           lock_partial(file, error);
}

double store_file_bytes(const struct store_file *file)
{
    struct stat status;
    return fstat(file->lock_fd, &status) == 0 ? (double)status.st_size : 0.0;
}

static bool remove_beside(const struct store_file *file, struct error *error)
{
    static const char *const beside[] = {"-journal", "-wal", "-shm", "-whole"};
    for (unsigned i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        char name[STORE_PATH_MAX + LONGEST_SUFFIX];
        snprintf(name, sizeof name, "%s%s", file->partial, beside[i]);
        if (unlink(name) != 0 && errno != ENOENT)
            return error_set(error, "cannot remove %s: %s", name, strerror(errno));
    }
    return true;
}

bool store_file_empty(struct store_file *file, struct error *error)
{
    if (!remove_beside(file, error))
        return false;
    return ftruncate(file->lock_fd, 0) == 0 ||
           error_set(error, "cannot empty %s: %s", file->partial, strerror(errno));
}

static bool sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fsync(fd) == 0 || errno == EINVAL;
    close(fd);
    return good;
}

static bool sync_folder(const char *path)
{
    char folder[STORE_PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    return sync_path(folder, O_RDONLY | O_DIRECTORY);
}

bool store_file_publish(struct store_file *file, const char *from, struct error *error)
{
    if (!sync_path(from, O_RDWR) || rename(from, file->path) != 0 || !sync_folder(file->path))
        return error_set(error, "cannot finish %s: %s", file->path, strerror(errno));
    return true;
}

void store_file_remove(struct store_file *file)
{
    struct error ignored = {""};
    unlink(file->partial);
    remove_beside(file, &ignored);
}

void store_file_release(struct store_file *file)
{
    if (file->lock_fd >= 0)
        close(file->lock_fd);
    file->lock_fd = -1;
}
