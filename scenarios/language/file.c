#include "scenarios/language/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `limit` becomes the file's size where that is known and less. */
static bool readable_kind(const char *path, bool regular, size_t *limit, struct error *error)
{
    struct stat facts;
    if (stat(path, &facts) != 0)
        return error_set(error, "%s: %s", path, strerror(errno));
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
        return error_set(error, "%s: %s", path, strerror(errno));
    out->text = arena_alloc(arena, limit + 2, 1);
    out->bytes = fread(out->text, 1, limit + 1, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    out->text[out->bytes] = '\0';
    return !failed || error_set(error, "%s: cannot be read", path);
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
