#include "scenarios/import/reader/time_stamp.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/units.h"

static int digits(const char **at, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++, ++*at) {
        if (!isdigit((unsigned char)**at))
            return -1;
        value = 10 * value + (**at - '0');
    }
    return value;
}

static bool skip(const char **at, char wanted)
{
    if (**at != wanted)
        return false;
    ++*at;
    return true;
}

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970 of the Gregorian calendar. */
static double days_since(int year, int month, int day)
{
    const int before = year - 1;
    double days = 365.0 * before + before / 4 - before / 100 + before / 400 - 719162.0;
    for (int m = 1; m < month; m++)
        days += month_days(year, m);
    return days + day - 1;
}

/* "04:05:06.5"; hours and minutes at least. */
static bool read_clock(const char **at, double *seconds)
{
    const int hour = digits(at, 2);
    if (hour < 0 || hour > 23 || !skip(at, ':'))
        return false;
    const int minute = digits(at, 2);
    if (minute < 0 || minute > 59)
        return false;
    *seconds = hour * HOUR + minute * MINUTE;
    if (!skip(at, ':'))
        return true;
    const int whole = digits(at, 2);
    if (whole < 0 || whole > 60)
        return false;
    *seconds += whole;
    if (**at != '.' && **at != ',')
        return true;
    double unit = 0.1;
    for (++*at; isdigit((unsigned char)**at); ++*at, unit /= 10.0)
        *seconds += unit * (**at - '0');
    return true;
}

/* "", "Z", "+01:00", "-0530": what to take off. */
static bool read_zone(const char **at, double *seconds)
{
    *seconds = 0.0;
    if (**at == '\0' || skip(at, 'Z'))
        return true;
    if (**at != '+' && **at != '-')
        return false;
    const double sign = *(*at)++ == '-' ? -1.0 : 1.0;
    const int hours = digits(at, 2);
    skip(at, ':');
    const int minutes = **at == '\0' ? 0 : digits(at, 2);
    *seconds = sign * (hours * HOUR + minutes * MINUTE);
    return hours >= 0 && hours <= 14 && minutes >= 0 && minutes <= 59;
}

bool time_stamp_read(const char *text, double *seconds)
{
    const char *at = text;
    double clock_s = 0.0, zone_s = 0.0;
    const int year = digits(&at, 4);
    if (year < 1 || !skip(&at, '-'))
        return false;
    const int month = digits(&at, 2);
    if (month < 1 || month > 12 || !skip(&at, '-'))
        return false;
    const int day = digits(&at, 2);
    if (day < 1 || day > month_days(year, month))
        return false;
    if ((skip(&at, 'T') || skip(&at, ' ')) &&
        (!read_clock(&at, &clock_s) || !read_zone(&at, &zone_s)))
        return false;
    *seconds = days_since(year, month, day) * DAY + clock_s - zone_s;
    return *at == '\0';
}

bool time_stamp_syslog(const char *month, const char *day, const char *clock, int year,
                       double *seconds)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const int leap_year = 2000;
    const char *name = strlen(month) == 3 ? strstr(names, month) : NULL;
    char *end;
    double clock_s;
    const long number = strtol(day, &end, 10);
    if (name == NULL || (name - names) % 3 != 0 || *end != '\0' || end == day || number < 1 ||
        !isdigit((unsigned char)*day) || !read_clock(&clock, &clock_s) || *clock != '\0')
        return false;
    const int in_year = (int)((name - names) / 3) + 1;
    *seconds = number <= month_days(year, in_year)
                   ? days_since(year, in_year, (int)number) * DAY + clock_s
                   : NAN;
    return number <= month_days(leap_year, in_year);
}

bool time_stamp_syslog_of(const char *month, const char *day, const char *clock, const char *year,
                          double *seconds)
{
    const char *at = year;
    if (strlen(year) != 4 || strspn(year, "0123456789") != 4)
        return false;
    const int number = digits(&at, 4);
    return number >= 1970 && time_stamp_syslog(month, day, clock, number, seconds) &&
           isfinite(*seconds);
}

int time_stamp_year(double seconds)
{
    int year = 1970 + (int)floor(seconds / YEAR);
    while (days_since(year, 1, 1) * DAY > seconds)
        year--;
    while (days_since(year + 1, 1, 1) * DAY <= seconds)
        year++;
    return year;
}
