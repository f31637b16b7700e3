/* check.h - claims that must hold, on in release builds too.
 *
 * CHECK(claim): a bug of ours when false. Prints the claim, file and line and, when a simulation is
 * running on this thread (see sim_enter in sim.h), its simulated time, event number, seed and the
 * command that replays it; then aborts. DCHECK is the same, compiled out of release builds: for
 * claims in the innermost loops. Nothing a user can write may reach either. */
#ifndef ORRERY_SIM_CHECK_H
#define ORRERY_SIM_CHECK_H

_Noreturn void check_failed(const char *claim, const char *file, int line);

#define CHECK(claim) ((claim) ? (void)0 : check_failed(#claim, __FILE__, __LINE__))
#ifdef NDEBUG
#define DCHECK(claim) ((void)0)
#else
#define DCHECK(claim) CHECK(claim)
#endif

#endif
