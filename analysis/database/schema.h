/* schema.h - the tables and views of a results database, as SQL: schema.sql, and what the lists of
 * analysis/result/rows.h make. */
#ifndef ORRERY_ANALYSIS_DATABASE_SCHEMA_H
#define ORRERY_ANALYSIS_DATABASE_SCHEMA_H

/* The caller frees it. */
char *schema_text(void);

#endif
