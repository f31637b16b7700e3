/* schema.h - the tables and views of a results database, as SQL: schema.sql, and what the lists of
 * analysis/record/numbers/rows.h make. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_SCHEMA_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_SCHEMA_H

/* The caller frees it. */
char *schema_text(void);

#endif
