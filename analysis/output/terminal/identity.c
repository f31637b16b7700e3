#include "analysis/output/terminal/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/memory.h"

enum {
    FOLDER_BYTES = 4096
};

static struct identity identity_of(const struct stat *facts, bool exists, const char *name)
{
    return (struct identity){true, exists, facts->st_dev, facts->st_ino, name};
}

struct identity identity_of_path(const char *path)
{
    struct stat facts;
    const struct identity unknown = {.known = false};
    if (stat(path, &facts) == 0)
        return S_ISREG(facts.st_mode) ? identity_of(&facts, true, "") : unknown;
    char folder[FOLDER_BYTES];
    const char *slash = strrchr(path, '/');
    int length = slash != NULL ? (int)(slash - path) + 1 : 1;
    int used = snprintf(folder, sizeof folder, "%.*s", length, slash != NULL ? path : ".");
    if (used >= (int)sizeof folder || stat(folder, &facts) != 0)
        return unknown;
    return identity_of(&facts, false, slash != NULL ? slash + 1 : path);
}

struct identity identity_of_stream(int descriptor)
{
    struct stat facts;
    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
        return (struct identity){.known = false};
    return identity_of(&facts, true, "");
}

bool identity_same(const struct identity *a, const struct identity *b)
{
    return a->known && b->known && a->exists == b->exists && a->device == b->device &&
           a->inode == b->inode && strcmp(a->name, b->name) == 0;
}

struct input_file {
    struct input_file *next;
    struct identity identity;
    char shown[];
};
struct identity_list {
    struct input_file *first;
};

struct identity_list *identity_list_create(void)
{
    return memory_take(sizeof(struct identity_list));
}

void identity_list_destroy(struct identity_list *list)
{
    while (list->first != NULL) {
        struct input_file *entry = list->first;
        list->first = entry->next;
        free(entry);
    }
    free(list);
}

void identity_list_add(struct identity_list *list, const struct identity *identity,
                       const char *shown)
{
    if (!identity->known || !identity->exists || identity_list_find(list, identity) != NULL)
        return;
    const size_t bytes = strlen(shown) + 1;
    struct input_file *entry = memory_take(sizeof *entry + bytes);
    entry->identity = *identity;
    entry->identity.name = "";
    memcpy(entry->shown, shown, bytes);
    entry->next = list->first;
    list->first = entry;
}

const char *identity_list_find(const struct identity_list *list, const struct identity *identity)
{
    for (const struct input_file *e = list->first; e != NULL; e = e->next)
        if (identity_same(&e->identity, identity))
            return e->shown;
    return NULL;
}
