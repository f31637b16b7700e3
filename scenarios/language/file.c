#include "scenarios/language/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/language/source.h"
#include "sim/digest.h"

enum {
    ENTRIES_MAX = 1000, /* of a folder, that are looked at for a file that is missing */
    NAMESAKES_NAMED = 2,
    CONTENTS_WORDS = 1024,
    CONTENTS_BYTES_MAX = 1 << 28 /* more than any reader of a named file takes */
};

/* Files of one name in the folders that lie next to where it should be. */
struct namesakes {
    const char *path[NAMESAKES_NAMED]; /* the first in order of path; owned by the arena */
    unsigned count;
};

static void namesakes_add(struct namesakes *n, const char *path)
{
    for (unsigned i = 0; i < NAMESAKES_NAMED; i++)
        if (i >= n->count || strcmp(path, n->path[i]) < 0) {
            const char *later = n->path[i];
            n->path[i] = path;
            path = later;
            if (i >= n->count)
                break;
        }
    n->count++;
}

static struct namesakes find_namesakes(struct arena *arena, const char *path)
{
    struct namesakes found = {{NULL}, 0};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *folder = arena_format(arena, "%.*s", (int)(name - path), path);
    DIR *entries = opendir(slash != NULL ? folder : ".");
    const struct dirent *entry;
    for (unsigned i = 0; entries != NULL && i < ENTRIES_MAX; i++) {
        struct stat facts;
        if ((entry = readdir(entries)) == NULL)
            break;
        const char *there = arena_format(arena, "%s%s/%s", folder, entry->d_name, name);
        if (entry->d_name[0] != '.' && stat(there, &facts) == 0 && S_ISREG(facts.st_mode))
            namesakes_add(&found, there);
    }
    if (entries != NULL)
        closedir(entries);
    return found;
}

/* "; A has that name", "; A and B have that name", "; A, B and 2 more have that name", or "". */
static const char *namesakes_words(struct arena *arena, const struct namesakes *n)
{
    if (n->count == 0)
        return "";
    const char *first = source_clean(arena, n->path[0]);
    if (n->count == 1)
        return arena_format(arena, "; %s has that name", first);
    const char *second = source_clean(arena, n->path[1]);
    if (n->count == NAMESAKES_NAMED)
        return arena_format(arena, "; %s and %s have that name", first, second);
    return arena_format(arena, "; %s, %s and %u more have that name", first, second,
                        n->count - NAMESAKES_NAMED);
}

bool file_unreadable(struct error *error, const char *before, const char *path)
{
    const int why = errno;
    struct arena *scratch = arena_create();
    struct namesakes found = {{NULL}, 0};
    if (why == ENOENT)
        found = find_namesakes(scratch, path);
    error_set(error, "%s%s: %s%s", before, source_clean(scratch, path), strerror(why),
              namesakes_words(scratch, &found));
    arena_destroy(scratch);
    return false;
}

/* `limit` becomes the file's size where that is known and less. */
static bool readable_kind(const char *path, bool regular, size_t *limit, struct error *error)
{
    struct stat facts;
    if (stat(path, &facts) != 0)
        return file_unreadable(error, "", path);
    if (S_ISDIR(facts.st_mode))
        return error_set(error, "%s: is a folder, not a file", path);
    if (regular && !S_ISREG(facts.st_mode))
        return error_set(error, "%s: is not an ordinary file", path);
    if (S_ISREG(facts.st_mode) && facts.st_size > 0 && (size_t)facts.st_size < *limit)
        *limit = (size_t)facts.st_size;
    return true;
}

bool file_read(struct arena *arena, const char *path, size_t limit, bool regular,
               struct file_text *out, struct error *error)
{
    bool stream = !regular && strcmp(path, "-") == 0;
    if (!stream && !readable_kind(path, regular, &limit, error))
        return false;
    FILE *file = stream ? fdopen(dup(STDIN_FILENO), "rb") : fopen(path, "rb");
    if (file == NULL)
        return file_unreadable(error, "", path);
    out->text = arena_alloc(arena, limit + 2, 1);
    out->bytes = fread(out->text, 1, limit + 1, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    out->text[out->bytes] = '\0';
    return !failed || error_set(error, "%s: cannot be read", path);
}

uint64_t file_contents(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > CONTENTS_BYTES_MAX)
        return 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    uint64_t words[CONTENTS_WORDS], hash = digest_begin(), bytes = 0;
    for (size_t got; (got = fread(words, 1, sizeof words, file)) > 0; bytes += got) {
        memset((char *)words + got, 0, sizeof words - got);
        for (size_t i = 0; i * sizeof *words < got; i++)
            hash = digest_add(hash, words[i]);
    }
    const bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? 0 : digest_add(hash, bytes);
}

bool file_opens(const char *path)
{
    struct stat facts;
    return strcmp(path, "-") == 0 ||
           (stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode) && access(path, R_OK) == 0);
}

const char *file_beside(struct arena *arena, const char *beside, const char *path)
{
    const char *slash = strrchr(beside, '/');
    if (path[0] == '/' || slash == NULL)
        return path;
    return arena_format(arena, "%.*s/%s", (int)(slash - beside), beside, path);
}

const char *file_stem(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *stem = arena_text(arena, slash ? slash + 1 : path);
    char *dot = strrchr(stem, '.');
    if (dot && dot != stem)
        *dot = '\0';
    return stem;
}
