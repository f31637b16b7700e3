/* check.h - claims that must hold, on in release builds too.
 *
 * CHECK(claim): a bug of ours when false. Prints the claim, file and line, the simulated time,
 * event number and seed of the simulation that runs on this thread, and the command that replays
 * it; then aborts. DCHECK is the same, compiled out of release builds: for claims in the innermost
 * loops. Nothing a user can write may reach either. */
#ifndef ORRERY_SIM_CHECK_H
#define ORRERY_SIM_CHECK_H

#include <stdint.h>

/* What a failing CHECK prints about the simulation that runs on this thread. */
struct check_context {
    double time_s;
    uint64_t event_count;
    uint64_t seed;
};

/* Makes `context` (NULL: none) the one that this thread's CHECKs print; returns the former one, to
 * be given back when the simulation is left. The one piece of thread-local state of the program. */
const struct check_context *check_enter(const struct check_context *context);
/* The command that this process carries out, for its failing CHECKs: borrowed, set once before
 * there are threads. The one piece of state of the process; nothing that is computed sees it. */
void check_replay(const char *command);
_Noreturn void check_failed(const char *claim, const char *file, int line);

/* Where no way leads: behind a switch over an enum that returns for each value that may come. The
 * claim in words is what does not hold then. */
#define UNREACHABLE(claim) check_failed(claim, __FILE__, __LINE__)
#define CHECK(claim) ((claim) ? (void)0 : check_failed(#claim, __FILE__, __LINE__))
#ifdef NDEBUG
#define DCHECK(claim) ((void)0)
#else
#define DCHECK(claim) CHECK(claim)
#endif

#endif
