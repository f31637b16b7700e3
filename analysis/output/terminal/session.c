/* Invariants:
 * 1. SIGINT, SIGTERM and SIGHUP (those not ignored at the start) are taken by the loop of the
 *    waiting thread alone, where on_signal may lock and unlink; libuv's handler only wakes it.
 * 2. `path` and `kept` are read and written under `lock`; a path under guard is a file of ours. */
#include "analysis/output/terminal/session.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "analysis/output/terminal/identity.h"
#include "analysis/output/terminal/ranks.h"
#include "analysis/output/terminal/streams.h"
#include "analysis/output/text/wrap.h"
#include "sim/check.h"
#include "sim/memory.h"

enum {
    PATH_BYTES = 4096,
    STACK_BYTES = 1 << 18,
    WATCH_MS = 500,
    SIGNAL_EXIT_BASE = 128
};

static const int signal_numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum {
    SIGNAL_COUNT = sizeof signal_numbers / sizeof signal_numbers[0]
};

struct interrupt {
    uv_mutex_t lock;
    uv_thread_t thread;
    uv_loop_t loop; /* the thread's, once it runs */
    uv_signal_t signals[SIGNAL_COUNT];
    uv_async_t end;
    uv_timer_t watch;
    struct streams *streams;       /* that the watch speaks on */
    _Atomic(const char *) at_work; /* what the watch says to be at work; NULL: nothing */
    char path[PATH_BYTES];         /* "": nothing to remove */
    char kept[PATH_BYTES];         /* an unfinished database that stays; "": none */
    atomic_bool soft, asked, hushed;
};

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* nobody is left to tell */
}

/* The first interrupt of a command that stops by itself. */
static bool leave_word(struct interrupt *interrupt)
{
    if (!atomic_load(&interrupt->soft) || atomic_exchange(&interrupt->asked, true))
        return false;
    if (!atomic_load(&interrupt->hushed))
        say("\nstopping as soon as the present point is done; again to stop at once\n");
    return true;
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct interrupt *interrupt = handle->data;
    if (leave_word(interrupt))
        return;
    uv_mutex_lock(&interrupt->lock);
    if (interrupt->path[0] != '\0')
        unlink(interrupt->path);
    if (atomic_load(&interrupt->hushed))
        _exit(SIGNAL_EXIT_BASE + number);
    say("\ninterrupted");
    if (interrupt->kept[0] != '\0') {
        say(": ");
        say(interrupt->kept);
        say(" opens, and says that it is incomplete; the same command begins it anew, a study "
            "or a plan goes on with --resume");
    }
    say("\n");
    _exit(SIGNAL_EXIT_BASE + number);
}

static void on_watch(uv_timer_t *handle)
{
    const struct interrupt *interrupt = handle->data;
    const char *name = atomic_load(&interrupt->at_work);
    if (name != NULL && !atomic_load(&interrupt->hushed))
        streams_watch(interrupt->streams, name);
}

static void on_end(uv_async_t *handle)
{
    struct interrupt *interrupt = handle->data;
    uv_close((uv_handle_t *)&interrupt->watch, NULL);
    for (unsigned i = 0; i < SIGNAL_COUNT; i++)
        uv_close((uv_handle_t *)&interrupt->signals[i], NULL);
    uv_close((uv_handle_t *)handle, NULL);
}

static void wait_for_signals(void *context)
{
    struct interrupt *interrupt = context;
    uv_run(&interrupt->loop, UV_RUN_DEFAULT);
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

static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* A host that has no descriptors or no thread left for it has none for the work either. */
static void must(int result)
{
    if (result == UV_ENOMEM)
        memory_refused(0);
    if (result != 0) {
        say("orrery: cannot wait for signals: ");
        say(uv_strerror(result));
        say("\n");
        _exit(1);
    }
}

static struct interrupt *start_interrupt(struct streams *streams)
{
    /* It needs little of a stack; the usual one counts by megabytes where memory is limited. */
    const uv_thread_options_t small = {UV_THREAD_HAS_STACK_SIZE, STACK_BYTES};
    struct interrupt *interrupt = memory_take(sizeof *interrupt);
    must(uv_mutex_init(&interrupt->lock));
    must(uv_loop_init(&interrupt->loop));
    must(uv_async_init(&interrupt->loop, &interrupt->end, on_end));
    interrupt->end.data = interrupt;
    interrupt->streams = streams;
    must(uv_timer_init(&interrupt->loop, &interrupt->watch));
    interrupt->watch.data = interrupt;
    must(uv_timer_start(&interrupt->watch, on_watch, WATCH_MS, WATCH_MS));
    for (unsigned i = 0; i < SIGNAL_COUNT; i++) {
        must(uv_signal_init(&interrupt->loop, &interrupt->signals[i]));
        interrupt->signals[i].data = interrupt;
        if (!is_ignored(signal_numbers[i]))
            must(uv_signal_start(&interrupt->signals[i], on_signal, signal_numbers[i]));
    }
    must(uv_thread_create_ex(&interrupt->thread, &small, wait_for_signals, interrupt));
    return interrupt;
}

static void end_interrupt(struct interrupt *interrupt)
{
    CHECK(uv_async_send(&interrupt->end) == 0);
    CHECK(uv_thread_join(&interrupt->thread) == 0);
    CHECK(uv_loop_close(&interrupt->loop) == 0);
    uv_mutex_destroy(&interrupt->lock);
    free(interrupt);
}

static bool is_terminal(int fd)
{
    return isatty(fd) && !ranks_under_mpirun();
}

static bool wants_colour(int fd)
{
    const char *none = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return is_terminal(fd) && (none == NULL || none[0] == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

/* Outside a terminal the bytes are the same everywhere: UTF-8. */
static bool speaks_utf8(void)
{
    if (!is_terminal(STDOUT_FILENO))
        return true;
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
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
        .inputs = identity_list_create(),
        .colour = wants_colour(STDOUT_FILENO),
        .notes_colour = wants_colour(STDERR_FILENO),
        .utf8 = speaks_utf8(),
        .width = wrap_width(is_terminal(STDOUT_FILENO) ? STDOUT_FILENO : -1),
        .interrupt = start_interrupt(streams),
    };
}

void session_hold(struct session *session)
{
    uv_mutex_lock(&session->interrupt->lock);
    session->held = true;
}

static void name_under_lock(struct session *session, char *name, const char *path)
{
    struct interrupt *interrupt = session->interrupt;
    if (!session->held)
        uv_mutex_lock(&interrupt->lock);
    session->held = false;
    snprintf(name, PATH_BYTES, "%s", path != NULL ? path : "");
    uv_mutex_unlock(&interrupt->lock);
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

void session_name(struct session *session, const char *name)
{
    const char *progress = getenv("ORRERY_PROGRESS");
    const bool off = progress != NULL && strcmp(progress, "off") == 0;
    atomic_store(&session->interrupt->at_work, off ? NULL : name);
}

void session_hush(struct session *session)
{
    atomic_store(&session->interrupt->hushed, true);
}

bool session_interrupted(const struct session *session)
{
    return atomic_load(&session->interrupt->asked);
}

int session_end(struct session *session, int code)
{
    fflush(session->out);
    int error = session->streams->out_error;
    if (error != 0 && error != EPIPE) {
        fprintf(session->notes, "orrery: cannot write to standard output: %s\n", strerror(error));
        code = code == 0 ? 1 : code;
    }
    end_interrupt(session->interrupt); /* its watch speaks on the streams */
    streams_close(session->streams);
    free(session->streams);
    identity_list_destroy(session->inputs);
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
