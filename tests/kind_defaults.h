/* kind_defaults.h - the options of a kind as they are when nobody gives any, for tests that try
 * every kind of a family without a scenario. */
#ifndef ORRERY_TESTS_KIND_DEFAULTS_H
#define ORRERY_TESTS_KIND_DEFAULTS_H

#include "sim/kind.h"

/* An option without a default, or one whose default carries a unit, breaks a CHECK. */
struct kind_options kind_defaults(const struct kind *kind);

#endif
