/* profile.h - a profile: what was measured on one machine, in one SQLite file.
 *
 * Two tables, STRICT, whose text is the same in every file of this version: `profile`, one row of
 * what was measured on, by what and when; `point`, a row for each point: its line (point.h), the
 * median of a launch in seconds, its spread, how many samples, clock, power and what slowed the
 * card. `doc` explains them. application_id is PROFILE_APPLICATION_ID, user_version is
 * PROFILE_VERSION. A file is hostile until it is read: size, schema, words, numbers, doubles are
 * checked, and refused with a sentence. */
#ifndef ORRERY_MODELS_PROFILE_PROFILE_H
#define ORRERY_MODELS_PROFILE_PROFILE_H

#include "models/profile/campaign.h"

enum {
    PROFILE_APPLICATION_ID = 0x4F524350, /* "ORCP" */
    PROFILE_VERSION = 1,
    PROFILE_BYTES_MAX = 64 << 20,
    PROFILE_TEXT_BYTES = 256
};
/* What a profile says of itself. */
struct profile_head {
    struct device_facts facts;
    char gpu[DEVICE_TEXT_BYTES]; /* name in the catalogue; "": not said */
    char date[DEVICE_TEXT_BYTES];
    char method[PROFILE_TEXT_BYTES]; /* how it was measured, in words */
    bool complete;                   /* every point of its plan is there */
};
struct measured_profile {
    const char *path;
    struct profile_head head;
    struct measured_point *points; /* in the order of their lines */
    unsigned count;
};
struct profile_writer;
/* A new file, or one that is there and is gone on with: `resumed` then has its points. Refuses a
 * file that was measured on another machine or under another name of the catalogue, or is none; one
 * without such a name gets `head`'s. Lives in `arena`. NULL with a sentence. */
struct profile_writer *profile_write(struct arena *arena, const char *path,
                                     const struct profile_head *head,
                                     struct measured_profile *resumed, struct error *error);
/* Keeps a point at once, in the place of a former measurement of it. */
bool profile_keep(struct profile_writer *writer, const struct measured_point *point,
                  struct error *error);
/* Closes the file. NULL is allowed. False: what was last kept may not be there. */
bool profile_close(struct profile_writer *writer, bool complete, struct error *error);
/* Reads a file whole. False with a sentence that names it and what is wrong. */
bool profile_read(struct arena *arena, const char *path, struct measured_profile *out,
                  struct error *error);

/* One remark of profile_check. */
struct profile_remark {
    const struct measured_point *point;
    char text[160];
};
enum {
    PROFILE_REMARKS_MAX = 200
};
/* Is it fit for use? No hole
 (a factor of 16 between neighbours on an axis), monotone where physics says so (a point that does
 the same and more, with
 * every size at least as large, takes no less than 1 - both spreads), spread under 3 %, neither hot
 * nor slowed by the hardware. Returns how many remarks there are; writes up to
 * PROFILE_REMARKS_MAX. */
unsigned profile_check(struct arena *arena, const struct measured_profile *profile,
                       struct profile_remark *out);

#endif
