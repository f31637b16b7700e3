#include "tests/child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

int child_output(void (*act)(void), char *text, size_t bytes)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        act();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used + 1 < bytes && (got = read(ends[0], text + used, bytes - used - 1)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}
