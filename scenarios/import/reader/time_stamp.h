/* time_stamp.h - moments of a calendar, as logs write them. */
#ifndef ORRERY_SCENARIOS_IMPORT_READER_TIME_STAMP_H
#define ORRERY_SCENARIOS_IMPORT_READER_TIME_STAMP_H

#include <stdbool.h>

/* "2026-11-03", "2026-11-03T04:05:06.5+01:00", a blank for the T: seconds since 1970 in UTC; a time
 * without a zone is taken as UTC. The whole text, or false. */
bool time_stamp_read(const char *text, double *seconds);
/* "Nov", "03", "04:05:06" of a system log, which knows no year: that moment of this year; NAN: the
 * year has no such day. False: no such moment of any year. */
bool time_stamp_syslog(const char *month, const char *day, const char *clock, int year,
                       double *seconds);
/* The same with its year, as dmesg -T writes it. */
bool time_stamp_syslog_of(const char *month, const char *day, const char *clock, const char *year,
                          double *seconds);
/* The year of a moment, in UTC. */
int time_stamp_year(double seconds);

#endif
