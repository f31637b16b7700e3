/* Invariants:
 * 1. SIGINT, SIGTERM and SIGHUP are blocked in every thread (those not ignored at the start); only
 * the waiting thread takes them, so no handler runs and no global is needed.
 * 2. `path` is read and written under `lock`; a path under guard is a file of ours. */
#include "analysis/terminal/session.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/terminal/streams.h"
#include "analysis/text/wrap.h"
#include "sim/check.h"
#include "sim/memory.h"

enum {
    PATH_BYTES = 4096,
    END_SIGNAL = SIGURG, /* wakes the waiting thread; without effect when a stranger sends it */
    STACK_BYTES = 1 << 18,
    SIGNAL_EXIT_BASE = 128
};

struct interrupt {
    pthread_mutex_t lock;
    pthread_t thread;
    sigset_t signals;
    char path[PATH_BYTES]; /* "": nothing to remove */
    char kept[PATH_BYTES]; /* an unfinished database that stays; "": none */
    atomic_bool soft, asked, ending;
};

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* nobody is left to tell */
}

/* The first interrupt of a command that stops by itself. */
static bool leave_word(struct interrupt *interrupt)
{
    if (!atomic_load(&interrupt->soft) || atomic_exchange(&interrupt->asked, true)) {
        return false;
    }
    say("\nstopping as soon as the present point is done; again to stop at once\n");
    return true;
}

static void *wait_for_signal(void *context)
{
    struct interrupt *interrupt = context;
    int number = 0;
    do {
        if (sigwait(&interrupt->signals, &number) != 0 || atomic_load(&interrupt->ending)) {
            return NULL;
        }
    } while (number == END_SIGNAL || leave_word(interrupt));
    pthread_mutex_lock(&interrupt->lock);
    if (interrupt->path[0] != '\0') {
        unlink(interrupt->path);
    }
    say("\ninterrupted");
    if (interrupt->kept[0] != '\0') {
        say(": ");
        say(interrupt->kept);
        say(" opens, and says that it is incomplete; the same command begins it anew, a study "
            "goes on with --resume");
    }
    say("\n");
    _exit(SIGNAL_EXIT_BASE + number);
}

/* A file opened later must not land on a standard descriptor. Reading end only: writes fail. */
static void open_standard_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int opened = open("/dev/null", O_RDONLY);
            (void)opened; /* the lowest free descriptor: fd itself */
        }
    }
}

static void add_unless_ignored(sigset_t *set, int number)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
        sigaddset(set, number);
    }
}

/* It needs little of a stack; the usual one counts by megabytes where memory is limited. */
static void start_thread(struct interrupt *interrupt)
{
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0);
    if (pthread_create(&interrupt->thread, &attributes, wait_for_signal, interrupt) != 0) {
        memory_refused(STACK_BYTES);
    }
    pthread_attr_destroy(&attributes);
}

static struct interrupt *start_interrupt(void)
{
    struct interrupt *interrupt = memory_take(sizeof *interrupt);
    pthread_mutex_init(&interrupt->lock, NULL);
    sigemptyset(&interrupt->signals);
    add_unless_ignored(&interrupt->signals, SIGINT);
    add_unless_ignored(&interrupt->signals, SIGTERM);
    add_unless_ignored(&interrupt->signals, SIGHUP);
    sigaddset(&interrupt->signals, END_SIGNAL);
    pthread_sigmask(SIG_BLOCK, &interrupt->signals, NULL);
    start_thread(interrupt);
    return interrupt;
}

static bool wants_colour(int fd)
{
    const char *none = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(fd) && (none == NULL || none[0] == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

/* Outside a terminal the bytes are the same everywhere: UTF-8. */
static bool speaks_utf8(void)
{
    if (!isatty(STDOUT_FILENO)) {
        return true;
    }
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0) {
        return false;
    }
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

void session_begin(struct session *session)
{
    open_standard_descriptors();
    json_set_alloc_funcs(memory_take, free);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    struct streams *streams = memory_take(sizeof *streams);
    streams_open(streams);
    *session = (struct session){
        .out = streams->out,
        .notes = streams->notes,
        .streams = streams,
        .colour = wants_colour(STDOUT_FILENO),
        .notes_colour = wants_colour(STDERR_FILENO),
        .utf8 = speaks_utf8(),
        .width = wrap_width(STDOUT_FILENO),
        .interrupt = start_interrupt(),
    };
}

void session_hold(struct session *session)
{
    pthread_mutex_lock(&session->interrupt->lock);
    session->held = true;
}

static void name_under_lock(struct session *session, char *name, const char *path)
{
    struct interrupt *interrupt = session->interrupt;
    if (!session->held) {
        pthread_mutex_lock(&interrupt->lock);
    }
    session->held = false;
    snprintf(name, PATH_BYTES, "%s", path != NULL ? path : "");
    pthread_mutex_unlock(&interrupt->lock);
}

void session_guard(struct session *session, const char *path)
{
    name_under_lock(session, session->interrupt->path, path);
}

void session_keep(struct session *session, const char *path)
{
    name_under_lock(session, session->interrupt->kept, path);
}

void session_soften(struct session *session)
{
    atomic_store(&session->interrupt->soft, true);
}

bool session_interrupted(const struct session *session)
{
    return atomic_load(&session->interrupt->asked);
}

int session_end(struct session *session, int code)
{
    fflush(session->out);
    int error = session->streams->out_error;
    if (error != 0) {
        if (error != EPIPE) {
            fprintf(session->notes, "orrery: cannot write to standard output: %s\n",
                    strerror(error));
        }
        code = code == 0 ? 1 : code;
    }
    streams_close(session->streams);
    free(session->streams);
    atomic_store(&session->interrupt->ending, true);
    pthread_kill(session->interrupt->thread, END_SIGNAL);
    pthread_join(session->interrupt->thread, NULL);
    pthread_mutex_destroy(&session->interrupt->lock);
    free(session->interrupt);
    return code;
}

const char *session_bold(const struct session *session)
{
    return session->colour ? "\033[1m" : "";
}

const char *session_red(const struct session *session)
{
    return session->colour ? "\033[31m" : "";
}

const char *session_dim(const struct session *session)
{
    return session->colour ? "\033[2m" : "";
}

const char *session_plain(const struct session *session)
{
    return session->colour ? "\033[0m" : "";
}
