/* study_store.h - a study as rows of the results database, and back, so that it can go on.
 *
 * Points are written as they are done and committed, so that an interrupted study keeps them in
 * NAME.partial. The file is hostile when read back: only points and seeds of this very study (by
 * its fingerprint) are taken. */
#ifndef ORRERY_ANALYSIS_STUDY_STUDY_STORE_H
#define ORRERY_ANALYSIS_STUDY_STUDY_STORE_H

#include "analysis/record/database/store.h"
#include "analysis/study/study.h"

/* meta and the study itself. */
void study_store_begin(struct store *store, const struct study *study);
/* A point that was played, with all its rows and committed, or its refusal; nothing when the store
 * holds it already. */
void study_store_point(struct store *store, struct study *study, size_t point);
/* Fills the points that the database holds: they are then done and stored. False with a sentence
 * when the file cannot be read or belongs to another study. */
bool study_store_resume(struct study *study, const char *path, struct error *error);
/* Does the database, finished or not, hold this very study and shard, as far as it came? */
bool study_store_holds(const struct study *study, const char *path);
/* The study that a database holds, to be reported: what was asked for and every point that was
 * played; the others have a refusal that says so. All of it lives in the arena. False with a
 * sentence when the file holds none. */
struct query;
bool study_store_recall(struct query *query, struct arena *arena, struct study *out,
                        struct error *error);

#endif
