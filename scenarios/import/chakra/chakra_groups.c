#include "scenarios/import/chakra/chakra_groups.h"

#include <string.h>

#include "scenarios/import/reader/json_walk.h"
#include "sim/list.h"
#include "sim/random.h"

/* A whole number from 0 on; false: it is none that a rank can be. */
static bool read_rank(struct json_piece piece, uint32_t *out)
{
    uint64_t rank = 0;
    for (size_t i = 0; i < piece.bytes; i++) {
        if (piece.text[i] < '0' || piece.text[i] > '9')
            return false;
        rank = rank * 10 + (uint64_t)(piece.text[i] - '0');
        if (rank > INT32_MAX)
            return false;
    }
    *out = (uint32_t)rank;
    return piece.bytes > 0;
}

static bool read_ranks(struct json_piece array, struct chakra_group *out)
{
    struct json_walk walk;
    struct json_piece name, value;
    enum json_step step;
    uint32_t rank;
    if (!json_walk_enter(&walk, array))
        return false;
    while ((step = json_walk_next(&walk, &name, &value)) == JSON_WALK_PIECE) {
        if (!read_rank(value, &rank))
            return false;
        out->rank_count++;
        out->highest = rank > out->highest ? rank : out->highest;
        out->ranks_hash += random_hash(0, rank);
    }
    return step == JSON_WALK_END;
}

static bool is_named(struct json_piece name, const char *key) /* `key` with its quotes */
{
    return name.bytes == strlen(key) && memcmp(name.text, key, name.bytes) == 0;
}

static bool read_group(struct arena *arena, struct json_piece object, struct chakra_group *out)
{
    struct json_walk walk;
    struct json_piece name, value;
    *out = (struct chakra_group){0};
    if (!json_walk_enter(&walk, object) || walk.close != '}')
        return false;
    while (json_walk_next(&walk, &name, &value) == JSON_WALK_PIECE) {
        const bool is_text = value.text[0] == '"' && value.bytes >= 2 && value.bytes < 1000;
        if (is_named(name, "\"pg_name\"") && is_text)
            out->name = arena_format(arena, "%.*s", (int)value.bytes - 2, value.text + 1);
        else if (is_named(name, "\"ranks\"") && !read_ranks(value, out))
            return false;
    }
    return out->name != NULL && out->rank_count > 0;
}

/* The list stands in the quotes and the brackets of a list of Python: ['[{...}, {...}]']. */
static bool find_list(const char *text, size_t bytes, struct json_piece *out)
{
    size_t first = 0, end = bytes;
    while (first + 1 < bytes && memcmp(text + first, "[{", 2) != 0)
        first++;
    while (end >= first + 2 && memcmp(text + end - 2, "}]", 2) != 0)
        end--;
    *out = (struct json_piece){.text = text + first, .bytes = end - first};
    return end >= first + 4;
}

void chakra_groups_read(struct arena *arena, const char *text, size_t bytes,
                        struct chakra_group_list *out)
{
    struct json_walk walk;
    struct json_piece whole, name, value;
    struct chakra_group group;
    if (!find_list(text, bytes, &whole) || !json_walk_enter(&walk, whole))
        return;
    while (json_walk_next(&walk, &name, &value) == JSON_WALK_PIECE) {
        if (!read_group(arena, value, &group))
            continue;
        LIST_ROOM(arena, out->of, out->count, 1, out->room);
        out->of[out->count++] = group;
    }
}

const struct chakra_group *chakra_groups_find(const struct chakra_group_list *list,
                                              const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->of[i].name, name) == 0)
            return &list->of[i];
    return NULL;
}
