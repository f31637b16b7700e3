/* taken_default.h - a default that stands in for what a scenario did not say, as it is printed. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_TAKEN_DEFAULT_H
#define ORRERY_SCENARIOS_LANGUAGE_TAKEN_DEFAULT_H

struct taken_default {
    const char *key, *value, *doc;
};

#endif
