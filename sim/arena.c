/* Invariants
 * 1. Blocks form a list in the order in which they are filled; `current` is the one being filled
 *    (NULL before the first), and every block after it has used == 0.
 * 2. In each block, bytes from `touched` on are zero since they came from the host, so that only
 *    bytes that were handed out before are cleared again. used <= touched <= size holds between
 *    calls.
 * 3. Block sizes double up to BLOCK_LARGEST, or are what one large allocation needs.
 * 4. While `owned`, only the thread `owner` changes anything here. The thread's number may be used
 *    again by the host once that thread has ended, when nobody is left to meet. */
#include "sim/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uv.h>

#include "sim/check.h"
#include "sim/memory.h"

enum {
    BLOCK_FIRST = 1 << 14,
    BLOCK_HUGE = 1 << 24,
    BLOCK_LARGEST = 1 << 26
};
#ifdef ORRERY_POISON
enum {
    POISON_BYTE = 0xA5
};
#endif

/* AddressSanitizer knows blocks only. Told of objects too, it notices whoever steps over the end of
 * one: a few bytes behind each, and all that was not handed out, are forbidden. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ARENA_GUARD
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define ARENA_GUARD
#endif
#ifdef ARENA_GUARD
#include <sanitizer/asan_interface.h>
enum {
    GUARD_BYTES = 16
};
#define forbid(memory, bytes) ASAN_POISON_MEMORY_REGION(memory, bytes)
#define permit(memory, bytes) ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#else
enum {
    GUARD_BYTES = 0
};
#define forbid(memory, bytes) ((void)(memory), (void)(bytes))
#define permit(memory, bytes) ((void)(memory), (void)(bytes))
#endif

struct arena_block {
    struct arena_block *next;
    size_t size, used, touched; /* bytes of `data` */
    max_align_t data[];
};

struct arena {
    struct arena_block *first, *current;
    size_t next_size, taken_bytes;
    uv_thread_t owner;
    bool owned;
};

struct arena *arena_create(void)
{
    struct arena *arena = memory_take(sizeof *arena);
    arena->next_size = BLOCK_FIRST;
    arena->taken_bytes = sizeof *arena;
    arena_claim(arena);
    return arena;
}

/* Invariant 4. */
static void check_owner(const struct arena *arena)
{
    const uv_thread_t self = uv_thread_self();
    CHECK(arena->owned && uv_thread_equal(&arena->owner, &self));
}

void arena_give(struct arena *arena)
{
    check_owner(arena);
    arena->owned = false;
}

void arena_claim(struct arena *arena)
{
    CHECK(!arena->owned);
    arena->owner = uv_thread_self();
    arena->owned = true;
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL)
        return;
    check_owner(arena);
    for (struct arena_block *block = arena->first, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    free(arena);
}

/* Large tables are read at random; with pages of 2 MiB their addresses are found in the processor's
 * table of pages. Only advice: it fails without harm. */
static void advise_huge_pages(void *memory, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory;
    uintptr_t first = (begin + page - 1) / page * page, end = (begin + bytes) / page * page;
    (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
}

/* A host that has little left may still have what is needed, without the room to spare. */
static struct arena_block *block_take(struct arena *arena, size_t need, size_t *size)
{
    *size = arena->next_size > need ? arena->next_size : need;
    CHECK(*size <= SIZE_MAX - sizeof(struct arena_block));
    struct arena_block *block = memory_try(sizeof *block + *size);
    while (block == NULL && *size > need) {
        *size = *size / 2 > need ? *size / 2 : need;
        arena->next_size = *size;
        block = memory_try(sizeof *block + *size);
    }
    if (block == NULL)
        memory_refused(sizeof *block + need);
    return block;
}

static struct arena_block *block_create(struct arena *arena, size_t need)
{
    size_t size;
    struct arena_block *block = block_take(arena, need, &size);
    if (size >= BLOCK_HUGE)
        advise_huge_pages(block, sizeof *block + size);
    block->size = size;
    forbid(block->data, size);
    arena->taken_bytes += sizeof *block + size;
    if (arena->next_size < BLOCK_LARGEST)
        arena->next_size *= 2;
    return block;
}

/* Where an object would begin in the block: an offset, which may lie beyond its end. */
static size_t block_offset(const struct arena_block *block, size_t alignment)
{
    uintptr_t address = (uintptr_t)block->data + block->used;
    uintptr_t aligned = (address + (alignment - 1)) & ~(uintptr_t)(alignment - 1);
    return block->used + (size_t)(aligned - address);
}

static int block_fits(const struct arena_block *block, size_t bytes, size_t alignment)
{
    size_t offset = block_offset(block, alignment);
    return offset <= block->size && bytes + GUARD_BYTES <= block->size - offset;
}

/* Makes a block current that has room: the next one if it was rewound and fits, else a new one. */
static struct arena_block *arena_advance(struct arena *arena, size_t bytes, size_t alignment)
{
    struct arena_block **link = arena->current != NULL ? &arena->current->next : &arena->first;
    if (*link == NULL || !block_fits(*link, bytes, alignment)) {
        CHECK(bytes <= SIZE_MAX - GUARD_BYTES - alignment);
        struct arena_block *block = block_create(arena, bytes + GUARD_BYTES + alignment);
        block->next = *link;
        *link = block;
    }
    arena->current = *link;
    return arena->current;
}

static void *take(struct arena *arena, size_t bytes, size_t alignment, bool cleared)
{
    CHECK(alignment != 0 && (alignment & (alignment - 1)) == 0);
    check_owner(arena);
    struct arena_block *block = arena->current;
    if (block == NULL || !block_fits(block, bytes, alignment))
        block = arena_advance(arena, bytes, alignment);
    size_t offset = block_offset(block, alignment);
    unsigned char *memory = (unsigned char *)block->data + offset;
    block->used = offset + bytes + GUARD_BYTES;
    permit(memory, bytes);
    if (cleared && offset < block->touched) {
        size_t dirty = block->touched - offset;
        memset(memory, 0, dirty < bytes ? dirty : bytes);
    }
    if (block->touched < block->used)
        block->touched = block->used;
    return memory;
}

void *arena_alloc(struct arena *arena, size_t bytes, size_t alignment)
{
    return take(arena, bytes, alignment, true);
}

void *arena_room(struct arena *arena, size_t bytes, size_t alignment)
{
    return take(arena, bytes, alignment, false);
}

void *arena_array(struct arena *arena, size_t size, size_t count, size_t alignment)
{
    size_t bytes;
    CHECK(!__builtin_mul_overflow(size, count, &bytes));
    return arena_alloc(arena, bytes, alignment);
}

struct arena_mark arena_mark(const struct arena *arena)
{
    check_owner(arena);
    struct arena_block *current = arena->current;
    return (struct arena_mark){.block = current, .used = current != NULL ? current->used : 0};
}

static void block_rewind(struct arena_block *block, size_t used)
{
    CHECK(used <= block->used);
    unsigned char *rest = (unsigned char *)block->data + used;
#ifdef ORRERY_POISON
    permit(rest, block->used - used);
    memset(rest, POISON_BYTE, block->used - used);
#endif
    forbid(rest, block->used - used);
    block->used = used;
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    check_owner(arena);
    struct arena_block *block = mark.block;
    struct arena_block *later = block != NULL ? block->next : arena->first;
    if (block != NULL)
        block_rewind(block, mark.used);
    for (; later != NULL && later->used > 0; later = later->next)
        block_rewind(later, 0);
    arena->current = block;
}

size_t arena_bytes(const struct arena *arena)
{
    return arena->taken_bytes;
}

char *arena_text(struct arena *arena, const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(arena_alloc(arena, bytes, 1), text, bytes);
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    CHECK(length >= 0);
    size_t bytes = (size_t)length + 1;
    char *text = arena_alloc(arena, bytes, 1);
    va_start(arguments, format);
    vsnprintf(text, bytes, format, arguments);
    va_end(arguments);
    return text;
}
