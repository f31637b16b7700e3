/* test.h - cmocka, with the headers that it wants before it. */
#ifndef ORRERY_TESTS_TEST_H
#define ORRERY_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
