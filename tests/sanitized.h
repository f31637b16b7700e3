/* sanitized.h - defines SANITIZED where a sanitizer takes more memory than a test may allow, or so
 * many times the time that SANITIZED_EVERY of many alike cases is enough: a release build tries all
 * of them. */
#ifndef ORRERY_TESTS_SANITIZED_H
#define ORRERY_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
#define SANITIZED_EVERY(count) (count)
#else
#define SANITIZED_EVERY(count) 1
#endif

#endif
