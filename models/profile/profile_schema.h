/* profile_schema.h - the text of a profile's tables, for those who write and who read one. */
#ifndef ORRERY_MODELS_PROFILE_PROFILE_SCHEMA_H
#define ORRERY_MODELS_PROFILE_PROFILE_SCHEMA_H

#define PROFILE_TABLE                                                                              \
    "CREATE TABLE profile(device TEXT NOT NULL, gpu TEXT NOT NULL, driver TEXT NOT NULL, runtime " \
    "TEXT NOT NULL, libraries TEXT NOT NULL, date TEXT NOT NULL, method TEXT NOT NULL, "           \
    "memory_bytes REAL NOT NULL, power_cap_w REAL NOT NULL, clock_max_hz REAL NOT NULL, cards "    \
    "REAL NOT NULL, complete INTEGER NOT NULL) STRICT"
#define POINT_TABLE                                                                                \
    "CREATE TABLE point(shape TEXT PRIMARY KEY, median_s REAL NOT NULL, spread_ratio REAL NOT "    \
    "NULL, samples INTEGER NOT NULL, outliers INTEGER NOT NULL, settled INTEGER NOT NULL, "        \
    "clock_hz REAL NOT NULL, power_w REAL NOT NULL, slowing INTEGER NOT NULL) STRICT"
#define DOC_TABLE                                                                                  \
    "CREATE TABLE doc(object TEXT NOT NULL, column TEXT NOT NULL, unit TEXT NOT NULL, text TEXT "  \
    "NOT NULL) STRICT"

#endif
