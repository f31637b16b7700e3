#include "sim/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/units.h"

enum {
    EXIT_CODE = 1,
    SENTENCE_BYTES = 256,
    STACK_BYTES = 1 << 19,
    PAGE_BYTES = 4096
};

void *memory_try(size_t bytes)
{
    return calloc(1, bytes > 0 ? bytes : 1);
}

void *memory_take(size_t bytes)
{
    void *memory = memory_try(bytes);
    if (memory == NULL)
        memory_refused(bytes);
    return memory;
}

static __attribute__((noinline)) void touch_stack(void)
{
    volatile char stack[STACK_BYTES];
    for (size_t i = sizeof stack; i > 0; i -= PAGE_BYTES)
        stack[i - 1] = 0;
}

void memory_take_stack(void)
{
    void *room =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        memory_refused(STACK_BYTES);
    munmap(room, STACK_BYTES);
    touch_stack();
}

/* Without stdio, which may want memory too, and without exit(): other threads are at work. */
void memory_refused(size_t bytes)
{
    char text[SENTENCE_BYTES];
    char size[128] = "";
    if (bytes >= (size_t)MIB)
        snprintf(size, sizeof size, ": %.0f MiB were asked for and refused", (double)bytes / MIB);
    else if (bytes > 0)
        snprintf(size, sizeof size, ": %zu bytes were asked for and refused", bytes);
    int length =
        snprintf(text, sizeof text,
                 "orrery: out of memory%s; allow it more (see ulimit -v), or ask for less: "
                 "fewer ranks, no --unfold\n",
                 size);
    ssize_t written = write(STDERR_FILENO, text, (size_t)length);
    (void)written; /* nobody is left to tell */
    _exit(EXIT_CODE);
}
