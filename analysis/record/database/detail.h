/* detail.h - how much of a step a database keeps. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_DETAIL_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_DETAIL_H

enum detail {
    DETAIL_SUMMARY,
    DETAIL_STEP,
    DETAIL_OP,
    DETAIL_KERNEL,
    DETAIL_FLOW
};
extern const char *const detail_names[]; /* NULL-ended */

#endif
