#include "scenarios/import/chakra/chakra_files.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "scenarios/language/file.h"
#include "scenarios/language/source.h"
#include "sim/plural.h"

/* The number of "stem.N.et", as it is written without zeros in front; -1: the name is another. */
static long rank_of_name(const char *name, const char *stem)
{
    const size_t length = strlen(stem);
    long rank = 0;
    if (strncmp(name, stem, length) != 0 || name[length] != '.')
        return -1;
    const char *at = name + length + 1;
    if (*at < '0' || *at > '9' || (at[0] == '0' && at[1] != '.'))
        return -1;
    for (; *at >= '0' && *at <= '9'; at++) {
        rank = rank * 10 + (*at - '0');
        if (rank >= CHAKRA_RANKS_MAX)
            return CHAKRA_RANKS_MAX;
    }
    return strcmp(at, ".et") == 0 ? rank : -1;
}

/* How many such files the folder has, and whether each below that number is there. */
static bool count_ranks(struct arena *arena, const char *prefix, uint32_t *count,
                        struct error *error)
{
    const char *slash = strrchr(prefix, '/');
    const char *stem = slash != NULL ? slash + 1 : prefix;
    const char *folder =
        slash == NULL ? "." : arena_format(arena, "%.*s", (int)(slash - prefix + 1), prefix);
    const char *shown = source_clean(arena, prefix);
    bool *there = ARENA_ARRAY(arena, bool, CHAKRA_RANKS_MAX);
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return error_set(error, "%s: %s", source_clean(arena, folder), strerror(errno));
    bool good = true;
    for (const struct dirent *entry; good && (entry = readdir(entries)) != NULL;) {
        const long rank = rank_of_name(entry->d_name, stem);
        good = rank < CHAKRA_RANKS_MAX ||
               error_set(error, "%s: more than %d ranks", shown, CHAKRA_RANKS_MAX);
        if (good && rank >= 0) {
            there[rank] = true;
            ++*count;
        }
    }
    closedir(entries);
    if (good && *count == 0)
        return error_set(error,
                         "%s.0.et: there is no such file; give what stands before the rank: traces "
                         "are called PREFIX.0.et, PREFIX.1.et and so on",
                         shown);
    for (uint32_t rank = 0; good && rank < *count; rank++)
        if (!there[rank])
            return error_set(error,
                             "%s.%u.et is missing: there %s %u such file%s, so 0 to %u are "
                             "expected",
                             shown, rank, *count == 1 ? "is" : "are", *count, plural_s(*count),
                             *count - 1);
    return good;
}

static bool read_one(struct arena *arena, const char *prefix, uint32_t rank, bool drop_missing,
                     struct chakra_trace *out, struct error *error)
{
    struct arena *scratch = arena_create();
    const char *path = arena_format(arena, "%s.%u.et", prefix, rank);
    const char *shown = source_clean(arena, path);
    struct file_text whole;
    bool good = file_read(scratch, path, CHAKRA_BYTES_MAX, true, &whole, error);
    if (good && whole.bytes > CHAKRA_BYTES_MAX)
        good = error_set(error, "%s: more than %d bytes; cut the trace to one step", shown,
                         CHAKRA_BYTES_MAX);
    if (good)
        good = chakra_read(arena, (struct import_file){shown, whole.text, whole.bytes},
                           drop_missing, out, error);
    arena_destroy(scratch);
    return good;
}

bool chakra_files_read(struct arena *arena, const char *prefix, bool drop_missing,
                       struct chakra_job *out, struct error *error)
{
    uint32_t count = 0;
    if (!count_ranks(arena, prefix, &count, error))
        return false;
    struct chakra_trace *traces = ARENA_ARRAY(arena, struct chakra_trace, count);
    *out = (struct chakra_job){traces, count};
    for (uint32_t rank = 0; rank < count; rank++)
        if (!read_one(arena, prefix, rank, drop_missing, &traces[rank], error))
            return false;
    return true;
}
