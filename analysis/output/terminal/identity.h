/* identity.h - which file a path means, so that links and other spellings of one file are seen: by
 * device and inode; of what does not exist yet, by its folder and its name there. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TERMINAL_IDENTITY_H
#define ORRERY_ANALYSIS_OUTPUT_TERMINAL_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

struct identity {
    bool known; /* a device or a pipe is not: writing to it loses nothing */
    bool exists;
    dev_t device; /* of the file, or of the folder that it would stand in */
    ino_t inode;
    const char *name; /* where it does not exist: in that folder; borrowed from the path */
};
struct identity identity_of_path(const char *path);
struct identity identity_of_stream(int descriptor);
bool identity_same(const struct identity *a, const struct identity *b);

/* The files that a command reads, for whoever opens an output. It grows, and never forgets. */
struct identity_list;
struct identity_list *identity_list_create(void);
void identity_list_destroy(struct identity_list *list);
/* What does not exist cannot be lost: it is not kept. `shown` is copied. */
void identity_list_add(struct identity_list *list, const struct identity *identity,
                       const char *shown);
/* The name of the input that `identity` is; NULL: of none. Valid as long as the list. */
const char *identity_list_find(const struct identity_list *list, const struct identity *identity);

#endif
