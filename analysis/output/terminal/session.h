/* session.h - the process as a command sees it: streams, terminal, signals.
 *
 * session_begin makes closed standard descriptors safe, ignores SIGPIPE and SIGXFSZ (writes fail
 * with an error instead), and starts the thread that waits for Ctrl-C: it removes the files under
 * guard, says so and ends the process with 130. session_end flushes stdout and turns a failed write
 * into exit code 1, and says why; a reader that has left (`orrery list | head`) read all that it
 * wanted, and changes nothing. Knows nothing of simulations. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TERMINAL_SESSION_H
#define ORRERY_ANALYSIS_OUTPUT_TERMINAL_SESSION_H

#include <stdbool.h>
#include <stdio.h>

struct identity_list;
struct ranks_engine;
struct streams;
struct session {
    FILE *out, *notes; /* a note is preceded by what waits in `out` */
    bool colour;       /* stdout is a terminal that wants it */
    bool notes_colour; /* the same for stderr */
    bool utf8;
    int width; /* of text on stdout, in columns; 0: the usual */
    bool held; /* between session_hold and session_guard */
    struct interrupt *interrupt;
    struct streams *streams;
    struct identity_list *inputs;     /* what is read: no output takes its place */
    const struct ranks_engine *ranks; /* NULL: this program knows no MPI */
};
void session_begin(struct session *session);
/* `code`, or EXIT 1 when stdout could not be written though somebody reads it. */
int session_end(struct session *session, int code);
/* While a path is guarded, an interrupt removes it. NULL: nothing. Between
 * session_hold and the session_guard that follows it, interrupts wait: a file is made there. */
void session_hold(struct session *session);
void session_guard(struct session *session, const char *path);
/* The same for a file that stays, unfinished and saying so: an interrupt only names it. */
void session_keep(struct session *session, const char *path);
/* From now on the first interrupt only leaves word, for a command that can stop in good order; the
 * second one ends the process as before. */
void session_soften(struct session *session);
/* Who takes longer than two seconds is told to be at work, by this name (borrowed), until NULL;
 * never where the environment says ORRERY_PROGRESS=off, nor by a process that is hushed. */
void session_name(struct session *session, const char *name);
/* Says nothing more about interrupts: one process of many speaks for all. */
void session_hush(struct session *session);
bool session_interrupted(const struct session *session);
/* "\033[1m" and the like, or "" without colour. */
const char *session_bold(const struct session *session);
const char *session_red(const struct session *session);
const char *session_dim(const struct session *session);
const char *session_plain(const struct session *session);

#endif
