/* units.h - the unit factors. SI inside: seconds, bytes, bytes/s, FLOP, FLOP/s, watts.
 *
 * The only place where 1e9, 1024 and 8 stand as factors. Text is turned into SI by scenarios/ and
 * back by reports; nothing between them converts. */
#ifndef ORRERY_SIM_UNITS_H
#define ORRERY_SIM_UNITS_H

#define KILO 1e3
#define MEGA 1e6
#define GIGA 1e9
#define TERA 1e12
#define PETA 1e15
#define KIB 1024.0
#define MIB (1024.0 * 1024.0)
#define GIB (1024.0 * 1024.0 * 1024.0)
#define BITS_PER_BYTE 8.0
#define MILLISECOND 1e-3
#define MICROSECOND 1e-6
#define NANOSECOND 1e-9
#define MINUTE 60.0
#define HOUR 3600.0
#define DAY 86400.0
#define YEAR (365.25 * 86400.0)

#endif
